"""The cycle time of a simulated timeline: exact or with a confidence interval, and the rounds it is taken from."""

from dataclasses import dataclass

from simulator import Timeline
from simulator.statistics.confidence import cycle_time_interval, interval_rounds
from simulator.statistics.steady_state import counted_rows, counts_disturbed
from simulator.world.counted_silos import Presence, Starts
from topologies.arrays import IntArray


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedCycleTime:
    """Cycle time of a simulated job.

    Attributes
    ----------
    cycle_time_s : float
        Per round in which silos compute.
    half_width_s : float or None
        Of its 95 % confidence interval; 0 where the job repeats, None where there are too few rounds for an interval.
    is_exact : bool
        Whether the job repeats, so that the cycle time is exact.
    first_round, rounds : int
        The rounds that the cycle time is the mean over: one whole period, or what is left after the warm-up. The first
        ``first_round`` rounds of an estimate are the warm-up. Only rounds in which silos compute have a number here.
    simulated_rounds : int
        All of them.
    engine : {"simpy", "compiled"}
    period_s : float or None
    period_rounds : int or None
    transient_rounds : int or None
        See `simulator.SteadyState`; None for an estimate.
    counts_disturbed : bool
        Whether it is an estimate over rounds of which some start after a silo has ended the job.
    throughout : tuple of int or None
        Silos whose last start is followed, where an absence affects these rounds; None where none does.
    asked : tuple of (int, int) or None
        See `simulator.world.counted_silos.Counted`.
    """

    cycle_time_s: float
    half_width_s: float | None
    is_exact: bool
    first_round: int
    rounds: int
    simulated_rounds: int
    engine: str
    period_s: float | None = None
    period_rounds: int | None = None
    transient_rounds: int | None = None
    counts_disturbed: bool = False
    throughout: tuple[int, ...] | None = None
    asked: tuple[int, int] | None = None


def simulated_cycle_time(timeline: Timeline, silos: IntArray) -> SimulatedCycleTime:
    """Cycle time of a timeline, exact or with a confidence interval.

    Parameters
    ----------
    timeline : Timeline
        Of one round or more.
    silos : ndarray of int, shape (n,)
        Silos whose round starts an estimate follows where all are present; one that is named twice counts twice.

    Returns
    -------
    SimulatedCycleTime

    Notes
    -----
    Silos that are rounds ahead end the job early and leave their links to the others. Rounds that start after the first
    silo has ended are therefore left out, as long as half of the rounds remain.

    Without a repeat, the cycle time is the mean growth per round of the mean start of `silos` over
    `simulator.statistics.confidence.counted_rounds`, with an interval by `confidence.cycle_time_interval`, and over the
    last half where the rounds are too few for one, as in `confidence.estimated_cycle_time`. In a strongly
    connected overlay all silos have the same growth rate in the long run. Where silos are absent in these rounds, the
    last start of those that are present throughout takes the place of the mean: see `counted_silos.Starts`.
    Time O(rounds * silos).
    """
    start_s, steady = timeline.round_start_s, timeline.steady
    simulated = len(start_s) - 1
    end_s = Presence.of(timeline.absences, start_s.shape[1]).first_end_s(start_s[-1], simulated)
    starts = Starts.of(start_s, timeline.absences, silos=silos).computing(
        timeline.computes, timeline.regular_from
    )
    last_s = starts.last_s.max(axis=1)
    last = counted_rows(last_s, end_s) - 1
    if steady.is_exact and steady.computing_rounds is not None:
        rounds = min(steady.computing_rounds, last)
        return SimulatedCycleTime(
            cycle_time_s=steady.cycle_time_s,
            half_width_s=0.0,
            is_exact=True,
            first_round=last - rounds,
            rounds=rounds,
            simulated_rounds=simulated,
            engine=timeline.engine,
            period_s=steady.period_s,
            period_rounds=steady.period_rounds,
            transient_rounds=steady.transient_rounds,
        )
    starts = starts.until(last + 1)
    found = interval_rounds([starts], silos=start_s.shape[1])
    counted = starts.latest() if found is None else found[0]
    interval = cycle_time_interval(starts, silos=start_s.shape[1])
    return SimulatedCycleTime(
        cycle_time_s=counted.cycle_time_s,
        half_width_s=None if interval is None else interval.half_width,
        is_exact=False,
        first_round=counted.first_round,
        rounds=counted.rounds,
        simulated_rounds=simulated,
        engine=timeline.engine,
        counts_disturbed=counts_disturbed(last_s, end_s),
        throughout=counted.throughout,
        asked=counted.asked,
    )
