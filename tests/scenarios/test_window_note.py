"""When a table says what windows of transfers would change."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from scenarios.report.window_note import window_notes

SILENT = SimpleNamespace(window_bps=None, silos=200)


@dataclass
class Bounded:
    """An overlay by its two bounds, and by those with windows."""

    kind: str
    before_s: tuple[float, float]
    after_s: tuple[float, float]

    @property
    def closed_forms(self):
        return SimpleNamespace(paper_s=self.before_s[0], load_bound_s=self.before_s[1])


@pytest.fixture(autouse=True)
def windows(monkeypatch):
    """Networks with windows are those by which the second bounds count."""
    monkeypatch.setattr("scenarios.report.window_note.Overlay", Bounded)
    monkeypatch.setattr("scenarios.report.window_note.with_windows", lambda _, bits: bits)

    def moved(overlay, bits):
        assert bits == 4 * 1024 * 1024 * 8
        return Bounded(overlay.kind, overlay.after_s, overlay.after_s)

    monkeypatch.setattr("scenarios.report.window_note.on_graph", moved)


def test_the_overlay_that_changes_most_is_named_and_the_others_counted():
    ring, mst = Bounded("ring", (1.0, 2.0), (2.0, 3.0)), Bounded("mst", (4.0, 1.0), (5.0, 8.0))
    star = Bounded("star", (1.0, 1.0), (1.5, 1.0))
    said = "the network states no windows of transfers: with one of 4 MiB for each (--window), a round of "

    assert window_notes(SILENT, [ring]) == [f"{said}ring would take 3.000 s or more instead of 2.000 s."]
    assert window_notes(SILENT, [ring, mst]) == [
        f"{said}mst would take 8.000 s or more instead of 4.000 s, and those of 1 other overlay would grow by more "
        "than 10 %, too."
    ]
    (three,) = window_notes(SILENT, [ring, mst, star])
    assert "mst would take" in three
    assert three.endswith(", and those of 2 other overlays would grow by more than 10 %, too.")


def test_nothing_is_said_of_small_changes():
    same, small = Bounded("ring", (1.0, 1.0), (1.0, 1.0)), Bounded("mst", (10.0, 1.0), (11.0, 1.0))
    assert window_notes(SILENT, [same, small]) == []
    assert len(window_notes(SILENT, [same, Bounded("mst", (10.0, 1.0), (11.1, 1.0))])) == 1
    # Of a round without any time it is the largest change.
    (said,) = window_notes(
        SILENT, [Bounded("ring", (1.0, 1.0), (9.0, 9.0)), Bounded("mst", (0.0, 0.0), (1.0, 1.0))]
    )
    assert "a round of mst would take 1.000 s or more instead of 0 s, and those of 1 other" in said


def test_nothing_is_said_where_windows_are_known_or_silos_are_many_or_overlays_randomized():
    ring = Bounded("ring", (1.0, 1.0), (2.0, 2.0))
    assert window_notes(SimpleNamespace(window_bps=1.0, silos=2), [ring]) == []
    assert window_notes(SimpleNamespace(window_bps=None, silos=201), [ring]) == []
    assert window_notes(SILENT, [SimpleNamespace(kind="matcha")]) == []
