"""Ctrl-C, SIGTERM and kills: every finished round stays in the file."""

import os
import random
import signal
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from multiprocessing.context import SpawnProcess
from pathlib import Path

import h5py
import numpy as np
import pytest
from started_process import running

from scenarios.runfile.atomic import new_file
from scenarios.runfile.reader import read_run
from scenarios.runtime import signals
from scenarios.runtime.processes import Processes
from scenarios.runtime.signals import (
    check_interrupts,
    deferred_interrupts,
    held_interrupts,
    recorded_interrupts,
    was_interrupted,
)

pytestmark = pytest.mark.usefixtures("terminal_signals")

SILOSIM = Path(sys.executable).parent / "silosim"

LONG = ("--rounds", "30000", "--compute-times", "exponential")


@pytest.fixture
def short_grace_s(monkeypatch: pytest.MonkeyPatch) -> float:
    """Seconds that a piece of work has after Ctrl-C, fewer than usual."""
    seconds = 0.2
    monkeypatch.setattr("scenarios.runtime.signals.GRACE_S", seconds)
    return seconds


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0)


def test_ctrl_c_waits_for_the_piece_under_way():
    before = signal.getsignal(signal.SIGINT)
    with deferred_interrupts() as interrupted:
        assert not interrupted()
        press()
        assert interrupted()

    assert signal.getsignal(signal.SIGINT) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_ctrl_c_does_not_wait_long(short_grace_s):
    with deferred_interrupts(), pytest.raises(KeyboardInterrupt):  # noqa: PT012
        press()
        time.sleep(20 * short_grace_s)


def test_the_second_ctrl_c_does_not_wait():
    with deferred_interrupts():
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
    with recorded_interrupts():
        check_interrupts()
        discard_ctrl_c(monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            check_interrupts()
        with pytest.raises(KeyboardInterrupt), deferred_interrupts():
            pytest.fail("the next piece of work began")

    assert signal.getsignal(signal.SIGINT) is before
    check_interrupts()


class Failing:
    """Something whose end goes wrong."""

    def __del__(self) -> None:
        raise ValueError("an error of its own")


def test_a_discarded_ctrl_c_is_not_printed_and_comes_again(monkeypatch):
    printed: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: printed.append(what.exc_type))
    report = sys.unraisablehook
    with recorded_interrupts():
        watched = Watched()
        reference = weakref.ref(watched, lambda _: press())
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012
            del watched
            assert reference() is None
            time.sleep(20)
        Failing()

    assert printed == [ValueError]
    assert sys.unraisablehook is report
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_ignored_ctrl_c_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with recorded_interrupts(), deferred_interrupts() as interrupted:
            press()
            assert not interrupted()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_error_that_ctrl_c_became_is_no_failure(silosim, monkeypatch):
    def design(*_arguments: object, **_options: object) -> None:
        try:
            press()
        except KeyboardInterrupt:
            raise ImportError("a module failed to import") from None

    monkeypatch.setattr("scenarios.cli.design.design_table", design)
    result = silosim("design", "gaia")

    assert (result.code, result.out, result.err) == (130, "", "")


def test_ctrl_c_between_two_pieces_is_not_polite():
    with recorded_interrupts():
        with deferred_interrupts() as interrupted:
            assert not interrupted()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_held_interrupts_wait_for_the_end_and_come_once():
    done = []
    with recorded_interrupts():
        with pytest.raises(KeyboardInterrupt), held_interrupts():  # noqa: PT012
            press()
            with held_interrupts():
                press()
            done.append("both")
        with held_interrupts():
            done.append("later")
    assert done == ["both", "later"]


def test_the_alarm_of_a_patient_piece_is_held_likewise(short_grace_s):
    done = []
    with deferred_interrupts():
        press()
        with pytest.raises(KeyboardInterrupt), held_interrupts():  # noqa: PT012
            time.sleep(1.1 * short_grace_s)
            done.append("whole")
    assert done == ["whole"]


