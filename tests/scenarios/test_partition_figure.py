"""The figure of a partition: its sizes, which silos are named, and what bars and matrix show."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.report.figure_style import FigureStyle
from scenarios.studies import partition_plot
from scenarios.studies.partition import Division
from scenarios.studies.partition_plot import _name_silos, _narrow_figure, _wide_figure, plot_partition


def division_of(silos, divergence=1.0):
    return Division(
        silos=tuple(f"silo {number:02}" for number in range(silos)),
        about="digits",
        notes=(),
        samples=np.arange(1, silos + 1),
        groups=None,
        label_counts=np.eye(silos, dtype=np.int64),
        divergence_bits=divergence * (1 - np.eye(silos)),
    )


@pytest.mark.parametrize(
    ("silos", "height_in"), [(1, 3.4), (16, 3.4), (20, 3.8), (40, 6.4), (60, 8.0), (100, 8.0)]
)
def test_a_figure_grows_with_the_silos(monkeypatch, silos, height_in):
    made = []
    monkeypatch.setattr(partition_plot, "save_figure", lambda figure, path: made.append((figure, path)))
    monkeypatch.setattr(
        partition_plot,
        "_wide_figure",
        lambda _, style, height_in: ("wide", style.width_in, style.factor, height_in),
    )
    monkeypatch.setattr(
        partition_plot, "_narrow_figure", lambda _, style, height_in: ("narrow", style.width_in, height_in)
    )
    division, path = division_of(silos), Path("x.png")
    plot_partition(division, path)
    ((wide, width_in, factor, found_in), written) = made.pop()
    assert (wide, factor, written) == ("wide", 1.0, path)
    assert (width_in, found_in) == (pytest.approx(5.0 + height_in), pytest.approx(height_in))
    plot_partition(division, path, style=FigureStyle(width_in=3.5))
    assert made.pop()[0] == ("narrow", 3.5, pytest.approx(height_in))


class Axis:
    """Takes the names on each axis."""

    def __init__(self):
        self.names = {}

    def set_yticks(self, places, names, **look):
        self.names["y"] = (list(places), names, look["fontsize"])

    def set_xticks(self, places, names, **look):
        self.names["x"] = (list(places), names, look["fontsize"])
        assert look["rotation"] == 90


@pytest.mark.parametrize(
    ("silos", "height_in", "every", "size"),
    [
        (3, None, 1, 8.0),
        (45, None, 1, 6.0),
        (46, None, 2, 6.0),
        (91, None, 3, 6.0),
        (90, None, 2, 6.0),
        (20, 1.0, 3, 8.0),
    ],
)
def test_where_there_are_many_silos_one_in_several_is_named(silos, height_in, every, size):
    style = SimpleNamespace(pt=lambda size: size)
    places = list(range(0, silos, every))
    names = [f"silo {place:02}" for place in places]
    for both in (False, True):
        axis = Axis()
        _name_silos(axis, division_of(silos), style, height_in, both=both)
        assert axis.names == dict.fromkeys("yx" if both else "y", (places, names, size))


def test_of_a_name_of_more_than_twenty_letters_both_ends_are_kept():
    whole, long = "a" * 19 + "1", "b" * 20 + "2"
    axis = Axis()
    named = replace(division_of(2), silos=(whole, long))
    _name_silos(axis, named, SimpleNamespace(pt=lambda size: size), None, both=False)
    _, (first, second), _ = axis.names["y"]

    assert first == whole
    assert (len(second), second[0], second[-1]) == (20, "b", "2")


@pytest.mark.parametrize("make", [_wide_figure, _narrow_figure])
def test_bars_are_samples_and_colours_divergences(make):
    division = division_of(3, 0.25)
    figure = make(division, FigureStyle(width_in=8.4, reference_in=8.4), 3.4)
    bars, matrix, scale = figure.axes
    assert [bar.get_width() for bar in bars.patches] == [1, 2, 3]
    assert [bar.get_y() + bar.get_height() / 2 for bar in bars.patches] == pytest.approx([0, 1, 2])
    assert [text.get_text() for text in bars.texts] == ["1", "2", "3"]
    assert bars.get_ylim() == (2.5, -0.5)
    assert bars.get_xlabel() == "training samples"
    assert [label.get_text() for label in bars.get_yticklabels()] == list(division.silos)
    (image,) = matrix.images
    assert image.get_clim() == (0, 0.25)
    assert image.get_array().tolist() == division.divergence_bits.tolist()
    assert [label.get_text() for label in matrix.get_xticklabels()] == list(division.silos)
    assert (scale.get_ylabel() + scale.get_xlabel()).replace(
        "\n", " "
    ) == "Jensen-Shannon divergence of labels (bits)"


def test_silos_that_are_alike_have_the_scale_of_a_bit():
    figure = _wide_figure(division_of(2, 0.0), FigureStyle(width_in=8.4, reference_in=8.4), 3.4)
    (image,) = figure.axes[1].images
    assert image.get_clim() == (0, 1)


@pytest.mark.parametrize(
    ("width_in", "size_in"),
    [
        (11.4, (11.4, 6.4)),
        # A wider figure has larger letters, and is as much higher.
        (22.8, (22.8, 12.8)),
        # The matrix, which is square, is 7 * 6.4 / 9.6 - 1.9 inches wide.
        (7.0, (7.0, 7 * 6.4 / 9.6)),
    ],
)
def test_panels_beside_each_other_are_no_higher_than_the_matrix_needs(monkeypatch, width_in, size_in):
    asked = []
    monkeypatch.setattr(partition_plot, "_fill", lambda *given: asked.append(given[-2:]))
    figure = _wide_figure(division_of(40), FigureStyle(width_in=width_in, reference_in=11.4), 6.4)
    assert figure.get_size_inches() == pytest.approx(size_in)
    ((bars_in, matrix_in),) = asked
    if width_in >= 11.4:
        assert bars_in is matrix_in is None
    else:
        assert matrix_in == pytest.approx(7 * 6.4 / 9.6 - 1.9)
        assert bars_in == pytest.approx(7 * 6.4 / 9.6 - 1.4)


def test_panels_below_each_other_have_room_for_three_rows_of_text(monkeypatch):
    asked = []
    monkeypatch.setattr(partition_plot, "_fill", lambda *given: asked.append(given[-2:]))
    figure = _narrow_figure(division_of(40), FigureStyle(width_in=3.5, reference_in=11.4), 6.4)
    assert asked == [(pytest.approx(3.84), pytest.approx(2.625))]
    assert figure.get_size_inches() == pytest.approx((3.5, 3.84 + 2.625 + 2.1))
    first, second = figure.axes
    heights = first.get_gridspec().get_height_ratios()
    assert heights == pytest.approx((3.84, 2.625))
    assert (first.get_subplotspec().rowspan.start, second.get_subplotspec().rowspan.start) == (0, 1)
