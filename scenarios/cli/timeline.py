"""The command that says who computes, sends, receives and waits in some rounds of a run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.round_range import round_range
from scenarios.report.table_formats import print_tables
from scenarios.runfile.file_checksum import unverified
from scenarios.studies.timeline import timeline as run_timeline


def timeline(
    run: Annotated[Path, typer.Argument(help="HDF5 file of a run, also its .partial.")],
    rounds: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST-LAST",
            help="Rounds, such as 0-5, 90- to the end, or a single one. [default: the first 6]",
        ),
    ] = None,
    overlay: Annotated[
        list[str] | None,
        typer.Option(metavar="OVERLAY", help="An overlay of the run; repeat for several. [default: all]"),
    ] = None,
    engine: opt.RunEngine = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Figure (.png, .svg, .pdf), trace for Perfetto and Chrome (.json), or table (.csv, .txt).",
        ),
    ] = None,
    width: opt.Width = None,
    force: opt.Force = False,
    no_verify: opt.NoVerify = False,
    as_json: opt.Json = False,
) -> None:
    """Say who computes, sends, receives and waits, and for whom.

    A table for each overlay: how each silo spends these rounds, and for which in-neighbour's model it waits most, with
    its lag. A figure has silos as rows and the critical circuit on top; open a trace at https://ui.perfetto.dev.

    Examples
    --------
    silosim timeline run.h5 --rounds 0-5 --overlay ring -o timeline.pdf
    silosim timeline run.h5 --rounds 100-120 -o trace.json
    """
    with unverified(no_verify):
        tables = run_timeline(
            run,
            rounds=None if rounds is None else round_range(rounds),
            overlay=overlay,
            engine=engine,
            output=output,
            width=width,
            force=force,
        )
    print_tables(tables, as_json)
    if output is not None:
        print(f"written: {output}", file=sys.stderr)
