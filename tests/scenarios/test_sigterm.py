"""SIGTERM, by which batch systems end a job, and SIGHUP, by which a terminal that is closed does."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
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
LONG = ("--rounds", "400000", "--compute-times", "exponential")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])
def test_sigterm_is_heard_once_also_where_ctrl_c_is_ignored(ctrl_c, number):
    before = signal.signal(signal.SIGINT, ctrl_c)
    ends = signal.getsignal(number)
    try:
        with recorded_interrupts(sigterm=True):
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
            # `timeout` sends it to the command and to its group.
            os.kill(os.getpid(), number)
            assert interrupted_code() == 128 + number
            # What comes later is meant: something may have caught the first.
            time.sleep(1.1 * GRACE_S)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
            with pytest.raises(KeyboardInterrupt):
                check_interrupts()
        assert signal.getsignal(signal.SIGINT) is ctrl_c
        assert signal.getsignal(number) is ends
    finally:
        signal.signal(signal.SIGINT, before)


def test_sigterm_waits_for_the_piece_under_way():
    with recorded_interrupts(sigterm=True), deferred_interrupts() as interrupted:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            assert interrupted()


def test_sighup_stays_ignored_where_it_is_as_under_nohup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with recorded_interrupts(sigterm=True):
            os.kill(os.getpid(), signal.SIGHUP)
            check_interrupts()
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.slow
def test_a_closed_terminal_ends_a_command_and_leaves_nothing(tmp_path):
    primary, secondary = os.openpty()
    process = subprocess.Popen(
        [SILOSIM, "simulate", "gaia", "--kind", "ring", *LONG, "-o", tmp_path / "x.csv"],
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(secondary)
    end = time.monotonic() + 60
    while not (tmp_path / "x.csv.partial").exists() and time.monotonic() < end:
        time.sleep(0.05)
    os.close(primary)
    assert process.wait(timeout=30) == 129
    assert not list(tmp_path.iterdir())


def test_sigterm_is_left_to_a_program_that_only_calls_functions():
    ends = [*map(signal.getsignal, (signal.SIGTERM, signal.SIGHUP))]
    with recorded_interrupts(), deferred_interrupts():
        assert [*map(signal.getsignal, (signal.SIGTERM, signal.SIGHUP))] == ends


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
        f"silosim: the finished rounds are in {path}.partial; --resume continues from the last checkpoint, of a later "
        f"round, in {checkpoints_path(path)}"
    )
    end = time.monotonic() + 20
    while processes_naming(tmp_path / "ranks") and time.monotonic() < end:
        time.sleep(0.05)
    assert processes_naming(tmp_path / "ranks") == []
    assert not list((tmp_path / "ranks").glob("silosim-*"))
