"""Figure of a timeline: silos as rows, time to the right; who computes, sends and receives, and for whom each waits."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from scenarios.config.quantities import TIME_UNITS, time_unit
from scenarios.report.figure_parts import add_legend, balanced, panels_figure, save_figure, set_title
from scenarios.report.figure_style import DEFAULT_STYLE, LEAST_PT, FigureStyle
from scenarios.report.line_styles import COLOURS
from scenarios.report.timeline_rows import (
    COMPUTE_PART,
    RECEIVE_PART,
    SEND_PART,
    circuit_computing,
    circuit_messages,
    message_bars,
    row_order,
    waits,
)
from scenarios.runfile.overlay_timeline import OverlayTimeline
from topologies.arrays import FloatArray

MOST_ROWS = 350
"""Silos of all panels together."""
_ROW_IN, _ROWS_IN, _MOST_ROWS_IN = 0.2, 11.0, 14.0
"""Height of a row, of all rows where that is more than they have, and where they are very many."""
_LEAST_ROW_IN, _NAME_ROW_IN = 0.1, 0.15
"""Least heights of a row that has room for a label, and for names in it; where rows are lower, not each has one."""
_LINE = 1.2
"""Height of a line of text, in parts of its font's size."""
_FEW = 0.3
"""Bars of at least this part of the height for messages have gaps between them."""
_LONGEST = 24
"""Letters of a label."""
_MARGIN = 0.01
"""Room right of the last end, in parts of the time shown."""
_LETTER = 0.62
"""Width of a letter, in parts of its font's size."""
_NAME_PT, _AXIS_PT, _LABEL_PT, _LEGEND_PT = 6.0, 7.0, 8.0, 7.0
"""Sizes of fonts: names in rows, labels and ticks beside a panel, its title, the legend."""
_COMPUTES, _SENDS, _RECEIVES, _CRITICAL = COLOURS[0], COLOURS[5], COLOURS[2], COLOURS[1]


def plot_timelines(
    timelines: Sequence[OverlayTimeline], path: Path, *, title: str, style: FigureStyle = DEFAULT_STYLE
) -> None:
    """A panel for each overlay, one below the other.

    Parameters
    ----------
    timelines : sequence of OverlayTimeline
        Of `MOST_ROWS` silos in all at most.
    path : Path
        PNG, PDF or SVG, by its ending; replaced if it exists.
    title : str
    style : FigureStyle

    Raises
    ------
    InputError
        If the file cannot be written.

    Notes
    -----
    The silos of the critical circuit are on top, in its order, so that its arcs lead from row to row. Messages that
    overlap share the height of their part of the row. No letters are smaller than 6 pt: where rows are too low, every
    second or third has a label.
    """
    with rc_context(style.rc()):
        save_figure(_figure(timelines, title, style), path)


def _figure(timelines: Sequence[OverlayTimeline], title: str, style: FigureStyle) -> Figure:
    """See `plot_timelines`."""
    rows = sum(len(each.labels) for each in timelines)
    row_in = _row_in(rows)
    # Rows of a narrow figure are no lower: letters are not smaller, either.
    heights_in = [row_in / min(1.0, style.factor) * (len(each.labels) + 1) for each in timelines]
    figure, axes = panels_figure(
        len(timelines),
        1,
        height_in=1.1 + sum(heights_in) + 0.55 * len(timelines),
        style=style,
        sharex=False,
    )
    grid = axes[0][0].get_gridspec()
    assert grid is not None  # of `subplots`
    grid.set_height_ratios(heights_in)
    unit = time_unit(max(each.end_s for each in timelines))
    for axis_row, each in zip(axes, timelines, strict=True):
        _panel(axis_row[0], each, row_in, unit, style)
    set_title(figure, title, style)
    shown: list[tuple[Artist, str]] = [
        (Patch(color=_COMPUTES), "computes"),
        (Patch(color=_SENDS), "sends"),
        (Patch(color=_RECEIVES), "receives"),
        (Line2D([], [], color="black", linewidth=0.8, marker="|", linestyle=""), "round starts"),
        (Line2D([], [], linestyle=""), "name: it waits for"),
    ]
    if row_in < _NAME_ROW_IN or not any((each.activity.last_arc >= 0).any() for each in timelines):
        shown.pop()
    if any(each.circuit for each in timelines):
        shown.append((Line2D([], [], color=_CRITICAL, linewidth=0.9), "critical circuit (paper)"))
    if any(each.activity.is_away.any() for each in timelines):
        shown.append((Patch(facecolor="0.85", hatch="////", edgecolor="0.6"), "away"))
    handles, names = zip(*shown, strict=True)
    add_legend(
        figure, handles, names, loc="outside lower center", ncols=balanced(len(names), most=style.letters(4)),
        frameon=False, fontsize=style.pt(_LEGEND_PT),
    )  # fmt: skip
    return figure


