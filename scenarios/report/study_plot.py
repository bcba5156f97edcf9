"""Figures of a study's table: any column against any other, one line for each overlay, panels for a third key."""

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from scenarios.config.error_context import located
from scenarios.report.column_labels import ColumnAxis, column_axis, words_of
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_parts import (
    LEGEND_LINE_IN,
    add_legend,
    legend_columns,
    line_options,
    panels_figure,
    save_figure,
    set_title,
    thin,
)
from scenarios.report.figure_style import DEFAULT_STYLE, LEGEND_PT, PANEL_TITLE_PT, TEXT_PT, FigureStyle
from scenarios.report.line_styles import LineStyle, styles_of
from scenarios.report.log_axis import set_log
from scenarios.report.study_lines import OVERLAY, OverlayLine, StudyLines, StudyPanel, study_lines
from scenarios.report.terminal import shortened
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import PARTIAL, check_ending
from scenarios.runfile.study_rows import POINT
from scenarios.runfile.study_table import read_study
from topologies import InputError
from topologies.arrays import FloatArray
from topologies.errors import Field
from topologies.rounding import exceeds
from topologies.wrapping import wrapped

if TYPE_CHECKING:
    import pandas

_DECADE = 10.0
_LETTER_IN, _GAP_IN = 0.0083, 0.08
"""Width of a letter in inches per point, and the gap between two ticks."""
_TITLE_LETTERS, _NO_BREAK = 74, "\u00a0"
_NAME_LETTERS, _MOST_LETTERS = 24, 66
"""Letters of a line of the legend, and of a whole name in it."""
_LEGEND_HANDLE = 10
"""Letters that line and gap beside a name take."""
_DASH: dict[str, Any] = {"linestyle": "none", "marker": "_"}
"""Of `paper` where no line joins two points."""
_PANEL_TICK_PT = 8.0
"""At ticks where there are several panels."""
_MARKED = 12
"""Points of a line that have a marker; of longer lines only so many have."""
_CATEGORY_LETTERS = 28
_MOST_AT_VALUES = 10
"""Values of an input that the ticks are put at; of more, ticks are at round numbers."""
_BETWEEN = 0.06
"""Gap between panels in parts of their width, for the ends of their ticks' labels."""
_MOST_BELOW_EACH_OTHER = 3
"""Panels that a narrow figure has in one column."""
_SLOT = 0.7
"""Part of a category's width in which the overlays stand side by side."""
_LEAST_SPAN, _LEAST_MARGIN, _MARGIN = 1e-3, 0.02, 0.04
"""Values that are closer to each other in parts of the largest look equal; parts of the axis beyond the values."""


def plot_study(
    table: "pandas.DataFrame | Path",
    path: Path,
    *,
    x: str | None = None,
    y: str | None = None,
    facet: str | None = None,
    where: Mapping[str, Sequence[object]] | None = None,
    log_x: bool | None = None,
    log_y: bool | None = None,
    force: bool,
    style: FigureStyle = DEFAULT_STYLE,
) -> tuple[str, ...]:
    """Draw the table of a study; see `silosim.plot_study`.

    Parameters
    ----------
    table : DataFrame or Path
        The file may be that of a study which is not finished.
    path : Path
        PNG, PDF or SVG, by its ending.
    x, y, facet, where : optional
        See `scenarios.report.study_lines.study_lines`.
    log_x, log_y : bool, optional
        By default whether values span more than a decade.
    force : bool
        Whether an existing file is replaced.
    style : FigureStyle

    Returns
    -------
    tuple of str
        A sentence for each thing that the figure leaves out.

    Raises
    ------
    InputError
        If the file cannot be written, the table cannot be read, or a column cannot be drawn; nothing is written then.
    """
    check_ending(path, FIGURES)
    with claimed([path], force=force):
        return draw_study(
            table, path, x=x, y=y, facet=facet, where=where, log_x=log_x, log_y=log_y, style=style
        )


