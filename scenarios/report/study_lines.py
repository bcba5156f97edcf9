"""What a figure of a study's table shows: its columns, a line for each overlay, panels for a third key."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from scenarios.config.published_figure import in_si_units
from scenarios.report.column_labels import value_text, words_of
from scenarios.runfile.study_rows import ERROR, POINT
from scenarios.runfile.study_table import RANGES, ranges_of
from topologies import InputError
from topologies.arrays import BoolArray, FloatArray
from topologies.errors import Field, unknown_name
from topologies.rounding import ROUNDING

if TYPE_CHECKING:
    import pandas

OVERLAY, SEED = "overlay", "seed"
SIMULATED, PAPER, HALF_WIDTH = "simulated_s", "paper_s", "simulated_half_width_s"
BELOW = "paper_below_load"
_OF_OVERLAYS = (OVERLAY, "kind", "options")
"""The last inputs of a table; results come after them."""
_SIZE, _NETWORK = "silos", "network"
"""Columns before these are those of the keys that vary, and before the size the network's name."""
MOST_FACETS, _MOST_CHOSEN = 36, 6
"""Panels of a figure, and of one whose third key was not asked for."""
TARGET = "target_accuracy"
_TO_TARGET = ("time_to_target_s", "rounds_to_target", "speedup")
"""Results that depend on the target of replays."""
_MOST_NAMED = 6
"""Values of a column that a message names."""
_TITLE = {
    "access_bps": "access {}",
    "access_up_bps": "uplinks {}",
    "access_down_bps": "downlinks {}",
    "core_bps": "core {}",
    "model_bits": "model {}",
    "compute_s": "{} a local step",
}
"""Inputs that a title names where they are fixed; others are named in words."""
_SAME = {"access_bps": "access_up_bps", "model_size_bits": "model_bits", "underlay": "network"}
"""Keys that vary, and the inputs that say the same in other words."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OverlayLine:
    """The line of an overlay in a panel.

    Attributes
    ----------
    overlay : str
    x, y : arrays of shape (points,)
        In SI units; of a column of texts ``x`` is the place of the text. NaN where the line is broken.
    low, high : arrays of shape (points,)
        Lowest and highest value over the seeds, or ends of the 95 % interval; those of y where there is neither.
    paper : array of shape (points,), optional
        The paper's cycle time.
    below : array of bool, shape (points,)
        Where paper, of any seed, is below the load bound.
    """

    overlay: str
    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    paper: FloatArray | None
    below: BoolArray


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StudyPanel:
    """A panel: its title, empty where there is one only, and its lines."""

    title: str
    lines: Sequence[OverlayLine]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StudyLines:
    """What a figure of a study's table shows.

    Attributes
    ----------
    x, y : str
        Columns.
    is_curve : bool
        Whether x is a result, so that a line does not go from left to right.
    is_joined : bool
        Whether points are joined by lines: those along numbers are.
    categories : sequence of str, optional
        Texts of x in the order of their places, where x holds texts.
    overlays : sequence of str
        All overlays of the table, drawn or not.
    panels : sequence of StudyPanel
    spread : {"seeds", "interval"}, optional
        What ``low`` and ``high`` are.
    seeds : str
        How many seeds a point is a mean over, such as ``5 seeds``; empty where it is one.
    title : str
        What is fixed.
    notes : sequence of str
        What was left out.
    """

    x: str
    y: str
    is_curve: bool
    is_joined: bool
    categories: Sequence[str] | None
    overlays: Sequence[str]
    panels: Sequence[StudyPanel]
    spread: Literal["seeds", "interval"] | None
    seeds: str
    title: str
    notes: Sequence[str]


def study_lines(
    table: "pandas.DataFrame",
    *,
    x: str | None = None,
    y: str | None = None,
    facet: str | None = None,
    where: Mapping[str, Sequence[object]] | None = None,
) -> StudyLines:
    """Choose the rows and columns of a figure.

    Parameters
    ----------
    table : DataFrame
        Of `scenarios.runfile.study_table.read_study`.
    x : str, optional
        By default the first key with numbers that varies, else the first that varies; overlays where none does.
    y : str, optional
        A column of numbers: by default the simulated cycle time, or the paper's in a table without simulations.
    facet : str, optional
        Column with a panel for each value; by default the one key that varies besides, if it has at most 6 values.
    where : mapping from str to sequence
        Values of columns, as texts with units or as numbers: rows with others are left out.

    Returns
    -------
    StudyLines

    Raises
    ------
    InputError
        If a column does not exist or has no numbers, no row is left, or a point would be a mean over anything but
        seeds.

    Notes
    -----
    A column of inputs may vary besides if each of its values belongs to one place on the line, as an uplink's capacity
    does to the access capacity. A point one of whose seeds has no value, or is an error, is left out, as the mean of
    the others would be better than it is. Linear in the rows, up to sorting, for each point with an error.
    """
    if OVERLAY not in table.columns:
        raise InputError("is not the table of a study: it has no column overlay.", field=Field("table"))
    for name, column in (("x", x), ("y", y), ("facet", facet)):
        if column is not None and column not in table.columns:
            raise unknown_name(Field(name), column, table.columns)
    notes: list[str] = []
    chosen = _chosen(table, where or {})
    failed = chosen[OVERLAY].isna()
    if ERROR in chosen.columns:
        failed |= chosen[ERROR].notna()
    rows, errors = chosen[~failed], chosen[failed]
    rows = rows.drop_duplicates()
    if len(errors):
        notes.append(f"left out: {_count(len(errors), 'row')} with an error.")
    if rows.empty:
        raise InputError("has no row to draw." if not len(errors) else "has no row without an error.")
    y = _y_column(rows, y)
    x = _first_key(rows, facet) if x is None else x
    if y == x:
        raise InputError("must differ from ", Field("x"), ".", field=Field("y", value=y))
    if facet is not None and facet in (x, y):
        raise InputError(
            "must differ from ", Field("x"), " and ", Field("y"), ".", field=Field("facet", value=facet)
        )
    rows = _with_place(rows, x, notes)
    along = x if x in _inputs(rows) or not _is_number(rows, x) else _first_key(rows, facet)
    if along != x:
        rows = _with_place(rows, along, notes)
    facet = _facet(rows, along, facet)
    return _drawn(rows, errors, table, x=x, y=y, along=along, facet=facet, notes=notes)


def keys_besides(table: "pandas.DataFrame") -> list[str]:
    """Inputs that vary beside the key along which lines go and the seeds; with several a figure needs values of some.

    Parameters
    ----------
    table : DataFrame
        Of `scenarios.runfile.study_table.read_study`.
    """
    rows = table[table[OVERLAY].notna()]
    if ERROR in rows.columns:
        rows = rows[rows[ERROR].isna()]
    return _besides(rows, [_first_key(rows, None)]) if len(rows) else []


def _chosen(table: "pandas.DataFrame", where: Mapping[str, Sequence[object]]) -> "pandas.DataFrame":
    """Rows with the asked values; an empty text stands for a missing one."""
    for column, values in where.items():
        if column not in table.columns:
            raise unknown_name(Field("where"), column, table.columns)
        there = np.zeros(len(table), dtype=bool)
        for value in values:
            found = _equal(table, column, value)
            if not found.any():
                raise InputError(
                    f"is in no row; {column} is {_values_text(table, column)}.",
                    field=Field("where", value=f"{column}={value}"),
                )
            there |= found
        table = table[there]
    return table


def _equal(table: "pandas.DataFrame", column: str, value: object) -> Any:
    """Rows of a column with a value, shape (rows,)."""
    if value is None or value == "":
        return table[column].isna().to_numpy()
    if not _is_number(table, column):
        texts, text = table[column].astype("string"), str(value)
        if table[column].dtype.kind == "b":
            texts, text = texts.str.lower(), text.lower()
        return (texts == text).fillna(False).to_numpy(bool)
    number = _number(column, value)
    return np.isclose(_numbers(table, column), number, rtol=ROUNDING, atol=0.0)


def _number(column: str, value: object) -> float:
    """A number as it is, or a text with the unit that the column's name ends in."""
    with suppress(ValueError, TypeError):
        return float(value)  # type: ignore[arg-type]
    field = Field("where", value=f"{column}={value}")
    try:
        number = in_si_units(column, str(value))
    except InputError as error:
        raise InputError(error.rule, field=field) from None
    if isinstance(number, str):
        raise InputError("must be a number.", field=field)
    return number


