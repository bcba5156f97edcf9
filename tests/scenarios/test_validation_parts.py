"""Parts of a validation by hand: sums of terms, rows of a circuit, absences in words, baselines and requests."""

import math
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.events.cause import Cause
from scenarios.config.events.window import Window
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.simulation import SimulationConfig
from scenarios.simulation.cycle_time import SimulatedCycleTime
from scenarios.simulation.experiment import graph_experiment
from scenarios.validation import (
    attribution,
    baseline,
    events,
    file,
    randomized,
    table,
    validation_request,
    validation_study,
)
from scenarios.validation.attribution import ArcShare, Attribution
from scenarios.validation.baseline import _over_same_rounds
from scenarios.validation.circuit_table import MOST_ARCS, _number, _rows, arc_rows, circuit_table
from scenarios.validation.events import WindowEvents
from scenarios.validation.randomized import _busiest
from scenarios.validation.terms import _longest
from scenarios.validation.validation_request import validation_experiment
from scenarios.validation.validation_study import Validated, validate
from topologies import InputError, Workload

NONE = Cause(assumption="", place="", explanation="as Eq. 3 says")
QUEUE = Cause(assumption="serialization", place="core link A -> B", explanation="models queue")


def arc(source="A", target="B", cause=NONE, **terms):
    given = dict.fromkeys(("queue_s", "slow_s", "rate_s", "wait_s", "computing_s", "world_s"), 0.0)
    return ArcShare(
        **{"eq3_s": 1.0, "tokens": 1, "sending_s": 0.5, "eq3_sending_s": 0.5, "link": ""}
        | {"in_flight": 1.5, "eq3_in_flight": 0.5, "source": source, "target": target, "cause": cause}
        | given
        | terms
    )


def test_the_parts_of_a_circuit_are_means_over_its_tokens():
    terms = {"queue_s": 1.0, "slow_s": 2.0, "wait_s": 8.0, "computing_s": 16.0, "world_s": 32.0}
    arcs = (arc(rate_s=4.0, **terms), arc(rate_s=-0.5, eq3_s=3.0))
    assert arcs[0].excess_s == 63.0
    assert arcs[1].excess_s == -0.5
    found = Attribution(tokens=2, arcs=arcs, off_arcs_s=0.25)
    assert (found.paper_s, found.simulated_s) == (2.0, 2.0 + 62.5 / 2 + 0.25)
    assert found.parts_s() == {
        "slow start": 1.0,
        "serialization": 0.5,
        "shared links": 2.0,
        "unused shares": -0.25,
        "waits for other arcs": 4.0,
        "computing times": 8.0,
        "world": 16.25,
    }
    assert sum(found.parts_s().values()) == found.simulated_s - found.paper_s
    one = Attribution(tokens=1, arcs=arcs[:1])
    assert (one.off_arcs_s, one.off_arcs, one.events) == (0.0, "", ())
    assert one.simulated_s == 64.0


def validated(arcs, tokens=2, **more):
    found = Attribution(tokens=tokens, arcs=tuple(arcs), **more)
    return SimpleNamespace(overlay=SimpleNamespace(kind="ring"), attribution=found)


def test_rows_of_a_circuit_end_with_the_sum_over_its_tokens():
    rows = _rows(validated([arc(queue_s=0.5, cause=QUEUE), arc("B", "B", wait_s=1.5)]).attribution)
    assert [row["arc"] for row in rows] == ["A -> B", "B computes", "sum / 2"]
    assert [row["cause"] for row in rows] == ["serialization: A -> B", "-", ""]
    assert [row["queue_s"] for row in rows] == [0.5, 0.0, 0.25]
    assert [row["eq3_s"] for row in rows] == [1.0, 1.0, 1.0]
    assert [(row["in_flight"], row["eq3_in_flight"]) for row in rows] == [
        (1.5, 0.5),
        (None, None),
        (None, None),
    ]


def test_what_no_arc_has_stands_below_the_arcs():
    found = validated([arc(world_s=1.0)], off_arcs_s=0.25, off_arcs="Tokyo is away").attribution
    rows = _rows(found)
    assert [(row["arc"], row["world_s"], row["cause"]) for row in rows] == [
        ("A -> B", 1.0, "-"),
        # Of the whole circuit, as the arcs' terms are.
        ("no arc", 0.5, "Tokyo is away"),
        ("sum / 2", 0.25, ""),
    ]
    assert rows[1]["queue_s"] == rows[1]["eq3_s"] == 0.0


@pytest.mark.parametrize("arcs", [MOST_ARCS, MOST_ARCS + 1, MOST_ARCS + 2, MOST_ARCS + 5])
def test_of_a_long_circuit_the_arcs_with_the_largest_parts_are_shown(arcs):
    # The first ones are small; of the others those with terms that cancel are as large as any.
    small = arcs - MOST_ARCS
    made = [
        arc(f"s{place}", rate_s=0.001) if place < small else arc(f"l{place}", rate_s=1.0, wait_s=-1.0)
        for place in range(arcs)
    ]
    rows = _rows(validated(made, tokens=4).attribution)
    if arcs <= MOST_ARCS + 1:
        assert [row["arc"] for row in rows[:-1]] == [f"{each.source} -> B" for each in made]
        return
    assert [row["arc"] for row in rows] == [
        *(f"l{place} -> B" for place in range(small, arcs)),
        f"{small} others",
        "sum / 4",
    ]
    assert rows[-2]["rate_s"] == pytest.approx(0.001 * small)
    assert rows[-2]["eq3_s"] == small
    assert rows[-1]["eq3_s"] == arcs / 4
    assert rows[-1]["rate_s"] == pytest.approx((0.001 * small + MOST_ARCS) / 4)


def test_of_equal_arcs_the_first_are_shown():
    made = [arc(f"s{place}", rate_s=1.0 + 1e-13 * place) for place in range(MOST_ARCS + 4)]
    rows = _rows(validated(made).attribution)
    assert [row["arc"] for row in rows[:MOST_ARCS]] == [f"s{place} -> B" for place in range(MOST_ARCS)]


