"""Events in the rounds that a cycle time is the mean over, by link and by silo, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from scenarios.config.events.cause import Cause
from scenarios.config.events.event_kinds import Events
from scenarios.config.events.window import Window
from scenarios.config.simulation import SimulationConfig
from simulator.world.counted_silos import Absences, Presence
from simulator.world.names import Names
from topologies import Connectivity

_MOST_SILOS = 3
"""Silos that a sentence names."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WindowEvents:
    """The events of a scenario, as they meet some rounds.

    Attributes
    ----------
    tables : tuple of str
        Tables of the scenario that hold them.
    window : Window
    absences : tuple of (int, int, int)
        Those that affect these rounds: see `simulator.world.counted_silos.Absences`.
    on_links : mapping from int to tuple of Cause
        What changes each link direction's capacity.
    events : Events
    names : Names
        Of the network.
    """

    tables: tuple[str, ...]
    window: Window
    absences: Absences
    on_links: Mapping[int, tuple[Cause, ...]]
    events: Events
    names: Names

    @classmethod
    def of(
        cls, simulation: SimulationConfig, graph: Connectivity, window: Window, absences: Absences = ()
    ) -> Self | None:
        """Events of a simulation, with the absences of its job; None where it has none."""
        if not simulation.events:
            return None
        names = Names(graph)
        on_links: dict[int, tuple[Cause, ...]] = {}
        for entries in simulation.events.values():
            for link, cause in type(entries[0]).link_causes(entries, names, window):
                on_links[link] = (*on_links.get(link, ()), cause)
        return cls(
            tables=simulation.tables,
            window=window,
            absences=[
                absence
                for absence in absences
                if Presence.of([absence], graph.silos).affects(window.first_round, window.last_round + 1)
            ],
            on_links=on_links,
            events=simulation.events,
            names=names,
        )

    def on_route(self, route: tuple[int, ...], detour_s: float) -> Iterator[Cause]:
        """What leads the models of an arc around its usual route, and by how much longer a way in the mean."""
        for entries in self.events.values():
            yield from type(entries[0]).route_causes(entries, self.names, self.window, route, detour_s)

    def on_silo(self, silo: int) -> Cause | None:
        """Why others wait for a silo in some of these rounds."""
        for entries in self.events.values():
            if cause := type(entries[0]).silo_cause(entries, self.names, self.window, silo):
                return cause
        return None

    def absent(self) -> str:
        """Who is away, in words."""
        text = [self._absent(*absence) for absence in self.absences[:_MOST_SILOS]]
        more = len(self.absences) - _MOST_SILOS
        return ", ".join([*text, *([f"{more} more absences"] if more > 0 else [])])

    def _absent(self, silo: int, first: int, back: int) -> str:
        """One absence."""
        window, label = self.window, self.names.graph.labels[silo]
        missed = min(back, window.last_round + 1) - max(first, window.first_round)
        if missed <= 0:
            return f"{label} is back since round {back:,}"
        return f"{label} is away in {missed} of these {window.last_round + 1 - window.first_round} rounds"
