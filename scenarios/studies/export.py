"""Export of a run to other programs: tables, TensorBoard's events, JSON lines."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import h5py

from scenarios.config.scenario import recorded_scenario
from scenarios.export.table_files import CSV, FORMATS, PARQUET, open_table
from scenarios.export.tensorboard_files import EVENTS, EventFile
from scenarios.runfile.folders import check_new_folder, new_folder
from scenarios.runfile.reader import OverlayRecord, open_file, read_open
from scenarios.runfile.run_tables import METRICS, TABLES, RunPart, Unit
from scenarios.runfile.study_table import check_pyarrow
from scenarios.runtime.progress import bar, log_lines
from scenarios.runtime.signals import check_interrupts
from topologies import InputError
from topologies.errors import Field, unknown_name
from training.history import PER_SILO

TENSORBOARD, JSON_LINES = "tensorboard", "jsonl"
CONTENTS = (*TABLES, TENSORBOARD, JSON_LINES)
"""What can be exported."""
_LINES = "metrics.jsonl"
Advance = Callable[[str, int], None]
"""Takes what is being written, and how many units of it are done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """What was written.

    Attributes
    ----------
    files : mapping from Path to int
        Rows, events or lines of each file.
    notes : tuple of str
        Sentences on what was left out.
    """

    files: Mapping[Path, int]
    notes: tuple[str, ...]


def export_run(
    run: Path,
    folder: Path,
    *,
    table_format: str = CSV,
    only: str | Sequence[str] | None = None,
    overlay: str | Sequence[str] | None = None,
    rounds: slice | None = None,
    force: bool,
) -> Exported:
    """Write the contents of a run into a folder of files that other programs read.

    Parameters
    ----------
    run : Path
        The HDF5 file, complete or cut short.
    folder : Path
        Appears when it is complete.
    table_format : {"csv", "parquet"}
        Of tables.
    only : str or sequence of str, optional
        Some of `CONTENTS`, by default all that the run has.
    overlay, rounds
        See `RunPart.of`.
    force : bool
        Whether an earlier export is replaced; never a folder that holds anything else.

    Returns
    -------
    Exported

    Raises
    ------
    InputError
        If a name is unknown, the run has nothing of what is asked for, or the folder exists or cannot be written.
    MachineError
        If pyarrow, which writes Parquet, is not installed.
    KeyboardInterrupt
        After Ctrl-C; nothing is left.

    Notes
    -----
    Time O(rows), memory that of a piece (see `RunTable`) and of all training rows.
    """
    if table_format not in FORMATS:
        raise unknown_name("format", table_format, FORMATS)
    chosen = CONTENTS if only is None else (only,) if isinstance(only, str) else tuple(only)
    if not chosen:
        raise InputError("must name something to export.", field=Field("only", value=only))
    for name in chosen:
        if name not in CONTENTS:
            raise unknown_name("only", name, CONTENTS)
    asked = [name for name in CONTENTS if name in chosen]
    check_new_folder(folder, force=force, is_own=_is_export)
    if table_format == PARQUET and not TABLES.keys().isdisjoint(asked):
        check_pyarrow(folder)
    with open_file(run) as file:
        part = RunPart.of(read_open(file, source=str(run)), overlay, rounds)
        _check_rounds(part, rounds)
        sizes = {name: part.count(_unit(name)) for name in asked}
        notes = _notes(run, part, sizes)
        with new_folder(folder, force=force) as partial, _progress(sum(sizes.values())) as advance:
            written = {
                name: rows
                for content, size in sizes.items()
                if size
                for name, rows in _write(file, part, content, partial, table_format, advance).items()
            }
    return Exported(files={folder / name: rows for name, rows in written.items()}, notes=notes)


def _check_rounds(part: RunPart, rounds: slice | None) -> None:
    """Refuse rounds beyond the last of the longest overlay: a file of fewer rounds would look whole."""
    there = 0
    for each in part.overlays:
        logged = each.history.get("round", ())
        there = max(there, each.simulation.rounds, int(max(logged, default=-1)) + 1)
    if rounds is not None and rounds.stop is not None and there and rounds.stop > there:
        first = rounds.start or 0
        raise InputError(
            f"must be rounds from 0 to {there - 1}, the last of the run.",
            field=Field("rounds", value=f"{first}-{rounds.stop - 1}"),
        )


def _is_export(file: Path) -> bool:
    """Whether an export may have written this file of its folder."""
    tables = [f"{name}.{ending}" for name in TABLES for ending in FORMATS]
    is_event_file = len(file.parts) == 3 and file.parts[0] == TENSORBOARD and file.name == EVENTS
    return is_event_file or str(file) in (*tables, _LINES)


