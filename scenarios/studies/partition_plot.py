"""Figure of a partition: samples of each silo, and how unlike every two silos are."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from scenarios.report.figure_parts import save_figure, set_title
from scenarios.report.terminal import shortened
from scenarios.studies.partition import Division

_MOST_NAMES = 45
"""Silos whose names fit beside a panel; with more only some are named."""
_LONGEST_NAME = 20
"""Letters that leave the panels their room."""


def plot_partition(division: Division, path: Path) -> None:
    """Bars of samples per silo beside the matrix of Jensen-Shannon divergences.

    Parameters
    ----------
    division : Division
    path : Path
        PNG, PDF or SVG, by its ending.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    silos = len(division.silos)
    height_in = min(max(3.4, 1.2 + 0.13 * silos), 8.0)
    # Compressed: no gap beside the matrix, which is square.
    figure = Figure(figsize=(5.0 + height_in, height_in), layout="compressed")
    FigureCanvasAgg(figure)
    bars, matrix = figure.subplots(1, 2, width_ratios=(3.2, height_in))
    drawn = bars.barh(np.arange(silos), division.samples, height=0.8, color="#0072B2")
    bars.bar_label(drawn, padding=2, fontsize=_font_size(silos))
    bars.margins(x=0.12)
    bars.set_ylim(silos - 0.5, -0.5)
    bars.set_xlabel("training samples")
    bars.grid(visible=True, axis="x", color="0.9", linewidth=0.6)
    bars.set_axisbelow(True)
    bars.spines[["top", "right"]].set_visible(False)
    # Up to the largest, not to 1: silos of one language are alike to a thousandth of a bit, and still differ.
    largest = float(division.divergence_bits.max()) or 1.0
    image = matrix.imshow(
        division.divergence_bits, vmin=0, vmax=largest, cmap="cividis", interpolation="nearest"
    )
    figure.colorbar(image, ax=matrix, label="Jensen-Shannon divergence\nof labels (bits)")
    _name_silos(bars, division, both=False)
    _name_silos(matrix, division, both=True)
    set_title(figure, division.about)
    save_figure(figure, path)


def _font_size(texts: int) -> float:
    """Of so many texts below each other."""
    return 8.0 if texts <= 22 else min(6.0, 400.0 / texts)


def _name_silos(axis: Axes, division: Division, *, both: bool) -> None:
    """Name every silo, or one in several where there are many, on the vertical or on both axes."""
    every = -(-len(division.silos) // _MOST_NAMES)
    places = range(0, len(division.silos), every)
    names = [shortened(division.silos[silo], _LONGEST_NAME) for silo in places]
    size = _font_size(len(names))
    axis.set_yticks(places, names, fontsize=size, parse_math=False)
    if both:
        axis.set_xticks(places, names, fontsize=size, rotation=90, parse_math=False)
