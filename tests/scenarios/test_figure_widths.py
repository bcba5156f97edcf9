"""Figures from a column of a paper to a slide: nothing overlaps or is cut off, no font is too small."""

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import typer.main
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from test_figures import (
    KINDS,
    LONG_TITLE,
    legend_is_outside,
    sweep_table,
    validation_rows,
)
from test_study_plot import study
from test_tables_and_plots import overlay, record

from scenarios.cli.app import app
from scenarios.config.network import NetworkConfig, build_network
from scenarios.report.figure_style import LEAST_PT, FigureStyle, figure_style
from scenarios.report.map import MAP_STYLE, map_figure, plot_map
from scenarios.report.map_layout import map_layout
from scenarios.report.plots import plot_run, plot_sweep, plot_times, plot_upgrade, plot_validation
from scenarios.report.study_plot import plot_study
from scenarios.report.tables import Table
from scenarios.studies.partition import divide
from scenarios.studies.partition_plot import plot_partition
from topologies import InputError, load_underlay
from training import TrainingConfig

WIDTHS = pytest.mark.parametrize(
    "width",
    ["3.5in", "10in", *(pytest.param(width, marks=pytest.mark.slow) for width in ("3in", "5.6in"))],
)
SLOW_MAPS = [pytest.param(name, marks=pytest.mark.slow) for name in ("gaia", "clouds")]
ONE_AND_ALL = pytest.mark.parametrize("kinds", [KINDS[:1], KINDS], ids=len)


def test_the_page_names_every_command_that_draws():
    commands = typer.main.get_command(app).commands
    drawing = [name for name, command in commands.items() if any(p.name == "width" for p in command.params)]
    page = (Path(__file__).parents[2] / "docs" / "howto" / "studies.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"`--width` of each command that draws \(([^)]*)\)", page)
    assert re.findall(r"`(\w+)`", listed) == drawing


