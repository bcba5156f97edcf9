"""Points of a study that are trained: a run for each, and its rows with what the training reached."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenarios.report.column_labels import value_text
from scenarios.runfile.artifacts import drop_checkpoints
from scenarios.runfile.checkpoint_folders import has_checkpoint
from scenarios.runfile.paths import partial_path
from scenarios.runfile.reader import read_run
from scenarios.studies.replay_points import compute_replays
from scenarios.studies.run import run_scenario
from scenarios.studies.study_points import Point, PointResult, ReplayOf, error_text, result_of
from topologies import InputError, TrainingError
from topologies.errors import Field
from training import world

FINAL = ("train_loss", "test_loss", "test_accuracy", "consensus_distance")
"""Metrics of a run's last row that are columns."""
COLUMNS = tuple(f"final_{name}" for name in FINAL)


def run_path(table: Path, point: Point) -> Path:
    """File of a point's run: ``study-point-1a2b3c4d5e6f7a8b.h5`` beside ``study.csv``, named by its identity."""
    return table.with_name(f"{table.stem}-point-{point.identity}.h5")


def check_alone() -> None:
    """Raise an `InputError` under an outer launcher of several processes: each run would wait for all of them."""
    place = world()
    if place is not None and place.size > 1:
        raise InputError("goes without an outer launcher.", field=Field("study", "train", value=True))


def compute_trained(
    points: Sequence[Point],
    take: Callable[[PointResult], None],
    *,
    table: Path,
    source: str,
    anew: bool,
) -> None:
    """Train points one after the other.

    Parameters
    ----------
    points : sequence of Point
        Those that are left, each with the text of its scenario.
    take : callable
        Takes the result of each when it is there.
    table : Path
        The study's, beside which the files of the runs are.
    source : str
        The study's file, for messages.
    anew : bool
        Whether runs that are there are trained again.

    Raises
    ------
    MachineError
        If the machine lacks what a training needs.
    KeyboardInterrupt
        After Ctrl-C.

    Notes
    -----
    A run that is complete is not trained again, and one with checkpoints goes on from them. A scenario that is wrong,
    or a training that diverges, is a row with its error.
    """
    if anew:
        for point in points:  # an interruption would leave those that are not trained again
            run_path(table, point).unlink(missing_ok=True)
            drop_checkpoints(run_path(table, point))
    for number, point in enumerate(points, 1):
        path = run_path(table, point)
        where = ", ".join(f"{name} {value_text(name, value)}" for name, value in point.varied.items())
        print(f"point {number} of {len(points)}, {where}: {path}", file=sys.stderr)
        try:
            _train(point, path, source)
        except (InputError, TrainingError) as problem:
            take(result_of(point, [{"error": error_text(problem)}]))
            continue
        take(_with_final_rows(replace(point, replay=ReplayOf(path=path, network_keys=frozenset())), path))


def _train(point: Point, path: Path, source: str) -> None:
    """Train a point, unless its run is complete; what one without checkpoints has left is replaced."""
    if path.exists() and not partial_path(path).exists():
        drop_checkpoints(path)  # a kill may have come between the last row and their removal
        return
    goes_on = has_checkpoint(path)
    run_scenario(point.scenario, point.text, path, resume=goes_on, force=not goes_on, source=source)


def _with_final_rows(point: Point, path: Path) -> PointResult:
    """Result of a point whose run is there."""
    (result,) = compute_replays([point])
    finals = {each.kind: dict(_final(each.history)) for each in read_run(path).overlays}
    return replace(result, rows=[{**row, **finals.get(row.get("overlay", ""), {})} for row in result.rows])


def _final(history: Any) -> Iterator[tuple[str, float]]:
    for name, column in zip(FINAL, COLUMNS, strict=True):
        if len(history.get(name, ())):
            yield column, float(history[name][-1])