def _y_column(rows: "pandas.DataFrame", y: str | None) -> str:
    """The column of y, which has numbers."""
    if y is None:
        y = SIMULATED if SIMULATED in rows.columns and rows[SIMULATED].notna().any() else PAPER
        if y not in rows.columns:
            raise unknown_name(Field("y"), y, rows.columns)
    if not rows[y].notna().any():
        raise InputError("has no value in any row.", field=Field("y", value=y))
    if not _is_number(rows, y):
        raise InputError("must be a column of numbers.", field=Field("y", value=y))
    return y


def _is_number(table: "pandas.DataFrame", column: str) -> bool:
    """Whether a column holds numbers, and no truth values."""
    return table[column].dtype.kind in "iuf"


def _numbers(table: "pandas.DataFrame", column: str) -> FloatArray:
    """Numbers of a column, NaN where they are missing."""
    numbers: FloatArray = table[column].to_numpy(dtype=float, na_value=np.nan)
    return numbers


def _inputs(rows: "pandas.DataFrame") -> list[str]:
    """Columns of inputs, those of the keys that vary first."""
    columns = list(rows.columns)
    return columns[: 1 + max(columns.index(name) for name in _OF_OVERLAYS if name in columns)]


def _is_seed(column: str) -> bool:
    """Whether the values of a column are seeds, over which means are taken."""
    return column == SEED or column.endswith(f"_{SEED}")


