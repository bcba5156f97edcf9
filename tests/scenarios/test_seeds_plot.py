"""The figure of several seeds: means, bands and axes; nothing is laid out."""

from dataclasses import replace

import numpy as np
import pytest
from test_tables_and_plots import overlay, record

from scenarios.report.figure_style import DEFAULT_STYLE
from scenarios.report.line_styles import styles_of
from scenarios.report.seeds_plot import _figure
from topologies import InputError


def figure_of(*runs):
    return _figure(dict(enumerate(runs)), DEFAULT_STYLE, title="title")


def ring(seconds, accuracy):
    return overlay("ring", seconds, accuracy)


def band(panel, number=0):
    """The ends of a band, by its places along the axis."""
    corners = panel.collections[number].get_paths()[0].vertices
    return {
        place: tuple(sorted({round(y, 9) for y in corners[corners[:, 0] == place][:, 1].tolist()}))
        for place in sorted(set(corners[:, 0].tolist()))
    }


def test_a_line_is_the_mean_of_the_seeds_in_a_band_between_them():
    figure = figure_of(record(ring(1.0, [0.1, 0.5, 0.6])), record(ring(3.0, [0.1, 0.7, 1.0])))
    loss, loss_time, accuracy, accuracy_time = figure.axes

    assert accuracy.lines[0].get_xdata().tolist() == [0, 1, 2]
    assert accuracy.lines[0].get_ydata() == pytest.approx([10.0, 60.0, 80.0])
    assert accuracy_time.lines[0].get_xdata().tolist() == [0.0, 2.0, 4.0]
    assert accuracy_time.lines[0].get_ydata() == pytest.approx([10.0, 60.0, 80.0])
    assert band(accuracy) == {0.0: (10.0,), 1.0: (50.0, 70.0), 2.0: (60.0, 100.0)}
    assert band(accuracy_time) == {0.0: (10.0,), 2.0: (50.0, 70.0), 4.0: (60.0, 100.0)}
    assert loss.lines[0].get_ydata() == pytest.approx([1.9, 1.4, 1.2])
    assert [panel.get_ylabel() for panel in (loss, accuracy)] == ["training loss (nats)", "test accuracy (%)"]
    assert [panel.get_xlabel() for panel in (accuracy, accuracy_time)] == ["round", "wall-clock time (s)"]
    assert accuracy_time.get_xscale() == "linear"
    assert loss_time.lines[0].get_color() == styles_of(["ring"])["ring"].colour
    assert [text.get_text() for text in figure.legends[0].texts] == ["ring"]
    line = accuracy.lines[0]
    assert (line.get_linewidth(), line.get_markersize(), line.get_markevery()) == (1.4, 4.0, 0.15)
    assert accuracy.collections[0].get_alpha() == 0.2
    assert set(accuracy.collections[0].get_linewidth()) == {0.0}
    assert figure.get_figheight() == pytest.approx(5.2)


def test_times_that_are_far_apart_are_logarithmic_without_round_0():
    figure = figure_of(record(overlay("star", 60.0, [0.1, 0.5, 0.6]), ring(1.0, [0.1, 0.5, 0.6])))
    *_, accuracy, time = figure.axes
    # The least time is that of the ring's first round: 2 min have 120 s.
    assert time.get_xscale() == "log"
    assert time.get_xlabel() == "wall-clock time (s),\nlogarithmic: no round 0"
    assert [line.get_xdata().tolist() for line in time.lines] == [[60.0, 120.0], [1.0, 2.0]]
    assert [len(line.get_xdata()) for line in accuracy.lines] == [3, 3]
    low, high = time.get_xlim()
    assert 0.5 < low < 1.0
    assert 120.0 < high < 200.0


def test_long_times_are_in_minutes():
    figure = figure_of(record(ring(120.0, [0.1, 0.5, 0.6])))
    time = figure.axes[3]
    assert time.get_xlabel() == "wall-clock time (min)"
    assert time.lines[0].get_xdata().tolist() == [0.0, 2.0, 4.0]


def test_what_was_not_trained_is_left_out_and_the_others_keep_their_looks():
    bare = replace(overlay("one", 1.0, []), history={})
    two = overlay("two", 1.0, [0.1, 0.9])
    figure = figure_of(record(bare, two))
    assert [text.get_text() for text in figure.legends[0].texts] == ["two"]
    assert figure.axes[0].lines[0].get_color() == styles_of(["one", "two"])["two"].colour
    with pytest.raises(InputError, match=r"^the runs have no training, so there is no loss to plot\.$"):
        figure_of(record(bare))


def test_one_metric_has_one_row_of_panels():
    lossy = ring(1.0, [0.1, 0.9])
    lossy = replace(lossy, history=lossy.history | {"test_accuracy": np.full(2, np.nan)})
    figure = figure_of(record(lossy))
    assert len(figure.axes) == 2
    assert figure.get_figheight() == pytest.approx(3.2)
    assert figure.axes[0].get_xlabel() == "round"


def test_a_long_legend_makes_the_figure_higher():
    runs = record(*(overlay(name, 1.0, [0.1, 0.9]) for name in ("x" * 41, "short", "y" * 30)))
    # One name of 41 letters is in a line of 84 with the lines beside names.
    assert figure_of(runs).get_figheight() == pytest.approx(5.2 + 0.22 * 2)
