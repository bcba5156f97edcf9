"""Two watches that talk over this machine's loopback, and what ranks hear of them."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from training.engine.progress import Stage
from training.mpi import host_watch
from training.mpi.host_verdict import Host
from training.mpi.host_watch import HostWatch, Plan
from training.mpi.rank_progress import NOBODY, SharedProgress, SilentRanksError, empty_board

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="memory without a name is Linux'")

HOSTS = (Host(name="a", ranks=(0,)), Host(name="b", ranks=(1,)))
LIMIT_S = 0.2


@pytest.fixture
def watches(monkeypatch):
    """Start the watches of two hosts with a rank each, all in this process; what they kill is only noted."""
    monkeypatch.setattr(host_watch, "LOOK_S", 0.01)
    monkeypatch.setattr(host_watch, "END_S", 0.3)
    monkeypatch.setattr(host_watch, "FORWARDING_S", 0.0)
    monkeypatch.setattr(host_watch, "MEETING_S", 0.3)
    killed, pipes, meetings, threads = [], [], [], []
    monkeypatch.setattr(host_watch, "end_processes", killed.append)

    def start(*, tokens=("t", "t"), limit_s=LIMIT_S):
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in HOSTS]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        hub = (sockets[0].getsockname(),)
        ranks = []
        for own, each in enumerate(sockets):
            board = os.memfd_create("test")
            os.write(board, empty_board(2))
            ranks.append(SharedProgress(Path(f"/proc/self/fd/{board}"), own))
            plan = Plan(
                hosts=HOSTS,
                own=own,
                limit_s=limit_s,
                stated="1 s",
                board=board,
                socket=each.detach(),
                hub=hub,
                token=tokens[own],
            )
            assert Plan.from_json(plan.to_json()) == plan
            read, write = os.pipe()
            met, says = os.pipe()
            pipes.append(write)
            meetings.append(met)
            meetings.append(says)
            threads.append(threading.Thread(target=HostWatch(plan).run, args=[read, says]))
        for thread in threads:
            thread.start()
        return ranks, killed, pipes, threads

    start.meetings = meetings
    yield start
    for pipe in pipes:
        os.close(pipe)
    for thread in threads:
        thread.join()
    for pipe in meetings:
        os.close(pipe)


def heard(rank, within_s=5.0):
    """What a rank hears at once or in a wait that takes so long."""
    until_s = time.monotonic() + within_s
    while True:
        try:
            rank.check()
        except SilentRanksError as error:
            return error
        if time.monotonic() >= until_s:
            return None
        time.sleep(0.005)


def test_a_rank_of_the_other_host_is_named_to_all_ranks(watches):
    ranks, killed, _, _ = watches()
    with ranks[0].during(Stage.WAITING), ranks[1].during(Stage.DEVICE):
        first, second = heard(ranks[0]), heard(ranks[1])
    assert str(first) == str(second)
    assert str(first).startswith(f"rank 1 on {socket.gethostname()} (process {os.getpid()}) made no progress")
    assert first.speaker == second.speaker == 0
    assert not killed
    with pytest.raises(SilentRanksError):
        ranks[1].step()


@pytest.mark.parametrize(("tokens", "met"), [(("t", "t"), b"1"), (("t", "other"), b"0")])
def test_ranks_train_once_their_hosts_have_heard_each_other_or_a_time_has_passed(watches, tokens, met):
    began_s = time.monotonic()
    watches(tokens=tokens, limit_s=60.0)
    assert [os.read(meeting, 1) for meeting in watches.meetings[::2]] == [met, met]
    assert (time.monotonic() - began_s > 0.3) == (met == b"0")


def test_what_is_left_is_killed_after_a_while_and_the_message_printed_once(watches, capfd):
    ranks, killed, _, threads = watches()
    with ranks[0].during(Stage.WAITING), ranks[1].during(Stage.DEVICE):
        for thread in threads:
            thread.join()
    assert killed == [[os.getpid()], [os.getpid()]]
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("silosim: error: rank 1 on ")


def test_nobody_waits_for_a_rank_to_speak_where_all_are_to_blame(watches, capfd):
    ranks, killed, _, threads = watches()
    with ranks[0].during(Stage.DEVICE), ranks[1].during(Stage.DEVICE):
        assert heard(ranks[0]).speaker == NOBODY
        threads[0].join()
    assert killed[0] == [os.getpid()]
    assert capfd.readouterr().err.startswith("silosim: error: rank 0 on ")


def test_ranks_that_make_steps_hear_nothing(watches):
    ranks, killed, _, _ = watches()
    for _ in range(60):
        with ranks[0].during(Stage.WAITING):
            ranks[1].step()
            assert heard(ranks[0], within_s=0.01) is None
    assert not killed


def test_a_watch_ends_with_the_rank_that_started_it(watches):
    ranks, killed, pipes, threads = watches(limit_s=60.0)
    while pipes:
        os.close(pipes.pop())
    for thread in threads:
        thread.join(timeout=5)
        assert not thread.is_alive()
    assert heard(ranks[0], within_s=0.0) is None
    assert killed == []


def test_datagrams_of_another_training_are_not_heard(watches):
    ranks, _, _, _ = watches(tokens=("t", "other"))
    with ranks[0].during(Stage.WAITING), ranks[1].during(Stage.WAITING):
        # Heard, they would have waited for each other.
        assert heard(ranks[0], within_s=2.5 * LIMIT_S) is None
