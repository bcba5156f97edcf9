"""The command that draws a run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.config.scenario import recorded_scenario
from scenarios.report.figure_formats import FIGURES
from scenarios.runfile.paths import check_ending, check_new
from scenarios.runfile.reader import read_run


def plot(
    run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="PNG, PDF or SVG. [default: the run's name with .png]"),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Draw a run: loss and accuracy over rounds and over time.

    Examples
    --------
    silosim plot study.h5 -o study.pdf
    """
    figure = output or run.with_suffix(".png")
    figure = figure if figure.suffix else figure.with_suffix(".png")
    check_ending(figure, FIGURES)
    check_new(figure, force=force)
    draw(run, figure)


def draw(run: Path, figure: Path) -> None:
    """Draw a run into a file, which is replaced if it exists, and say so."""
    # Here since matplotlib takes long to import.
    from scenarios.report.plots import plot_run

    record = read_run(run)
    scenario = recorded_scenario(record.scenario)
    network, links, _ = record.about.splitlines()
    plot_run(
        record,
        figure,
        title=f"{scenario.name}: {network}\n{links}",
        target_accuracy=scenario.target_accuracy,
        is_imported=scenario.is_imported,
    )
    print(f"written: {figure}", file=sys.stderr)
