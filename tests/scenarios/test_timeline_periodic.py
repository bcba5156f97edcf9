"""Timelines of periodic overlays: who waits for whose message, with which lag, on the page, in figures and traces."""

import json
import shutil
from collections import defaultdict
from itertools import pairwise

import h5py
import matplotlib.text
import numpy as np
import pytest
from edited_run import edited

import silosim as package
from scenarios.config.scenario import parse_scenario
from scenarios.pages.run_facts import run_facts
from scenarios.pages.timeline_section import timeline_section
from scenarios.report.timeline_rows import circuit_computing, circuit_messages, waits
from scenarios.report.timeline_table import PERIODIC
from scenarios.runfile.reader import read_run
from scenarios.studies.run import run_scenario
from scenarios.studies.timeline import timelines

TURNS = """state,from,to,lag,weight
0,Virginia,Oregon,1,0.5
0,Oregon,Virginia,1,0.5
1,Tokyo,Oregon,2,0.5
1,Oregon,Tokyo,2,0.5
2,Tokyo,Sydney,1,0.5
2,Sydney,Tokyo,2,0.5
"""
FOUR = 'silo_at = ["Virginia", "Oregon", "Tokyo", "Sydney"]'
SCENARIO = """
seed = 3
[network]
underlay = "gaia"
variant = "{variant}"
access = "{access}"
{network}
[workload]
preset = "femnist"
{overlays}
[simulation]
rounds = {rounds}
messages = {messages}
{simulation}
"""
KINDS = '[overlays]\nkinds = ["multigraph", "base"]'


def write(path, *, turns=False, messages=True, simulation="", overlays=None, rounds=110, network=None):
    """A run of multigraph, with lags up to 5, and base; or of a schedule with lags of 2."""
    if turns:
        (path.parent / "turns.csv").write_text(TURNS, encoding="utf-8")
        overlays = f'[[overlays]]\nschedule = "{path.parent / "turns.csv"}"\nname = "turns"'
    text = SCENARIO.format(
        variant="corrected" if turns else "published",
        access="100 Mbps" if turns else "10 Gbps",
        network=network or (FOUR if turns else ""),
        overlays=overlays or KINDS,
        rounds=rounds,
        messages=str(messages).lower(),
        simulation=simulation,
    )
    run_scenario(parse_scenario(text, source="p.toml"), text, path, force=False, resume=False)
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write(tmp_path_factory.mktemp("periodic") / "run.h5")


@pytest.fixture(scope="module")
def turns(tmp_path_factory):
    return write(tmp_path_factory.mktemp("turns") / "turns.h5", turns=True, rounds=20)


def shown_of(run, turns):
    for path, rounds in (
        (run, slice(0, 9)),
        (run, slice(60, 66)),
        (run, slice(104, 110)),
        (turns, slice(0, 8)),
    ):
        yield from ((path, rounds, shown.timeline) for shown in timelines(path, rounds=rounds))


def test_waiting_ends_when_the_last_message_that_the_state_awaits_comes(run, turns):
    lags = set()
    for path, rounds, timeline in shown_of(run, turns):
        activity, states = timeline.activity, read_run(path).overlays[0].states
        if timeline.kind == "base":
            states = read_run(path).overlays[1].states
        messages = package.open_run(path).messages(overlay=timeline.kind, rounds=rounds)
        arrivals = messages.set_index(["round", "source", "target"])["arrival_s"]
        np.testing.assert_allclose(
            activity.start_s + activity.compute_s + activity.waiting_s,
            activity.next_start_s,
            atol=1e-9,
            rtol=0,
        )
        for row, round_ in enumerate(timeline.rounds):
            state = states[round_ % len(states)]
            for silo, label in enumerate(timeline.labels):
                into = np.flatnonzero((state.target == silo) & (state.lag <= round_ + 1))
                awaited = {
                    int(state.source[arc]): (
                        arrivals[round_, timeline.labels[state.source[arc]], label],
                        int(state.lag[arc]),
                    )
                    for arc in into
                }
                last = int(activity.last_arc[row, silo])
                done_s = activity.start_s[row, silo] + activity.compute_s[row, silo]
                latest_s = max((date for date, _ in awaited.values()), default=0.0)
                assert (last >= 0) == (latest_s > done_s + 1e-12)
                assert activity.is_isolated[row, silo] == (not awaited)
                if last >= 0:
                    date, lag = awaited[int(timeline.source[last])]
                    assert date == pytest.approx(activity.next_start_s[row, silo], abs=1e-9)
                    assert date == pytest.approx(latest_s, abs=1e-9)
                    assert timeline.lags[row, last] == lag
                    lags.add(lag)
    assert lags == {1, 2, 3, 4, 5}


