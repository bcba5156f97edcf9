"""Rows of metrics, as every reader of a format gives them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsRow:
    """One line or record.

    Parameters
    ----------
    source : str
        File and line, for error messages.
    values : mapping
        Column or tag to value: a number, a text that may be one, or None where there is none.
    """

    source: str
    values: Mapping[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsRows:
    """Rows that can be gone through several times, so that a large file is never held as a whole.

    Parameters
    ----------
    start : callable
        Begins a new walk through the rows, in the order of the file.
    columns : mapping
        Field of `HistoryRow` to the columns that the format has for it, the preferred first. Empty where only names
        tell.
    notes : tuple of str
        Sentences on how the file was read.
    """

    start: Callable[[], Iterator[MetricsRow]]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[MetricsRow]) -> Self:
        """Rows that are in memory."""
        return cls(start=lambda: iter(rows))

    def __iter__(self) -> Iterator[MetricsRow]:
        return self.start()
