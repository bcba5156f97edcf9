"""The progress bar: only for people, and only where they have to wait."""

import io
import sys

import pytest

from scenarios import progress
from scenarios.progress import bar


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
