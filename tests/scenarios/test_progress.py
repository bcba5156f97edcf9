"""The progress bar: only for people, and only where they have to wait. Lines: only for logs, and only now and then."""

import io
import sys
from types import SimpleNamespace

import pytest

from scenarios.runtime import progress
from scenarios.runtime.progress import bar, log_lines
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
