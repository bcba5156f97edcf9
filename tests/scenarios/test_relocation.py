"""What a replay on another network keeps of the run: rules of links, computing times, sizes, rounds to the target."""

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, WorkloadConfig
from scenarios.config.replay_changes import ReplayChanges
from scenarios.config.scenario import parse_scenario
from scenarios.studies import relocation
from scenarios.studies.relocation import (
    RecordedRun,
    RelocatedOverlay,
    Relocation,
    _check_learning,
    _check_silos,
    _relocated,
    _with_stated_times,
    _without_core_rules,
    _without_places,
    _workload,
    recorded_job,
    relocate,
    with_files_beside,
)
from topologies import InputError, Workload


def run_of(*overlays, training=None, **more):
    record = SimpleNamespace(overlays=overlays, **more)
    scenario = SimpleNamespace(training=training, target_accuracy=0.5)
    return RecordedRun(path=Path("run.h5"), record=record, tables={}, scenario=scenario)


def trained(kind="ring", rounds=(0, 2), accuracy=(0.1, 0.6)):
    history = {"round": np.array(rounds), "test_accuracy": np.array(accuracy)} if rounds else {}
    return SimpleNamespace(kind=kind, history=history)


@pytest.mark.parametrize(
    ("rows", "training", "rounds"),
    [(((0, 2), (0, 5)), None, 5), (((0, 2),), 9, 9), (((0, 12),), 9, 12), (((),), None, 0), ((), 4, 4)],
)
def test_rounds_with_a_time_in_any_case_are_those_of_all_rows_and_of_the_training(rows, training, rounds):
    overlays = [trained(rounds=each, accuracy=each) for each in rows]
    stated = None if training is None else SimpleNamespace(rounds=training)
    assert run_of(*overlays, training=stated).trained == rounds


@pytest.mark.parametrize(
    ("accuracies", "target", "goal"),
    [
        (((0.1, 0.6),), 0.5, 0.5),
        (((0.1, 0.6),), 0.7, 0.7),
        (((0.1, 0.6),), None, None),
        (((np.nan, np.nan), (np.nan, 0.6)), 0.7, 0.7),
        (((np.nan, np.nan),), None, None),
        # The run's own target, without accuracies: to the last row.
        (((np.nan, np.nan),), 0.5, None),
    ],
)
def test_times_are_to_the_target_where_there_are_accuracies(accuracies, target, goal):
    run = run_of(*(trained(accuracy=each) for each in accuracies), trained(rounds=()))
    assert run.goal(SimpleNamespace(target_accuracy=target)) == goal


def test_another_target_needs_accuracies():
    with pytest.raises(InputError, match=r"needs a test accuracy, which the rows of run\.h5 do not have"):
        run_of(trained(accuracy=(np.nan, np.nan))).goal(SimpleNamespace(target_accuracy=0.7))


@pytest.mark.parametrize(
    ("accuracy", "reached"), [(None, (3, 40.0)), (0.5, (2, 20.0)), (0.1, (0, 0.0)), (0.9, None)]
)
def test_a_target_is_reached_after_the_rounds_in_which_silos_compute(accuracy, reached):
    # Of 4 rounds all but the last compute.
    rows = (0.1, 0.5, 0.6)
    first = {None: -1, 0.5: 1, 0.1: 0, 0.9: None}
    recorded = SimpleNamespace(
        kind="o",
        history={"round": np.array([0, 2, 4]), "test_accuracy": np.array(rows)},
        computed_rounds=np.array([0, 2, 3]),
        first_row_at=first.__getitem__,
    )
    outcome = SimpleNamespace(last_start_s=np.arange(5) * 10.0)
    moved = RelocatedOverlay(recorded=recorded, overlay=None, job=None)
    assert moved.reached(outcome, accuracy) == reached
    recorded.history = {}
    assert moved.reached(outcome, accuracy) is None


def relocation_of(overlays=(), left=None, rounds=10):
    return Relocation(
        run=run_of(), scenario=None, text="", graph=None, work=None, rounds=rounds, overlays=overlays,
        left=left or {}, notes=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("simulated", "recorded", "is_told"), [(8, 8, True), (7, 8, False), (10, 10, False), (9, 8, False)]
)
def test_too_few_recorded_rounds_are_said_where_all_of_them_were_simulated(simulated, recorded, is_told):
    moved = SimpleNamespace(kind="matcha", job=SimpleNamespace(rounds=1000 * recorded))
    found = relocation_of(rounds=10_000).short(moved, SimpleNamespace(rounds=1000 * simulated))
    assert found == ("matcha: run.h5 holds 8,000 rounds, so no more are replayed.",) * is_told


