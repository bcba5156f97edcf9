"""Tables that compare the overlays of a run."""

import math
from collections.abc import Sequence

from scenarios.record import RunRecord
from scenarios.tables import Column, Row, Table, cycle_time_columns, percent
from scenarios.units import digits
from topologies import ClosedForms

FORMS = {"paper_s": "paper", "serialized_s": "serialized", "load_bound_s": "load"}


def forms_note(unit: str) -> str:
    """Two lines on the closed forms, below every table that has them."""
    return (
        f"cycle times in {unit}. paper: Eq. 3 to 5. serialized: an arc sends one model\n"
        "after the other. load: busiest link, a lower bound of every fair sharing."
    )


def estimates_note(rows: Sequence[Row]) -> str:
    """A further line on estimated cycle times, where a table has any."""
    if all(row["simulated_s"] is None or row["simulated_is_exact"] for row in rows):
        return ""
    return "\n~: estimated from the last rounds, which show no period."


def form_fields(forms: ClosedForms) -> dict[str, float | None]:
    """Closed forms as fields of a row; None where an overlay that is drawn anew each round has none."""
    return {key: None if math.isnan(getattr(forms, key)) else getattr(forms, key) for key in FORMS}


def gap(simulated_s: float | None, paper_s: float) -> float | None:
    """How far a simulated cycle time lies above the `paper` one, as a fraction."""
    return None if simulated_s is None or paper_s == 0 else simulated_s / paper_s - 1


def run_table(record: RunRecord, caption: str, target_accuracy: float | None) -> Table:
    """Cycle times of a run's overlays, and when each reaches the target accuracy.

    Parameters
    ----------
    record : RunRecord
    caption : str
    target_accuracy : float or None
        Test accuracy of the average model; None where nothing was trained.

    Returns
    -------
    Table
        ``gap`` is how far the simulated cycle time lies above the `paper` one. ``speedup`` is the STAR's time to the
        target accuracy divided by the overlay's; None where either never reaches it.
    """
    reached = {
        overlay.kind: None if target_accuracy is None else overlay.first_round_at(target_accuracy)
        for overlay in record.overlays
    }
    star = reached.get("star")
    rows: list[Row] = []
    for overlay in record.overlays:
        forms, simulated_s, at = overlay.closed_forms, overlay.simulated_s, reached[overlay.kind]
        rows.append(
            {
                "overlay": overlay.kind,
                **form_fields(forms),
                "simulated_s": simulated_s,
                "simulated_is_exact": overlay.simulated_is_exact,
                "gap": gap(simulated_s, forms.paper_s),
                "rounds_to_target": at[0] if at else None,
                "seconds_to_target": at[1] if at else None,
                "speedup": star[1] / at[1] if star and at and at[1] > 0 else None,
                "busiest_link": overlay.busiest_link,
            }
        )
    columns, unit = cycle_time_columns(rows, FORMS | {"simulated_s": "simulated"})
    trained: list[Column] = []
    notes = f"{forms_note(unit)}\ngap: simulated over paper."
    if target_accuracy is not None:
        notes += f" rounds, time, vs STAR: to a test accuracy of {target_accuracy:g}."
        trained = [
            Column(key="rounds_to_target", title="rounds"),
            Column(key="seconds_to_target", title="time (s)", show=digits),
            Column(key="speedup", title="vs STAR", show="{:.2f}x".format),
        ]
    return Table(
        caption=caption,
        columns=(
            Column(key="overlay", title="overlay"),
            *columns,
            Column(key="gap", title="gap", show=percent, exact="simulated_is_exact"),
            *trained,
        ),
        rows=rows,
        notes=notes + estimates_note(rows),
    )
