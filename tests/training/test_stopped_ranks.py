"""Real ranks that are stopped, hang, lose their network or their launcher; each test starts processes for seconds."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from topologies.errors import MachineError, TrainingError
from training import HistoryRow, load_backend
from training.mpi.job_file import write_job
from training.processes import children, process_state

pytestmark = pytest.mark.slow

FOR_EVER = 10**6

PROGRAM = """
import sys
from pathlib import Path
from topologies.errors import SilosimError
from training import load_backend
from training.mpi.job_file import read_job
try:
    for row in load_backend("mpi").train(read_job(Path(sys.argv[1]))):
        print(row, flush=True)
except SilosimError as error:
    print(f"{type(error).__name__}: {error}", flush=True)
"""


@pytest.fixture(autouse=True)
def temporary(monkeypatch, tmp_path):
    """Put job directories where the test can find their processes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def started(make_job, processes_naming, tmp_path):
    """Start a training for ever; give its reports after the first row, its launcher and its ranks in order."""
    with contextlib.ExitStack() as closing:

        def start(limit, **settings):
            job = make_job(rounds=FOR_EVER, log_every=FOR_EVER, ranks=2, rank_timeout=limit, **settings)
            reports = closing.enter_context(contextlib.closing(load_backend("mpi").train(job)))
            while not isinstance(next(reports), HistoryRow):
                pass
            launcher, *ranks = sorted(processes_naming(next(tmp_path.glob("silosim-*"))))
            return reports, launcher, ranks

        yield start


def ended(processes):
    return all(process_state(process) in ("", "Z") for process in processes)


def shared_names(process):
    """Files of MPICH's shared memory that a process has open, as the system shows them."""
    links = (os.readlink(link) for link in Path(f"/proc/{process}/fd").iterdir())
    return {name for name in links if name.startswith("/dev/shm/mpich_shm_")}