def test_a_run_of_which_nothing_can_be_replayed_has_the_first_reason():
    with pytest.raises(InputError, match=r"^run\.h5 has no overlay to replay\.$"):
        relocation_of().check_some()
    left = {"ring": "ring has the arc.", "star": "star has no hub."}
    with pytest.raises(InputError, match=r"^ring has the arc\.$"):
        relocation_of(left=left).check_some()
    relocation_of(overlays=(object(),), left=left).check_some()
    assert relocation_of(left=left).not_replayed == (
        "not replayed: ring has the arc.",
        "not replayed: star has no hub.",
    )


def network(**changes):
    return NetworkConfig(**{"underlay": "gaia"} | changes)


@pytest.mark.parametrize(
    ("before", "kept", "left"),
    [
        ({}, {}, ()),
        # What is true of all links of a kind is true elsewhere.
        ({"half_duplex": ("access",)}, {"half_duplex": ("access",)}, ()),
        ({"half_duplex": ("access", "core")}, {"half_duplex": ("access", "core")}, ()),
        ({"fat_pipes": ("core",)}, {"fat_pipes": ("core",)}, ()),
        ({"half_duplex": ("access", "Tokyo")}, {}, ("half_duplex(=('access', 'Tokyo'))",)),
        (
            {"half_duplex": ("Tokyo",), "fat_pipes": ("Tokyo - Seoul",)},
            {},
            ("half_duplex(=('Tokyo',))", "fat_pipes(=('Tokyo - Seoul',))"),
        ),
        (
            {"shared_access": {"Tokyo + Seoul": "1 Gbps"}},
            {},
            ("shared_access(={'Tokyo + Seoul': '1 Gbps'})",),
        ),
    ],
)
def test_rules_that_name_places_stay_with_their_network(before, kept, left):
    other = network(underlay="geant")
    found, notes = _without_places(network(**before), other, ())
    assert found == network(underlay="geant", **kept)
    said = f"left out, as they name places of gaia: {', '.join(left)}."
    assert notes == ((said,) if left else ())


def test_rules_that_are_stated_anew_are_not_those_of_the_run():
    keys = ("half_duplex", "fat_pipes", "shared_access")
    for before in ({"half_duplex": ("access",)}, {"half_duplex": ("Tokyo",)}, {"fat_pipes": ("core",)}):
        assert _without_places(network(**before), network(underlay="geant"), keys) == (
            network(underlay="geant"),
            (),
        )
    stated = network(underlay="geant", half_duplex=("UK",))
    assert _without_places(network(half_duplex=("Tokyo",)), stated, ()) == (stated, ())


@pytest.fixture
def measured(monkeypatch):
    """Whether the next networks have measured pairs."""
    found = SimpleNamespace(measured=object())

    def build(config):
        assert config.variant == "corrected"
        return found

    monkeypatch.setattr(relocation, "build_underlay", build)
    return found


def test_measured_pairs_have_no_routed_core(measured):
    run = network(core="2 Gbps", variant="published", fat_pipes=("core",))
    left = "left out, as the pairs of gaia are measured:"
    assert _without_core_rules(run, ()) == (
        network(),
        (f"{left} variant(='published'), core(='2 Gbps'), fat_pipes(=('core',)) of the run's network.",),
    )
    found, (note,) = _without_core_rules(run, ("core", "fat_pipes"))
    assert found == network(core="2 Gbps", fat_pipes=("core",))
    assert note == f"{left} variant(='published') of the run's network."
    assert _without_core_rules(network(core="2 Gbps"), ("core",)) == (network(core="2 Gbps"), ())
    assert _without_core_rules(network(), ()) == (network(), ())
    measured.measured = None
    assert _without_core_rules(run, ()) == (run, ())


