"""Timelines as trace events in JSON, which Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) show."""

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.runfile.overlay_timeline import OverlayTimeline
from scenarios.runfile.paths import write_whole
from simulator.activity import lanes
from topologies.arrays import FloatArray, IntArray

_LINKS = 8
"""Busiest links of an overlay whose rates are shown."""
_METADATA, _SLICE, _FLOW_START, _FLOW_END, _COUNTER = "MXsfC"
_ORDER = (_METADATA, _SLICE, _FLOW_START, _FLOW_END, _COUNTER)
Event = dict[str, Any]


def write_trace(path: Path, timelines: Sequence[OverlayTimeline], *, title: str, force: bool) -> None:
    """Write timelines as a trace.

    Parameters
    ----------
    path : Path
        Appears when it is complete.
    timelines : sequence of OverlayTimeline
    title : str
        Of the run, kept beside the events.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the file cannot be written, or exists and `force` is not given.
    """
    trace = {
        "displayTimeUnit": "ms",
        "otherData": {
            "run": title,
            "silosim_version": version("silosim"),
            "units": "ts and dur in microseconds of simulated time, rounded to nanoseconds",
        },
        "traceEvents": trace_events(timelines),
    }
    write_whole(path, json.dumps(trace, ensure_ascii=False, allow_nan=False), force=force)


def trace_events(timelines: Sequence[OverlayTimeline]) -> list[Event]:
    """Events of the Trace Event Format.

    Parameters
    ----------
    timelines : sequence of OverlayTimeline

    Returns
    -------
    list of dict
        First the names, then all others by their date.

    Notes
    -----
    An overlay is a process. Slices of one thread must lie in each other or apart, but a silo computes, sends and
    receives at once. So each silo is a group of threads: with number ``tid`` its own (computing, waiting, away), and
    with the numbers after it as many as messages overlap, first those that it sends, then those that it receives. A
    message is a slice while its bits leave, one while they arrive, a latency later, and an arrow between them; its
    ``round`` is that at whose end it is awaited, and with a lag of `n` it was sent ``n - 1`` rounds before. Dates
    are whole nanoseconds, Perfetto's own resolution, so that rounding makes no slices overlap.

    Counters are the rates on the busiest links, exact ones: see `simulator.link_rates`. Where these cannot be told
    there are none.
    """
    events = [event for place, each in enumerate(timelines) for event in _of_overlay(place + 1, each)]
    return sorted(events, key=_place)


def _place(event: Event) -> tuple[Any, ...]:
    """Names first; then dates, and the longer slice before the one in it and before its arrow."""
    is_named = event["ph"] == _METADATA
    return (not is_named, event.get("ts", 0), _ORDER.index(event["ph"]), -event.get("dur", 0))


def _of_overlay(pid: int, timeline: OverlayTimeline) -> Iterator[Event]:
    """Events of one overlay."""
    sent, labels = timeline.sent, timeline.labels
    source, target = timeline.source[sent.arc], timeline.target[sent.arc]
    start_ns, last_ns = _ns(sent.start_s), _ns(sent.last_bit_s)
    first_ns, arrival_ns = _ns(sent.first_arrival_s), _ns(sent.arrival_s)
    leaving, used = _lanes_by_silo(source, start_ns, last_ns, len(labels))
    arriving, taken = _lanes_by_silo(target, first_ns, arrival_ns, len(labels))
    # Thread 0 and those with the number of their process have a meaning of their own.
    stride = 10 ** max(3, len(str(int((used + taken).max(initial=0)) + 1)))
    yield _name(pid, None, "process_name", name=timeline.kind)
    yield _name(pid, None, "process_sort_index", sort_index=pid)
    for silo, label in enumerate(labels):
        tid = stride * (silo + 1)
        names = [label, *_numbered(f"{label} sends", int(used[silo]))]
        names += _numbered(f"{label} receives", int(taken[silo]))
        for lane, name in enumerate(names):
            yield _name(pid, tid + lane, "thread_name", name=name)
            yield _name(pid, tid + lane, "thread_sort_index", sort_index=tid + lane)
        yield from _own_slices(pid, tid, silo, timeline)
    for number, (i, j) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        link = int(sent.bound_link[number])
        args = {
            "round": int(sent.round[number]),
            "lag": int(sent.lag[number]),
            "arc": int(sent.arc[number]),
            "from": labels[i],
            "to": labels[j],
            "bound_link": timeline.link_names[link] if link >= 0 else None,
        }
        sends = stride * (i + 1) + 1 + int(leaving[number])
        receives = stride * (j + 1) + 1 + int(used[j]) + int(arriving[number])
        begin, stop = int(start_ns[number]), int(last_ns[number])
        yield _slice(pid, sends, "send", f"to {labels[j]}", begin, stop, args)
        yield _flow(_FLOW_START, pid, sends, begin, number)
        begin, stop = int(first_ns[number]), int(arrival_ns[number])
        yield _slice(pid, receives, "receive", f"from {labels[i]}", begin, stop, args)
        yield _flow(_FLOW_END, pid, receives, begin, number) | {"bp": "e"}
    yield from _counters(pid, timeline)


