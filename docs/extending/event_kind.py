"""A kind of events of your own: maintenance, during which a link has a part of its capacity."""

from dataclasses import dataclass
from typing import ClassVar

from scenarios.config.events.kind import EventKind
from scenarios.config.quantities import Duration, Share, parse_quantity, parse_share
from simulator import Effects


@dataclass(frozen=True, kw_only=True)
class Maintenance(EventKind):
    """``[[simulation.maintenance]]``: the fields are its keys."""

    table: ClassVar[str] = "maintenance"
    capacity_note: ClassVar[str] = "what maintenance leaves"

    link: str
    begin: Duration
    end: Duration
    remaining: Share

    def event(self, *, seed):
        """What the simulator gets; anything with a method `effects`."""
        return self

    def effects(self, names):
        """What happens to the network: a factor of the link's capacity by date."""
        (begin_s, end_s), factor = self.dates_s(), parse_share("remaining", self.remaining)
        steps = [(begin_s, factor), (end_s, 1.0)]
        return Effects(factors=dict.fromkeys(names.directions(self.link), steps))

    def dates_s(self):
        """When it lasts: a note says what of it lies in the rounds of a cycle time."""
        return parse_quantity("begin", self.begin, "s", zero=True), parse_quantity("end", self.end, "s")

    def describe(self):
        """What notes and causes call it."""
        return f"{self.link} at {self.remaining} from {self.begin} to {self.end}"