def _row_in(rows: int) -> float:
    """Height of a row in inches."""
    if rows * _ROW_IN <= _ROWS_IN:
        return _ROW_IN
    return _ROWS_IN / rows if rows * _LEAST_ROW_IN <= _ROWS_IN else min(_LEAST_ROW_IN, _MOST_ROWS_IN / rows)


def _panel(axis: Axes, timeline: OverlayTimeline, row_in: float, unit: str, style: FigureStyle) -> None:
    """One overlay; the unit of time is that of all panels."""
    silos, circuit = len(timeline.labels), timeline.circuit_silos
    order = row_order(timeline)
    place = np.empty(silos)
    place[order] = np.arange(silos)
    scale = TIME_UNITS[unit]
    axis.set_xlim(scale * timeline.begin_s, _right(timeline, scale))
    axis.set_ylim(silos - 0.4, -0.6)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(f"simulated time ({unit})", fontsize=style.pt(_LABEL_PT))
    axis.set_title(timeline.title, fontsize=style.pt(_LABEL_PT), parse_math=False)
    axis.tick_params(axis="x", labelsize=style.pt(_AXIS_PT))
    axis.tick_params(axis="y", length=0)
    _label_rows(axis, [timeline.labels[silo] for silo in order], len(circuit), row_in, style)
    _draw_silos(axis, timeline, place, scale, style)
    _draw_messages(axis, timeline, place, scale, style)
    width_pt = style.scaled(0.7 if row_in >= _LEAST_ROW_IN else 0.3)
    _draw_circuit(axis, timeline, place, scale, width_pt=width_pt)
    if row_in >= _NAME_ROW_IN:
        _name_waits(axis, timeline, place, scale, style)


def _right(timeline: OverlayTimeline, scale: float) -> float:
    """Right edge of a panel, beyond the tick of the last end; of a job without time as wide as a unit."""
    span_s = timeline.end_s - timeline.begin_s
    return scale * (timeline.end_s + _MARGIN * span_s) if span_s > 0 else scale * timeline.begin_s + 1.0


def _label_rows(
    axis: Axes, labels: Sequence[str], critical: int, row_in: float, style: FigureStyle = DEFAULT_STYLE
) -> None:
    """Names beside the rows, those of the critical circuit in its colour."""
    size_pt = style.pt(_AXIS_PT if row_in >= _NAME_ROW_IN else LEAST_PT)
    step = max(1, ceil(_LINE * size_pt / 72 / (row_in * max(1.0, style.factor)) * (1 - 1e-9)))
    shown = range(0, len(labels), step)
    axis.set_yticks(list(shown))
    axis.set_yticklabels(
        [_shortened(labels[row]) for row in shown],
        fontsize=size_pt,
        parse_math=False,
    )
    for row, text in zip(shown, axis.get_yticklabels(), strict=True):
        if row < critical:
            text.set_color(_CRITICAL)


def _shortened(label: str) -> str:
    """A label with an ellipsis where it is long."""
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _draw_silos(
    axis: Axes, timeline: OverlayTimeline, place: FloatArray, scale: float, style: FigureStyle
) -> None:
    """Bars of computing, a tick at each start of a round, and when a silo is away."""
    activity = timeline.activity
    rows = np.broadcast_to(place, activity.start_s.shape)
    here = ~activity.is_away
    begin, end = scale * activity.start_s, scale * (activity.start_s + activity.compute_s)
    _bars(axis, begin[here], end[here], rows[here], COMPUTE_PART, facecolor=_COMPUTES)
    # The end of the last round, too, where a silo's row ends.
    last = ~activity.is_away[-1]
    dates = np.append(begin[here], scale * activity.next_start_s[-1][last])
    ticks = [
        [(x, y - 0.46), (x, y + 0.08)] for x, y in zip(dates, np.append(rows[here], place[last]), strict=True)
    ]
    axis.add_collection(LineCollection(ticks, colors="black", linewidths=style.scaled(0.5)), autolim=False)
    gone = activity.is_away & (activity.away_s > 0)
    away: dict[str, Any] = {"facecolor": "0.92", "edgecolor": "0.7", "hatch": "////"}
    _bars(
        axis,
        begin[gone],
        scale * activity.next_start_s[gone],
        rows[gone],
        (-0.42, 0.43),
        linewidth=0.0,
        **away,
    )
    still = activity.is_away[-1] & (activity.away_s[-1] == 0)
    until = np.full(int(still.sum()), scale * timeline.end_s)
    _bars(axis, begin[-1][still], until, place[still], (-0.42, 0.43), linewidth=0.0, **away)


