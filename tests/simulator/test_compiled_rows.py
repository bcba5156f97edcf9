"""Rows of rounds in the compiled engine by hand: copies of a period, what is kept, which arcs each silo uses."""

import numpy as np
import pytest

from simulator import Constant, FlowArc, RoundPlan, make_job
from simulator.compiled import extrapolation
from simulator.compiled.extrapolation import History, Period
from simulator.compiled.rows import Rows, joined
from simulator.compiled.used_arcs import Wirings


def rows(first, count, *, arcs=2):
    """Rounds with dates that tell their number."""
    number = np.arange(first, first + count, dtype=np.float64)[:, np.newaxis]
    return Rows(
        round_start_s=np.add(number, [0.0, 0.1, 0.2]),
        start_s=np.tile(number + 0.3, arcs),
        last_bit_s=np.tile(number + 0.5, arcs),
        arrival_s=np.tile(number + 0.7, arcs),
        bound_link=np.tile(number, arcs).astype(np.int32),
    )


def period():
    """Rounds 10 to 12, which take 6 s."""
    found = Period(10, 3, 6.0)
    assert not found.add(6, rows(6, 2))
    assert not found.add(6, rows(6, 4))  # up to round 9
    assert not found.add(8, rows(8, 4))
    assert found.add(12, rows(12, 4))
    return found


@pytest.mark.parametrize(
    ("piece", "lengths"),
    [(1 << 20, [5]), (4, [2, 2, 1]), (5, [2, 2, 1]), (1, [1] * 5), (10, [5]), (8, [4, 1])],
)
def test_copies_of_a_period_are_periods_later(monkeypatch, piece, lengths):
    monkeypatch.setattr(extrapolation, "_PIECE", piece)
    pieces = list(period().copies(13, 5))
    assert [len(one.start_s) for one in pieces] == lengths
    copied = joined(pieces)
    # Rounds 13 to 17 are those of 10, 11, 12, 10 and 11.
    own, later_s = np.array([10, 11, 12, 10, 11]), np.array([6.0, 6, 6, 12, 12])[:, np.newaxis]
    whole = rows(0, 13)
    for name in ("round_start_s", "start_s", "last_bit_s", "arrival_s"):
        np.testing.assert_allclose(getattr(copied, name), getattr(whole, name)[own] + later_s, rtol=1e-14)
    assert copied.bound_link[:, 0].tolist() == own.tolist()


def test_a_period_whose_copies_begin_in_its_midst_and_have_no_arcs():
    found = Period(4, 2, 3.0)
    assert found.add(4, rows(4, 2, arcs=0))
    (copied,) = found.copies(7, 3)
    np.testing.assert_allclose(copied.round_start_s[:, 0], [5.0 + 3, 4.0 + 6, 5.0 + 6])


@pytest.mark.parametrize(
    ("most", "first"),
    [(12, 0), (11, 2), (8, 2), (7, 4), (1, 4)],
)
def test_the_latest_starts_are_kept_as_many_as_fit(monkeypatch, most, first):
    # Three pieces of two rounds of two silos, all of which repeat: the first one that is known is the first that does.
    monkeypatch.setattr(extrapolation, "_HISTORY", most)
    history = History((True,))
    for start in (0, 2, 4):
        history.add(np.array([[start, start], [start + 1, start + 1.0]]))
    assert history.steady(1, 1.0).transient_rounds == first


def test_rounds_after_a_late_one_repeat():
    history = History((True, False))
    history.add(np.array([[0.0], [1.0], [5.0]]))
    history.add(np.array([[6.0], [7.0], [8.0]]))
    steady = history.steady(2, 2.0)
    # Rounds 0 and 1 take longer than a period of 2 s until rounds 2 and 3.
    assert (steady.transient_rounds, steady.period_rounds, steady.computing_rounds) == (2, 2, 1)
    assert steady.cycle_time_s == 2.0


def test_a_cut_keeps_the_same_rows_of_every_table():
    cut = rows(0, 5).cut(1, 3)
    for table in cut:
        assert len(table) == 2
    assert cut.bound_link.tolist() == [[1, 1], [2, 2]]
    assert [len(table) for table in rows(0, 5).cut(2)] == [3] * 5


def job(ends, *, plan=None, rounds=4, tokens=()):
    arcs = [
        FlowArc(source=i, target=j, latency_s=1.0, links=(), tokens=0 if (i, j) in tokens else 1)
        for i, j in ends
    ]
    silos = 1 + max(max(pair) for pair in ends)
    compute = Constant(compute_s=[1.0] * silos)
    return make_job(arcs, link_capacity_bps=[], message_bits=0, compute=compute, rounds=rounds, plan=plan)


def test_without_a_plan_the_arcs_of_a_silo_are_those_after_computing_then_those_after_the_next_start():
    found = Wirings(job([(0, 2), (0, 1), (1, 0), (2, 0)], tokens=[(0, 2)])).rows(0, 9)

    # The arc without a token, 0 -> 2, comes after 0 -> 1.
    assert found.in_arcs.tolist() == [[2, 1, 1]]
    assert found.out.tolist() == [[1, 0, 2, 3]]
    assert (found.first.tolist(), found.middle.tolist(), found.end.tolist()) == (
        [[0, 2, 3]],
        [[1, 3, 4]],
        [[2, 3, 4]],
    )
    assert not found.ahead.any()


class Listed(RoundPlan):
    """Arcs and lags of each round."""

    def __init__(self, *awaited):
        self._awaited = awaited

    @property
    def rounds(self):
        return len(self._awaited)

    @property
    def longest_lag(self):
        return max(lag for round_ in self._awaited for _, lag in round_)

    def active(self, round_):
        return np.array([arc for arc, _ in self._awaited[round_]], dtype=np.int64)

    def lags(self, round_):
        return np.array([lag for _, lag in self._awaited[round_]], dtype=np.int64)

    def sending_s(self, round_):
        return np.zeros(len(self._awaited[round_]))


def test_with_a_plan_a_message_leaves_in_the_row_of_its_round_of_sending():
    # Arc 0 is 0 -> 1 and arc 1 the other way; that of round 2 on arc 0 was sent in round 1, as nothing in round 2.
    plan = Listed([(1, 1), (0, 1)], [(1, 1)], [(0, 2)], [(1, 1)])
    wirings = Wirings(job([(0, 1), (1, 0)], plan=plan))
    found = wirings.rows(0, 3)

    assert found.in_arcs.tolist() == [[1, 1], [1, 0], [0, 1]]
    assert found.out.tolist() == [[0, 1], [0, 1], [0, 0]]
    assert found.ahead.tolist() == [[0, 0], [1, 0], [0, 0]]
    assert found.first.tolist() == [[0, 1], [0, 1], [0, 0]]
    assert found.middle.tolist() == found.end.tolist() == [[1, 2], [1, 2], [0, 0]]
    # In a window of rounds 1 and 2 the message of round 0 has left; after the job nothing is awaited.
    later = wirings.rows(1, 2)
    assert later.in_arcs.tolist() == [[1, 0], [0, 1]]
    assert (later.out.tolist(), later.ahead.tolist()) == ([[0, 1], [0, 0]], [[1, 0], [0, 0]])
    end = wirings.rows(3, 2)
    assert end.in_arcs.tolist() == [[1, 0], [0, 0]]
    assert (end.out.tolist(), end.end.tolist()) == ([[1], [0]], [[0, 1], [0, 0]])
    after = wirings.rows(4, 2)
    assert after.in_arcs.tolist() == [[0, 0], [0, 0]]
    assert after.out.shape == (2, 0)