def styled(width: str) -> FigureStyle:
    style = figure_style(width)
    assert style is not None
    return style


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved, laid out with the settings of their width."""
    figures: list[Figure] = []

    def keep(figure, _path):
        figure.draw_without_rendering()
        figures.append(figure)

    for module in ("report.plots", "report.study_plot", "report.map", "studies.partition_plot"):
        monkeypatch.setattr(f"scenarios.{module}.save_figure", keep)
    return figures


def is_readable(figure: Figure, width: str) -> bool:
    """Whether the figure is so wide, no font is below 6 pt, and all is within it."""
    sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()]
    filled, whole = figure.get_tightbbox(), figure.bbox_inches
    assert len(sizes) > 3
    assert figure.get_figwidth() == pytest.approx(styled(width).width_in)
    assert min(sizes) >= LEAST_PT - 1e-9
    assert filled.x0 >= -0.02
    assert filled.x1 <= whole.x1 + 0.02
    assert filled.y0 >= -0.02
    assert filled.y1 <= whole.y1 + 0.02
    return True


def labels_collide(panel: Axes) -> bool:
    """Whether labels of ticks within a panel's axes overlap."""
    for axis in (panel.xaxis, panel.yaxis):
        low, high = sorted(axis.get_view_interval())
        shown = [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        boxes = [label.get_window_extent() for label in shown if label.get_visible() and label.get_text()]
        if any(one.overlaps(other) for one, other in combinations(boxes, 2)):
            return True
    return False


@WIDTHS
@ONE_AND_ALL
def test_a_sweep_is_readable(drawn, kinds, width):
    plot_sweep(sweep_table(kinds, [1e8, 1e9, 1e10]), Path("x.png"), title=LONG_TITLE, style=styled(width))
    (figure,) = drawn

    assert is_readable(figure, width)
    assert legend_is_outside(figure)
    assert not labels_collide(figure.axes[0])


@WIDTHS
def test_times_of_a_replay_are_readable(drawn, width):
    rows = [
        {"overlay": kind, "access_bps": bps, "time_to_target_s": 1e9 / bps}
        for kind in ("star", "ring")
        for bps in (1e7, 1e8, 1e9, 1e10)
    ]
    table = Table(caption="", columns=(), rows=rows, further={"target_accuracy": 0.8})
    plot_times(table, Path("x.png"), title=LONG_TITLE, style=styled(width))

    assert is_readable(drawn[0], width)
    assert legend_is_outside(drawn[0])
    assert not labels_collide(drawn[0].axes[0])


@WIDTHS
@ONE_AND_ALL
def test_a_run_is_readable(drawn, kinds, width):
    overlays = [overlay(kind, 1.0 + 9 * place, [0.1, 0.5, 0.9]) for place, kind in enumerate(kinds)]
    plot_run(record(*overlays), Path("x.png"), title=LONG_TITLE, target_accuracy=0.8, style=styled(width))

    assert is_readable(drawn[0], width)
    assert legend_is_outside(drawn[0])
    assert not any(labels_collide(panel) for panel in drawn[0].axes)


@WIDTHS
@ONE_AND_ALL
def test_a_validation_is_readable(drawn, kinds, width):
    plot_validation(validation_rows(kinds, 0.8), Path("x.png"), title=LONG_TITLE, style=styled(width))

    assert is_readable(drawn[0], width)
    assert legend_is_outside(drawn[0])
    assert not labels_collide(drawn[0].axes[0])


@WIDTHS
def test_an_upgrade_is_readable(drawn, width):
    rows = [
        {
            "total_price": price,
            "paper_s": 2.0 / (1 + price),
            "load_bound_s": 1.0,
            "simulated_s": 2.5 / (1 + price),
            "simulated_half_width_s": 0.01,
            "is_proven": False,
        }
        for price in range(4)
    ]
    further = {
        "kind": "delta_mbst",
        "by": "load",
        "currency": "EUR",
        "is_priced": True,
        "raised_how": "to 10 Gbps",
    }
    table = Table(caption=f"{LONG_TITLE}\n{LONG_TITLE}\nwork", columns=(), rows=rows, further=further)
    plot_upgrade(table, Path("x.png"), wanted_s=0.5, style=styled(width))

    assert is_readable(drawn[0], width)
    assert legend_is_outside(drawn[0])
    assert not labels_collide(drawn[0].axes[0])


@pytest.mark.parametrize(
    ("count", "width"),
    [
        *((count, width) for count in (1, 3) for width in ("3.5in", "10in")),
        *(pytest.param(6, width, marks=pytest.mark.slow) for width in ("3in", "5.6in", "10in")),
    ],
)
def test_panels_of_a_study_are_readable(drawn, tmp_path, count, width):
    table = study(
        access_bps=(1e8, 1e9, 1e10),
        local_steps=tuple(range(1, count + 1)),
        overlays=("star", "delta_mbst", "ring"),
    )
    facet = "local_steps" if count > 1 else None
    plot_study(table, tmp_path / "x.png", x="access_bps", facet=facet, style=styled(width), force=False)
    (figure,) = drawn
    boxes = [panel.get_tightbbox() for panel in figure.axes]

    assert is_readable(figure, width)
    assert legend_is_outside(figure)
    assert not any(labels_collide(panel) for panel in figure.axes)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


# A map's label layout takes long: the widths are those of the map that is most crowded.
@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("geant", "3.5in"),
        pytest.param("gaia", "5.6in", marks=pytest.mark.slow),
        *(pytest.param("clouds", width, marks=pytest.mark.slow) for width in ("3in", "10in")),
    ],
)
def test_a_map_is_readable(drawn, tmp_path, name, width):
    plot_map(load_underlay(name), tmp_path / "x.png", style=styled(width))
    (figure,) = drawn
    notes = [text.get_window_extent() for text in figure.texts]

    assert is_readable(figure, width)
    assert not any(one.overlaps(other) for one, other in combinations(notes, 2))
    assert not any(note.overlaps(figure.axes[0].get_tightbbox()) for note in notes)
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert not any(
            box.overlaps(other) for other in [*notes, *(axes.get_tightbbox() for axes in figure.axes)]
        )
        assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize(
    ("name", "width"),
    [("ebone", "3in"), ("ebone", "10in"), pytest.param("geant", "5.6in", marks=pytest.mark.slow)],
)
def test_a_partition_is_readable(drawn, tmp_path, name, width):
    graph = build_network(NetworkConfig(underlay=name))
    plot_partition(divide(graph, TrainingConfig(), 0), tmp_path / "x.png", style=styled(width))
    (figure,) = drawn
    bars, matrix, scale = figure.axes

    assert is_readable(figure, width)
    assert not any(labels_collide(panel) for panel in (bars, matrix, scale))
    assert not bars.get_tightbbox().overlaps(matrix.get_tightbbox())
    assert not matrix.get_tightbbox().overlaps(scale.get_tightbbox())


