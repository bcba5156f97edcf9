"""The command that prints the tables of a run."""

import json
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.report.table_formats import print_table, print_text
from scenarios.runfile.file_checksum import unverified
from scenarios.studies.run_summary import run_summary
from scenarios.studies.verification import verify as verified
from topologies import InputError


def show(
    run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")],
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Check instead that the file of a complete run is whole: checksum, rows, network, versions.",
        ),
    ] = False,
    no_verify: opt.NoVerify = False,
    as_json: opt.Json = False,
) -> None:
    """Print the tables of a run.

    Examples
    --------
    silosim show study.h5
    silosim show study.h5 --verify
    """
    if verify and no_verify:
        raise InputError("verify must not be given with --no-verify.")
    if verify:
        lines = verified(run)
        print_text(
            json.dumps({"file": str(run), "checked": lines}, indent=1) if as_json else "\n".join(lines)
        )
        return
    with unverified(no_verify):
        print_table(run_summary(run), as_json)
