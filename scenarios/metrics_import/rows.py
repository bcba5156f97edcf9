"""Rows of metrics that another program wrote, as they stand in its file."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsRow:
    """One line or record.

    Parameters
    ----------
    source : str
        File and line, for error messages.
    values : mapping
        Column or tag to value: a number, a text that may be one, or None where nothing stands.
    """

    source: str
    values: Mapping[str, object]
