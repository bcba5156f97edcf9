"""The figure of a scenario's runs with several seeds: means with bands."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scenarios.report.figure_parts import (
    LEGEND_LETTERS,
    LEGEND_LINE_IN,
    add_legend,
    curve_options,
    legend_columns,
    panels_figure,
    save_figure,
    set_title,
)
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle
from scenarios.report.line_styles import styles_of
from scenarios.report.log_axis import set_log
from scenarios.report.run_metrics import shown_metrics, time_axis
from scenarios.report.seeds_spread import spread_of
from scenarios.runfile.reader import RunRecord
from topologies import InputError

_BAND_ALPHA = 0.2


def plot_seeds(
    runs: Mapping[int, RunRecord], path: Path, *, title: str, style: FigureStyle = DEFAULT_STYLE
) -> None:
    """Loss and accuracy against rounds and time: the mean over seeds, and a band from the lowest to the highest.

    Parameters
    ----------
    runs : mapping of int to RunRecord
        The runs of one scenario by their seeds.
    path : Path
        PNG, PDF or SVG, by its ending.
    title : str
    style : FigureStyle

    Raises
    ------
    InputError
        If nothing was trained, or the file cannot be written.

    Notes
    -----
    Times are means over seeds, too, so that a row has one place on each axis.
    """
    with rc_context(style.rc()):
        save_figure(_figure(runs, style, title=title), path)


def _figure(runs: Mapping[int, RunRecord], style: FigureStyle, *, title: str) -> Figure:
    """See `plot_seeds`."""
    records = list(runs.values())
    spreads = [
        spread_of([record.overlays[place] for record in records])
        for place, overlay in enumerate(records[0].overlays)
        if overlay.history
    ]
    trained = [spread.mean for spread in spreads]
    if not trained:
        raise InputError("the runs have no training, so there is no loss to plot.")
    metrics = shown_metrics(trained, is_imported=False)
    columns = legend_columns(
        max(len(overlay.kind) for overlay in trained), len(trained), room=style.letters(LEGEND_LETTERS)
    )
    legend_in = LEGEND_LINE_IN * (-(-len(trained) // columns) - 1)
    figure, axes = panels_figure(
        len(metrics), 2, height_in=(5.2 if len(metrics) > 1 else 3.2) + legend_in, style=style, sharey="row"
    )
    scale, unit, far_apart = time_axis(trained)
    styles = styles_of([overlay.kind for overlay in records[0].overlays])
    for overlay, spread in zip(trained, spreads, strict=True):
        time = overlay.wall_clock_s / scale
        for row, (metric, factor, label) in enumerate(metrics):
            axes[row][0].set_ylabel(label)
            low, high = (factor * ends[metric] for ends in spread.ends)
            for column, x in enumerate((overlay.computed_rounds, time)):
                shown = x > 0 if column and far_apart else np.full(len(x), True)
                y = factor * overlay.history[metric][shown]
                look = curve_options(styles[overlay.kind], style, int(np.isfinite(y).sum()))
                line = axes[row][column].plot(x[shown], y, **look)[0]
                axes[row][column].fill_between(
                    x[shown], low[shown], high[shown], color=line.get_color(), alpha=_BAND_ALPHA, linewidth=0
                )
    axes[-1][0].set_xlabel("round")
    axes[-1][0].xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes[-1][1].set_xlabel(f"wall-clock time ({unit})")
    if far_apart:
        drawn = [float(time) / scale for one in trained for time in one.wall_clock_s if time > 0]
        set_log(axes[-1][1], "x", drawn, most=style.ticks(6))
        axes[-1][1].set_xlabel(f"wall-clock time ({unit}),\nlogarithmic: no round 0")
    set_title(figure, title, style)
    names = [overlay.kind for overlay in trained]
    add_legend(
        figure, axes[0][0].get_lines(), names, loc="outside lower center", ncols=columns, frameon=False
    )
    return figure
