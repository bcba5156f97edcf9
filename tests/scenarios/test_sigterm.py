"""SIGTERM, by which batch systems end a job."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenarios.runfile.artifacts import checkpoints_path
from scenarios.runtime.signals import (
    GRACE_S,
    check_interrupts,
    deferred_interrupts,
    interrupted_code,
    recorded_interrupts,
)
from training.checkpoints.folder import checkpoint_rounds

pytestmark = pytest.mark.usefixtures("terminal_signals")

SILOSIM = Path(sys.executable).parent / "silosim"


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])
def test_sigterm_is_heard_once_also_where_ctrl_c_is_ignored(ctrl_c):
    before = signal.signal(signal.SIGINT, ctrl_c)
    ends = signal.getsignal(signal.SIGTERM)
    try:
        with recorded_interrupts(sigterm=True):
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            # `timeout` sends it to the command and to its group.
            os.kill(os.getpid(), signal.SIGTERM)
            assert interrupted_code() == 143
            # What comes later is meant: something may have caught the first.
            time.sleep(1.1 * GRACE_S)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            with pytest.raises(KeyboardInterrupt):
                check_interrupts()
        assert signal.getsignal(signal.SIGINT) is ctrl_c
        assert signal.getsignal(signal.SIGTERM) is ends
    finally:
        signal.signal(signal.SIGINT, before)


def test_sigterm_waits_for_the_piece_under_way():
    with recorded_interrupts(sigterm=True), deferred_interrupts() as interrupted:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            assert interrupted()


def test_sigterm_is_left_to_a_program_that_only_calls_functions():
    ends = signal.getsignal(signal.SIGTERM)
    with recorded_interrupts(), deferred_interrupts():
        assert signal.getsignal(signal.SIGTERM) is ends


@pytest.mark.slow
def test_sigterm_ends_all_ranks_and_says_what_is_kept(tmp_path, scenario, small_scenario, processes_naming):
    path = tmp_path / "x.h5"
    text = small_scenario.replace('"star", ', "").replace("log_every = 5", "log_every = 500")
    scenario.write_text(
        text.replace("ranks = 1\n", "ranks = 2\n").replace("rounds = 12", "rounds = 20000")
        + 'checkpoint_every = 4\nexecutor = "loop"\n'
    )
    (tmp_path / "ranks").mkdir()
    process = subprocess.Popen(
        [SILOSIM, "run", scenario, "-o", path],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path / "ranks")},
    )
    end = time.monotonic() + 60
    while not checkpoint_rounds(checkpoints_path(path) / "ring") and time.monotonic() < end:
        time.sleep(0.05)
    assert len(processes_naming(tmp_path / "ranks")) >= 2
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 143
    assert errors.splitlines()[-1] == (
        f"silosim: the finished rounds are in {path}.partial; --resume continues from the last checkpoint"
    )
    end = time.monotonic() + 20
    while processes_naming(tmp_path / "ranks") and time.monotonic() < end:
        time.sleep(0.05)
    assert processes_naming(tmp_path / "ranks") == []
    assert not list((tmp_path / "ranks").glob("silosim-*"))
