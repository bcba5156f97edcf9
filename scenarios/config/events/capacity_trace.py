"""A link whose capacity changes at given dates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import inf, isnan, nan
from typing import ClassVar, Self

import numpy as np

from scenarios.config.events.kind import EventKind
from scenarios.config.events.window import AFTER, BEFORE, IN, Window
from scenarios.config.quantities import Duration, Rate, format_long, format_rate
from simulator import CapacityTrace
from topologies.errors import Field, InputError
from topologies.quantities import parse_quantity


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityKind(EventKind):
    """``[[simulation.capacity]]``: a link whose capacity changes.

    Parameters
    ----------
    link : str
        ``"A - B"``, ``"A -> B"`` for one direction, ``"A uplink"`` or ``"A downlink"``.
    at : tuple of str
        Dates at which the capacity changes, ascending.
    capacity : tuple of str
        Its capacity from each date on.
    repeat_every : str, optional
        The dates repeat after this time, for instance ``"24 h"``.
    job_starts_at : str
        The date at which the job starts, for instance ``"8 h"``.
    """

    table: ClassVar[str] = "capacity"
    keys: ClassVar[Mapping[str, str]] = {
        "date_s": "at",
        "capacity_bps": "capacity",
        "period_s": "repeat_every",
        "job_start_s": "job_starts_at",
    }
    capacity_note: ClassVar[str] = "that of its trace"

    link: str
    at: tuple[Duration, ...]
    capacity: tuple[Rate, ...]
    repeat_every: Duration | None = None
    job_starts_at: Duration = "0 s"

    def check(self) -> None:
        """See `EventKind`."""
        if not self.at:
            raise InputError("must hold one date or more.", field=Field("at", value=[]))

    def event(self, *, seed: int) -> CapacityTrace:
        """See `EventKind`."""
        dates = [parse_quantity(("at", n), text, "s", zero=True) for n, text in enumerate(self.at)]
        capacities = [
            parse_quantity(("capacity", n), text, "bit/s", zero=True) for n, text in enumerate(self.capacity)
        ]
        period = self.repeat_every
        return CapacityTrace(
            link=self.link,
            date_s=np.array(dates),
            capacity_bps=np.array(capacities),
            period_s=None if period is None else parse_quantity("repeat_every", period, "s"),
            job_start_s=parse_quantity("job_starts_at", self.job_starts_at, "s", zero=True),
        )

    def describe_cause(self, place: str) -> str:
        """See `EventKind`."""
        trace_bps = self.event(seed=0).capacity_bps
        least, most = format_rate(float(trace_bps.min())), format_rate(float(trace_bps.max()))
        return f"capacity of {place}: a trace, {least} to {most}"

    @classmethod
    def notes(
        cls, entries: Sequence[Self], window: Window | None, *, stops_early: bool
    ) -> Iterator[tuple[int, str]]:
        """See `EventKind`; the capacities of a trace on one side of the rounds are one text."""
        if window is not None:
            for entry in entries:
                yield from entry._notes(window)

    def _notes(self, window: Window) -> Iterator[tuple[int, str]]:
        trace = self.event(seed=0)
        if trace.period_s is not None and window.until_s - window.from_s >= trace.period_s:
            yield IN, f"{self.link}'s capacities, again every {self.repeat_every}"
            return
        sides: dict[int, list[tuple[float, float]]] = {BEFORE: [], IN: [], AFTER: []}
        # Before its first date a trace says nothing, so that the capacity is the network's own.
        for (from_s, bps), (until_s, _) in pairwise(chain(trace.steps(nan), [(inf, nan)])):
            side = window.side_of_dates(from_s, until_s)
            if not isnan(bps) and until_s > from_s:
                sides[side].append((from_s, bps))
            if side == AFTER and trace.period_s is not None:
                break
        for side, steps in sides.items():
            if steps:
                (first_s, bps), (last_s, _) = steps[0], steps[-1]
                yield (
                    side,
                    f"{self.link} at {format_rate(bps)} from {format_long(first_s)}"
                    if len(steps) == 1
                    else f"{self.link} at {len(steps)} capacities from {format_long(first_s)}, the last from "
                    f"{format_long(last_s)}",
                )
