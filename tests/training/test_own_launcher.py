"""Ranks under a user's own `mpiexec` that are stopped, hang or lose each other; tests start processes for seconds."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_stopped_ranks import BY_NAMESPACE, NAMES, ended, namespaces  # noqa: F401

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent
SCENARIO = """
[network]
underlay = "gaia"
access = "100 Mbps"
[workload]
compute = "10 ms"
[overlays]
kinds = ["ring"]
[training]
model = "softmax"
rounds = {rounds}
log_every = {rounds}
checkpoint_every = 20
executor = "loop"
rank_timeout = "{limit}"
"""


@pytest.fixture
def launch(tmp_path):
    """Start a run on two ranks, which see each other as on one host or as told."""
    started = []

    # Each program simulates all rounds before it trains: a million take 7 s; training these takes a minute or more.
    def start(limit, *before, rounds=20_000, **environ):
        (tmp_path / "x.toml").write_text(SCENARIO.format(limit=limit, rounds=rounds))
        mpiexec = [*before, BIN / "mpiexec", "-n", "2", BIN / "silosim"]
        program = subprocess.Popen(
            [*mpiexec, "run", tmp_path / "x.toml", "-o", tmp_path / "x.h5"],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(program)
        return program

    yield start
    for program in started:
        program.kill()
        program.communicate()


@pytest.fixture
def trained(launch, processes_naming, tmp_path):
    """Start a run and wait for its first checkpoint; gives its program, its ranks and all its processes."""

    def start(*words, **environ):
        program = launch(*words, **environ)
        while not list(tmp_path.glob("x.h5.checkpoints/ring/round-*")):
            assert program.poll() is None, program.communicate()[1]
            time.sleep(0.1)
        found = processes_naming(tmp_path / "x.h5")
        ranks = {rank_of(process): process for process in found}
        del ranks[None]
        assert sorted(ranks) == [0, 1]
        watches = [process for rank in ranks.values() for process in watch_of(rank)]
        assert watches
        return program, ranks, [*ranks.values(), *watches]

    return start


def rank_of(process):
    """Rank of a process by its environment; None of those that start ranks."""
    pairs = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return next((int(pair[9:]) for pair in pairs if pair.startswith(b"PMI_RANK=")), None)


def watch_of(rank):
    """The watch that a rank started, if it did."""
    children = Path(f"/proc/{rank}/task/{rank}/children").read_text().split()
    return [
        int(child)
        for child in children
        if b"training.mpi.host_watch" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def parent_of(process):
    """The process that started another one."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def ends(program, processes, within_s):
    """The last line of ours that a run prints, and its exit code, once it has ended and left nothing."""
    began_s = time.monotonic()
    _, said = program.communicate(timeout=60)
    assert time.monotonic() - began_s < within_s
    until_s = time.monotonic() + 5
    while not ended(processes) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert ended(processes)
    assert "Traceback" not in said
    lines = [line for line in said.splitlines() if line.startswith("silosim: error: ")]
    return program.returncode, lines


@pytest.mark.parametrize("rank", [0, 1])
def test_a_stopped_rank_ends_the_run_with_3_and_keeps_what_there_is(trained, tmp_path, rank):
    program, ranks, processes = trained("3 s")
    os.kill(ranks[rank], signal.SIGSTOP)
    assert ends(program, processes, within_s=20) == (
        3,
        [
            f"silosim: error: rank {rank} on {socket.gethostname()} (process {ranks[rank]}), which is stopped, made no "
            "progress for longer than rank_timeout(='3 s'); all ranks were ended."
        ],
    )
    assert (tmp_path / "x.h5.partial").exists()
    assert list(tmp_path.glob("x.h5.checkpoints/ring/round-*"))


def test_ranks_that_are_all_stopped_are_killed(trained):
    program, ranks, processes = trained("3 s")
    for rank in (0, 1):
        os.kill(ranks[rank], signal.SIGSTOP)
    code, (line,) = ends(program, processes, within_s=20)
    assert code not in (0, 3)  # no rank is left that could say which
    assert line.count("which is stopped") == 2


def test_a_rank_whose_main_thread_hangs_is_named(trained, in_rank_1):
    in_rank_1("import threading; k < 30 or threading.Event().wait()")
    program, ranks, processes = trained("3 s")
    code, (line,) = ends(program, processes, within_s=20)
    assert code == 3
    assert line.startswith(
        f"silosim: error: rank 1 on {socket.gethostname()} (process {ranks[1]}) made no progress"
    )


def test_a_round_that_is_longer_than_the_limit_is_progress(launch, in_rank_1, tmp_path):
    """A round of three seconds on the processor of one rank, for which the other one waits."""
    in_rank_1("import time; until = time.thread_time() + 3\n        while time.thread_time() < until: pass")
    program, began_s = launch("2 s", rounds=1), time.monotonic()
    _, said = program.communicate(timeout=100)
    assert program.returncode == 0, said
    assert time.monotonic() - began_s > 3
    assert (tmp_path / "x.h5").exists()


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("lost", ["cable", "host"])
def test_a_host_that_is_cut_off_or_lost_ends_the_ranks_of_the_others(trained, tmp_path, lost):
    (tmp_path / "launch").write_text(BY_NAMESPACE.format(name=NAMES[1]))
    (tmp_path / "launch").chmod(0o755)
    (tmp_path / "hosts").write_text("10.77.0.1\n10.77.0.2\n")
    inside = ["ip", "netns", "exec", NAMES[0]]
    program, ranks, processes = trained(
        "3 s",
        *inside,
        HYDRA_HOST_FILE=str(tmp_path / "hosts"),
        HYDRA_LAUNCHER_EXEC=str(tmp_path / "launch"),
        # The ranks are on one machine, and would talk through its memory.
        UCX_TLS="tcp,self",
    )
    assert len(processes) == 4  # a watch on each
    gone = [ranks[1], *watch_of(ranks[1]), parent_of(ranks[1])] if lost == "host" else []
    for process in gone:
        os.kill(process, signal.SIGSTOP)
    subprocess.run([*inside, "ip", "link", "set", NAMES[0], "down"], check=True)
    try:
        assert ends(program, [process for process in processes if process not in gone], within_s=30) == (
            3,
            [
                "silosim: error: nothing was heard for longer than rank_timeout(='3 s') of rank 1 on "
                f"{socket.gethostname()}, as where a host is lost or the network to it is cut; all ranks were ended."
            ],
        )
    finally:
        for process in gone:
            os.kill(process, signal.SIGKILL)
