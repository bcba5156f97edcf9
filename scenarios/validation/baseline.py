"""Baseline of a job with events: the same job without them."""

from dataclasses import dataclass, replace

from scenarios.config.simulation import SimulationConfig
from scenarios.simulation.collect import collect
from scenarios.simulation.cycle_time import SimulatedCycleTime, simulated_cycle_time
from scenarios.simulation.runner import job_of
from simulator import ComputeTimes, Timeline
from topologies import Overlay, RandomOverlay
from topologies.arrays import IntArray


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Undisturbed:
    """A simulation without the events of its scenario.

    Attributes
    ----------
    timeline : Timeline
    compute : ComputeTimes
    cycle_time : SimulatedCycleTime
        Over the rounds that are compared; its other fields are those of this simulation.
    """

    timeline: Timeline
    compute: ComputeTimes
    cycle_time: SimulatedCycleTime


def simulate_undisturbed(
    overlay: Overlay | RandomOverlay,
    simulation: SimulationConfig,
    disturbed: SimulatedCycleTime,
    silos: IntArray,
    *,
    seed: int,
) -> Undisturbed:
    """Simulate as many rounds without events.

    Parameters
    ----------
    overlay : Overlay or RandomOverlay
    simulation : SimulationConfig
        With events, which are left out.
    disturbed : SimulatedCycleTime
        Of the simulation with the events.
    silos : ndarray of int, shape (n,)
        See `simulated_cycle_time`.
    seed : int

    Returns
    -------
    Undisturbed
        With every message, if the overlay is static.

    Notes
    -----
    If the disturbed job is periodic, each job is measured over a period of its own. Otherwise both are measured over
    the same rounds, with the same computing times and the starts of the same silos, so that chance and the phase of a
    period cancel in the difference.
    """
    job = job_of(overlay, simulation.without_events(), rounds=disturbed.simulated_rounds, seed=seed)
    title = f"{overlay.kind}, {simulation.sharing}, undisturbed"
    timeline = collect(
        job, silos, title=title, messages=isinstance(overlay, Overlay), engine=simulation.engine
    )
    simulated = simulated_cycle_time(timeline, silos)
    if not disturbed.is_exact:
        simulated = _over_same_rounds(timeline, silos, simulated, disturbed)
    return Undisturbed(timeline=timeline, compute=job.compute, cycle_time=simulated)


def _over_same_rounds(
    timeline: Timeline, silos: IntArray, simulated: SimulatedCycleTime, disturbed: SimulatedCycleTime
) -> SimulatedCycleTime:
    """Cycle time over the rounds of the disturbed job, or over as many before a silo has ended this one."""
    end = min(disturbed.first_round + disturbed.rounds, simulated.first_round + simulated.rounds)
    first = max(0, end - disturbed.rounds)
    start_s = timeline.round_start_s
    followed_s = (
        start_s[:, silos].mean(axis=1)
        if disturbed.throughout is None
        else start_s[:, list(disturbed.throughout)].max(axis=1)
    )
    cycle_time_s = float(followed_s[end] - followed_s[first]) / (end - first)
    return replace(simulated, cycle_time_s=cycle_time_s, first_round=first, rounds=end - first)