def draw_study(
    table: "pandas.DataFrame | Path",
    path: Path,
    *,
    x: str | None = None,
    y: str | None = None,
    facet: str | None = None,
    where: Mapping[str, Sequence[object]] | None = None,
    log_x: bool | None = None,
    log_y: bool | None = None,
    style: FigureStyle = DEFAULT_STYLE,
) -> tuple[str, ...]:
    """Draw as `plot_study`, into a file that the caller has claimed."""
    is_partial = isinstance(table, Path) and table.name.endswith(PARTIAL)
    with rc_context(style.rc()):
        frame = read_study(table) if isinstance(table, Path) else table
        with located(str(table) if isinstance(table, Path) else None):
            if frame.empty:
                raise InputError(
                    f"has {'no finished point yet' if is_partial else 'no rows'}, so nothing can be drawn."
                )
            lines = study_lines(frame, x=x, y=y, facet=facet, where=where)
            figure = _figure(lines, style, log_x=log_x, log_y=log_y)
        save_figure(figure, path)
    if is_partial:
        points = frame[POINT].nunique()
        return (f"{table} is of a study that is not finished: {points:,} points so far.", *lines.notes)
    return tuple(lines.notes)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Axis:
    """An axis of all panels.

    Attributes
    ----------
    column : ColumnAxis
    values : sequence of float
        All that is drawn, multiplied by the column's factor.
    is_log : bool
    places : sequence of float
        Where ticks may be; empty for round numbers.
    """

    column: ColumnAxis
    values: Sequence[float]
    is_log: bool
    places: Sequence[float]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    """Rows and columns of panels, their size in inches, that of the letters in points; where the legend is.

    Attributes
    ----------
    shown_height_in : float
        Height of a panel at the default width of the figure.
    """

    style: FigureStyle
    rows: int
    columns: int
    width_in: float
    shown_height_in: float
    tick_pt: float
    is_beside: bool

    @property
    def height_in(self) -> float:
        """Height of a panel."""
        return self.style.scaled(self.shown_height_in)

    def letters(self, inches: float) -> int:
        """Letters at ticks that have room."""
        return int(inches / (_LETTER_IN * self.tick_pt))

    def ticks(self, texts: Sequence[str]) -> int:
        """Ticks that have room side by side."""
        return max(2, int(self.width_in / (_LETTER_IN * self.tick_pt * _longest(texts) + _GAP_IN)))