def _first_key(rows: "pandas.DataFrame", facet: str | None) -> str:
    """The key along which lines go: the first with numbers that varies, else the first that varies, else overlays."""
    inputs = _inputs(rows)
    keys = inputs[: inputs.index(_SIZE)] if _SIZE in inputs else inputs
    for columns in (keys, inputs):
        varied = [
            column
            for column in columns
            if column not in (*_OF_OVERLAYS, facet) and not _is_seed(column) and _is_varied(rows, column)
        ]
        if varied:
            return next((column for column in varied if _is_number(rows, column)), varied[0])
    return OVERLAY


def _is_varied(rows: "pandas.DataFrame", column: str) -> bool:
    """Whether a column has several values, one of which may be missing."""
    if rows[column].dtype.kind == "f" and not rows[column].isna().any():
        # Derived inputs, such as the time of one of several local steps, differ in their last bits.
        return not np.allclose(rows[column], rows[column].iloc[0], rtol=ROUNDING, atol=0.0)
    return bool(rows[column].nunique(dropna=False) > 1)


def _with_place(rows: "pandas.DataFrame", column: str, notes: list[str]) -> "pandas.DataFrame":
    """Rows that have a place on an axis, or along a line."""
    numbers = _is_number(rows, column)
    there = np.isfinite(_numbers(rows, column)) if numbers else rows[column].notna().to_numpy(bool)
    if not there.any():
        raise InputError("has no finite value in any row.", field=Field("x", value=column))
    if not there.all():
        notes.append(f"left out: {_count(int((~there).sum()), 'row')} without a finite {column}.")
    return rows[there]


def _facet(rows: "pandas.DataFrame", along: str, facet: str | None) -> str | None:
    """The column of the panels, checked that nothing else varies."""
    besides = _besides(rows, [along, *([facet] if facet is not None else [])])
    if facet is None and len(besides) == 1 and rows[besides[0]].nunique(dropna=False) <= _MOST_CHOSEN:
        return besides[0]
    if besides:
        named = " and ".join(f"{column} ({_values_text(rows, column)})" for column in besides)
        beside = along if facet is None else f"{along} and {facet}"
        verb = "varies" if len(besides) == 1 else "vary"
        raise InputError(f"{named} {verb} beside {beside}: {_advice(besides, has_facet=facet is not None)}.")
    if facet is not None and (count := rows[facet].nunique(dropna=False)) > MOST_FACETS:
        raise InputError(
            f"must have <= {MOST_FACETS} values, has {count}; --where COLUMN=VALUE chooses some.",
            field=Field("facet", value=facet),
        )
    return facet