def test_a_circuit_in_a_table_has_the_terms_that_it_needs():
    plain = circuit_table(validated([arc(queue_s=0.5), arc("B", "A", rate_s=-0.25)]))
    assert [column.title for column in plain.columns] == [
        *("arc", "Eq. 3", "queue", "rate", "wait", "flight\nEq. 3", "flight\nsim.", "cause"),
    ]
    caption = " ".join(plain.caption.split())
    assert caption == (
        "ring, critical circuit of the paper: 2 arcs, 2 rounds; 1.000 s by the paper, 1.125 s simulated"
    )
    notes = " ".join(plain.notes.split())
    assert notes.startswith(
        "in ms; queue + rate + wait of the last line: +125.0 ms a round over paper. queue: behind"
    )
    assert "slow start" not in notes
    assert "world:" not in notes

    found = validated([arc(queue_s=0.001, slow_s=0.002, computing_s=0.001, world_s=-0.001)], tokens=1)
    whole = circuit_table(found)
    titles = [column.title for column in whole.columns]
    assert titles[4:8] == ["wait", "slow\nstart", "comp.", "world"]
    assert "critical circuit of the paper: 1 arc, 1 round;" in " ".join(whole.caption.split())
    notes = " ".join(whole.notes.split())
    assert "queue + rate + wait + slow start + computing + world of the last line: +3.000 ms a round" in notes
    assert (
        "slow start: beside what Eq. 3's delay has of it. All of these are without the events; world:"
        in notes
    )
    # What is rounding is not shown.
    tiny = circuit_table(validated([arc(slow_s=1e-10, computing_s=9e-10, world_s=-1e-10)], tokens=1))
    assert len(tiny.columns) == 8


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0"), (1e-6, "0"), (-1e-6, "0"), (0.0015, "1.500"), (-0.0015, "-1.500")]
)
def test_a_term_that_is_rounding_is_0(seconds, text):
    assert _number(seconds, "ms", 1e-6) == text


def test_rows_of_arcs_for_files_name_the_overlay_and_the_cause():
    (row,) = arc_rows(validated([arc(queue_s=0.5, cause=QUEUE)]))
    assert row["overlay"] == "ring"
    assert (row["assumption"], row["place"], row["cause"]) == (
        "serialization",
        "core link A -> B",
        "models queue",
    )
    assert (row["queue_s"], row["source"], row["tokens"]) == (0.5, "A", 1)
    assert arc_rows(SimpleNamespace(attribution=None)) == []


def events_in(absences, entries=None):
    """Events in rounds 10 to 19."""
    return WindowEvents(
        tables=("away",),
        window=Window(first_round=10, last_round=19, from_s=0.0, until_s=1.0),
        absences=absences,
        on_links={},
        events=entries or {},
        names=SimpleNamespace(graph=SimpleNamespace(labels=("A", "B", "C", "D", "E"))),
    )


@pytest.mark.parametrize(
    ("absence", "text"),
    [
        ((0, 12, 15), "A is away in 3 of these 10 rounds"),
        ((1, 5, 12), "B is away in 2 of these 10 rounds"),
        ((1, 18, 50), "B is away in 2 of these 10 rounds"),
        ((1, 0, 50), "B is away in 10 of these 10 rounds"),
        ((2, 5, 11), "C is away in 1 of these 10 rounds"),
        ((2, 5, 10), "C is back since round 10"),
        ((2, 1000, 2000), "C is back since round 2,000"),
    ],
)
def test_an_absence_is_counted_in_the_rounds_of_the_mean(absence, text):
    assert events_in([absence]).absent() == text


@pytest.mark.parametrize(
    ("count", "more"), [(1, ""), (3, ""), (4, ", 1 more absences"), (5, ", 2 more absences")]
)
def test_three_absences_are_named(count, more):
    text = events_in([(silo, 12, 14) for silo in range(count)]).absent()
    named = [f"{label} is away in 2 of these 10 rounds" for label in "ABC"[:count]]
    assert text == ", ".join(named) + more
    assert events_in([]).absent() == ""


def test_the_first_kind_of_event_that_holds_a_silo_back_is_the_reason():
    asked = []

    def kind(name, cause, ways=()):
        class Kind:
            @staticmethod
            def silo_cause(entries, _names, window, silo):
                asked.append((name, len(entries), window.first_round, silo))
                return cause

            @staticmethod
            def route_causes(_entries, _names, _window, route, detour_s):
                return [(way, route, detour_s) for way in ways]

        return Kind()

    entries = {
        "a": [kind("a", None, ("x",))],
        "b": [kind("b", QUEUE)] * 2,
        "c": [kind("c", NONE, ("y", "z"))],
    }
    found = events_in([], entries)
    assert found.on_silo(3) is QUEUE
    assert asked == [("a", 1, 10, 3), ("b", 2, 10, 3)]
    assert events_in([], {"a": entries["a"]}).on_silo(3) is None
    assert list(found.on_route((1, 2), 0.5)) == [(way, (1, 2), 0.5) for way in "xyz"]


@pytest.mark.parametrize(
    ("link_bits", "took_s", "capacity_bps", "link", "busy"),
    [
        # 10, 40 and 20 bit/s.
        ([20.0, 80.0, 40.0], 2.0, [100.0, 100.0, 100.0], "link 1", 0.4),
        ([20.0, 80.0, 40.0], 2.0, [100.0, 100.0, 40.0], "link 2", 0.5),
        ([0.0, 80.0, 0.0], 2.0, [0.0, 80.0, 0.0], "link 1", 0.5),
        ([0.0, 0.0, 0.0], 2.0, [100.0, 100.0, 100.0], "", 0.0),
        ([20.0, 80.0, 40.0], 0.0, [100.0, 100.0, 100.0], "", 0.0),
    ],
)
def test_the_busiest_link_takes_the_largest_part_of_its_capacity(
    monkeypatch, link_bits, took_s, capacity_bps, link, busy
):
    def mean_capacity(_graph, _simulation, until_s):
        assert until_s == took_s
        return np.array(capacity_bps)

    monkeypatch.setattr(randomized, "mean_capacity_bps", mean_capacity)
    monkeypatch.setattr(randomized, "link_text", lambda _graph, link: f"link {link}")
    timeline = SimpleNamespace(
        round_start_s=np.array([[0.0, 0.0], [took_s / 2, took_s]]), link_bits=np.array(link_bits)
    )
    assert _busiest(SimpleNamespace(graph=None), None, timeline) == (link, pytest.approx(busy))


