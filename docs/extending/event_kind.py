"""A kind of events of your own: maintenance, during which a link has a part of its capacity."""

from dataclasses import dataclass

from scenarios.config.events.kind import EventKind
from scenarios.config.quantities import Duration, Share
from simulator import Effects
from topologies.errors import Field, InputError
from topologies.quantities import parse_quantity, parse_share


@dataclass(frozen=True, kw_only=True)
class Maintenance(EventKind):
    """``[[simulation.maintenance]]``: the fields are its keys."""

    table, capacity_note = "maintenance", "what maintenance leaves"
    link: str
    begin: Duration
    end: Duration
    remaining: Share

    def event(self, *, seed):
        """What the simulator gets; anything with a method `effects`."""
        if self.dates_s()[1] <= self.dates_s()[0]:
            raise InputError(f"must be > begin(={self.begin!r}).", field=Field("end", value=self.end))
        return self

    def effects(self, names):
        """What happens to the network: a factor of the link's capacity by date."""
        steps = list(zip(self.dates_s(), (parse_share("remaining", self.remaining), 1.0), strict=True))
        return Effects(factors=dict.fromkeys(names.directions(self.link), steps))

    def dates_s(self):
        """When it lasts: a note says what of it lies in the rounds of a cycle time."""
        return parse_quantity("begin", self.begin, "s", zero=True), parse_quantity("end", self.end, "s")

    def describe(self):
        """What notes and causes call it."""
        return f"{self.link} at {self.remaining} from {self.begin} to {self.end}"
