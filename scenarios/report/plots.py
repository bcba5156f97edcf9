"""Figures for papers: one line style for each kind of overlay, units on every axis."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from scenarios.config.quantities import format_rate
from scenarios.report.closed_forms import FORM_FIELDS
from scenarios.report.column_labels import long_time_unit
from scenarios.report.figure_parts import (
    LEGEND_LETTERS,
    LEGEND_LINE_IN,
    add_legend,
    balanced,
    curve_options,
    legend_columns,
    line_options,
    panels_figure,
    save_figure,
    set_title,
    thin,
)
from scenarios.report.figure_style import DEFAULT_STYLE, LEGEND_PT, PANEL_TITLE_PT, FigureStyle
from scenarios.report.line_styles import COLOURS, styles_of
from scenarios.report.log_axis import set_log
from scenarios.report.run_metrics import shown_metrics, time_axis
from scenarios.report.tables import Column, Table, percent
from scenarios.runfile.reader import RunRecord
from topologies import InputError
from topologies.arrays import FloatArray
from topologies.wrapping import wrapped

_PARTS = {
    "serialization_s": "queue: one model after the other",
    "shared_links_s": "rate: shared links",
    "unused_shares_s": "rate: unused shares",
    "waits_for_other_arcs_s": "wait: for other arcs",
    "computing_times_s": "computing times",
    "world_s": "events around the job",
    "no_barrier_s": "no barrier",
    "slow_start_s": "slow start",
}
"""Parts of the difference from paper: field of a row to name in the figure."""
_RARE = ("computing_times_s", "world_s", "no_barrier_s", "slow_start_s")
"""Parts that are left out where no overlay has them."""
_ONE_STYLE: dict[str, Any] = {"color": "0.35", "linestyle": "-"}
_SIMULATED_MARKER: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "markeredgecolor": "black"}
_WANTED: dict[str, Any] = {"color": "0.5", "linestyle": "--"}
_LEAST_PERCENT = 1.0
"""The axis of differences reaches at least so far to both sides, so that negligible differences look small."""
_LEGEND_BELOW_LETTERS, _LONG_HANDLE, _LEGEND_LINE_BELOW_IN = 105, 9, 0.2
"""Room of a legend below a narrow figure in smaller letters, that of a long line in it, and the height of its lines."""
_FEW_LETTERS, _NAMES_LETTERS, _LABEL_LETTERS, _PANEL_LETTERS = 108, 118, 48, 38


def plot_run(
    record: RunRecord,
    path: Path,
    *,
    title: str,
    target_accuracy: float | None = None,
    is_imported: bool = False,
    style: FigureStyle = DEFAULT_STYLE,
) -> None:
    """Loss and accuracy against rounds and against wall-clock time, one line for each overlay.

    Parameters
    ----------
    record : RunRecord
    path : Path
        PNG, PDF or SVG, by its ending.
    title : str
    target_accuracy : float, optional
        Drawn as a thin line.
    is_imported : bool
        Whether the rows are one imported curve, whose loss has an unknown unit: against rounds it is drawn once, as it
        is the same on every overlay.
    style : FigureStyle

    Raises
    ------
    InputError
        If nothing was trained, or the file cannot be written.

    Notes
    -----
    What no row has is not drawn: the test loss takes the place of the training loss, and without accuracies or losses
    there is only the other. Rows without a value are passed over.
    """
    with rc_context(style.rc()):
        figure = _run_figure(
            record, style, title=title, target_accuracy=target_accuracy, is_imported=is_imported
        )
        save_figure(figure, path)


def _run_figure(
    record: RunRecord, style: FigureStyle, *, title: str, target_accuracy: float | None, is_imported: bool
) -> Figure:
    """See `plot_run`."""
    trained = [overlay for overlay in record.overlays if overlay.history]
    if not trained:
        raise InputError("the run has no training, so there is no loss to plot.")
    metrics = shown_metrics(trained, is_imported=is_imported)
    has_accuracy = any(metric == "test_accuracy" for metric, _, _ in metrics)
    shown = len(trained) + (target_accuracy is not None and has_accuracy)
    columns = legend_columns(
        max(len(overlay.kind) for overlay in trained), shown, room=style.letters(LEGEND_LETTERS)
    )
    legend_in = LEGEND_LINE_IN * (-(-shown // columns) - 1)
    figure, axes = panels_figure(
        len(metrics),
        2,
        height_in=(5.2 if len(metrics) > 1 else 3.2) + legend_in,
        style=style,
        sharey="row",
    )
    scale, unit, far_apart = time_axis(trained)
    is_one = is_imported and len(trained) > 1
    styles = styles_of([overlay.kind for overlay in record.overlays])
    for index, overlay in enumerate(trained):
        # Time 0 has no place on a logarithmic axis; drawn from its edge, round 0 would look like all that came after.
        drawn = overlay.wall_clock_s > 0 if far_apart else np.full(len(overlay.wall_clock_s), True)
        for row, (metric, factor, label) in enumerate(metrics):
            axes[row][0].set_ylabel(label)
            values = factor * overlay.history[metric]
            there = np.isfinite(values)
            for column, (time, finite) in enumerate(
                ((overlay.computed_rounds, there), (overlay.wall_clock_s / scale, there & drawn))
            ):
                points = int(finite.sum())
                if column == 0 and is_one:
                    if index == 0:
                        marker = "o" if points == 1 else None
                        axes[row][0].plot(time[finite], values[finite], marker=marker, **_one(style))
                    continue
                look = curve_options(styles[overlay.kind], style, points)
                axes[row][column].plot(time[finite], values[finite], label=overlay.kind, **look)
    lines: list[Artist] = [*axes[0][1].get_lines()]
    names = [overlay.kind for overlay in trained]
    if is_one:
        said = ("one imported curve, on every overlay", "only cycle times differ")
        for axis, text in zip(axes[0], said, strict=True):
            broken = "\n".join(wrapped(text, style.letters(_PANEL_LETTERS)))
            axis.set_title(broken, fontsize=style.pt(PANEL_TITLE_PT))
    if target_accuracy is not None and has_accuracy:
        for axis in axes[-1]:
            target = axis.axhline(100 * target_accuracy, color="0.5", linewidth=style.scaled(0.8))
        lines, names = [*lines, target], [*names, f"target {100 * target_accuracy:g} %"]
    axes[-1][0].set_xlabel("round")
    axes[-1][0].xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes[-1][1].set_xlabel(f"wall-clock time ({unit})")
    if far_apart:
        axes[-1][1].set_xlabel(f"wall-clock time ({unit}),\nlogarithmic: no round 0")
        times = [float(time) / scale for overlay in trained for time in overlay.wall_clock_s]
        set_log(axes[-1][1], "x", times, most=style.ticks(6))
    set_title(figure, title, style)
    add_legend(figure, lines, names, loc="outside lower center", ncols=columns, frameon=False)
    return figure


def plot_sweep(table: Table, path: Path, *, title: str, style: FigureStyle = DEFAULT_STYLE) -> None:
    """Cycle time against access capacity on logarithmic axes: simulated as lines with markers, `paper` as thin lines.

    Parameters
    ----------
    table : Table
        Of `scenarios.studies.sweep`.
    path : Path
    title : str
    style : FigureStyle

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    scale, unit = (1.0, "s") if max(row["simulated_s"] for row in table.rows) > 10 else (1e-3, "ms")
    keys, label = ("simulated_s", "paper_s"), f"cycle time ({unit})"
    _plot_over_access(table, path, style, title=title, keys=keys, scale_s=scale, label=label)


