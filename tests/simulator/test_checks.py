"""Checks of single values and tables, at the edges of what they accept, and what they say."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from simulator import FlowArc, feasibility
from simulator import input_checks as checks
from topologies import InputError

STRONG = "the arcs must join all silos in both directions"


def said(check, *given):
    """The message, or None where the values are accepted."""
    try:
        check(*given)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("check", "given", "message"),
    [
        (checks.check_share, ("share", 0.0), None),
        (checks.check_share, ("share", 0.999), None),
        (checks.check_share, ("share", 1.0), "share(=1.0) must be at least 0 and below 1."),
        (checks.check_share, ("share", -1e-9), "share(=-1e-09) must be at least 0 and below 1."),
        (checks.check_share, ("share", math.nan), "share(=nan) must be at least 0 and below 1."),
        (checks.check_not_negative, ("date_s", 0), None),
        (checks.check_not_negative, ("date_s", -0.5), "date_s(=-0.5) must be finite and >= 0."),
        (checks.check_not_negative, ("date_s", math.inf), "date_s(=inf) must be finite and >= 0."),
        (checks.check_choice, ("queueing", "overlap", checks.QUEUEINGS), None),
        (
            checks.check_choice,
            ("engine", "c", checks.ENGINES),
            "engine(='c') must be 'auto', 'simpy' or 'compiled'.",
        ),
        (checks.check_weights, ("weights", [1.0, 0.5], 2), None),
        (checks.check_weights, ("weights", [1.0, 0.5], 3), "weights(of 2 numbers) must hold 3."),
        (checks.check_weights, ("weights", [1.0, 0.5], 1), "weights(of 2 numbers) must hold 1."),
        (checks.check_weights, ("weights", [1.0, 0.0], 2), "weights[1](=0.0) must be finite and > 0."),
        (checks.check_weights, ("weights", [math.inf, 1.0], 2), "weights[0](=inf) must be finite and > 0."),
        (checks.check_table, ("table_s", [[0.0]]), None),
        (
            checks.check_table,
            ("table_s", [1.0]),
            "table_s(of shape (1,)) must have one or more rows and columns.",
        ),
        (
            checks.check_table,
            ("table_s", [[]]),
            "table_s(of shape (1, 0)) must have one or more rows and columns.",
        ),
        (checks.check_table, ("table_s", [[1, 2], [3, -1]]), "table_s[1, 1](=-1.0) must be finite and >= 0."),
        (
            checks.check_table,
            ("table_s", [[1, math.inf], [-1, 2]]),
            "table_s[0, 1](=inf) must be finite and >= 0.",
        ),
        (checks.check_table, ("table_s", "x" * 99), f"table_s(='{'x' * 59}) must hold numbers."),
        (checks.check_message_bits, ([1.0, 2.0], 2), None),
        (checks.check_routes, ([(0, 1), ()], 2), None),
        (
            checks.check_routes,
            ([(), (2,)], 2),
            "links of route 1(=(2,)) must be >= 0 and < 2, the link count.",
        ),
    ],
)
def test_what_is_accepted_and_what_is_said(check, given, message):
    assert said(check, *given) == message


def test_what_a_check_returns():
    table = np.array([[1.0, 2.0]])
    copied = checks.check_table("table_s", table)
    copied[0, 0] = 5.0
    assert table[0, 0] == 1.0
    assert checks.check_at_least(1, "rounds", np.int64(1)) == 1
    assert checks.check_capacities([1, math.inf]) == [1.0, math.inf]
    assert checks.check_message_bits(3, 2) == [3.0, 3.0]
    assert checks.check_message_bits([3, 4], 2) == [3.0, 4.0]
    assert checks.check_routes([[0, 1], []], 2) == [(0, 1), ()]
    assert checks.check_weights("weights", [2], 1) == [2.0]
    assert checks.check_compute([0, 1]) == [0.0, 1.0]


def times(rows, silos=2):
    """Computing times whose rows are these, whatever is asked for."""
    return SimpleNamespace(silos=silos, rows=lambda _first, _count: np.array(rows, dtype=float))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.0, 1.0], [2.0, 3.0]], None),
        ([[0.0, 1.0]], "computing times of 2 rounds(of shape (1, 2)) must have shape (2, 2)."),
        ([[0.0], [1.0]], "computing times of 2 rounds(of shape (2, 1)) must have shape (2, 2)."),
        ([[0, 1], [2, -3]], "computing time of silo 1 in round 6(=-3.0 s) must be finite and >= 0."),
        ([[math.nan, 1], [-2, 3]], "computing time of silo 0 in round 5(=nan s) must be finite and >= 0."),
        ([[0, 1], [math.inf, 3]], "computing time of silo 0 in round 6(=inf s) must be finite and >= 0."),
    ],
)
def test_computing_times_of_rounds_are_finite_and_not_negative(rows, message):
    assert said(feasibility.check_rows, times(rows), 5, 2) == message
    if message is None:
        assert feasibility.check_rows(times(rows), 5, 2).tolist() == rows


def arc(source, target, latency_s=0.0, tokens=1):
    return FlowArc(source=source, target=target, latency_s=latency_s, links=(), tokens=tokens)


@pytest.mark.parametrize(
    ("arcs", "sending_s", "compute_s", "advances"),
    [
        ([arc(0, 1), arc(1, 0)], [0.0, 0.0], [0.0, 0.0], False),
        ([arc(0, 1), arc(1, 0)], [0.0, 0.0], [1.0, 0.0], True),
        ([arc(0, 1), arc(1, 0)], [0.0, 2.0], [0.0, 0.0], True),
        ([arc(0, 1, 0.5), arc(1, 0)], [0.0, 0.0], [0.0, 0.0], True),
        # A message without a token does not wait for computing.
        ([arc(0, 1, tokens=0), arc(1, 0)], [0.0, 0.0], [1.0, 0.0], False),
        ([arc(0, 1, tokens=0), arc(1, 0)], [0.0, 0.0], [0.0, 1.0], True),
        ([], [], [0.0, 0.0], True),
    ],
)
def test_some_arc_of_each_circuit_takes_time(arcs, sending_s, compute_s, advances):
    message = said(feasibility.check_durations, arcs, sending_s, np.array(compute_s))
    assert (message is None) is advances
    if message:
        assert message.startswith(
            "arcs on which computing, latency and sending take 0 s must not form a circuit,"
        )


@pytest.mark.parametrize(
    ("arcs", "silos", "message"),
    [
        ([], 1, None),
        ([(0, 1), (1, 0)], 2, None),
        ([(0, 1)], 2, f"no arc enters silo 0: {STRONG}."),
        ([(1, 0)], 2, f"no arc enters silo 1: {STRONG}."),
        ([(0, 1), (1, 0), (0, 2)], 3, f"no arc leaves silo 2: {STRONG}."),
    ],
)
def test_a_silo_without_an_arc_in_or_out_is_named(arcs, silos, message):
    assert said(feasibility.check_strong, [arc(*ends) for ends in arcs], silos) == message


@pytest.mark.parametrize(
    ("sending_s", "messages", "accepted"),
    [
        ([], 9, True),
        ([0.0, 1e18], 2, True),
        ([1.0, 2.0**52], 1, True),
        ([1.0, 2.0**53], 1, False),
        ([1.0, 2.0**52], 2, False),
        ([1e308], 1, True),
        ([1e308], 2, False),
    ],
)
def test_the_shortest_message_changes_the_date_after_the_longest_ones(sending_s, messages, accepted):
    assert (said(feasibility.check_dates, sending_s, messages) is None) is accepted


@pytest.mark.parametrize(("longest_s", "accepted"), [(2.0, True), (1.0, False), (0.0, True)])
def test_only_the_longest_computing_time_must_change_the_date(longest_s, accepted):
    compute_s = np.array([min(longest_s, 0.5), longest_s])
    assert (said(feasibility.check_computing, compute_s, [0.0, 2.0**53], 1) is None) is accepted
    assert said(feasibility.check_computing, compute_s, [], 1) is None


@pytest.mark.parametrize(("rounds", "accepted"), [(9, True), (10, True), (11, False)])
def test_a_plan_covers_all_rounds(rounds, accepted):
    message = said(feasibility.check_plan, SimpleNamespace(rounds=10), rounds)
    assert message == (None if accepted else "rounds(=11) must be <= 10, the rounds of the plan.")