def cycle_time(first_round, rounds, throughout=None):
    return SimulatedCycleTime(
        cycle_time_s=9.0,
        half_width_s=None,
        is_exact=False,
        first_round=first_round,
        rounds=rounds,
        simulated_rounds=20,
        engine="simpy",
        throughout=throughout,
    )


@pytest.mark.parametrize(
    ("own", "disturbed", "throughout", "first", "rounds", "cycle_time_s"),
    [
        # Silo 0 takes 2 s a round, silo 1 4 s, silo 2 1 s until round 10 and 5 s from then on.
        ((0, 20), (5, 10), None, 5, 10, 3.0),
        ((0, 12), (5, 10), None, 2, 10, 3.0),
        ((0, 8), (5, 10), None, 0, 8, 3.0),
        ((0, 20), (5, 10), (0, 1), 5, 10, 4.0),
        ((0, 20), (5, 10), (0,), 5, 10, 2.0),
    ],
)
def test_without_events_as_many_rounds_are_compared_before_a_silo_has_ended(
    own, disturbed, throughout, first, rounds, cycle_time_s
):
    starts_s = np.arange(21)[:, None] * np.array([2.0, 4.0, 0.5])
    timeline = SimpleNamespace(round_start_s=starts_s)
    found = _over_same_rounds(
        timeline, np.array([0, 1]), cycle_time(*own), cycle_time(*disturbed, throughout=throughout)
    )
    assert (found.first_round, found.rounds) == (first, rounds)
    assert found.cycle_time_s == pytest.approx(cycle_time_s)
    assert found.simulated_rounds == 20


def test_the_link_that_bounds_messages_for_the_longest_time_in_all():
    links = np.array([[3, 1, 7], [3, 2, 5], [4, 2, -1]])
    sending_s = np.array([[1.0, 5.0, 1.0], [1.0, 2.0, 1.0], [1.5, 2.0, 0.5]])
    # Arc 2 has links 5 and 7 for as long: the lowest one.
    assert _longest(links, sending_s).tolist() == [3, 1, 5]


@pytest.fixture(scope="module")
def gaia():
    return graph_experiment(
        build_network(NetworkConfig(underlay="gaia")), Workload.preset("femnist"), rounds=150
    )


@pytest.mark.parametrize(
    ("settings", "from_scenario", "rounds", "randomized_rounds"),
    [
        ({}, True, 150, None),
        ({}, False, 2000, 1000),
        ({"rounds": 300}, False, 300, None),
        ({"rounds": 300}, True, 300, None),
        ({"until_ci": "1 %"}, False, 20_000, None),
        ({"sharing": "equal"}, False, 2000, 1000),
    ],
)
def test_rounds_of_a_validation_are_those_asked_for(gaia, settings, from_scenario, rounds, randomized_rounds):
    found, of_randomized = validation_experiment(gaia, settings, from_scenario=from_scenario)
    assert (found.simulation.rounds, of_randomized) == (rounds, randomized_rounds)


def test_randomized_overlays_of_many_silos_have_rounds_for_an_interval(gaia, monkeypatch):
    monkeypatch.setattr(validation_request, "RANDOMIZED_ROUNDS", 100)
    assert validation_experiment(gaia, {}, from_scenario=False)[1] == 500


def test_a_validation_keeps_all_rounds_and_so_has_a_limit(gaia, monkeypatch):
    monkeypatch.setattr(validation_request, "MOST_VALIDATED_STARTS", 11 * 300 + 10)
    assert validation_experiment(gaia, {"rounds": 300}, from_scenario=True)[0].simulation.rounds == 300
    with pytest.raises(
        InputError, match=r"rounds\(=301\) of 11 silos must be at most 300: a validation keeps all"
    ):
        validation_experiment(gaia, {"rounds": 301}, from_scenario=True)


@pytest.mark.parametrize(
    ("rounds", "randomized_rounds", "message"),
    [
        (99, None, r"^rounds\(=99\) must be >= 100\.$"),
        (150, 99, r"^randomized_rounds\(=99\) must be >= 100\.$"),
        (100, 100, None),
    ],
)
def test_a_validation_has_a_hundred_rounds_or_more(gaia, rounds, randomized_rounds, message):
    asked = replace(gaia, overlays=[], simulation=replace(gaia.simulation, rounds=rounds))
    if message is None:
        assert validate(asked, randomized_rounds=randomized_rounds) == []
    else:
        with pytest.raises(InputError, match=message):
            validate(asked, randomized_rounds=randomized_rounds)


@pytest.mark.parametrize(("randomized_rounds", "checked"), [(None, 150), (120, 120), (400, 150)])
def test_events_are_checked_for_the_fewest_rounds_that_are_simulated(
    gaia, monkeypatch, randomized_rounds, checked
):
    rounds = []
    monkeypatch.setattr(type(gaia), "check", lambda _, *, rounds=None, found=rounds: found.append(rounds))
    validate(replace(gaia, overlays=[]), randomized_rounds=randomized_rounds)
    assert rounds == [checked]


def result_of(**changes):
    maxmin = SimpleNamespace(cycle_time_s=2.0)
    given = dict.fromkeys(
        ("randomized_forms", "equal", "attribution", "randomized_attribution", "starts", "window")
    )
    return Validated(**given | {"overlay": object(), "maxmin": maxmin} | changes)