@pytest.mark.parametrize(
    ("compute", "compute_at", "before_s", "stated_s", "taken"),
    [
        # Silo 0 had the time that the first network states, silo 1 one of its own.
        (None, {"b": "2 s"}, (1.0, np.nan), (3.0, 4.0), (3.0, 2.0)),
        (None, {}, (1.0, np.nan), (3.0, np.nan), (3.0, 2.0)),
        (None, {}, (1.0, np.nan), (3.0, 4.0), (3.0, 4.0)),
        ("5 s", {}, (9.0, 9.0), (3.0, 4.0), (1.0, 2.0)),
        ("5 s", {}, (1.0, 9.0), (3.0, 4.0), (3.0, 2.0)),
        (None, {}, (1.0, 2.0), (np.nan, np.nan), (1.0, 2.0)),
    ],
)
def test_computing_times_that_a_network_states_are_those_of_its_silos(
    monkeypatch, compute, compute_at, before_s, stated_s, taken
):
    there = SimpleNamespace(name="there", stated_s=np.array(before_s))
    here = SimpleNamespace(name="here", stated_s=np.array(stated_s))
    monkeypatch.setattr(relocation, "silo_routers", lambda _underlay, _silos: [0, 1])
    monkeypatch.setattr(relocation, "stated_compute", lambda underlay, _routers: underlay.stated_s)
    run = SimpleNamespace(
        record=SimpleNamespace(underlay=there, network=SimpleNamespace(silo_at=None), silo_labels=("a", "b")),
        scenario=SimpleNamespace(workload=WorkloadConfig(compute=compute, compute_at=compute_at)),
    )
    work = Workload(model_bits=1.0, compute_s=np.array([1.0, 2.0]))
    graph = SimpleNamespace(underlay=here, router=np.array([0, 1]))
    found, notes = _with_stated_times(run, work, graph)
    assert np.broadcast_to(found.compute_s, 2).tolist() == list(taken)
    changed = sum(one != other for one, other in zip(taken, (1.0, 2.0), strict=True))
    said = f"computing times of {changed} silos are those that here states."
    assert notes == ((said,) if changed else ())


@pytest.mark.parametrize(
    ("before", "after", "bits"),
    [
        ({"model_size": "1 Mbit"}, {"model_size": "2 Mbit"}, 2e6 / 2),
        ({"model_size": "1 Mbit"}, {"model_size": "2 Mbit", "overhead": "50 %"}, 3e6 / 2),
        ({"model_size": "1 Mbit"}, {"model_size": "1 Mbit", "overhead": "50 %"}, 1.5e6),
        ({"model_size": "1 Mbit", "overhead": "25 %"}, {"model_size": "1 Mbit"}, 1e6 / 1.25),
        ({"model_size": "1 Mbit"}, {"model_size": "1 Mbit", "compute": "1 s"}, 1e6),
        ({"model_size": "1 Mbit"}, {"model_size": "0 bit"}, 0.0),
    ],
)
def test_the_size_of_messages_follows_from_that_of_the_model(before, after, bits):
    # Of each message the file says that it is half of the model.
    work = Workload(model_bits=1e6, compute_s=0.5, message_share=0.5)
    configs = [WorkloadConfig(**{"compute": "0.5 s"} | each) for each in (before, after)]
    scenarios = [SimpleNamespace(workload=config, network=network()) for config in configs]
    run = SimpleNamespace(scenario=scenarios[0], record=SimpleNamespace(work=work))
    assert _workload(run, scenarios[0], None) is work
    one = SimpleNamespace(
        silos=1, labels=("a",), router=np.zeros(1, dtype=int), underlay=SimpleNamespace(sites=None)
    )
    found = _workload(run, scenarios[1], one)
    assert found.model_bits == pytest.approx(bits)
    assert found.compute_s == (1.0 if "compute" in after else 0.5)


@pytest.mark.parametrize(
    ("compute_s", "name"),
    [
        ((0.0046, 0.0046), "femnist"),
        ((0.0046, 1.0), "custom, model of femnist"),
        ((1.0, 1.0), "custom, model of femnist"),
    ],
)
def test_a_preset_of_which_a_silo_has_another_computing_time_is_named_for_its_model(compute_s, name):
    work = Workload(model_bits=1e6, compute_s=np.array(compute_s))
    before, after = (
        SimpleNamespace(workload=WorkloadConfig(preset="femnist", overlap=overlap))
        for overlap in (None, "0 %")
    )
    run = SimpleNamespace(scenario=before, record=SimpleNamespace(work=work))
    found = _workload(run, after, None)
    assert found.name == f"{name}, overlap 0 %"
    assert found.overlap == 0.0