def test_outside_of_recorded_interrupts_nothing_is_held():
    with pytest.raises(KeyboardInterrupt), held_interrupts():
        press()


def test_a_process_that_is_being_started_at_ctrl_c_is_known_and_ended(monkeypatch):
    pool, started = Processes(2, int), []
    original = SpawnProcess.start

    def start(process):
        original(process)
        started.append(process)
        press()
        while not was_interrupted():
            time.sleep(0.001)

    pool.submit(int)
    # From here on a thread of the pool's hears signals, whatever this one's mask is.
    monkeypatch.setattr(SpawnProcess, "start", start)
    with recorded_interrupts():
        with pytest.raises(KeyboardInterrupt):
            pool.submit(int)
        pool.kill()

    (process,) = started
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", [0.1, 0.5, 1.2])
def test_ctrl_c_is_heard_from_the_start(tmp_path, delay_s):
    code = "from scenarios.cli.main import main; print(flush=True); main()"
    options = ["--kind", "ring", "--rounds", "3000000", "--compute-times", "lognormal 0.3"]
    with running(
        sys.executable, "-c", code, "simulate", "geant", *options, "-o", tmp_path / "x.h5"
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay_s)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)

    assert process.returncode == 130, error


TRIES = """
import os, scenarios.cli.app, scenarios.cli.simulate
from scenarios.cli.main import main
while input():
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""The command each time that a line is read, imported once."""


@pytest.mark.slow
def test_ctrl_c_at_any_moment_leaves_a_file_that_can_be_read_or_none(tmp_path, silosim):
    path, moments = tmp_path / "x.h5.partial", random.Random(5)
    options = [
        "--kind",
        "ring",
        "--kind",
        "complete",
        "--messages",
        *(
            "--rounds",
            "90000",
            "--compute-times",
            "exponential",
        ),  # longer than the last moment on a fast machine
        "-o",
        tmp_path / "x.h5",
        "--force",
    ]
    with running(sys.executable, "-c", TRIES, "simulate", "gaia", *options, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(6):
            # Not before the file of the last one has been read, which the next one may find in use.
            process.stdin.write("next\n")
            process.stdin.flush()
            child = int(process.stdout.readline())
            time.sleep(moments.uniform(0.02, 0.8))
            os.kill(child, signal.SIGINT)
            pressed = time.monotonic()
            code = int(process.stdout.readline())
            assert code == 130
            assert time.monotonic() - pressed < 5
            if path.exists():
                silosim("show", path).ok()
                assert read_run(path).overlays[0].simulation.rounds > 0
        os.killpg(process.pid, signal.SIGKILL)
        _, error = process.communicate(timeout=20)

    assert all(line.startswith("silosim: ") for line in error.splitlines()), error


def rounds_in(path: Path) -> int:
    """Rounds that a file under way says it holds; each of them must be whole."""
    with h5py.File(path, "r", locking=False) as file:
        (group,) = file["simulation"].values()
        rounds = int(group.attrs["rounds"])
        for name in ("round_start_s", "arrival_s", "start_s", "last_bit_s"):
            assert np.all(np.isfinite(group[name][:rounds]))
        assert np.all(group["bound_link"][:rounds] >= 0)
        return rounds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
def test_what_is_finished_stays_in_the_file(tmp_path, silosim, number, code):
    path = tmp_path / "x.h5.partial"
    options = ["--kind", "complete", "--messages", *LONG, "-o", tmp_path / "x.h5"]
    seen = 0
    with running(SILOSIM, "simulate", "gaia", *options) as process:
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

    assert 300 <= seen <= rounds_in(path) < 30000
    silosim("show", path).ok()
    simulation = read_run(path).overlays[0].simulation
    assert (simulation.rounds, simulation.is_whole, simulation.is_exact) == (rounds_in(path), False, False)
    assert simulation.cycle_time_s is not None
    assert process.returncode == code
    if number != signal.SIGKILL:
        assert f"the finished rounds are in {path}" in error
        assert took_s < 5


@pytest.mark.slow
def test_events_make_rounds_slow_and_keep_them_all_the_same(tmp_path):
    scenario, path = tmp_path / "slow.toml", tmp_path / "x.h5.partial"
    scenario.write_text(
        '[network]\nunderlay = "ebone"\n[workload]\npreset = "inaturalist"\n[overlays]\nkinds = ["star"]\n'
        "[simulation]\nrounds = 3000\nmessages = true\n"
        '[[simulation.background]]\npeak = "300 Mbps"\nmean_on = "5 s"\nmean_off = "5 s"\n'
    )
    seen = 0
    with running(SILOSIM, "simulate", scenario, "-o", tmp_path / "x.h5") as process:
        end = time.monotonic() + 60
        while seen == 0 and time.monotonic() < end:
            time.sleep(0.05)
            with suppress(OSError, KeyError, RuntimeError):
                seen = rounds_in(path)
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=30)

    assert 0 < seen <= 20
    assert rounds_in(path) >= seen