def _advice(besides: Sequence[str], *, has_facet: bool) -> str:
    """What to do where columns vary besides."""
    if has_facet:
        return "choose a value of " + ("it" if len(besides) == 1 else "each") + " with --where COLUMN=VALUE"
    if len(besides) == 1:
        return f"draw a panel for each value with --facet {besides[0]}, or choose one with --where {besides[0]}=VALUE"
    return (
        "draw a panel for each value of one with --facet COLUMN, and choose a value of each other one with "
        "--where COLUMN=VALUE"
    )


def _besides(rows: "pandas.DataFrame", keys: Sequence[str]) -> list[str]:
    """Inputs that vary at one place of one line, without those that follow from others."""
    known = list(dict.fromkeys((OVERLAY, *keys)))
    found: list[str] = []
    for column in _inputs(rows):
        if column in known or _is_seed(column) or not _is_varied(rows, column):
            continue
        if (rows.groupby([*known, *found], dropna=False, sort=False)[column].nunique(dropna=False) > 1).any():
            found.append(column)
    return found


def _values_text(rows: "pandas.DataFrame", column: str) -> str:
    """The values of a column, the first of many."""
    texts = [value_text(column, value) for value in _ordered(rows, column)]
    more = ", ..." if len(texts) > _MOST_NAMED else ""
    return ", ".join(texts[:_MOST_NAMED]) + more


def _ordered(rows: "pandas.DataFrame", column: str) -> list[Any]:
    """Values of a column: numbers in ascending order, texts in that of the table; NaN, for missing ones, last."""
    there = rows[column].dropna()
    values = there.unique().tolist()
    values = sorted(values) if _is_number(rows, column) else values
    return values if len(there) == len(rows) else [*values, float("nan")]


def _drawn(
    rows: "pandas.DataFrame",
    errors: "pandas.DataFrame",
    table: "pandas.DataFrame",
    *,
    x: str,
    y: str,
    along: str,
    facet: str | None,
    notes: list[str],
) -> StudyLines:
    """Lines and panels of the columns that are chosen."""
    import pandas

    categories = None if _is_number(rows, x) else [str(value) for value in _ordered(rows, x)]
    keys = list(dict.fromkeys((OVERLAY, along, *([facet] if facet is not None else []))))
    has_paper = y == SIMULATED and PAPER in rows.columns
    frame = rows[keys].copy()
    numbers = _numbers(rows, y)
    frame["_y"] = np.where(np.isfinite(numbers), numbers, np.nan)
    frame["_x"] = (
        _numbers(rows, x)
        if categories is None
        else pandas.Categorical(rows[x].astype("string"), categories).codes.astype(float)
    )
    frame["_half"] = _numbers(rows, HALF_WIDTH) if y == SIMULATED and HALF_WIDTH in rows.columns else np.nan
    frame["_paper"] = _numbers(rows, PAPER) if has_paper else np.nan
    frame["_below"] = (rows[BELOW] == True).astype(float) if BELOW in rows.columns else 0.0  # noqa: E712
    frame["_missing"] = frame["_y"].isna()
    frame["_failed"] = _beside_error(rows, errors)
    points = (
        frame.groupby(keys, dropna=False, sort=False)
        .agg(
            x=("_x", "mean"),
            y=("_y", "mean"),
            low=("_y", "min"),
            high=("_y", "max"),
            half=("_half", "mean"),
            paper=("_paper", "mean"),
            below=("_below", "max"),
            missing=("_missing", "sum"),
            failed=("_failed", "any"),
            size=("_y", "size"),
        )
        .reset_index()
    )
    if along == x and categories is None:
        points["x"] = points[along].astype(float)  # a mean of equal numbers may differ in the last bit
    cut = (points["missing"] > 0) | points["failed"]
    points.loc[cut, ["y", "low", "high", "paper"]] = np.nan
    _note_missing(points, y, notes)
    if cut.all():
        raise InputError("has no point with a value of every seed.", field=Field("y", value=y))
    sizes = points.loc[~cut, "size"]
    spread = _spread(rows, points, keys)
    if spread == "interval":
        points["low"], points["high"] = points["y"] - points["half"], points["y"] + points["half"]
    shown = [None] if facet is None else _ordered(rows, facet)
    panels = []
    for value in shown:
        inside = points if facet is None else points[_same(points[facet], value)]
        gaps = errors if facet is None else errors[_same(errors[facet], value)]
        title = "" if facet is None else f"{words_of(facet)}: {value_text(facet, value)}"
        places = (
            [] if along not in errors.columns or along == OVERLAY else gaps[along].dropna().unique().tolist()
        )
        lines = [
            _line(inside[inside[OVERLAY] == name], name, along, places, has_paper=has_paper)
            for name in _ordered(inside, OVERLAY)
        ]
        panels.append(StudyPanel(title=title, lines=lines))
    return StudyLines(
        x=x,
        y=y,
        is_curve=along != x,
        is_joined=_is_number(rows, along),
        categories=categories,
        overlays=table[OVERLAY].dropna().unique().tolist(),
        panels=panels,
        spread=spread,
        seeds=_seeds_text(sizes) if spread == "seeds" else "",
        title=_title(rows, x=x, y=y, along=along, facet=facet),
        notes=notes,
    )


