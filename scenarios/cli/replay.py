"""The command that replays a run's training on another network."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.plot import draw
from scenarios.cli.show import show
from scenarios.report.tables import note_lines
from scenarios.runfile.paths import check_new, check_new_run
from scenarios.runfile.reader import read_run
from scenarios.studies.replay import replay as replay_run


def replay(
    run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")],
    underlay: Annotated[str | None, typer.Option(help="Another network with as many silos.")] = None,
    access: Annotated[
        str | None, typer.Option(help="Other capacity of every access link, with unit.")
    ] = None,
    access_at: opt.AccessAt = None,
    silo_at: opt.SiloAt = None,
    blocked: opt.Blocked = None,
    core: Annotated[str | None, typer.Option(help="Other capacity of every core link, or 'stated'.")] = None,
    internal_only: opt.InternalOnly = False,
    largest_component: opt.LargestComponent = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="HDF5 file to write. [default: RUN-replay.h5]")
    ] = None,
    engine: opt.Engine = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Replay a run on another network: new times, no training.

    The rows of the training stay as they are; their wall-clock times and the picture are those of the other network.

    Examples
    --------
    silosim replay study.h5 --access "100 Mbps" -o slow.h5
    """
    changes = {
        "underlay": underlay,
        "access": access,
        "access_at": opt.by_silo("access_at", access_at, opt.CAPACITY_AT),
        "silo_at": silo_at,
        "blocked": blocked,
        "core": core,
        "internal_only": internal_only or None,
        "largest_component": largest_component or None,
    }
    path = output or run.with_name(f"{run.stem}-replay.h5")
    picture = path.with_suffix(".png")
    check_new_run(path, force=force)
    if _is_trained(run):
        check_new(picture, force=force)
    left = replay_run(run, path, changes, force=force, engine=engine)
    show(path, as_json)
    for sentence in left:
        print(note_lines(sentence), file=sys.stderr)
    if _is_trained(path):
        draw(path, picture)


def _is_trained(run: Path) -> bool:
    """Whether a run has rows of a training, and so a picture."""
    return any(overlay.history for overlay in read_run(run).overlays)
