"""The progress bar: only for people, and only where they have to wait. Lines: only for logs, and only now and then."""

import io
import sys
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from scenarios.runtime import progress
from scenarios.runtime.progress import bar, heartbeat, log_lines
from scenarios.simulation.blocks import Progress, _short


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, after_s: float) -> str:
    monkeypatch.setattr(progress, "SHOW_AFTER_S", after_s)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    with bar("matcha_delta_mbst", 100_000) as advance:
        for done in (10, 20_000, 99_999):
            advance(done, "at 12.34 ms, 5.32k rounds/s, 1.23M msg/s")
    return screen.getvalue()


def test_a_long_run_shows_progress_time_and_speed_in_80_columns(monkeypatch):
    text = shown(monkeypatch, Terminal(), 0.0)

    assert "matcha_delta_mbst" in text
    assert "at 12.34 ms, 5.32k rounds/s, 1.23M msg/s" in text
    assert "100%" in text
    assert "…" not in text


def test_a_short_run_shows_nothing(monkeypatch):
    assert shown(monkeypatch, Terminal(), 1e9) == ""


def test_what_is_no_terminal_stays_empty(monkeypatch):
    assert shown(monkeypatch, io.StringIO(), 0.0) == ""


@pytest.mark.parametrize(("after_s", "is_shown"), [(1.99, False), (2.0, True), (60.0, True)])
def test_a_bar_appears_after_two_seconds(monkeypatch, after_s, is_shown):
    now_s, screen = [500.0], Terminal()
    monkeypatch.setattr(progress.time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(sys, "stderr", screen)
    with bar("ring", 10) as advance:
        advance(1)
        now_s[0] += after_s
        assert screen.getvalue() == ""
        advance(5)
    assert ("ring" in screen.getvalue()) == is_shown


@pytest.mark.parametrize(("screen", "waits_s"), [(Terminal(), [2.0]), (io.StringIO(), [10.0] * 3)])
def test_work_without_steps_is_named_after_two_seconds_or_every_ten(monkeypatch, screen, waits_s):
    waited_s = []

    class Ended:
        """Ends after three times."""

        def wait(self, wait_s):
            waited_s.append(wait_s)
            return len(waited_s) == 3

        def set(self):
            """The work is done."""

    monkeypatch.setattr(progress, "threading", SimpleNamespace(Event=Ended, Thread=threading.Thread))
    monkeypatch.setattr(sys, "stderr", screen)
    with heartbeat("routes"):
        pass
    assert waited_s == waits_s


def lines(monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, *times_s: float) -> list[str]:
    monkeypatch.setattr(sys, "stderr", screen)
    clock = iter((1000.0, *(1000.0 + time_s for time_s in times_s)))
    line = log_lines(lambda: next(clock))
    for k in range(len(times_s)):
        line(f"ring: round {k} of 150")
    return screen.getvalue().splitlines()


def test_a_log_gets_a_line_at_most_every_ten_seconds(monkeypatch):
    assert lines(monkeypatch, io.StringIO(), 0.0, 9.9, 10.0, 19.9, 100.0, 109.0, 3723.4) == [
        "ring: round 2 of 150, after 0:00:10",
        "ring: round 4 of 150, after 0:01:40",
        "ring: round 6 of 150, after 1:02:03",
    ]


def test_a_terminal_gets_no_lines(monkeypatch):
    assert lines(monkeypatch, Terminal(), 100.0, 1000.0) == []


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.0, "0"),
        (0.01234, "0.0123"),
        (999.4, "999"),
        (999.6, "1k"),
        (1000.0, "1k"),
        (1234.0, "1.23k"),
        (999_499.0, "999k"),
        (999_500.0, "1M"),
        (1.5e6, "1.5M"),
        (2.5e8, "250M"),
    ],
)
def test_a_rate_has_three_digits_rounded_before_its_unit_is_chosen(rate, text):
    assert _short(rate) == text


def test_progress_is_rounds_and_messages_over_the_time_taken():
    block = SimpleNamespace(now_s=0.01234)
    state = {"steady": None, "engine": "simpy", "block": block}
    assert str(Progress(rounds=2660, messages=615_000, wall_s=0.5, **state)) == (
        "at 12.34 ms, 5.32k rounds/s, 1.23M msg/s"
    )


@pytest.mark.parametrize(
    ("screen", "expected"),
    [(Terminal(), ["routes ..."]), (io.StringIO(), ["routes ..., after 0:00:00"])],
)
def test_work_without_steps_says_what_it_is(monkeypatch, screen, expected):
    monkeypatch.setattr(progress, "SHOW_AFTER_S", 0.01)
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.01)
    monkeypatch.setattr(sys, "stderr", screen)
    with heartbeat("routes"):
        end = time.monotonic() + 5
        while not screen.getvalue() and time.monotonic() < end:
            time.sleep(0.005)
    said = screen.getvalue()
    assert said.splitlines()[:1] == expected
    time.sleep(0.03)
    assert screen.getvalue() == said


def test_short_work_and_work_without_a_name_say_nothing(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with heartbeat("routes"):
        pass
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    with heartbeat(None):
        time.sleep(0.02)
    assert screen.getvalue() == ""


def test_a_design_on_many_silos_says_what_it_does(monkeypatch, silosim):
    said = []
    for owner in ("simulation.experiment", "simulation.design_bar", "studies.design"):
        monkeypatch.setattr(
            f"scenarios.{owner}.heartbeat",
            lambda what: nullcontext(None if what is None else said.append(what)),
        )
    command = ("design", "gaia", "--compute", "10 ms", "--model-size", "1 MB", "--kind", "ring")
    silosim(*command).ok()
    assert said == ["network: routes of all pairs"]
    said.clear()
    for owner in ("simulation.design_bar", "studies.design"):
        monkeypatch.setattr(f"scenarios.{owner}.MANY_SILOS", 10)
    silosim(*command).ok()
    steps = ("star: design", "ring: design", "ring: simulation", "lower bound")
    assert said == ["network: routes of all pairs", *(f"{step} for 11 silos" for step in steps)]


def test_a_page_says_that_it_is_made(monkeypatch, silosim, tmp_path):
    made = ("--compute", "10 ms", "--model-size", "1 MB", "--kind", "ring", "--rounds", "20")
    silosim("simulate", "gaia", *made, "-o", tmp_path / "x.h5").ok()
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.001)
    assert silosim("report", tmp_path / "x.h5").ok().err.startswith("page of x.h5 ..., after 0:00:0")


def test_the_size_of_a_large_file_is_said_before_it_is_written(monkeypatch, silosim, tmp_path):
    monkeypatch.setattr("scenarios.runfile.writer.LARGE_BYTES", 5_000_000)
    made = (
        "--compute",
        "10 ms",
        "--model-size",
        "1 MB",
        "--kind",
        "ring",
        "-o",
        tmp_path / "x.h5",
        "--force",
    )
    assert " MB\n" not in silosim("simulate", "gaia", "--rounds", "1000", *made).ok().err
    said = silosim("simulate", "gaia", "--rounds", "60000", *made).ok().err.splitlines()[0]
    size = (tmp_path / "x.h5").stat().st_size
    assert size > 5_000_000
    assert said == f"silosim: {tmp_path / 'x.h5'} takes about {size / 1e6:,.0f} MB"
