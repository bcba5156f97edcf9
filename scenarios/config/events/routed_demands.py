"""Background traffic of traffic matrices, routed over the underlay."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from math import inf, isfinite
from pathlib import Path
from typing import ClassVar, Self

from scenarios.config.error_context import changed_errors
from scenarios.config.events.cause import Cause, link_text
from scenarios.config.events.kind import EventKind
from scenarios.config.events.window import IN, Window
from scenarios.config.quantities import Duration, format_long, format_rate
from simulator import Effects, RoutedDemands
from simulator.world.names import Names
from simulator.world.routed_demands import matrix_steps
from topologies.errors import Field, InputError
from topologies.networks.table_columns import unit_kind, unit_of
from topologies.networks.traffic_files import read_traffic, sequence_files
from topologies.networks.traffic_matrices import TrafficMatrices
from topologies.quantities import parse_quantity
from topologies.regular_files import is_folder

_FILES = 2
"""Sequences of matrices that are kept once they were read: each overlay of a scenario asks for its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DemandsKind(EventKind):
    """``[[simulation.demands]]``: demands between routers, which load core links by date.

    Parameters
    ----------
    file : str
        Traffic matrices: a CSV table, a file of SNDlib, or a folder of these.
    scale : float
        Factor of all demands.
    job_starts_at : str
        Time from the first matrix to the job's start, for instance ``"8 h"``.
    repeat : bool
        Whether the matrices start again after the last one, which else holds on.
    unit : str, optional
        Unit of the demands, for instance ``"Mbps"``, where the file states none.
    step : str, optional
        Time between the files of a folder that state no dates.
    """

    table: ClassVar[str] = "demands"
    keys: ClassVar[Mapping[str, str]] = {"job_start_s": "job_starts_at"}
    paths: ClassVar[tuple[str, ...]] = ("file",)
    traffic_note: ClassVar[str] = (
        "demands of others are not counted, and are not subtracted from the capacity"
    )

    file: str
    scale: float = 1.0
    job_starts_at: Duration = "0 s"
    repeat: bool = False
    unit: str | None = None
    step: Duration | None = None

    def check(self) -> None:
        """See `EventKind`."""
        if self.unit is not None and unit_kind(unit_of(self.unit)) != "bit/s":
            raise InputError(
                "must be the unit of a data rate, for instance 'Mbps'.", field=Field("unit", value=self.unit)
            )
        if self.step is not None:
            parse_quantity("step", self.step, "s")
        if not (isfinite(self.scale) and self.scale > 0):
            raise InputError("must be finite and > 0.", field=Field("scale", value=self.scale))
        parse_quantity("job_starts_at", self.job_starts_at, "s", zero=True)

    def event(self, *, seed: int) -> "DemandsKind":
        """See `EventKind`: itself, as the file is read when its effects are asked for."""
        return self

    def effects(self, names: Names) -> Effects:
        """See `simulator.world.effects.Event`."""
        with changed_errors(self._about_file):
            demands = RoutedDemands(
                matrices=self._matrices(), scale=self.scale, repeat=self.repeat, job_start_s=self._job_start_s
            )
            return demands.effects(names)

    def describe(self) -> str:
        """See `EventKind`."""
        scaled = "" if self.scale == 1 else f", scaled by {self.scale:g}"
        return f"demands of {self.file}{scaled}"

    @classmethod
    def notes(
        cls, entries: Sequence[Self], window: Window | None, *, stops_early: bool
    ) -> Iterator[tuple[int, str]]:
        """See `EventKind`; they are part of every cycle time."""
        for entry in entries:
            matrices = entry._matrices()
            count, last_s = len(matrices.date_s), float(matrices.date_s[-1]) - entry._job_start_s
            details = [entry._held(matrices, window)]
            if matrices.own:
                details.append(f"without {matrices.own:,} of routers to themselves")
            if count > 1 and not entry.repeat and window is not None and window.until_s > last_s:
                details.append(f"the last one holds from {format_long(max(0.0, last_s))} on")
            yield IN, f"{entry.describe()} ({', '.join(details)})"

    @classmethod
    def link_causes(
        cls, entries: Sequence[Self], names: Names, window: Window
    ) -> Iterator[tuple[int, Cause]]:
        """See `EventKind`, with the loads in these rounds."""
        for entry in entries:
            for link, load in entry.effects(names).loads.items():
                met_bps = []
                for (from_s, bps), (until_s, _) in pairwise(chain(load.steps(), [(inf, 0.0)])):
                    if from_s >= window.until_s:
                        break
                    if until_s > window.from_s:
                        met_bps.append(bps)
                least, most = format_rate(min(met_bps)), format_rate(max(met_bps))
                place = link_text(names.graph, link)
                text = f"demands take {most if least == most else f'{least} to {most}'} of {place}"
                yield link, Cause(assumption=cls.table, place=place, explanation=text)

    def _held(self, matrices: TrafficMatrices, window: Window | None) -> str:
        """Which matrices hold in some rounds, in words; without rounds how many there are."""
        count = len(matrices.date_s)
        if count == 1:
            return "one matrix"
        if window is None:
            return f"{count:,} matrices"
        period_s = matrices.period_s if self.repeat else None
        held: list[int] = []
        steps = matrix_steps(matrices.date_s, period_s, self._job_start_s)
        for (_, matrix), (until_s, _) in pairwise(chain(steps, [(inf, 0)])):
            if until_s > window.from_s:
                held.append(matrix)
            if until_s >= window.until_s or len(held) == count:
                break
        if len(held) == count:
            return f"all {count:,} matrices"
        first, last = held[0], held[-1]
        which = f"matrix {first + 1:,}" if first == last else f"matrices {first + 1:,} to {last + 1:,}"
        dates = dict.fromkeys((matrices.dates[first], matrices.dates[last])) if matrices.dates else ()
        return f"{which} of {count:,}{': ' if dates else ''}{' to '.join(dates)}"

    @property
    def _job_start_s(self) -> float:
        return parse_quantity("job_starts_at", self.job_starts_at, "s", zero=True)

    def _matrices(self) -> TrafficMatrices:
        step_s = None if self.step is None else parse_quantity("step", self.step, "s")
        where = Path(self.file)
        try:
            files = sequence_files(where) if is_folder(where) else [where]
            state = tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)
        except (OSError, ValueError):  # the latter for a NUL in the path; reading it says why
            state = ()
        return _read(self.file, unit_of(self.unit or ""), step_s, state)

    def _about_file(self, error: InputError) -> InputError:
        return InputError(f"cannot be used: {error}", field=Field("file", value=self.file))


@lru_cache(maxsize=_FILES)
def _read(path: str, unit: str, step_s: float | None, state: object) -> TrafficMatrices:  # noqa: ARG001
    """Matrices of a file or folder in a state, which names, dates and sizes of its files tell apart."""
    return read_traffic(path, unit=unit, step_s=step_s)
