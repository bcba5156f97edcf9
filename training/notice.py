"""Messages of a backend to the user, and history and messages as lines of text for a pipe between processes."""

import json
from dataclasses import dataclass

from training.history import HistoryRow


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to the user: a choice that the backend made, or what it needs.

    Parameters
    ----------
    text : str
        One line or more, without a newline at the end. It is printed above the progress bar and written to the file of
        the run.
    detail : str, optional
        Further lines, similar for all trainings of a run: printed and written for the first one only.
    """

    text: str
    detail: str = ""

    @property
    def whole(self) -> str:
        """Text and detail."""
        return f"{self.text}\n{self.detail}" if self.detail else self.text


Report = HistoryRow | Notice
"""Item that a backend yields."""


def to_line(report: Report) -> str:
    """Return a report as one line: a JSON object for a row, a JSON array of texts for a notice."""
    return json.dumps([report.text, report.detail]) if isinstance(report, Notice) else report.to_json()


def from_line(line: str) -> Report:
    """Return the report that `to_line` wrote."""
    return Notice(*json.loads(line)) if line.startswith("[") else HistoryRow.from_json(line)