def _unit(content: str) -> Unit:
    """What there must be some of."""
    return TABLES[content].unit if content in TABLES else "training rows"


def _notes(run: Path, part: RunPart, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Sentences on contents that the part of the run does not have; an InputError where it has none."""
    left: dict[Unit, list[str]] = {}
    for content, size in sizes.items():
        if not size:
            unit = _unit(content)
            is_untrained = unit == "metrics of silos" and not part.count("training rows")
            left.setdefault("training rows" if is_untrained else unit, []).append(content)
    what = "in what is asked for" if part.rounds != slice(None) else "in these overlays"
    where = (
        "" if len(part.overlays) == len(part.record.overlays) and part.rounds == slice(None) else f" {what}"
    )
    if not any(sizes.values()):
        raise InputError(f"has no {' and no '.join(left)}{where}.", source=str(run))
    notes = [f"{run} has no {unit}{where}; left out: {', '.join(names)}." for unit, names in left.items()]
    if part.rounds != slice(None) and sizes.get("links"):
        notes.append("links are those of all rounds: the file does not hold the bits of each.")
    return tuple(notes)


@contextmanager
def _progress(total: int) -> Iterator[Advance]:
    """Progress over so many units; the function that is yielded takes a content and the units that are done."""
    line, so_far = log_lines(), 0
    with bar("export", total) as move:

        def advance(content: str, done: int) -> None:
            nonlocal so_far
            so_far += done
            move(so_far, content)
            line(f"export: {content}, {100 * so_far // total} % of all is written")
            check_interrupts()

        yield advance


def _write(
    file: h5py.File, part: RunPart, content: str, folder: Path, table_format: str, advance: Advance
) -> dict[str, int]:
    """Write one of `CONTENTS`; rows of each file by its name within the folder."""
    if content == TENSORBOARD:
        return _write_events(file, part, folder, advance)
    if content == JSON_LINES:
        return {_LINES: _write_lines(part, folder / _LINES, advance)}
    name, table, rows = f"{content}.{table_format}", TABLES[content], 0
    with closing(open_table(folder / name, table.columns(file))) as target:
        for piece in table.pieces(file, part):
            target.write(piece.columns)
            rows += piece.rows
            advance(content, piece.done)
    return {name: rows}


def _write_events(file: h5py.File, part: RunPart, folder: Path, advance: Advance) -> dict[str, int]:
    """Write an event file for each overlay; rows of the training by the name of the file."""
    written = {}
    for overlay in part.overlays:
        if not len(rows := part.logged(overlay)):
            continue
        name = f"{TENSORBOARD}/{overlay.kind}/{EVENTS}"
        starts = file[f"simulation/{overlay.kind}/round_start_s"]
        with closing(EventFile(folder / name)) as target:
            for row in rows.tolist():
                round_ = int(overlay.history["round"][row])
                target.write(round_, float(overlay.wall_clock_s[row]), _metrics(overlay, row))
                # What a silo has measured holds when it starts the round, before the last silo does.
                silos = zip(part.record.silo_labels, starts[round_].tolist(), strict=True)
                for silo, (label, start_s) in enumerate(silos):
                    target.write(round_, start_s, _silo_metrics(overlay, row, silo, label))
                advance(TENSORBOARD, 1)
        written[name] = len(rows)
    return written


def _write_lines(part: RunPart, path: Path, advance: Advance) -> int:
    """Write a JSON object for each training row, one on each line; how many."""
    lines = 0
    name = recorded_scenario(part.record.scenario).name
    with path.open("w", encoding="utf-8") as target:
        for overlay in part.overlays:
            for row in part.logged(overlay).tolist():
                metrics = _metrics(overlay, row)
                for silo, label in enumerate(part.record.silo_labels):
                    metrics |= _silo_metrics(overlay, row, silo, label)
                line = {
                    "run": name,
                    "overlay": overlay.kind,
                    "step": int(overlay.history["round"][row]),
                    "wall_clock_s": float(overlay.wall_clock_s[row]),
                    # JSON has no text for what is not finite.
                    **{key: value for key, value in metrics.items() if isfinite(value)},
                }
                target.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
                lines += 1
                advance(JSON_LINES, 1)
    return lines


def _metrics(overlay: OverlayRecord, row: int) -> dict[str, float]:
    """Numbers of a training row that are those of all silos together, by their names."""
    return {name: float(overlay.history[name][row]) for name in METRICS}


def _silo_metrics(overlay: OverlayRecord, row: int, silo: int, label: str) -> dict[str, float]:
    """Numbers of a training row that are those of one silo, by names such as ``silo_loss/Rome``."""
    return {f"{name}/{label}": float(overlay.history[name][row, silo]) for name in PER_SILO}
