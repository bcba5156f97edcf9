"""Maps of networks for papers: PNG, PDF and SVG."""

import math
from dataclasses import dataclass, replace
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
from scenarios.report.figure_style import NOTE_PT, SMALL_PT, TITLE_PT, FigureStyle
from scenarios.report.log_axis import log_ticks
from scenarios.report.map_layout import FONT_PT, MANY_LINES, USUAL_PAGE, WIDTH_PT, MapLayout, Page, map_layout
from topologies.underlay import Underlay
from topologies.wrapping import wrapped

SPEEDS = LinearSegmentedColormap.from_list("speeds", ["#F0953F", "#DB4F5B", "#85318E", "#1D2671"])
"""Slow links in a light warm colour, fast ones in a dark cold one: told apart in grey, and by colour-blind readers."""
_GROUND = {"sea": "#DCE6EC", "land": "#EFEDE6", "plain": "#F7F7F5"}
_COAST, _GRID, _TEXT = "#C4C9C4", "#FFFFFF", "0.25"
_LEFT_PT, _RIGHT_PT, _TOP_PT, _TICKS_PT = 34.0, 10.0, 28.0, 15.0
_LEGEND_LINE_PT, _SCALE_PT, _NOTE_LINE_PT, _TITLE_LINE_PT = 11.5, 36.0, 10.0, 12.0
_NOTE_LETTERS, _TITLE_LETTERS, _COLUMNS = 120, 70, 4
_LETTER, _HANDLE_LETTERS = 0.55, 9
"""Width of a letter in parts of the font's size, and letters that line and gap beside a name take."""
MAP_STYLE = FigureStyle(
    width_in=(_LEFT_PT + WIDTH_PT + _RIGHT_PT) / 72, reference_in=(_LEFT_PT + WIDTH_PT + _RIGHT_PT) / 72
)
"""Of a map whose width is not asked for."""
_BESIDE_SCALE = 0.47
"""Where the texts beside the scale begin, in parts of the map's width."""
_SCALE_BAR_DEG = 60.0
"""Widest window in which one length in km fits all places."""