def test_a_stopped_rank_ends_the_run_within_its_limit(started, tmp_path):
    reports, launcher, ranks = started("2 s")
    os.kill(ranks[1], signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(MachineError) as caught:
        next(reports)
    assert time.monotonic() - began < 15
    assert str(caught.value) == (
        f"rank 1 on {socket.gethostname()} (process {ranks[1]}), which is stopped, made no progress for longer than "
        "rank_timeout(='2 s'); all ranks were ended."
    )
    assert ended([launcher, *ranks])
    assert not list(tmp_path.glob("silosim-*"))


def test_a_rank_that_hangs_is_named_while_its_process_lives(started, in_rank_1):
    in_rank_1("import threading; k < 20 or threading.Event().wait()")
    reports, launcher, ranks = started("2 s")
    with pytest.raises(
        MachineError, match=rf"^rank 1 on \S+ \(process {ranks[1]}\) made no progress for longer"
    ):
        next(reports)
    assert ended([launcher, *ranks])


def test_slow_work_of_one_rank_is_progress(make_job, in_rank_1):
    """A round of three seconds on the processor, without a step meanwhile, where the limit is two."""
    in_rank_1("import time; until = time.thread_time() + 3\n        while time.thread_time() < until: pass")
    job = make_job(rounds=1, log_every=1, ranks=2, rank_timeout="2 s")
    began = time.monotonic()
    rows = [report.round for report in load_backend("mpi").train(job) if isinstance(report, HistoryRow)]
    assert rows == [0, 1]
    assert time.monotonic() - began > 3


def test_a_killed_proxy_ends_the_run_at_once(started):
    reports, launcher, ranks = started("10 minutes")
    (proxy,) = children(launcher)
    os.kill(proxy, signal.SIGKILL)
    began = time.monotonic()
    with pytest.raises(TrainingError, match="hydra_pmi_proxy, which starts the ranks, has ended before them"):
        next(reports)
    assert time.monotonic() - began < 10
    assert ended([launcher, proxy, *ranks])


def test_shared_memory_has_no_name_once_all_ranks_have_it(started):
    """So whatever ends them leaves nothing."""
    _, _, ranks = started("10 minutes")
    names = shared_names(ranks[0])  # the first one made it
    assert names
    assert all(name.endswith(" (deleted)") for name in names)


ALONE = """
mount -t tmpfs tmpfs /dev/shm || exit 77
touch /dev/shm/mpich_shm_other_0
"{python}" "{program}" "{job}" > "{out}" &
sleep {delay}
kill -{signal} $!
wait $!
sleep 2.5
ls /dev/shm
"""


@pytest.mark.parametrize("number", ["KILL", "TERM"])
@pytest.mark.parametrize("delay_s", [1.0, 1.5, 2.0, 2.5, 3.0, 6.0])
def test_a_program_that_is_killed_leaves_no_shared_memory_at_any_moment(make_job, tmp_path, number, delay_s):
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("a /dev/shm of its own needs root and unshare")
    write_job(tmp_path / "job.npz", make_job(rounds=FOR_EVER, log_every=FOR_EVER, ranks=2))
    (tmp_path / "program.py").write_text(PROGRAM)
    script = ALONE.format(
        python=sys.executable,
        program=tmp_path / "program.py",
        job=tmp_path / "job.npz",
        out=tmp_path / "out",
        delay=delay_s,
        signal=number,
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("a /dev/shm of its own cannot be mounted here")
    # That of another job is not ours to remove.
    assert done.stdout.split() == ["mpich_shm_other_0"]
    if number == "KILL":
        assert not list(tmp_path.glob("silosim-*"))


NAMES = (f"s{os.getpid()}a", f"s{os.getpid()}b")
"""Of this process' network namespaces, and of the cable's ends in them."""
BY_NAMESPACE = """#!/bin/sh
while [ "$1" != 10.77.0.2 ]; do shift; done
shift
exec ip netns exec {name} sh -c "$*"
"""


def is_up(name):
    """Whether the cable's end in a namespace is up, as the system says."""
    shown = subprocess.run(
        ["ip", "-n", name, "-br", "link", "show", name], capture_output=True, text=True, check=True
    )
    return shown.stdout.split()[1] == "UP"


@pytest.fixture
def namespaces():
    """Two network namespaces with a cable between them."""
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("network namespaces need root and ip")
    commands = [
        *(f"ip netns add {name}" for name in NAMES),
        "ip link add {0} netns {0} type veth peer name {1} netns {1}".format(*NAMES),
        *(f"ip -n {name} addr add 10.77.0.{place}/24 dev {name}" for place, name in enumerate(NAMES, 1)),
        *(f"ip -n {name} link set {device} up" for name in NAMES for device in ("lo", name)),
    ]
    try:
        for command in commands:
            done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"{command}: {done.stderr.strip()}")
        # UCX takes no device that is not up yet, which the system says up to a second later.
        until_s = time.monotonic() + 10
        while not all(map(is_up, NAMES)):
            assert time.monotonic() < until_s
            time.sleep(0.05)
        yield
    finally:
        for name in NAMES:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


@pytest.mark.usefixtures("namespaces")
def test_a_cut_between_two_hosts_ends_the_run_on_both(make_job, processes_naming, tmp_path):
    job = make_job(rounds=FOR_EVER, log_every=FOR_EVER, ranks=2, rank_timeout="3 s")
    write_job(tmp_path / "job.npz", job)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "launch").write_text(BY_NAMESPACE.format(name=NAMES[1]))
    (tmp_path / "launch").chmod(0o755)
    (tmp_path / "hosts").write_text("10.77.0.1\n10.77.0.2\n")
    inside = ["ip", "netns", "exec", NAMES[0]]
    program = subprocess.Popen(
        [*inside, sys.executable, tmp_path / "program.py", tmp_path / "job.npz"],
        env={
            **os.environ,
            "TMPDIR": str(tmp_path),
            "HYDRA_HOST_FILE": str(tmp_path / "hosts"),
            "HYDRA_LAUNCHER_EXEC": str(tmp_path / "launch"),
            # The ranks are on one machine, and would talk through its memory.
            "UCX_TLS": "tcp,self",
        },
        stdout=subprocess.PIPE,
        text=True,
    )
    with program:
        while not (line := program.stdout.readline()).startswith("HistoryRow"):
            assert line.startswith("Notice") or not line.strip() or line[0] == " ", line
        ranks = processes_naming(next(tmp_path.glob("silosim-*")))
        spaces = {os.readlink(f"/proc/{rank}/ns/net") for rank in ranks}
        assert len(spaces) == 2
        subprocess.run([*inside, "ip", "link", "set", NAMES[0], "down"], check=True)
        began = time.monotonic()
        last = program.stdout.read()
    host = socket.gethostname()
    assert last == (
        "MachineError: all ranks have waited for each other for longer than rank_timeout(='3 s'), as where the network "
        f"between them is cut: rank 0 on {host}, rank 1 on {host}; all were ended.\n"
    )
    assert time.monotonic() - began < 30
    assert ended(ranks)