def _figure(lines: StudyLines, style: FigureStyle, *, log_x: bool | None, log_y: bool | None) -> Figure:
    """The figure of a study's lines."""
    drawn = [line for panel in lines.panels for line in panel.lines]
    if log_x and lines.categories is not None:
        raise InputError(
            f"goes with numbers, not with the texts of {lines.x}.", field=Field("log_x", value=log_x)
        )
    x = _axis(lines.x, [line.x for line in drawn], (), log_x, "log_x", at_values=not lines.is_curve)
    values = [part for line in drawn for part in (line.y, line.paper) if part is not None]
    ends = [part for line in drawn for part in (line.low, line.high)]
    y = _axis(lines.y, values, ends, log_y, "log_y", at_values=False)
    styles = styles_of(lines.overlays)
    handles, names = _legend_entries(lines, styles, style)
    layout = _layout(len(lines.panels), names, style)
    is_turned = lines.categories is not None and layout.ticks(lines.categories) < len(lines.categories)
    columns = _legend_columns(names, style)
    figure, grid = panels_figure(
        layout.rows,
        layout.columns,
        height_in=_height_in(layout, names, columns, lines.categories if is_turned else None),
        style=style,
        sharey=True,
    )
    if layout.columns > 1:
        figure.set_layout_engine("constrained", wspace=_BETWEEN)
    axes = [axis for row in grid for axis in row]
    for number, (axis, panel) in enumerate(zip(axes, lines.panels, strict=False)):
        _draw_panel(axis, panel, lines, styles, x, y, layout)
        axis.tick_params(labelsize=layout.tick_pt)
        _set_axis(axis, "y", y, most=7)
        if lines.categories is None:
            shown = x.places or [float(f"{value:.2g}") for value in (x.values[0], x.values[-1])]
            _set_axis(axis, "x", x, most=layout.ticks([x.column.show(value) for value in shown]))
        else:
            _set_categories(axis, lines.categories, is_turned=is_turned)
        if panel.title:
            title = shortened(panel.title, layout.letters(layout.width_in))
            axis.set_title(title, fontsize=style.pt(PANEL_TITLE_PT), parse_math=False)
        if number + layout.columns >= len(lines.panels):
            axis.tick_params(labelbottom=True)
            label = x.column.label if lines.categories is None else words_of(lines.x)
            axis.set_xlabel("\n".join(wrapped(label, layout.letters(layout.width_in))), parse_math=False)
        if number % layout.columns == 0:
            axis.set_ylabel(
                "\n".join(wrapped(y.column.label, layout.letters(layout.height_in))), parse_math=False
            )
    for axis in axes[len(lines.panels) :]:
        axis.remove()
    set_title(figure, "\n".join(_title_lines(lines.title, style)), style)
    if names:
        place = "outside right center" if layout.is_beside else "outside lower center"
        add_legend(
            figure,
            handles,
            names,
            loc=place,
            ncols=1 if layout.is_beside else columns,
            fontsize=style.pt(LEGEND_PT),
            frameon=False,
            handlelength=4.0,
        )
    return figure


def _title_lines(title: str, style: FigureStyle) -> list[str]:
    """Lines of a title that is broken between its parts."""
    whole, letters = re.sub("(?<=[^,:]) ", _NO_BREAK, title), style.letters(_TITLE_LETTERS)
    return [line.replace(_NO_BREAK, " ") for line in textwrap.wrap(whole, letters, break_on_hyphens=False)]


def _axis(
    column: str,
    values: Sequence[FloatArray],
    ends: Sequence[FloatArray],
    log: bool | None,
    option: str,
    *,
    at_values: bool,
) -> _Axis:
    """How an axis shows the values of a column, with the ends of their bands and bars."""
    there = np.concatenate(values)
    there = there[np.isfinite(there)]
    low, high = float(there.min()), float(there.max())
    if log and low <= 0:
        raise InputError(
            f"goes with values > 0; the least {column} is {low:g}.", field=Field(option, value=log)
        )
    is_log = log if log is not None else low > 0 and exceeds(high, _DECADE * low)
    shown = column_axis(column, low, high, is_log=is_log)
    every = np.concatenate([there, *ends])
    unique = np.unique(shown.factor * every[np.isfinite(every)]).tolist()
    return _Axis(
        column=shown,
        values=unique,
        is_log=is_log,
        places=unique if at_values and len(unique) <= _MOST_AT_VALUES else (),
    )


