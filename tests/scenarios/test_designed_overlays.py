"""What a configuration designs: names, seeds, mixing weights, errors of files; closed forms of what is drawn."""

from types import SimpleNamespace

import numpy as np
import pytest
from pair_run import BITS, COMPUTE_S, pair_graph

from scenarios.config import overlays as module
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import (
    _of_file,
    check_hub,
    check_hubs,
    check_silos_named,
    design_any,
    forms_of,
    weighted,
)
from topologies import InputError, Workload, build_overlay
from topologies.schedule import NamedRandomOverlay

WORK = Workload(model_bits=BITS, compute_s=COMPUTE_S)
BOTH = [(0, 1), (1, 0)]


@pytest.fixture(scope="module")
def pair():
    return build_overlay("pair", pair_graph(), WORK, BOTH)


@pytest.fixture(scope="module")
def star():
    return build_overlay("star", pair_graph(), WORK, BOTH, hub=0)


def test_weights_are_those_of_the_rule_of_the_overlay_or_else_of_all(pair):
    config = OverlayConfig(kind="ring", name="mine", consensus="balanced")
    assert weighted(pair, OverlayConfig(kind="ring")) is pair
    for found in (weighted(pair, config), weighted(pair, config, "fdla")):
        assert found.consensus == pytest.approx(np.full((2, 2), 0.5))
        assert not found.consensus.flags.writeable
        assert not found.negative_weights
    assert weighted(pair, OverlayConfig(kind="ring"), "fdla").negative_weights


def test_a_hub_keeps_its_means_and_is_given_no_rule(star):
    assert weighted(star, OverlayConfig(kind="star")) is star
    assert weighted(star, OverlayConfig(kind="star"), "metropolis") is star
    with pytest.raises(
        InputError,
        match=r"^consensus\(='metropolis'\) goes with an overlay without a hub; the hub of my star averages",
    ):
        weighted(star, SimpleNamespace(consensus="metropolis", name="my star", consensus_is_file=False))


def test_weights_of_a_file_may_be_below_0_but_not_beside_the_arcs(pair, tmp_path):
    for first, negative in ((0.25, False), (1.5, True)):
        np.save(tmp_path / "W.npy", np.array([[first, 1 - first], [1 - first, first]]))
        config = OverlayConfig(kind="ring", consensus=str(tmp_path / "W.npy"))
        found = weighted(pair, config)
        assert found.consensus.tolist() == [[first, 1 - first], [1 - first, first]]
        assert found.negative_weights == negative
    one_way = build_overlay("pair", pair_graph(), WORK, [(0, 1), (1, 0)][::-1])
    np.save(tmp_path / "W.npy", np.array([[0.5, 0.25], [0.5, 0.75]]))
    with pytest.raises(InputError, match=r"W\.npy: "):
        weighted(one_way, OverlayConfig(kind="ring", consensus=str(tmp_path / "W.npy")))


@pytest.mark.parametrize(
    ("kind", "is_compressed", "is_refused"),
    [("star", True, True), ("star", False, False), ("ring", True, False)],
)
def test_a_hub_sends_no_compressed_means(kind, is_compressed, is_refused):
    config = OverlayConfig(kind=kind, name="mine")
    training = SimpleNamespace(compression="top_k" if is_compressed else "none")
    scenario = SimpleNamespace(training=training, overlays=SimpleNamespace(overlays=[config]))
    for check in (lambda: check_hub(config, is_compressed=is_compressed), lambda: check_hubs(scenario)):
        if is_refused:
            with pytest.raises(InputError, match=r"^mine: its hub sends back a mean of models"):
                check()
        else:
            check()
    check_hubs(SimpleNamespace(training=None, overlays=scenario.overlays))
    # Of a workload, messages that are smaller than the model.
    work = Workload(model_bits=BITS, compute_s=COMPUTE_S, message_share=0.5 if is_compressed else 1.0)
    if is_refused:
        with pytest.raises(InputError, match="its hub sends back"):
            design_any(config, pair_graph(), work, seed=0)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("mine: has no arc.", "a/mine.csv: has no arc."),
        ("other: has no arc.", "a/mine.csv: other: has no arc."),
        ("mine has no arc.", "a/mine.csv: mine has no arc."),
    ],
)
def test_an_error_of_a_file_has_its_name_once(error, shown):
    assert str(_of_file(InputError(error), "a/mine.csv", "mine")) == shown
    assert str(_of_file(InputError("else: no."), "a/mine.csv", "else")) == "a/mine.csv: else: no."


def test_a_silo_that_a_hub_names_is_there_before_anything_is_designed():
    graph = pair_graph()
    for hub in (graph.labels[1], "load"):
        check_silos_named(OverlayConfig(kind="star", options={"hub": hub}), graph)
    for kind in ("star", "ring"):
        check_silos_named(OverlayConfig(kind=kind), graph)
    with pytest.raises(InputError, match="Atlantis"):
        check_silos_named(OverlayConfig(kind="star", options={"hub": "Atlantis"}), graph)


@pytest.mark.parametrize("key", ["arcs", "weights", "schedule", "consensus"])
def test_files_of_an_overlay_are_read_before_anything_is_designed(tmp_path, key):
    path = tmp_path / ("W.npy" if key in ("weights", "consensus") else "a.csv")
    kind = {"kind": "ring"} if key == "consensus" else {}
    with pytest.raises(InputError, match=path.name.replace(".", r"\.")):
        check_silos_named(OverlayConfig(**kind, **{key: str(path)}), pair_graph())


def drawn(monkeypatch, **config):
    given = {}

    def design_random(kind, _graph, _work, **options):
        given.update(options, kind=kind)
        return "drawn"

    monkeypatch.setattr(module, "design_random", design_random)
    return design_any(OverlayConfig(kind="matcha", **config), pair_graph(), WORK, seed=3), given


def test_what_is_drawn_has_its_name_and_seed_where_it_has_own_ones(monkeypatch):
    found, given = drawn(monkeypatch)
    assert (found, given["kind"]) == ("drawn", "matcha")
    for config in ({"name": "mine"}, {"seed": 7}, {"name": "mine", "seed": 0}):
        named, _ = drawn(monkeypatch, **config)
        assert isinstance(named, NamedRandomOverlay)
        assert (named.kind, named.base, named.seed) == (
            config.get("name", "matcha"),
            "drawn",
            config.get("seed"),
        )


def test_closed_forms_of_what_is_drawn_are_an_estimate_and_unknown(monkeypatch, pair):
    assert forms_of(pair, 4) is pair.closed_forms
    asked = []

    def random_cycle_time(*given):
        asked.append(given)
        return SimpleNamespace(barrier=SimpleNamespace(mean=2.5))

    monkeypatch.setattr(module, "random_cycle_time", random_cycle_time)
    forms = forms_of("drawn", 4)
    assert asked == [("drawn", module.RANDOM_ROUNDS, 4)]
    assert (forms.paper_s, forms.busiest_link) == (2.5, None)
    assert np.isnan([forms.serialized_s, forms.load_bound_s]).all()
