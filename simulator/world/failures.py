"""Core links that are down temporarily or permanently."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite

from simulator.input_checks import check_not_negative
from simulator.world.effects import Effects
from simulator.world.names import Names
from topologies.errors import Field, InputError

Downs = Mapping[int, tuple[tuple[float, float], ...]]
"""Core link -> the times ``(from_s, until_s)`` at which it is down, one after the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkFailure:
    """A core link that carries nothing, in both directions, from one date to another.

    Parameters
    ----------
    link : str or int
        Name of a core link, ``"A - B"``, or its number.
    from_s : float
        Since the job's start, finite and >= 0.
    until_s : float
        When the link is back, > `from_s`; infinite: never.

    Raises
    ------
    InputError
        If a date is out of its range.

    Notes
    -----
    What a failure does to running messages, and why:

    - At once, every arc whose route crosses the link gets the route that the network's own rule finds without it
      (`topologies.routing.shortest_routes`). A message on its way keeps the bits that it sent, and sends the others
      over the new route; it is not sent again from the start. So do models that travel over TCP: the connection
      belongs to its two ends, survives the change of route, and repeats only what was on the wire when the link broke.
      That repeat, at most the route's bandwidth times its latency, and the time that routers need to notice are
      neglected: a fluid has no packets.
    - The latency is that of the new route for every message whose last bit has not left yet. A message whose last bit
      left at or before the failure arrives as if nothing had happened.
    - An arc that has no other route while the link is down keeps its route and waits: its messages stand still at rate
      0 until a link of the cut is back, and go on with the bits that they have left. A link that never comes back must
      leave another route to all arcs.
    - When the link is back, routes and latencies return at once to what they were, for running messages too.

    Arcs that do not cross the link keep their routes, and are affected only through the links that they share with
    the others' new routes. The closed forms leave failures out.
    """

    link: str | int
    from_s: float
    until_s: float = inf

    def __post_init__(self) -> None:
        check_not_negative("from_s", self.from_s)
        if not self.until_s > self.from_s:
            from_ = Field("from_s", value=self.from_s)
            raise InputError("must be > ", from_, ".", field=Field("until_s", value=self.until_s))

    def effects(self, names: Names, /) -> Effects:
        """See `simulator.world.effects.Event`."""
        return Effects(outages={names.core_link(self.link): (self.from_s, self.until_s)})


def down_times(effects: Iterable[Effects]) -> Downs:
    """When each core link is down.

    Parameters
    ----------
    effects : iterable of Effects
        Of all events of a job.

    Returns
    -------
    mapping of int to tuple of (float, float)

    Raises
    ------
    InputError
        If a link fails again before it is back.
    """
    downs: dict[int, list[tuple[float, float, int]]] = {}
    for place, effect in enumerate(effects):
        for link, (from_s, until_s) in effect.outages.items():
            downs.setdefault(link, []).append((from_s, until_s, place))
    for times in downs.values():
        times.sort()
        for (_, until_s, before), (from_s, _, place) in pairwise(times):
            if from_s <= until_s:
                raise InputError(
                    "must be > ",
                    Field("events", before, "until_s", value=until_s),
                    ": it is the same link.",
                    field=Field("events", place, "from_s", value=from_s),
                )
    return {link: tuple((from_s, until_s) for from_s, until_s, _ in times) for link, times in downs.items()}


def links_down(downs: Downs) -> list[tuple[float, frozenset[int]]]:
    """The core links that are down, by date.

    Parameters
    ----------
    downs : mapping
        See `down_times`.

    Returns
    -------
    list of (float, frozenset of int)
        From each of these dates on, in seconds, exactly these links are down.
    """
    dates_s = sorted(
        {date_s for times in downs.values() for pair in times for date_s in pair if isfinite(date_s)}
    )
    return [
        (
            date_s,
            frozenset(
                link
                for link, times in downs.items()
                if any(from_s <= date_s < until_s for from_s, until_s in times)
            ),
        )
        for date_s in dates_s
    ]
