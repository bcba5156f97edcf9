"""The steady state of a simulated job: its cycle time, proven where the job repeats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.computing_rounds import ALL, computing_before
from simulator.job import Job
from simulator.tolerances import REPEATED_START
from simulator.world.counted_silos import Absences, Presence, Starts
from topologies import EventGraph, recurrence
from topologies.arrays import FloatArray
from topologies.closed_forms import before_any
from topologies.delays import leaving, under_way
from topologies.periodic_events import fifo_event_graph, periodic_event_graph, state_of_sending

_TABLE = 1 << 24
"""Numbers that a piece of a recurrence may hold, 128 MiB."""

_WORK, _WORK_PER_ROUND = 1 << 25, 1000
"""Arcs that a recurrence may update in all (some tenths of a second), and what a round costs besides, in arcs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SteadyState:
    """How a job goes on without end.

    Parameters
    ----------
    cycle_time_s : float
        Time per round in which silos compute; ``period_s / computing_rounds`` where the job is known to repeat.
    is_exact : bool
        Whether the job repeats (relative 1e-9); otherwise `cycle_time_s` is an estimate, and the rest is None. The
        rest is None as well where the simulated rounds hold no whole undisturbed period.
    period_rounds : int or None
        Smallest `p` such that every silo starts round ``k + p`` exactly `period_s` after round `k`, and that it has the
        same arcs in both, and they compute in both or in neither.
    period_s : float or None
        The time that these rounds take.
    transient_rounds : int or None
        The first `k` from which on this holds.
    computing_rounds : int or None
        In how many rounds of the period silos compute; by default in all.

    Examples
    --------
    >>> str(SteadyState(cycle_time_s=0.25, is_exact=True, period_rounds=2, period_s=0.5, transient_rounds=3))
    '500 ms / 2 rounds'
    """

    cycle_time_s: float
    is_exact: bool
    period_rounds: int | None = None
    period_s: float | None = None
    transient_rounds: int | None = None
    computing_rounds: int | None = None

    def __post_init__(self) -> None:
        if self.computing_rounds is None:
            object.__setattr__(self, "computing_rounds", self.period_rounds)

    def __str__(self) -> str:
        """The exact period as time / rounds in which silos compute, or the estimate."""
        if self.period_s is None or self.period_rounds is None:
            return f"{'' if self.is_exact else 'about '}{_milliseconds(self.cycle_time_s)} / round"
        rounds = "round" if self.computing_rounds == 1 else f"{self.computing_rounds} rounds"
        return f"{_milliseconds(self.period_s)} / {rounds}"


def estimated_steady_state(
    round_start_s: FloatArray,
    absences: Absences,
    computes: Sequence[bool],
    regular_from: int,
) -> SteadyState:
    """Steady state of a job that is not known to repeat.

    Parameters
    ----------
    round_start_s : ndarray of shape (rounds + 1, silos)
        Round starts of every silo, in seconds.
    absences : sequence of (int, int, int)
        See `simulator.world.counted_silos.Absences`.
    computes : sequence of bool
    regular_from : int
        See `simulator.job.Job`.

    Returns
    -------
    SteadyState
        The mean slope of the date at which the last silo starts a round, over the last half of the rounds, see
        `simulator.world.counted_silos.Starts.latest`; where silos are away, of the last one that is followed there.

    Notes
    -----
    Of the rounds that `counted_rows` counts.
    """
    presence = Presence.of(absences, round_start_s.shape[1])
    end_s = presence.first_end_s(round_start_s[-1], len(round_start_s) - 1)
    starts = Starts.of(round_start_s, absences).computing(computes, regular_from)
    counted = starts.until(counted_rows(starts.last_s.max(axis=1), end_s)).latest(last=True)
    return SteadyState(cycle_time_s=counted.cycle_time_s, is_exact=False)


