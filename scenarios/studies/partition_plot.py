"""Figure of a partition: samples of each silo, and how unlike every two silos are."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from scenarios.report.figure_parts import save_figure, set_title
from scenarios.report.figure_style import GRID, FigureStyle
from scenarios.report.terminal import shortened
from scenarios.studies.partition import Division

_MOST_NAMES = 45
"""Silos whose names fit beside a panel; with more only some are named."""
_LONGEST_NAME = 20
"""Letters that leave the panels their room."""
_LINE = 1.15
"""Height of a line of text in parts of the font's size."""
_NOT_PANEL_IN = 1.4
"""Height of title, ticks and labels above and below a panel."""
_BARS_WIDTH, _BESIDE_MATRIX_IN = 3.2, 1.9
"""Width of the bars, where that of the matrix is the height of the figure; names and scale beside the matrix."""


def plot_partition(division: Division, path: Path, *, style: FigureStyle | None = None) -> None:
    """Bars of samples per silo beside the matrix of Jensen-Shannon divergences; above it in a narrow figure.

    Parameters
    ----------
    division : Division
    path : Path
        PNG, PDF or SVG, by its ending.
    style : FigureStyle, optional
        Of which the width counts; by default it grows with the number of silos, from 8.4 to 13 inches.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    silos = len(division.silos)
    height_in = min(max(3.4, 1.2 + 0.13 * silos), 8.0)
    usual_in = 5.0 + height_in
    own = FigureStyle(width_in=usual_in if style is None else style.width_in, reference_in=usual_in)
    with rc_context(own.rc()):
        save_figure((_narrow_figure if own.is_narrow else _wide_figure)(division, own, height_in), path)


def _wide_figure(division: Division, style: FigureStyle, height_in: float) -> Figure:
    """Panels side by side."""
    bars_in = matrix_in = None
    whole_in = style.scaled(height_in)
    if style.factor < 1:
        matrix_in = style.width_in * height_in / (_BARS_WIDTH + height_in) - _BESIDE_MATRIX_IN
        whole_in = min(whole_in, matrix_in + _BESIDE_MATRIX_IN)
        bars_in = whole_in - _NOT_PANEL_IN
    # Compressed: no gap beside the matrix, which is square.
    figure = Figure(figsize=(style.width_in, whole_in), layout="compressed")
    FigureCanvasAgg(figure)
    bars, matrix = figure.subplots(1, 2, width_ratios=(_BARS_WIDTH, height_in))
    _fill(figure, bars, matrix, division, style, bars_in, matrix_in)
    return figure


def _narrow_figure(division: Division, style: FigureStyle, height_in: float) -> Figure:
    """Panels below each other."""
    bars_in, matrix_in = 0.6 * height_in, 0.75 * style.width_in
    size = (style.width_in, bars_in + matrix_in + 1.5 * _NOT_PANEL_IN)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    bars, matrix = figure.subplots(2, 1, height_ratios=(bars_in, matrix_in))
    _fill(figure, bars, matrix, division, style, bars_in, matrix_in)
    return figure


def _fill(
    figure: Figure,
    bars: Axes,
    matrix: Axes,
    division: Division,
    style: FigureStyle,
    bars_in: float | None,
    matrix_in: float | None,
) -> None:
    """Draw bars and matrix, whose heights limit how many silos are named."""
    silos = len(division.silos)
    drawn = bars.barh(np.arange(silos), division.samples, height=0.8, color="#0072B2")
    if _fits(silos, style, bars_in) >= silos or bars_in is None:
        bars.bar_label(drawn, padding=style.scaled(2), fontsize=style.pt(_font_size(silos)))
    bars.margins(x=0.12)
    bars.set_ylim(silos - 0.5, -0.5)
    bars.set_xlabel("training samples")
    bars.grid(visible=True, axis="x", color=GRID["color"], linewidth=style.scaled(GRID["linewidth"]))
    bars.set_axisbelow(True)
    bars.spines[["top", "right"]].set_visible(False)
    # Up to the largest, not to 1: silos of one language are alike to a thousandth of a bit, and still differ.
    largest = float(division.divergence_bits.max()) or 1.0
    image = matrix.imshow(
        division.divergence_bits, vmin=0, vmax=largest, cmap="cividis", interpolation="nearest"
    )
    label, below = "Jensen-Shannon divergence\nof labels (bits)", style.is_narrow
    look: dict[str, Any] = {"location": "bottom", "aspect": 40, "shrink": 0.8} if below else {}
    figure.colorbar(image, ax=matrix, label=label.replace("\n", " ") if below else label, **look)
    _name_silos(bars, division, style, bars_in, both=False)
    _name_silos(matrix, division, style, matrix_in, both=True)
    set_title(figure, division.about, style)


def _font_size(texts: int) -> float:
    """Of so many texts below each other."""
    return 8.0 if texts <= 22 else min(6.0, 400.0 / texts)


def _fits(silos: int, style: FigureStyle, height_in: float | None) -> int:
    """Silos whose names have room below each other."""
    if height_in is None:
        return _MOST_NAMES
    return min(_MOST_NAMES, max(1, int(72 * height_in / (_LINE * style.pt(_font_size(silos))))))


def _name_silos(
    axis: Axes, division: Division, style: FigureStyle, height_in: float | None, *, both: bool
) -> None:
    """Name every silo, or one in several where there are many, on the vertical or on both axes."""
    every = -(-len(division.silos) // _fits(len(division.silos), style, height_in))
    places = range(0, len(division.silos), every)
    names = [shortened(division.silos[silo], _LONGEST_NAME) for silo in places]
    size = style.pt(_font_size(len(names)))
    axis.set_yticks(places, names, fontsize=size, parse_math=False)
    if both:
        axis.set_xticks(places, names, fontsize=size, rotation=90, parse_math=False)