def _draw_messages(
    axis: Axes, timeline: OverlayTimeline, place: FloatArray, scale: float, style: FigureStyle
) -> None:
    """Thin bars of what leaves and what arrives while a silo is in these rounds; overlapping ones are stacked."""
    for bars, part, colour in zip(
        message_bars(timeline), (SEND_PART, RECEIVE_PART), (_SENDS, _RECEIVES), strict=True
    ):
        # Between many bars there is no room for gaps.
        gaps_pt = np.where(bars.high - bars.low > _FEW * (part[1] - part[0]), style.scaled(0.2), 0.0)
        _bars(
            axis, scale * bars.begin_s, scale * bars.end_s, place[bars.silo], (bars.low, bars.high),
            facecolor=colour, edgecolor="white", linewidth=gaps_pt,
        )  # fmt: skip


def _draw_circuit(
    axis: Axes, timeline: OverlayTimeline, place: FloatArray, scale: float, *, width_pt: float
) -> None:
    """An arrow for each message of the critical circuit's arcs, from its start to its arrival; its own computing.

    A silo that waits for its own computing is a line along that.
    """
    middle_send, middle_receive = sum(SEND_PART) / 2, sum(RECEIVE_PART) / 2
    lines = [
        [(scale * start_s, place[i] + middle_send), (scale * arrival_s, place[j] + middle_receive)]
        for i, j, start_s, arrival_s in circuit_messages(timeline)
    ]
    axis.add_collection(
        LineCollection(lines, colors=_CRITICAL, linewidths=width_pt, alpha=0.8), autolim=False
    )
    heads = [line[1] for line in lines]
    middle = sum(COMPUTE_PART) / 2
    computing = [
        [(scale * begin_s, place[silo] + middle), (scale * end_s, place[silo] + middle)]
        for silo, begin_s, end_s in circuit_computing(timeline)
    ]
    axis.add_collection(
        LineCollection(computing, colors=_CRITICAL, linewidths=2 * width_pt, alpha=0.9), autolim=False
    )
    axis.plot(
        [x for x, _ in heads],
        [y for _, y in heads],
        marker=".",
        markersize=3.5 * width_pt,
        linestyle="",
        color=_CRITICAL,
    )


def _name_waits(
    axis: Axes, timeline: OverlayTimeline, place: FloatArray, scale: float, style: FigureStyle
) -> None:
    """Names of those that silos wait for, in the gaps that have room for them."""
    left, right = axis.get_xlim()
    # The labels beside the panel take about a fifth of the width.
    size_pt = style.pt(_NAME_PT)
    letter = (right - left) * _LETTER * size_pt / 72 / (0.8 * style.width_in)
    for silo, begin_s, end_s, name in waits(timeline):
        begin, end = max(left, scale * begin_s), min(right, scale * end_s)
        if (len(name) + 1) * letter <= end - begin:
            axis.text(
                (begin + end) / 2, place[silo] + sum(COMPUTE_PART) / 2, name, fontsize=size_pt, color="0.25",
                ha="center", va="center", parse_math=False, clip_on=True, zorder=4,
                bbox={"facecolor": "white", "linewidth": 0.0, "alpha": 0.8, "pad": 0.3},
            )  # fmt: skip


def _bars(
    axis: Axes,
    begin: FloatArray,
    end: FloatArray,
    row: FloatArray,
    part: tuple[float | FloatArray, float | FloatArray],
    **options: Any,
) -> None:
    """Rectangles from one date to another, in a part of their rows."""
    if not len(begin):
        return
    low, high = row + part[0], row + part[1]
    xs = np.stack((begin, end, end, begin), axis=1)
    ys = np.stack((low, low, high, high), axis=1)
    corners = np.stack((xs, ys), axis=2)
    axis.add_collection(PolyCollection(list(corners), **{"linewidth": 0.0} | options), autolim=False)
