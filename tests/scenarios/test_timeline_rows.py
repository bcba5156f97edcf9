"""A timeline of three silos worked out by hand: its table, and what lies where in its rows."""

from dataclasses import replace

import numpy as np
import pytest
from hand_timeline import static_activity, static_timeline

from scenarios.report.timeline_rows import circuit_computing, circuit_messages, message_bars, row_order, waits
from scenarios.report.timeline_table import _circuit_text, timeline_table


def table_of(shown, **options):
    return timeline_table(shown, further={"simulated_again": False}, **options)


def test_times_and_shares_of_each_silo():
    table = table_of(static_timeline(), notes=("One.", "Two."))
    a, b, c = table.rows

    assert table.caption == "mine, rounds 4 to 5: 10.00 s to 18.00 s"
    assert [row["silo"] for row in table.rows] == ["A", "B", "C"]
    assert {(row["overlay"], row["first_round"], row["last_round"]) for row in table.rows} == {("mine", 4, 5)}
    seconds = ("begin_s", "end_s", "computing_s", "waiting_s", "sending_s", "receiving_s")
    # What A sends from 15 s to 17 s and what C sends then goes on after their last ends.
    assert [[row[key] for key in seconds] for row in table.rows] == [
        [10.0, 16.0, 2.0, 4.0, 2.0, 3.5],
        [10.0, 18.0, 4.0, 4.0, 1.5, 4.0],
        [11.0, 15.0, 4.0, 0.0, 1.5, 0.0],
    ]
    assert [a[f"{key[:-2]}_share"] for key in seconds[2:]] == pytest.approx([1 / 3, 2 / 3, 1 / 3, 3.5 / 6])
    # A waits for C from 11 s to 14 s, and for B from 15 s to 16 s.
    named = ("waits_most_for", "waits_most_s", "waits_most_share", "waits_most_lags")
    assert [a[key] for key in named] == ["C", 3.0, 0.5, "1"]
    assert [b[key] for key in named] == ["A", 4.0, 0.5, "1"]
    assert [c[key] for key in named] == [None, None, None, None]
    assert [(row["away_s"], row["away_share"]) for row in table.rows] == [(None, None)] * 3
    assert [row["is_critical"] for row in table.rows] == [True, True, False]
    assert table.notes == "critical circuit (paper): A -> B -> A.\nOne.\nTwo."
    assert table.further == {
        "overlay": "mine",
        "first_round": 4,
        "last_round": 5,
        "begin_s": 10.0,
        "end_s": 18.0,
        "states": 1,
        "critical_circuit": ["A", "B"],
        "simulated_again": False,
    }


def heads(table):
    return [column.title for column in table.columns]


def test_columns_are_those_of_what_there_is():
    usual = ["silo", "computes", "sends", "receives", "waits", "most for", "that is"]
    assert heads(table_of(static_timeline())) == usual
    isolated = static_activity(is_isolated=np.array([[False, False, True], [False, False, True]]))
    table = table_of(static_timeline(activity=isolated, lags=np.array([[1, 1, 1], [3, 1, 1]])))
    assert heads(table) == [*usual[:5], "alone", "most for", "lag", "that is"]
    assert [row["isolated_rounds"] for row in table.rows] == [0, 0, 2]
    # B waits for the same silo with two lags.
    assert [row["waits_most_lags"] for row in table.rows] == ["1", "1, 3", None]
    assert heads(table_of(static_timeline(lags=np.array([[1, 1, 2], [1, 1, 1]]))))[-2:] == ["lag", "that is"]
    is_away = np.array([[False, False, True], [False, False, False]])
    away = table_of(
        static_timeline(
            activity=static_activity(is_away=is_away, compute_s=np.array([[1.0, 2, 0], [1, 2, 3]]))
        )
    )
    assert heads(away) == [*usual[:5], "away", *usual[5:]]
    assert [(row["away_s"], row["away_share"]) for row in away.rows] == [(0.0, 0.0), (0.0, 0.0), (1.0, 0.25)]
    assert [away.columns[5].text(row) for row in away.rows] == ["0.0 %", "0.0 %", "25.0 %"]


def test_a_randomized_overlay_has_no_critical_circuit():
    table = table_of(static_timeline(circuit=None), notes=("One.",))

    assert table.notes == "One."
    assert table.further["critical_circuit"] is None
    assert [row["is_critical"] for row in table.rows] == [None] * 3
    assert row_order(static_timeline(circuit=None)) == [0, 1, 2]


def test_a_silo_without_any_time_has_no_shares():
    still = static_activity(
        **{name: np.zeros((2, 3)) for name in ("start_s", "compute_s", "next_start_s")},
        last_arc=np.full((2, 3), -1),
    )
    table = table_of(static_timeline(activity=still, begin_s=0.0, end_s=0.0))

    assert [row["computing_share"] for row in table.rows] == [None] * 3
    assert [row["computing_s"] for row in table.rows] == [0.0] * 3
    # Half a second is a time.
    short = static_activity(
        **{name: getattr(static_activity(), name) / 16 for name in ("start_s", "compute_s", "next_start_s")}
    )
    shares = [row["computing_share"] for row in table_of(static_timeline(activity=short, begin_s=0.0)).rows]
    assert shares == pytest.approx([1 / 3, 0.5, 1.0])


