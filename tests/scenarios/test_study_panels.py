"""What is drawn where in the panels of a study's figure; nothing is laid out, on which none of it depends."""

import numpy as np
import pytest
from test_study_plot import ACCESS, study

from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle
from scenarios.report.line_styles import styles_of
from scenarios.report.study_lines import study_lines
from scenarios.report.study_plot import _figure, _layout, draw_study


def figure_of(table, *, style=DEFAULT_STYLE, log_x=None, log_y=None, **options):
    return _figure(study_lines(table, **options), style, log_x=log_x, log_y=log_y)


def points(line):
    """Places one after the other, each across and up."""
    return [float(each) for point in zip(*line.get_data(), strict=True) for each in point]


def test_lines_are_in_the_units_of_their_axes_and_the_paper_is_thin():
    figure = figure_of(study(access_bps=ACCESS))
    (panel,) = figure.axes
    star, star_paper, ring, _ = panel.lines
    assert points(star) == pytest.approx([1e8, 2000.0, 1e9, 200.0, 1e10, 20.0])
    assert points(star_paper) == pytest.approx([1e8, 1000.0, 1e9, 100.0, 1e10, 10.0])
    assert (star.get_markersize(), star.get_linewidth(), star_paper.get_linewidth()) == (5.0, 1.4, 0.7)
    assert (ring.get_color(), ring.get_marker()) == (styles_of(["ring"])["ring"].colour, "o")
    assert star_paper.get_zorder() < star.get_zorder()
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("access capacity", "cycle time (ms)")
    assert [label.get_text() for label in panel.get_xticklabels()] == ["100 Mbps", "1 Gbps", "10 Gbps"]
    assert [each.get_fontsize() for each in panel.get_xticklabels()] == [10.0] * 3
    assert panel.get_title() == ""
    assert len(panel.collections) == 0
    assert figure.get_figheight() == pytest.approx(4.65)


def test_a_curve_is_in_the_unit_of_its_own_axis():
    (panel,) = figure_of(study(overlays=["ring"], access_bps=ACCESS), x="simulated_s", y="paper_s").axes
    assert points(panel.lines[0]) == pytest.approx([2000.0, 1000.0, 200.0, 100.0, 20.0, 10.0])
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("cycle time (ms)", "cycle time, paper (ms)")


def test_panels_have_small_markers_titles_and_labels_at_the_edges():
    figure = figure_of(study(overlays=["ring"], access_bps=ACCESS[:2], local_steps=range(1, 6)))
    panels = figure.axes
    # Two rows of three, and the last place is empty.
    assert [panel.get_title() for panel in panels] == [f"local steps per round: {k}" for k in range(1, 6)]
    assert [panel.get_xlabel() for panel in panels] == ["", "", *["access capacity"] * 3]
    assert [bool(panel.get_ylabel()) for panel in panels] == [True, False, False, True, False]
    assert {line.get_markersize() for line in panels[0].lines[::2]} == {4.0}
    assert {label.get_fontsize() for label in panels[3].get_yticklabels()} == {8.0}
    assert panels[0].title.get_fontsize() == 9.0


def test_a_title_of_a_panel_is_as_long_as_its_panel():
    table = study(overlays=["ring"], access_bps=ACCESS[:2], overlays_ring_place=["x" * 90, "y" * 90])
    layout = _layout(2, ["ring", "thin: paper"], DEFAULT_STYLE)
    titles = [panel.get_title() for panel in figure_of(table).axes]
    assert [len(title) for title in titles] == [layout.letters(layout.width_in)] * 2
    assert all("…" in title for title in titles)


def test_overlays_stand_side_by_side_within_a_text():
    kinds = ["star", "ring", "mst"]
    (panel,) = figure_of(study(overlays=kinds, underlay=["geant", "gaia"])).axes
    slot = 0.7 / 3
    for line, paper, shift in zip(panel.lines[::2], panel.lines[1::2], (-slot, 0.0, slot), strict=True):
        assert line.get_xdata() == pytest.approx([shift, 1 + shift])
        assert paper.get_xdata() == pytest.approx([shift, 1 + shift])
        assert (line.get_linestyle(), paper.get_linestyle(), paper.get_marker()) == ("None", "None", "_")
        # The panel is so wide that a dash has its whole length.
        assert paper.get_markersize() == 14.0
    assert panel.get_xlim() == (-0.5, 1.5)
    assert [label.get_text() for label in panel.get_xticklabels()] == ["geant", "gaia"]
    assert [label.get_rotation() for label in panel.get_xticklabels()] == [0.0, 0.0]


def test_dashes_are_as_long_as_there_is_room_for_them():
    kinds = ["star", "ring", "mst", "delta_mbst"]
    table = study(overlays=kinds, underlay=[f"n{k}" for k in range(15)])
    (panel,) = figure_of(table).axes
    layout = _layout(1, [*kinds, "dash: paper"], DEFAULT_STYLE)
    # Four of 15 texts have 0.7 / 60 of the 338.8 pt of a panel each, 3.95 pt, which is less than the least.
    assert layout.width_in == pytest.approx(4.7056)
    assert panel.lines[1].get_markersize() == 5.0
    five = study(overlays=kinds, underlay=[f"n{k}" for k in range(5)])
    (panel,) = figure_of(five).axes
    # 0.7 / 20 of the same panel.
    assert panel.lines[1].get_markersize() == pytest.approx(11.858, abs=1e-3)