def _layout(count: int, names: Sequence[str], style: FigureStyle) -> _Layout:
    """Rows and columns of so many panels, and the room that a legend beside a single one leaves."""
    is_beside = count == 1 and not style.is_narrow
    columns = 1 if count == 1 else 2 if count in (2, 4) else 3
    if style.is_narrow:
        columns = 1 if count <= _MOST_BELOW_EACH_OTHER else 2
    legend_in = (
        _LETTER_IN * style.pt(LEGEND_PT) * (_LEGEND_HANDLE + _longest(_lines_of(names)))
        if is_beside and names
        else 0.0
    )
    gap_in = style.scaled(0.15) if count > 1 else 0.0
    return _Layout(
        style=style,
        rows=-(-count // columns),
        columns=columns,
        width_in=(style.width_in - style.scaled(0.9) - legend_in) / columns - gap_in,
        shown_height_in=3.4 if count == 1 else 1.7,
        tick_pt=style.pt(TEXT_PT if count == 1 else _PANEL_TICK_PT),
        is_beside=is_beside,
    )


def _height_in(
    layout: _Layout, names: Sequence[str], legend_columns: int, turned: Sequence[str] | None
) -> float:
    """Height of the figure at its default width: panels with titles, labels and ticks, and the legend."""
    below = 0.9 + layout.rows * (layout.shown_height_in + 0.35)
    if turned is not None:
        letters_in = _LETTER_IN * layout.tick_pt * min(_CATEGORY_LETTERS, _longest(turned))
        below += 0.75 * layout.rows * letters_in / layout.style.factor
    line_in = LEGEND_LINE_IN * LEGEND_PT / 10 + 0.02
    if layout.is_beside:
        return max(below, 0.8 + line_in * len(_lines_of(names)))
    columns = [names[first::legend_columns] for first in range(legend_columns)]
    return below + line_in * max(len(_lines_of(column)) for column in columns)


def _legend_entries(
    lines: StudyLines, styles: Mapping[str, LineStyle], style: FigureStyle
) -> tuple[list[Artist], list[str]]:
    """Handles and names: overlays that are drawn, then what thin lines, bands and bars are."""
    drawn = {line.overlay for panel in lines.panels for line in panel.lines}
    # An axis of overlays names them.
    kinds = [] if lines.x == OVERLAY else [name for name in lines.overlays if name in drawn]
    handles: list[Artist] = [
        Line2D([], [], markersize=style.scaled(5), **_joined(lines, line_options(styles[name])))
        for name in kinds
    ]
    names = [shortened(name, _MOST_LETTERS) for name in kinds]
    is_dash = _is_dash(lines)
    if any(line.paper is not None for panel in lines.panels for line in panel.lines):
        look = thin(style) | (_DASH if is_dash else {})
        handles.append(Line2D([], [], color="0.3", markersize=style.scaled(12), **look))
        names.append("dash: paper" if is_dash else "thin: paper")
    if lines.spread == "seeds":
        is_band = not is_dash and not lines.is_curve
        handles.append(Patch(facecolor="0.8") if is_band else _bar(style))
        names.append(f"mean of {lines.seeds}; {'band' if is_band else 'bar'}: lowest to highest")
    elif lines.spread == "interval":
        handles.append(_bar(style))
        names.append("bar: 95 % interval")
    return handles, ["\n".join(wrapped(name, _NAME_LETTERS)) for name in names]


def _bar(style: FigureStyle) -> Artist:
    """Handle of an error bar."""
    return Line2D([], [], color="0.3", linestyle="none", marker="|", markersize=style.scaled(9))


def _legend_columns(names: Sequence[str], style: FigureStyle) -> int:
    """Columns of a legend below the panels."""
    room, longest = style.width_in / (_LETTER_IN * style.pt(LEGEND_PT)), _longest(_lines_of(names))
    return legend_columns(longest, len(names), room=room, handle=_LEGEND_HANDLE) if names else 1


def _lines_of(names: Sequence[str]) -> list[str]:
    """Lines of names that are broken into several."""
    return [line for name in names for line in name.split("\n")]


def _longest(texts: Sequence[str]) -> int:
    """Letters of the longest text."""
    return max(map(len, texts), default=0)


def _joined(lines: StudyLines, options: Mapping[str, Any]) -> dict[str, Any]:
    """A line's style, of markers alone where points are not joined."""
    return {**options} if lines.is_joined else {**options, "linestyle": "none"}


def _is_dash(lines: StudyLines) -> bool:
    """Whether no line joins two points, so that `paper` is a dash at each and seeds are bars."""
    return not lines.is_joined or all(
        np.isfinite(line.y).sum() < 2 for panel in lines.panels for line in panel.lines
    )


def _draw_panel(
    axis: Axes,
    panel: StudyPanel,
    lines: StudyLines,
    styles: Mapping[str, LineStyle],
    x: _Axis,
    y: _Axis,
    layout: _Layout,
) -> None:
    """Lines of a panel, with their bands or bars, and those of `paper`."""
    is_dash = _is_dash(lines)
    style = layout.style
    slot, dash_pt = 0.0, style.scaled(14.0)
    if lines.categories is not None and lines.x != OVERLAY:
        slot = _SLOT / max(1, len(panel.lines))
        dash_pt = min(dash_pt, max(style.scaled(5.0), 72 * slot * layout.width_in / len(lines.categories)))
    for number, line in enumerate(panel.lines):
        shift = slot * (number - (len(panel.lines) - 1) / 2)
        places = (line.x if lines.categories is not None else x.column.factor * line.x) + shift
        values, low, high = (y.column.factor * part for part in (line.y, line.low, line.high))
        options = _joined(lines, line_options(styles[line.overlay]))
        size, width = style.scaled(5 if layout.rows * layout.columns == 1 else 4), style.scaled(1.4)
        axis.plot(places, values, markersize=size, markevery=_marked(line), linewidth=width, **options)
        colour = options["color"]
        if (high > low).any():
            if lines.spread == "seeds" and not is_dash and not lines.is_curve:
                axis.fill_between(places, low, high, color=colour, alpha=0.18, linewidth=0)
            else:
                bars = [values - low, high - values]
                bar: dict[str, Any] = {"elinewidth": style.scaled(1), "capsize": style.scaled(2.5)}
                axis.errorbar(places, values, yerr=bars, fmt="none", ecolor=colour, **bar)
        if line.paper is not None:
            alone = is_dash or len(line.y) == 1
            look: dict[str, Any] = thin(style) | (
                _DASH if alone else {"linestyle": styles[line.overlay].dashes}
            )
            axis.plot(
                places, y.column.factor * line.paper, color=colour, markersize=dash_pt, zorder=1.9, **look
            )


def _marked(line: OverlayLine) -> list[int]:
    """Points of a line that have a marker: all of a short one; of a long one some, and each that stands alone."""
    there = np.isfinite(line.y)
    is_alone = ~(np.append(False, there[:-1]) | np.append(there[1:], False))
    some = np.arange(len(there)) % -(-len(there) // _MARKED) == 0
    marked: list[int] = np.flatnonzero(there & (some | is_alone)).tolist()
    return marked


def _set_categories(axis: Axes, categories: Sequence[str], *, is_turned: bool) -> None:
    """Ticks at the places of texts."""
    names = [shortened(name, _CATEGORY_LETTERS) for name in categories]
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if is_turned else {}
    axis.set_xticks(range(len(names)), names, parse_math=False, **turned)
    axis.set_xlim(-0.5, len(names) - 0.5)
    axis.grid(visible=False, axis="x")


def _set_axis(axis: Axes, direction: Literal["x", "y"], shown: _Axis, *, most: int) -> None:
    """Scale, limits and ticks of an axis."""
    show = shown.column.show
    if shown.is_log:
        set_log(axis, direction, shown.values, most=most, ticks=shown.places or None, show=show)
        return
    low, high = shown.values[0], shown.values[-1]
    largest = max(abs(low), abs(high)) or 1.0
    is_flat = high - low <= _LEAST_SPAN * largest
    margin = _LEAST_MARGIN * largest if is_flat else _MARGIN * (high - low)
    (axis.set_xlim if direction == "x" else axis.set_ylim)(low - margin, high + margin)
    one = axis.xaxis if direction == "x" else axis.yaxis
    if shown.places and min(np.diff(shown.places), default=math.inf) >= (high - low) / most:
        one.set_major_locator(FixedLocator(shown.places))
    else:
        whole = all(value.is_integer() for value in shown.values)
        one.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=whole))
    one.set_major_formatter(FuncFormatter(lambda value, _: show(value)))
