"""Why the simulated cycle time of a randomized overlay differs from the paper's."""

from dataclasses import dataclass, replace

import numpy as np

from scenarios.config.events.cause import link_text
from scenarios.config.simulation import SimulationConfig
from scenarios.config.utilisation import mean_capacity_bps
from scenarios.simulation.collect import collect
from scenarios.simulation.cycle_time import SimulatedCycleTime, simulated_cycle_time
from scenarios.simulation.runner import job_of
from scenarios.validation.baseline import simulate_undisturbed
from simulator import Timeline
from topologies import RandomOverlay
from topologies.arrays import IntArray
from topologies.random_cycle_time import RandomCycleTime


@dataclass(frozen=True, kw_only=True, slots=True)
class RandomizedAttribution:
    """Cycle times from the paper's to the simulated one, each with one assumption of the closed form less.

    Attributes
    ----------
    paper_s : float
        With a barrier after each round.
    max_plus_s : float
        Each silo waits for its own in-arcs alone.
    serial_s : float
        In addition, an arc sends one model after the other: simulated with Eq. 3's constant rates.
    random_s : float
        In addition, with the scenario's computing times.
    shared_s : float
        In addition, on links shared max-min fairly.
    simulated_s : float
        In addition, with the scenario's events.
    link : str
        The busiest link direction of the last simulation.
    busy : float
        Part of its mean capacity that models take.
    """

    paper_s: float
    max_plus_s: float
    serial_s: float
    random_s: float
    shared_s: float
    simulated_s: float
    link: str
    busy: float

    def parts_s(self) -> dict[str, float]:
        """Seconds per round of each cause: they add up to ``simulated_s - paper_s``."""
        rate_s = self.shared_s - self.random_s
        return {
            "no barrier": self.max_plus_s - self.paper_s,
            "serialization": self.serial_s - self.max_plus_s,
            "computing times": self.random_s - self.serial_s,
            "shared links": max(rate_s, 0.0),
            "unused shares": min(rate_s, 0.0),
            "world": self.simulated_s - self.shared_s,
        }

    def explanation(self) -> str:
        """The busiest link."""
        if not self.link:
            return "no link is ever busy"
        return f"busiest is {self.link}, where models take {100 * self.busy:.0f} % of the capacity"


def attribute_randomized(
    overlay: RandomOverlay,
    simulation: SimulationConfig,
    randomized_forms: RandomCycleTime,
    timeline: Timeline,
    *,
    equal: SimulatedCycleTime,
    maxmin: SimulatedCycleTime,
    seed: int,
) -> RandomizedAttribution:
    """Split the difference from paper of a randomized overlay.

    Parameters
    ----------
    overlay : RandomOverlay
    simulation : SimulationConfig
    randomized_forms : RandomCycleTime
        Its closed forms.
    timeline : Timeline
        With max-min fair rates.
    equal, maxmin : SimulatedCycleTime
        Simulated with constant rates, and on shared links.
    seed : int

    Returns
    -------
    RandomizedAttribution

    Notes
    -----
    No circuit is critical in all rounds, so that the difference cannot be split among arcs. Instead the assumptions are
    dropped one after the other, on the same drawn rounds and computing times. The differences add up in any order; the
    uncertainty of each follows from the confidence intervals of its two cycle times. This takes three further
    simulations at most: two where computing times are random or silos are absent, and one where there are events.
    """
    silos, rounds = np.arange(overlay.graph.silos), maxmin.simulated_rounds
    undisturbed = simulation.without_events()
    shared_s, random_s = maxmin.cycle_time_s, equal.cycle_time_s
    if undisturbed != simulation:
        shared = simulate_undisturbed(overlay, simulation, maxmin, silos, seed=seed)
        shared_s = shared.cycle_time.cycle_time_s
    if simulation.without_events(on_network_only=True).events:
        random_s = _equal_s(overlay, undisturbed, silos, rounds=rounds, seed=seed)
    serial_s = random_s
    if simulation.compute is not None:
        serial_s = _equal_s(overlay, replace(undisturbed, compute=None), silos, rounds=rounds, seed=seed)
    link, busy = _busiest(overlay, simulation, timeline)
    return RandomizedAttribution(
        paper_s=randomized_forms.barrier.mean,
        max_plus_s=randomized_forms.max_plus.mean,
        serial_s=serial_s,
        random_s=random_s,
        shared_s=shared_s,
        simulated_s=maxmin.cycle_time_s,
        link=link,
        busy=busy,
    )


def _equal_s(
    overlay: RandomOverlay, simulation: SimulationConfig, silos: IntArray, *, rounds: int, seed: int
) -> float:
    """Cycle time with constant rates."""
    job = job_of(overlay, replace(simulation, sharing="equal"), rounds=rounds, seed=seed)
    title = f"{overlay.kind}, equal, undisturbed"
    return simulated_cycle_time(
        collect(job, silos, title=title, engine=simulation.engine), silos
    ).cycle_time_s


def _busiest(overlay: RandomOverlay, simulation: SimulationConfig, timeline: Timeline) -> tuple[str, float]:
    """The link direction of whose capacity models take the largest part, and that part."""
    took_s = float(timeline.round_start_s[-1].max())
    if took_s == 0 or not timeline.link_bits.any():
        return "", 0.0
    busy_bps = timeline.link_bits / took_s
    capacity_bps = mean_capacity_bps(overlay.graph, simulation, took_s)
    busy = np.divide(busy_bps, capacity_bps, out=np.zeros_like(busy_bps), where=busy_bps > 0)
    link = int(np.argmax(busy))
    return link_text(overlay.graph, link), float(busy[link])
