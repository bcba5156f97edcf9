"""Closed forms in tables: fields of rows, marks and notes."""

import math
from collections.abc import Sequence

from scenarios.report.tables import Row
from topologies import ClosedForms
from topologies.rounding import exceeds

FORMS = {"paper_s": "paper", "serialized_s": "serialized", "load_bound_s": "load"}
"""Fields of the closed forms, and their heads."""
FORM_FIELDS = {head: field for field, head in FORMS.items()}
"""The other way round."""
_ESTIMATED = "~: estimated from the last rounds, which show no period"
ESTIMATED = f"{_ESTIMATED}; so is what is over paper."
"""Note on estimated cycle times, in a table of what is over paper."""


def forms_note(unit: str, rows: Sequence[Row]) -> str:
    """Two lines on the closed forms for the notes of a table, and one on cycle times that no network can reach."""
    lines = [
        f"cycle times in {unit}. paper: Eq. 3 to 5. serialized: an arc sends one model",
        "after the other. load: busiest link, a lower bound of every fair sharing.",
    ]
    if any(row["paper_below_load"] for row in rows):
        lines.append("!: paper is below load, which no network can do: do not count on it.")
    return "\n".join(lines)


def below_load(paper_s: float | None, load_bound_s: float | None) -> bool:
    """Whether a `paper` cycle time is shorter than the busiest link allows; False where either is unknown."""
    return paper_s is not None and load_bound_s is not None and exceeds(load_bound_s, paper_s)


def estimates_note(rows: Sequence[Row]) -> str:
    """A further line on estimated cycle times, where a table has any."""
    if all(row["simulated_s"] is None or row["simulated_is_exact"] for row in rows):
        return ""
    return f"\n{ESTIMATED}" if any("over_paper" in row for row in rows) else f"\n{_ESTIMATED}."


def form_fields(forms: ClosedForms) -> dict[str, float | bool | None]:
    """Closed forms as fields of a row; None for those that a randomized overlay lacks."""
    fields = {key: None if math.isnan(getattr(forms, key)) else getattr(forms, key) for key in FORMS}
    return fields | {"paper_below_load": below_load(fields["paper_s"], fields["load_bound_s"])}


def over_paper(simulated_s: float | None, paper_s: float) -> float | None:
    """How far a simulated cycle time lies above the `paper` one, as a fraction."""
    return None if simulated_s is None or paper_s == 0 else simulated_s / paper_s - 1
