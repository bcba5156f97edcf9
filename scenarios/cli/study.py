"""The command that computes a study."""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.plot import draw
from scenarios.cli.run import run_and_report
from scenarios.cli.show import show
from scenarios.config.error_context import located
from scenarios.config.study import (
    FigureConfig,
    StudyConfig,
    StudyText,
    TrainedStudy,
    find_study,
    parse_study,
    parse_trained,
    study_presets,
)
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle, figure_style
from scenarios.report.run_table import FIELDS
from scenarios.report.table_formats import print_table, print_text, write_tables
from scenarios.report.tables import Row, note_lines
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import check_new_run, partial_path
from scenarios.runfile.study_table import table_rows
from scenarios.runtime.launcher import EXIT_TRAINING, call_others, is_first
from scenarios.runtime.workers import mpi_pool, process_pool, worker_count
from scenarios.studies.run_summary import run_summary
from scenarios.studies.study import run_study
from scenarios.studies.study_comparison import check_published, comparison
from topologies import InputError
from training import world


def study(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY",
            help="TOML file: a scenario, and [study] with what varies; or one of the paper's: "
            f"{', '.join(study_presets())}.",
        ),
    ],
    context: typer.Context,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Table to write: FILE.csv or FILE.parquet. [default: STUDY.csv]"),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that compute points. [default: one for each processor]"),
    ] = None,
    engine: opt.Engine = None,
    width: opt.Width = None,
    force: opt.Force = False,
    as_toml: Annotated[
        bool,
        typer.Option("--toml", help="Print the study's file, to make one of your own from it, and stop."),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Compute a grid of points into one table.

    Each point is the scenario with other values of some of its keys; closed forms of all overlays, simulations and
    trainings where [study] says so. A study that was cut short goes on with the same command. Under mpiexec its
    processes are the workers. One with [training] and nothing that varies is trained once, and writes the file of a
    run.

    Examples
    --------
    silosim study study.toml -o study.csv
    silosim study paper-fig3a
    """
    found = find_study(file)
    if as_toml:
        print_text(found.text.rstrip("\n"))
    elif found.trains:
        path = output or Path(f"{found.name}.h5")
        _train(parse_trained(found), path, found.source, engine, figure_style(width), force, as_json, context)
    else:
        _compute(found, output or Path(f"{found.name}.csv"), workers, engine, width, force, as_json, context)


def _compute(
    found: StudyText,
    output: Path,
    workers: int | None,
    engine: str | None,
    width: str | None,
    force: bool,
    as_json: bool,
    context: typer.Context,
) -> None:
    """Compute the points of a study."""
    place = world()
    if place is not None and place.rank > 0:
        with mpi_pool():
            return
    count = worker_count(workers)
    wanted = parse_study(found.text, source=found.source, folder=found.folder).simulated_by(engine)
    style = figure_style(width, draws=wanted.config.figure is not None)
    compared = _compared_path(output, wanted.config)
    picture = None if wanted.config.figure is None else output.with_suffix(".png")
    _claim(context, output, (compared, picture), force)
    try:
        if place is not None and place.size > 1:
            outcome = run_study(wanted, output, pool=_called_pool(), workers=place.size - 1, force=force)
        else:
            outcome = run_study(wanted, output, pool=process_pool(count), workers=count, force=force)
    except KeyboardInterrupt:
        partial = partial_path(output)
        if partial.exists():
            print(f"silosim: the finished points are in {partial}; the same command goes on", file=sys.stderr)
        raise
    errors = outcome.errors
    complete = f"complete already, nothing is computed: {output}"
    print(f"written: {output}" if outcome.is_written else complete, file=sys.stderr)
    try:
        if compared is not None:
            _compare(wanted.config, table_rows(output), compared, as_json)
        if picture is not None and wanted.config.figure is not None:
            _draw(wanted.config.figure, output, picture, style or DEFAULT_STYLE)
    except InputError as problem:
        # A table of nothing but errors has no figure: the errors say why.
        if not errors:
            raise
        print(f"silosim: error: {problem}", file=sys.stderr)
    for error in errors:
        print(f"silosim: error: {error}", file=sys.stderr)
    if errors:
        raise typer.Exit(EXIT_TRAINING)


def _train(
    study: TrainedStudy,
    output: Path,
    source: str,
    engine: str | None,
    style: FigureStyle | None,
    force: bool,
    as_json: bool,
    context: typer.Context,
) -> None:
    """Train the scenario of a study, and draw its run."""
    with located(source):
        check_published(study.config.published, FIELDS)
    compared, picture = _compared_path(output, study.config), output.with_suffix(".png")
    if is_first():
        check_new_run(output, force=force)
        _claim(context, output, (compared, picture), force)
    run_and_report(study.scenario.simulated_by(engine), study.text, output, force=force, source=source)
    if is_first():
        show(output, as_json=as_json)
        draw(output, picture, style or DEFAULT_STYLE)
        if compared is not None:
            _compare(study.config, run_summary(output).rows, compared, as_json)


def _compared_path(output: Path, config: StudyConfig) -> Path | None:
    """Where the comparison with published figures is written; None without any."""
    return output.with_name(f"{output.stem}-published.csv") if config.published else None


def _claim(context: typer.Context, output: Path, paths: Sequence[Path | None], force: bool) -> None:
    """Keep files that are made of the table: of a study that goes on, or is complete, they are made anew."""
    there = [path for path in paths if path is not None]
    is_anew = force or output.exists() or partial_path(output).exists()
    context.with_resource(claimed(there, force=is_anew))


def _draw(figure: FigureConfig, table: Path, path: Path, style: FigureStyle) -> None:
    """Draw the table of a study."""
    # Here since matplotlib takes long to import.
    from scenarios.report.study_plot import draw_study

    for note in draw_study(table, path, style=style, **asdict(figure)):
        print(note_lines(note), file=sys.stderr)
    print(f"written: {path}", file=sys.stderr)


def _compare(config: StudyConfig, rows: Sequence[Row], path: Path, as_json: bool) -> None:
    """Print published figures beside those of the rows, and write them."""
    table = comparison(config.published, rows, title="Published figures and this study's:")
    print_table(table, as_json)
    write_tables(path, [table])
    print(f"written: {path}", file=sys.stderr)


@contextmanager
def _called_pool() -> Iterator[Executor | None]:
    """The other processes as workers, once they are called."""
    call_others()
    with mpi_pool() as pool:
        yield pool
