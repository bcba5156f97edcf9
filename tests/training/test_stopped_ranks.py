"""Real ranks that are stopped, hang, lose their network or their launcher; each test starts processes for seconds."""

import contextlib
import os
import signal
import socket
import sys
import tempfile
import time

import pytest

from topologies.errors import MachineError
from training import HistoryRow, load_backend
from training.processes import process_state

pytestmark = pytest.mark.slow

FOR_EVER = 10**6


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


HANGING = """
import os
if os.environ.get("PMI_RANK") == "1":
    import training.optimization.schedules as schedules
    def step(settings, k, epoch):
        {work}
        return 0.1
    schedules.SCHEDULES["constant"] = step
"""


@pytest.fixture
def in_rank_1(monkeypatch, tmp_path):
    """Let rank 1 do something in every round."""

    def work(text):
        (tmp_path / "sitecustomize.py").write_text(HANGING.format(work=text))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path[1:]]))

    return work


def test_a_rank_that_hangs_is_named_while_its_process_lives(started, in_rank_1):
    in_rank_1("import threading; k < 20 or threading.Event().wait()")
    reports, launcher, ranks = started("2 s")
    with pytest.raises(
        MachineError, match=rf"^rank 1 on \S+ \(process {ranks[1]}\) made no progress for longer"
    ):
        next(reports)
    assert ended([launcher, *ranks])


def test_slow_work_of_one_rank_is_progress(make_job, in_rank_1):
    """A round of eight seconds on the processor, without a step meanwhile, where the limit is five."""
    in_rank_1("import time; until = time.thread_time() + 8\n        while time.thread_time() < until: pass")
    job = make_job(rounds=1, log_every=1, ranks=2, rank_timeout="5 s")
    began = time.monotonic()
    rows = [report.round for report in load_backend("mpi").train(job) if isinstance(report, HistoryRow)]
    assert rows == [0, 1]
    assert time.monotonic() - began > 8
