"""What silos do in some rounds: they compute, wait for a model, or are away; and what each sends and receives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from simulator.arc import FlowArc
from simulator.block import LinkArray, Messages
from simulator.world.counted_silos import Absences, away
from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.delays import leaving

SIMULTANEOUS = 1e-12
"""Dates that differ by this part of them are one."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Activity:
    """How silos spend some consecutive rounds.

    Attributes
    ----------
    first_round : int
    start_s : ndarray of shape (rounds, silos)
        When each silo starts each round.
    compute_s : ndarray of shape (rounds, silos)
        How long it computes from then on; 0 in a round that it misses.
    next_start_s : ndarray of shape (rounds, silos)
        When it starts the round after, or ends the job.
    is_away : ndarray of bool, shape (rounds, silos)
        Whether it misses the round.
    last_arc : ndarray of int, shape (rounds, silos)
        The in-arc for whose model it waits longest, which is the one that arrives last; -1 where it does not wait.
    is_isolated : ndarray of bool, shape (rounds, silos)
        Whether it misses no round but awaits no model at the end of this one.
    error : float
        Largest relative difference between a date of `next_start_s` and the one that follows from computing times and
        arrivals: of rounding, unless these are not of one simulation.
    """

    first_round: int
    start_s: FloatArray
    compute_s: FloatArray
    next_start_s: FloatArray
    is_away: BoolArray
    last_arc: IntArray
    is_isolated: BoolArray
    error: float

    def __repr__(self) -> str:
        rounds, silos = self.start_s.shape
        return f"Activity(rounds {self.first_round} to {self.first_round + rounds - 1}, {silos} silos)"

    @property
    def waiting_s(self) -> FloatArray:
        """How long each silo waits in each round that it does not miss, after its computing."""
        left_s = np.maximum(0.0, self.next_start_s - (self.start_s + self.compute_s))
        return np.where(self.is_away | (self.last_arc < 0), 0.0, left_s)

    @property
    def away_s(self) -> FloatArray:
        """How long it is away in a round that it misses: from when it left until it is back, in the last one."""
        return np.where(self.is_away, self.next_start_s - self.start_s, 0.0)


def activity(
    first_round: int,
    round_start_s: FloatArray,
    compute_s: FloatArray,
    arrival_s: FloatArray,
    target: IntArray,
    absences: Absences = (),
) -> Activity:
    """How silos spend some consecutive rounds, of their dates.

    Parameters
    ----------
    first_round : int
    round_start_s : ndarray of shape (rounds + 1, silos)
        When each silo starts each of the rounds, and the one after the last; NaN where that is not known.
    compute_s : ndarray of shape (rounds, silos)
        Computing times.
    arrival_s : ndarray of shape (rounds, arcs)
        When the model that the target of each arc awaits at the end of each round arrives, of whichever round it is;
        NaN where none is awaited.
    target : ndarray of int, shape (arcs,)
    absences : sequence of (int, int, int)

    Returns
    -------
    Activity

    Notes
    -----
    A silo starts round ``k + 1`` when its computing of round `k` has ended and the models that all its in-arcs bring
    for round `k` are in, those of a STAR's hub included, which average before they send: DESIGN's round. So

    ``next_start_s = max(start_s + compute_s, latest arrival)``,

    waiting is what comes after the computing, and it is the model that arrives last that ends it. Of models that arrive
    together the one of the first arc counts. A silo that is away neither computes nor waits; what it is sent in the
    last round that it misses brings it back. Time O(rounds * arcs).
    """
    start_s, rounds, silos = round_start_s[:-1], len(compute_s), compute_s.shape[1]
    latest_s = np.full((rounds, silos), -np.inf)
    for arc, silo in enumerate(target.tolist()):
        latest_s[:, silo] = np.fmax(latest_s[:, silo], arrival_s[:, arc])
    computed_s = start_s + compute_s
    expected_s = np.maximum(computed_s, latest_s)
    next_start_s = np.where(np.isnan(round_start_s[1:]), expected_s, round_start_s[1:])
    is_away = away(absences, range(first_round, first_round + rounds), silos)
    waits = ~is_away & (latest_s > computed_s + SIMULTANEOUS * np.abs(computed_s))
    last_arc = np.full((rounds, silos), -1, dtype=np.int64)
    for arc, silo in reversed(list(enumerate(target.tolist()))):
        # A comparison with NaN is false.
        is_last = arrival_s[:, arc] >= latest_s[:, silo] * (1 - SIMULTANEOUS)
        last_arc[is_last & waits[:, silo], silo] = arc
    return Activity(
        first_round=first_round,
        start_s=start_s,
        compute_s=compute_s,
        next_start_s=next_start_s,
        is_away=is_away,
        last_arc=last_arc,
        is_isolated=~is_away & np.isneginf(latest_s),
        error=_largest_error(next_start_s, expected_s),
    )


