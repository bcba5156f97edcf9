"""The command that writes one page of a run, of a study or of a validation."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.pages.files import default_page
from scenarios.pages.files import report as write_report
from scenarios.runfile.file_checksum import unverified


def report(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|STUDY|FOLDER",
            help="HDF5 file of a run, table of a study (.csv, .parquet), also the .partial of either; NAME-seeds.csv "
            "beside its runs; or the folder of a validation.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The page, .html. [default: the source's name with .html]"),
    ] = None,
    force: opt.Force = False,
    no_verify: opt.NoVerify = False,
) -> None:
    """Write a run, study or validation as a page for a browser.

    It opens from disk without a network. Of a run: the answer in words, the overlays on a map, all figures, a slider of
    the access capacity, what limits each overlay, and how to make it again.

    Examples
    --------
    silosim report run.h5 -o report.html
    silosim report study.csv
    """
    page = output or default_page(source)
    with unverified(no_verify):
        size = write_report(source, page, force=force)
    print_written(page, size)


def print_written(page: Path, size: int) -> None:
    """Say that a page of so many bytes is there."""
    print(f"written: {page} ({size / 1e6:.2f} MB)", file=sys.stderr)