def _own_slices(pid: int, tid: int, silo: int, timeline: OverlayTimeline) -> Iterator[Event]:
    """What a silo does itself: it computes, then it waits; or it is away."""
    activity, labels = timeline.activity, timeline.labels
    for row, round_ in enumerate(timeline.rounds):
        place = {"round": round_} | ({"state": round_ % timeline.period} if timeline.period > 1 else {})
        start_s, next_s = activity.start_s[row, silo], activity.next_start_s[row, silo]
        start, done, end = (
            int(each) for each in _ns(np.array([start_s, start_s + activity.compute_s[row, silo], next_s]))
        )
        if activity.is_away[row, silo]:
            if end > start:
                yield _slice(pid, tid, "away", "away", start, end, place)
            continue
        yield _slice(pid, tid, "compute", "compute", start, min(done, end), place)
        arc = int(activity.last_arc[row, silo])
        if arc >= 0:
            label, lag = labels[int(timeline.source[arc])], int(timeline.lags[row, arc])
            args = place | {"lag": lag, "arc": arc, "from": label, "to": labels[silo]}
            name = f"wait for {label}" if lag == 1 else f"wait for {label}, lag {lag}"
            yield _slice(pid, tid, "wait", name, min(done, end), end, args)


def _lanes_by_silo(silo: IntArray, begin: IntArray, end: IntArray, silos: int) -> tuple[IntArray, IntArray]:
    """Lane of each message among those of its silo, and how many lanes each silo has."""
    lane, count = np.zeros(len(silo), dtype=np.int64), np.zeros(silos, dtype=np.int64)
    for each in np.unique(silo).tolist():
        its = np.flatnonzero(silo == each)
        lane[its] = lanes(begin[its], end[its])
        count[each] = lane[its].max() + 1
    return lane, count


def _numbered(name: str, count: int) -> list[str]:
    """A name for each of some lanes, with a number from the second on."""
    return [name if lane == 0 else f"{name} ({lane + 1})" for lane in range(count)]


def _counters(pid: int, timeline: OverlayTimeline) -> Iterator[Event]:
    """Rate on each of the busiest links whenever it changes."""
    rates = timeline.link_rates()
    if rates is None:
        return
    date_ns, used = _ns(rates.date_s[:-1]).tolist(), rates.bits / timeline.link_capacity_bps
    for link in np.lexsort((-rates.bits, -used))[:_LINKS].tolist():
        before_bps = -1.0
        for date, bps in zip(date_ns, rates.rate_bps[:, link].tolist(), strict=True):
            if rates.bits[link] and bps != before_bps:
                place = {
                    "ph": _COUNTER,
                    "pid": pid,
                    "ts": date / 1000,
                    "name": f"{timeline.link_names[link]} rate",
                }
                yield {**place, "args": {"bit/s": bps}}
            before_bps = bps


def _ns(seconds: FloatArray) -> IntArray:
    """Dates in whole nanoseconds."""
    return np.rint(1e9 * np.asarray(seconds)).astype(np.int64)


def _name(pid: int, tid: int | None, what: str, **args: object) -> Event:
    """Name or place of a process or thread."""
    return {"ph": _METADATA, "pid": pid, **({} if tid is None else {"tid": tid}), "name": what, "args": args}


def _slice(pid: int, tid: int, kind: str, name: str, start: int, end: int, args: dict[str, Any]) -> Event:
    """Something that takes time, between two dates in ns."""
    place = {"ph": _SLICE, "pid": pid, "tid": tid, "cat": kind, "name": name}
    return {**place, "ts": start / 1000, "dur": max(0, end - start) / 1000, "args": args}


def _flow(end: str, pid: int, tid: int, date: int, number: int) -> Event:
    """An end of the arrow of a message."""
    # Flows are found by name, category and number, over all processes.
    place = {"ph": end, "pid": pid, "tid": tid, "cat": "model", "name": "model", "ts": date / 1000}
    return {**place, "id": f"0x{pid * 2**40 + number:x}"}
