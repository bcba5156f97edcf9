"""Quick simulation of an overlay: its cycle time from as many rounds as take a second or two."""

from dataclasses import dataclass, replace

import numpy as np

from scenarios.config.overlays import AnyOverlay
from scenarios.config.simulation import SimulationConfig
from scenarios.simulation.runner import job_of, run_job
from simulator.computing_rounds import computing_before, rounds_to_compute
from simulator.statistics.confidence import least_rounds, rounds_for_interval
from topologies import Connectivity, InputError, Overlay, PeriodicOverlay
from topologies.arrays import IntArray
from topologies.schedule import make_schedule

SETTINGS = SimulationConfig()
"""Max-min fair sharing, an arc's messages one after the other, constant computing times, no events."""
_WORK_S = 2.5
"""About how long one overlay may take, by the costs below."""
_MOST_PER_ROUND_S = 3.0
_FEWEST_ROUNDS = 4
"""Simulated even if they take longer, up to this much for each of them."""
_MESSAGE_S, _SHARING_S, _DRAWN_ARC_S = 3e-6, 0.25e-6, 0.3e-6
"""What a message costs, what it costs for each message that it shares a link with, and what a round costs for each arc
of any round: upper bounds on two cores of 2022 for all overlays but very small ones."""
_SAMPLED_ROUNDS = 20
_TOO_LONG = "it takes longer than seconds, for which there is silosim simulate"


@dataclass(frozen=True, kw_only=True, slots=True)
class QuickSimulation:
    """A cycle time and its precision.

    Attributes
    ----------
    cycle_time_s : float or None
        None where the overlay was not simulated.
    half_width_s : float or None
        Of its 95 % confidence interval; 0 where it is exact, None where the rounds are too few for an interval.
    is_exact : bool
    rounds : int
        Simulated rounds.
    engine : {"simpy", "compiled", ""}
    why_not : str
        Why it was not simulated; else empty.
    """

    cycle_time_s: float | None = None
    half_width_s: float | None = None
    is_exact: bool = False
    rounds: int = 0
    engine: str = ""
    why_not: str = ""


def quick_simulation(
    overlay: AnyOverlay, *, seed: int, settings: SimulationConfig = SETTINGS
) -> QuickSimulation:
    """Simulate an overlay for a second or two.

    Parameters
    ----------
    overlay : Overlay, PeriodicOverlay or RandomOverlay
    seed : int
        Of the rounds that are drawn.
    settings : SimulationConfig
        Its rounds do not count.

    Returns
    -------
    QuickSimulation
        Of a static or periodic overlay, from as many rounds as a confidence interval needs, or from fewer where these
        would take longer. A randomized overlay is not simulated where an interval would take longer; nor is any
        overlay of which a few rounds would, or as many as its longest lag.

    Notes
    -----
    The rounds follow from the overlay alone, not from a clock, so that every machine gives the same numbers.
    """
    silos = overlay.graph.silos
    round_s = _round_cost_s(overlay, seed)
    enough, affordable = rounds_for_interval(silos), int(_WORK_S / round_s)
    unawaited = 0
    if isinstance(overlay, PeriodicOverlay):
        # Before them nobody waits for messages of the longest lag: they say nothing of a long job.
        unawaited, computes = overlay.longest_lag - 1, overlay.computes
        computing = rounds_for_interval(silos, sum(computes), computing_before(computes, unawaited))
        enough = rounds_to_compute(computes, computing)
    if isinstance(overlay, Overlay | PeriodicOverlay):
        rounds = min(enough, max(_FEWEST_ROUNDS, affordable)) if round_s <= _MOST_PER_ROUND_S else 0
    else:
        rounds = min(enough, affordable) if affordable >= least_rounds(silos) else 0
    if rounds <= unawaited:
        return QuickSimulation(why_not=_TOO_LONG)
    try:
        return simulation_of(overlay, replace(settings, rounds=rounds), seed=seed)
    except InputError as error:
        return QuickSimulation(why_not=str(error).rstrip("."))


def simulation_of(
    overlay: AnyOverlay, settings: SimulationConfig, *, seed: int, title: str = ""
) -> QuickSimulation:
    """Simulate an overlay for the rounds of the settings.

    Parameters
    ----------
    overlay : Overlay, PeriodicOverlay or RandomOverlay
    settings : SimulationConfig
    seed : int
        Of everything random.
    title : str
        In front of the overlay's name, in the progress bar.

    Returns
    -------
    QuickSimulation

    Raises
    ------
    InputError
        As `scenarios.simulation.runner.job_of`.
    """
    job = job_of(overlay, settings, rounds=settings.rounds, seed=seed)
    outcome = run_job(job, overlay.kind, title=title, engine=settings.engine, cycle_time_only=True)
    return QuickSimulation(
        cycle_time_s=outcome.steady.cycle_time_s,
        half_width_s=outcome.half_width_s,
        is_exact=outcome.steady.is_exact,
        rounds=outcome.rounds,
        engine=outcome.engine,
    )


def _round_cost_s(overlay: AnyOverlay, seed: int) -> float:
    """About how long the simulation of one round takes.

    Notes
    -----
    Time O(total route length), of all states of a periodic overlay; of a randomized one, that of some rounds and,
    unless these exceed the limit already, O(arcs) for each of the rounds that an interval needs.
    """
    graph = overlay.graph
    if isinstance(overlay, Overlay):
        return _messages_cost_s(graph, overlay.source, overlay.target)
    if isinstance(overlay, PeriodicOverlay):
        return float(np.mean([_messages_cost_s(graph, s.source, s.target) for s in overlay.states]))
    sampled = make_schedule(overlay, seed, _SAMPLED_ROUNDS)
    messages_s = float(np.mean([_messages_cost_s(graph, *sampled.arcs(k)) for k in range(_SAMPLED_ROUNDS)]))
    if messages_s * least_rounds(graph.silos) > _WORK_S:
        return messages_s
    ever = np.zeros((graph.silos, graph.silos), dtype=np.bool_)
    for choice in make_schedule(overlay, seed, rounds_for_interval(graph.silos)).choices:
        ever[overlay.arcs(choice)] = True
    return messages_s + _DRAWN_ARC_S * int(ever.sum())


def _messages_cost_s(graph: Connectivity, source: IntArray, target: IntArray) -> float:
    """About how long the messages of these arcs take in one round.

    A message's rate is computed anew when one that shares a link with it starts or ends.
    """
    routes = graph.routes_along(zip(source.tolist(), target.tolist(), strict=True))
    links = np.array([link for route in routes for link in route], dtype=np.int64)
    shared = float((np.bincount(links).astype(np.float64) ** 2).sum())
    return _MESSAGE_S * max(1, len(routes)) + _SHARING_S * shared