def plot_map(underlay: Underlay, path: Path, *, style: FigureStyle | None = None) -> None:
    """Draw a network on a map.

    Parameters
    ----------
    underlay : Underlay
    path : Path
        PNG, PDF or SVG, by its ending. Texts in an SVG are texts.
    style : FigureStyle, optional
        Of which the width counts.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    own = MAP_STYLE if style is None else replace(MAP_STYLE, width_in=style.width_in)
    with rc_context({**own.rc(), "svg.fonttype": "none"}):
        save_figure(map_figure(map_layout(underlay, _page(own)), own), path)


def _page(style: FigureStyle) -> Page:
    """Room for the map itself: of a figure that is magnified, or of a narrow one with its fonts."""
    if style.factor >= 1:
        return USUAL_PAGE
    beside = style.scaled(_LEFT_PT + _RIGHT_PT)
    return Page(width_pt=72 * style.width_in - beside, font_pt=style.pt(FONT_PT))


def map_figure(layout: MapLayout, style: FigureStyle = MAP_STYLE) -> Figure:
    """The figure of a map, as high as the map, its legend and its notes need.

    Parameters
    ----------
    layout : MapLayout
    style : FigureStyle

    Returns
    -------
    Figure
    """
    sizes = _Sizes(layout, style)
    letters = int(_NOTE_LETTERS * layout.page.width_pt / WIDTH_PT * NOTE_PT / style.pt(NOTE_PT) * sizes.zoom)
    notes = [line for note in layout.notes for line in wrapped(note, letters)]
    titles = wrapped(layout.title, style.letters(_TITLE_LETTERS)) if style.is_narrow else [layout.title]
    rows = -(-len(layout.legend) // sizes.columns)
    columns = -(-len(layout.legend) // max(rows, 1))
    legend_pt = (_LEGEND_LINE_PT * rows + 4) * style.pt(SMALL_PT) / SMALL_PT
    key_pt = legend_pt if layout.scale is None else sizes.lines(_SCALE_PT)
    if layout.scale is not None and style.is_narrow:
        # The texts beside the scale stand above it, and the legend below.
        key_pt += sizes.lines(_LEGEND_LINE_PT) + (legend_pt if layout.legend else 0.0)
    gap = sizes.lines(6.0)
    below_pt = sizes.lines(_TICKS_PT if layout.is_geographic else 6.0) + key_pt
    below_pt += sizes.lines(_NOTE_LINE_PT * len(notes)) + gap
    above_pt = sizes.lines(_TOP_PT + _TITLE_LINE_PT * (len(titles) - 1))
    width, height = sizes.width_pt, above_pt + sizes.map_height_pt + below_pt
    figure = Figure(figsize=(width / 72, height / 72))
    FigureCanvasAgg(figure)
    left, map_width = sizes.left_pt / width, sizes.map_width_pt / width
    axes = figure.add_axes((left, below_pt / height, map_width, sizes.map_height_pt / height))
    _draw_ground(axes, layout, sizes)
    _draw_lines(axes, layout, sizes)
    _draw_sites(axes, layout, sizes)
    for row, line in enumerate(titles):
        down = sizes.lines(18 + _TITLE_LINE_PT * row) / height
        figure.text(left, 1 - down, line, fontsize=style.pt(TITLE_PT), weight="bold", parse_math=False)
    for row, line in enumerate(reversed(notes)):
        up = sizes.lines(6 + _NOTE_LINE_PT * row) / height
        figure.text(left, up, line, fontsize=style.pt(NOTE_PT), color=_TEXT, parse_math=False)
    key_bottom = sizes.lines(6 + _NOTE_LINE_PT * len(notes))
    pair = layout.scale is not None
    beside = pair and not style.is_narrow
    if pair:
        bottom = key_bottom + sizes.lines(20) + (legend_pt if layout.legend and style.is_narrow else 0.0)
        _draw_scale(figure, layout, bottom / height, width, height, sizes)
    if layout.legend:
        handles = [
            Line2D([], [], **_style(entry.speed, entry.is_dashed, many=False, pair=pair, sizes=sizes))
            for entry in layout.legend
        ]
        at = sizes.left_pt + (_BESIDE_SCALE * sizes.map_width_pt if beside else 0.0)
        figure.legend(
            handles,
            [entry.text for entry in layout.legend],
            loc="lower left",
            bbox_to_anchor=(at / width, (key_bottom + (gap if beside else 0)) / height),
            borderaxespad=0,
            borderpad=0,
            ncols=max(columns, 1),
            frameon=False,
            fontsize=style.pt(SMALL_PT),
            handlelength=3.4,
        )
    return figure


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Lengths in points of a map of some width.

    Attributes
    ----------
    layout : MapLayout
    style : FigureStyle
    """

    layout: MapLayout
    style: FigureStyle

    @property
    def zoom(self) -> float:
        """Points of the figure for one of the layout: more than one where the figure is magnified."""
        return max(1.0, self.style.factor)

    def lines(self, length_pt: float) -> float:
        """Height of lines of text, in proportion to the smallest letters."""
        return length_pt * self.style.pt(NOTE_PT) / NOTE_PT

    @property
    def left_pt(self) -> float:
        """Left of the map."""
        return self.style.scaled(_LEFT_PT)

    @property
    def map_width_pt(self) -> float:
        """Width of the map itself."""
        return self.zoom * self.layout.page.width_pt

    @property
    def map_height_pt(self) -> float:
        """Height of the map itself."""
        return self.zoom * self.layout.height_pt

    @property
    def width_pt(self) -> float:
        """Width of the figure."""
        return self.left_pt + self.map_width_pt + self.style.scaled(_RIGHT_PT)

    @property
    def columns(self) -> int:
        """Columns of the legend that have room."""
        longest = max((len(entry.text) for entry in self.layout.legend), default=0) + _HANDLE_LETTERS
        return max(1, min(_COLUMNS, int(self.map_width_pt / (_LETTER * self.style.pt(SMALL_PT) * longest))))


