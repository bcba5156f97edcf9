"""Ctrl-C and kills: every finished round stays in the file."""

import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import h5py
import numpy as np
import pytest

from scenarios.interrupts import GRACE_S, check_interrupts, noted_interrupts, polite_interrupts
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


class Watched:
    """Something that a weak reference can watch."""


def discard_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C where Python discards the KeyboardInterrupt."""
    discarded: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: discarded.append(what.exc_type))
    watched = Watched()
    reference = weakref.ref(watched, lambda _: press())
    del watched
    assert reference() is None
    assert discarded == [KeyboardInterrupt]


def test_a_discarded_ctrl_c_is_not_lost(monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    with noted_interrupts():
        check_interrupts()
        discard_ctrl_c(monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            check_interrupts()
        with pytest.raises(KeyboardInterrupt), polite_interrupts():
            pytest.fail("the next piece of work began")

    assert signal.getsignal(signal.SIGINT) is before
    check_interrupts()


def test_an_error_that_ctrl_c_became_is_no_failure(silosim, monkeypatch):
    def design(*_arguments: object, **_options: object) -> None:
        try:
            press()
        except KeyboardInterrupt:
            raise ImportError("a module failed to import") from None

    monkeypatch.setattr("scenarios.cli_design.design_table", design)
    result = silosim("design", "gaia")

    assert (result.code, result.out, result.err) == (130, "", "")


def test_ctrl_c_between_two_pieces_is_not_polite():
    with noted_interrupts():
        with polite_interrupts() as interrupted:
            assert not interrupted()
        with pytest.raises(KeyboardInterrupt):
            press()


@pytest.mark.parametrize("delay_s", [0.1, 0.3, 0.6, 0.9, 1.2])
def test_ctrl_c_is_heard_from_the_start(tmp_path, delay_s):
    code = "from scenarios.cli import main; print(flush=True); main()"
    options = ["--kind", "ring", "--rounds", "3000000", "--compute-times", "lognormal 0.3"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, "simulate", "geant", *options, "-o", tmp_path / "x.h5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay_s)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()

    assert process.returncode == 130, error


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
