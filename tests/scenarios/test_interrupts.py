"""Ctrl-C and kills: every finished round stays in the file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from scenarios.interrupts import GRACE_S, polite_interrupts
from scenarios.record import read_run

SILOSIM = Path(sys.executable).parent / "silosim"

LONG = ("--rounds", "30000", "--compute-times", "exponential")


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0)


def test_ctrl_c_waits_for_the_piece_under_way():
    before = signal.getsignal(signal.SIGINT)
    with polite_interrupts() as interrupted:
        assert not interrupted()
        press()
        assert interrupted()

    assert signal.getsignal(signal.SIGINT) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_ctrl_c_does_not_wait_long():
    with polite_interrupts(), pytest.raises(KeyboardInterrupt):  # noqa: PT012
        press()
        time.sleep(20 * GRACE_S)


def test_the_second_ctrl_c_does_not_wait():
    with polite_interrupts():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def rounds_in(path: Path) -> int:
    """Rounds that a file under way says it holds; each of them must be whole."""
    with h5py.File(path, "r", locking=False) as file:
        group = file["simulation/complete"]
        rounds = int(group.attrs["rounds"])
        for name in ("round_start_s", "arrival_s", "start_s", "last_bit_s"):
            assert np.all(np.isfinite(group[name][:rounds]))
        assert np.all(group["bound_link"][:rounds] >= 0)
        return rounds


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_is_finished_stays_in_the_file(tmp_path, silosim, number):
    path = tmp_path / "x.h5.partial"
    process = subprocess.Popen(
        [SILOSIM, "simulate", "gaia", "--kind", "complete", "--messages", *LONG, "-o", tmp_path / "x.h5"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    seen = 0
    try:
        end = time.monotonic() + 60
        while seen < 300 and time.monotonic() < end:
            time.sleep(0.05)
            try:
                seen = rounds_in(path)
            except (OSError, KeyError, RuntimeError):
                continue
        os.kill(process.pid, number)
        pressed = time.monotonic()
        _, error = process.communicate(timeout=30)
        took_s = time.monotonic() - pressed
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()

    assert 300 <= seen <= rounds_in(path) < 30000
    assert silosim("show", path).code == 0
    assert read_run(path).overlays[0].simulated_s is None
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert f"the finished rounds are in {path}" in error
        assert took_s < 5
