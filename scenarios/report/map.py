"""Maps of networks for papers: PNG, PDF and SVG."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import patheffects, rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.ticker import MaxNLocator, NullLocator

from scenarios.config.quantities import format_rate
from scenarios.report.figure_parts import save_figure
from scenarios.report.log_axis import log_ticks
from scenarios.report.map_layout import FONT_PT, MANY_LINES, WIDTH_PT, MapLayout, map_layout
from topologies.underlay import Underlay
from topologies.wrapping import wrapped

SPEEDS = LinearSegmentedColormap.from_list("speeds", ["#F0953F", "#DB4F5B", "#85318E", "#1D2671"])
"""Slow links in a light warm colour, fast ones in a dark cold one: told apart in grey, and by colour-blind readers."""
_GROUND = {"sea": "#DCE6EC", "land": "#EFEDE6", "plain": "#F7F7F5"}
_COAST, _GRID, _TEXT = "#C4C9C4", "#FFFFFF", "0.25"
_LEFT_PT, _RIGHT_PT, _TOP_PT, _TICKS_PT = 34.0, 10.0, 28.0, 15.0
_LEGEND_LINE_PT, _SCALE_PT, _NOTE_PT = 11.5, 36.0, 10.0
_NOTE_LETTERS, _COLUMNS = 120, 4
_BESIDE_SCALE = 0.47
"""Where the texts beside the scale begin, in parts of the map's width."""
_SCALE_BAR_DEG = 60.0
"""Widest window in which one length in km fits all places."""