def within(
    steady: SteadyState,
    round_start_s: FloatArray,
    *,
    longest_lag: int,
    computes: Sequence[bool] = ALL,
) -> SteadyState:
    """A proven steady state with the transient that simulated rounds show.

    Parameters
    ----------
    steady : SteadyState
        Exact, with a transient that may be too long.
    round_start_s : ndarray of shape (rounds + 1, silos)
    longest_lag : int
        Of the job: with lags a silo omits messages of rounds after the job before it has ended it.
    computes : sequence of bool
        See `simulator.job.Job`.

    Returns
    -------
    SteadyState
        Without period and transient if the rounds that all silos start before one has ended the job do not hold
        these; the cycle time remains exact.
    """
    end_s = float(round_start_s[-min(longest_lag, len(round_start_s))].min())
    if (
        steady.period_rounds is None
        or steady.period_s is None
        or steady.transient_rounds is None
        or not has_period(steady, undisturbed_rows(round_start_s.max(axis=1), end_s))
    ):
        return SteadyState(cycle_time_s=steady.cycle_time_s, is_exact=steady.is_exact)
    end = steady.transient_rounds + steady.period_rounds
    return repeating(round_start_s[: end + 1], steady.period_rounds, steady.period_s, computes=computes)


def has_period(steady: SteadyState, rounds: int) -> bool:
    """Whether the first `rounds` rounds hold the transient and a whole period."""
    if steady.period_rounds is None or steady.transient_rounds is None:
        return False
    return steady.transient_rounds + steady.period_rounds <= rounds


def undisturbed_rows(last_s: FloatArray, end_s: float) -> int:
    """Number of rounds, from round 0 on, that all silos start before one of them has ended the job.

    Parameters
    ----------
    last_s : ndarray of shape (n,)
        When the last silo starts each round.
    end_s : float
        When the first silo has ended the job.

    Returns
    -------
    int
    """
    return int(np.searchsorted(last_s, end_s, side="right"))


def counted_rows(last_s: FloatArray, end_s: float) -> int:
    """Number of round starts, from round 0 on, that an estimate of the cycle time looks at.

    Parameters
    ----------
    last_s, end_s
        See `undisturbed_rows`.

    Returns
    -------
    int
        The undisturbed ones, if these are two or more and more than half; else all.

    Notes
    -----
    Silos that are rounds ahead end the job early and leave their links to the others, whose last rounds are faster
    for it: those counted have the dates of a job without end. Where fewer than half are undisturbed, they hold
    little but the transient, which is worse: measured on random rings of 3 to 11 silos with shared links, the estimate
    from all rounds is 6 % off in the mean over such jobs of 4 rounds and 0.3 % over those of 8, that from the
    undisturbed ones alone 24 % and 1.5 %. See `counts_disturbed`.
    """
    rows = undisturbed_rows(last_s, end_s)
    return rows if rows > 1 and 2 * rows > len(last_s) else len(last_s)


def counts_disturbed(last_s: FloatArray, end_s: float) -> bool:
    """Whether `counted_rows` counts rounds that start after a silo has ended the job, for want of enough others."""
    return counted_rows(last_s, end_s) > undisturbed_rows(last_s, end_s)


def repeating(
    round_start_s: FloatArray,
    period_rounds: int,
    period_s: float,
    *,
    first_round: int = 0,
    computes: Sequence[bool] = ALL,
) -> SteadyState:
    """Steady state of a job whose last rounds are known to repeat.

    Parameters
    ----------
    round_start_s : ndarray of shape (n, silos)
        Of round `first_round` and those after it; the last of them repeat. NaN, a date not known yet, repeats.
    period_rounds : int
    period_s : float
    first_round : int
    computes : sequence of bool
        See `simulator.job.Job`.

    Returns
    -------
    SteadyState
        With the first round from which on all given round starts repeat (relative 1e-9 of the period).
    """
    growth_s = round_start_s[period_rounds:] - round_start_s[:-period_rounds]
    differs = np.flatnonzero((np.abs(growth_s - period_s) > REPEATED_START * period_s).any(axis=1))
    computing_rounds = computing_before(computes, period_rounds)
    return SteadyState(
        cycle_time_s=period_s / computing_rounds,
        is_exact=True,
        computing_rounds=computing_rounds,
        period_rounds=period_rounds,
        period_s=period_s,
        transient_rounds=first_round + int(differs.max(initial=-1)) + 1,
    )