def test_each_message_leaves_after_the_computing_of_the_round_that_its_lag_names(run, turns):
    for path, rounds, timeline in shown_of(run, turns):
        activity, sent = timeline.activity, timeline.sent
        every = package.open_run(path).messages(overlay=timeline.kind)
        under_way = (every["start_s"] < timeline.end_s) & (every["arrival_s"] > timeline.begin_s)
        assert len(sent) == under_way.sum()
        done_s = activity.start_s + activity.compute_s
        row = sent.round + 1 - sent.lag - rounds.start
        own = np.flatnonzero((row >= 0) & (row < len(done_s)))
        assert len(own) > 10
        computed_s = done_s[row[own], timeline.source[sent.arc[own]]]
        # Or after the message before it on its arc.
        ends_s = [every["last_bit_s"][every["arc"] == arc].to_numpy() for arc in range(len(timeline.source))]
        before_s = [
            max((end_s for end_s in ends_s[arc] if end_s <= start_s), default=0.0)
            for arc, start_s in zip(sent.arc[own].tolist(), sent.start_s[own].tolist(), strict=True)
        ]
        is_first = np.isclose(sent.start_s[own], computed_s, rtol=1e-12, atol=0)
        np.testing.assert_array_equal(sent.start_s[own][~is_first], np.array(before_s)[~is_first])
        assert (sent.start_s[own] >= computed_s - 1e-12).all()
        assert is_first.sum() > len(own) / 3


@pytest.mark.parametrize(
    "simulation",
    ["", 'sharing = "equal"', 'engine = "simpy"', 'compute = { distribution = "lognormal", cv = 0.5 }'],
)
@pytest.mark.parametrize("is_turns", [False, True])
def test_rounds_simulated_again_are_those_with_messages_in_the_file(tmp_path, simulation, is_turns):
    rounds = 20 if is_turns else 70
    kept, lost = (
        write(
            tmp_path / f"{messages}.h5",
            turns=is_turns,
            messages=messages,
            simulation=simulation,
            rounds=rounds,
        )
        for messages in (True, False)
    )
    for window in (slice(1, 5), slice(rounds - 3, rounds)):
        for one, other in zip(timelines(kept, rounds=window), timelines(lost, rounds=window), strict=True):
            assert (one.simulated_again, other.simulated_again) == (False, True)
            assert "to the last bit" in " ".join(other.notes)
            for name in ("start_s", "compute_s", "last_arc", "is_isolated"):
                a, b = (getattr(each.timeline.activity, name) for each in (one, other))
                np.testing.assert_array_equal(a, b)
            for name in ("round", "lag", "start_s", "arrival_s"):
                a, b = (getattr(each.timeline.sent, name) for each in (one, other))
                np.testing.assert_array_equal(a, b)


