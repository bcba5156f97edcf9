"""A run's time to a target accuracy at several access capacities: many replays in one table."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scenarios.config.network import describe
from scenarios.config.quantities import digits, format_rate
from scenarios.config.replay_changes import TARGET, ReplayChanges
from scenarios.report.closed_forms import estimates_note
from scenarios.report.engine_note import engine_note
from scenarios.report.tables import Column, Table, cycle_time_columns, note_lines
from scenarios.simulation.captions import simulation_caption
from scenarios.studies.relocation import RecordedRun, Relocation
from scenarios.studies.study_points import Row, with_speedup
from topologies import InputError
from topologies.errors import Field
from topologies.quantities import parse_quantity


def replay_times(
    source: Path, capacities: Sequence[str], changes: ReplayChanges
) -> tuple[Table, tuple[str, ...]]:
    """Replay a run at several access capacities.

    Parameters
    ----------
    source : Path
        The file of a run or of a replay that has training rows.
    capacities : sequence of str
        Of every access link, quantities with units, for instance ``"100 Mbps"``.
    changes : ReplayChanges
        What else differs from the run.

    Returns
    -------
    table : Table
        One row for each capacity, in ascending order, and overlay that can be replayed there. ``time_to_target_s`` is
        when the last silo starts the first round of a row with the target accuracy, or without a target of the last
        row; None where no row has it. ``speedup`` is the STAR's divided by the overlay's, as in
        `scenarios.report.run_table.run_table`.
    notes : tuple of str
        Once each what `scenarios.studies.replay.replay` returns.

    Raises
    ------
    InputError
        If the run has no training, no overlay that can be replayed reaches the target, or as
        `scenarios.studies.replay.replay`.
    """
    if not capacities:
        raise InputError("must have a capacity.", field=Field("access", value=[]))
    by_bps = {parse_quantity("access", text, "bit/s"): text for text in capacities}
    run = RecordedRun.open(source)
    _, scenario = run.changed(changes)
    target = run.goal(scenario)
    places = {bps: run.relocated(changes.with_access(by_bps[bps])) for bps in sorted(by_bps)}
    if not any(there.overlays for there in places.values()):
        next(iter(places.values())).check_some()
    goal = _goal(run, list(places.values()), target)
    notes: list[str] = []
    rows: list[Row] = []
    for bps, there in places.items():
        found, short = _rows(there, bps, by_bps[bps], goal)
        rows += found
        notes += [*there.notes, *there.not_replayed, *short]
    first = next(iter(places.values()))
    return _table(first, rows, goal), tuple(dict.fromkeys(notes))


def _goal(run: RecordedRun, places: Sequence[Relocation], target: float | None) -> float | None:
    """The target accuracy, which some overlay that can be replayed must reach; None where times are to the last row."""
    if not any(overlay.history for overlay in run.record.overlays):
        raise InputError(
            "has no training rows, so there is no time to a target; silosim sweep compares cycle times.",
            source=str(run.path),
        )
    moved = [moved.recorded for there in places for moved in there.overlays if moved.recorded.history]
    left = {name: rule for there in places for name, rule in there.left.items()}
    rules = " ".join(" ".join(left.values()).split()).removesuffix(".")
    without = f"; not replayed: {rules}." if left else "."
    if not moved:
        raise InputError(f"no overlay with training rows can be replayed{without}", source=str(run.path))
    if target is not None and all(overlay.first_row_at(target) is None for overlay in moved):
        highest = {
            overlay.kind: float(np.nan_to_num(overlay.history["test_accuracy"]).max()) for overlay in moved
        }
        best = max(highest, key=lambda kind: highest[kind])
        which = "an overlay that can be replayed" if left else "an overlay"
        raise InputError(
            f"must be reached by {which}; the highest test accuracy {'of these ' if left else ''}in {run.path} is "
            f"{best}'s {highest[best]:.4g}{without}",
            field=Field(TARGET, value=target),
        )
    return target


def _rows(there: Relocation, bps: float, text: str, goal: float | None) -> tuple[list[Row], list[str]]:
    """Rows at one capacity, and sentences on overlays with too few rounds."""
    rows: list[Row] = []
    short: list[str] = []
    for moved in there.overlays:
        outcome = there.simulate(moved, title=f"{text} ")
        short += there.short(moved, outcome)
        hub = moved.recorded.hub
        rounds, time_s = moved.reached(outcome, goal) or (None, None)
        rows.append(
            {
                "access_bps": bps,
                "overlay": moved.kind,
                "hub": None if hub is None else there.graph.labels[hub],
                "simulated_s": outcome.steady.cycle_time_s,
                "simulated_is_exact": outcome.steady.is_exact,
                "simulated_half_width_s": outcome.half_width_s,
                "simulated_rounds": outcome.rounds,
                "engine": outcome.engine,
                "rounds_to_target": rounds,
                "time_to_target_s": time_s,
            }
        )
    return with_speedup(rows), short


def _table(there: Relocation, rows: Sequence[Row], goal: float | None) -> Table:
    """The table; the place is any of them."""
    scenario = there.scenario
    columns, unit = cycle_time_columns(rows, {"simulated_s": "simulated"})
    untrained = {each.kind for each in there.run.record.overlays if not each.history}
    never = dict.fromkeys(str(row["overlay"]) for row in rows if row["time_to_target_s"] is None)
    dashes = {
        ("never reaches it", "never reach it"): [kind for kind in never if kind not in untrained],
        ("has no training rows", "have no training rows"): [kind for kind in never if kind in untrained],
    }
    missing = "target" if scenario.target_accuracy is None else "test"
    to = f"the last recorded round, as there is no {missing} accuracy"
    to = to if goal is None else f"a test accuracy of {goal:g}"
    title = f"{there.run.path}: {' '.join(scenario.name.split())}"
    star = ", vs STAR" if any(row["speedup"] is not None for row in rows) else ""
    return Table(
        caption=f"{title}\n{describe(there.graph, there.work, access=False)}\n"
        f"{simulation_caption(scenario.simulation, scenario.simulation.sharing, seed=scenario.seed)}",
        columns=(
            Column(key="access_bps", title="access", show=format_rate),
            Column(key="overlay", title="overlay"),
            *columns,
            Column(key="rounds_to_target", title="rounds"),
            Column(key="time_to_target_s", title="time (s)", show=digits),
            *([Column(key="speedup", title="vs STAR", show="{:.2f}x".format)] if star else []),
        ),
        rows=rows,
        notes=note_lines(
            f"simulated: cycle time in {unit}. rounds, time{star}: to {to}.",
            *(
                f"-: {', '.join(kinds)} {one if len(kinds) == 1 else several}."
                for (one, several), kinds in dashes.items()
                if kinds
            ),
            *estimates_note(rows).splitlines()[1:],
            *there.graph.underlay.notes,
            *engine_note((str(row["overlay"]), str(row["engine"])) for row in rows),
        ),
        further={"target_accuracy": goal},
    )
