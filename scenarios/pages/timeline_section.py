"""The timeline on the page of a run: who computes, sends, receives and waits in its first rounds, and for whom."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from scenarios.config.quantities import TIME_UNITS, format_s, time_unit
from scenarios.pages.run_facts import RunFacts
from scenarios.report.svg_chart import chart_axis
from scenarios.report.timeline_rows import (
    COMPUTE_PART,
    RECEIVE_PART,
    SEND_PART,
    MessageBars,
    circuit_computing,
    circuit_messages,
    message_bars,
    row_order,
    waits,
)
from scenarios.report.web_page import results_table, text
from scenarios.runfile.overlay_timeline import OverlayTimeline
from scenarios.runfile.reader import OverlayRecord
from scenarios.studies.timeline import Shown, timelines
from topologies import InputError
from topologies.arrays import FloatArray

_Across = Callable[[FloatArray | float], FloatArray]
"""Places along the page of dates in seconds."""
ROUNDS = 3
"""First rounds that are shown."""
MOST_SILOS = 120
"""Rows of a figure."""
_MOST_OVERLAYS = 8
_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 960.0, 130.0, 10.0, 8.0, 40.0
_ROW = 20.0
_LETTER = 5.6
"""Width of a letter of a name in a row."""
_LONGEST = 18
_LEGEND = {
    "computes": "computes",
    "sends": "sends",
    "receives": "receives",
    "onway": "critical circuit (paper)",
}
TIMELINE_STYLE = """
:root { --computes: #0072b2; --sends: #56b4e9; --receives: #009e73; }
@media (prefers-color-scheme: dark) { :root { --computes: #4da3e0; --sends: #9fd4f5; --receives: #2fc79a; } }
.wide { overflow-x: auto; } .wide > svg { display: block; width: 100%; min-width: 44rem; height: auto; }
svg.timeline text { font: 11px system-ui, sans-serif; fill: var(--text); }
svg.timeline text.name { font-size: 10px; fill: var(--quiet); } svg.timeline text.critical { fill: var(--critical); }
svg.timeline path { fill: none; } svg.timeline .grid { stroke: var(--rule); stroke-width: 0.7px; }
.computes { stroke: var(--computes); } .sends { stroke: var(--sends); } .receives { stroke: var(--receives); }
.starts { stroke: var(--text); stroke-width: 1px; } .onway { stroke: var(--critical); stroke-width: 1px; }
.away { stroke: var(--rule); }
@media print { .wide > svg { min-width: 0; } }
"""


def timeline_section(facts: RunFacts) -> str:
    """A figure and a table for each overlay that was simulated, folded but for the first.

    Notes
    -----
    Where the file holds no dates of messages, the first rounds are simulated again.
    """
    there = [each for each in facts.record.overlays if each.simulation.rounds]
    if not there:
        return ""
    found, notes = _first_rounds(facts.path, there[:_MOST_OVERLAYS])
    parts = [_overlay(shown, place) for place, shown in enumerate(found)]
    if len(there) > _MOST_OVERLAYS:
        notes.append(
            f"Timelines are of the first {_MOST_OVERLAYS} of {len(there)} overlays; silosim timeline has all."
        )
    legend = "".join(
        f'<li><svg viewBox="0 0 26 8" aria-hidden="true"><line class="{name}" x1="1" y1="4" x2="25" y2="4"/></svg>'
        f"{words}</li>"
        for name, words in _LEGEND.items()
    )
    said = (
        "Each row is a silo. A vertical stroke is the start of a round; a name in a gap is that of the silo whose "
        "model the row waits for."
    )
    return "".join(
        [
            f'<h2>Timeline of the first rounds</h2><p class="note">{said}</p><ul class="legend">{legend}</ul>',
            *parts,
            *(f'<p class="note">{text(note)}</p>' for note in notes),
        ]
    )


def _first_rounds(path: Path, overlays: Sequence[OverlayRecord]) -> tuple[Sequence[Shown], list[str]]:
    """Timelines of those overlays that have one, and why the others have none."""
    rounds = slice(0, min(ROUNDS, *(each.simulation.rounds for each in overlays)))
    try:
        return timelines(path, rounds=rounds, overlay=[each.kind for each in overlays]), []
    except InputError as error:
        if len(overlays) == 1:
            return (), [f"No timeline of {overlays[0].kind}: {error}"]
    each_alone = [_first_rounds(path, [each]) for each in overlays]
    return [shown for found, _ in each_alone for shown in found], [
        note for _, notes in each_alone for note in notes
    ]


def _overlay(shown: Shown, place: int) -> str:
    """One overlay."""
    timeline = shown.timeline
    title = timeline.title
    table = shown.table
    numbers = (
        '<details class="numbers"><summary>Numbers of this timeline</summary>'
        f"{results_table(table, table.caption)}</details>"
    )
    return (
        f"<details{'' if place else ' open'}><summary>{text(title)}</summary>"
        f'<div class="wide" tabindex="0" role="region" aria-label="{text(f"Timeline of {title}")}">'
        f"{timeline_svg(timeline, f'timeline-{place}')}</div>{numbers}</details>"
    )


def timeline_svg(timeline: OverlayTimeline, name: str) -> str:
    """The figure of an overlay.

    Parameters
    ----------
    timeline : OverlayTimeline
    name : str
        That no other element of the page has.

    Notes
    -----
    Of more than `MOST_SILOS` silos the first rows are drawn, those of the critical circuit before others.
    """
    order = row_order(timeline)[:MOST_SILOS]
    rows = np.full(len(timeline.labels), np.nan)
    rows[order] = np.arange(len(order))
    height = _TOP + _ROW * len(order) + _BOTTOM
    span_s = timeline.end_s - timeline.begin_s
    end_s = timeline.end_s + 0.01 * span_s if span_s > 0 else timeline.begin_s + 1.0

    def across(seconds: FloatArray | float) -> FloatArray:
        part = (np.asarray(seconds, dtype=np.float64) - timeline.begin_s) / (end_s - timeline.begin_s)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * np.clip(part, 0.0, 1.0)

    title = timeline.title
    parts = [
        f'<svg class="timeline" id="{name}" viewBox="0 0 {_WIDTH:g} {height:g}" role="img" '
        f'aria-labelledby="{name}-title {name}-said"><title id="{name}-title">Timeline of {text(title)}</title>'
        f'<desc id="{name}-said">{text(_said(timeline, len(order)))}</desc>',
        *_time_axis(timeline, end_s, across, height),
        *_labels(timeline, order),
        *_silos(timeline, order, rows, across),
        *(
            _bars(bars, rows, across, kind)
            for bars, kind in zip(message_bars(timeline), ("sends", "receives"), strict=True)
        ),
        _circuit(timeline, rows, across),
        *_names(timeline, rows, across),
        "</svg>",
    ]
    return "\n".join(filter(None, parts))


def _said(timeline: OverlayTimeline, shown: int) -> str:
    """The figure in words."""
    silos = [timeline.silo_times(silo) for silo in range(len(timeline.labels))]
    spans_s = sum(each.span_s for each in silos)
    waiting = sum(each.waiting_s for each in silos) / spans_s if spans_s > 0 else 0.0
    first = "" if shown == len(silos) else f" The first {shown} of {len(silos)} silos are drawn."
    return (
        f"{len(silos)} silos, {format_s(timeline.begin_s)} to {format_s(timeline.end_s)}: of all their time "
        f"{100 * waiting:.3g} % is waiting for models.{first} The table below has the numbers of each silo."
    )


def _middle(row: float, part: tuple[float, float] = (0.0, 0.0)) -> float:
    """Height of the middle of a part of a row."""
    return _TOP + _ROW * (row + 0.5 + (part[0] + part[1]) / 2)


def _time_axis(timeline: OverlayTimeline, end_s: float, across: _Across, height: float) -> Iterable[str]:
    """Ticks with their unit."""
    unit = time_unit(timeline.end_s)
    ends = np.array([timeline.begin_s, timeline.end_s])
    axis = chart_axis(f"simulated time ({unit})", [ends], is_x=True, is_log=False, factor=TIME_UNITS[unit])
    bottom = height - _BOTTOM
    for place_s, label in axis.ticks:
        if timeline.begin_s <= place_s <= end_s:
            x = float(across(place_s))
            yield f'<path class="grid" d="M{x:.1f},{_TOP:g}V{bottom:g}"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 15:g}" text-anchor="middle">{text(label)}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text x="{middle:g}" y="{height - 6:g}" text-anchor="middle">{text(axis.label)}</text>'


def _labels(timeline: OverlayTimeline, order: Sequence[int]) -> Iterable[str]:
    """Names beside the rows."""
    circuit = set(timeline.circuit_silos)
    for row, silo in enumerate(order):
        label = timeline.labels[silo]
        shown = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}\u2026"
        marked = ' class="critical"' if silo in circuit else ""
        yield f'<text{marked} x="{_LEFT - 6:g}" y="{_middle(row) + 4:.1f}" text-anchor="end">{text(shown)}</text>'


def _silos(
    timeline: OverlayTimeline, order: Sequence[int], rows: FloatArray, across: _Across
) -> Iterable[str]:
    """Computing, absences, and a stroke at each start of a round and at the last end."""
    activity = timeline.activity
    begin, done = across(activity.start_s), across(activity.start_s + activity.compute_s)
    until = across(activity.next_start_s)
    computes = away = starts = ""
    for silo in order:
        y, up = _middle(rows[silo], COMPUTE_PART), _middle(rows[silo], (COMPUTE_PART[0], COMPUTE_PART[0]))
        down = _middle(rows[silo], (COMPUTE_PART[1], COMPUTE_PART[1]))
        for row, is_away in enumerate(activity.is_away[:, silo].tolist()):
            if is_away:
                end = until[row, silo] if activity.away_s[row, silo] > 0 else _WIDTH - _RIGHT
                away += f"M{begin[row, silo]:.1f},{_middle(rows[silo]):.1f}H{end:.1f}"
                continue
            computes += f"M{begin[row, silo]:.1f},{y:.1f}H{done[row, silo]:.1f}"
            starts += f"M{begin[row, silo]:.1f},{up:.1f}V{down:.1f}"
        if not activity.is_away[-1, silo]:
            starts += f"M{until[-1, silo]:.1f},{up:.1f}V{down:.1f}"
    width = _ROW * (COMPUTE_PART[1] - COMPUTE_PART[0])
    yield f'<path class="away" stroke-width="{0.85 * _ROW:.1f}" d="{away}"/>' if away else ""
    yield f'<path class="computes" stroke-width="{width:.1f}" d="{computes}"/>' if computes else ""
    yield f'<path class="starts" d="{starts}"/>'


def _bars(bars: MessageBars, rows: FloatArray, across: _Across, kind: str) -> str:
    """Messages as strokes, those of one height in one path."""
    paths: dict[float, str] = {}
    begin, end = across(bars.begin_s), across(bars.end_s)
    for at in np.flatnonzero(np.isfinite(rows[bars.silo])).tolist():
        part = float(bars.low[at]), float(bars.high[at])
        y = _middle(float(rows[bars.silo[at]]), part)
        width = round(_ROW * (part[1] - part[0]), 2)
        paths[width] = paths.get(width, "") + f"M{begin[at]:.1f},{y:.1f}H{end[at]:.1f}"
    return "".join(f'<path class="{kind}" stroke-width="{width:g}" d="{d}"/>' for width, d in paths.items())


def _circuit(timeline: OverlayTimeline, rows: FloatArray, across: _Across) -> str:
    """A line for each message of the critical circuit, and along each computing that a silo itself waits for."""
    d = "".join(
        f"M{float(across(start_s)):.1f},{_middle(float(rows[i]), SEND_PART):.1f}"
        f"L{float(across(arrival_s)):.1f},{_middle(float(rows[j]), RECEIVE_PART):.1f}"
        for i, j, start_s, arrival_s in circuit_messages(timeline)
        if np.isfinite(rows[[i, j]]).all()
    ) + "".join(
        f"M{float(across(begin_s)):.1f},{_middle(float(rows[silo]), COMPUTE_PART):.1f}H{float(across(end_s)):.1f}"
        for silo, begin_s, end_s in circuit_computing(timeline)
        if np.isfinite(rows[silo])
    )
    return f'<path class="onway" d="{d}"/>' if d else ""


def _names(timeline: OverlayTimeline, rows: FloatArray, across: _Across) -> Iterable[str]:
    """Names of those that silos wait for, in the gaps that have room for them."""
    for silo, begin_s, end_s, name in waits(timeline):
        begin, end = float(across(begin_s)), float(across(end_s))
        if np.isfinite(rows[silo]) and (len(name) + 1) * _LETTER <= end - begin:
            y = _middle(float(rows[silo]), COMPUTE_PART) + 3
            yield f'<text class="name" x="{(begin + end) / 2:.1f}" y="{y:.1f}" text-anchor="middle">{text(name)}</text>'
