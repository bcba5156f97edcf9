"""Traces for Perfetto and Chrome: what the Trace Event Format demands, and what the run says."""

import json
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from edited_run import edited
from timeline_runs import EVENTS, HEAD, write_run

import silosim as package
from scenarios.studies.timeline import timelines


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


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