def test_the_recurrence_says_who_is_waited_for(tmp_path):
    path = write(
        tmp_path / "run.h5", turns=True, rounds=24, simulation='sharing = "equal"\nqueueing = "overlap"'
    )
    (shown,) = timelines(path, rounds=slice(0, 24))
    timeline, record = shown.timeline, read_run(path)
    with h5py.File(path) as file:
        states = file["overlays/turns/states"]
        rows = list(
            zip(states["state"][:], *states["ends"][:].T, states["lag"][:], states["delay_s"][:], strict=True)
        )
    compute_s = record.work.round_compute_s(4)
    start_s = [np.zeros(4)]
    for k in range(24):
        after_s, whose = start_s[k] + compute_s, [None] * 4
        for state, j, i, lag, delay_s in rows:
            if state == k % 3 and k + 1 >= lag and start_s[k + 1 - lag][j] + delay_s > after_s[i]:
                after_s[i], whose[i] = start_s[k + 1 - lag][j] + delay_s, (j, lag)
        start_s.append(after_s)
        arcs = timeline.activity.last_arc[k].tolist()
        assert whose == [None if arc < 0 else (timeline.source[arc], timeline.lags[k, arc]) for arc in arcs]
        np.testing.assert_allclose(timeline.activity.next_start_s[k], after_s, rtol=1e-12)


def test_along_the_critical_circuit_nobody_waits_in_vain(tmp_path):
    path = write(tmp_path / "run.h5", simulation='sharing = "equal"\nqueueing = "overlap"', rounds=300)
    for shown in timelines(path, rounds=slice(230, 299)):
        timeline = shown.timeline
        marked, next_s = circuit_messages(timeline), timeline.activity.next_start_s
        # In the periodic regime each arc of the circuit is tight: its model is the one that ends the waiting.
        for _, j, _, arrival_s in marked:
            assert np.abs(next_s[:, j] - arrival_s).min() < 1e-9
        own = circuit_computing(timeline)
        for silo, _, end_s in own:
            assert np.abs(next_s[:, silo] - end_s).min() < 1e-9
        events = read_run(path).overlays[0 if timeline.kind == "multigraph" else 1]
        with h5py.File(path) as file:
            circuit = file[f"overlays/{events.kind}/critical_circuit"][:].tolist()
        assert timeline.circuit == tuple(map(tuple, circuit))
        assert len(marked) + len(own) > len(timeline.rounds) / 2


def test_the_table_has_lags_and_isolated_rounds(turns):
    (table,) = package.timeline(turns, rounds=slice(0, 6))
    rows = {row["silo"]: row for row in table.rows}

    # Sydney receives in state 2 only, Oregon in states 0 and 1.
    assert [rows[silo]["isolated_rounds"] for silo in ("Oregon", "Sydney", "Tokyo", "Virginia")] == [
        2,
        4,
        2,
        4,
    ]
    assert rows["Tokyo"]["waits_most_lags"] == "2"
    assert table.further["states"] == 3
    assert {state for _, state in table.further["critical_circuit"]} <= {0, 1, 2}
    said = " ".join(str(table).split())
    assert "turns (3 states), rounds 0 to 5" in said
    assert "critical circuit (paper), silo (state of the round that it starts): " in said
    assert "with a lag of n for the one that was sent n - 1 rounds before" in said


def test_what_a_periodic_overlay_waits_for_is_said_once_where_there_is_one(tmp_path):
    path = write(
        tmp_path / "both.h5", overlays='[overlays]\nkinds = ["base", "star"]', rounds=3, network=FOUR
    )

    def notes(overlay=None):
        return [
            [note for note in shown.notes if note == PERIODIC] for shown in timelines(path, overlay=overlay)
        ]

    assert notes() == [[], [PERIODIC]]
    assert notes("base") == [[PERIODIC]]
    assert notes("star") == [[]]


