"""What happens around a job in the rounds that its cycle time is the mean over, by link and by silo, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from scenarios.config.quantities import format_rate, format_s
from scenarios.config.simulation import SimulationConfig
from scenarios.config.surroundings import world_around
from scenarios.simulation.captions import events_of
from scenarios.simulation.windows import Window
from scenarios.validation.causes import Cause, link_text
from simulator import CapacityTrace, ConstantShare, LinkFailure, OnOffFlow, Pause
from simulator.world.counted_silos import Absences, Presence
from simulator.world.names import core_link_of, directions_of, silo_of
from topologies import Connectivity

_MOST_SILOS = 3
"""Silos that a sentence names."""
_SAME_WAY_S = 1e-9
"""Latencies that differ by less are those of the same way."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WorldEvents:
    """The events of a scenario, as they meet some rounds.

    Attributes
    ----------
    names : tuple of str
        Tables of the scenario that hold them.
    graph : Connectivity
    window : Window
    traffic : mapping from int to tuple of Cause
        What changes each link direction's capacity, all the time.
    downs : mapping from int to tuple of LinkFailure
        Of each core link, in these rounds.
    pauses : mapping from int to tuple of Pause
        Of each silo, in these rounds.
    absences : tuple of (int, int, int)
        Those that are felt in these rounds: see `simulator.world.counted_silos.Absences`.
    """

    names: tuple[str, ...]
    graph: Connectivity
    window: Window
    traffic: Mapping[int, tuple[Cause, ...]]
    downs: Mapping[int, tuple[LinkFailure, ...]]
    pauses: Mapping[int, tuple[Pause, ...]]
    absences: Absences

    @classmethod
    def of(
        cls, simulation: SimulationConfig, graph: Connectivity, window: Window, absences: Absences = ()
    ) -> Self | None:
        """Events of a simulation, with the absences of its job; None where it has none."""
        world = world_around(simulation, seed=0)
        if world is None:
            return None
        find = directions_of(graph)
        traffic: dict[int, tuple[Cause, ...]] = {}
        for entry in (*world.background, *world.capacities):
            for link in find(entry.link, "link"):
                traffic[link] = (*traffic.get(link, ()), _traffic(graph, entry, link))
        downs: dict[int, tuple[LinkFailure, ...]] = {}
        for failure in world.failures:
            if window.side_of_dates(failure.from_s, failure.until_s) == 0:
                link = core_link_of(graph, failure.link, "link")
                downs[link] = (*downs.get(link, ()), failure)
        pauses: dict[int, tuple[Pause, ...]] = {}
        for pause in world.absences:
            if isinstance(pause, Pause) and window.side_of_rounds(pause.first_round, pause.first_round) == 0:
                silo = silo_of(graph, pause.silo, "silo")
                pauses[silo] = (*pauses.get(silo, ()), pause)
        return cls(
            names=tuple(events_of(simulation)),
            graph=graph,
            window=window,
            traffic=traffic,
            downs=downs,
            pauses=pauses,
            absences=[
                absence
                for absence in absences
                if Presence.of([absence], graph.silos).is_felt(window.first_round, window.last_round + 1)
            ],
        )

    def on_route(self, route: tuple[int, ...], detour_s: float) -> Iterator[Cause]:
        """Failures of the links of an arc, with how much longer its way was in the mean."""
        took_s = self.window.until_s - self.window.from_s
        for link in dict.fromkeys(direction // 2 for direction in route[1:-1]):
            for failure in self.downs.get(link, ()):
                name = self.graph.underlay.link_name(link)
                down_s = min(failure.until_s, self.window.until_s) - max(failure.from_s, self.window.from_s)
                when = "all the time" if down_s == took_s else f"{100 * down_s / took_s:.3g} % of the time"
                way = (
                    f"models take a way that is {format_s(detour_s)} longer in the mean"
                    if detour_s > _SAME_WAY_S
                    else "models wait for it, or take another way that is as long"
                )
                place = f"core link {name}"
                yield Cause(assumption="link down", place=place, explanation=f"{place} is down {when}: {way}")

    def absent(self) -> str:
        """Who is away, in words."""
        text = [self._absent(*absence) for absence in self.absences[:_MOST_SILOS]]
        more = len(self.absences) - _MOST_SILOS
        return ", ".join([*text, *([f"{more} more absences"] if more > 0 else [])])

    def _absent(self, silo: int, first: int, back: int) -> str:
        """One absence."""
        window, label = self.window, self.graph.labels[silo]
        missed = min(back, window.last_round + 1) - max(first, window.first_round)
        if missed <= 0:
            return f"{label} is back since round {back:,}"
        return f"{label} is away in {missed} of these {window.last_round + 1 - window.first_round} rounds"


def _traffic(graph: Connectivity, entry: ConstantShare | OnOffFlow | CapacityTrace, link: int) -> Cause:
    """What an entry does to one link direction."""
    place = link_text(graph, link)
    if isinstance(entry, CapacityTrace):
        least, most = float(entry.capacity_bps.min()), float(entry.capacity_bps.max())
        text = f"capacity of {place}: a trace, {format_rate(least)} to {format_rate(most)}"
        return Cause(assumption="capacity", place=place, explanation=text)
    if isinstance(entry, ConstantShare):
        text = f"background traffic: others take {100 * entry.share:g} % of {place}"
    else:
        peak = format_rate(entry.peak_bps)
        text = f"background traffic: a flow of others, now on, now off, of up to {peak}, shares {place}"
    return Cause(assumption="background", place=place, explanation=text)