@pytest.mark.slow
def test_the_labels_of_a_narrow_map_lie_within_it():
    style = FigureStyle(width_in=3.5, reference_in=MAP_STYLE.reference_in)
    from scenarios.report.map import _page

    layout = map_layout(load_underlay("geant"), _page(style))
    figure = map_figure(layout, style)
    figure.draw_without_rendering()
    names = [text for text in figure.axes[0].texts if text.get_text() in load_underlay("geant").labels]
    boxes = {text.get_text(): text.get_window_extent() for text in names}

    assert len(boxes) == 40
    inside = figure.axes[0].get_window_extent()
    assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes.values())


@pytest.mark.parametrize(
    ("text", "inches"),
    [("3.5in", 3.5), (" 3.5 inch ", 3.5), ("8.89cm", 3.5), ("88.9 mm", 3.5), ("252pt", 3.5)],
)
def test_a_width_is_a_length_with_its_unit(text, inches):
    assert styled(text).width_in == pytest.approx(inches)


@pytest.mark.parametrize(
    "text", ["3.5", "wide", "-3in", "3.5 IN", "nanin", "1e3in", "", "2.9in", "41in", "0in"]
)
def test_another_width_is_one_line_with_the_rule(text):
    with pytest.raises(InputError, match=rf"^width\(='{re.escape(text)}'\) must be "):
        figure_style(text)


def test_fonts_grow_with_the_width_and_never_fall_below_the_least():
    widths = np.linspace(3, 40, 60)
    sizes = [[FigureStyle(width_in=width).pt(size) for size in (6.5, 8.0, 10.0)] for width in widths]

    assert (np.diff(sizes, axis=0) >= 0).all()
    assert np.min(sizes) == LEAST_PT
    assert FigureStyle().rc() == {}
    assert FigureStyle(width_in=14).pt(10) == 20
    assert FigureStyle(width_in=14).letters(84) == 84


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("underlay", "gaia", "--width", "3.5in"), "goes with a figure"),
        (("underlay", "gaia", "-o", "x.html", "--width", "3.5in"), "goes with a figure"),
        (("upgrade", "gaia", "--budget", "1", "--width", "3.5in"), "goes with a figure"),
        (("validate", "gaia", "-o", "x.csv", "--width", "3.5in"), "goes with a figure"),
        (("partition", "gaia", "-o", "x.csv", "--width", "3.5in"), "goes with a figure"),
        (
            ("sweep", "gaia", "--access", "1 Gbps", "--width", "3.5"),
            "must be a length in in, inch, cm, mm, pt",
        ),
        (("demo", "--width", "1in"), "must be at least 3 in and at most 40 in."),
        (("plot", "x.csv", "--width", "4 feet"), "must be a length"),
        (("replay", "x.h5", "--access", "1 Gbps", "--width", "4 feet"), "must be a length"),
    ],
)
def test_a_wrong_width_is_found_before_anything_is_computed(silosim, tmp_path, monkeypatch, arguments, rule):
    monkeypatch.chdir(tmp_path)
    failed = silosim(*arguments).failed(2)

    assert failed.err.startswith("silosim: error: width(='")
    assert rule in failed.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_commands_draw_as_wide_as_they_are_told(silosim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    silosim("underlay", "gaia", "-o", "map.png", "--width", "3.5in").ok()
    silosim(
        "sweep", "gaia", "--access", "1 Gbps", "--kind", "ring", "--rounds", "20", "-o", "s", "--width", "4in"
    ).ok()
    silosim("partition", "gaia", "-o", "p.png", "--width", "5in").ok()

    widths = {name: imread(name).shape[1] for name in ("map.png", "s.png", "p.png")}
    assert widths == {"map.png": 700, "s.png": 800, "p.png": 1000}
    assert json.loads(silosim("underlay", "gaia", "--json").ok().out)["sites"] == 11
