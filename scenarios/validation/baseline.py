"""The same job without events: what these cost is the difference."""

from dataclasses import dataclass, replace

from scenarios.config.simulation import SimulationConfig
from scenarios.simulation.collect import collect
from scenarios.simulation.cycle_time import Settled, settle
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
    settled : Settled
        Over the rounds that are compared; its other fields are those of this simulation.
    """

    timeline: Timeline
    compute: ComputeTimes
    settled: Settled


def simulate_undisturbed(
    overlay: Overlay | RandomOverlay,
    simulation: SimulationConfig,
    disturbed: Settled,
    silos: IntArray,
    *,
    seed: int,
) -> Undisturbed:
    """Simulate as many rounds without the events.

    Parameters
    ----------
    overlay : Overlay or RandomOverlay
    simulation : SimulationConfig
        Its events are left out.
    disturbed : Settled
        Of the simulation with the events.
    silos : ndarray of int, shape (n,)
        See `settle`.
    seed : int

    Returns
    -------
    Undisturbed
        With every message, if the overlay stays.

    Notes
    -----
    Where the disturbed job repeats, both are compared over rounds that show their own cycle time. Else over the same
    rounds, with the same computing times and by the starts of the same silos, so that chance and the phase of a period
    cancel in the difference.
    """
    job = job_of(overlay, simulation.without_events(), rounds=disturbed.simulated_rounds, seed=seed)
    title = f"{overlay.kind}, {simulation.sharing}, undisturbed"
    timeline = collect(job, silos, title=title, messages=isinstance(overlay, Overlay))
    settled = settle(timeline, silos)
    if not disturbed.is_exact:
        settled = _over(timeline, silos, settled, disturbed)
    return Undisturbed(timeline=timeline, compute=job.compute, settled=settled)


def _over(timeline: Timeline, silos: IntArray, settled: Settled, disturbed: Settled) -> Settled:
    """Over the rounds of another job, or the last so many before a silo has ended this one."""
    end = min(disturbed.first_round + disturbed.rounds, settled.first_round + settled.rounds)
    first = max(0, end - disturbed.rounds)
    start_s = timeline.round_start_s
    followed_s = (
        start_s[:, silos].mean(axis=1)
        if disturbed.throughout is None
        else start_s[:, list(disturbed.throughout)].max(axis=1)
    )
    cycle_time_s = float(followed_s[end] - followed_s[first]) / (end - first)
    return replace(settled, cycle_time_s=cycle_time_s, first_round=first, rounds=end - first)
