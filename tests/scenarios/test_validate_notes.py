"""`silosim validate`: what it says about its simulations, and how many rounds it takes."""

import json
from math import inf
from types import SimpleNamespace

import pytest

from scenarios.config.events.cause import Cause
from scenarios.config.simulation import SimulationConfig
from scenarios.validation import circuit_table
from scenarios.validation.table import (
    _estimates,
    _mean_of,
    _periodic_notes,
    _randomized_notes,
    _unexplained,
    plus_minus,
)
from scenarios.validation.validation_study import Validated
from topologies import load_underlay
from topologies.statistics import ConfidenceInterval

pytestmark = pytest.mark.usefixtures("compiled_simulations")

SCENARIO = """
seed = 4
[network]
underlay = "gaia"
[workload]
preset = "inaturalist"
[overlays]
kinds = ["mst", "ring"]
[simulation]
rounds = 500
"""
LOGNORMAL = 'compute = { distribution = "lognormal", cv = 0.5 }\n'
AWAY = '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 10\npolicy = "go_on"\nrounds = 5\n'


def words(text):
    """Without line breaks."""
    return " ".join(text.split())


@pytest.fixture
def toml(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(SCENARIO + LOGNORMAL)
    return path


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "computing constant"),
        (("--compute-times", "lognormal 0.3"), "computing lognormal (cv 0.3)"),
        (("--compute-times", "exponential"), "computing exponential"),
        (
            ("--compute-times", "samples.csv", "--seed", 3),
            "computing drawn from the 2 values of samples.csv, seed 3",
        ),
        (("--compute-times", "times.csv"), "computing trace times.csv"),
        (("--compute-times", "times.csv repeat"), "computing trace times.csv, repeated"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "validate"])
def test_computing_times_stand_above_the_table(silosim, tmp_path, monkeypatch, command, options, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples.csv").write_text("compute_s\n0.01\n\n0.02\n")
    labels = load_underlay("gaia").labels
    rows = [",".join(labels), *[",".join(["0.01"] * len(labels))] * 100]
    (tmp_path / "times.csv").write_text("\n".join(rows))
    result = silosim(command, "gaia", "--kind", "mst", "--rounds", 100, *options).ok()

    above = result.out.split("\n\n")[0]
    sharing = "maxmin" if command == "simulate" else "equal and maxmin"
    assert f"sharing {sharing}, queueing fifo; {text}" in words(above)


def test_a_scenario_with_events_says_so_and_which_count(silosim, toml):
    toml.write_text(SCENARIO + LOGNORMAL + AWAY)
    result = silosim("validate", toml, "--until-ci", "50%").ok()
    out = words(result.out)

    assert "computing lognormal (cv 0.5); with away; until +- 50%" in out
    assert "What happens in a cycle time's rounds is part of it" not in out
    assert "count: Tokyo away from round 10." in out
    assert max(map(len, result.out.splitlines())) <= 80


def test_differences_name_their_rounds(silosim, toml):
    assert "(95 %, paired, over rounds 131 to 490, which both ran)" in words(
        silosim("validate", toml).ok().out
    )


@pytest.mark.parametrize("command", ["simulate", "validate"])
def test_a_narrow_interval_of_a_scenario_and_of_a_network(silosim, toml, command):
    key = "simulated_half_width_s" if command == "simulate" else "maxmin_half_width_s"
    mean = "simulated_s" if command == "simulate" else "maxmin_s"
    for study in ((toml, "--rounds", 20_000), ("gaia", "--kind", "ring", "--compute-times", "lognormal 0.3")):
        result = silosim(command, *study, "--until-ci", "0.1%", "--json")

        assert result.code == 0
        for row in json.loads(result.out)["rows"]:
            assert 0 < row[key] <= 1e-3 * row[mean]


@pytest.mark.slow
def test_many_silos_get_rounds_for_an_interval(silosim):
    command = ("validate", "ebone", "--access", "100 Mbps", "--kind", "matcha_ring")
    result = silosim(*command).ok()
    drawn, stays = json.loads(silosim(*command, "--kind", "mst", "--json").ok().out)["rows"]

    assert (drawn["maxmin_rounds"], stays["maxmin_rounds"]) == (25 * 87, 25 * 87)
    assert drawn["maxmin_half_width_s"] > 0
    assert f"over its {25 * 87} drawn rounds" in words(result.out)


def test_the_least_number_of_rounds_is_in_the_help(silosim):
    assert "Rounds to simulate, 100 or more." in words(silosim("validate", "--help").ok().out)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (None, "mean of 200 rounds after a warm-up of 100"),
        ((90, 400), "mean of rounds 100 to 299"),
    ],
)
def test_the_rounds_of_an_estimate_are_named(asked, text):
    simulated = SimpleNamespace(first_round=100, rounds=200, asked=asked)
    assert _mean_of(simulated) == text