@pytest.mark.parametrize(
    ("silo_at", "there", "here", "message"),
    [
        (None, "abc", "abc", None),
        (None, "abc", "xyz", None),
        (("a", "b", "c"), "abc", "abc", None),
        (None, "abc", "ab", r"new has 2 silos, but the run has 3\."),
        (("a", "b"), "ab", "abc", r"new has 3 silos, but the run has 2\."),
        (None, "abc", "acb", r"run\.h5 numbers the silos of new in another order than that of their labels"),
    ],
)
def test_silos_keep_their_numbers(silo_at, there, here, message):
    run = run_of(
        network=SimpleNamespace(silo_at=silo_at),
        underlay=SimpleNamespace(labels=("a", "b", "c")),
        silo_labels=tuple(there),
    )
    graph = SimpleNamespace(silos=len(here), labels=tuple(here), underlay=SimpleNamespace(name="new"))
    if message is None:
        _check_silos(run, graph)
    else:
        with pytest.raises(InputError, match=message):
            _check_silos(run, graph)


def test_only_a_new_event_alters_the_learning():
    def scenario(*entries):
        known = {("simulation", "absence", place): entry for place, entry in enumerate(entries)}
        return SimpleNamespace(simulation=SimpleNamespace(learning_events=lambda: known))

    entries = [SimpleNamespace(describe=lambda name=name: name) for name in ("a is away", "b is away")]
    _check_learning(scenario(*entries), scenario(*entries[::-1]))
    _check_learning(scenario(*entries), scenario())
    with pytest.raises(
        InputError, match=r"would alter the learning \(b is away\), whose rows a replay keeps"
    ):
        _check_learning(scenario(entries[0]), scenario(*entries))


@pytest.fixture
def drawn(monkeypatch):
    """Relocate a randomized overlay of which 8 rounds are recorded; how many rounds are read and simulated."""
    read = []

    def read_drawn(_path, _recorded, _graph, _work, *, most):
        read.append(most)
        return SimpleNamespace(rounds=8)

    monkeypatch.setattr(relocation, "read_drawn", read_drawn)
    monkeypatch.setattr(relocation, "job_of", lambda _overlay, _settings, *, rounds, seed: (rounds, seed))
    recorded = SimpleNamespace(
        kind="matcha", arcs=np.array([[0, 1, 9], [1, 0, 9]]), states=None, consensus=None
    )
    may_send = np.array([[False, True], [True, False]])
    graph = SimpleNamespace(may_send=may_send, labels=("a", "b"), underlay=SimpleNamespace(name="new"))

    def rounds(wanted, trained, until_ci):
        scenario = SimpleNamespace(simulation=SimpleNamespace(until_ci=until_ci), seed=3)
        moved = _relocated(run_of(), recorded, scenario, graph, None, rounds=wanted, trained=trained)
        assert (moved.recorded, moved.overlay.rounds) == (recorded, 8)
        assert read == [None]
        read.clear()
        return moved.job

    return SimpleNamespace(rounds=rounds, may_send=may_send, recorded=recorded, graph=graph, read=read)


@pytest.mark.parametrize(
    ("wanted", "trained", "until_ci", "rounds"),
    [
        (20, 4, None, 20),
        # A run that ended where its interval was narrow has no rounds beyond, but those of the training are drawn.
        (20, 4, 0.01, 8),
        (20, 12, 0.01, 12),
        (6, 4, 0.01, 6),
    ],
)
def test_of_a_randomized_overlay_there_are_no_rounds_beyond_a_narrow_interval(
    drawn, wanted, trained, until_ci, rounds
):
    assert drawn.rounds(wanted, trained, until_ci) == (rounds, 3)


def test_an_arc_that_the_other_network_blocks_is_named(drawn):
    drawn.may_send[1, 0] = False
    with pytest.raises(InputError, match="matcha has the arc b -> a, which new blocks"):
        drawn.rounds(5, 2, None)


