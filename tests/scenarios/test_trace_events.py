"""Traces for Perfetto and Chrome: what the Trace Event Format demands, and what the run says."""

import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from edited_run import edited
from hand_timeline import activity_of, timeline_of
from timeline_runs import EVENTS, HEAD, write_run

import silosim as package
from scenarios.export.trace_events import trace_events, write_trace
from scenarios.runfile.overlay_timeline import OverlayTimeline
from scenarios.studies.timeline import timelines


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


# Of runs


@pytest.fixture(scope="module", params=["max-min", "overlap", "events"])
def run(request, tmp_path_factory):
    more = {"max-min": "", "overlap": 'queueing = "overlap"\n', "events": EVENTS}[request.param]
    return write_run(tmp_path_factory.mktemp("trace") / "run.h5", more=more)


@pytest.fixture(scope="module")
def trace(run, tmp_path_factory):
    """The trace of the run; not to be changed."""
    path = tmp_path_factory.mktemp("written") / "trace.json"
    package.timeline(run, rounds=slice(1, 6), output=path)
    return strict(path.read_text(encoding="utf-8"))


def ns(microseconds):
    return round(1000 * microseconds)


def slices(trace, **wanted):
    found = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    return [event for event in found if all(event[key] == value for key, value in wanted.items())]


def names(trace, kind):
    return {
        (event["pid"], event.get("tid")): event["args"]["name"]
        for event in trace["traceEvents"]
        if event["ph"] == "M" and event["name"] == kind
    }


def test_dates_are_sorted_and_every_event_has_its_fields(trace):
    events = trace["traceEvents"]
    dated = [event for event in events if event["ph"] != "M"]
    assert events[: len(events) - len(dated)] == [event for event in events if event["ph"] == "M"]
    assert [event["ts"] for event in dated] == sorted(event["ts"] for event in dated)
    assert {event["ph"] for event in events} <= {"M", "X", "s", "f", "C"}
    needed = {
        "X": {"ts", "dur", "tid", "cat", "args"},
        "s": {"ts", "tid", "id", "cat"},
        "C": {"ts", "args"},
        "M": {"args"},
    }
    needed["f"] = needed["s"] | {"bp"}
    for event in events:
        assert needed[event["ph"]] | {"name", "pid"} <= event.keys()
        assert event["pid"] > 0
        assert event.get("tid", 1) != 0
        assert event.get("tid") != event["pid"]
    assert all(event["dur"] >= 0 for event in slices(trace))


def test_slices_of_a_thread_lie_apart(trace):
    threads = defaultdict(list)
    for event in slices(trace):
        threads[event["pid"], event["tid"]].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])))
    assert threads.keys() <= names(trace, "thread_name").keys()
    for spans in threads.values():
        spans.sort()
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def test_arrows_lead_from_a_send_to_its_receipt(trace):
    flows, by_place = defaultdict(dict), defaultdict(list)
    for event in slices(trace):
        by_place[event["pid"], event["tid"], event["ts"]].append(event)
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            assert event["ph"] not in flows[event["id"]]
            (own,) = by_place[event["pid"], event["tid"], event["ts"]]
            flows[event["id"]][event["ph"]] = own
    assert len(flows) == len(slices(trace, cat="send")) == len(slices(trace, cat="receive")) > 50
    for ends in flows.values():
        assert (ends["s"]["cat"], ends["f"]["cat"]) == ("send", "receive")
        assert ends["s"]["args"] == ends["f"]["args"]
        assert ends["s"]["ts"] <= ends["f"]["ts"]


