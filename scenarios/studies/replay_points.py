"""Points of a study that replay a run: closed forms, simulations and times to the target of the run's overlays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.scenario import Scenario
from scenarios.config.study import Study
from scenarios.runfile.reader import OverlayRecord
from scenarios.studies.relocation import RecordedRun, Relocation, relocate, with_files_beside
from scenarios.studies.study_points import (
    Point,
    PointResult,
    ReplayOf,
    Row,
    design_fields,
    error_text,
    input_fields,
    result_of,
    simulation_fields,
    unsaid_fields,
    with_speedup,
)

COLUMNS = ("target_accuracy", "rounds_to_target", "time_to_target_s")
"""Columns of a replay beside those of a simulation."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ReplayStudy:
    """A study of replays.

    Attributes
    ----------
    study : Study
    run : RecordedRun
    """

    study: Study
    run: RecordedRun

    @property
    def overlays(self) -> int:
        """Rows of each point."""
        return len(self.run.record.overlays)

    def scenario(self, changes: Mapping[str, Any]) -> Scenario:
        """The scenario of a point; see `Study.replayed`."""
        scenario = with_files_beside(self.run.path.parent, self.study.replayed(changes, self.run.tables))
        self.run.goal(scenario)  # an error is that of the study, not of each point
        return scenario

    def of(self, changes: Mapping[str, Any]) -> ReplayOf:
        """What a point replays."""
        return ReplayOf(path=self.run.path, network_keys=self.study.network_keys(changes))


def open_replays(study: Study) -> ReplayStudy | None:
    """Read the run that a study replays; None where it replays none.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    return None if study.run is None else ReplayStudy(study=study, run=RecordedRun.open(study.run))


def compute_replays(points: Sequence[Point], study: str = "") -> list[PointResult]:
    """Compute some points one after the other; as `scenarios.studies.study_points.compute_points`.

    Parameters
    ----------
    points : sequence of Point
        Each with the run that it replays.
    study : str
        Name of the study, in which the run is read once.

    Returns
    -------
    list of PointResult
        In their order. An overlay that cannot be replayed is a row with its error beside those of the others.
    """
    results = []
    for point in points:
        assert point.replay is not None
        try:
            run = _run_of(study, point.replay.path) if study else RecordedRun.open(point.replay.path)
            there = relocate(run, point.scenario, point.replay.network_keys)
            unsaid = unsaid_fields(point.unsaid, there.graph, there.work)
            rows = with_speedup([unsaid | _row(there, recorded) for recorded in run.record.overlays])
        except Exception as problem:
            rows = [{"error": error_text(problem)}]
        results.append(result_of(point, rows))
    return results


def check_replay(point: Point) -> None:
    """Raise an `InputError` if the run cannot be replayed there at all; single overlays that cannot are no error."""
    assert point.replay is not None
    relocate(RecordedRun.open(point.replay.path), point.scenario, point.replay.network_keys)


@lru_cache(maxsize=1)
def _run_of(study: str, path: Path) -> RecordedRun:  # noqa: ARG001
    """The run of a study in this process; another study reads its file anew."""
    return RecordedRun.open(path)


def _row(there: Relocation, recorded: OverlayRecord) -> Row:
    """Row of one overlay, with the error where it cannot be replayed."""
    scenario, graph = there.scenario, there.graph
    configs = {config.name: config for config in scenario.overlays.overlays}
    row = input_fields(
        scenario, graph, there.work, configs.get(recorded.kind, OverlayConfig(kind=recorded.kind))
    )
    moved = next((each for each in there.overlays if each.recorded is recorded), None)
    if moved is None:
        return row | {"error": " ".join(there.left[recorded.kind].split())}
    try:
        row |= design_fields(moved.overlay, scenario.seed)
        outcome = there.simulate(moved, title=None)
    except Exception as problem:
        return row | {"error": error_text(problem)}
    goal = there.run.goal(scenario)
    reached = moved.reached(outcome, goal)
    times = (None, None) if reached is None else reached
    return (
        row
        | simulation_fields(scenario.simulation, outcome, row["paper_s"])
        | dict(zip(COLUMNS, (goal, *times), strict=True))
    )
