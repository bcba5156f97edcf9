"""The command that draws a run, or the table of a study."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.config.scenario import recorded_scenario
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle, figure_style
from scenarios.report.tables import note_lines
from scenarios.runfile.claims import claimed
from scenarios.runfile.file_checksum import unverified
from scenarios.runfile.paths import RUN_ENDINGS, check_ending, ending_of, final_path
from scenarios.runfile.reader import RunRecord, is_hdf5, read_run
from scenarios.runfile.study_table import ENDINGS
from topologies import InputError
from topologies.errors import Field
from topologies.regular_files import is_file


def plot(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|STUDY",
            help="HDF5 file of a run, or table of a study (.csv, .parquet); also the .partial of either.",
        ),
    ],
    x: Annotated[
        str | None,
        typer.Option(
            "-x", "--x", help="Column of the study. [default: the first with numbers that the study varies]"
        ),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option("-y", "--y", help="Column with numbers. [default: simulated_s, else paper_s]"),
    ] = None,
    facet: Annotated[
        str | None,
        typer.Option(
            help="Column with a panel for each value. [default: what else varies, if that is one key]"
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Only rows with this value: 'access_bps=1 Gbps', 'overlay=ring'. Repeat for several.",
        ),
    ] = None,
    log_x: Annotated[
        bool | None,
        typer.Option(
            "--log-x/--linear-x",
            help="[default: logarithmic where values span more than a decade]",
            show_default=False,
        ),
    ] = None,
    log_y: Annotated[
        bool | None, typer.Option("--log-y/--linear-y", help="Likewise.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="PNG, PDF or SVG. [default: the file's name with .png]"),
    ] = None,
    width: opt.Width = None,
    force: opt.Force = False,
    no_verify: opt.NoVerify = False,
) -> None:
    """Draw a run, or any columns of a study's table.

    Of a run, loss and accuracy over rounds and over time. Of a study, a line for each overlay: a mean with a band where
    there are several seeds, and the paper's cycle time as a thin line.

    Examples
    --------
    silosim plot run.h5 -o run.pdf
    silosim plot study.csv -x local_steps --where "access_bps=1 Gbps" -o study.pdf
    """
    name = final_path(file)
    figure = output or name.with_suffix(".png")
    figure = figure if ending_of(figure) else figure.with_name(f"{figure.name}.png")
    style = figure_style(width) or DEFAULT_STYLE
    options = {"x": x, "y": y, "facet": facet, "where": where, "log_x": log_x, "log_y": log_y}
    if name.suffix.lower() not in ENDINGS:
        for option, value in options.items():
            if value is not None:
                raise InputError(
                    f"goes with the table of a study ({' or '.join(ENDINGS)}).",
                    field=Field(option, value=value),
                )
        _check_drawable(file)
        check_ending(figure, FIGURES)
        with claimed([figure], force=force), unverified(no_verify):
            draw(file, figure, style)
        return
    # Here since matplotlib takes long to import.
    from scenarios.report.study_plot import plot_study

    notes = plot_study(
        file,
        figure,
        x=x,
        y=y,
        facet=facet,
        where=_by_column(where or []),
        log_x=log_x,
        log_y=log_y,
        force=force,
        style=style,
    )
    for note in notes:
        print(note_lines(note), file=sys.stderr)
    print(f"written: {figure}", file=sys.stderr)


def _check_drawable(file: Path) -> None:
    """Raise an `InputError` for a file that is neither that of a run nor, by its name, the table of a study."""
    if is_file(file) and not is_hdf5(file):
        run, table = " or ".join(RUN_ENDINGS), " or ".join(ENDINGS)
        raise InputError(
            f"must be the HDF5 file of a run ({run}) or the table of a study ({table}).", source=str(file)
        )


def _by_column(texts: list[str]) -> dict[str, list[object]]:
    """Values of columns, of texts such as ``local_steps=5``."""
    values: dict[str, list[object]] = {}
    for text in texts:
        column, separator, value = text.partition("=")
        if not separator:
            raise InputError(
                "must be COLUMN=VALUE, for instance 'access_bps=1 Gbps'.", field=Field("where", value=text)
            )
        values.setdefault(column.strip(), []).append(value.strip())
    return values


def draw(run: Path, figure: Path, style: FigureStyle = DEFAULT_STYLE) -> None:
    """Draw a run into a file, which is replaced if it exists, and say so."""
    draw_record(read_run(run), figure, style)


def draw_record(record: RunRecord, figure: Path, style: FigureStyle = DEFAULT_STYLE) -> None:
    """As `draw`, of a run whose file has been read."""
    # Here since matplotlib takes long to import.
    from scenarios.report.plots import plot_run

    scenario = recorded_scenario(record.scenario)
    network, links, _ = record.about.splitlines()
    plot_run(
        record,
        figure,
        title=f"{scenario.name}: {network}\n{links}",
        target_accuracy=scenario.target_accuracy,
        is_imported=scenario.is_imported,
        style=style,
    )
    print(f"written: {figure}", file=sys.stderr)
