"""Traffic matrices of a file, or of a folder that is a sequence of them."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import Field, InputError
from topologies.input_limits import MOST_PAIRS_BYTES
from topologies.networks.csv_table import read_table
from topologies.networks.files import StrPath, files_of, read_file, shown
from topologies.networks.sndlib_demands import SndlibDemands, parse_sndlib_demands
from topologies.networks.traffic_dates import parse_date
from topologies.networks.traffic_matrices import DemandRows, TrafficMatrices, matrices_of
from topologies.networks.traffic_tables import traffic_of_table
from topologies.regular_files import is_folder

_TABLES = (".csv", ".tsv")
_AT_END = re.compile(r"(?:^|[-_])((?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:[0-3]\d(?:-\d{4})?)?)$")
"""Date at the end of a file's name, as in ``demandMatrix-abilene-zhang-5min-20040301-0000``."""


def read_traffic(path: StrPath, *, unit: str = "", step_s: float | None = None) -> TrafficMatrices:
    """Traffic matrices of a file or folder.

    Parameters
    ----------
    path : path
        A CSV table, see `topologies.networks.traffic_tables.traffic_of_table`; a file of SNDlib; or a folder of such
        files, its ``.xml`` files, or where it has none its ``.txt`` files: a sequence by the dates in their meta data,
        or else at the end of their names.
    unit : str
        Of demands whose file states none.
    step_s : float, optional
        Time between the files of a folder that state no dates, which are then a sequence by name.

    Returns
    -------
    TrafficMatrices

    Raises
    ------
    InputError
        If something cannot be read or breaks a rule: one line with file and row.

    Notes
    -----
    A file of a folder that has no demand is a gap in the measurement, as SNDlib's sequences have them: the matrix
    before holds on.
    """
    where = Path(path)
    if is_folder(where):
        files = sequence_files(where)
        if not files:
            raise InputError("must hold .xml or .txt files of SNDlib.", source=shown(where))
        return _sequence(files, shown(where), unit, step_s)
    if step_s is not None:
        raise InputError(
            "is one file; a step goes with a folder of files that state no dates.", source=shown(where)
        )
    if where.suffix.lower() in _TABLES:
        data = read_file(where, shown(where), most_bytes=MOST_PAIRS_BYTES)
        return traffic_of_table(read_table(data, shown(where)), unit)
    return matrices_of(_rows([where], [_parsed(where)], np.zeros(1), unit, shown(where)))


def sequence_files(folder: Path) -> list[Path]:
    """The files of a folder that are a sequence of matrices, by name."""
    files = files_of(folder)
    endings = (".xml", ".txt")
    return next(
        (found for end in endings if (found := [file for file in files if file.suffix.lower() == end])), []
    )


def _sequence(files: Sequence[Path], source: str, unit: str, step_s: float | None) -> TrafficMatrices:
    """Files in the order of their dates."""
    parsed = [_parsed(file) for file in files]
    dates = [_date(file, each) for file, each in zip(files, parsed, strict=True)]
    undated = next((file for file, date in zip(files, dates, strict=True) if not date), None)
    if any(dates) and undated is not None:
        raise InputError("states no date, as others of its folder do.", source=shown(undated))
    if any(dates) and step_s is not None:
        raise InputError("holds files that state their dates, so that step must be left out.", source=source)
    if undated is not None and step_s is None and len(files) > 1:
        raise InputError("holds files that state no dates, so that step must be given.", source=source)
    time_s: FloatArray = (step_s or 0.0) * np.arange(len(files), dtype=np.float64)
    if any(dates):
        time_s = np.array([_seconds(file, date) for file, date in zip(files, dates, strict=True)])
    order = [int(i) for i in np.argsort(time_s, kind="stable") if parsed[i].demands]
    if not order:
        raise InputError("must hold a demand between two routers.", source=source)
    for one, other in pairwise(order):
        if time_s[one] == time_s[other]:
            raise InputError(
                f"has the date of {shown(files[one].name)}, must have one of its own.",
                source=shown(files[other]),
            )
    return matrices_of(
        _rows(
            [files[i] for i in order],
            [parsed[i] for i in order],
            time_s[order],
            unit,
            source,
            dates=tuple(dates[i] for i in order) if any(dates) else (),
        )
    )


def _parsed(file: Path) -> SndlibDemands:
    source = shown(file)
    try:
        return parse_sndlib_demands(read_file(file, source))
    except InputError as error:
        raise (error if error.source == source else error.located(source)) from None


def _date(file: Path, parsed: SndlibDemands) -> str:
    """Date of a matrix as it is written; empty where none is."""
    at_end = _AT_END.search(file.stem)
    return parsed.time or (at_end[1] if at_end else "")


def _seconds(file: Path, date: str) -> float:
    try:
        return parse_date(date)[0]
    except InputError as error:
        raise InputError(f"time(={date!r}) {error.rule}", source=shown(file)) from None


def _rows(
    files: Sequence[Path],
    parsed: Sequence[SndlibDemands],
    date_s: FloatArray,
    unit: str,
    source: str,
    *,
    dates: tuple[str, ...] = (),
) -> DemandRows:
    """Rows of files, one for each date."""
    known: dict[str, int] = {}
    places: list[str] = []
    for file, each in zip(files, parsed, strict=True):
        for demand in each.demands:
            for name in (demand.source, demand.target):
                if known.setdefault(name, len(known)) == len(places):
                    places.append(f"{shown(file)}: {demand.place}")
    counts = [len(each.demands) for each in parsed]
    units_bps = np.repeat(
        [_unit_bps(file, each, unit) for file, each in zip(files, parsed, strict=True)], counts
    )
    demands = [demand for each in parsed for demand in each.demands]

    with np.errstate(over="ignore"):
        demand_bps = np.array([demand.value for demand in demands]) * units_bps

    def place(row: int) -> str:
        file = files[int(np.searchsorted(np.cumsum(counts), row, side="right"))]
        return f"{shown(file.name)}, {demands[row].place}," if len(files) > 1 else demands[row].place

    for row in np.flatnonzero(~np.isfinite(demand_bps)).tolist():
        raise InputError("must have a finite demand in bit/s.", field=Field(place(row)), source=source)
    return DemandRows(
        labels=tuple(known),
        places=tuple(places),
        date_s=date_s,
        date=np.repeat(np.arange(len(files)), counts),
        source=np.array([known[demand.source] for demand in demands], dtype=np.int64),
        target=np.array([known[demand.target] for demand in demands], dtype=np.int64),
        demand_bps=demand_bps,
        place=place,
        source_name=source,
        dates=dates,
    )


def _unit_bps(file: Path, parsed: SndlibDemands, unit: str) -> float:
    try:
        return parsed.unit_bps(unit)
    except InputError as error:
        raise error.located(shown(file)) from None
