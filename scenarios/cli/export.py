"""The command that writes a run into files of other programs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.round_range import round_range
from scenarios.export.table_files import CSV, FORMATS
from scenarios.report.tables import note_lines
from scenarios.runfile.file_checksum import unverified
from scenarios.runfile.paths import final_path
from scenarios.studies.export import CONTENTS, export_run
from topologies import InputError
from topologies.errors import quoted


def export(
    run: Annotated[Path, typer.Argument(help="HDF5 file of a run, also its .partial.")],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONTENT",
            help=f"Of {', '.join(CONTENTS)} only these: several after one --only, or repeated. "
            "[default: all that the run has]",
        ),
    ] = None,
    table_format: Annotated[
        str, typer.Option("--format", metavar="NAME", help=f"Of tables: {' or '.join(FORMATS)}.")
    ] = CSV,
    overlay: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OVERLAY",
            help="An overlay of the run; repeat for several. [default: all]",
        ),
    ] = None,
    rounds: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST-LAST",
            help="Rounds, such as 0-99, 90- to the end, or a single one. [default: all]",
            rich_help_panel="Output",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="Folder to write. [default: RUN-export]"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of an earlier export.")] = False,
    no_verify: opt.NoVerify = False,
) -> None:
    """Write a run as tables, TensorBoard files and JSON lines.

    Tables as CSV or Parquet with the names of silos and links: rounds, messages, metrics and links. For TensorBoard, a
    run for each overlay whose relative time is the wall-clock time; for experiment trackers, a JSON object for each
    logged round. --only, --overlay and --rounds keep large runs small.

    Examples
    --------
    silosim export run.h5 -o data
    silosim export run.h5 --only rounds links --rounds 0-99 --format parquet
    """
    if more and not only:
        raise InputError(f"{quoted(more[0])} must follow an option, for instance --only.")
    name = final_path(run)
    with unverified(no_verify):
        written = export_run(
            run,
            output or name.with_name(f"{name.stem}-export"),
            table_format=table_format,
            only=None if only is None else [*only, *(more or [])],
            overlay=overlay,
            rounds=None if rounds is None else round_range(rounds),
            force=force,
        )
    for note in written.notes:
        print(note_lines(note), file=sys.stderr)
    for file, rows in written.files.items():
        print(f"written: {file} ({rows:,} rows)", file=sys.stderr)
