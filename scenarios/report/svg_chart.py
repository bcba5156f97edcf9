"""Line charts as SVG: axes with units, one style for each overlay, a title and words for those who do not see it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.ticker import MaxNLocator

from scenarios.report.line_styles import LineStyle
from scenarios.report.log_axis import log_ticks
from scenarios.report.web_page import text
from topologies.arrays import BoolArray, FloatArray, IntArray

WIDTH, HEIGHT = 480.0, 300.0
"""Of a chart, in its own units; texts are 12 of them high."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 14.0, 12.0, 48.0
_MOST_X, _MOST_Y = 6, 7
"""Ticks that have room."""
_DECADE = 10.0
_MARGIN = 0.04
_BUCKETS = 400
"""Places along the axis at which a line has its lowest and highest point drawn, about one for each pixel."""
_DASHES = {"-": "", "--": "5.5 2.4", "-.": "7 2 1.4 2", ":": "1.4 2.2"}
_LINE_WIDTH = 1.6
CHART_STYLE = """
svg.chart { display: block; width: 100%; height: auto; max-width: 40rem; }
svg.chart text { font: 12px system-ui, sans-serif; fill: var(--text); }
svg.chart text.warned { font-weight: 700; }
svg.chart .frame { fill: none; stroke: var(--quiet); stroke-width: 0.8px; }
svg.chart .grid { stroke: var(--rule); stroke-width: 0.7px; }
svg.chart .target, svg.chart .cursor { stroke: var(--quiet); stroke-width: 1px; stroke-dasharray: 4 3; }
.curve { fill: none; stroke-width: 1.6px; stroke-linejoin: round; } .curve.thin { stroke-width: 0.8px; opacity: 0.75; }
.band { stroke: none; opacity: 0.16; } .bar { stroke-width: 1px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(max(40%, min(100%, 26rem)), 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: 0.2rem; }
ul.legend svg line { stroke-width: 2px; }
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartAxis:
    """An axis.

    Attributes
    ----------
    label : str
        With the unit, where the ticks have none.
    low, high : float
        Ends, in the unit of the data.
    is_log : bool
    ticks : sequence of (float, str)
    """

    label: str
    low: float
    high: float
    is_log: bool
    ticks: Sequence[tuple[float, str]]

    def parts(self, values: FloatArray) -> FloatArray:
        """Places of values in parts of the axis' length."""
        if self.is_log:
            return np.log(values / self.low) / math.log(self.high / self.low)
        return (values - self.low) / (self.high - self.low)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ChartLine:
    """A line, broken where a number is missing.

    Attributes
    ----------
    style : str
        Class of its style, see `line_classes`.
    x, y : array of float, shape (points,)
    low, high : array of float, shape (points,), optional
        Ends of its band, or of bars.
    is_thin : bool
    has_bars : bool
        Whether `low` and `high` are drawn as bars, not as a band.
    is_joined : bool
        Whether points are joined.
    has_dots : bool
        Whether points are dots, where there are few of them.
    warned : array of bool, shape (points,), optional
        Points with an exclamation mark.
    """

    style: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    is_thin: bool = False
    has_bars: bool = False
    is_joined: bool = True
    has_dots: bool = True
    warned: BoolArray | None = None


def chart_axis(
    label: str,
    values: Sequence[FloatArray],
    *,
    is_x: bool,
    is_log: bool | None = None,
    factor: float = 1.0,
    show: Callable[[float], str] = "{:.6g}".format,
    whole: bool = False,
) -> ChartAxis:
    """An axis around values.

    Parameters
    ----------
    label : str
    values : sequence of arrays
        All that is drawn; what is no finite number does not count.
    is_x : bool
        Whether it goes to the right.
    is_log : bool, optional
        By default where all are positive and span more than a decade.
    factor : float
        From the data's unit to that of the ticks.
    show : callable
        Text of a tick in its unit.
    whole : bool
        Whether ticks are whole numbers.
    """
    there = np.concatenate([np.zeros(0), *(np.ravel(each) for each in values)])
    there = there[np.isfinite(there)]
    if is_log is None:
        is_log = bool(len(there) and there.min() > 0 and there.max() > _DECADE * there.min())
    if is_log:
        there = there[there > 0]
    low, high = (float(there.min()), float(there.max())) if len(there) else (1.0, 10.0)
    most = _MOST_X if is_x else _MOST_Y
    if is_log:
        margin = (high / low) ** _MARGIN if high > low * 1.001 else 1.05
        low, high = low / margin, high * margin
        places = [tick / factor for tick in log_ticks(low * factor, high * factor, most)]
    else:
        margin = _MARGIN * (high - low) if high > low else 0.05 * abs(high) or 1.0
        low, high = low - margin, high + margin
        even = MaxNLocator(most - 1, steps=[1, 2, 2.5, 5, 10], integer=whole).tick_values(
            low * factor, high * factor
        )
        places = [tick / factor for tick in (float(f"{tick:.12g}") for tick in even)]
        places = [place for place in places if low <= place <= high]
    return ChartAxis(
        label=label,
        low=low,
        high=high,
        is_log=is_log,
        ticks=[(place, show(float(f"{place * factor:.12g}"))) for place in places],
    )


