"""One overlay of a scenario: its name, and what its kind says of it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from scenarios.config.kinds import DEFAULT_KINDS, all_kinds
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overlay_config import OverlayConfig, default_overlays, distinct, left_out_note
from scenarios.config.overlays import design_any
from topologies import InputError, PeriodicOverlay, Workload
from topologies.input_limits import MOST_OVERLAYS


@pytest.mark.parametrize(
    "name", ["a" * 200, "ü" * 100, "...", ".a", "a.", "a b", " a", "-", "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 66]
)
def test_a_name_that_a_file_may_have_is_taken(name, tmp_path):
    assert OverlayConfig(kind="ring", name=name).name == name
    # As names of files have it: models of a run are called so, with some letters more.
    (tmp_path / f"x-{name}-average.safetensors").touch()


@pytest.mark.parametrize(
    "name", ["a" * 201, "ü" * 100 + "a", ".", "..", " ", "\t", "a\nb", "/", "a/", "\x00", "\ud800"]
)
def test_a_name_that_no_file_may_have_is_refused(name):
    with pytest.raises(InputError, match=r"^name\(="):
        OverlayConfig(kind="ring", name=name)


@pytest.mark.parametrize("kind", all_kinds())
def test_a_seed_may_be_stated_of_kinds_that_take_one(kind):
    if OverlayConfig(kind=kind).takes_seed:
        OverlayConfig(kind=kind, seed=3).check_designer()
        return
    with pytest.raises(
        InputError, match=rf"^seed\(=3\) goes with a designer that takes one; {kind} takes none\.$"
    ):
        OverlayConfig(kind=kind, seed=3).check_designer()


def test_drawn_overlays_and_searches_take_a_seed():
    taken = {kind for kind in all_kinds() if OverlayConfig(kind=kind).takes_seed}
    assert {"matcha", "random_ring", "best", "epidemic"} <= taken
    assert not {"star", "mst", "ring", "exponential"} & taken
    assert not OverlayConfig(arcs="a.csv").takes_seed


@pytest.mark.parametrize(
    "kind", ["star", "ring", "one_peer_exponential", "hierarchical", "base", "multigraph", "matcha"]
)
def test_periodic_kinds_are_those_of_periodic_overlays(kind, graph):
    config = OverlayConfig(kind=kind)
    overlay = design_any(config, graph, Workload(model_bits=1e6, compute_s=0.01), seed=0)
    assert config.is_periodic == isinstance(overlay, PeriodicOverlay)
    assert config.is_randomized == (kind == "matcha")


def test_a_schedule_is_periodic_and_other_files_are_not():
    assert OverlayConfig(schedule="s.csv").is_periodic
    assert not OverlayConfig(arcs="a.csv").is_periodic
    assert not OverlayConfig(weights="w.npy").is_periodic
    assert not OverlayConfig(schedule="s.csv").is_randomized


def test_where_all_can_talk_no_default_overlay_is_left_out(graph):
    assert [config.kind for config in default_overlays(graph)] == ["star", "mst", "delta_mbst", "ring"]
    assert left_out_note(graph) == []
    assert np.count_nonzero(graph.may_send) == graph.silos * (graph.silos - 1)


def exists(kind, graph):
    """Whether the designer finds an overlay."""
    try:
        design_any(OverlayConfig(kind=kind), graph, Workload(model_bits=1e6, compute_s=0.01), seed=0)
    except InputError:
        return False
    return True


def test_default_overlays_are_those_that_their_designers_find(graph):
    rng, found = np.random.default_rng(5), set()
    small = build_network(NetworkConfig(underlay="gaia", silo_at=list(graph.labels[:5])))
    for barred in (0, 2, 4, 6, 8, 10, 12, 14, 16) * 4:
        available_bps = small.available_bps.copy()
        pairs = np.argwhere(~np.eye(5, dtype=bool))
        available_bps[tuple(pairs[rng.permutation(len(pairs))[:barred]].T)] = 0.0
        some = replace(small, available_bps=available_bps)
        kinds = tuple(config.kind for config in default_overlays(some))
        assert kinds == tuple(kind for kind in DEFAULT_KINDS if exists(kind, some))
        said = " ".join(left_out_note(some))
        assert [kind for kind in DEFAULT_KINDS if re.search(rf"\b{kind}\b[^;]* as ", said)] == [
            kind for kind in DEFAULT_KINDS if kind not in kinds
        ]
        found.add(kinds)
    assert len(found) > 3


def test_a_thousand_overlays_are_not_too_many():
    most = [OverlayConfig(kind="ring", name=str(number)) for number in range(MOST_OVERLAYS)]
    assert distinct(most) == tuple(most)
    with pytest.raises(InputError, match=r"^must name at most 1,000 overlays, names 1,001"):
        distinct([*most, OverlayConfig(kind="ring")])
