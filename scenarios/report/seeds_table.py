"""The table of a scenario's runs with several seeds: means with their intervals."""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from scenarios.config.quantities import format_mean
from scenarios.report.tables import Column, Row, Table, note_lines
from scenarios.runfile.reader import OverlayRecord, RunRecord
from topologies.regular_files import regular
from topologies.statistics import batch_means

MEASURES = {
    "simulated_s": "cycle time (s)",
    "train_loss": "loss",
    "test_accuracy": "accuracy",
    "rounds_to_target": "rounds",
    "time_to_target_s": "time (s)",
}
"""What the table has a mean of, with the heads of its columns; the loss has none, for want of room."""


def seeds_table(
    runs: Mapping[int, RunRecord],
    caption: str,
    target_accuracy: float | None,
    *,
    events: Sequence[str] = (),
) -> Table:
    """Mean and 95 % interval over seeds, of each overlay.

    Parameters
    ----------
    runs : mapping of int to RunRecord
        The runs of one scenario by their seeds; training losses and accuracies are those of the last row.
    caption : str
    target_accuracy : float or None
    events : sequence of str
        What is said of those of the simulation.

    Returns
    -------
    Table
        ``<measure>_mean`` and ``<measure>_half_width`` of each of `MEASURES`: Student's interval of independent runs,
        None for a single one. A mean to the target is None unless all runs reach it; ``reached`` says how many do.
        Beside the rows, ``runs`` are the values of each seed and overlay.
    """
    kinds = [overlay.kind for overlay in next(iter(runs.values())).overlays]
    values = [
        {"seed": seed, "overlay": overlay.kind, **_measures(overlay, target_accuracy)}
        for seed, record in runs.items()
        for overlay in record.overlays
    ]
    rows = [_row(kind, [row for row in values if row["overlay"] == kind]) for kind in kinds]
    shown = [
        name for name in MEASURES if name != "train_loss" and any(row[name] is not None for row in values)
    ]
    notes = [f"mean +- 95 % interval of Student's distribution over seeds {_list(list(runs))}."]
    if not all(row["is_exact"] for row in rows):
        notes.append(
            "~: estimated in some runs from rounds that show no period; the interval is that over seeds alone."
        )
    if "rounds_to_target" in shown:
        notes.append(f"rounds, time: to a test accuracy of {target_accuracy:g}, where all runs reach it.")
    return Table(
        caption=caption,
        columns=(
            Column(key="overlay", title="overlay"),
            *(Column(key=f"{name}_text", title=MEASURES[name]) for name in shown),
            *([Column(key="reached", title="reached")] if "rounds_to_target" in shown else []),
        ),
        rows=rows,
        notes=note_lines(*notes, *events),
        further={"seeds": list(runs), "target_accuracy": target_accuracy, "runs": values},
        summaries=[f"{name}_text" for name in MEASURES],
    )


def _measures(overlay: OverlayRecord, target_accuracy: float | None) -> dict[str, float | None]:
    """Values of one run of an overlay by the names of `MEASURES`, and whether its cycle time is exact."""
    at = None if target_accuracy is None else overlay.first_round_at(target_accuracy)
    last = {
        name: float(rows[-1]) for name, rows in overlay.history.items() if np.ndim(rows) == 1 and len(rows)
    }
    return {
        "simulated_s": overlay.simulation.cycle_time_s,
        "is_exact": overlay.simulation.is_exact,
        **{name: last.get(name) for name in ("train_loss", "test_accuracy")},
        "rounds_to_target": None if at is None else float(at[0]),
        "time_to_target_s": None if at is None else at[1],
    }


def _row(kind: str, values: Sequence[Row]) -> Row:
    """One overlay's row."""
    row: dict[str, object] = {"overlay": kind, "seeds": len(values)}
    for name in MEASURES:
        samples = [value[name] for value in values if value[name] is not None]
        mean, half = None, None
        if len(samples) == len(values):
            mean = float(np.mean(samples))
            if len(samples) > 1:
                half = batch_means(samples, batches=len(samples)).half_width
        row |= {f"{name}_mean": mean, f"{name}_half_width": half}
        row[f"{name}_text"] = None if mean is None else format_mean(mean, half)
    row["is_exact"] = all(value["is_exact"] for value in values)
    if not row["is_exact"] and row["simulated_s_text"] is not None:
        row["simulated_s_text"] = f"~{row['simulated_s_text']}"
    row["reached"] = sum(value["rounds_to_target"] is not None for value in values)
    return row


def _list(seeds: Sequence[int]) -> str:
    """Seeds in few words."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def is_seeds_table(path: Path) -> bool:
    """Whether a CSV file is a table of seeds, by its head."""
    try:
        with regular(path).open(encoding="utf-8", newline="") as file:
            head = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    return {"overlay", "seeds", "reached", *(f"{name}_mean" for name in MEASURES)} <= set(head)


def differs_from(path: Path, table: Table) -> bool:
    """Whether a CSV file of a table of seeds has other values than a table, by more than the order of sums decides."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    keys = [key for key in table.fields() if key not in table.summaries]
    return len(rows) != len(table.rows) or not all(
        _is_same(row.get(key), ours[key]) for row, ours in zip(rows, table.rows, strict=True) for key in keys
    )


def _is_same(cell: str | None, value: object) -> bool:
    """Whether a cell holds a value."""
    if not isinstance(value, float) or not cell:
        return cell == ("" if value is None else str(value))
    try:
        return math.isclose(float(cell), value, abs_tol=1e-12)
    except ValueError:
        return False
