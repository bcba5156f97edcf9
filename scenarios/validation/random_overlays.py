"""Why the simulated cycle time of an overlay that is drawn anew each round differs from the paper's."""

from dataclasses import dataclass, replace

import numpy as np

from scenarios.config.events.cause import link_words
from scenarios.config.simulation import SimulationConfig
from scenarios.simulation.collect import collect
from scenarios.simulation.cycle_time import Settled, settle
from scenarios.simulation.runner import job_of
from scenarios.simulation.utilisation import mean_capacity_bps
from scenarios.validation.baseline import simulate_undisturbed
from simulator import Timeline
from topologies import RandomOverlay
from topologies.arrays import IntArray
from topologies.random_cycle_time import RandomCycleTime


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnParts:
    """Cycle times from the paper's to the simulated one; each gives up one more assumption of the closed form.

    Attributes
    ----------
    paper_s : float
        With a barrier after each round.
    max_plus_s : float
        Each silo waits for its own in-arcs alone.
    serial_s : float
        And an arc sends one model after the other: simulated with Eq. 3's constant rates.
    random_s : float
        And with the scenario's computing times.
    shared_s : float
        And on links shared max-min fairly.
    simulated_s : float
        And with what happens around the job.
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

    def words(self) -> str:
        """The busiest link."""
        if not self.link:
            return "no link is ever busy"
        return f"busiest is {self.link}, where models take {100 * self.busy:.0f} % of the capacity"


def drawn_parts(
    overlay: RandomOverlay,
    simulation: SimulationConfig,
    drawn: RandomCycleTime,
    timeline: Timeline,
    *,
    equal: Settled,
    maxmin: Settled,
    seed: int,
) -> DrawnParts:
    """Split the difference from paper of an overlay that is drawn anew each round.

    Parameters
    ----------
    overlay : RandomOverlay
    simulation : SimulationConfig
    drawn : RandomCycleTime
        Its closed forms.
    timeline : Timeline
        With max-min fair rates.
    equal, maxmin : Settled
        Simulated with constant rates, and on shared links.
    seed : int

    Returns
    -------
    DrawnParts

    Notes
    -----
    No circuit is critical in all rounds, so that no arc has a part. But every assumption can be given up alone, one
    after the other, on the same drawn rounds and computing times. The differences add up whatever these are; each is as
    sure as the intervals of the two cycle times are narrow. Three more
    simulations at most: two where computing times are random or silos are away, and one where anything happens.
    """
    silos, rounds = np.arange(overlay.graph.silos), maxmin.simulated_rounds
    calm = simulation.without_events()
    shared_s, random_s = maxmin.cycle_time_s, equal.cycle_time_s
    if calm != simulation:
        shared = simulate_undisturbed(
            overlay, replace(simulation, sharing="maxmin"), maxmin, silos, seed=seed
        )
        shared_s = shared.settled.cycle_time_s
    if simulation.without_events(on_network_only=True).events:
        random_s = _equal_s(overlay, calm, silos, rounds=rounds, seed=seed)
    serial_s = random_s
    if simulation.compute is not None:
        serial_s = _equal_s(overlay, replace(calm, compute=None), silos, rounds=rounds, seed=seed)
    link, busy = _busiest(overlay, simulation, timeline)
    return DrawnParts(
        paper_s=drawn.barrier.mean,
        max_plus_s=drawn.max_plus.mean,
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
    return settle(collect(job, silos, title=title), silos).cycle_time_s


def _busiest(overlay: RandomOverlay, simulation: SimulationConfig, timeline: Timeline) -> tuple[str, float]:
    """The link direction of whose capacity models take the largest part, and that part."""
    took_s = float(timeline.round_start_s[-1].max())
    if took_s == 0 or not timeline.link_bits.any():
        return "", 0.0
    busy_bps = timeline.link_bits / took_s
    capacity_bps = mean_capacity_bps(overlay.graph, simulation, took_s)
    busy = np.divide(busy_bps, capacity_bps, out=np.zeros_like(busy_bps), where=busy_bps > 0)
    link = int(np.argmax(busy))
    return link_words(overlay.graph, link), float(busy[link])