def test_the_circuit_of_a_periodic_overlay_has_its_states():
    table = table_of(static_timeline(circuit=((0, 0), (1, 1)), period=2))

    assert table.caption.startswith("mine (2 states), rounds 4 to 5: ")
    assert table.further["critical_circuit"] == [("A", 0), ("B", 1)]
    assert table.notes == (
        "critical circuit (paper), silo (state of the round that it starts): A (0) -> B (1) -> A (0)."
    )


@pytest.mark.parametrize(
    ("length", "period", "more"), [(40, 40, 0), (41, 41, 1), (1240, 1240, 1200), (50, 1, 0)]
)
def test_of_a_long_circuit_of_a_periodic_overlay_the_first_40_are_named(length, period, more):
    labels = tuple(f"s{silo}" for silo in range(length))
    circuit = tuple((silo, silo % period) for silo in range(length))
    (note,) = _circuit_text(static_timeline(labels=labels, circuit=circuit, period=period))
    names = [f"s{silo} ({silo})" if period > 1 else f"s{silo}" for silo in range(length)]
    written = names if not more else [*names[:40], f"{more:,} more"]

    assert note.partition(": ")[2] == " -> ".join([*written, names[0]]) + "."


def test_the_circuit_is_on_top_in_its_order():
    assert row_order(static_timeline()) == [0, 1, 2]
    assert row_order(static_timeline(circuit=((2, 0), (0, 0)))) == [2, 0, 1]


def test_messages_are_shown_while_their_silo_is_in_the_rounds():
    sent, received = message_bars(static_timeline())

    # What C sends from 15 s on, when its rounds end, and before 11 s, when they begin, is not there.
    assert list(zip(sent.silo.tolist(), sent.begin_s.tolist(), sent.end_s.tolist(), strict=True)) == [
        (0, 11.0, 12.0),
        (1, 12.0, 13.0),
        (2, 12.0, 13.5),
        (0, 15.0, 16.0),
        (1, 15.0, 15.5),
    ]
    assert sent.low.tolist() == pytest.approx([0.08] * 5)
    assert sent.high.tolist() == pytest.approx([0.24] * 5)
    assert list(
        zip(received.silo.tolist(), received.begin_s.tolist(), received.end_s.tolist(), strict=True)
    ) == [
        (1, 11.5, 13.0),
        (0, 12.5, 13.5),
        (0, 12.25, 14.0),
        (1, 15.5, 18.0),
        (0, 15.25, 16.0),
        (0, 15.25, 15.75),
        (0, 10.0, 11.0),
    ]
    # Where A receives two at once, the one that comes later lies below.
    assert received.low.tolist() == pytest.approx([0.27, 0.35, 0.27, 0.27, 0.35, 0.27, 0.27])
    assert received.high.tolist() == pytest.approx([0.43, 0.43, 0.35, 0.43, 0.43, 0.35, 0.35])


def test_messages_of_the_circuit_are_those_that_its_rounds_await():
    assert circuit_messages(static_timeline()) == [
        (0, 1, 11.0, 13.0),
        (1, 0, 12.0, 13.5),
        (0, 1, 15.0, 18.0),
        (1, 0, 15.0, 16.0),
    ]
    # The message of round 3 is under way, but of none of these rounds.
    assert circuit_messages(static_timeline(circuit=((2, 0), (0, 0)))) == [
        (2, 0, 12.0, 14.0),
        (2, 0, 15.0, 15.75),
    ]
    # A to B at the end of rounds in state 0, B to A at that of those in state 1.
    assert circuit_messages(static_timeline(circuit=((0, 0), (1, 1)), period=2)) == [
        (0, 1, 11.0, 13.0),
        (1, 0, 15.0, 16.0),
    ]
    assert circuit_messages(static_timeline(circuit=None)) == []


def test_computing_of_the_circuit_is_that_of_a_silo_that_follows_itself():
    assert circuit_computing(static_timeline()) == []
    assert circuit_computing(static_timeline(circuit=((2, 0),))) == [(2, 11.0, 12.0), (2, 12.0, 15.0)]
    # Only in state 1: the round in state 0 is that of a message.
    own = static_timeline(circuit=((1, 0), (1, 1), (0, 0)), period=2)
    assert circuit_computing(own) == [(1, 10.0, 12.0)]
    both = static_timeline(circuit=((0, 0), (0, 1)), period=2)
    assert circuit_computing(both) == [(0, 10.0, 11.0), (0, 14.0, 15.0)]
    is_away = np.array([[True, False, False], [False, True, True]])
    assert circuit_computing(replace(both, activity=static_activity(is_away=is_away))) == [(0, 14.0, 15.0)]


def test_waiting_begins_after_the_computing_and_names_who_ends_it():
    assert list(waits(static_timeline())) == [
        (0, 11.0, 14.0, "C"),
        (1, 12.0, 13.0, "A"),
        (0, 15.0, 16.0, "B"),
        (1, 15.0, 18.0, "A"),
    ]
    lagged = list(waits(static_timeline(lags=np.array([[1, 2, 2], [3, 1, 1]]))))
    assert [name for *_, name in lagged] == ["C, lag 2", "A", "B", "A, lag 3"]