def _draw_ground(axes: Axes, layout: MapLayout, sizes: "_Sizes") -> None:
    """Sea, land, the grid of degrees, and a bar of some km."""
    window = layout.window
    axes.set_xlim(window.west, window.east)
    axes.set_ylim(window.south, window.north)
    axes.spines[:].set_color("0.75")
    style = sizes.style
    axes.spines[:].set_linewidth(style.scaled(0.6))
    axes.set_facecolor(_GROUND[layout.ground])
    if not layout.is_geographic:
        axes.set_xticks([])
        axes.set_yticks([])
        return
    if layout.land:
        rings = [np.concatenate([ring, ring[:1]]) for ring in layout.land]
        outline = Outline.make_compound_path(*(Outline(ring, closed=True) for ring in rings))
        # The ground hides the strokes between a ring and the same one a turn on, at a pole. As patches they would be
        # looked at segment by segment for limits, which are set.
        axes.add_artist(
            PathPatch(outline, fill=False, edgecolor=_COAST, linewidth=style.scaled(0.7), zorder=0.4)
        )
        axes.add_artist(PathPatch(outline, facecolor=_GROUND["land"], linewidth=0, zorder=0.5))
    steps = [1, 3, 6, 10] if window.east - window.west > 90 else [1, 2, 5, 10]
    axes.xaxis.set_major_locator(MaxNLocator(style.ticks(7), steps=steps))
    axes.yaxis.set_major_locator(MaxNLocator(style.ticks(6), steps=steps))
    for axis, sides in ((axes.xaxis, "EW"), (axes.yaxis, "NS")):
        low, high = sorted(axis.get_view_interval())
        ticks = [float(f"{tick:.10g}") for tick in axis.get_majorticklocs() if low <= tick <= high]
        decimals = max((len(f"{tick:.10g}".partition(".")[2]) for tick in ticks), default=0)
        axis.set_ticks(ticks, [_degrees(tick, sides, decimals) for tick in ticks])
    axes.tick_params(labelsize=style.pt(NOTE_PT), labelcolor="0.45", length=0, pad=style.scaled(3))
    axes.grid(visible=True, color=_GRID, linewidth=style.scaled(0.5), alpha=0.8)
    axes.set_axisbelow(True)
    if window.east - window.west <= _SCALE_BAR_DEG:
        _draw_scale_bar(axes, layout, style)


def _degrees(angle: float, sides: str, decimals: int) -> str:
    """Degrees with their side, beyond the date line, too."""
    turned = (angle + 180) % 360 - 180 if sides == "EW" else angle
    side = "" if turned in (0, -180) else sides[turned < 0]
    return f"{abs(turned):.{decimals}f}°{side}"


def _draw_scale_bar(axes: Axes, layout: MapLayout, style: FigureStyle) -> None:
    """A bar of a round number of km in the lower right corner, or in the left one if only that is free."""
    window = layout.window
    most = window.width_km / 5
    power = 10.0 ** math.floor(math.log10(most))
    length = max(factor * power for factor in (1, 2, 5) if factor * power <= most)
    part = length / window.width_km
    width_pt, height_pt = layout.page.width_pt, layout.height_pt
    size_pt = style.pt(NOTE_PT) / max(1.0, style.factor)

    def is_free(right: float) -> bool:
        left_pt, right_pt = (right - part) * width_pt, right * width_pt
        # With a line of text above it, which may be somewhat longer than it.
        return layout.is_free(left_pt - 4, 0.0, right_pt + 4, 0.038 * height_pt + 1.2 * size_pt)

    right = 0.025 + part if is_free(0.025 + part) and not is_free(0.975) else 0.975
    ends, width = [right - part, right], style.scaled(1.2)
    axes.plot(ends, [0.03, 0.03], transform=axes.transAxes, color="0.3", linewidth=width, zorder=6)
    axes.text(
        right - part / 2,
        0.038,
        f"{length:g} km" if length >= 1 else f"{1000 * length:g} m",
        transform=axes.transAxes,
        ha="center",
        va="bottom",
        fontsize=style.pt(NOTE_PT),
        color="0.3",
        zorder=6,
    )


