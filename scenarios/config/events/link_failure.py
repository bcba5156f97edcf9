"""A core link that is down temporarily or permanently."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, ClassVar, Self

import pydantic

from scenarios.config.events.cause import Cause
from scenarios.config.events.kind import EventKind
from scenarios.config.events.window import IN, Window
from scenarios.config.quantities import Duration, format_s
from simulator import LinkFailure
from simulator.world.names import Names
from topologies.quantities import parse_quantity

_SAME_WAY_S = 1e-9
"""Latencies that differ by less are those of the same way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureKind(EventKind):
    """``[[simulation.failure]]``: a core link that is down.

    Parameters
    ----------
    link : str
        ``"A - B"``.
    from_ : str
        When it fails, since the job's start.
    until : str, optional
        When it works again, since the job's start; by default never.
    """

    table: ClassVar[str] = "failure"
    keys: ClassVar[Mapping[str, str]] = {"from_s": "from", "until_s": "until"}
    capacity_note: ClassVar[str] = "0 while it is down"

    link: str
    from_: Annotated[Duration, pydantic.Field(alias="from")]
    until: Duration | None = None

    def event(self, *, seed: int) -> LinkFailure:
        """See `EventKind`."""
        from_s, until_s = self.dates_s()
        return LinkFailure(link=self.link, from_s=from_s, until_s=until_s)

    def dates_s(self) -> tuple[float, float]:
        """See `EventKind`."""
        from_s = parse_quantity("from", self.from_, "s", zero=True)
        return from_s, inf if self.until is None else parse_quantity("until", self.until, "s")

    def describe(self) -> str:
        """See `EventKind`."""
        until = "" if self.until is None else f" until {self.until}"
        return f"{self.link} down from {self.from_}{until}"

    @classmethod
    def route_causes(
        cls, entries: Sequence[Self], names: Names, window: Window, route: Sequence[int], detour_s: float
    ) -> Iterator[Cause]:
        """See `EventKind`."""
        links = list(
            dict.fromkeys(direction // 2 for direction in route if direction < names.graph.first_uplink)
        )
        failed = [(names.core_link(entry.link), entry) for entry in entries]
        for link in links:
            for entry in (entry for number, entry in failed if number == link):
                from_s, until_s = entry.dates_s()
                if window.side_of_dates(from_s, until_s) != IN:
                    continue
                took_s = window.until_s - window.from_s
                down_s = min(until_s, window.until_s) - max(from_s, window.from_s)
                when = "all the time" if down_s == took_s else f"{100 * down_s / took_s:.3g} % of the time"
                way = (
                    f"models take a way that is {format_s(detour_s)} longer in the mean"
                    if detour_s > _SAME_WAY_S
                    else "models wait for it, or take another way that is as long"
                )
                place = f"core link {names.graph.underlay.link_name(link)}"
                yield Cause(assumption="link down", place=place, explanation=f"{place} is down {when}: {way}")
