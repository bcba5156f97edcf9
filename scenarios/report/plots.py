"""Figures for papers: one line style for each kind of overlay, units on every axis."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from scenarios.config.quantities import format_rate
from scenarios.report.closed_forms import FORM_FIELDS
from scenarios.report.line_styles import COLOURS, LineStyle, styles_of
from scenarios.report.log_axis import set_log
from scenarios.report.tables import Column, Table, percent
from scenarios.runfile.paths import writing
from scenarios.runfile.reader import OverlayRecord, RunRecord
from topologies import InputError
from topologies.wrapping import wrapped

_PARTS = {
    "serialization_s": "queue: one model after the other",
    "shared_links_s": "rate: shared links",
    "unused_shares_s": "rate: unused shares",
    "waits_for_other_arcs_s": "wait: for other arcs",
    "computing_times_s": "computing times",
    "world_s": "events around the job",
    "no_barrier_s": "no barrier",
}
"""Parts of the difference from paper: field of a row to name in the figure."""
_RARE = ("computing_times_s", "world_s", "no_barrier_s")
"""Parts that are left out where no overlay has them."""
_ONE_STYLE: dict[str, Any] = {"color": "0.35", "linestyle": "-", "linewidth": 2.2}
_SIMULATED_MARKER: dict[str, Any] = {
    "marker": "o",
    "markersize": 9,
    "markerfacecolor": "none",
    "markeredgecolor": "black",
}
_SIMULATED: dict[str, Any] = {"linestyle": ""} | _SIMULATED_MARKER
_WANTED: dict[str, Any] = {"color": "0.5", "linewidth": 0.8, "linestyle": "--"}
_WIDTH_IN = 7.0
_LEGEND_LINE_IN = 0.22
_LEAST_PERCENT = 1.0
"""The axis of differences reaches at least so far to both sides, so that negligible differences look small."""
_MARKERS = 0.15
"""Length between two markers on a line, in parts of the panel's diagonal."""
_LEGEND_LETTERS, _LEGEND_MARGIN = 84, 7
"""Letters that a line of the legend below has room for; those that line and gap beside a name take."""
_TITLE_LETTERS = 84
"""Letters that a line of the title has room for."""
_THIN: dict[str, Any] = {"linewidth": 0.7, "linestyle": "-"}
"""Of the lines of `paper`."""
_FAR_APART = 5
"""From this ratio of run times on, a logarithmic time axis shows the fast overlays' curves too."""