def _draw_lines(axes: Axes, layout: MapLayout, sizes: "_Sizes") -> None:
    """Links or pairs, in their order, as one collection: thousands of artists take long."""
    many, pair = len(layout.lines) > MANY_LINES, layout.scale is not None
    parts = [(path, line) for line in layout.lines for path in line.paths]
    styles = [_style(line.speed, line.is_dashed, many=many, pair=pair, sizes=sizes) for _, line in parts]
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


def _style(speed: float, is_dashed: bool, *, many: bool, pair: bool, sizes: "_Sizes") -> dict[str, Any]:
    """How a line looks."""
    width = (0.9 if pair else 0.9 + 1.3 * speed) * (0.6 if many else 1.0)
    return {
        "color": SPEEDS(speed),
        "linewidth": sizes.style.scaled(width),
        "linestyle": (0, (3.5, 1.6)) if is_dashed else "solid",
    }


def _draw_sites(axes: Axes, layout: MapLayout, sizes: "_Sizes") -> None:
    """Sites and their names."""
    scaled, zoom = sizes.style.scaled, sizes.zoom
    axes.scatter(
        layout.x,
        layout.y,
        s=scaled(layout.dot_pt) ** 2,
        color="#222222",
        edgecolors="white",
        linewidths=scaled(0.6),
        zorder=4,
        clip_on=False,
    )
    # A text with an outline is drawn as paths; the text itself stays one, which an SVG's readers can find.
    halo: dict[str, Any] = {
        "color": "white",
        "zorder": 5,
        "path_effects": [patheffects.Stroke(linewidth=scaled(1.8), foreground="white")],
    }
    for label in layout.labels:
        leader = {
            "arrowstyle": "-",
            "color": "0.35",
            "linewidth": scaled(0.5),
            "shrinkA": 0,
            "shrinkB": scaled(2),
            "relpos": ((0.5, 0.0 if label.up_pt > 0 else 1.0), (0.0, 0.5), (1.0, 0.5))[label.side],
        }
        for style in (
            halo,
            {"color": "#111111", "zorder": 6, "arrowprops": leader if label.has_leader else None},
        ):
            axes.annotate(
                label.text,
                (layout.x[label.site], layout.y[label.site]),
                xytext=(zoom * label.right_pt, zoom * label.up_pt),
                textcoords="offset points",
                ha=("center", "left", "right")[label.side],
                va="center_baseline",
                fontsize=zoom * layout.page.font_pt,
                parse_math=False,
                **style,
            )


def _draw_scale(
    figure: Figure, layout: MapLayout, bottom: float, width: float, height: float, sizes: _Sizes
) -> None:
    """A bar of colours for measured bandwidth."""
    scale, style = layout.scale, sizes.style
    assert scale is not None
    thick = sizes.lines(7) / height
    left, part = sizes.left_pt / width, 0.95 if style.is_narrow else 0.42
    axes = figure.add_axes((left, bottom, part * sizes.map_width_pt / width, thick))
    # A single bandwidth is in the middle, whose colour all lines have then.
    beyond = 1.0 if scale.high_bps > scale.low_bps else 1.001
    low, high = scale.low_bps / beyond, scale.high_bps * beyond
    bar = figure.colorbar(ScalarMappable(LogNorm(low, high), SPEEDS), cax=axes, orientation="horizontal")
    ticks = log_ticks(low, high, 5) if beyond == 1 else [scale.low_bps]
    bar.set_ticks(ticks, labels=[format_rate(tick) for tick in ticks])
    bar.ax.xaxis.set_minor_locator(NullLocator())
    bar.ax.tick_params(labelsize=style.pt(NOTE_PT), length=style.scaled(2), pad=style.scaled(2))
    bar.outline.set_linewidth(style.scaled(0.4))
    # Above a scale that is as wide as the map, else beside it.
    beside = 0.0 if style.is_narrow else _BESIDE_SCALE * sizes.map_width_pt
    figure.text(
        (sizes.left_pt + beside) / width,
        bottom + (1.5 * thick if style.is_narrow else 0.0),
        scale.title,
        fontsize=style.pt(SMALL_PT),
        color=_TEXT,
        va="bottom",
    )