def test_a_recorded_simulation_is_made_again_of_no_more_rounds_than_are_asked_for(drawn):
    training = SimpleNamespace(rounds=12)
    run = run_of(training=training, work=None)
    run.scenario.simulation, run.scenario.seed = SimpleNamespace(until_ci=0.01), 3
    assert recorded_job(run, drawn.recorded, drawn.graph, rounds=10) == (10, 3)
    assert recorded_job(run, drawn.recorded, drawn.graph, rounds=30) == (12, 3)
    assert drawn.read == [10, 30]


@pytest.fixture
def moving(monkeypatch):
    """Relocate the overlays of a run on Gaia, with what each step is given."""
    seen = SimpleNamespace(built=[], routed=[], checked=[], moved=[])
    graph = SimpleNamespace(labels=("b", "x"))
    work = SimpleNamespace(compute_s=1.0)

    def build(network, underlay):
        seen.built.append((network, underlay))
        return graph

    def with_routes(underlay, routes):
        seen.routed.append((underlay, routes))
        return "routed"

    def relocated(_run, recorded, scenario, on, of, *, rounds, trained):
        if recorded.kind == "blocked":
            raise InputError("blocked has an arc that is blocked.")
        seen.moved.append((recorded.kind, scenario.network, on, of, rounds, trained))
        return recorded.kind

    monkeypatch.setattr(relocation, "build_network", build)
    monkeypatch.setattr(relocation, "with_routes", with_routes)
    monkeypatch.setattr(relocation, "_check_silos", lambda _run, on: seen.checked.append(on))
    monkeypatch.setattr(relocation, "_workload", lambda *_: work)
    monkeypatch.setattr(relocation, "_with_stated_times", lambda *_: ("stated", ("times are stated.",)))
    monkeypatch.setattr(
        relocation, "check_simulation", lambda *_, seed, rounds: seen.checked.append((seed, rounds))
    )
    monkeypatch.setattr(relocation, "_relocated", relocated)
    kinds = [trained(kind, rounds=(0, 30)) for kind in ("ring", "blocked", "mst")]
    record = SimpleNamespace(overlays=kinds, underlay="recorded", silo_labels=("a", "b"), scenario="text")
    own = parse_scenario('seed = 5\n[network]\nunderlay = "gaia"\nhalf_duplex = ["access"]\n', source="s")
    run = RecordedRun(path=Path("run.h5"), record=record, tables={}, scenario=own)
    return SimpleNamespace(run=run, seen=seen, graph=graph, work=work)


def changed(scenario, rounds=20, compute=None, **network):
    return replace(
        scenario,
        network=NetworkConfig(**{"underlay": "gaia"} | network),
        simulation=replace(scenario.simulation, rounds=rounds),
        workload=replace(scenario.workload, compute=compute),
    )


@pytest.mark.parametrize(("rounds", "simulated"), [(20, 30), (40, 40)])
def test_overlays_are_put_on_the_recorded_network_for_all_trained_rounds(moving, rounds, simulated):
    scenario = changed(moving.run.scenario, rounds, access="1 Gbps")
    found = relocate(moving.run, scenario, ("access",))
    assert moving.seen.built == [(scenario.network, "recorded")]
    assert moving.seen.checked == [moving.graph, (5, simulated)]
    steps = (scenario.network, moving.graph, moving.work, simulated, 30)
    assert moving.seen.moved == [("ring", *steps), ("mst", *steps)]
    assert found.overlays == ("ring", "mst")
    assert found.left == {"blocked": "blocked has an arc that is blocked."}
    assert (found.run, found.scenario, found.text) == (moving.run, scenario, "text")
    assert (found.graph, found.work, found.rounds) == (moving.graph, moving.work, simulated)
    # b is silo 0 here, and was silo 1 in the run.
    (note,) = found.notes
    assert "a is b, b is x. b is on both networks, but not the same silo" in note


def test_another_network_is_built_anew_with_its_own_computing_times_and_the_rules_of_all_links(moving):
    found = relocate(moving.run, changed(moving.run.scenario, underlay="geant"), ("underlay",))
    (network, underlay), *more = moving.seen.built
    assert (network.underlay, network.half_duplex, underlay, more) == ("geant", ("access",), None, [])
    assert found.scenario.network == network
    assert found.work == "stated"
    assert [each[3] for each in moving.seen.moved] == ["stated", "stated"]
    assert found.notes[-1] == "times are stated."
    assert not moving.seen.routed