def test_paper_of_a_randomized_overlay_is_its_barrier_form_where_it_is_known():
    assert math.isnan(result_of().paper_s)
    assert result_of(randomized_forms=SimpleNamespace(barrier=SimpleNamespace(mean=1.6))).paper_s == 1.6


@pytest.mark.parametrize(
    ("paper_s", "over", "is_explained"),
    [(1.6, 0.25, True), (2.0, 0.0, False), (2.5, -0.2, True), (0.0, None, False), (1.99, 1 / 199, False)],
)
def test_a_difference_of_more_than_a_hundredth_is_explained(paper_s, over, is_explained):
    found = result_of(randomized_forms=SimpleNamespace(barrier=SimpleNamespace(mean=paper_s)))
    assert found.over_paper == (over if over is None else pytest.approx(over))
    assert found.is_explained is is_explained


def test_who_is_followed_for_the_cycle_time(monkeypatch):
    periodic = type("Periodic", (), {"critical_circuit": [(3, 0), (1, 1), (3, 2)]})
    monkeypatch.setattr(validation_study, "PeriodicOverlay", periodic)
    assert validation_study._followed(periodic()).tolist() == [1, 3]
    assert validation_study._followed(SimpleNamespace(graph=SimpleNamespace(silos=3))).tolist() == [0, 1, 2]


@pytest.mark.parametrize("arc_number", [0, 1])
def test_a_share_has_the_terms_of_its_arc(monkeypatch, arc_number):
    """Of an arc from A to B, and of B's wait for its own computing."""
    monkeypatch.setattr(
        attribution, "cause_of", lambda _resources, number, _terms, cycle_s: (number, cycle_s)
    )
    overlay = SimpleNamespace(
        arcs=1,
        transmission_s=np.array([0.5]),
        latency_s=np.array([0.25]),
        proof=SimpleNamespace(cycle_time_s=1.5),
        graph=SimpleNamespace(labels=("A", "B"), link_name=lambda link: f"link {link}"),
        event_graph=SimpleNamespace(
            source=np.array([0, 1]),
            target=np.array([1, 1]),
            tokens=np.array([0, 1]),
            delay_s=np.array([0.75, 2.0]),
        ),
    )
    names = ("queue_s", "slow_s", "rate_s", "wait_s", "computing_s", "sending_s", "under_way_s")
    values = {name: np.array([k, -k], dtype=float) for k, name in enumerate(names, 1)}
    terms = SimpleNamespace(link=np.array([0, -1]), **values)
    found = attribution._share(SimpleNamespace(overlay=overlay), arc_number, terms, 2.0)
    sign = 1 - 2 * arc_number
    assert [getattr(found, name) for name in names[:-1]] == [sign * k for k in range(1, 7)]
    assert (found.source, found.target) == (("A", "B") if arc_number == 0 else ("B", "B"))
    assert (found.tokens, found.eq3_s) == ((0, 0.75) if arc_number == 0 else (1, 2.0))
    assert found.world_s == 0.0
    assert found.in_flight == sign * 3.5
    assert (found.eq3_sending_s, found.eq3_in_flight) == ((0.5, 0.5) if arc_number == 0 else (0.0, 0.0))
    assert found.link == ("link 0" if arc_number == 0 else "")
    assert found.cause == (arc_number, 2.0)
    overlay.proof.cycle_time_s = 0.75
    short = attribution._share(SimpleNamespace(overlay=overlay), arc_number, terms, 0.5)
    assert (short.in_flight, short.eq3_in_flight) == (sign * 14.0, (1 - arc_number) * 1.0)
    # In no time nothing is under way.
    overlay.proof.cycle_time_s = 0.0
    none = attribution._share(SimpleNamespace(overlay=overlay), arc_number, terms, 0.0)
    assert (none.in_flight, none.eq3_in_flight) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("more_s", "told", "cause"),
    [(0.003, False, "both 3.0"), (0.002, False, "own"), (-0.003, False, "both 3.0"), (0.0, True, "both 3.0")],
)
def test_what_events_change_is_a_cause_beyond_a_thousandth_of_the_cycle_time(
    monkeypatch, more_s, told, cause
):
    share = arc(queue_s=1.0, rate_s=-3.0, wait_s=2.0, cause="own")
    monkeypatch.setattr(attribution, "world_s", lambda *_: more_s)
    monkeypatch.setattr(attribution, "is_told", lambda *_: told)
    monkeypatch.setattr(attribution, "event_cause", lambda *_: "events")

    def both(own, changed, own_s, changed_s, *, is_told):
        assert (own, changed, changed_s, is_told) == ("own", "events", more_s, told)
        return f"both {abs(own_s)}"

    monkeypatch.setattr(attribution, "both", both)
    simulated = arc(sending_s=7.0, in_flight=8.0, link="L", queue_s=9.0)
    monkeypatch.setattr(attribution, "_share", lambda *_: simulated)
    found = attribution._with_events(SimpleNamespace(overlay=None), 0, share, None, None, None, 2.0)
    assert (found.cause, found.world_s) == (cause, more_s)
    assert (found.sending_s, found.in_flight, found.link, found.queue_s) == (7.0, 8.0, "L", 1.0)


def simulated_with(cycle_time_s, half_width_s):
    return replace(
        cycle_time(0, 10), cycle_time_s=cycle_time_s, half_width_s=half_width_s, is_exact=half_width_s == 0.0
    )


