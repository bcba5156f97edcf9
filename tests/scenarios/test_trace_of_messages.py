"""The events of a trace, one by one, of a timeline that is made by hand."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hand_timeline import activity_of, timeline_of

from scenarios.export.trace_events import trace_events, write_trace
from scenarios.runfile.overlay_timeline import OverlayTimeline


def timeline(*, period=1, lag=1):
    """Two silos in one round: A sends two messages that overlap, B is away."""
    activity = activity_of(
        5,
        start_s=[[0.0, 1e-6]],
        next_start_s=[[1e-5, 5e-6]],
        compute_s=[[3e-6, 0.0]],
        is_away=[[False, True]],
        last_arc=[[1, -1]],
    )
    made = timeline_of(
        activity,
        ((0, 1), (1, 0)),
        ((4, 0, 1, 1e-6, 3e-6, 2e-6, 4e-6), (5, 0, 2, 2e-6, 5e-6, 6e-6, 7.5e-6)),
        kind="pair",
        begin_s=0.0,
        end_s=1e-5,
        lags=np.array([[3, lag]]),
        circuit=None,
        period=period,
        link_names=("L0", "L1", "L2"),
        link_capacity_bps=np.array([1.0, 1.0, 10.0]),
    )
    made.sent.bound_link[1] = -1
    return made


@pytest.fixture
def events_at(monkeypatch):
    """Give the events of the timeline whose links have these rates."""

    def events(rates):
        monkeypatch.setattr(OverlayTimeline, "link_rates", lambda _: rates)
        return trace_events([timeline()])

    return events


def test_threads_are_named_and_numbered_by_silo():
    named = [event for event in trace_events([timeline(), timeline()]) if event["ph"] == "M"]
    assert named[:2] == [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "pair"}},
        {"ph": "M", "pid": 1, "name": "process_sort_index", "args": {"sort_index": 1}},
    ]
    threads = [(1000, "A"), (1001, "A sends"), (1002, "A sends (2)"), (2000, "B"), (2001, "B receives")]
    for pid, half in ((1, named[2:12]), (2, named[14:])):
        assert [(event["pid"], event["tid"], event["args"]["name"]) for event in half[::2]] == [
            (pid, *thread) for thread in threads
        ]
        assert [(event["name"], event["args"]["sort_index"]) for event in half[1::2]] == [
            ("thread_sort_index", tid) for tid, _ in threads
        ]


def test_slices_and_arrows_in_the_order_of_their_dates():
    events = [event for event in trace_events([timeline()]) if event["ph"] != "M"]
    assert [(e["ts"], e["ph"], e["tid"], e["name"], e.get("dur"), e.get("id")) for e in events] == [
        (0.0, "X", 1000, "compute", 3.0, None),
        (1.0, "X", 2000, "away", 4.0, None),
        (1.0, "X", 1001, "to B", 2.0, None),
        (1.0, "s", 1001, "model", None, "0x10000000000"),
        (2.0, "X", 1002, "to B", 3.0, None),
        (2.0, "X", 2001, "from A", 2.0, None),
        (2.0, "s", 1002, "model", None, "0x10000000001"),
        (2.0, "f", 2001, "model", None, "0x10000000000"),
        (3.0, "X", 1000, "wait for B", 7.0, None),
        (6.0, "X", 2001, "from A", 1.5, None),
        (6.0, "f", 2001, "model", None, "0x10000000001"),
    ]
    by_name = {(event["name"], event["ts"]): event for event in events if event["ph"] == "X"}
    first, second = by_name["to B", 1.0]["args"], by_name["to B", 2.0]["args"]
    assert first == {"round": 4, "lag": 1, "arc": 0, "from": "A", "to": "B", "bound_link": "L0"}
    assert second == {"round": 5, "lag": 2, "arc": 0, "from": "A", "to": "B", "bound_link": None}
    assert by_name["from A", 6.0]["args"] == second
    assert by_name["compute", 0.0]["args"] == by_name["away", 1.0]["args"] == {"round": 5}
    assert by_name["wait for B", 3.0]["args"] == {"round": 5, "lag": 1, "arc": 1, "from": "B", "to": "A"}
    assert [event["bp"] for event in events if event["ph"] == "f"] == ["e", "e"]
    assert {event["cat"] for event in events} == {"compute", "away", "send", "model", "receive", "wait"}


@pytest.mark.parametrize(
    ("period", "lag", "name", "state"), [(2, 1, "wait for B", 1), (5, 2, "wait for B, lag 2", 0)]
)
def test_rounds_of_periodic_overlays_have_their_state_and_lag(period, lag, name, state):
    (wait,) = [e for e in trace_events([timeline(period=period, lag=lag)]) if e.get("cat") == "wait"]
    assert (wait["name"], wait["args"]["state"], wait["args"]["lag"]) == (name, state, lag)


def test_a_silo_that_waits_for_none_or_computes_beyond_its_round():
    shown = timeline()
    shown.activity.last_arc[0, 0] = -1
    shown.activity.compute_s[0, 0] = 2e-5
    shown.activity.next_start_s[0, 1] = 1e-6
    own = [e for e in trace_events([shown]) if e.get("cat") in ("compute", "wait", "away")]
    # It ends as the next round begins; being away for no time is nothing.
    assert [(event["cat"], event["ts"], event["dur"]) for event in own] == [("compute", 0.0, 10.0)]


def test_counters_are_the_busiest_links_whenever_their_rate_changes(events_at):
    rates = SimpleNamespace(
        date_s=np.array([0.0, 1e-6, 2e-6]),
        bits=np.array([10.0, 0.0, 30.0]),
        rate_bps=np.array([[5.0, 0.0, 1.0], [5.0, 0.0, 2.0]]),
    )
    events = [event for event in events_at(rates) if event["ph"] == "C"]
    assert [(e["ts"], e["name"], e["args"], e["pid"]) for e in events] == [
        (0.0, "L0 rate", {"bit/s": 5.0}, 1),
        (0.0, "L2 rate", {"bit/s": 1.0}, 1),
        (1.0, "L2 rate", {"bit/s": 2.0}, 1),
    ]


def test_many_messages_at_once_have_threads_of_their_own():
    """Of 500 messages at once each way a silo has 1000: threads take four digits, those of one are not another's."""
    shown, count = timeline(), 1000
    dates = ("start_s", "last_bit_s", "first_arrival_s", "arrival_s")
    alike = {name: np.full(count, getattr(shown.sent, name)[0]) for name in dates}
    others = {name: np.zeros(count, dtype=np.int64) for name in ("bound_link", "round", "lag")}
    shown = replace(shown, sent=replace(shown.sent, arc=np.arange(count) % 2, **alike, **others))
    events = trace_events([shown])
    threads = {cat: {each["tid"] for each in events if each.get("cat") == cat} for cat in ("send", "receive")}
    assert threads["send"] == {silo + lane for silo in (10_000, 20_000) for lane in range(1, 501)}
    assert threads["receive"] == {silo + lane for silo in (10_000, 20_000) for lane in range(501, 1001)}


