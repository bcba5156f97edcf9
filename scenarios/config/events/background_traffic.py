"""Background traffic: a constant share of a link, or an on/off flow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from scenarios.config.events.kind import EventKind
from scenarios.config.events.window import IN, Window
from scenarios.config.quantities import Duration, Rate, Share, format_rate
from simulator import ConstantShare, OnOffFlow
from topologies import InputError
from topologies.errors import Field
from topologies.quantities import parse_quantity, parse_share


@dataclass(frozen=True, kw_only=True, slots=True)
class BackgroundKind(EventKind):
    """``[[simulation.background]]``: background traffic, a constant share or an on/off flow.

    Parameters
    ----------
    link : str, optional
        ``"A - B"``, or ``"A -> B"`` for one direction; by default all core links.
    share : str, optional
        Part of the capacity in percent, all the time.
    peak : str, optional
        Rate of an on/off flow while it is on.
    mean_on : str, optional
        Mean time that the flow is on.
    mean_off : str, optional
        Mean time that the flow is off.
    """

    table: ClassVar[str] = "background"
    keys: ClassVar[Mapping[str, str]] = {
        "peak_bps": "peak",
        "mean_on_s": "mean_on",
        "mean_off_s": "mean_off",
    }
    traffic_note: ClassVar[str] = "background traffic is not counted, and is not subtracted from the capacity"

    link: str | None = None
    share: Share | None = None
    peak: Rate | None = None
    mean_on: Duration | None = None
    mean_off: Duration | None = None

    def check(self) -> None:
        """See `EventKind`."""
        flow = {"peak": self.peak, "mean_on": self.mean_on, "mean_off": self.mean_off}
        given = [name for name, value in flow.items() if value is not None]
        if self.share is not None and given:
            raise InputError(
                f"must not be given with {' and '.join(given)}: the first is of a constant share, the others of an "
                "on/off flow.",
                field=Field("share", value=self.share),
            )
        if self.share is None and not given:
            raise InputError("must be given, or peak, mean_on and mean_off.", field=Field("share"))
        for name in [name for name in flow if given and name not in given]:
            raise InputError(
                f"must be given with {' and '.join(given)}: an on/off flow has peak, mean_on and mean_off.",
                field=Field(name),
            )

    def event(self, *, seed: int) -> ConstantShare | OnOffFlow:
        """See `EventKind`."""
        if self.share is not None:
            return ConstantShare(share=parse_share("share", self.share), link=self.link)
        return OnOffFlow(
            peak_bps=parse_quantity("peak", self.peak, "bit/s"),
            mean_on_s=parse_quantity("mean_on", self.mean_on, "s"),
            mean_off_s=parse_quantity("mean_off", self.mean_off, "s"),
            seed=seed,
            link=self.link,
        )

    @property
    def changes_by_date(self) -> bool:
        """See `EventKind`: a constant share is only a smaller capacity."""
        return self.share is None

    def describe_cause(self, place: str) -> str:
        """See `EventKind`."""
        if self.share is not None:
            return f"background traffic takes {100 * parse_share('share', self.share):g} % of {place}"
        peak = format_rate(parse_quantity("peak", self.peak, "bit/s"))
        return f"background traffic, an on/off flow of up to {peak}, shares {place}"

    @classmethod
    def notes(
        cls, entries: Sequence[Self], window: Window | None, *, stops_early: bool
    ) -> Iterator[tuple[int, str]]:
        """See `EventKind`; it is part of every cycle time."""
        yield IN, cls.table