def test_overlays_of_an_axis_of_overlays_stand_in_their_places():
    figure = figure_of(study(overlays=["star", "ring"]))
    (panel,) = figure.axes
    assert [line.get_xdata().tolist() for line in panel.lines] == [[0.0], [0.0], [1.0], [1.0]]
    assert [label.get_text() for label in panel.get_xticklabels()] == ["star", "ring"]
    # The axis names them; the legend has what the dash is.
    assert [text.get_text() for text in figure.legends[0].texts] == ["dash: paper"]


def test_texts_that_have_no_room_side_by_side_are_turned():
    long = [f"a rather long name {k}" for k in range(6)]
    figure = figure_of(study(overlays=["ring"], underlay=long))
    labels = figure.axes[0].get_xticklabels()
    assert [(label.get_rotation(), label.get_ha()) for label in labels] == [(45.0, "right")] * 6
    assert figure.get_figheight() == pytest.approx(4.65 + 0.75 * 20 * 0.083)


def spread(table):
    """Seeds 0 and 1 at 1 and 3 s, over the paper's time."""
    return table.assign(simulated_s=1.0 + 2 * table["seed"])


def test_seeds_are_a_band_around_a_line_and_bars_elsewhere():
    (panel,) = figure_of(spread(study(overlays=["ring"], access_bps=ACCESS, seed=[0, 1]))).axes
    (band,) = panel.collections
    corners = band.get_paths()[0].vertices
    assert {round(y) for y in corners[:, 1]} == {1000, 3000}
    assert set(corners[:, 0]) == set(ACCESS)
    assert band.get_alpha() == 0.18
    (panel,) = figure_of(spread(study(overlays=["ring"], underlay=["geant", "gaia"], seed=[0, 1]))).axes
    (bars,) = panel.collections
    assert [segment.tolist() for segment in bars.get_segments()] == [
        [[0.0, 1000.0], [0.0, 3000.0]],
        [[1.0, 1000.0], [1.0, 3000.0]],
    ]
    # A curve has no band either.
    curve = spread(study(overlays=["ring"], access_bps=ACCESS, seed=[0, 1]))
    figure = figure_of(curve, x="paper_s")
    assert len(figure.axes[0].collections[0].get_segments()) == 3
    assert "mean of 2 seeds; bar:\nlowest to highest" in [text.get_text() for text in figure.legends[0].texts]


def test_equal_seeds_have_neither_bands_nor_bars():
    (panel,) = figure_of(study(overlays=["ring"], access_bps=ACCESS, seed=[0, 1])).axes
    assert len(panel.collections) == 0
    # One pair of ends that differ is enough.
    table = study(overlays=["ring"], access_bps=ACCESS, seed=[0, 1])
    table.loc[0, "simulated_s"] *= 2
    assert len(figure_of(table).axes[0].collections) == 1


def test_the_paper_of_a_single_point_beside_lines_is_a_dash():
    table = study(access_bps=ACCESS)
    (panel,) = figure_of(table[(table["overlay"] == "star") | (table["access_bps"] == 1e9)]).axes
    _, star, _, ring = panel.lines
    assert (star.get_marker(), ring.get_marker()) == ("None", "_")
    assert star.get_linestyle() == "-"


def test_sizes_follow_the_width_of_the_figure():
    figure = figure_of(study(overlays=["ring"], access_bps=ACCESS), style=FigureStyle(width_in=14.0))
    line, paper = figure.axes[0].lines
    assert (line.get_markersize(), line.get_linewidth(), paper.get_linewidth()) == (10.0, 2.8, 1.4)
    assert figure.get_figwidth() == 14.0
    assert figure.get_figheight() == pytest.approx(2 * 4.65)


def test_an_asked_scale_is_that_of_the_axis():
    (panel,) = figure_of(study(overlays=["ring"], access_bps=ACCESS), log_x=False).axes
    assert (panel.get_xscale(), panel.get_yscale()) == ("linear", "log")
    # Texts need none.
    assert len(figure_of(study(underlay=["geant", "gaia"]), log_x=False).axes) == 1


def test_what_is_left_out_is_returned_and_a_whole_study_says_no_more(monkeypatch, tmp_path):
    monkeypatch.setattr("scenarios.report.study_plot.save_figure", lambda *_: None)
    table = study(overlays=["ring"], access_bps=[*ACCESS, np.inf])
    said = "left out: 1 row without a finite access_bps."
    assert draw_study(table, tmp_path / "a.png") == (said,)
    for name, more in (("s.csv", ()), ("s.csv.partial", ("4 points so far",))):
        table.to_csv(tmp_path / name, index=False)
        notes = draw_study(tmp_path / name, tmp_path / "a.png")
        assert notes[-1] == said
        assert len(notes) == 1 + len(more)
        assert all(each in notes[0] for each in more)