def test_a_row_of_a_validation_has_forms_times_and_parts(monkeypatch):
    overlay_class = type("Designed", (), {"kind": "ring"})
    monkeypatch.setattr(table, "Overlay", overlay_class)
    monkeypatch.setattr(validation_study, "Overlay", overlay_class)
    overlay = overlay_class()
    overlay.closed_forms = SimpleNamespace(paper_s=2.0, serialized_s=3.0, load_bound_s=4.0, busiest_link=0)
    overlay.graph = SimpleNamespace(link_name=lambda link: f"link {link}")
    found = Attribution(
        tokens=1, arcs=(arc(eq3_s=2.0, queue_s=3.0, world_s=1.0),), off_arcs_s=0.5, off_arcs="away"
    )
    result = result_of(
        overlay=overlay,
        equal=simulated_with(3.0, 0.0),
        maxmin=simulated_with(6.5, 0.25),
        attribution=found,
        difference=SimpleNamespace(mean=0.5, half_width=0.125),
        events=("away",),
    )
    row = table.validation_row(result)
    assert (row["overlay"], row["paper_s"], row["serialized_s"], row["load_bound_s"]) == (
        "ring",
        2.0,
        3.0,
        4.0,
    )
    assert (row["paper_below_load"], row["busiest_link"]) == (True, "link 0")
    assert (row["equal_s"], row["equal_half_width_s"], row["equal_is_exact"]) == (3.0, 0.0, True)
    assert (row["maxmin_s"], row["maxmin_half_width_s"], row["maxmin_is_exact"]) == (6.5, 0.25, False)
    assert (row["equal_over_paper"], row["maxmin_over_paper"]) == (0.5, 2.25)
    assert (row["maxmin_rounds"], row["maxmin_engine"], row["maxmin_period_rounds"]) == (20, "simpy", None)
    assert (row["serialization_s"], row["world_s"], row["world_off_arcs_s"]) == (3.0, 1.5, 0.5)
    assert row["no_barrier_s"] is None
    assert (row["difference_s"], row["difference_half_width_s"]) == (0.5, 0.125)
    assert row["paper_half_width_s"] is row["max_plus_s"] is row["max_plus_half_width_s"] is None
    assert row["why"].startswith("serialization +3.000 s, away +1.500 s a round; most on A -> B")

    overlay.closed_forms.busiest_link = None
    plain = table.validation_row(replace(result, attribution=None, difference=None))
    assert plain["busiest_link"] == plain["why"] == ""
    assert plain["serialization_s"] is plain["world_off_arcs_s"] is plain["difference_s"] is None


def test_a_row_of_a_randomized_overlay_has_both_closed_forms():
    forms = SimpleNamespace(
        barrier=SimpleNamespace(mean=2.0, half_width=0.5), max_plus=SimpleNamespace(mean=1.5, half_width=0.25)
    )
    result = result_of(
        overlay=SimpleNamespace(kind="matcha"),
        randomized_forms=forms,
        equal=simulated_with(3.0, 0.0),
        maxmin=simulated_with(6.5, None),
    )
    row = table.validation_row(result)
    assert (row["paper_s"], row["paper_half_width_s"]) == (2.0, 0.5)
    assert (row["max_plus_s"], row["max_plus_half_width_s"]) == (1.5, 0.25)
    assert (row["busiest_link"], row["load_bound_s"], row["paper_below_load"]) == ("", None, False)


class Settings(SimpleNamespace):
    """Settings with events on the network, and absences of silos, which no network has."""

    def without_events(self, *, on_network_only=False):
        left = () if not on_network_only else tuple(each for each in self.events if each == "away")
        return Settings(**vars(self) | {"events": left})


@pytest.mark.parametrize(
    ("events", "compute", "times"),
    [
        # Serial, with random computing times, and on shared links: 1.25, 1.5 and 4 s as simulated.
        ((), None, (1.5, 1.5, 4.0)),
        ((), "lognormal", (10.0, 1.5, 4.0)),
        # Without the events 3 s; the constant rates do not know of events on the network.
        (("failure",), None, (1.5, 1.5, 3.0)),
        # An absence is in the simulation with constant rates, too.
        (("away",), None, (11.0, 11.0, 3.0)),
        (("failure", "away"), "lognormal", (10.0, 11.0, 3.0)),
    ],
)
def test_assumptions_of_a_randomized_overlay_are_dropped_one_after_the_other(
    monkeypatch, events, compute, times
):
    def equal_s(_overlay, simulation, silos, *, rounds, seed):
        assert (silos.tolist(), rounds, seed, simulation.events) == ([0, 1, 2], 20, 7, ())
        return 10.0 if simulation.compute is None and compute is not None else 11.0

    def undisturbed(_overlay, simulation, maxmin, silos, *, seed):
        assert (simulation.events, maxmin.cycle_time_s, silos.tolist(), seed) == (events, 4.0, [0, 1, 2], 7)
        return SimpleNamespace(cycle_time=SimpleNamespace(cycle_time_s=3.0))

    monkeypatch.setattr(randomized, "_equal_s", equal_s)
    monkeypatch.setattr(randomized, "simulate_undisturbed", undisturbed)
    monkeypatch.setattr(randomized, "_busiest", lambda *_: ("link 1", 0.5))
    monkeypatch.setattr(
        randomized, "replace", lambda settings, **changes: Settings(**vars(settings) | changes)
    )
    forms = SimpleNamespace(barrier=SimpleNamespace(mean=2.0), max_plus=SimpleNamespace(mean=1.25))
    found = randomized.attribute_randomized(
        SimpleNamespace(graph=SimpleNamespace(silos=3)),
        Settings(events=events, compute=compute),
        forms,
        None,
        equal=SimpleNamespace(cycle_time_s=1.5),
        maxmin=SimpleNamespace(cycle_time_s=4.0, simulated_rounds=20),
        seed=7,
    )
    assert (found.serial_s, found.random_s, found.shared_s) == times
    assert (found.paper_s, found.max_plus_s, found.simulated_s) == (2.0, 1.25, 4.0)
    assert (found.link, found.busy) == ("link 1", 0.5)