def plot_times(table: Table, path: Path, *, title: str, style: FigureStyle = DEFAULT_STYLE) -> None:
    """Time to a run's target against access capacity on logarithmic axes; overlays that never reach it are left out.

    Parameters
    ----------
    table : Table
        Of `scenarios.studies.replay_times`.
    path : Path
    title : str
    style : FigureStyle

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    key, target = "time_to_target_s", table.further["target_accuracy"]
    times_s = [row[key] for row in table.rows if row[key] is not None]
    scale, unit = long_time_unit(max(times_s), min(times_s))
    to = "the last recorded round" if target is None else f"a test accuracy of {target:g}"
    label = f"time to {to} ({unit})"
    _plot_over_access(table, path, style, title=title, keys=(key,), scale_s=scale, label=label)


def _plot_over_access(
    table: Table,
    path: Path,
    style: FigureStyle,
    *,
    title: str,
    keys: Sequence[str],
    scale_s: float,
    label: str,
) -> None:
    """Draw durations against access capacity into a file."""
    with rc_context(style.rc()):
        figure = _over_access_figure(table, style, title=title, keys=keys, scale_s=scale_s, label=label)
        save_figure(figure, path)


def _over_access_figure(
    table: Table, style: FigureStyle, *, title: str, keys: Sequence[str], scale_s: float, label: str
) -> Figure:
    """Durations against access capacity: the first as a line with markers for each overlay, `paper` as a thin one."""
    first, *further = keys
    styles = styles_of(list(dict.fromkeys(row["overlay"] for row in table.rows)))
    kinds = list(dict.fromkeys(row["overlay"] for row in table.rows if row[first] is not None))
    names = [*kinds, *("thin: paper" for _ in further)]
    columns = 1
    if style.is_narrow:
        columns = legend_columns(
            max(map(len, names)), len(names), room=style.letters(_LEGEND_BELOW_LETTERS), handle=_LONG_HANDLE
        )
        height_in = 4.0 + _LEGEND_LINE_BELOW_IN * -(-len(names) // columns)
    else:
        # The legend is as high as its lines, and a line more for the thin ones.
        height_in = max(4.4, 1.0 + LEGEND_LINE_IN * (len(kinds) + 1))
    figure, axes = panels_figure(1, 1, height_in=height_in, style=style)
    axis = axes[0][0]
    lines: list[Artist] = []
    capacities = sorted({row["access_bps"] for row in table.rows})
    for kind in kinds:
        rows = [row for row in table.rows if row["overlay"] == kind]
        access_bps = [row["access_bps"] for row in rows]
        options = line_options(styles[kind])
        durations = [row[first] / scale_s for row in rows]
        lines += axis.plot(access_bps, durations, **options, markersize=style.scaled(5), label=kind)
        for key in further:
            axis.plot(
                access_bps,
                [row[key] / scale_s for row in rows],
                **options | thin(style) | {"marker": "_" if len(capacities) == 1 else ""},
                markersize=style.scaled(14),
            )
    set_log(axis, "x", capacities, most=style.ticks(6), ticks=capacities, show=format_rate)
    times = [row[key] / scale_s for row in table.rows for key in keys if row[key] is not None]
    set_log(axis, "y", times, most=9)
    axis.set_xlabel("access capacity")
    axis.set_ylabel("\n".join(wrapped(label, style.letters(_LABEL_LETTERS))))
    set_title(figure, title, style)
    add_legend(
        figure,
        [*lines, *(Line2D([], [], color="0.3", **thin(style)) for _ in further)],
        names,
        loc="outside lower center" if style.is_narrow else "outside right center",
        ncols=columns,
        fontsize=style.pt(LEGEND_PT),
        frameon=False,
        handlelength=3.2,
    )
    return figure


def plot_upgrade(
    table: Table, path: Path, *, wanted_s: float | None = None, style: FigureStyle = DEFAULT_STYLE
) -> None:
    """Cycle time against price: the closed form as a step line, simulated as markers with intervals.

    Parameters
    ----------
    table : Table
        Of `scenarios.studies.upgrade`.
    path : Path
        PNG, PDF or SVG, by its ending.
    wanted_s : float, optional
        A cycle time that is wanted, drawn as a thin line.
    style : FigureStyle

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    with rc_context(style.rc()):
        save_figure(_upgrade_figure(table, style, wanted_s=wanted_s), path)


