"""Parts of a page: in their order, each made after the one before it, with a bar that names it."""

import pytest

from scenarios.pages.sections import made_sections
from scenarios.runtime import progress


def test_parts_are_made_in_their_order():
    made = []

    def part(name):
        made.append(name)
        return (f"<p>{name}</p>",)

    parts = {"a": lambda: part("a"), "none": lambda: (), "b": lambda: (part("b")[0] for _ in range(2))}

    assert made_sections(parts) == ["<p>a</p>", "<p>b</p>", "<p>b</p>"]
    assert made == ["a", "b", "b"]


def test_a_bar_is_shown_on_a_terminal_and_ends_after_an_error(monkeypatch, capsys):
    monkeypatch.setattr(progress, "SHOW_AFTER_S", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")

    def broken():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        made_sections({"map": broken})
    assert "map" in capsys.readouterr().err