def category_axis(label: str, names: Sequence[str]) -> ChartAxis:
    """An axis with a place for each text, 0, 1 and so on."""
    step = -(-len(names) // 12) or 1
    ticks = [(float(place), name[:12]) for place, name in enumerate(names)][::step]
    return ChartAxis(label=label, low=-0.5, high=len(names) - 0.5, is_log=False, ticks=ticks)


def line_chart(
    name: str,
    title: str,
    said: str,
    x: ChartAxis,
    y: ChartAxis,
    lines: Sequence[ChartLine],
    *,
    target: float | None = None,
    inside: str = "",
) -> str:
    """A chart.

    Parameters
    ----------
    name : str
        That no other element of the page has.
    title, said : str
        What it shows, in a few words and in a sentence or two, for those who do not see it.
    x, y : ChartAxis
    lines : sequence of ChartLine
    target : float, optional
        Of y, drawn as a thin line.
    inside : str
        SVG that is added.

    Returns
    -------
    str
        SVG; it has the ends of both axes as ``data-`` attributes for scripts.
    """
    ends = " ".join(
        f'data-{axis_name}="{axis.low!r} {axis.high!r} {int(axis.is_log)}"'
        for axis_name, axis in (("x", x), ("y", y))
    )
    parts = [
        f'<svg class="chart" id="{name}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-labelledby="{name}-title {name}-said" {ends}>',
        f'<title id="{name}-title">{text(title)}</title><desc id="{name}-said">{text(said)}</desc>',
    ]
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    for place, label in x.ticks:
        at = float(chart_x(x, np.array([place]))[0])
        parts.append(
            f'<line class="grid" x1="{at:.1f}" y1="{_TOP:g}" x2="{at:.1f}" y2="{bottom:g}"/>'
            f'<text x="{at:.1f}" y="{bottom + 16:g}" text-anchor="middle">{text(label)}</text>'
        )
    for place, label in y.ticks:
        at = float(chart_y(y, np.array([place]))[0])
        parts.append(
            f'<line class="grid" x1="{_LEFT:g}" y1="{at:.1f}" x2="{right:g}" y2="{at:.1f}"/>'
            f'<text x="{_LEFT - 6:g}" y="{at + 4:.1f}" text-anchor="end">{text(label)}</text>'
        )
    parts.append(
        f'<rect class="frame" x="{_LEFT:g}" y="{_TOP:g}" width="{right - _LEFT:g}" height="{bottom - _TOP:g}"/>'
        f'<text x="{(_LEFT + right) / 2:g}" y="{HEIGHT - 10:g}" text-anchor="middle">{text(x.label)}</text>'
        f'<text transform="translate(14 {(_TOP + bottom) / 2:g}) rotate(-90)" text-anchor="middle">'
        f"{text(y.label)}</text>"
    )
    if target is not None and y.low <= target <= y.high:
        at = float(chart_y(y, np.array([target]))[0])
        parts.append(f'<line class="target" x1="{_LEFT:g}" y1="{at:.1f}" x2="{right:g}" y2="{at:.1f}"/>')
    for line in lines:
        parts += _line(line, x, y)
    return "\n".join([*parts, inside, "</svg>"])


def chart_x(axis: ChartAxis, values: FloatArray) -> FloatArray:
    """Places on the page of values along x."""
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * axis.parts(values)


def chart_y(axis: ChartAxis, values: FloatArray) -> FloatArray:
    """Places on the page of values along y."""
    return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * axis.parts(values)


def _line(line: ChartLine, x: ChartAxis, y: ChartAxis) -> list[str]:
    """The SVG of a line, with its band or bars below it."""
    parts = []
    with np.errstate(divide="ignore", invalid="ignore"):
        across, down = chart_x(x, line.x), chart_y(y, line.y)
        if line.low is not None and line.high is not None:
            upper, lower = chart_y(y, line.high), chart_y(y, line.low)
            # On a logarithmic axis an interval may reach below 0: its bar then goes to the frame.
            lower = np.fmin(lower, HEIGHT - _BOTTOM)
            there = np.isfinite(across) & np.isfinite(upper) & np.isfinite(down)
            if line.has_bars:
                d = "".join(
                    f"M{a:.1f},{u:.1f}V{v:.1f}"
                    for a, u, v in zip(across[there], upper[there], lower[there], strict=True)
                )
                parts.append(f'<path class="bar {line.style}" d="{d}"/>')
            elif there.sum() > 1:
                up = " ".join(f"{a:.1f},{u:.1f}" for a, u in zip(across[there], upper[there], strict=True))
                back = " ".join(
                    f"{a:.1f},{v:.1f}" for a, v in zip(across[there][::-1], lower[there][::-1], strict=True)
                )
                parts.append(f'<path class="band f-{line.style}" d="M{up} {back}Z"/>')
    kept = _kept(across, down)
    d, pen = "", "M"
    for a, v in zip(across[kept].tolist(), down[kept].tolist(), strict=True):
        if math.isfinite(a) and math.isfinite(v):
            d += f"{pen}{a:.1f},{v:.1f}"
            pen = "L"
        else:
            pen = "M"
    dots = np.isfinite(across) & np.isfinite(down)
    if line.is_joined and d:
        thin = " thin" if line.is_thin else ""
        parts.append(f'<path class="curve{thin} {line.style}" d="{d}"/>')
    if line.has_dots and not line.is_thin and (not line.is_joined or dots.sum() <= 40):
        parts.append(
            "".join(
                f'<circle class="f-{line.style}" cx="{a:.1f}" cy="{v:.1f}" r="2.4"/>'
                for a, v in zip(across[dots].tolist(), down[dots].tolist(), strict=True)
            )
        )
    if line.warned is not None:
        parts += [
            # Below its point, unless the frame ends there: what is impossible is lower than what is simulated.
            f'<text class="warned" x="{a:.1f}" y="{v + 14 if v + 14 < HEIGHT - _BOTTOM else v - 5:.1f}" '
            'text-anchor="middle">!</text>'
            for a, v in zip(across[line.warned].tolist(), down[line.warned].tolist(), strict=True)
            if math.isfinite(a) and math.isfinite(v)
        ]
    return [part for part in parts if part]


def _kept(across: FloatArray, down: FloatArray) -> IntArray:
    """Points that are drawn: all of a few; of many the first, lowest, highest and last in each pixel, and all gaps.

    Returns
    -------
    ndarray of int
    """
    if len(across) <= 2 * _BUCKETS:
        return np.arange(len(across))
    finite = np.flatnonzero(np.isfinite(across) & np.isfinite(down))
    kept = set(np.flatnonzero(~(np.isfinite(across) & np.isfinite(down))).tolist())
    buckets = ((across[finite] - _LEFT) * _BUCKETS / (WIDTH - _LEFT - _RIGHT)).astype(int)
    for start, stop in _runs(buckets):
        inside = finite[start:stop]
        kept |= {int(inside[0]), int(inside[-1])}
        kept |= {int(inside[np.argmin(down[inside])]), int(inside[np.argmax(down[inside])])}
    return np.array(sorted(kept), dtype=np.int64)


def _runs(values: IntArray) -> list[tuple[int, int]]:
    """Starts and ends of runs of equal values."""
    cuts = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return [(start, stop) for start, stop in pairwise(cuts) if stop > start]


def line_classes(styles: Iterable[str]) -> dict[str, str]:
    """Class of each overlay's style: names of overlays are no names of classes."""
    return {kind: f"k{place}" for place, kind in enumerate(styles)}


def line_sheet(styles: Mapping[str, LineStyle]) -> str:
    """The style sheet of overlays: colours and dashes as in figures; black is white on a dark page."""
    rules = []
    for place, style in enumerate(styles.values()):
        colour = "var(--text)" if style.colour == "#000000" else style.colour
        dashes = _DASHES.get(style.dashes) if isinstance(style.dashes, str) else _in_px(style.dashes[1])
        dashed = f" stroke-dasharray: {dashes};" if dashes else ""
        rules.append(
            f".k{place} {{ stroke: {colour};{dashed} }} .bar.k{place} {{ stroke-dasharray: none; }} "
            f".f-k{place} {{ fill: {colour}; }}"
        )
    return "\n".join(rules)


def _in_px(lengths: Sequence[float]) -> str:
    """Strokes and gaps that are given in line widths."""
    return " ".join(f"{_LINE_WIDTH * length:.1f}" for length in lengths)


def line_legend(styles: Mapping[str, LineStyle], shown: Sequence[str], further: Sequence[str] = ()) -> str:
    """Which line is which overlay.

    Parameters
    ----------
    styles : mapping from str to LineStyle
    shown : sequence of str
        Overlays that are drawn.
    further : sequence of str
        Words on other lines.
    """
    classes = line_classes(styles)
    items = [
        f'<li><svg viewBox="0 0 26 8" aria-hidden="true"><line class="{classes[kind]}" x1="1" y1="4" x2="25" y2="4"/>'
        f"</svg>{text(kind)}</li>"
        for kind in shown
    ]
    items += [f"<li>{text(words)}</li>" for words in further]
    return f'<ul class="legend">{"".join(items)}</ul>'
