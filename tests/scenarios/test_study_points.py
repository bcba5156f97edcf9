"""Rows of the points of a study by hand: inputs, simulations, errors, and what is kept for the next point."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any, expected_gap, forms_of
from scenarios.config.scenario import parse_scenario
from scenarios.config.simulation import SimulationConfig
from scenarios.runfile.study_table import RANGES
from scenarios.studies import replay_points, replay_times, study_points
from scenarios.studies.periodic_rows import gap_per_round
from scenarios.studies.replay_points import COLUMNS, _row, compute_replays
from scenarios.studies.replay_times import _goal, _rows
from scenarios.studies.study_points import (
    Point,
    ReplayOf,
    _unsaid,
    design_fields,
    error_text,
    input_fields,
    result_of,
    simulation_fields,
    unsaid_fields,
)
from topologies import InputError, Workload

WORK = Workload(model_bits=1e6, compute_s=0.5)


def graph_of(up=(1e9, 1e9), down=(1e9, 1e9), core=(2e9,)):
    return SimpleNamespace(
        silos=len(up),
        labels=tuple("abcdefgh"[: len(up)]),
        up_bps=np.array(up),
        down_bps=np.array(down),
        core_bps=np.array(core),
        underlay=SimpleNamespace(name="net"),
    )


@pytest.mark.parametrize("as_text", [False, True])
def test_local_steps_of_a_silo_are_a_whole_number(as_text):
    graph, own = graph_of(), Workload(model_bits=1.0, compute_s=0.5, local_steps=np.array([3, 5]))
    path = ("workload", "local_steps_at")
    assert [_unsaid((*path, silo), graph, own, as_text=as_text) for silo in "ab"] == [3, 5]
    assert _unsaid((*path, "b"), graph, WORK, as_text=as_text) == 1
    assert _unsaid((*path, "z"), graph, WORK, as_text=as_text) is None
    assert _unsaid(path, graph, WORK, as_text=as_text) is None
    assert _unsaid((*path, "a", "a"), graph, WORK, as_text=as_text) is None


def test_a_column_with_a_unit_in_its_name_has_the_number_and_one_without_the_text():
    columns = {"access_bps": "network.access", "model_size": "workload.model_size", "silo": "network.silo_at"}
    assert unsaid_fields(columns, graph_of(), WORK) == {
        "access_bps": 1e9,
        "model_size": "1 Mbit",
        "silo": None,
    }


def test_inputs_of_a_point():
    scenario = SimpleNamespace(seed=7)
    row = input_fields(scenario, graph_of(), WORK, OverlayConfig(kind="ring", name="tour"))
    assert row == {
        "network": "net",
        "silos": 2,
        "access_up_bps": 1e9,
        "access_down_bps": 1e9,
        "core_bps": 2e9,
        "compute_s": 0.5,
        "model_bits": 1e6,
        "local_steps": 1,
        RANGES: "",
        "seed": 7,
        "overlay": "tour",
        "kind": "ring",
        "options": "",
    }


def test_inputs_in_which_silos_or_links_differ_have_both_ends():
    graph = graph_of(up=(1e9, 3e9), down=(2e9, 2e9), core=())
    work = Workload(model_bits=1e6, compute_s=np.array([0.5, 0.25]), local_steps=np.array([4, 2]))
    config = OverlayConfig(kind="matcha", options={"budget": 0.5}, seed=4)
    row = input_fields(SimpleNamespace(seed=7), graph, work, config)
    assert (row["access_up_bps"], row["access_down_bps"], row["core_bps"]) == (None, 2e9, None)
    assert (row["compute_s"], row["local_steps"]) == (None, None)
    assert json.loads(row[RANGES]) == {
        "access_up_bps": [1e9, 3e9],
        "compute_s": [0.25, 0.5],
        "local_steps": [2.0, 4.0],
    }
    assert json.loads(row["options"]) == {"budget": 0.5, "seed": 4}


def test_what_varies_comes_first_and_keeps_its_value():
    point = Point(identity="id", varied={"b": 1, "hub": "x"}, scenario=None, rows=2)
    result = result_of(point, [{"a": 1, "hub": "y"}, {"error": "wrong"}])
    assert result.identity == "id"
    assert [list(row) for row in result.rows] == [
        ["b", "hub", "a", "error", "point"],
        ["b", "hub", "error", "point"],
    ]
    assert result.rows[0] == {"b": 1, "hub": "x", "a": 1, "error": "", "point": "id"}
    assert result.rows[1] == {"b": 1, "hub": "x", "error": "wrong", "point": "id"}


def test_errors_of_others_are_called_internal():
    assert error_text(InputError("must be  >= 1.")) == "must be >= 1."
    assert error_text(ValueError("of  a\nlibrary")) == "internal error: ValueError: of a library"


def outcome_of(simulated_s=2.0, rounds=40):
    steady = SimpleNamespace(cycle_time_s=simulated_s, is_exact=True)
    starts_s = np.arange(rounds + 1) * simulated_s
    return SimpleNamespace(
        steady=steady, half_width_s=0.25, engine="compiled", rounds=rounds, last_start_s=starts_s
    )


def test_a_simulation_stands_beside_its_closed_form():
    settings = SimulationConfig(sharing="equal", queueing="fifo")
    assert simulation_fields(settings, outcome_of(), 1.6) == {
        "sharing": "equal",
        "queueing": "fifo",
        "engine": "compiled",
        "rounds": 40,
        "simulated_s": 2.0,
        "simulated_half_width_s": 0.25,
        "simulated_is_exact": True,
        "over_paper": pytest.approx(0.25),
    }


@pytest.fixture
def there(monkeypatch):
    """A place where `ring` can be replayed and `star` cannot."""
    ring, star = (SimpleNamespace(kind=kind) for kind in ("ring", "star"))
    config = OverlayConfig(kind="ring", options={}, name="ring")
    scenario = SimpleNamespace(
        seed=7, overlays=SimpleNamespace(overlays=[config]), simulation=SimulationConfig()
    )
    moved = SimpleNamespace(
        recorded=ring, overlay="overlay", reached=lambda _outcome, goal: None if goal is None else (5, 10.0)
    )
    monkeypatch.setattr(
        replay_points, "design_fields", lambda overlay, seed: {"paper_s": 1.6, "arcs": (overlay, seed)}
    )
    run = SimpleNamespace(goal=lambda _: 0.5, record=SimpleNamespace(overlays=[ring, star]))
    return SimpleNamespace(
        scenario=scenario,
        graph=graph_of(),
        work=WORK,
        overlays=(moved,),
        left={"star": "star has\nno hub."},
        run=run,
        ring=ring,
        star=star,
        simulate=lambda each, *, title: outcome_of() if (each, title) == (moved, None) else None,
    )


def test_a_replayed_overlay_has_its_times_to_the_target(there):
    row = _row(there, there.ring)
    assert (row["overlay"], row["kind"], row["seed"], row["arcs"]) == ("ring", "ring", 7, ("overlay", 7))
    assert (row["simulated_s"], row["over_paper"]) == (2.0, pytest.approx(0.25))
    assert [row[name] for name in COLUMNS] == [0.5, 5, 10.0]
    there.run.goal = lambda _: None
    assert [_row(there, there.ring)[name] for name in COLUMNS] == [None, None, None]


def test_an_overlay_that_cannot_be_replayed_is_a_row_with_its_error(there):
    row = _row(there, there.star)
    assert (row["overlay"], row["kind"], row["silos"], row["error"]) == (
        "star",
        "star",
        2,
        "star has no hub.",
    )
    assert "simulated_s" not in row


def test_an_overlay_that_cannot_be_simulated_is_a_row_with_its_closed_forms_and_error(there):
    def fails(*_, **__):
        raise InputError("dates are  lost.")

    there.simulate = fails
    row = _row(there, there.ring)
    assert (row["paper_s"], row["error"]) == (1.6, "dates are lost.")
    assert "simulated_s" not in row


@pytest.fixture
def no_kept_runs():
    """No run is kept from a test before, or for one after."""
    replay_points._run_of.cache_clear()
    yield
    replay_points._run_of.cache_clear()


@pytest.mark.usefixtures("no_kept_runs")
def test_replays_of_a_study_read_the_run_once_and_those_of_none_each_time(there, monkeypatch):
    opened = []
    monkeypatch.setattr(replay_points.RecordedRun, "open", lambda path: opened.append(path) or there.run)

    def relocate(_run, _scenario, keys):
        if not keys:
            raise LookupError("no keys")
        return there

    monkeypatch.setattr(replay_points, "relocate", relocate)

    def point(identity, keys):
        replay = ReplayOf(path=Path("run.h5"), network_keys=frozenset(keys))
        return Point(
            identity=identity,
            varied={"x": 1},
            scenario=None,
            rows=2,
            replay=replay,
            unsaid={"access_bps": "network.access"},
        )

    first, wrong = compute_replays([point("a", ["access"]), point("b", [])], "study")
    assert opened == [Path("run.h5")]
    ring, star = first.rows
    assert (ring["access_bps"], ring["x"], ring["time_to_target_s"], ring["point"]) == (1e9, 1, 10.0, "a")
    assert (ring["speedup"], ring["error"], star["error"]) == (None, "", "star has no hub.")
    assert [row["error"] for row in wrong.rows] == ["internal error: LookupError: no keys"]
    compute_replays([point("a", ["access"])] * 2)
    assert len(opened) == 3


def goal_of(target, *, left=None, accuracies=None):
    """The goal of a run of which overlays with these accuracies can be replayed."""
    recorded = [
        SimpleNamespace(
            kind=kind,
            history={"test_accuracy": np.array(rows)} if rows else {},
            first_row_at=lambda least, rows=rows: next(
                (k for k, each in enumerate(rows) if each >= least), None
            ),
        )
        for kind, rows in (accuracies or {}).items()
    ]
    run = SimpleNamespace(path="run.h5", record=SimpleNamespace(overlays=recorded))
    moved = [SimpleNamespace(recorded=each) for each in recorded if each.kind not in (left or {})]
    return _goal(run, [SimpleNamespace(overlays=moved, left=left or {})], target)


def test_times_are_to_a_target_that_an_overlay_reaches():
    rows = {"ring": (0.1, 0.6), "star": (0.1, 0.4), "bare": ()}
    for target in (None, 0.1, 0.6):
        assert goal_of(target, accuracies=rows) == target
    highest = (
        r"target_accuracy\(=0\.7\) must be reached by an overlay; the highest test accuracy in run\.h5 is "
    )
    with pytest.raises(InputError, match=rf"{highest}ring's 0\.6\.$"):
        goal_of(0.7, accuracies=rows)
    with pytest.raises(InputError, match=rf"{highest}star's 0\.4\.$"):
        goal_of(0.7, accuracies={"ring": (0.1, float("nan")), "star": (0.1, 0.4)})


def test_a_target_that_only_left_overlays_reach_is_an_error_with_their_reason():
    rows, left = {"ring": (0.1, 0.6), "star": (0.1, 0.4)}, {"ring": "ring has\nan arc."}
    assert goal_of(0.4, accuracies=rows, left=left) == 0.4
    with pytest.raises(
        InputError,
        match=r"must be reached by an overlay that can be replayed; the highest test accuracy of these in run\.h5 is "
        r"star's 0\.4; not replayed: ring has an arc\.$",
    ):
        goal_of(0.5, accuracies=rows, left=left)


@pytest.mark.parametrize(
    ("rows", "left", "message"),
    [
        ({"bare": ()}, {}, r"run\.h5: has no training rows, so there is no time to a target"),
        ({}, {}, r"run\.h5: has no training rows"),
        (
            {"ring": (0.5,), "bare": ()},
            {"ring": "ring has an arc."},
            r"run\.h5: no overlay with training rows can be replayed; not replayed: ring has an arc\.$",
        ),
    ],
)
def test_a_run_without_rows_has_no_time_to_a_target(rows, left, message):
    for target in (None, 0.5):
        with pytest.raises(InputError, match=message):
            goal_of(target, accuracies=rows, left=left)


def moved_of(kind, reached, hub=None):
    recorded = SimpleNamespace(hub=hub, history={"round": [1]} if reached != "untrained" else {})
    return SimpleNamespace(
        kind=kind,
        recorded=recorded,
        reached=lambda _outcome, goal: (
            None if reached in ("untrained", None) else (reached, float(goal or 1.0) * reached)
        ),
    )


def test_rows_at_a_capacity_have_rounds_and_times_to_the_target():
    titles = []
    there = SimpleNamespace(
        graph=SimpleNamespace(labels=("A", "B")),
        overlays=(moved_of("star", 4, hub=1), moved_of("ring", 2), moved_of("mst", None)),
        simulate=lambda moved, *, title: titles.append((moved.kind, title)) or outcome_of(),
        short=lambda moved, _: (f"{moved.kind} is short.",) if moved.kind == "ring" else (),
    )
    rows, short = _rows(there, 1e9, "1 Gbps", 0.5)
    assert titles == [("star", "1 Gbps "), ("ring", "1 Gbps "), ("mst", "1 Gbps ")]
    assert short == ["ring is short."]
    star, ring, mst = rows
    assert star == {
        "access_bps": 1e9,
        "overlay": "star",
        "hub": "B",
        "simulated_s": 2.0,
        "simulated_is_exact": True,
        "simulated_half_width_s": 0.25,
        "simulated_rounds": 40,
        "engine": "compiled",
        "rounds_to_target": 4,
        "time_to_target_s": 2.0,
        "speedup": 1.0,
    }
    assert (ring["hub"], ring["rounds_to_target"], ring["speedup"]) == (None, 2, 2.0)
    assert mst["rounds_to_target"] is mst["time_to_target_s"] is mst["speedup"] is None


@pytest.fixture
def table_of(monkeypatch):
    """The table of rows of a star, a ring and others, with or without a target."""
    monkeypatch.setattr(replay_times, "describe", lambda *_, access: "network" if access is False else None)
    monkeypatch.setattr(replay_times, "simulation_caption", lambda _, sharing, *, seed: f"{sharing}, {seed}")

    def make(rows, goal, *, target=0.5, untrained=()):
        overlays = [
            SimpleNamespace(
                kind=row["overlay"], history={} if row["overlay"] in untrained else {"round": [1]}
            )
            for row in rows
        ]
        there = SimpleNamespace(
            scenario=SimpleNamespace(
                name="my \n study",
                seed=7,
                simulation=SimulationConfig(sharing="equal"),
                target_accuracy=target,
            ),
            run=SimpleNamespace(path="run.h5", record=SimpleNamespace(overlays=overlays)),
            graph=SimpleNamespace(underlay=SimpleNamespace(notes=("A note.",))),
            work=None,
        )
        return replay_times._table(there, rows, goal)

    return make


def time_row(overlay, time_s, *, speedup=None, is_exact=True):
    return {
        "access_bps": 1e9,
        "overlay": overlay,
        "simulated_s": 2.0,
        "simulated_is_exact": is_exact,
        "rounds_to_target": time_s,
        "time_to_target_s": time_s,
        "speedup": speedup,
        "engine": "simpy",
    }


def test_the_table_of_times_says_what_they_are_to(table_of):
    rows = [
        time_row("star", 4.0, speedup=1.0),
        time_row("ring", None),
        time_row("mst", None),
        time_row("bare", None),
    ]
    table = table_of(rows, 0.5, untrained=("bare",))
    assert table.caption == "run.h5: my study\nnetwork\nequal, 7"
    assert [column.title for column in table.columns][-3:] == ["rounds", "time (s)", "vs STAR"]
    assert table.further == {"target_accuracy": 0.5}
    assert " ".join(table.notes.split()) == (
        "simulated: cycle time in ms. rounds, time, vs STAR: to a test accuracy of 0.5. -: ring, mst never reach it. "
        "-: bare has no training rows. A note. Engine: simpy."
    )


@pytest.mark.parametrize(("target", "missing"), [(None, "target"), (0.5, "test")])
def test_without_a_target_times_are_to_the_last_recorded_round(table_of, target, missing):
    table = table_of([time_row("ring", 4.0, is_exact=False)], None, target=target)
    assert [column.title for column in table.columns][-1] == "time (s)"
    assert " ".join(table.notes.split()) == (
        f"simulated: cycle time in ms. rounds, time: to the last recorded round, as there is no {missing} accuracy. ~: "
        "estimated from the last rounds, which show no period. A note. Engine: simpy."
    )


@pytest.fixture
def replayed(monkeypatch):
    """Replay a run at capacities at which so many overlays can be replayed."""

    def make(capacities, overlays):
        def relocated(access):
            def check_some():
                raise InputError("nothing is left.")

            return SimpleNamespace(
                overlays=overlays[access],
                notes=("Of all.",),
                not_replayed=(f"not at {access}.",),
                check_some=check_some,
            )

        run = SimpleNamespace(
            changed=lambda _: ("tables", "scenario"),
            goal=lambda scenario: 0.5 if scenario == "scenario" else None,
            relocated=relocated,
        )
        monkeypatch.setattr(replay_times.RecordedRun, "open", lambda _: run)
        monkeypatch.setattr(replay_times, "_goal", lambda _, places, target: (len(places), target))
        monkeypatch.setattr(
            replay_times,
            "_rows",
            lambda there, bps, text, goal: ([(bps, text, goal, there.overlays)], ["Short."]),
        )
        monkeypatch.setattr(replay_times, "_table", lambda there, rows, goal: (there.overlays, rows, goal))
        changes = SimpleNamespace(with_access=lambda text: text)
        return replay_times.replay_times(Path("run.h5"), capacities, changes)

    return make


def test_a_run_is_replayed_at_each_capacity_once_the_smallest_first(replayed):
    table, notes = replayed(("1 Gbps", "10 Mbps", "1000 Mbps"), {"1000 Mbps": "ab", "10 Mbps": ""})
    goal = (2, 0.5)
    assert table == ("", [(1e7, "10 Mbps", goal, ""), (1e9, "1000 Mbps", goal, "ab")], goal)
    assert notes == ("Of all.", "not at 10 Mbps.", "Short.", "not at 1000 Mbps.")


def test_a_run_of_which_nothing_can_be_replayed_at_any_capacity_is_an_error(replayed):
    with pytest.raises(InputError, match=r"^nothing is left\.$"):
        replayed(("1 Gbps", "10 Mbps"), {"1 Gbps": "", "10 Mbps": ""})
    with pytest.raises(InputError, match=r"^access\(=\[\]\) must have a capacity\.$"):
        replayed((), {})


def test_points_of_a_replay_have_the_rows_of_the_run(monkeypatch):
    run = SimpleNamespace(
        path=Path("folder/run.h5"),
        record=SimpleNamespace(overlays=[1, 2, 3]),
        tables="tables",
        goal=lambda _: None,
    )
    study = SimpleNamespace(
        run=Path("run.h5"),
        replayed=lambda changes, tables: (changes, tables),
        network_keys=lambda changes: frozenset(changes),
    )
    monkeypatch.setattr(replay_points.RecordedRun, "open", lambda path: run if path == study.run else None)
    monkeypatch.setattr(replay_points, "with_files_beside", lambda folder, scenario: (folder, scenario))
    opened = replay_points.open_replays(study)
    assert opened.overlays == 3
    assert opened.scenario({"access": 1}) == (Path("folder"), ({"access": 1}, "tables"))
    assert opened.of({"access": 1}) == ReplayOf(path=run.path, network_keys=frozenset({"access"}))
    assert replay_points.open_replays(SimpleNamespace(run=None)) is None


@pytest.fixture(scope="module")
def four():
    """Four silos of Gaia."""
    return build_network(NetworkConfig(underlay="gaia", silo_at=("Seoul", "Tokyo", "Sydney", "Oregon")))


def fields_of(kind, graph, seed=0):
    overlay = design_any(OverlayConfig(kind=kind), graph, Workload.preset("femnist"), seed=seed)
    return overlay, design_fields(overlay, seed)


def test_columns_of_a_static_overlay(four, monkeypatch):
    overlay, fields = fields_of("ring", four)
    # Weights of 1/2 in a directed ring of four.
    assert (fields["arcs"], fields["max_degree"], fields["hub"]) == (4, overlay.max_degree, None)
    assert fields["spectral_gap"] == pytest.approx(1 - np.sqrt(0.5))
    assert fields["paper_s"] == overlay.closed_forms.paper_s
    assert fields["busiest_link"] == four.link_name(overlay.closed_forms.busiest_link)
    star, of_star = fields_of("star", four)
    assert of_star["hub"] == four.labels[star.hub]
    assert of_star["arcs"] == 6
    monkeypatch.setattr(study_points, "MOST_MIXING_SILOS", 4)
    assert design_fields(overlay, 0)["spectral_gap"] == fields["spectral_gap"]
    monkeypatch.setattr(study_points, "MOST_MIXING_SILOS", 3)
    assert design_fields(overlay, 0)["spectral_gap"] is None


def test_columns_of_a_periodic_overlay_are_of_all_its_states(four):
    overlay, fields = fields_of("one_peer_exponential", four)
    assert (fields["arcs"], fields["hub"]) == (len(overlay.numbers.source), None)
    assert fields["arcs"] == 8
    assert (fields["max_degree"], fields["spectral_gap"]) == (overlay.max_degree, gap_per_round(overlay))


def test_columns_of_a_randomized_overlay_have_its_expected_gap(four):
    overlay, fields = fields_of("matcha", four, seed=3)
    assert fields["arcs"] is fields["max_degree"] is fields["hub"] is fields["busiest_link"] is None
    assert fields["spectral_gap"] == expected_gap(overlay)
    assert (
        fields["paper_s"] == forms_of(overlay, 3).paper_s != fields_of("matcha", four, seed=4)[1]["paper_s"]
    )


POINT = """
seed = {seed}
[network]
underlay = "gaia"
silo_at = ["Seoul", "Tokyo", "Sydney", "Oregon"]
[workload]
preset = "femnist"
compute = "{compute}"
[[overlays]]
kind = "ring"
[[overlays]]
kind = "equi_dyn"
[[overlays]]
kind = "equi_dyn"
name = "own seed"
seed = 9
"""


def test_what_does_not_depend_on_what_varies_is_designed_once(monkeypatch):
    made, again = [], study_points.design_any

    def designed(config, graph, work, *, seed, consensus, label_shares):
        made.append((config.name, seed, float(work.compute_s)))
        return again(config, graph, work, seed=seed, consensus=consensus, label_shares=label_shares)

    def of(identity, seed, compute="10 ms"):
        scenario = parse_scenario(POINT.format(seed=seed, compute=compute), source="s.toml")
        return Point(identity=identity, varied={"seed": seed}, scenario=scenario, rows=3)

    monkeypatch.setattr(study_points, "design_any", designed)
    results = study_points.compute_points(
        [of("a", 1), of("b", 2), of("c", 2)], simulate=False, compiled=False
    )
    assert made == [("ring", 1, 0.01), ("equi_dyn", 1, 0.01), ("own seed", 1, 0.01), ("equi_dyn", 2, 0.01)]
    first, second, third = (result.rows for result in results)
    assert [row["overlay"] for row in first] == ["ring", "equi_dyn", "own seed"]
    assert first[0]["paper_s"] == second[0]["paper_s"]
    assert [row["paper_s"] for row in second] == [row["paper_s"] for row in third]
    assert "simulated_s" not in first[0]
    assert {row["error"] for row in (*first, *second)} == {""}
    made.clear()
    study_points.compute_points([of("a", 1), of("b", 1, "20 ms")], simulate=False, compiled=False)
    assert len(made) == 6


def test_states_in_which_silos_compute_are_told_where_they_do_not_in_all(monkeypatch):
    class States(SimpleNamespace):
        """Of a periodic overlay."""

    designs = {"ring": (True, True), "equi_dyn": (True, False), "own seed": (False, True, True)}
    monkeypatch.setattr(study_points, "PeriodicOverlay", States)
    monkeypatch.setattr(
        study_points, "design_any", lambda config, *_, **__: States(computes=designs[config.name])
    )
    monkeypatch.setattr(study_points, "design_fields", lambda *_: {"paper_s": 1.0})
    monkeypatch.setattr(study_points, "_simulated", lambda *_: {"simulated_s": 2.0})
    scenario = parse_scenario(POINT.format(seed=0, compute="10 ms"), source="s.toml")
    point = Point(identity="a", varied={}, scenario=scenario, rows=3)
    (result,) = study_points.compute_points([point], simulate=True, compiled=False)
    assert result.computes == {"equi_dyn": (True, False), "own seed": (False, True, True)}
    assert [row["simulated_s"] for row in result.rows] == [2.0, 2.0, 2.0]
