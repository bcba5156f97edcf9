"""Effects of an event on the network and on silos: a new kind of event gives these, and no engine changes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from simulator.world.changes import FlowChange
from simulator.world.names import Names
from topologies import Connectivity
from topologies.errors import InputError

Steps = Sequence[tuple[float, float]]
"""Dates in seconds since the job's start, in ascending order, and the value from each of them on."""


class Capacities(Protocol):
    """Capacity of a link direction by date."""

    def steps(self, stated_bps: float) -> Iterator[tuple[float, float]]:
        """Dates of the job, the first one 0, and the capacity from each on; the network states `stated_bps`."""

    def largest_bps(self, stated_bps: float) -> float:
        """The largest of these capacities."""


class Load(Protocol):
    """Background traffic on a link direction by date, which takes its rate whatever else is there."""

    def steps(self) -> Iterator[tuple[float, float]]:
        """Dates of the job, the first one 0, and the load in bit/s from each on; one date where it never changes."""

    def largest(self) -> tuple[float, float]:
        """The first date of the largest load, and that load."""

    def largest_when(self) -> str:
        """That date in words, with its preposition: ``at 7 s``."""

    def fitting(self, share: float) -> str:
        """How a user makes less of the load than this share: ``with a scale of at most 0.7142``."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Effects:
    """What an event does, by the numbers of links and silos; by default nothing.

    Attributes
    ----------
    shares : mapping from int to float
        Part of a link direction's capacity, in [0, 1), that background traffic takes all the time.
    flows : mapping from int to callable
        An on/off flow of background traffic on a link direction: makes its changes, with the direction as the number
        of the flow.
    loads : mapping from int to Load
        Background traffic on a link direction that leaves the job what is left of the capacity. It must be less than
        the link's largest capacity, and takes nothing of an unlimited one. While it exceeds a capacity that a trace,
        a factor or an outage makes smaller, nothing is left.
    capacities : mapping from int to Capacities
        Of a link direction, in place of the one that the network states.
    factors : mapping from int to sequence of (float, float)
        Factor of a link direction's capacity, in [0, 1], by date; 1 before the first date. Factors of several events
        are multiplied.
    outages : mapping from int to (float, float)
        Dates between which a core link is down in both directions, the last one infinite if permanently; the event has
        fields `from_s` and `until_s`. Routes go around a link that is down.
    absences : mapping from int to (int, int)
        First round that a silo misses while the others go on without it, and how many it misses; the event has fields
        `first_round` and `rounds`.
    pauses : mapping from int to (int, float)
        Round in which a silo computes for longer, and by how many seconds; the event has a field `first_round`.

    Notes
    -----
    A link direction has one event at most of each of `shares`, `flows`, `loads` and `capacities`. With constant
    rates, only `absences` and `pauses` are possible; all others but `shares`, and `loads` that never change, need a
    sharing model that can change.
    """

    shares: Mapping[int, float] = field(default_factory=dict)
    flows: Mapping[int, Callable[[], Iterator[FlowChange]]] = field(default_factory=dict)
    loads: Mapping[int, Load] = field(default_factory=dict)
    capacities: Mapping[int, Capacities] = field(default_factory=dict)
    factors: Mapping[int, Steps] = field(default_factory=dict)
    outages: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    absences: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    pauses: Mapping[int, tuple[int, float]] = field(default_factory=dict)

    @property
    def on_network(self) -> bool:
        """Whether the event changes more than silos."""
        return bool(
            self.shares or self.flows or self.loads or self.capacities or self.factors or self.outages
        )

    @property
    def on_silos(self) -> bool:
        """Whether a silo is away."""
        return bool(self.absences or self.pauses)


class Event(Protocol):
    """An event on the network or at silos while a job runs."""

    def effects(self, names: Names, /) -> Effects:
        """What it does to a network.

        Parameters
        ----------
        names : Names
            Finds links and silos of the network by name.

        Raises
        ------
        InputError
            If the network has no link or silo of a name; its `field` is the event's own.
        """


def effects_of(events: Sequence[Event], graph: Connectivity) -> list[Effects]:
    """Effects of some events on a network.

    Raises
    ------
    InputError
        Of an event, with its place in ``events``.
    """
    names = Names(graph)
    found = []
    for place, event in enumerate(events):
        try:
            found.append(event.effects(names))
        except InputError as error:
            raise error.within("events", place) from None
    return found