def _same(values: Any, value: object) -> Any:
    """Where a column has a value, NaN being that of missing ones."""
    return values.isna() if value != value else values == value


def _beside_error(rows: "pandas.DataFrame", errors: "pandas.DataFrame") -> BoolArray:
    """Rows of points of which another seed is an error, shape (rows,).

    The row of an error may lack the overlay, as none was designed, and inputs that follow from others: it stands for
    all of them. A key that varies is there, and where it is missing that is its value.
    """
    import pandas

    inputs = _inputs(rows)
    varied = inputs[: inputs.index(_NETWORK)] if _NETWORK in inputs else ()
    found = np.zeros(len(rows), dtype=np.bool_)
    places = errors[[column for column in inputs if not _is_seed(column)]].drop_duplicates()
    for place in places.to_dict("records"):
        there = np.ones(len(rows), dtype=np.bool_)
        for column, value in place.items():
            is_missing = pandas.isna(value) or value == ""
            if not is_missing or column in varied:
                there &= _equal(rows, column, None if is_missing else value)
        found |= there
    return found


def _check_seeds(rows: "pandas.DataFrame", keys: Sequence[str]) -> None:
    """Raise an `InputError` where several rows of a point are those of one seed."""
    seeds = [column for column in _inputs(rows) if _is_seed(column) and column not in keys]
    again = rows[rows.duplicated([*keys, *seeds], keep=False)]
    if again.empty:
        return
    first = again.groupby([*keys, *seeds], dropna=False, sort=False).ngroup() == 0
    same = again[first]
    place = same.iloc[0]
    shown = [*keys, *(column for column in seeds if _is_varied(rows, column))]
    where = ", ".join(f"{key} {value_text(key, place[key])}" for key in shown)
    differ = [column for column in same.columns if column != POINT and same[column].nunique(dropna=False) > 1]
    more = ", ..." if len(differ) > _MOST_NAMED else ""
    how = f"they differ in {', '.join(differ[:_MOST_NAMED])}{more}" if differ else "they repeat"
    raise InputError(f"has {len(same)} rows of the same inputs: {where}; {how}.")


def _spread(
    rows: "pandas.DataFrame", points: "pandas.DataFrame", keys: Sequence[str]
) -> Literal["seeds", "interval"] | None:
    """What low and high are of, checked that several rows of a point are those of several seeds."""
    _check_seeds(rows, keys)
    if (points["size"] > 1).any():
        return "seeds"
    # Rounding errors are no uncertainty.
    return "interval" if (points["half"] > 1e-8 * points["y"]).any() else None


def _note_missing(points: "pandas.DataFrame", y: str, notes: list[str]) -> None:
    """Say how many rows have no value, and how many points are left out for some of their seeds."""
    if failed := int(points["failed"].sum()):
        notes.append(f"left out: {_count(failed, 'point')} of which some seeds have an error.")
    missing = int(points["missing"].sum())
    if not missing:
        return
    why = (
        "that did not reach the target" if y.endswith("_to_target") or "_to_target_" in y else f"without {y}"
    )
    notes.append(f"left out: {_count(missing, 'row')} {why}.")
    if partly := int(((points["missing"] > 0) & (points["missing"] < points["size"])).sum()):
        notes.append(f"left out: {_count(partly, 'point')} of which some seeds have no {y}.")