@pytest.mark.parametrize(
    ("until_ci", "asked", "is_said"),
    [(None, 1001, True), (None, 1000, False), (None, 999, False), ("1 %", 1001, False), ("1 %", 999, False)],
)
def test_fewer_drawn_rounds_than_asked_for_are_said(until_ci, asked, is_said):
    forms = SimpleNamespace(
        rounds=1000,
        barrier=ConfidenceInterval(mean=2.0, half_width=0.02, confidence=0.95),
        max_plus=ConfidenceInterval(mean=1.5, half_width=0.03, confidence=0.95),
    )
    drawn = SimpleNamespace(overlay=SimpleNamespace(kind="matcha"), randomized_forms=forms)
    experiment = SimpleNamespace(simulation=SimulationConfig(rounds=asked, until_ci=until_ci))

    line, *more = _randomized_notes(experiment, drawn)
    assert line == (
        "matcha: over its 1000 drawn rounds, the paper's form (a barrier after each round) is 2.000 s +- 1 %; "
        "max-plus (each silo waits for its own in-arcs) 1.500 s +- 2 %; 95 %."
    )
    assert more == ["matcha: 1000 rounds, since drawn arcs take longer; --rounds sets it."] * is_said
    assert _randomized_notes(experiment, SimpleNamespace(randomized_forms=None)) == []


@pytest.mark.parametrize(
    ("paper_s", "equal_s", "maxmin_s", "own", "shared"),
    [
        (2.0, 2.5, 3.25, "+500.0 ms", "+750.0 ms"),
        (2.0, 1.5, 1.25, "-500.0 ms", "-250.0 ms"),
        (2.0, 2.0 * (1 + 1e-12), 3.0, "+0 s", "+1.000 s"),
        (2.0, 3.0, 3.0 * (1 - 1e-12), "+1.000 s", "+0 s"),
    ],
)
def test_a_periodic_overlay_differs_from_paper_in_two_steps(
    monkeypatch, paper_s, equal_s, maxmin_s, own, shared
):
    equal, maxmin = (SimpleNamespace(cycle_time_s=each_s) for each_s in (equal_s, maxmin_s))
    result = SimpleNamespace(
        overlay=SimpleNamespace(kind="base"), paper_s=paper_s, equal=equal, maxmin=maxmin
    )
    assert _periodic_notes(result) == []
    monkeypatch.setattr("scenarios.validation.table.PeriodicOverlay", SimpleNamespace)
    (note,) = _periodic_notes(result)
    assert note.endswith(f"before them on their arc {own} a round, shared links and events {shared}.")


@pytest.mark.parametrize("is_disturbed", [False, True])
def test_rounds_after_the_end_of_a_silo_are_said(is_disturbed):
    exact = SimpleNamespace(is_exact=True, counts_disturbed=is_disturbed)
    said = _estimates(SimpleNamespace(overlay=SimpleNamespace(kind="mst"), equal=exact, maxmin=exact))
    assert [note.split(" start ")[0] for note in said] == ["~ mst: most rounds"] * is_disturbed


