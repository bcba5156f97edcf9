"""Names that users give, where they look like a formula, markup or another overlay."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from test_figures import sweep_table, validation_rows
from test_tables_and_plots import overlay, record

from scenarios.report.line_styles import styles_of
from scenarios.report.plots import plot_run, plot_sweep, plot_validation
from scenarios.report.run_table import run_table
from scenarios.report.tables import Column, Table
from scenarios.report.terminal import Terminal
from scenarios.runtime.progress import bar

TITLE = (
    "$\\frac$ is the name of a study with a long name, so that its title must be broken: a network $ of silos"
    * 2
)
NAMES = ["$\\frac$", "_hidden", "a $x_1$ b", "$_{", "ring"]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were saved, each written as an SVG, which lays it out."""
    figures: list[Figure] = []

    def keep(figure: Figure, _path: Path) -> None:
        figure.savefig(io.BytesIO(), format="svg")
        figures.append(figure)

    monkeypatch.setattr("scenarios.report.plots.save_figure", keep)
    return figures


def test_figures_show_names_as_they_are(written):
    runs = record(*(overlay(name, 1.0 + k, [0.1, 0.9]) for k, name in enumerate(NAMES)))
    plot_run(runs, Path("x.png"), title=TITLE, target_accuracy=0.5)
    plot_run(runs, Path("x.png"), title="t", is_imported=True)
    plot_sweep(sweep_table(NAMES, [1e8, 1e9]), Path("x.png"), title=TITLE)
    plot_validation(validation_rows(NAMES, 0.1), Path("x.png"), title=TITLE)
    *with_names, validation = written
    for figure in with_names:
        assert [text.get_text() for text in figure.legends[0].texts][: len(NAMES)] == NAMES
    assert [label.get_text() for label in validation.axes[0].get_yticklabels()] == NAMES


def test_lines_of_a_legend_are_those_of_the_panel(drawn):
    plot_run(record(*(overlay(name, 1.0, [0.1, 0.9]) for name in NAMES)), Path("x.png"), title="t")
    plot_sweep(sweep_table(NAMES, [1e8, 1e9]), Path("x.png"), title="t")
    styles = styles_of(NAMES)
    assert len({*styles.values()}) == len(NAMES)
    for figure in drawn:
        handles = figure.legends[0].legend_handles[: len(NAMES)]
        shown = [(handle.get_color(), handle.get_marker()) for handle in handles]
        assert shown == [(style.colour, style.marker) for style in styles.values()]


def test_an_overlay_without_rows_keeps_its_place_among_the_styles(drawn):
    first, second = overlay("one", 1.0, [0.1, 0.9]), overlay("two", 1.0, [0.1, 0.9])
    plot_run(record(replace(first, history={}), second), Path("x.png"), title="t")
    (line,) = drawn[0].axes[0].lines
    assert line.get_color() == styles_of(["one", "two"])["two"].colour


def test_the_star_of_a_comparison_is_the_overlay_with_a_hub():
    named = replace(overlay("mine", 4.0, [0.1, 0.5]), hub=3)
    ring = replace(overlay("star", 1.0, [0.1, 0.5]), hub=None)
    rows = run_table(record(ring, named), "x", 0.5).rows
    assert [row["speedup"] for row in rows] == [4.0, 1.0]


@pytest.mark.parametrize("name", ["[red]", "a[/b]", "[bold]x[/bold]", ":smile:", "[link=x]"])
def test_tables_show_names_as_they_are(name):
    columns = (Column(key="a", title="overlay"), Column(key="b", title=f"minus {name}"))
    table = Table(caption=name, columns=columns, rows=[{"a": name, "b": 1.0}], notes=name)
    for terminal in (Terminal(), Terminal(60, is_terminal=True)):
        plain = re.sub("\x1b[^m]*m", "", terminal.text([table]))
        assert plain.count(name) == 4  # caption, head, cell, note
    assert Terminal(12).text([table])


def test_a_bar_shows_a_name_as_it_is(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("scenarios.runtime.progress.SHOW_AFTER_S", 0.0)
    monkeypatch.setenv("COLUMNS", "100")
    with bar("a[/b] [red]", 10) as advance:
        advance(3, "[/x]")
    assert "a[/b] [red]" in capsys.readouterr().err
