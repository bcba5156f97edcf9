"""The command that prints the tables of a run."""

from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.report.table_formats import print_table
from scenarios.studies.run_summary import run_summary


def show(run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")], as_json: opt.Json = False) -> None:
    """Print the tables of a run.

    Examples
    --------
    silosim show study.h5
    """
    print_table(run_summary(run), as_json)