@pytest.mark.parametrize(
    ("mean_s", "half_s", "text"),
    [
        (2.0, 0.02, "2.000 s +- 1 %"),
        (2.0, 0.0246, "2.000 s +- 1.2 %"),
        (2.0, 2e-8, "2.000 s +- 0 %"),
        (2.0, 2.2e-8, "2.000 s +- 1.1e-06 %"),
        (0.0, 0.02, "0 s +- 20.00 ms"),
        (2.0, inf, "2.000 s +- -"),
    ],
)
def test_an_interval_in_percent_of_what_is_not_0(mean_s, half_s, text):
    assert plus_minus(mean_s, half_s) == text


@pytest.mark.parametrize(
    ("name", "off_arcs", "text"),
    [
        ("world", "Tokyo away", "Tokyo away"),
        ("serialization", "Tokyo away", "most on A -> B: slow"),
        ("world", "", "most on C: pauses"),
    ],
)
def test_a_part_is_located_where_it_is_largest(name, off_arcs, text):
    arcs = (
        SimpleNamespace(
            source="A", target="B", excess_s=-3.0, world_s=0.0, cause=SimpleNamespace(explanation="slow")
        ),
        SimpleNamespace(
            source="C", target="C", excess_s=2.0, world_s=1.0, cause=SimpleNamespace(explanation="pauses")
        ),
    )
    result = SimpleNamespace(
        attribution=SimpleNamespace(off_arcs=off_arcs, arcs=arcs), maxmin=SimpleNamespace(cycle_time_s=1.0)
    )
    assert Validated._location(result, name) == text


@pytest.mark.parametrize(
    ("source", "target", "shown", "in_flight"), [("A", "B", "A -> B", 1.5), ("A", "A", "A computes", None)]
)
def test_a_silo_that_waits_for_itself_computes(source, target, shown, in_flight):
    terms = dict.fromkeys(("eq3_s", "queue_s", "slow_s", "rate_s", "wait_s", "computing_s", "world_s"), 0.25)
    arc = SimpleNamespace(
        source=source,
        target=target,
        **terms,
        eq3_in_flight=1.5,
        in_flight=1.5,
        cause=Cause(assumption="shared link", place="core link A -> B", explanation="..."),
    )
    row = circuit_table._row(arc)
    assert (row["arc"], row["in_flight"], row["eq3_in_flight"]) == (shown, in_flight, in_flight)
    assert row["cause"] == "shared link: A -> B"
    arc.cause = Cause(assumption="", place="", explanation="as Eq. 3 says")
    assert circuit_table._row(arc)["cause"] == "-"


@pytest.mark.parametrize(
    ("parts", "is_split", "why"),
    [
        ({"a": 1.0, "b": -2.0, "world": 0.0}, True, "b -2.000 s"),
        # With events, or without arcs, all parts of a tenth of the largest one.
        ({"a": 1.0, "b": -2.0, "world": 0.2}, True, "b -2.000 s, a +1.000 s, away, capacity +200.0 ms"),
        ({"a": 1.0, "b": -2.0, "world": 0.19}, True, "b -2.000 s"),
        ({"a": 0.2, "b": -2.0, "c": 0.19}, False, "b -2.000 s, a +200.0 ms"),
        ({"a": 1.0, "world": -3.0}, True, "away, capacity -3.000 s, a +1.000 s"),
    ],
)
def test_the_largest_parts_are_the_reason(parts, is_split, why):
    result = SimpleNamespace(
        parts_s=lambda: parts,
        is_explained=True,
        attribution=object() if is_split else None,
        events=("away", "capacity"),
        _location=lambda name: f"where {name} is",
    )
    result._name = lambda part: Validated._name(result, part)
    largest = max(parts, key=lambda part: abs(parts[part]))

    assert Validated.why(result) == f"{why} a round; where {largest} is"
    result.is_explained = False
    assert Validated.why(result) == ""


def test_overlays_without_parts_arc_by_arc_are_named():
    def result(kind, randomized):
        return SimpleNamespace(overlay=SimpleNamespace(kind=kind), randomized_attribution=randomized)

    results = [result("ring", None), result("matcha", object()), result("random_ring", object())]
    (line,) = _unexplained(results)
    assert line.startswith("matcha, random_ring: no parts arc by arc: ")
    assert _unexplained(results[:1]) == []
