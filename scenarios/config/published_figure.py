"""Figures of a publication that a study is compared with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from topologies import InputError
from topologies.errors import Field
from topologies.quantities import parse_quantity

UNITS = {"_bps": "bit/s", "_bits": "bit", "_s": "s"}
"""Endings of columns with a unit."""

Cell = str | int | float | bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedFigure:
    """A table ``[[study.published]]``: a published figure, and the cell of the study's table that stands for it.

    Parameters
    ----------
    what : str
        What the figure is, with its place in the publication.
    at : mapping from column to value
        The row of the table, which no other one must match: quantities with units or as plain numbers.
    column : str
        The column.
    over : mapping from column to value, optional
        Columns in which another row differs from `at`: the figure is the ratio of that row's value to this row's.
    value : str or float
        The published figure: a quantity with its unit, or a ratio.
    relation : {"equal", "above", "below"}
        What the publication says: this figure, or one above or below it.
    why : str
        Reason for a difference.
    """

    what: str
    at: Mapping[str, Cell] = field(default_factory=dict)
    column: str = "paper_s"
    over: Mapping[str, Cell] = field(default_factory=dict)
    value: str | float
    relation: Literal["equal", "above", "below"] = "equal"
    why: str = ""

    def __post_init__(self) -> None:
        """Check the figure and the quantities of its place."""
        if not self.number > 0:
            raise InputError("must be > 0.", field=Field("value", value=self.value))
        for key, cells in (("at", self.at), ("over", self.over)):
            for column, cell in cells.items():
                _check_cell(key, column, cell)

    @property
    def number(self) -> float:
        """The published figure in SI units."""
        unit = column_unit(self.column)
        field = Field("value", value=self.value)
        if unit is not None and not self.over:
            return parse_quantity("value", self.value, unit)
        if isinstance(self.value, str):
            what = "with over, a ratio" if self.over else f"as the column {self.column!r} has no unit"
            raise InputError(f"must be a number, {what}.", field=field)
        return float(self.value)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are needed."""
        return (*self.at, *self.over, self.column)


def column_unit(column: str) -> str | None:
    """The unit of a column by the ending of its name: ``bit/s``, ``bit`` or ``s``; None for one without."""
    return next((unit for ending, unit in UNITS.items() if column.endswith(ending)), None)


def in_si_units(column: str, cell: Cell) -> Cell:
    """A cell as the table has it: a quantity of a column with a unit as a number."""
    unit = column_unit(column)
    return (
        cell if unit is None or not isinstance(cell, str) else parse_quantity(column, cell, unit, zero=True)
    )


def _check_cell(key: str, column: str, cell: Cell) -> None:
    """Raise an `InputError` for a quantity that is none."""
    try:
        in_si_units(column, cell)
    except InputError as error:
        raise error.within(key) from None