def plot_map(underlay: Underlay, path: Path) -> None:
    """Draw a network on a map.

    Parameters
    ----------
    underlay : Underlay
    path : Path
        PNG, PDF or SVG, by its ending. Texts in an SVG are texts.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    with rc_context({"svg.fonttype": "none"}):
        save_figure(map_figure(map_layout(underlay)), path)


def map_figure(layout: MapLayout) -> Figure:
    """The figure of a map, as high as the map, its legend and its notes need.

    Parameters
    ----------
    layout : MapLayout

    Returns
    -------
    Figure
    """
    notes = [line for note in layout.notes for line in wrapped(note, _NOTE_LETTERS)]
    rows = -(-len(layout.legend) // _COLUMNS)
    columns = -(-len(layout.legend) // max(rows, 1))
    legend_pt = _LEGEND_LINE_PT * rows + 4
    key_pt = _SCALE_PT if layout.scale is not None else legend_pt
    below_pt = (_TICKS_PT if layout.is_geographic else 6.0) + key_pt + _NOTE_PT * len(notes) + 6
    width, height = _LEFT_PT + WIDTH_PT + _RIGHT_PT, _TOP_PT + layout.height_pt + below_pt
    figure = Figure(figsize=(width / 72, height / 72))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((_LEFT_PT / width, below_pt / height, WIDTH_PT / width, layout.height_pt / height))
    _draw_ground(axes, layout)
    _draw_lines(axes, layout)
    _draw_sites(axes, layout)
    figure.text(_LEFT_PT / width, 1 - 18 / height, layout.title, fontsize=10, weight="bold", parse_math=False)
    for row, line in enumerate(reversed(notes)):
        figure.text(
            _LEFT_PT / width, (6 + _NOTE_PT * row) / height, line, fontsize=6.5, color=_TEXT, parse_math=False
        )
    key_bottom = 6 + _NOTE_PT * len(notes)
    if layout.scale is not None:
        _draw_scale(figure, layout, (key_bottom + 20) / height, width, height)
    if layout.legend:
        pair = layout.scale is not None
        handles = [
            Line2D([], [], **_style(entry.speed, entry.is_dashed, many=False, pair=pair))
            for entry in layout.legend
        ]
        left = _LEFT_PT + (_BESIDE_SCALE * WIDTH_PT if pair else 0.0)
        figure.legend(
            handles,
            [entry.text for entry in layout.legend],
            loc="lower left",
            bbox_to_anchor=(left / width, (key_bottom + (6 if pair else 0)) / height),
            borderaxespad=0,
            borderpad=0,
            ncols=max(columns, 1),
            frameon=False,
            fontsize=7.5,
            handlelength=3.4,
        )
    return figure


def _draw_ground(axes: Axes, layout: MapLayout) -> None:
    """Sea, land, the grid of degrees, and a bar of some km."""
    window = layout.window
    axes.set_xlim(window.west, window.east)
    axes.set_ylim(window.south, window.north)
    axes.spines[:].set_color("0.75")
    axes.spines[:].set_linewidth(0.6)
    axes.set_facecolor(_GROUND[layout.ground])
    if not layout.is_geographic:
        axes.set_xticks([])
        axes.set_yticks([])
        return
    if layout.land:
        rings = [np.concatenate([ring, ring[:1]]) for ring in layout.land]
        outline = Outline.make_compound_path(*(Outline(ring, closed=True) for ring in rings))
        # The ground hides the strokes between a ring and the same one a turn on, at a pole.
        axes.add_patch(PathPatch(outline, fill=False, edgecolor=_COAST, linewidth=0.7, zorder=0.4))
        axes.add_patch(PathPatch(outline, facecolor=_GROUND["land"], linewidth=0, zorder=0.5))
    steps = [1, 3, 6, 10] if window.east - window.west > 90 else [1, 2, 5, 10]
    axes.xaxis.set_major_locator(MaxNLocator(7, steps=steps))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=steps))
    for axis, sides in ((axes.xaxis, "EW"), (axes.yaxis, "NS")):
        low, high = sorted(axis.get_view_interval())
        ticks = [float(f"{tick:.10g}") for tick in axis.get_majorticklocs() if low <= tick <= high]
        decimals = max((len(f"{tick:.10g}".partition(".")[2]) for tick in ticks), default=0)
        axis.set_ticks(ticks, [_degrees(tick, sides, decimals) for tick in ticks])
    axes.tick_params(labelsize=6.5, labelcolor="0.45", length=0, pad=3)
    axes.grid(visible=True, color=_GRID, linewidth=0.5, alpha=0.8)
    axes.set_axisbelow(True)
    if window.east - window.west <= _SCALE_BAR_DEG:
        _draw_scale_bar(axes, layout)


def _degrees(angle: float, sides: str, decimals: int) -> str:
    """Degrees with their side, beyond the date line, too."""
    turned = (angle + 180) % 360 - 180 if sides == "EW" else angle
    side = "" if turned in (0, -180) else sides[turned < 0]
    return f"{abs(turned):.{decimals}f}°{side}"


def _draw_scale_bar(axes: Axes, layout: MapLayout) -> None:
    """A bar of a round number of km in the lower right corner."""
    window = layout.window
    most = window.width_km / 5
    power = 10.0 ** math.floor(math.log10(most))
    length = max(factor * power for factor in (1, 2, 5) if factor * power <= most)
    part = length / window.width_km
    axes.plot(
        [0.975 - part, 0.975], [0.03, 0.03], transform=axes.transAxes, color="0.3", linewidth=1.2, zorder=6
    )
    axes.text(
        0.975 - part / 2,
        0.038,
        f"{length:g} km" if length >= 1 else f"{1000 * length:g} m",
        transform=axes.transAxes,
        ha="center",
        va="bottom",
        fontsize=6.5,
        color="0.3",
        zorder=6,
    )


def _draw_lines(axes: Axes, layout: MapLayout) -> None:
    """Links or pairs, in their order, as one collection: thousands of artists take long."""
    many, pair = len(layout.lines) > MANY_LINES, layout.scale is not None
    parts = [(path, line) for line in layout.lines for path in line.paths]
    styles = [_style(line.speed, line.is_dashed, many=many, pair=pair) for _, line in parts]
    axes.add_collection(
        LineCollection(
            [path for path, _ in parts],
            colors=[style["color"] for style in styles],
            linewidths=[style["linewidth"] for style in styles],
            linestyles=[style["linestyle"] for style in styles],
            alpha=0.6 if many else 0.9,
            capstyle="round",
            zorder=2,
        ),
        autolim=False,
    )


def _style(speed: float, is_dashed: bool, *, many: bool, pair: bool = False) -> dict[str, Any]:
    """How a line looks."""
    return {
        "color": SPEEDS(speed),
        "linewidth": (0.9 if pair else 0.9 + 1.3 * speed) * (0.6 if many else 1.0),
        "linestyle": (0, (3.5, 1.6)) if is_dashed else "solid",
    }


def _draw_sites(axes: Axes, layout: MapLayout) -> None:
    """Sites and their names."""
    axes.scatter(
        layout.x,
        layout.y,
        s=layout.dot_pt**2,
        color="#222222",
        edgecolors="white",
        linewidths=0.6,
        zorder=4,
        clip_on=False,
    )
    # A text with an outline is drawn as paths; the text itself stays one, which an SVG's readers can find.
    halo: dict[str, Any] = {
        "color": "white",
        "zorder": 5,
        "path_effects": [patheffects.Stroke(linewidth=1.8, foreground="white")],
    }
    for label in layout.labels:
        leader = {
            "arrowstyle": "-",
            "color": "0.35",
            "linewidth": 0.5,
            "shrinkA": 0,
            "shrinkB": 2,
            "relpos": ((0.5, 0.0 if label.up_pt > 0 else 1.0), (0.0, 0.5), (1.0, 0.5))[label.side],
        }
        for style in (
            halo,
            {"color": "#111111", "zorder": 6, "arrowprops": leader if label.has_leader else None},
        ):
            axes.annotate(
                label.text,
                (layout.x[label.site], layout.y[label.site]),
                xytext=(label.right_pt, label.up_pt),
                textcoords="offset points",
                ha=("center", "left", "right")[label.side],
                va="center_baseline",
                fontsize=FONT_PT,
                parse_math=False,
                **style,
            )


def _draw_scale(figure: Figure, layout: MapLayout, bottom: float, width: float, height: float) -> None:
    """A bar of colours for measured bandwidth."""
    scale = layout.scale
    assert scale is not None
    axes = figure.add_axes((_LEFT_PT / width, bottom, 0.42 * WIDTH_PT / width, 7 / height))
    high = scale.high_bps if scale.high_bps > scale.low_bps else 1.001 * scale.low_bps
    bar = figure.colorbar(
        ScalarMappable(LogNorm(scale.low_bps, high), SPEEDS), cax=axes, orientation="horizontal"
    )
    ticks = log_ticks(scale.low_bps, high, 5) if scale.high_bps > scale.low_bps else [scale.low_bps]
    bar.set_ticks(ticks, labels=[format_rate(tick) for tick in ticks])
    bar.ax.xaxis.set_minor_locator(NullLocator())
    bar.ax.tick_params(labelsize=6.5, length=2, pad=2)
    bar.outline.set_linewidth(0.4)
    figure.text(
        (_LEFT_PT + _BESIDE_SCALE * WIDTH_PT) / width,
        bottom,
        scale.title,
        fontsize=7.5,
        color=_TEXT,
        va="bottom",
    )
