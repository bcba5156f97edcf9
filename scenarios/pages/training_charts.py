"""Loss and accuracy of a run, or of several seeds, against rounds and wall-clock time, as charts and as a table."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scenarios.config.quantities import format_long
from scenarios.config.scenario import RecordedScenario
from scenarios.report.line_styles import styles_of
from scenarios.report.run_metrics import shown_metrics, time_axis
from scenarios.report.seeds_spread import spread_of
from scenarios.report.svg_chart import ChartLine, chart_axis, line_chart, line_classes, line_legend
from scenarios.report.web_page import capital, html_table
from scenarios.runfile.reader import OverlayRecord, RunRecord
from topologies.arrays import FloatArray

_NO_TIME_0 = (
    "The time axes are logarithmic, as the overlays' times are far apart: round 0, which is at time 0, has no place on "
    "them; the charts over rounds have it."
)
_MOST_ROWS = 25
"""Rounds of the table."""


def training_charts(records: Sequence[RunRecord], scenario: RecordedScenario) -> str:
    """Charts of the metrics, which are those of `scenarios.report.plots.plot_run`; empty where nothing was trained.

    Parameters
    ----------
    records : sequence of RunRecord
        A run, or the runs of one scenario with several seeds: then lines are means, with bands from the lowest to the
        highest, as `scenarios.report.seeds_plot` has them.
    scenario : RecordedScenario
        Of the first.
    """
    spreads = {
        overlay.kind: spread_of([record.overlays[place] for record in records])
        for place, overlay in enumerate(records[0].overlays)
        if overlay.history
    }
    trained = [spread.mean for spread in spreads.values()]
    if not trained:
        return ""
    is_imported, target = scenario.is_imported, scenario.target_accuracy
    styles = styles_of([overlay.kind for overlay in records[0].overlays])
    classes = line_classes(styles)
    scale, unit, far_apart = time_axis(trained)
    charts, lost = [], False
    for metric, factor, label in shown_metrics(trained, is_imported=is_imported):
        goal = factor * target if metric == "test_accuracy" and target is not None else None
        for along in ("rounds", "time"):
            lines, every = [], trained
            drawn: list[FloatArray] = []
            if along == "rounds" and is_imported:
                every = trained[:1]
            for overlay in every:
                y = factor * overlay.history[metric]
                x = (
                    overlay.computed_rounds.astype(float)
                    if along == "rounds"
                    else overlay.wall_clock_s / scale
                )
                # Time 0 has no place on a logarithmic axis.
                there = np.isfinite(y) & ((x > 0) | (along == "rounds") | (not far_apart))
                lost = lost or bool((np.isfinite(y) & ~there).any())
                low, high = (factor * ends[metric][there] for ends in spreads[overlay.kind].ends)
                has_band = len(records) > 1
                line = ChartLine(style=classes[overlay.kind], x=x[there], y=y[there])
                lines.append(replace(line, low=low, high=high) if has_band else line)
                drawn += (low, high)
            title = f"{label} over {along}"
            x_axis = (
                chart_axis("round", [line.x for line in lines], is_x=True, is_log=False, whole=True)
                if along == "rounds"
                else chart_axis(
                    f"wall-clock time ({unit}{', logarithmic' if far_apart else ''})",
                    [line.x for line in lines],
                    is_x=True,
                    is_log=far_apart,
                )
            )
            goal_of = [np.array([goal])] if goal is not None else []
            y_axis = chart_axis(label, [*drawn, *goal_of], is_x=False, is_log=False)
            kinds = ", ".join(overlay.kind for overlay in every)
            said = f"{capital(title)} of {kinds}. {_ends(every, metric, factor)}"
            chart = line_chart(f"{metric}-{along}", capital(title), said, x_axis, y_axis, lines, target=goal)
            one = " (one imported curve, the same on every overlay)" if len(every) < len(trained) else ""
            charts.append(f"<figure><figcaption>{capital(title)}{one}</figcaption>{chart}</figure>")
    target_notes = [] if target is None else [f"dashed and level: target {100 * target:g} %"]
    if len(records) > 1:
        target_notes.append(f"band: lowest to highest of {len(records)} seeds, around their mean")
    legend = line_legend(styles, [overlay.kind for overlay in trained], target_notes)
    note = f'<p class="note">{_NO_TIME_0}</p>' if lost else ""
    return (
        f'<h2>Training</h2>{legend}<div class="charts">{"".join(charts)}</div>{note}'
        '<details class="numbers"><summary>Numbers of the charts</summary>'
        f"{_table(trained, is_imported=is_imported)}</details>"
    )


def _ends(overlays: Sequence[OverlayRecord], metric: str, factor: float) -> str:
    """First and last value of each line."""
    parts = []
    for overlay in overlays:
        values = factor * overlay.history[metric]
        values = values[np.isfinite(values)]
        if len(values):
            parts.append(f"{overlay.kind} from {values[0]:.4g} to {values[-1]:.4g}")
    return f"{'; '.join(parts)}." if parts else ""


def _table(overlays: Sequence[OverlayRecord], *, is_imported: bool) -> str:
    """Some rounds of each overlay, evenly chosen, the first and the last among them."""
    rows = []
    metrics = shown_metrics(overlays, is_imported=is_imported)
    for overlay in overlays:
        count, rounds = len(overlay.wall_clock_s), overlay.computed_rounds.tolist()
        for row in np.unique(np.linspace(0, count - 1, min(count, _MOST_ROWS)).round().astype(int)).tolist():
            values = [factor * float(overlay.history[metric][row]) for metric, factor, _ in metrics]
            rows.append(
                (
                    overlay.kind,
                    f"{rounds[row]:,}",
                    format_long(float(overlay.wall_clock_s[row])),
                    *(f"{value:.4g}" if np.isfinite(value) else "-" for value in values),
                )
            )
    heads = ("overlay", "round", "wall-clock time", *(label for _, _, label in metrics))
    return html_table("Rounds of the trainings, some of many", heads, rows, range(1, len(heads)))
