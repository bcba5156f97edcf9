"""Published figures beside those of a study."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from scenarios.config.published_figure import Cell, PublishedFigure, column_unit, in_si_units
from scenarios.config.quantities import format_bits, format_rate, format_s
from scenarios.report.tables import Column, Row, Table, percent
from scenarios.runfile.study_table import TEXTS
from topologies import InputError
from topologies.errors import Field, unknown_name

_SHOWN = {"bit/s": format_rate, "bit": format_bits, "s": format_s}


def check_published(
    figures: Sequence[PublishedFigure],
    columns: Sequence[str],
    inputs: Sequence[Row] = (),
    *,
    texts: Collection[str] = TEXTS,
) -> None:
    """Check figures before the table is there.

    Parameters
    ----------
    figures : sequence of PublishedFigure
    columns : sequence of str
        Of the table.
    inputs : sequence of mapping
        Columns of each row that are known already.
    texts : collection of str
        Columns that hold texts.

    Raises
    ------
    InputError
        For a column that the table does not have, a figure of texts, and a place that is not that of one row.
    """
    for number, figure in enumerate(figures):
        for column in figure.columns:
            if column not in columns:
                raise unknown_name(f"study.published[{number}] column", column, columns)
        if figure.column in texts:
            raise InputError(
                "must be a column of numbers.",
                field=Field("study", "published", number, "column", value=figure.column),
            )
        for at in (figure.at, *([{**figure.at, **figure.over}] if figure.over else [])):
            if inputs and all(column in row for row in inputs for column in at):
                count = sum(_is_at(row, at) for row in inputs)
                if count != 1:
                    raise _not_one(number, count)


def _is_at(row: Row, at: Mapping[str, Cell]) -> bool:
    """Whether a row is at a place."""
    return all(_is_same(row[column], in_si_units(column, cell)) for column, cell in at.items())


def _not_one(number: int, count: int) -> InputError:
    """Error of a place that is not that of one row."""
    hint = "name further columns" if count else "no row has all of these values"
    return InputError(
        f"must choose one row of the table, not {count}; {hint}.",
        field=Field("study", "published", number, "at"),
    )


def comparison(figures: Sequence[PublishedFigure], rows: Sequence[Row], *, title: str) -> Table:
    """Published figures, the study's, and their differences.

    Parameters
    ----------
    figures : sequence of PublishedFigure
    rows : sequence of mapping
        Of the study's table, with None for what is missing.
    title : str

    Returns
    -------
    Table
        One row for each figure; ``ours`` is None where the table has no value there.

    Raises
    ------
    InputError
        If several rows stand for one figure.
    """
    compared = [_compared(number, figure, rows) for number, figure in enumerate(figures)]
    return Table(
        caption=title,
        columns=(
            Column(key="what", title="what", prose=True, least=16),
            Column(key="published_text", title="published"),
            Column(key="ours_text", title="ours"),
            Column(key="verdict", title="difference"),
            Column(key="why", title="why", prose=True, least=16),
        ),
        rows=compared,
        summaries=("published_text", "ours_text", "verdict"),
    )


def _compared(number: int, figure: PublishedFigure, rows: Sequence[Row]) -> dict[str, Any]:
    """The row of one figure."""
    ours = _value(number, figure, figure.at, rows)
    if figure.over and ours is not None:
        above = _value(number, figure, {**figure.at, **figure.over}, rows)
        ours = None if above is None or ours == 0 else above / ours
    published = figure.number
    difference = None if ours is None else ours / published - 1
    holds = (
        None
        if difference is None
        else {"above": difference > 0, "below": difference < 0}.get(figure.relation)
    )
    shown = "" if figure.relation == "equal" else f"{figure.relation} "
    if difference is None:
        verdict = "no value"
    elif holds is None:
        verdict = percent(difference)
    else:
        verdict = "holds" if holds else "does not hold"
    return {
        "what": figure.what,
        "column": figure.column,
        "relation": figure.relation,
        "published": published,
        "ours": ours,
        "difference": difference,
        "holds": holds,
        "published_text": f"{shown}{_text(figure, published)}",
        "ours_text": None if ours is None else _text(figure, ours),
        "verdict": verdict,
        "why": figure.why,
    }


def _value(number: int, figure: PublishedFigure, at: Mapping[str, Cell], rows: Sequence[Row]) -> float | None:
    """The number of the row at a place, None where there is none."""
    found = [row for row in rows if _is_at(row, at)]
    if len(found) > 1:
        raise _not_one(number, len(found))
    value = found[0][figure.column] if found else None
    return None if value is None else float(value)


def _is_same(value: object, sought: Cell) -> bool:
    """Whether a cell of the table is the one that is sought; numbers up to rounding."""
    if isinstance(value, int | float) and isinstance(sought, int | float):
        return math.isclose(value, sought)
    return value == sought


def _text(figure: PublishedFigure, value: float) -> str:
    """A figure with its unit, or a ratio."""
    if figure.over:
        return f"{value:.3g} times"
    unit = column_unit(figure.column)
    return f"{value:.4g}" if unit is None else _SHOWN[unit](value)