@pytest.fixture
def validations(monkeypatch):
    """Validate overlays, of which some are drawn; the rounds of each, and its difference from the first."""

    def make(*kinds, compute=None, randomized_rounds=None):
        rounds = {}
        designed = type("Designed", (SimpleNamespace,), {})
        monkeypatch.setattr(validation_study, "Overlay", designed)
        monkeypatch.setattr(
            validation_study,
            "paired_difference",
            lambda one, first, *, silos: (one, first, silos) if silos == 3 else None,
        )

        def validated(overlay, _simulation, *, rounds: int, seed, found=rounds):
            assert seed == 7
            found[overlay.kind] = rounds
            return replace(result_of(), starts=overlay.kind)

        monkeypatch.setattr(validation_study, "_validated", validated)

        def design(kind):
            made = SimpleNamespace if kind == "matcha" else designed
            return made(kind=kind, graph=SimpleNamespace(silos=3))

        asked = SimpleNamespace(
            overlays=kinds,
            simulation=SimpleNamespace(rounds=200, compute=compute),
            work=SimpleNamespace(participation=None),
            seed=7,
            check=lambda **_: None,
            design=design,
            named_errors=nullcontext,
        )
        found = validate(asked, randomized_rounds=randomized_rounds)
        return rounds, [each.difference for each in found]

    return make


def test_randomized_overlays_may_have_fewer_rounds(validations):
    assert validations("ring", "matcha") == ({"ring": 200, "matcha": 200}, [None, None])
    assert validations("ring", "matcha", randomized_rounds=100)[0] == {"ring": 200, "matcha": 100}


def test_with_random_computing_times_overlays_are_compared_with_the_first(validations):
    pairs = [None, ("star", "ring", 3), ("mst", "ring", 3)]
    assert validations("ring", "star", "mst", compute="lognormal")[1] == pairs


@dataclass(frozen=True)
class Counted:
    """Starts of which some are counted."""

    rounds: tuple[int, int] = (0, 0)
    asked: tuple[int, int] | None = None


class RecordedStarts:
    def computing(self, computes, regular_from):
        assert (computes, regular_from) == ("computes", "regular")
        return self

    def counted(self, first, end):
        return Counted(rounds=(first, end))

    def until(self, stop):
        return stop


@pytest.fixture
def both_simulations(monkeypatch):
    """Validate an overlay by simulations of 10 rounds from round 5 on; what was simulated."""

    def make(is_static, is_periodic, simulation=None, asked=None, events=None):
        designed, periodic = (type(name, (SimpleNamespace,), {}) for name in ("Designed", "Periodic"))
        overlay = (designed if is_static else periodic if is_periodic else SimpleNamespace)(
            kind="o", graph="graph"
        )
        seen = []
        maxmin = SimpleNamespace(first_round=5, rounds=10, asked=asked, simulated_rounds=20)

        def job_of(_overlay, settings, *, rounds, seed):
            assert (rounds, seed) == (30, 7)
            return SimpleNamespace(sharing=settings.sharing, compute="compute", fifo="fifo")

        def collect(job, silos, *, title, until, engine, messages=False):
            assert silos == "silos"
            seen.append((job.sharing, title, until, messages, engine))
            return SimpleNamespace(
                sharing=job.sharing, round_start_s="starts", absences="away",
                computes="computes", regular_from="regular",
            )  # fmt: skip

        def starts_of(round_start_s, absences):
            assert (round_start_s, absences) == ("starts", "away")
            return RecordedStarts()

        for name, value in {
            "Overlay": designed,
            "PeriodicOverlay": periodic,
            "_followed": lambda _overlay: "silos",
            "job_of": job_of,
            "collect": collect,
            "simulated_cycle_time": lambda found, _silos: maxmin if found.sharing == "maxmin" else "equal",
            "Starts": SimpleNamespace(of=starts_of),
            "Window": SimpleNamespace(of=lambda counted: counted),
            "WindowEvents": SimpleNamespace(of=lambda _simulation, *given: events and (events, *given)),
            "simulate_undisturbed": lambda *_, seed: ("undisturbed", seed),
            "attribute": lambda *given, **more: (given[2:], more),
            "random_cycle_time": lambda _overlay, rounds, seed: ("forms", rounds, seed),
            "attribute_randomized": lambda *given, **more: (given[2], more),
        }.items():
            monkeypatch.setattr(validation_study, name, value)
        found = validation_study._validated(overlay, simulation or SimulationConfig(), rounds=30, seed=7)
        assert found.overlay is overlay
        assert (found.equal, found.maxmin) == ("equal", maxmin)
        return found, seen

    return make


def test_an_overlay_is_simulated_on_shared_links_and_at_constant_rates(both_simulations):
    simulation = SimulationConfig(engine="simpy", until_ci="2 %", sharing="equal")
    found, seen = both_simulations(True, False, simulation)
    assert seen == [
        ("maxmin", "o, maxmin", 0.02, True, "simpy"),
        ("equal", "o, equal", 0.02, False, "simpy"),
    ]
    # Rounds 5 to 14, to their ends.
    assert (found.window, found.starts) == (Counted((5, 15)), 16)
    given, more = found.attribution
    assert given == ("compute", found.maxmin)
    assert more == {"fifo": "fifo", "undisturbed": None, "events": None}
    assert (found.randomized_forms, found.randomized_attribution) == (None, None)


def test_rounds_that_are_asked_for_are_followed_to_their_own_end(both_simulations):
    found, seen = both_simulations(True, False, asked=(4, 18))
    assert (found.window, found.starts) == (Counted((5, 15), (4, 18)), 19)
    assert {each[2] for each in seen} == {None}


def test_with_events_the_undisturbed_network_is_simulated_too(both_simulations):
    found, _ = both_simulations(True, False, events="failures")
    _, more = found.attribution
    assert more["undisturbed"] == ("undisturbed", 7)
    assert more["events"] == ("failures", "graph", Counted((5, 15)), "away")