def steady_state(
    job: Job, proven: SteadyState | None, round_start_s: FloatArray
) -> tuple[SteadyState, FloatArray]:
    """Steady state of a job after its simulation.

    Parameters
    ----------
    job : Job
    proven : SteadyState or None
        What the engine found.
    round_start_s : ndarray of shape (rounds + 1, silos)
        Round starts of every silo, in seconds.

    Returns
    -------
    steady : SteadyState
        Exact where the job is known to repeat, else estimated.
    further_start_s : ndarray of shape (n, silos)
        Starts of the rounds after the simulated ones where the recurrence gives them; see `max_plus_steady_state`.
    """
    found = max_plus_steady_state(job, proven, len(round_start_s))
    if found is not None:
        steady, start_s = found
        return steady, start_s[len(round_start_s) :]
    further_s = np.empty((0, job.silos))
    if proven is None:
        return estimated_steady_state(round_start_s, job.absences, job.computes, job.regular_from), further_s
    return within(proven, round_start_s, longest_lag=job.longest_lag, computes=job.computes), further_s


def max_plus_steady_state(
    job: Job, proven: SteadyState | None, rounds: int
) -> tuple[SteadyState, FloatArray] | None:
    """Steady state of a job that is a max-plus linear system; None if it is not.

    Parameters
    ----------
    job : Job
    proven : SteadyState or None
        What the engine found; taken where it lies within the simulated rounds. Silos that end the job first disturb
        nobody, as rates are constant.
    rounds : int
        Round starts that were simulated.

    Returns
    -------
    steady : SteadyState
    start_s : ndarray of shape (n, silos)
        As of `equal_steady_state`; none where `proven` is taken.
    """
    if not job.is_max_plus:
        return None
    if proven is not None and has_period(proven, rounds):
        return proven, np.empty((0, job.silos))
    return equal_steady_state(job)