def test_a_library_that_prints_what_ended_its_import_prints_nothing(capsys):
    with recorded_interrupts():
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
        sys.excepthook(ValueError, ValueError("shown"), None)

    assert capsys.readouterr().err.splitlines() == ["ValueError: shown"]


def test_an_interrupt_that_became_another_error_leaves_no_empty_file(tmp_path):
    def fail():
        with recorded_interrupts(), new_file(tmp_path / "x.h5", force=False, size_bytes=1):
            with suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            raise ImportError("initialization failed")

    with pytest.raises(ImportError):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def note(monkeypatch):
    """A handler, the alarms that it sets, and its clock."""
    alarms, clock = [], [100.0]
    monkeypatch.setattr(signals.signal, "setitimer", lambda which, seconds: alarms.append((which, seconds)))
    monkeypatch.setattr(signals.time, "monotonic", lambda: clock[0])
    return signals._Note(), alarms, clock


def test_the_first_signal_is_the_one_that_counts(note):
    handler, alarms, _ = note
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGTERM, None)
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, None)
    assert (handler.first, handler.since_s, alarms) == (signal.SIGTERM, 100.0, [])


@pytest.mark.parametrize("number", signals.ENDING)
def test_a_second_signal_that_ends_is_heard_after_the_grace_alone(note, number):
    handler, _, clock = note
    with pytest.raises(KeyboardInterrupt):
        handler(number, None)
    clock[0] += signals.GRACE_S
    handler(number, None)
    clock[0] += 0.001
    with pytest.raises(KeyboardInterrupt):
        handler(number, None)
    assert handler.since_s == 100.0


def test_a_patient_handler_sets_the_alarm_once(note):
    handler, alarms, _ = note
    handler.patient = True
    handler(signal.SIGINT, None)
    assert alarms == [(signal.ITIMER_REAL, signals.GRACE_S)]
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, None)
    assert len(alarms) == 1


def test_a_held_handler_owes_one(note):
    handler, _, _ = note
    handler.held = True
    handler(signal.SIGINT, None)
    assert handler.owed
    handler.held = False
    with pytest.raises(KeyboardInterrupt):
        handler.stop()
    assert not handler.owed


@pytest.mark.parametrize(
    ("first", "code", "came"),
    [(None, 130, False), (0, 130, False), (2, 130, True), (15, 143, True), (1, 129, True)],
)
def test_the_exit_code_is_that_of_the_first_signal(monkeypatch, first, code, came):
    found = None if first is None else signals._Note()
    if found is not None:
        found.first = first
    monkeypatch.setattr(signals, "_note", lambda: found)
    assert (signals.interrupted_code(), signals.was_interrupted()) == (code, came)