def test_other_overlays_have_no_parts_arc_by_arc(both_simulations):
    found, seen = both_simulations(False, True)
    assert (found.attribution, found.randomized_attribution, found.randomized_forms) == (None, None, None)
    assert not any(messages for *_, messages, _ in seen)

    found, _ = both_simulations(False, False)
    assert found.attribution is None
    # Closed forms are those of as many drawn rounds as were simulated.
    assert found.randomized_forms == ("forms", 20, 7)
    forms, more = found.randomized_attribution
    assert (forms, more) == (("forms", 20, 7), {"equal": "equal", "maxmin": found.maxmin, "seed": 7})


def test_closed_forms_know_no_participation(gaia):
    asked = SimpleNamespace(simulation=gaia.simulation, work=SimpleNamespace(participation="50 %"))
    with pytest.raises(
        InputError, match=r"^workload\.participation must not be given: in the closed forms all silos"
    ):
        validate(asked)


@pytest.mark.parametrize(("slow_s", "is_shown"), [(5e-7, False), (-5e-7, False), (5e-6, True), (-5e-6, True)])
def test_what_is_rounding_is_a_part_of_the_longer_of_both_cycle_times(slow_s, is_shown):
    slow = arc(eq3_s=1e-3, queue_s=1000.0, slow_s=slow_s)
    for found in (validated([slow], tokens=1), validated([slow, arc("B", "A", eq3_s=1e-3)], tokens=1)):
        table_ = circuit_table(found)
        assert ("slow_s" in [column.key for column in table_.columns]) is is_shown
    faster = arc(eq3_s=1000.0, queue_s=-999.9, slow_s=slow_s)
    assert (len(circuit_table(validated([faster], tokens=1)).columns) == 9) is is_shown


def test_terms_are_in_the_unit_of_the_largest_one():
    assert circuit_table(validated([arc(eq3_s=2000.0)])).notes.startswith("in s;")
    assert circuit_table(validated([arc(eq3_s=0.001, queue_s=-5000.0)])).notes.startswith("in s;")
    assert circuit_table(validated([arc(eq3_s=2e-7)])).notes.startswith("in µs;")


def test_arcs_that_queue_are_among_those_with_the_largest_parts():
    made = [arc(f"r{place}", rate_s=0.001) for place in range(MOST_ARCS)]
    made += [arc(f"q{place}", queue_s=1.0) for place in range(3)]
    names = [row["arc"] for row in _rows(validated(made).attribution)]
    assert [name for name in names if name.startswith("q")] == [f"q{place} -> B" for place in range(3)]
    assert f"{MOST_ARCS - 7} others" in names


@pytest.mark.parametrize("eq3_s", [1e-6, 1000.0])
def test_of_arcs_that_differ_by_rounding_the_first_are_shown(eq3_s):
    made = [arc(f"s{place}", eq3_s=eq3_s, rate_s=1000.0 + 1e-8 * place) for place in range(MOST_ARCS + 4)]
    rows = _rows(validated(made).attribution)
    assert [row["arc"] for row in rows[:MOST_ARCS]] == [f"s{place} -> B" for place in range(MOST_ARCS)]


def test_the_silos_that_are_followed_are_sources_of_arcs_with_a_token():
    overlay = SimpleNamespace(
        proof=SimpleNamespace(circuit=(0, 2, 1)),
        event_graph=SimpleNamespace(source=np.array([5, 6, 7]), tokens=np.array([1, 0, 1])),
    )
    assert attribution.circuit_sources(overlay).tolist() == [5, 7]


@pytest.fixture
def attributed(monkeypatch):
    """Attribute a simulation of two arcs, of which only the first is critical, with or without events."""
    asked = []

    class Of:
        @staticmethod
        def of(*given, **options):
            asked.append((given[1:], options))
            return given[1:]

    monkeypatch.setattr(attribution, "Resources", SimpleNamespace(of=lambda _: "resources"))
    monkeypatch.setattr(attribution, "Terms", Of)
    monkeypatch.setattr(attribution, "_share", lambda *given: arc(f"{given[1]}, {given[3]}", wait_s=1.0))
    monkeypatch.setattr(
        attribution,
        "_with_events",
        lambda _resources, _number, share, _terms, _without, _events, cycle_s: replace(
            share, world_s=cycle_s
        ),
    )
    overlay = SimpleNamespace(
        proof=SimpleNamespace(circuit=(0, 1)), event_graph=SimpleNamespace(tokens=np.array([1, 1, 1]))
    )

    def make(*, throughout=None, undisturbed=True, has_events=True):
        asked.clear()
        simulated = replace(cycle_time(4, 6, throughout=throughout), cycle_time_s=9.0)
        without = SimpleNamespace(
            timeline="without", compute="own", cycle_time=replace(cycle_time(2, 5), cycle_time_s=7.0)
        )
        named = SimpleNamespace(tables=("away",), absent=lambda: "A is away")
        found = attribution.attribute(
            overlay,
            "with",
            "times",
            simulated,
            fifo=False,
            undisturbed=without if undisturbed else None,
            events=named if has_events else None,
        )
        return found, [*asked]

    return make


def test_without_events_the_terms_are_those_of_the_simulation(attributed):
    for options in (
        {"undisturbed": False},
        {"has_events": False},
        {"undisturbed": False, "has_events": False},
    ):
        found, asked = attributed(**options)
        assert asked == [(("with", "times", 4, 6), {"fifo": False})]
        assert [each.source for each in found.arcs] == ["0, 9.0", "1, 9.0"]
        assert (found.tokens, found.events, found.off_arcs_s) == (2, (), 0.0)


def test_with_events_arcs_have_what_these_change(attributed):
    found, asked = attributed()
    assert asked == [(("without", "own", 2, 5), {"fifo": False}), (("with", "times", 4, 6), {"fifo": False})]
    assert [(each.source, each.world_s) for each in found.arcs] == [("0, 7.0", 9.0), ("1, 7.0", 9.0)]
    assert (found.events, found.off_arcs) == (("away",), "")


