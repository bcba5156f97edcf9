"""Ranks that make no progress, by what they say of themselves and by the processor time that they take."""

import os
import socket
from types import SimpleNamespace

import pytest

from topologies.errors import InputError, MachineError, TrainingError
from training import TrainingConfig
from training.engine.progress import Progress, Stage
from training.mpi import rank_watch
from training.mpi.rank_progress import SharedProgress, make_board, read_board
from training.mpi.rank_watch import LOOK_S, RankWatch

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