def _line(
    points: "pandas.DataFrame", name: str, along: str, gaps: Sequence[object], *, has_paper: bool
) -> OverlayLine:
    """The line of an overlay, broken where a point has no value."""
    if _is_number(points, along):
        points = points.set_index(along).reindex(sorted({*points[along], *gaps}))
    x, y, low, high, paper = (
        points[column].to_numpy(dtype=float) for column in ("x", "y", "low", "high", "paper")
    )
    below = points["below"].to_numpy(dtype=float) > 0
    ends = np.isfinite(low) & np.isfinite(high)
    return OverlayLine(
        overlay=name,
        x=x,
        y=y,
        low=np.where(ends, low, y),
        high=np.where(ends, high, y),
        paper=paper if has_paper else None,
        below=below,
    )


def _seeds_text(sizes: Any) -> str:
    """How many seeds points are means over."""
    least, most = int(sizes.min()), int(sizes.max())
    return f"{most} seeds" if least == most else f"{least} to {most} seeds"


def _title(rows: "pandas.DataFrame", *, x: str, y: str, along: str, facet: str | None) -> str:
    """The network, and all other inputs that are fixed."""
    fixed = {
        column: rows[column].iloc[0]
        for column in _inputs(rows)
        if column not in (*_OF_OVERLAYS, x, along, facet)
        and not _is_seed(column)
        and not _is_varied(rows, column)
        and rows[column].notna().any()
    }
    fixed |= _shared_ranges(rows)
    parts = list(_fixed_texts({column: value for column, value in fixed.items() if column != RANGES}))
    if y in _TO_TARGET and TARGET in rows.columns and TARGET not in _inputs(rows):
        parts.append(_target_text(rows))
    if y in (SIMULATED, HALF_WIDTH, "over_paper"):
        rules = [
            str(rows[column].iloc[0])
            for column in ("sharing", "queueing")
            if column in rows.columns and column not in fixed and rows[column].nunique(dropna=False) == 1
        ]
        parts += [f"simulated with {' and '.join(rules)}"] if rules else []
    if along not in (x, OVERLAY):
        parts.append(f"along the lines: {words_of(along)}")
    network = str(fixed["network"]) if "network" in fixed else ""
    return ": ".join(filter(None, (network, ", ".join(filter(None, parts)))))


def _target_text(rows: "pandas.DataFrame") -> str:
    """What a time to the target is to, where that is a result of replays and no input."""
    accuracy = rows[TARGET]
    if accuracy.isna().all():
        return "to the last recorded round"
    return "" if _is_varied(rows, TARGET) else f"to a test accuracy of {value_text(TARGET, accuracy.iloc[0])}"


def _shared_ranges(rows: "pandas.DataFrame") -> dict[str, list[float]]:
    """Inputs in which silos differ, and alike in all rows: their least and greatest values."""
    if RANGES not in rows.columns:
        return {}
    first, *others = map(ranges_of, rows[RANGES].unique())
    return {
        column: ends for column, ends in first.items() if all(ends == other.get(column) for other in others)
    }


def _fixed_texts(fixed: Mapping[str, Any]) -> Iterator[str]:
    """Each fixed input in words, those of the network first."""
    is_even = "access_up_bps" in fixed and fixed["access_up_bps"] == fixed.get("access_down_bps")
    if _SIZE in fixed:
        yield _count(int(fixed[_SIZE]), "silo")
    if is_even:
        yield _TITLE["access_bps"].format(value_text("access_bps", fixed["access_up_bps"]))
    order = dict.fromkeys((*_TITLE, *fixed))
    for column in order:
        skipped = column not in fixed or column in ("network", _SIZE) or _SAME.get(column) in fixed
        if skipped or (is_even and column in ("access_up_bps", "access_down_bps")):
            continue
        text = value_text(column, fixed[column])
        if column == "local_steps":
            yield _count(int(fixed[column]), "local step")
        else:
            yield _TITLE.get(column, f"{words_of(column)} {{}}").format(text)


def _count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