def test_names_come_first_and_a_wait_may_be_for_the_first_arc():
    shown = timeline()
    shown.activity.last_arc[0, 0] = 0
    shown.activity.compute_s[0, 0] = 0.0
    events = trace_events([shown])
    assert [event["ph"] == "M" for event in events] == [True] * 12 + [False] * (len(events) - 12)
    assert {event["tid"] for event in events if event["name"] == "thread_sort_index"} == {
        1000,
        1001,
        1002,
        2000,
        2001,
    }
    # Of what begins at one date the longer slice is first.
    wait, compute = (event for event in events if event.get("cat") in ("compute", "wait"))
    assert (compute["dur"], wait["name"], wait["dur"]) == (0.0, "wait for A, lag 3", 10.0)


def test_dates_of_hours_are_exact_to_the_nanosecond(events_at):
    rates = SimpleNamespace(
        date_s=np.array([0.0, 3600.000000001, 7200.0]),
        bits=np.array([10.0, 0.0, 0.0]),
        rate_bps=np.array([[5.0, 0.0, 0.0], [6.0, 0.0, 0.0]]),
    )
    dates = [event["ts"] for event in events_at(rates) if event["ph"] == "C"]
    assert dates == [0.0, 3_600_000_000.001]


def test_a_trace_says_of_what_it_is(tmp_path):
    path = tmp_path / "t.json"
    write_trace(path, [timeline()], title="Zürich")
    text = path.read_text(encoding="utf-8")
    trace = json.loads(text)
    assert "Zürich" in text
    assert trace["displayTimeUnit"] == "ms"
    assert trace["otherData"]["run"] == "Zürich"
    assert len(trace["traceEvents"]) == len(trace_events([timeline()]))
