"""The command that computes a study."""

import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.config.study import load_study
from scenarios.runfile.paths import partial_path
from scenarios.runtime.launcher import EXIT_TRAINING, call_others
from scenarios.runtime.workers import mpi_pool, process_pool, worker_count
from scenarios.studies.study import run_study
from training import world


def study(
    file: Annotated[
        Path, typer.Argument(metavar="STUDY", help="TOML file: a scenario, and [study] with what varies.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Table to write: FILE.csv or FILE.parquet.")],
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that compute points. [default: one for each processor]"),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Compute a grid of points into one table.

    Each point is the scenario with other values of some of its keys; closed forms of all overlays, simulations where
    [study] says so. A study that was cut short goes on with the same command. Under mpiexec its processes are the
    workers.

    Examples
    --------
    silosim study study.toml -o study.csv
    silosim study study.toml -o study.csv --workers 8
    """
    place = world()
    if place is not None and place.rank > 0:
        with mpi_pool():
            return
    count = worker_count(workers)
    wanted = load_study(file)
    try:
        if place is not None and place.size > 1:
            errors = run_study(wanted, output, pool=_called_pool(), workers=place.size - 1, force=force)
        else:
            errors = run_study(wanted, output, pool=process_pool(count), workers=count, force=force)
    except KeyboardInterrupt:
        partial = partial_path(output)
        if partial.exists():
            print(f"silosim: the finished points are in {partial}; the same command goes on", file=sys.stderr)
        raise
    print(f"written: {output}", file=sys.stderr)
    for error in errors:
        print(f"silosim: error: {error}", file=sys.stderr)
    if errors:
        raise typer.Exit(EXIT_TRAINING)


@contextmanager
def _called_pool() -> Iterator[Executor | None]:
    """The other processes as workers, once they are called."""
    call_others()
    with mpi_pool() as pool:
        yield pool