def start_error(
    found: Activity,
    source: IntArray,
    tokens: IntArray,
    messages: Messages,
    first_round: int,
    *,
    fifo: bool,
    lags: IntArray | None = None,
    backward_share: float,
    slow_arcs: Sequence[FlowArc] = (),
) -> float:
    """Largest relative difference between a message's start and the one that follows from computing times.

    Parameters
    ----------
    found : Activity
    source, tokens : ndarray of int, shape (arcs,)
        See `FlowArc`; messages of arcs without a token do not start after computing, and are passed over.
    messages : Messages
        Of the same rounds and of all before them whose messages are under way meanwhile.
    first_round : int
        Of `messages`.
    fifo : bool
        Whether an arc sends one message at a time.
    lags : ndarray of int, shape (rounds, arcs), optional
        Of the messages of the rounds of `found`, see `RoundPlan.lags`; by default 1. Messages that left before these
        rounds are passed over.
    backward_share : float
        See `simulator.job.Job`.
    slow_arcs : sequence of FlowArc
        The arcs, where messages may start slowly.

    Returns
    -------
    float
        Of rounding, unless computing times are not those of the simulation.

    Notes
    -----
    A message starts when its source has computed the round in which it is sent, or begins its backward pass, and with
    `fifo` when the one before it on the arc has left. One that starts slowly takes its links, which is its start, by
    `FlowArc.slow_start_s` later, and those behind it on its connection not before it.
    """
    rows = slice(found.first_round - first_round, found.first_round - first_round + len(found.start_s))
    arcs = np.flatnonzero(tokens)
    start_s = messages.start_s[rows, arcs]
    computed_s = found.start_s + leaving(found.compute_s, backward_share)
    sent = np.arange(len(computed_s))[:, np.newaxis] + 1 - (1 if lags is None else lags[:, arcs])
    expected_s = computed_s[np.maximum(sent, 0), source[arcs]]
    if fifo:
        before_s = _latest_before(messages.last_bit_s[: rows.stop, arcs])[rows]
        # A message before it in the same backward pass gave up its links at a date unknown, before its last bit left.
        ended_s = (found.start_s + found.compute_s)[np.maximum(sent, 0), source[arcs]]
        held = np.abs(before_s - ended_s) <= SIMULTANEOUS * ended_s
        later_s = np.where(held, np.fmin(before_s, start_s), before_s) if backward_share else before_s
        expected_s = np.fmax(expected_s, later_s)
    if slow_arcs:
        slow = [slow_arcs[arc] for arc in arcs.tolist()]
        expected_s = _slow_starts_s(
            expected_s, messages.part(0, rows.stop), arcs, slow, first_round=first_round
        )
    return _largest_error(start_s, np.where(sent < 0, start_s, expected_s))