def _upgrade_figure(table: Table, style: FigureStyle, *, wanted_s: float | None) -> Figure:
    """See `plot_upgrade`."""
    rows, kind, by = table.rows, str(table.further["kind"]), str(table.further["by"])
    options = line_options(styles_of([kind])[kind])
    form_s = [max(row["paper_s"], row[FORM_FIELDS[by]]) for row in rows]
    simulated = [row for row in rows if row["simulated_s"] is not None]
    factor, unit = (
        (1.0, "s") if max([*form_s, *(row["simulated_s"] for row in simulated)]) > 10 else (1e3, "ms")
    )
    prices = [row["total_price"] for row in rows]
    # The last set is the best for a little more money, too: a step that ends at its marker would not be seen.
    end = prices[-1] + 0.04 * ((prices[-1] - prices[0]) or 1.0)

    proven = all(row["is_proven"] for row in rows)
    names = [f"{'paper or load' if by == 'load' else by}, {'' if proven else 'not '}proven best"]
    names += ["simulated (95 %)"] if simulated else []
    names += [] if wanted_s is None else [f"wanted: {factor * wanted_s:.4g} {unit}"]
    columns = legend_columns(max(map(len, names)), len(names), room=style.letters(_FEW_LETTERS))
    height_in = 4.0 + LEGEND_LINE_IN * (-(-len(names) // columns) - 1)
    figure, axes = panels_figure(1, 1, height_in=height_in, style=style)
    axis = axes[0][0]
    one = _one(style) | {"linewidth": style.scaled(0.7)}
    marker = _SIMULATED_MARKER | {"markersize": style.scaled(9)}

    def steps(at: Sequence[float], values_s: Sequence[float], **line: Any) -> None:
        axis.step([*at, end], [factor * each for each in (*values_s, values_s[-1])], where="post", **line)

    if simulated:
        at, values_s = [row["total_price"] for row in simulated], [row["simulated_s"] for row in simulated]
        steps(at, values_s, **one)
        axis.plot(at, [factor * each for each in values_s], linestyle="", **marker)
        wide = [row for row in simulated if row["simulated_half_width_s"]]
        axis.errorbar(
            [row["total_price"] for row in wide],
            [factor * row["simulated_s"] for row in wide],
            yerr=[factor * row["simulated_half_width_s"] for row in wide],
            fmt="none",
            ecolor="black",
            capsize=style.scaled(4),
        )
    steps(prices, form_s, **options | {"linestyle": "-", "marker": ""})
    size = style.scaled(5)
    axis.plot(prices, [factor * each for each in form_s], **options | {"linestyle": ""}, markersize=size)
    lines: list[Artist] = [Line2D([], [], **options | {"linestyle": "-"}, markersize=size)]
    if simulated:
        lines.append(Line2D([], [], **one | marker))
    if wanted_s is not None:
        lines.append(axis.axhline(factor * wanted_s, linewidth=style.scaled(0.8), **_WANTED))
    currency, is_priced = table.further["currency"], table.further["is_priced"]
    axis.set_xlabel(
        f"total price ({currency})" if currency else "total price" if is_priced else "links raised"
    )
    if not is_priced:
        axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axis.set_ylabel(f"cycle time ({unit})")
    network, capacities, work = table.caption.splitlines()[:3]
    title = f"{kind} on {network}\n{capacities}; links raised {table.further['raised_how']}\n{work}"
    set_title(figure, title, style)
    add_legend(figure, lines, names, loc="outside lower center", ncols=columns, frameon=False)
    return figure


def plot_validation(table: Table, path: Path, *, title: str, style: FigureStyle = DEFAULT_STYLE) -> None:
    """Simulated over paper for each overlay: its parts as stacked bars, the total with its interval.

    Parameters
    ----------
    table : Table
        Of `scenarios.validation.table`.
    path : Path
        PNG, PDF or SVG, by its ending.
    title : str
    style : FigureStyle

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    with rc_context(style.rc()):
        save_figure(_validation_figure(table, style, title=title), path)


def _validation_figure(table: Table, style: FigureStyle, *, title: str) -> Figure:
    """See `plot_validation`."""
    rows = list(table.rows)
    height_in = 2.3 + 0.45 * len(rows)
    figure, axes = panels_figure(1, 1, height_in=height_in, style=style)
    axis = axes[0][0]
    # An overlay whose cycle time is 0 by the paper has no difference in percent.
    scale = [100 / row["paper_s"] if row["paper_s"] > 0 else 0.0 for row in rows]
    places = np.arange(len(rows))
    right, left = np.zeros(len(rows)), np.zeros(len(rows))
    # Black is the total's.
    for (key, name), colour in zip(_PARTS.items(), (*COLOURS[:-1], "#999999", "#555555"), strict=True):
        part = np.array([factor * (row.get(key) or 0.0) for factor, row in zip(scale, rows, strict=True)])
        if key in _RARE and not part.any():
            continue
        start = np.where(part >= 0, right, left)
        axis.barh(places, part, left=start, height=0.55, color=colour, label=name)
        right, left = right + np.maximum(part, 0), left + np.minimum(part, 0)
    totals = _percents(rows, "maxmin_over_paper")
    half = [factor * (row["maxmin_half_width_s"] or 0.0) for factor, row in zip(scale, rows, strict=True)]
    axis.errorbar(
        totals,
        places,
        xerr=half,
        fmt="D",
        color="black",
        markersize=style.scaled(5),
        capsize=style.scaled(4),
        label="simulated, max-min (95 %)",
    )
    simulated = Column(key="maxmin_over_paper", title="max-min", show=percent, exact="maxmin_is_exact")
    texts = [simulated.text(row) for row in rows]
    equal = _percents(rows, "equal_over_paper")
    equal_half = [
        factor * (row["equal_half_width_s"] or 0.0) for factor, row in zip(scale, rows, strict=True)
    ]
    axis.errorbar(
        equal,
        places,
        xerr=equal_half,
        fmt="o",
        color="black",
        markerfacecolor="none",
        markersize=style.scaled(10),
        capsize=style.scaled(4),
        label="simulated, Eq. 3's rates",
    )
    beside = axis.get_yaxis_transform()
    for place, text in ((-0.6, simulated.title), *enumerate(texts)):
        size = style.pt(PANEL_TITLE_PT)
        axis.text(1.02, place, text, transform=beside, va="center", ha="left", fontsize=size)
    axis.use_sticky_edges = False
    axis.margins(x=0.06)
    low, high = axis.get_xlim()
    axis.set_xlim(min(low, -_LEAST_PERCENT), max(high, _LEAST_PERCENT))
    axis.axvline(0, color="black", linewidth=style.scaled(0.8))
    axis.set_yticks(places, [row["overlay"] for row in rows], parse_math=False)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_xlabel("simulated cycle time over the paper's (%)")
    set_title(figure, title, style)
    handles, names = axis.get_legend_handles_labels()
    columns = balanced(len(names), most=3)
    if style.is_narrow:
        longest, room = max(map(len, names)), style.letters(_NAMES_LETTERS)
        columns = legend_columns(longest, len(names), room=room, handle=_LONG_HANDLE)
        lines = -(-len(names) // columns)
        figure.set_figheight(style.scaled(height_in + _LEGEND_LINE_BELOW_IN * lines))
    size = style.pt(LEGEND_PT)
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False, fontsize=size)
    return figure


def _percents(rows: Sequence[Mapping[str, Any]], key: str) -> FloatArray:
    """Differences in percent; NaN, which is not drawn, where there is none."""
    return np.array([math.nan if row[key] is None else 100 * row[key] for row in rows])


def _one(style: FigureStyle) -> dict[str, Any]:
    """Style of a line that is the only one."""
    return _ONE_STYLE | {"linewidth": style.scaled(2.2)}