def test_a_trace_has_lags_states_and_the_busiest_links(run, tmp_path):
    package.timeline(run, rounds=slice(60, 66), output=tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    overlays = {shown.timeline.kind: shown.timeline for shown in timelines(run, rounds=slice(60, 66))}
    process = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    threads = defaultdict(list)
    for event in (event for event in events if event["ph"] == "X"):
        threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        timeline, args = overlays[process[event["pid"]]], event["args"]
        if event["cat"] in ("compute", "wait"):
            assert args["state"] == args["round"] % timeline.period
        if event["cat"] == "wait":
            lag = "" if args["lag"] == 1 else f", lag {args['lag']}"
            assert event["name"] == f"wait for {args['from']}{lag}"
    for spans in threads.values():
        assert all(end <= begin + 1e-6 for (_, end), (begin, _) in pairwise(sorted(spans)))
    for pid, kind in process.items():
        timeline = overlays[kind]
        sends = [event for event in events if event.get("cat") == "send" and event["pid"] == pid]
        assert sorted(
            (each["args"]["round"], each["args"]["lag"], each["args"]["arc"]) for each in sends
        ) == sorted(
            zip(
                timeline.sent.round.tolist(),
                timeline.sent.lag.tolist(),
                timeline.sent.arc.tolist(),
                strict=True,
            )
        )
        capacity = dict(zip(timeline.link_names, timeline.link_capacity_bps, strict=True))
        counters = [event for event in events if event["ph"] == "C" and event["pid"] == pid]
        assert len({event["name"] for event in counters}) == 8
        for event in counters:
            limit_bps = capacity[event["name"].removesuffix(" rate")]
            assert 0 <= event["args"]["bit/s"] <= limit_bps * (1 + 1e-9)


def test_a_figure_marks_the_circuit_and_names_lags(turns, tmp_path, monkeypatch):
    figures = []

    def keep(figure, _path):
        figure.draw_without_rendering()
        figures.append(figure)

    monkeypatch.setattr("scenarios.report.timeline_plot.save_figure", keep)
    package.timeline(turns, rounds=slice(0, 8), output=tmp_path / "x.png")
    (axis,) = figures[0].axes
    (shown,) = timelines(turns, rounds=slice(0, 8))
    silos = [shown.timeline.labels[silo] for silo in shown.timeline.circuit_silos]

    assert [text.get_text() for text in axis.get_yticklabels()][: len(silos)] == silos
    assert axis.get_title() == "turns (3 states), rounds 0 to 7"
    texts = {text.get_text() for text in axis.findobj(matplotlib.text.Text)}
    assert {name for *_, name in waits(shown.timeline)} >= {"Oregon, lag 2", "Virginia"}
    assert "Oregon, lag 2" in texts


def test_the_page_of_a_run_has_timelines_of_its_periodic_overlays(turns):
    section = timeline_section(run_facts(turns))

    assert "Timeline of turns (3 states), rounds 0 to 2" in section
    assert "Oregon, lag 2" in section
    assert "No timeline" not in section


def test_a_run_of_one_silo_waits_for_nobody(tmp_path):
    path = write(
        tmp_path / "one.h5",
        overlays='[overlays]\nkinds = ["base"]',
        network='silo_at = ["Tokyo"]',
        rounds=5,
    )
    (table,) = package.timeline(path, output=tmp_path / "one.png")
    (row,) = table.rows

    assert (row["computing_share"], row["waits_most_for"], row["isolated_rounds"]) == (1.0, None, 5)


def test_a_simulation_that_was_cut_short_ends_with_its_arrivals(turns, tmp_path):
    path = shutil.copy(turns, tmp_path / "run.partial")
    with edited(path) as file:
        group = file["simulation/turns"]
        group.attrs.modify("rounds", 8)
        group.attrs.modify("cycle_time_s", np.nan)
        group["round_start_s"][8:] = np.nan
        for name in ("arrival_s", "start_s", "last_bit_s"):
            group[name][8:] = np.nan
    (cut,), (whole,) = (timelines(each, rounds=slice(5, 8)) for each in (path, turns))
    np.testing.assert_array_equal(cut.timeline.activity.next_start_s, whole.timeline.activity.next_start_s)
    np.testing.assert_array_equal(cut.timeline.activity.last_arc, whole.timeline.activity.last_arc)