def _largest_error(found_s: FloatArray, expected_s: FloatArray) -> float:
    """Largest difference as a part of the date; a date that is unknown, or 0 as expected, has none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(found_s - expected_s) / found_s
    return float(np.nan_to_num(error, posinf=np.inf).max(initial=0.0))


def _slow_starts_s(
    sent_s: FloatArray, messages: Messages, number: IntArray, arcs: Sequence[FlowArc], *, first_round: int
) -> FloatArray:
    """When messages take their links, which are sent at some dates, in the last of the rounds of `messages`.

    Where the last bit before a message left in a round before `first_round`, or its arc has been idle for just as long
    as it may be, it is the nearer one of both dates.
    """
    added_s = np.array([arc.slow_start_s for arc in arcs])
    after_s = np.array([arc.slow_start_after_s for arc in arcs])
    rows = slice(len(messages.start_s) - len(sent_s), None)
    left_s, taken_s = (
        _latest_before(messages.last_bit_s[:, number])[rows],
        _latest_before(messages.start_s[:, number])[rows],
    )
    soon_s, late_s = np.fmax(sent_s, taken_s), np.fmax(sent_s + added_s, taken_s)
    is_first = np.isnan(left_s)
    until_s = np.where(is_first, -np.inf, left_s) + np.where(is_first, 0.0, after_s)
    is_unknown = (is_first & (first_round > 0) & (after_s >= 0)) | (
        np.abs(sent_s - until_s) <= SIMULTANEOUS * sent_s
    )
    start_s = messages.start_s[rows, number]
    is_late = np.where(is_unknown, np.abs(start_s - late_s) < np.abs(start_s - soon_s), sent_s > until_s)
    return np.where(is_late & (added_s > 0), late_s, np.where(added_s > 0, soon_s, sent_s))


def _latest_before(dates_s: FloatArray) -> FloatArray:
    """The latest date of the rows before each one; NaN where there is none."""
    latest_s = np.fmax.accumulate(dates_s, axis=0)
    return np.concatenate((np.full((1, dates_s.shape[1]), np.nan), latest_s))[:-1]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sent:
    """Messages with their dates, each array of shape (messages,), by start and then by arc.

    The time that a message is held back by slow start is neither sending nor receiving: it is before `start_s`.

    Attributes
    ----------
    round : ndarray of int
        At whose end the target awaits it.
    arc : ndarray of int
    lag : ndarray of int
        It is sent in round ``round + 1 - lag``: see `RoundPlan.lags`.
    start_s, last_bit_s, arrival_s : ndarray
        See `simulator.Messages`.
    first_arrival_s : ndarray
        When its first bit arrives: a latency after its start, as its last one after it left.
    bound_link : ndarray of int
    """

    round: IntArray
    arc: IntArray
    lag: IntArray
    start_s: FloatArray
    last_bit_s: FloatArray
    arrival_s: FloatArray
    first_arrival_s: FloatArray
    bound_link: LinkArray

    @classmethod
    def between(
        cls,
        messages: Messages,
        first_round: int,
        begin_s: float,
        end_s: float,
        *,
        lags: IntArray | None = None,
    ) -> Self:
        """Those of some rounds that are under way, from start to arrival, between two dates; by default lags are 1."""
        with np.errstate(invalid="ignore"):
            is_in = (messages.start_s < end_s) & (messages.arrival_s > begin_s)
        row, arc = np.nonzero(is_in)
        order = np.lexsort((arc, messages.start_s[row, arc]))
        row, arc = row[order], arc[order]
        start_s, last_bit_s = messages.start_s[row, arc], messages.last_bit_s[row, arc]
        arrival_s = messages.arrival_s[row, arc]
        return cls(
            round=row + first_round,
            arc=arc,
            lag=np.ones_like(arc) if lags is None else lags[row, arc],
            start_s=start_s,
            last_bit_s=last_bit_s,
            arrival_s=arrival_s,
            first_arrival_s=_first_arrivals_s(arc, start_s, last_bit_s, arrival_s),
            bound_link=messages.bound_link[row, arc],
        )

    def __len__(self) -> int:
        return len(self.arc)


def _first_arrivals_s(
    arc: IntArray, start_s: FloatArray, last_bit_s: FloatArray, arrival_s: FloatArray
) -> FloatArray:
    """When the first bits of messages arrive; of one that follows another on its arc, to the last bit as that one."""
    first_s = start_s + (arrival_s - last_bit_s)
    order = np.lexsort((start_s, arc))
    before, after = order[:-1], order[1:]
    follows = (arc[after] == arc[before]) & (start_s[after] == last_bit_s[before])
    follows &= np.abs(first_s[after] - arrival_s[before]) <= SIMULTANEOUS * arrival_s[before]
    first_s[after[follows]] = arrival_s[before[follows]]
    return first_s


def busy_s(begin_s: ArrayLike, end_s: ArrayLike, low_s: float, high_s: float) -> float:
    """Time between two dates in which one interval or more is under way; O(n log n) of `n` intervals."""
    begin_s, end_s = np.clip(begin_s, low_s, high_s), np.clip(end_s, low_s, high_s)
    order = np.argsort(begin_s, kind="stable")
    begin_s, end_s = begin_s[order], end_s[order]
    if not len(begin_s):
        return 0.0
    covered_s = np.maximum.accumulate(end_s)
    before_s = np.concatenate(([low_s], covered_s[:-1]))
    return float(np.maximum(0.0, end_s - np.maximum(begin_s, before_s)).sum())


def lanes(begin: ArrayLike, end: ArrayLike) -> IntArray:
    """The least lanes in which intervals that overlap lie one above the other.

    Parameters
    ----------
    begin, end : array_like of shape (n,)
        Dates; one that begins when another ends may follow it.

    Returns
    -------
    ndarray of int, shape (n,)
        The lane of each: the lowest one that is free when it begins. There are as many as intervals overlap at most.

    Notes
    -----
    Time O(n log n + n * lanes).
    """
    begin, end = np.asarray(begin), np.asarray(end)
    lane = np.zeros(len(begin), dtype=np.int64)
    free_from: list[float] = []
    for place in np.lexsort((end, begin)).tolist():
        free = next((number for number, date in enumerate(free_from) if date <= begin[place]), len(free_from))
        free_from[free : free + 1] = [end[place]]
        lane[place] = free
    return lane