def plot_run(
    record: RunRecord,
    path: Path,
    *,
    title: str,
    target_accuracy: float | None = None,
    is_imported: bool = False,
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

    Raises
    ------
    InputError
        If nothing was trained, or the file cannot be written.

    Notes
    -----
    What no row has is not drawn: the test loss takes the place of the training loss, and without accuracies or losses
    there is only the other. Rows without a value are passed over.
    """
    trained = [overlay for overlay in record.overlays if overlay.history]
    if not trained:
        raise InputError("the run has no training, so there is no loss to plot.")
    loss_name = "train_loss" if _has(trained, "train_loss") else "test_loss"
    loss_label = "training loss" if loss_name == "train_loss" else "test loss"
    metrics = [(loss_name, 1.0, loss_label if is_imported else f"{loss_label} (nats)")]
    has_accuracy = _has(trained, "test_accuracy")
    if has_accuracy:
        metrics = metrics if _has(trained, loss_name) else []
        metrics = [*metrics, ("test_accuracy", 100.0, "test accuracy (%)")]
    shown = len(trained) + (target_accuracy is not None and has_accuracy)
    columns = _legend_columns([overlay.kind for overlay in trained], shown)
    legend_in = _LEGEND_LINE_IN * (-(-shown // columns) - 1)
    figure, axes = _figure(
        len(metrics), 2, height_in=(5.2 if len(metrics) > 1 else 3.2) + legend_in, sharey="row"
    )
    last_s = [float(overlay.wall_clock_s[-1]) for overlay in trained]
    scale, unit = _time_unit(max(last_s))
    far_apart = max(last_s) > _FAR_APART * min(last_s) > 0
    is_one = is_imported and len(trained) > 1
    styles = styles_of([overlay.kind for overlay in record.overlays])
    lines: list[Artist] = []
    for index, overlay in enumerate(trained):
        style = _line(styles[overlay.kind]) | {"linewidth": 1.4, "markersize": 4, "markevery": _MARKERS}
        # Time 0 has no place on a logarithmic axis; drawn from its edge, round 0 would look like all that came after.
        drawn = overlay.wall_clock_s > 0 if far_apart else np.full(len(overlay.wall_clock_s), True)
        for row, (metric, factor, label) in enumerate(metrics):
            axes[row][0].set_ylabel(label)
            values = factor * overlay.history[metric]
            there = np.isfinite(values)
            for column, (time, finite) in enumerate(
                ((overlay.history["round"], there), (overlay.wall_clock_s / scale, there & drawn))
            ):
                if column == 0 and is_one:
                    if index == 0:
                        axes[row][0].plot(time[finite], values[finite], **_ONE_STYLE)
                    continue
                drawn_line = axes[row][column].plot(time[finite], values[finite], label=overlay.kind, **style)
                if (row, column) == (0, 1):
                    lines += drawn_line
    names = [overlay.kind for overlay in trained]
    if is_one:
        axes[0][0].set_title("one imported curve, on every overlay", fontsize=9)
        axes[0][1].set_title("only cycle times differ", fontsize=9)
    if target_accuracy is not None and has_accuracy:
        for axis in axes[-1]:
            target = axis.axhline(100 * target_accuracy, color="0.5", linewidth=0.8)
        lines, names = [*lines, target], [*names, f"target {100 * target_accuracy:g} %"]
    axes[-1][0].set_xlabel("round")
    axes[-1][0].xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes[-1][1].set_xlabel(f"wall-clock time ({unit})")
    if far_apart:
        times = [float(time) / scale for overlay in trained for time in overlay.wall_clock_s]
        set_log(axes[-1][1], "x", times, most=6)
    set_title(figure, title)
    _legend(figure, lines, names, loc="outside lower center", ncols=columns, frameon=False)
    save_figure(figure, path)


def plot_sweep(table: Table, path: Path, *, title: str) -> None:
    """Cycle time against access capacity on logarithmic axes: simulated as lines with markers, `paper` as thin lines.

    Parameters
    ----------
    table : Table
        Of `scenarios.studies.sweep`.
    path : Path
    title : str

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    kinds = list(dict.fromkeys(row["overlay"] for row in table.rows))
    # The legend is as high as its lines, and a line more for the thin ones.
    figure, axes = _figure(1, 1, height_in=max(4.4, 1.0 + _LEGEND_LINE_IN * (len(kinds) + 1)))
    axis = axes[0][0]
    styles = styles_of(kinds)
    lines: list[Artist] = []
    factor, unit = (1.0, "s") if max(row["simulated_s"] for row in table.rows) > 10 else (1e3, "ms")
    capacities = sorted({row["access_bps"] for row in table.rows})
    for kind in kinds:
        rows = [row for row in table.rows if row["overlay"] == kind]
        access_bps = [row["access_bps"] for row in rows]
        style = _line(styles[kind])
        lines += axis.plot(
            access_bps, [factor * row["simulated_s"] for row in rows], **style, markersize=5, label=kind
        )
        axis.plot(
            access_bps,
            [factor * row["paper_s"] for row in rows],
            **style | _THIN | {"marker": "_" if len(capacities) == 1 else ""},
            markersize=14,
        )
    set_log(axis, "x", capacities, most=6, ticks=capacities, show=format_rate)
    times = [factor * row[key] for row in table.rows for key in ("simulated_s", "paper_s")]
    set_log(axis, "y", times, most=9)
    axis.set_xlabel("access capacity")
    axis.set_ylabel(f"cycle time ({unit})")
    set_title(figure, title)
    thin = Line2D([], [], color="0.3", **_THIN)
    _legend(
        figure,
        [*lines, thin],
        [*kinds, "thin: paper"],
        loc="outside right center",
        fontsize=8,
        frameon=False,
        handlelength=3.2,
    )
    save_figure(figure, path)


def plot_upgrade(table: Table, path: Path, *, wanted_s: float | None = None) -> None:
    """Cycle time against price: the closed form as a step line, simulated as markers with intervals.

    Parameters
    ----------
    table : Table
        Of `scenarios.studies.upgrade`.
    path : Path
        PNG, PDF or SVG, by its ending.
    wanted_s : float, optional
        A cycle time that is wanted, drawn as a thin line.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    rows, kind, by = table.rows, str(table.further["kind"]), str(table.further["by"])
    figure, axes = _figure(1, 1, height_in=4.0)
    axis = axes[0][0]
    style = _line(styles_of([kind])[kind])
    form_s = [max(row["paper_s"], row[FORM_FIELDS[by]]) for row in rows]
    simulated = [row for row in rows if row["simulated_s"] is not None]
    factor, unit = (
        (1.0, "s") if max([*form_s, *(row["simulated_s"] for row in simulated)]) > 10 else (1e3, "ms")
    )
    prices = [row["price"] for row in rows]
    # The last set is the best for a little more money, too: a step that ends at its marker would not be seen.
    end = prices[-1] + 0.04 * ((prices[-1] - prices[0]) or 1.0)

    def steps(at: Sequence[float], values_s: Sequence[float], **line: Any) -> None:
        axis.step([*at, end], [factor * each for each in (*values_s, values_s[-1])], where="post", **line)

    if simulated:
        at, values_s = [row["price"] for row in simulated], [row["simulated_s"] for row in simulated]
        steps(at, values_s, **_ONE_STYLE | {"linewidth": 0.7})
        axis.plot(at, [factor * each for each in values_s], **_SIMULATED)
        wide = [row for row in simulated if row["simulated_half_width_s"]]
        axis.errorbar(
            [row["price"] for row in wide],
            [factor * row["simulated_s"] for row in wide],
            yerr=[factor * row["simulated_half_width_s"] for row in wide],
            fmt="none",
            ecolor="black",
            capsize=4,
        )
    steps(prices, form_s, **style | {"linestyle": "-", "marker": ""})
    axis.plot(prices, [factor * each for each in form_s], **style | {"linestyle": ""}, markersize=5)
    proven = all(row["is_proven"] for row in rows)
    shown: list[tuple[Artist, str]] = [
        (
            Line2D([], [], **style | {"linestyle": "-"}, markersize=5),
            f"{'paper or load' if by == 'load' else by}, {'' if proven else 'not '}proven best",
        )
    ]
    if simulated:
        shown.append(
            (Line2D([], [], **_ONE_STYLE | {"linewidth": 0.7} | _SIMULATED_MARKER), "simulated (95 %)")
        )
    if wanted_s is not None:
        shown.append((axis.axhline(factor * wanted_s, **_WANTED), f"wanted: {factor * wanted_s:.4g} {unit}"))
    currency, is_priced = table.further["currency"], table.further["is_priced"]
    axis.set_xlabel(f"price ({currency})" if currency else "price" if is_priced else "links raised")
    if not is_priced:
        axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axis.set_ylabel(f"cycle time ({unit})")
    network, _, work = table.caption.splitlines()[:3]
    set_title(figure, f"{kind} on {network}; {work}")
    lines, names = zip(*shown, strict=True)
    _legend(figure, lines, names, loc="outside lower center", ncols=len(names), frameon=False)
    save_figure(figure, path)


def plot_validation(table: Table, path: Path, *, title: str) -> None:
    """Simulated over paper for each overlay: its parts as stacked bars, the total with its interval.

    Parameters
    ----------
    table : Table
        Of `scenarios.validation.table`.
    path : Path
        PNG, PDF or SVG, by its ending.
    title : str

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    rows = list(table.rows)
    figure, axes = _figure(1, 1, height_in=2.3 + 0.45 * len(rows))
    axis = axes[0][0]
    # An overlay whose cycle time is 0 by the paper has no difference in percent.
    scale = [100 / row["paper_s"] if row["paper_s"] > 0 else 0.0 for row in rows]
    places = np.arange(len(rows))
    right, left = np.zeros(len(rows)), np.zeros(len(rows))
    # Black is the total's.
    for (key, name), colour in zip(_PARTS.items(), (*COLOURS[:-1], "#999999"), strict=True):
        part = np.array([factor * (row[key] or 0.0) for factor, row in zip(scale, rows, strict=True)])
        if key in _RARE and not part.any():
            continue
        start = np.where(part >= 0, right, left)
        axis.barh(places, part, left=start, height=0.55, color=colour, label=name)
        right, left = right + np.maximum(part, 0), left + np.minimum(part, 0)
    totals = np.array([100 * (row["maxmin_over_paper"] or 0.0) for row in rows])
    half = [factor * (row["maxmin_half_width_s"] or 0.0) for factor, row in zip(scale, rows, strict=True)]
    axis.errorbar(
        totals,
        places,
        xerr=half,
        fmt="D",
        color="black",
        markersize=5,
        capsize=4,
        label="simulated, max-min (95 %)",
    )
    simulated = Column(key="maxmin_over_paper", title="max-min", show=percent, exact="maxmin_is_exact")
    texts = [simulated.text(row) for row in rows]
    equal = [100 * (row["equal_over_paper"] or 0.0) for row in rows]
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
        markersize=10,
        capsize=4,
        label="simulated, Eq. 3's rates",
    )
    beside = axis.get_yaxis_transform()
    for place, text in ((-0.6, simulated.title), *enumerate(texts)):
        axis.text(1.02, place, text, transform=beside, va="center", ha="left", fontsize=9)
    axis.use_sticky_edges = False
    axis.margins(x=0.06)
    low, high = axis.get_xlim()
    axis.set_xlim(min(low, -_LEAST_PERCENT), max(high, _LEAST_PERCENT))
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(places, [row["overlay"] for row in rows], parse_math=False)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_xlabel("simulated cycle time over the paper's (%)")
    set_title(figure, title)
    named = axis.get_legend_handles_labels()
    columns = _balanced(len(named[0]), most=3)
    figure.legend(*named, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)
    save_figure(figure, path)


