"""The table of a timeline: how each silo spends some rounds of an overlay, and for whom it waits."""

from typing import Any

from scenarios.config.quantities import format_s
from scenarios.report.tables import Column, Table
from scenarios.runfile.overlay_timeline import OverlayTimeline, SiloTimes

EXPLANATION = (
    "Per cent of the time from a silo's start of the first round to its start of the round after the last. It "
    "computes, then it waits until the models of all its in-neighbours are in: for the one whose model comes last. "
    "Sending and receiving, a model or more at once, go on meanwhile."
)
PERIODIC = (
    "Of a periodic overlay it waits for the models that the arcs of the round's state bring: with a lag of n for the "
    "one that was sent n - 1 rounds before."
)
ALONE = "alone: rounds in which it awaits no model."
_MOST_EVENTS = 40
"""Of a critical circuit that is written out."""


def timeline_table(
    timeline: OverlayTimeline, *, further: dict[str, object], notes: tuple[str, ...] = ()
) -> Table:
    """How each silo spends some rounds.

    Parameters
    ----------
    timeline : OverlayTimeline
    further : dict
        See `Table`.
    notes : tuple of str
        Sentences below the table.

    Returns
    -------
    Table
        A row for each silo: times in seconds, and as parts of its span.
    """
    labels, rounds = timeline.labels, timeline.rounds
    times = [timeline.silo_times(silo) for silo in range(len(labels))]
    has_away = bool(timeline.activity.is_away.any())
    rows = [_row(timeline, silo, each, has_away=has_away) for silo, each in enumerate(times)]
    circuit = timeline.circuit
    events: list[str] | list[tuple[str, int]] | None = None
    if circuit is not None:
        events = [labels[silo] for silo, _ in circuit]
        if timeline.period > 1:
            events = [(labels[silo], state) for silo, state in circuit]
    return Table(
        caption=f"{timeline.title}: {format_s(timeline.begin_s)} to {format_s(timeline.end_s)}",
        columns=_columns(timeline, has_away=has_away),
        rows=rows,
        notes="\n".join([*_circuit_text(timeline), *notes]),
        further={
            "overlay": timeline.kind,
            "first_round": rounds.start,
            "last_round": rounds.stop - 1,
            "begin_s": timeline.begin_s,
            "end_s": timeline.end_s,
            "states": timeline.period,
            "critical_circuit": events,
            **further,
        },
    )


def _circuit_text(timeline: OverlayTimeline) -> list[str]:
    """The critical circuit in words, of a periodic overlay with the state of each silo's round."""
    if timeline.circuit is None:
        return []
    is_periodic = timeline.period > 1
    names = [
        f"{timeline.labels[silo]} ({state})" if is_periodic else timeline.labels[silo]
        for silo, state in timeline.circuit
    ]
    head = "critical circuit (paper), silo (state of the round that it starts)"
    shown, left = [*names, names[0]], len(names) - _MOST_EVENTS
    if is_periodic and left > 0:
        shown = [*names[:_MOST_EVENTS], f"{left:,} more", names[0]]
    return [f"{head if is_periodic else 'critical circuit (paper)'}: {' -> '.join(shown)}."]


def _row(timeline: OverlayTimeline, silo: int, times: SiloTimes, *, has_away: bool) -> dict[str, Any]:
    """Times of a silo."""
    labels, span_s = timeline.labels, times.span_s
    most = times.waits_most_for
    seconds = {
        "computing": times.computing_s,
        "sending": times.sending_s,
        "receiving": times.receiving_s,
        "waiting": times.waiting_s,
        "away": times.away_s if has_away else None,
        "waits_most": None if most is None else times.waits_most_s,
    }
    return {
        "overlay": timeline.kind,
        "silo": labels[silo],
        "first_round": timeline.rounds.start,
        "last_round": timeline.rounds.stop - 1,
        "begin_s": times.begin_s,
        "end_s": times.end_s,
        **{f"{name}_s": value for name, value in seconds.items()},
        **{
            f"{name}_share": None if value is None or span_s <= 0 else value / span_s
            for name, value in seconds.items()
        },
        "waits_most_for": None if most is None else labels[most],
        "waits_most_lags": ", ".join(map(str, times.waits_most_lags)) or None,
        "isolated_rounds": times.isolated_rounds,
        "is_critical": None if timeline.circuit is None else silo in timeline.circuit_silos,
    }


def _columns(timeline: OverlayTimeline, *, has_away: bool) -> list[Column]:
    """Columns that people are shown."""
    titles = {"computing": "computes", "sending": "sends", "receiving": "receives", "waiting": "waits"}
    if has_away:
        titles["away"] = "away"
    has_lags, has_isolated = (timeline.lags > 1).any(), timeline.activity.is_isolated.any()
    return [
        Column(key="silo", title="silo"),
        *(Column(key=f"{name}_share", title=title, show=_percent) for name, title in titles.items()),
        *([Column(key="isolated_rounds", title="alone")] if has_isolated else []),
        Column(key="waits_most_for", title="most for"),
        *([Column(key="waits_most_lags", title="lag")] if has_lags else []),
        Column(key="waits_most_share", title="that is", show=_percent),
    ]


def _percent(share: float) -> str:
    """A part as per cent."""
    return f"{100 * share:.1f} %"