def test_computing_times_that_change_go_before_those_of_another_network(moving):
    scenario = changed(moving.run.scenario, underlay="geant", compute="2 s")
    assert relocate(moving.run, scenario, ("underlay",)).work is moving.work
    times = replace(moving.run.scenario.workload, compute_at={"b": "2 s"})
    scenario = replace(changed(moving.run.scenario, underlay="geant"), workload=times)
    assert relocate(moving.run, scenario, ("underlay",)).work is moving.work


@pytest.mark.parametrize(
    ("routes", "keys", "underlay", "is_routed"),
    [
        ("r.csv", ("routes",), "routed", True),
        # Those of the run are in its file, and another network has no recorded one to lead them on.
        ("r.csv", ("access",), "recorded", False),
        (None, ("routes",), "recorded", False),
        ("r.csv", ("routes", "underlay"), None, False),
    ],
)
def test_new_routes_lead_over_the_recorded_network(monkeypatch, moving, routes, keys, underlay, is_routed):
    monkeypatch.setattr(relocation, "build_underlay", lambda _network: SimpleNamespace(measured=None))
    relocate(moving.run, changed(moving.run.scenario, routes=routes), keys)
    assert [each[1] for each in moving.seen.built] == [underlay]
    assert moving.seen.routed == [("recorded", "r.csv")] * is_routed


def test_files_of_a_simulation_are_looked_for_beside_the_run():
    found = []
    simulation = SimpleNamespace(beside=lambda folder: found.append(folder) or "beside")

    @dataclass(frozen=True)
    class Stated:
        simulation: object

    assert with_files_beside(Path("folder"), Stated(simulation)) == Stated("beside")
    assert found == [Path("folder")]


@pytest.fixture
def rewritten(monkeypatch):
    """The text of a run with changes, of which the network has 2 silos with these computing times."""

    def text(tables, changes, compute_s):
        work = Workload(model_bits=1.0, compute_s=compute_s)
        run = run_of()
        scenario = SimpleNamespace(network=SimpleNamespace(table=lambda: {"underlay": "as built"}))
        graph = SimpleNamespace(labels=("x", "y"))
        moved = replace(relocation_of(), scenario=scenario, text="old", work=work, graph=graph)
        asked = []
        monkeypatch.setattr(RecordedRun, "changed", lambda _run, _changes: (tables, "scenario"))
        monkeypatch.setattr(relocation, "relocate", lambda *given: asked.append(given) or moved)
        monkeypatch.setattr(relocation, "tables_text", lambda tables: tables)
        found = run.relocated(changes).text
        assert asked == [(run, "scenario", frozenset(changes.tables.get("network", {})))]
        return found

    return text


def test_the_text_of_a_run_without_changes_stays(rewritten):
    tables = {"network": {"underlay": "gaia"}}
    assert rewritten(tables, ReplayChanges(keeps_events=True), 1.0) == "old"
    # Without the run's events it is another scenario.
    assert rewritten(tables, ReplayChanges(keeps_events=False), 1.0) == {"network": {"underlay": "as built"}}


@pytest.mark.parametrize(
    ("key", "workload", "compute_s", "written"),
    [
        ("access", {"compute_at": {"a": "1 s"}}, np.array([1.0, 2.0]), {"compute_at": {"a": "1 s"}}),
        ("underlay", {"model": "x"}, 1.0, {"model": "x"}),
        (
            "underlay",
            {"model": "x", "compute_at": {"a": "1 s"}},
            3.0,
            {"model": "x", "compute": "3.0 s", "local_steps": 1},
        ),
        ("underlay", {"local_steps_at": {"a": 1}}, 3.0, {"compute": "3.0 s", "local_steps": 1}),
        (
            "underlay",
            {},
            np.array([1.0, 2.0]),
            {"compute": "1.0 s", "compute_at": {"y": "2.0 s"}, "local_steps": 1},
        ),
    ],
)
def test_another_network_states_computing_times_of_its_own_silos(
    rewritten, key, workload, compute_s, written
):
    changes = ReplayChanges(tables={"network": {key: "new"}}, keeps_events=True)
    found = rewritten({"network": {key: "new"}, "workload": workload}, changes, compute_s)
    assert found == {"network": {"underlay": "as built"}, "workload": written}