def set_title(figure: Figure, title: str) -> None:
    """Title above the panels, broken where the figure ends; dollars in it are no formulas."""
    breaks = "$" not in title  # matplotlib takes what is between two for a formula where it breaks lines
    if not breaks:
        title = "\n".join(
            line for long in title.splitlines() for line in wrapped(long, _TITLE_LETTERS) or [""]
        )
    figure.suptitle(title, fontsize=10, parse_math=False, wrap=breaks)


def _legend(figure: Figure, lines: Sequence[Artist], names: Sequence[str], **options: Any) -> None:
    """Legend with names as they are: neither formulas between dollars, nor left out after an underscore."""
    legend = figure.legend(lines, ["name"] * len(names), **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def _line(style: LineStyle) -> dict[str, Any]:
    """Style of an overlay's line, for matplotlib."""
    return {"color": style.colour, "linestyle": style.dashes, "marker": style.marker}


def _legend_columns(kinds: Sequence[str], shown: int) -> int:
    """Columns of a legend below the panels: at most five, or as many as have room for the longest name."""
    most = max(1, min(5, int(_LEGEND_LETTERS // (max(map(len, kinds)) + _LEGEND_MARGIN))))
    return _balanced(shown, most=most)


def _balanced(entries: int, *, most: int) -> int:
    """Columns of a legend with as few lines as `most` columns have, and none of a single entry if that can be."""
    return -(-entries // -(-entries // most))


def _figure(
    rows: int, columns: int, *, height_in: float, sharey: Literal["row"] | bool = False
) -> tuple[Figure, Sequence[Sequence[Axes]]]:
    """Figure with a light grid on every axis."""
    figure = Figure(figsize=(_WIDTH_IN, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(
        rows, columns, squeeze=False, sharex="col" if rows > 1 else False, sharey=sharey
    )
    for axis in axes.flat:
        axis.grid(visible=True, which="both", color="0.9", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _has(overlays: Sequence[OverlayRecord], metric: str) -> bool:
    """Whether any row of any overlay has a metric."""
    return any(np.isfinite(overlay.history[metric]).any() for overlay in overlays)


def _time_unit(longest_s: float) -> tuple[float, str]:
    """Unit in which the longest time is a readable number."""
    for seconds, unit in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if longest_s > 3 * seconds:
            return seconds, unit
    return 1.0, "s"


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure, with the folders that it needs; the format follows from the ending."""
    # Type 42 fonts, which publishers take; matplotlib's default type 3 some refuse.
    with writing(path), rc_context({"pdf.fonttype": 42}):
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)