def test_slices_are_what_the_run_says(run, trace):
    record, process = package.open_run(run), names(trace, "process_name")
    threads = names(trace, "thread_name")
    assert list(process.values()) == ["star", "ring", "matcha"]
    for (pid, _), kind in process.items():
        messages = record.messages(overlay=kind, rounds=slice(1, 6)).set_index(["round", "arc"])
        sends = [each for each in slices(trace, cat="send", pid=pid) if 1 <= each["args"]["round"] < 6]
        assert len(sends) == len(messages)
        for each in sends:
            row = messages.loc[each["args"]["round"], each["args"]["arc"]]
            assert each["ts"] == pytest.approx(1e6 * row["start_s"], abs=1e-3)
            assert each["ts"] + each["dur"] == pytest.approx(1e6 * row["last_bit_s"], abs=2e-3)
            assert (each["args"]["from"], each["args"]["to"]) == (row["source"], row["target"])
            assert each["args"]["bound_link"] == row["bound_link"]
            assert threads[pid, each["tid"]].startswith(f"{row['source']} sends")
        rounds = record.rounds(overlay=kind, rounds=slice(1, 6)).set_index(["silo", "round"])
        for each in slices(trace, cat="compute", pid=pid):
            row = rounds.loc[threads[pid, each["tid"]], each["args"]["round"]]
            assert each["ts"] == pytest.approx(1e6 * row["start_s"], abs=1e-3)
            assert not row["absent"]
        waits = slices(trace, cat="wait", pid=pid)
        assert waits
        for each in waits:
            row = rounds.loc[threads[pid, each["tid"]], each["args"]["round"]]
            assert each["ts"] + each["dur"] == pytest.approx(1e6 * row["next_start_s"], abs=2e-3)
            assert each["name"] == f"wait for {each['args']['from']}"


def test_counters_are_rates_that_no_link_exceeds(run, trace):
    counters = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "C":
            counters[event["pid"], event["name"]].append((event["ts"], event["args"]["bit/s"]))
    if "Tokyo" in {event["args"].get("to") for event in slices(trace, cat="away")} or slices(
        trace, cat="away"
    ):
        assert not counters  # links fail meanwhile, so rates cannot be told
        return
    assert len(counters) == 3 * 8
    for place, shown in enumerate(timelines(run, rounds=slice(1, 6)), start=1):
        timeline, rates = shown.timeline, shown.timeline.link_rates()
        capacity = dict(zip(timeline.link_names, timeline.link_capacity_bps, strict=True))
        for link in np.argsort(-rates.bits / timeline.link_capacity_bps)[:1]:
            assert (place, f"{timeline.link_names[link]} rate") in counters
        for (pid, name), values in counters.items():
            if pid == place:
                assert 0 <= max(bps for _, bps in values) <= capacity[name.removesuffix(" rate")] * (1 + 1e-9)


def test_labels_with_quotes_and_markup_survive(tmp_path):
    path, label = write_run(tmp_path / "run.h5", kinds=["ring"]), '"Zürich" <b>&\\'
    with edited(path) as file:
        for name in ("underlay/labels", "connectivity/silo_labels"):
            file[name][0] = label
    package.timeline(path, rounds=slice(0, 2), output=tmp_path / "trace.json")
    found = strict((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert label in names(found, "thread_name").values()
    assert label in {event["args"].get("to") for event in slices(found)}


def test_no_rates_are_told_where_models_leave_during_the_backward_pass(tmp_path):
    """A last bit that waits for the end of the pass does not say how long it was on the links."""
    head = HEAD.replace('compute = "200 ms"', 'compute = "200 ms"\noverlap = "90 %"')
    path = write_run(tmp_path / "run.h5", kinds=["ring"], rounds=6, head=head)
    (shown,) = timelines(path, rounds=slice(1, 3))
    assert shown.timeline.link_rates() is None
    plain = write_run(tmp_path / "plain.h5", kinds=["ring"], rounds=6)
    (shown,) = timelines(plain, rounds=slice(1, 3))
    assert shown.timeline.link_rates() is not None


# Event by event, of a timeline that is made by hand


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
    write_trace(path, [timeline()], title="Zürich", force=False)
    text = path.read_text(encoding="utf-8")
    trace = json.loads(text)
    assert "Zürich" in text
    assert trace["displayTimeUnit"] == "ms"
    assert trace["otherData"]["run"] == "Zürich"
    assert len(trace["traceEvents"]) == len(trace_events([timeline()]))