def equal_steady_state(job: Job) -> tuple[SteadyState, FloatArray]:
    """Steady state of a job that is a max-plus linear system, however few of its rounds are simulated.

    Parameters
    ----------
    job : Job
        With constant rates and computing times, and arcs that repeat.

    Returns
    -------
    steady : SteadyState
        Exact if the state repeats within the rounds looked at, else the mean slope of the last of these. They are
        at most ``max(rounds, 2**25 / (1000 + arcs + silos))``, on sparse overlays some 30,000.
    start_s : ndarray of shape (n, silos)
        Round starts of the rounds 0 to ``n - 1``, which hold the transient and a whole period; none without an
        exact result.

    Notes
    -----
    The job's state ``x(k)`` is the round starts, and with
    queues also when each arc's last message starts, of as many rounds or periods as lags reach back: it determines
    everything after. If
    ``low <= x(k + p) - x(k) <= high`` holds in every component for a single `k`, then the cycle time lies
    between ``low / p`` and ``high / p``, because the system is monotone and commutes with adding a constant
    ([1]_, chapter 3). So one repeat up to a common shift, here with ``high - low <= 1e-9 * high``, gives the
    cycle time to that precision, however long the period is and whatever went before. A strongly connected
    overlay always comes to repeat, after a transient that no simple bound limits.

    The rounds are the recurrence of the event graph, of a periodic overlay period by period: O(arcs) each.

    References
    ----------
    .. [1] F. Baccelli, G. Cohen, G. J. Olsder, J.-P. Quadrat, *Synchronization and Linearity*, 1992.
    """
    silos, limit = job.silos, _WORK // (_WORK_PER_ROUND + len(job.arcs) + job.silos)
    graph, rounds = _event_graph(job)
    back = max(1, int(graph.tokens.max(initial=1)))
    states_s = before_any(silos, graph.nodes)[np.newaxis]
    seen_s, base_s = [states_s[:, :silos]], 0.0
    largest = max(1, _TABLE // graph.nodes)
    for piece in _pieces(
        max(1, max(limit, job.rounds) // rounds), first=-(-2 * silos // rounds) + back, largest=largest
    ):
        # Dates that start near zero keep their digits.
        shift_s = float(states_s[-1].max())
        base_s += shift_s
        states_s = np.concatenate(
            (states_s[-back:-1] - shift_s, recurrence(graph, piece, states_s[-back:] - shift_s))
        )
        found_s = _round_starts(states_s[-piece:], rounds, silos)
        seen_s.append(found_s + base_s)
        for period in range(1, piece + 1 - back):
            growth_s = _common(states_s[-back - period : -period], states_s[-back:])
            if growth_s is not None:
                start_s = np.concatenate(seen_s)
                steady = repeating(start_s, period * rounds, growth_s, computes=job.computes)
                return steady, start_s
    last_s = np.concatenate((states_s[-piece - 1 : -piece, :silos], found_s)).max(axis=1)
    half = len(last_s) - len(last_s) // 2
    slope_s = _slope(last_s[-1 - max(rounds, half - half % rounds) :]) * (
        len(job.computes) / sum(job.computes)
    )
    return SteadyState(cycle_time_s=slope_s, is_exact=False), np.empty((0, silos))


def _event_graph(job: Job) -> tuple[EventGraph, int]:
    """The event graph of a job that repeats, and the rounds that are one step of it."""
    period, plan = job.period or 1, job.plan
    if plan is None:
        active, lags = [np.arange(len(job.arcs))] * period, [np.ones(len(job.arcs), dtype=np.int64)] * period
        sending_s = np.tile(np.array(job.sending_s, dtype=np.float64), period)
    else:
        late = (job.regular_from // period + 1) * period
        rounds = range(late, late + period)
        active, lags = [plan.active(k) for k in rounds], [plan.lags(k) for k in rounds]
        sending_s = np.concatenate([plan.sending_s(k) for k in rounds])
    number = np.concatenate(active)
    state = np.repeat(np.arange(period), [len(arcs) for arcs in active])
    compute_s = job.compute.rows(0, period)
    latency_s = np.array([arc.latency_s for arc in job.arcs], dtype=np.float64)[number]
    source = np.array([arc.source for arc in job.arcs], dtype=np.int64)[number]
    target = np.array([arc.target for arc in job.arcs], dtype=np.int64)[number]
    tokens = np.array([arc.tokens for arc in job.arcs], dtype=np.int64)[number]
    # Slow start, which here is that of every message, keeps an arc as sending does.
    sending_s = sending_s + np.array([arc.slow_start_s for arc in job.arcs], dtype=np.float64)[number]
    # A message without a token leaves when its source starts the round that it gates.
    lag = tokens * np.concatenate(lags)
    computing_s = tokens * compute_s[state_of_sending(period, state, lag), source]
    leaving_s = leaving(computing_s, job.backward_share)
    delay_s = leaving_s + under_way(computing_s, sending_s, job.backward_share) + latency_s
    graph = periodic_event_graph(period, state, source, target, lag, delay_s, compute_s)
    if job.fifo:
        direct = job.backward_share > 0
        graph = fifo_event_graph(graph, period, state, number, leaving_s, latency_s, sending_s, direct=direct)
    return graph, period


def _round_starts(states_s: FloatArray, period: int, silos: int) -> FloatArray:
    """Round starts of the states of some periods, shape (periods * period, silos): a period ends with state 0."""
    by_state_s = states_s[:, : period * silos].reshape(len(states_s), period, silos)
    return np.roll(by_state_s, -1, axis=1).reshape(-1, silos)


def _pieces(rounds: int, *, first: int, largest: int) -> Iterator[int]:
    """Pieces that double in length, so that in time one holds the longest period; no short one at the end."""
    piece = min(first, rounds, largest)
    while rounds >= piece:
        yield piece
        rounds -= piece
        piece = min(2 * piece, largest)


def _slope(last_s: FloatArray) -> float:
    """Mean growth per round."""
    return float(last_s[-1] - last_s[0]) / (len(last_s) - 1)


def _common(before_s: FloatArray, after_s: FloatArray) -> float | None:
    """The growth that is the same for all entries, if it is; none of messages that were not sent yet."""
    if not np.isfinite(before_s).all():
        return None
    growth_s = after_s - before_s
    low, high = float(growth_s.min()), float(growth_s.max())
    return (low + high) / 2 if high - low <= REPEATED_START * high else None


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.10g} ms"
