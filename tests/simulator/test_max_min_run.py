"""What the compiled engine does between two calls of its loop over events, by hand."""

from math import inf, isnan
from types import SimpleNamespace

import numpy as np
import pytest

from simulator import CapacityChange, Constant, FlowArc, make_job
from simulator.compiled import max_min_run
from simulator.compiled.events import CHANGE, DONE, FULL_QUEUE, FULL_WINDOW, PAUSED, REPEATED
from simulator.compiled.max_min_run import MaxMinRun
from simulator.compiled.state import NONE, OFF


def started(rows=4, *, rounds=100, fast_forward=True, **how):
    """A circle of three silos, arc `i` on link `i` of 1 bit/s."""
    arcs = [FlowArc(source=i, target=(i + 1) % 3, latency_s=0.5, links=(i,)) for i in range(3)]
    job = make_job(
        arcs,
        link_capacity_bps=[1.0] * 3,
        message_bits=1.0,
        compute=Constant(compute_s=[1.0, 2.0, 3.0]),
        rounds=rounds,
        **how,
    )
    return MaxMinRun(job, rows, fast_forward=fast_forward)


def scripted(monkeypatch, run, *statuses):
    """Let the loop over events return what is told, and note what is done about it."""
    script, done = iter(statuses), []
    monkeypatch.setattr(max_min_run, "run", lambda *_: next(script))

    def noting(name, result=None):
        monkeypatch.setattr(run, name, lambda *at, **how: done.append((name, *at, *how.values())) or result)

    for name in ("_lengthen_queue", "_prove", "_change", "_move"):
        noting(name)
    noting("_complete", ("rounds",))
    noting("_rows", "last rounds")
    return done


def test_what_is_done_about_each_reason_to_return(monkeypatch):
    run = started()
    run._network.clock["base"] = 90
    done = scripted(monkeypatch, run, FULL_QUEUE, PAUSED, REPEATED, PAUSED, CHANGE, PAUSED, DONE)
    assert list(run.pieces()) == ["last rounds"]
    assert done == [("_lengthen_queue",), ("_prove",), ("_change",), ("_rows", 10, True)]


@pytest.mark.parametrize(
    ("last_round", "step"),
    [(6, ("_move", 0, 8)), (7, ("_complete", 2)), (8, ("_complete", 3))],
)
def test_a_window_of_which_less_than_half_is_complete_becomes_longer(monkeypatch, last_round, step):
    run = started(rows=4)
    run._network.clock["base"] = 5
    run._silos.table["round"] = [9, last_round, 8]
    done = scripted(monkeypatch, run, FULL_WINDOW, DONE)
    assert list(run.pieces()) == ["rounds"] * (step[0] == "_complete") + ["last rounds"]
    assert done == [step, ("_rows", 95, True)]


def test_changes_are_applied_once_they_are_due():
    changes = [
        CapacityChange(date_s=date_s, link=link, capacity_bps=capacity_bps)
        for date_s, link, capacity_bps in ((1.0, 0, 4.0), (1.0, 1, 5.0), (2.0, 2, 6.0))
    ]
    run = started(changes=lambda: iter(changes))
    clock, links = run._network.clock, run._network.links
    found = []
    for now_s in (0.5, 1.0, 2.5, 3.0):
        clock["now_s"] = now_s
        run._change()
        found.append((links["capacity_bps"].tolist(), clock["change_s"].item()))
    assert found == [
        ([1.0, 1.0, 1.0], 1.0),
        ([4.0, 5.0, 1.0], 2.0),
        ([4.0, 5.0, 6.0], inf),
        ([4.0, 5.0, 6.0], inf),
    ]
    assert started()._network.clock["change_s"][0] == inf


@pytest.mark.parametrize(
    ("rounds", "is_whole", "copied"),
    [
        # No silo is beyond round 9, and messages of round 10 on may be omitted at the end.
        (14, True, 4),
        (13, True, 0),
        (17, True, 4),
        (18, True, 8),
        (100, True, 88),
        (100, False, 0),
    ],
)
def test_whole_periods_are_copied_that_end_before_any_silo_does(monkeypatch, rounds, is_whole, copied):
    run = started(rows=6, rounds=rounds)
    run._network.clock["base"] = 5
    run._silos.table["round"] = [8, 9, 7]
    added, advanced = [], []
    monkeypatch.setattr(
        max_min_run, "advance_state", lambda *at: advanced.append((*at[3:], at[2] is run._window))
    )
    run.steady = "known"
    run._history = None  # no start is noted any more
    run._period = SimpleNamespace(
        period_rounds=4,
        period_s=10.0,
        add=lambda first, rows: added.append((first, len(rows.start_s))) or is_whole,
        copies=lambda first, count: [f"{count} rounds from {first}"],
    )
    rows, *copies = run._complete(2)

    assert len(rows.start_s) == len(rows.round_start_s) == 2
    assert added == [(5, 2)]
    assert copies == [f"{copied} rounds from 7"] * (copied > 0)
    assert advanced == [(copied, copied / 4 * 10.0, True)] * (copied > 0)
    assert run._base == 7
    assert (run._period is None) == is_whole


