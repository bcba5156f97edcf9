"""Ranks that make no progress, by what they say of themselves and by the processor time that they take."""

import mmap
import os
import socket
from types import SimpleNamespace

import pytest

from topologies.errors import InputError, MachineError, TrainingError
from training import TrainingConfig
from training.engine.progress import Progress, Stage
from training.mpi import rank_watch
from training.mpi.rank_progress import (
    RankState,
    SharedProgress,
    SilentRanksError,
    Verdict,
    make_board,
    read_board,
    write_verdict,
)
from training.mpi.rank_watch import LOOK_S, RankWatch, Seen

LIMIT_S = 60.0


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Two ranks, a clock that only the test moves, and processor time that only the test spends."""
    make_board(tmp_path / "progress", 2)
    world = SimpleNamespace(now_s=0.0, thread_s={}, children={1: "hydra_pmi_proxy", 2: "ssh"}, states={})
    monkeypatch.setattr(rank_watch, "main_thread_s", lambda process: world.thread_s.get(process, 0.0))
    monkeypatch.setattr(rank_watch, "children", lambda _launcher: set(world.children))
    monkeypatch.setattr(rank_watch, "process_name", lambda process: world.children[process])
    monkeypatch.setattr(rank_watch, "process_state", lambda process: world.states.get(process, "S"))

    def rank(number, process):
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: process)
            return SharedProgress(tmp_path / "progress", number)

    def watch(limit_s=LIMIT_S):
        made = RankWatch(
            tmp_path / "progress", limit_s=limit_s, stated="1 minute", launcher=7, clock=lambda: world.now_s
        )

        def look(seconds, also=lambda: None):
            for _ in range(round(seconds / LOOK_S)):
                world.now_s += LOOK_S
                also()
                made.look()

        return look

    return SimpleNamespace(rank=rank, watch=watch, world=world)


def test_a_rank_without_steps_is_named_with_its_host_and_others_are_not(watched):
    look, first, _ = watched.watch(), watched.rank(0, 10), watched.rank(1, 11)
    look(LIMIT_S, first.step)
    with pytest.raises(MachineError) as caught:
        look(2, first.step)
    assert str(caught.value) == (
        f"rank 1 on {socket.gethostname()} (process 11) made no progress for longer than rank_timeout(='1 minute'); "
        "all ranks were ended."
    )


def test_a_rank_that_waits_for_another_is_not_to_blame(watched):
    look, first, second = watched.watch(), watched.rank(0, 10), watched.rank(1, 11)
    with first.during(Stage.WAITING):
        look(10 * LIMIT_S, second.step)  # a long round of the other one
        watched.world.states[11] = "T"
        with pytest.raises(
            MachineError, match=r"^rank 1 on \S+ \(process 11\), which is stopped, made no progress"
        ):
            look(LIMIT_S + 1)


@pytest.mark.parametrize("stage", [Stage.HOST, Stage.DEVICE])
def test_processor_time_is_progress_where_no_device_is_waited_for(watched, stage):
    """A slow import and a long step on the processor go on; a driver that waits for its GPU takes time, too."""
    look, first, second = watched.watch(), watched.rank(0, 10), watched.rank(1, 11)
    spent = watched.world.thread_s

    def compute():
        first.step()
        spent[11] = spent.get(11, 0.0) + 0.01

    with second.during(stage):
        if stage == Stage.HOST:
            look(10 * LIMIT_S, compute)
        else:
            with pytest.raises(MachineError, match="rank 1 on"):
                look(LIMIT_S + 1, compute)


def test_a_checkpoint_on_a_gpu_goes_on_by_processor_time(watched):
    look, first, second = watched.watch(), watched.rank(0, 10), watched.rank(1, 11)
    spent = watched.world.thread_s

    def write():
        first.step()
        spent[11] = spent.get(11, 0.0) + 0.01

    with second.during(Stage.DEVICE):
        with second.during(Stage.HOST):
            look(3 * LIMIT_S, write)
        with pytest.raises(MachineError, match="rank 1 on"):
            look(LIMIT_S + 1, write)


def test_all_that_wait_for_each_other_are_cut_off(watched):
    look, first, second = watched.watch(), watched.rank(0, 10), watched.rank(1, 11)
    with first.during(Stage.WAITING), second.during(Stage.WAITING):
        look(LIMIT_S)
        with pytest.raises(
            MachineError, match=r"^all ranks have waited for each other .*: rank 0 on \S+, rank 1 on"
        ):
            look(1)


def test_of_all_that_wait_one_that_is_stopped_is_to_blame(watched):
    look, first, second = watched.watch(), watched.rank(0, 10), watched.rank(1, 11)
    watched.world.states[10] = "T"
    with (
        first.during(Stage.WAITING),
        second.during(Stage.WAITING),
        pytest.raises(
            MachineError, match=r"^rank 0 on \S+ \(process 10\), which is stopped, made no progress"
        ),
    ):
        look(LIMIT_S + 1)


def test_a_rank_that_has_not_started_is_named(watched):
    look, first = watched.watch(), watched.rank(0, 10)
    with (
        first.during(Stage.WAITING),
        pytest.raises(MachineError, match=r"^rank 1 has not started: it made no prog"),
    ):
        look(LIMIT_S + 1)


def test_time_in_which_the_launcher_was_held_up_is_no_silence(watched):
    """Stopped with Ctrl-Z, or its consumer takes long: then rank 0 may have waited for a full pipe."""
    look = watched.watch()
    watched.rank(0, 10)
    look(1)
    for _ in range(5):
        watched.world.now_s += 100 * LIMIT_S
        look(LOOK_S)
    with pytest.raises(MachineError):
        look(LIMIT_S)


def test_without_a_limit_nobody_is_silent_for_too_long(watched):
    look = watched.watch(limit_s=0.0)
    look(100 * LIMIT_S)


def test_a_launcher_that_has_lost_a_proxy_is_found_at_the_second_look(watched):
    look = watched.watch(limit_s=0.0)
    look(5)
    del watched.world.children[2]  # what is no proxy may come and go
    look(5)
    del watched.world.children[1]
    look(LOOK_S)  # proxies end a moment before the launcher does
    with pytest.raises(TrainingError, match="hydra_pmi_proxy, which starts the ranks, has ended before them"):
        look(LOOK_S)


def test_a_slot_says_what_its_rank_wrote(tmp_path):
    make_board(tmp_path / "progress", 3)
    progress = SharedProgress(tmp_path / "progress", 1)
    progress.step()
    progress.step()
    with progress.during(Stage.DEVICE), progress.during(Stage.WAITING):
        first, state, last = read_board((tmp_path / "progress").read_bytes())
        assert (state.process, state.steps, state.stage) == (os.getpid(), 2, Stage.WAITING)
        assert state.host == socket.gethostname()
        assert (first.process, last.process) == (0, 0)
    assert read_board((tmp_path / "progress").read_bytes())[1].stage == Stage.HOST
    progress.ended()
    assert read_board((tmp_path / "progress").read_bytes())[1].stage == Stage.WAITING


def test_progress_that_nobody_hears_of_changes_nothing():
    progress = Progress()
    progress.step()
    with progress.during(Stage.DEVICE):
        progress.step()


@pytest.mark.parametrize(
    ("stated", "seconds"),
    [("10 minutes", 600.0), ("90 s", 90.0), ("1.5 h", 5400.0), ("0 s", 0.0), (0, 0.0)],
)
def test_the_limit_is_a_duration_with_its_unit(stated, seconds):
    assert TrainingConfig(rank_timeout=stated).rank_timeout_s == seconds


def test_the_limit_is_ten_minutes_where_none_is_stated():
    assert TrainingConfig().rank_timeout_s == 600.0


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ("10", r"rank_timeout\(='10'\) must be a number with a unit"),
        (10, r"rank_timeout\(=10\) must be a number with a unit"),
        (False, r"rank_timeout\(=False\) must be a number with a unit"),
        ("-1 s", r"rank_timeout\(='-1 s'\) must be >= 0\."),
        ("inf s", r"rank_timeout\(='inf s'\) must be finite\."),
        ("10 MB", r"rank_timeout\(='10 MB'\) has the unit 'MB'"),
    ],
)
def test_another_limit_is_one_line(stated, rule):
    with pytest.raises(InputError, match=f"^{rule}"):
        TrainingConfig(rank_timeout=stated)


@pytest.mark.parametrize(
    ("process", "stage", "thread_s", "is_stopped"),
    [(10, Stage.HOST, 2.5, True), (10, Stage.DEVICE, 0.0, True), (0, Stage.HOST, 0.0, False)],
)
@pytest.mark.usefixtures("watched")
def test_what_is_seen_of_a_rank(monkeypatch, process, stage, thread_s, is_stopped):
    monkeypatch.setattr(rank_watch, "main_thread_s", {10: 2.5}.get)
    monkeypatch.setattr(rank_watch, "process_state", {10: "T", 0: ""}.get)
    state = RankState(process=process, steps=4, stage=stage, host="a")
    assert Seen.of(state) == Seen(state=state, thread_s=thread_s, is_stopped=is_stopped)


def test_a_look_that_comes_late_counts_as_twice_the_time_between_looks(watched):
    limit_s = 3 * LOOK_S
    watched.rank(0, 10)
    look = watched.watch(limit_s)
    look(LOOK_S)
    watched.world.now_s += 100.0
    look(LOOK_S)
    with pytest.raises(MachineError, match="rank 0 on"):
        look(LOOK_S)


def test_stages_that_follow_each_other_end_in_that_before_them(watched, tmp_path):
    progress = watched.rank(0, 10)
    assert read_board((tmp_path / "progress").read_bytes())[0].steps == 0
    for stage in (Stage.DEVICE, Stage.WAITING):
        with progress.during(stage):
            assert read_board((tmp_path / "progress").read_bytes())[0].stage == stage
    assert read_board((tmp_path / "progress").read_bytes())[0].stage == Stage.HOST


def test_a_verdict_reaches_all_ranks_that_share_the_memory(watched, tmp_path):
    ranks = [watched.rank(place, 10 + place) for place in (0, 1)]
    for rank in ranks:
        rank.step()
    with (tmp_path / "progress").open("r+b") as file, mmap.mmap(file.fileno(), 0) as board:
        write_verdict(board, Verdict(message="rank 0 hängt.", speaker=1))
    for call in (ranks[0].step, ranks[1].check):
        with pytest.raises(SilentRanksError, match=r"^rank 0 hängt\.$") as caught:
            call()
        assert caught.value.speaker == 1
    # What the ranks said of themselves stays.
    states = read_board((tmp_path / "progress").read_bytes())
    assert [(state.process, state.steps) for state in states] == [(10, 2), (11, 1)]