def test_where_silos_are_away_the_total_is_on_no_arc_and_the_rest_adds_up(attributed):
    found, asked = attributed(throughout=(0,))
    assert len(asked) == 1
    assert (found.off_arcs_s, found.off_arcs, found.events) == (2.0, "A is away", ("away",))
    # Both arcs take 1 s by Eq. 3 and wait for 1 s; what is missing to 7 s is shared among them.
    assert found.simulated_s == 9.0
    assert [each.wait_s for each in found.arcs] == [6.0, 6.0]


def test_events_of_some_rounds_are_those_that_meet_them(monkeypatch):
    class Kind:
        def __init__(self, *causes):
            self.causes = causes

        @staticmethod
        def link_causes(entries, names, window):
            assert (names, window.first_round) == ("names of graph", 10)
            return entries[0].causes

    monkeypatch.setattr(events, "Names", lambda graph: f"names of {graph.name}")
    graph = SimpleNamespace(name="graph", silos=3)
    met = Window(first_round=10, last_round=19, from_s=0.0, until_s=1.0)
    kinds = {"a": [Kind((1, QUEUE), (2, NONE)), Kind((7, NONE))], "b": [Kind((1, NONE))]}
    simulation = SimpleNamespace(events=kinds, tables=("a", "b"))
    # Of 3 silos an absence is felt for 3 rounds after its end: in 8 to 10, and in 7 to 9.
    absences = [(0, 19, 30), (1, 20, 30), (2, 5, 8), (0, 2, 7)]
    found = WindowEvents.of(simulation, graph, met, absences)
    assert (found.tables, found.window, found.events) == (("a", "b"), met, kinds)
    assert found.on_links == {1: (QUEUE, NONE), 2: (NONE,)}
    assert [each[1:] for each in found.absences] == [(19, 30), (5, 8)]
    assert WindowEvents.of(simulation, graph, met).absences == []
    assert WindowEvents.of(SimpleNamespace(events={}), graph, met, absences) is None


@pytest.mark.parametrize("is_exact", [True, False])
def test_without_events_a_job_that_repeats_has_a_period_of_its_own(monkeypatch, is_exact):
    class Designed(SimpleNamespace):
        pass

    def collect(job, silos, *, title, messages, engine):
        assert (job.settings, silos, engine) == ("without", [0], "simpy")
        return (title, messages)

    monkeypatch.setattr(baseline, "Overlay", Designed)
    monkeypatch.setattr(
        baseline,
        "job_of",
        lambda _, settings, *, rounds, seed: SimpleNamespace(
            settings=settings, compute=("times", rounds, seed)
        ),
    )
    monkeypatch.setattr(baseline, "collect", collect)
    monkeypatch.setattr(baseline, "simulated_cycle_time", lambda *_: "own period")
    monkeypatch.setattr(
        baseline, "_over_same_rounds", lambda _timeline, _silos, own, _disturbed: f"rounds, not {own}"
    )
    settings = SimpleNamespace(without_events=lambda: "without", sharing="maxmin", engine="simpy")
    disturbed = SimpleNamespace(is_exact=is_exact, simulated_rounds=20)
    for made, messages in ((Designed, True), (SimpleNamespace, False)):
        found = baseline.simulate_undisturbed(made(kind="ring"), settings, disturbed, [0], seed=7)
        assert found.timeline == ("ring, maxmin, undisturbed", messages)
        assert found.compute == ("times", 20, 7)
        assert found.cycle_time == ("own period" if is_exact else "rounds, not own period")


def test_results_in_a_file_come_back_with_none_where_there_is_no_number(file_in_memory, monkeypatch):
    row = {
        "overlay": "ring",
        "paper_s": 2.0,
        "difference_s": None,
        "equal_is_exact": True,
        "maxmin_rounds": 20,
        "why": "é",
    }
    monkeypatch.setattr(file, "validation_row", lambda _: row)
    file._write(file_in_memory, validated([arc(queue_s=0.5, cause=QUEUE), arc("B", "A")]), 3)
    group = file_in_memory["validation/ring"]
    assert file._row("ring", group) == row | {"order": 3}
    first, second = file._arcs(group)
    assert (first["source"], first["queue_s"], first["tokens"], first["assumption"]) == (
        "A",
        0.5,
        1,
        "serialization",
    )
    assert (second["target"], second["cause"]) == ("A", "as Eq. 3 says")
    assert "overlay" not in first
    assert "overlay" not in group.attrs


def test_an_overlay_without_parts_has_no_arcs_in_the_file(file_in_memory, monkeypatch):
    monkeypatch.setattr(file, "validation_row", lambda _: {"overlay": "ring", "paper_s": 2.0})
    file._write(file_in_memory, SimpleNamespace(overlay=SimpleNamespace(kind="ring"), attribution=None), 0)
    assert len(file_in_memory["validation/ring"]) == 0


def test_the_file_of_a_validation_has_room_for_its_arcs(monkeypatch, tmp_path):
    made = []

    @contextmanager
    def new_file(path, *, size_bytes, force):
        made.append((path, size_bytes, force))
        yield SimpleNamespace(attrs={})

    monkeypatch.setattr(file, "new_file", new_file)
    monkeypatch.setattr(file, "head_bytes", lambda _underlay, silos: 1000 * silos)
    monkeypatch.setattr(
        file, "write_head", lambda opened, head: made.append((opened.attrs, head.graph.silos))
    )
    monkeypatch.setattr(
        file, "_write", lambda opened, result, order: made.append((opened.attrs["schema"], result, order))
    )
    head = SimpleNamespace(graph=SimpleNamespace(silos=3, underlay=None))
    asked = SimpleNamespace(head=lambda: head, overlays=["ring", "star"])
    with file.new_validation(tmp_path / "v.h5", asked, force=True) as write:
        write(["first", "second"])
    assert made[0] == (tmp_path / "v.h5", 3000 + 2 * 3 * 1024, True)
    assert made[1][1] == 3
    assert made[2:] == [("silosim-validation/2", "first", 0), ("silosim-validation/2", "second", 1)]