def test_starts_are_noted_until_a_repeat_is_known():
    run = started(rows=6)
    noted = []
    run._history = SimpleNamespace(add=noted.append)
    run._window.inbox["round_start_s"] = np.arange(18.0).reshape(6, 3)
    (rows,) = run._complete(2)
    assert noted == [rows.round_start_s]
    assert rows.round_start_s.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize(("lag", "fast_forward", "first"), [(1, True, 11), (3, True, 13), (1, False, None)])
def test_a_repeat_tells_the_period_and_the_round_from_which_it_is_copied(lag, fast_forward, first):
    run = started(rows=6, fast_forward=fast_forward)
    # Of the earlier one silo 0 was in round 5, at 2 s; now silos are in rounds 9, 8 and 10.
    clock = run._network.clock
    clock["saved_round"], clock["saved_s"], clock["now_s"], clock["base"] = 5, 2.0, 10.0, 7
    run._silos.table["round"] = [9, 8, 10]
    run._window.inbox["round_start_s"] = np.arange(18.0).reshape(6, 3)
    run._job = SimpleNamespace(silos=3, arcs=range(3), longest_lag=lag)
    noted = []
    run._history = SimpleNamespace(
        add=lambda start_s: noted.append(start_s.tolist()),
        steady=lambda period_rounds, period_s: (period_rounds, period_s),
    )
    run._prove()

    assert run.steady == (4, 8.0)
    # Rounds 7 to 10 have started.
    assert noted == [np.arange(12.0).reshape(4, 3).tolist()]
    assert clock["reference"][0] == OFF
    if first is None:
        assert run._period is None
    else:
        assert (run._period.first, run._period.period_rounds, run._period.period_s) == (first, 4, 8.0)


@pytest.mark.parametrize(("rows", "is_forgotten"), [(3, False), (4, False), (5, True)])
def test_a_window_that_moves_keeps_what_is_known_of_later_rounds(rows, is_forgotten):
    run = started(rows=4)
    clock = run._network.clock
    clock["base"], clock["saved_round"] = 5, 3
    old, saved = run._window, run._saved
    old.inbox["round_start_s"], old.inbox["latest_s"] = np.arange(24.0).reshape(2, 4, 3)
    old.inbox["missing"][:] = 7
    old.messages["start_s"] = 50.0 + np.arange(12.0).reshape(4, 3)
    run._move(1, rows)

    inbox, messages = run._window.inbox, run._window.messages
    assert run._base == 6
    assert len(inbox) == len(messages) == rows
    assert inbox["round_start_s"][:3].tolist() == [[3.0, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert inbox["latest_s"][:3].tolist() == [[15.0, 16, 17], [18, 19, 20], [21, 22, 23]]
    assert messages["start_s"][:3].tolist() == [[53.0, 54, 55], [56, 57, 58], [59, 60, 61]]
    assert inbox["missing"].tolist() == [[7] * 3] * 3 + [[1] * 3] * (rows - 3)
    assert inbox["compute_s"].tolist() == [[1.0, 2.0, 3.0]] * rows
    assert all(isnan(start_s) for start_s in inbox["round_start_s"][3:].ravel())
    assert (clock["saved_round"][0] == NONE) == is_forgotten
    assert (run._saved is saved) == (not is_forgotten)
    assert len(run._saved) >= room_of_state(run)


def room_of_state(run):
    """What a state holds at most, see `simulator.compiled.repeats`.

    Of each silo three numbers, and two for each round; of each arc seven, until when each message is held back, and how
    far each one that is under way, but the first, is behind; and one more.
    """
    rows, messages = len(run._window.inbox), len(run._queue.gap_bits)
    return 1 + 3 * (3 + 2 * rows) + 3 * (7 + messages + messages - 1)


def test_a_longer_queue_holds_the_same_messages():
    run = started(queueing="overlap")
    old = run._queue
    rows = len(old.gap_bits)
    old.gap_bits[:] = np.arange(3.0 * rows).reshape(rows, 3)
    old.bound_s[:] = 100.0 + np.arange(3.0 * rows).reshape(rows, 3)
    heads = run._network.arcs["head"] = np.array([0, rows + 1, 7 * rows - 1])
    run._network.clock["saved_round"] = 3
    run._lengthen_queue()

    new = run._queue
    assert len(new.gap_bits) == len(new.bound_s) == 2 * rows
    for arc, head in enumerate(heads):
        for number in range(head, head + rows):
            assert new.gap_bits[number % (2 * rows), arc] == old.gap_bits[number % rows, arc]
            assert new.bound_s[number % (2 * rows), arc] == old.bound_s[number % rows, arc]
    # A saved state would be of other places.
    assert run._network.clock["saved_round"][0] == NONE
    assert len(run._saved) >= room_of_state(run)


def test_one_message_is_under_way_on_an_arc_at_a_time_unless_they_overlap():
    assert len(started()._queue.gap_bits) == 1
    assert len(started(queueing="overlap")._queue.gap_bits) > 1
    assert started()._base == 0
