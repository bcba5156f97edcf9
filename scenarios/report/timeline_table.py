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
    circuit = None if timeline.circuit is None else [labels[silo] for silo in timeline.circuit]
    on_circuit = (
        [] if circuit is None else [f"critical circuit (paper): {' -> '.join([*circuit, circuit[0]])}"]
    )
    return Table(
        caption=f"{timeline.kind}, {timeline.rounds_text}: {format_s(timeline.begin_s)} to {format_s(timeline.end_s)}",
        columns=_columns(has_away),
        rows=rows,
        notes="\n".join([*on_circuit, *notes]),
        further={
            "overlay": timeline.kind,
            "first_round": rounds.start,
            "last_round": rounds.stop - 1,
            "begin_s": timeline.begin_s,
            "end_s": timeline.end_s,
            "critical_circuit": circuit,
            **further,
        },
    )


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
        "is_critical": None if timeline.circuit is None else silo in timeline.circuit,
    }


def _columns(has_away: bool) -> list[Column]:
    """Columns that people are shown."""
    titles = {"computing": "computes", "sending": "sends", "receiving": "receives", "waiting": "waits"}
    if has_away:
        titles["away"] = "away"
    return [
        Column(key="silo", title="silo"),
        *(Column(key=f"{name}_share", title=title, show=_percent) for name, title in titles.items()),
        Column(key="waits_most_for", title="most for"),
        Column(key="waits_most_share", title="that is", show=_percent),
    ]


def _percent(share: float) -> str:
    """A part as per cent."""
    return f"{100 * share:.1f} %"
