"""Figures of sweeps, replays, upgrades and validations at the edges of their rules; nothing is laid out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backend_bases import RendererBase
from test_figures import KINDS, sweep_table, upgrade_table, validation_rows
from test_tables_and_plots import overlay, record

from scenarios.report import plots
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle
from scenarios.report.plots import _over_access_figure, _run_figure, _upgrade_figure, _validation_figure
from scenarios.report.seeds_plot import _figure
from scenarios.report.tables import Table

HERE = Path("x.png")


@pytest.fixture
def asked(monkeypatch):
    """How durations over the access capacity were asked for."""
    given = []
    monkeypatch.setattr(plots, "_plot_over_access", lambda *_, **options: given.append(options))
    return given


@pytest.mark.parametrize(("longest_s", "scale_s", "unit"), [(10.0, 1e-3, "ms"), (10.1, 1.0, "s")])
def test_a_sweep_is_in_seconds_from_ten_on(asked, longest_s, scale_s, unit):
    rows = [{"simulated_s": each} for each in (1.0, longest_s, 2.0)]
    plots.plot_sweep(Table(caption="", columns=[], rows=rows), HERE, title="t")
    assert asked == [
        {
            "title": "t",
            "keys": ("simulated_s", "paper_s"),
            "scale_s": scale_s,
            "label": f"cycle time ({unit})",
        }
    ]


@pytest.mark.parametrize(
    ("target", "times_s", "scale_s", "label"),
    [
        (0.75, [None, 600.0, 6000.0], 60.0, "time to a test accuracy of 0.75 (min)"),
        (None, [600.0, 60000.0], 3600.0, "time to the last recorded round (h)"),
        (0.5, [1.0, 600.0], 1.0, "time to a test accuracy of 0.5 (s)"),
    ],
)
def test_times_are_in_the_unit_in_which_all_are_readable(asked, target, times_s, scale_s, label):
    rows = [{"time_to_target_s": each} for each in times_s]
    table = Table(caption="", columns=[], rows=rows, further={"target_accuracy": target})
    plots.plot_times(table, HERE, title="t")
    assert asked == [{"title": "t", "keys": ("time_to_target_s",), "scale_s": scale_s, "label": label}]


def over_access(table, *keys, style=DEFAULT_STYLE):
    return _over_access_figure(table, style, title="t", keys=keys, scale_s=1e-3, label="time (ms)")


def test_durations_over_the_access_capacity():
    figure = over_access(sweep_table(["star", "ring"], [1e8, 1e9]), "simulated_s", "paper_s")
    (panel,) = figure.axes
    star, star_paper, ring, ring_paper = panel.lines
    assert star.get_xdata().tolist() == [1e8, 1e9]
    durations = [line.get_ydata().tolist() for line in (star, star_paper, ring, ring_paper)]
    assert durations == [[1000.0, 100.0], [500.0, 50.0], [2000.0, 200.0], [1000.0, 100.0]]
    assert (star.get_markersize(), star_paper.get_linewidth(), star_paper.get_marker()) == (5.0, 0.7, "")
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("access capacity", "time (ms)")
    assert [text.get_text() for text in figure.legends[0].texts] == ["star", "ring", "thin: paper"]
    (alone,) = over_access(sweep_table(["ring"], [1e9]), "simulated_s", "paper_s").axes
    assert alone.lines[1].get_marker() == "_"
    assert alone.lines[1].get_markersize() == 14.0


def test_an_overlay_without_a_duration_has_no_line_and_the_others_their_styles():
    table = sweep_table(["mine", "yours"], [1e8, 1e9])
    rows = [row | ({"simulated_s": None} if row["overlay"] == "mine" else {}) for row in table.rows]
    one = over_access(replace(table, rows=rows), "simulated_s")
    both = over_access(table, "simulated_s")
    assert [text.get_text() for text in one.legends[0].texts] == ["yours"]
    assert one.axes[0].lines[0].get_color() == both.axes[0].lines[1].get_color()


@pytest.mark.parametrize(("kinds", "height_in"), [(14, 4.4), (15, 1 + 0.22 * 16)])
def test_a_figure_over_capacities_is_as_high_as_its_legend(kinds, height_in):
    figure = over_access(sweep_table(KINDS[:kinds], [1e8, 1e9]), "simulated_s")
    assert figure.get_figheight() == pytest.approx(height_in)


def test_in_a_narrow_figure_the_legend_is_below():
    style = FigureStyle(width_in=3.5)
    figure = over_access(
        sweep_table(["star", "ring", "mst"], [1e8, 1e9]), "simulated_s", "paper_s", style=style
    )
    # 105 letters at the usual width are 74; four names of at most 11 with 9 for their lines: three in a line.
    assert figure.legends[0]._ncols == 2
    assert figure.get_figheight() == pytest.approx((4.0 + 0.2 * 2) * style.factor)


def upgrade(table, wanted_s=None):
    figure = _upgrade_figure(table, DEFAULT_STYLE, wanted_s=wanted_s)
    return figure, figure.axes[0], [text.get_text() for text in figure.legends[0].texts]


def changed(table, **values):
    return replace(table, rows=[row | values for row in table.rows])


@pytest.mark.parametrize(("longest_s", "label"), [(10.0, "cycle time (ms)"), (10.1, "cycle time (s)")])
def test_an_upgrade_is_in_seconds_from_ten_on(longest_s, label):
    table = upgrade_table([0.0, 1.0], half_width_s=None)
    for key in ("paper_s", "load_bound_s", "simulated_s"):
        assert upgrade(changed(table, **{key: longest_s}))[1].get_ylabel() == label


def test_the_title_of_an_upgrade_says_what_the_table_is_of_and_not_what_to_buy():
    table = upgrade_table([0.0, 1.0], half_width_s=None)
    bought = replace(table, caption=f"{table.caption}\nraise the uplink of Oslo\nfor 1 EUR")
    lines = upgrade(bought)[0].get_suptitle().splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        *("ring on gaia: 11 silos", "access; links raised to 2 Gbps", "359 Mbit"),
    ]


def test_the_last_step_of_an_upgrade_goes_on_a_little():
    for prices, end in (([0.0, 100.0], 104.0), ([5.0], 5.04), ([10.0, 10.5], 10.52)):
        _, panel, _ = upgrade(upgrade_table(prices, half_width_s=None))
        steps = [line for line in panel.lines if line.get_drawstyle() == "steps-post"]
        assert [line.get_xdata()[-1] for line in steps] == pytest.approx([end] * 2)
        assert [line.get_ydata()[-1] == line.get_ydata()[-2] for line in steps] == [True, True]


def test_the_legend_of_an_upgrade_says_what_was_proven_simulated_and_wanted():
    table = upgrade_table([0.0, 1.0], half_width_s=0.1)
    assert upgrade(table)[2] == ["paper or load, proven best", "simulated (95 %)"]
    rows = [{**table.rows[0], "is_proven": False}, table.rows[1]]
    assert upgrade(replace(table, rows=rows))[2][0] == "paper or load, not proven best"
    alone = changed(table, simulated_s=None)
    assert upgrade(alone, wanted_s=0.25)[2] == ["paper or load, proven best", "wanted: 250 ms"]
    by_paper = replace(table, further={**table.further, "by": "paper"})
    _, panel, names = upgrade(by_paper)
    assert names[0] == "paper, proven best"
    # By load the larger of both counts.
    assert panel.lines[-1].get_ydata().tolist() == [1000.0, 500.0]
    assert upgrade(table)[1].lines[-1].get_ydata().tolist() == [1500.0, 750.0]


@pytest.mark.parametrize(
    ("currency", "is_priced", "label"),
    [("EUR", True, "total price (EUR)"), ("", True, "total price"), ("", False, "links raised")],
)
def test_prices_of_an_upgrade_have_their_currency(currency, is_priced, label):
    table = upgrade_table([0.0, 1.0], half_width_s=None)
    further = {**table.further, "currency": currency, "is_priced": is_priced}
    assert upgrade(replace(table, further=further))[1].get_xlabel() == label


def bars(panel):
    """Of each overlay, the ends of its bars that are not empty."""
    return [
        (patch.get_x(), patch.get_x() + patch.get_width()) for patch in panel.patches if patch.get_width()
    ]


def test_parts_of_a_difference_are_stacked_to_both_sides():
    (row,) = validation_rows(["ring"], 0.3).rows
    row |= {
        "serialization_s": 0.4,
        "shared_links_s": -0.2,
        "unused_shares_s": 0.6,
        "waits_for_other_arcs_s": None,
    }
    table = Table(caption="", columns=(), rows=[row])
    figure = _validation_figure(table, DEFAULT_STYLE, title="t")
    (panel,) = figure.axes
    # In per cent of 2 s.
    assert [each for pair in bars(panel) for each in pair] == pytest.approx(
        [0.0, 20.0, 0.0, -10.0, 20.0, 50.0]
    )
    names = panel.get_legend_handles_labels()[1]
    assert names == [
        *("queue: one model after the other", "rate: shared links", "rate: unused shares"),
        *("wait: for other arcs", "simulated, max-min (95 %)", "simulated, Eq. 3's rates"),
    ]
    rare = _validation_figure(replace(table, rows=[row | {"world_s": 0.1}]), DEFAULT_STYLE, title="t")
    assert "events around the job" in rare.axes[0].get_legend_handles_labels()[1]
    assert figure.get_figheight() == pytest.approx(2.75)


def test_an_overlay_whose_paper_is_0_has_no_difference():
    (row,) = validation_rows(["ring"], 0.3).rows
    row |= {"paper_s": 0.0, "maxmin_over_paper": None, "equal_over_paper": None}
    (panel,) = _validation_figure(Table(caption="", columns=(), rows=[row]), DEFAULT_STYLE, title="t").axes
    assert bars(panel) == []
    assert panel.get_xlim() == (-1.0, 1.0)
    assert panel.texts[1].get_text() == "-"
    # Nor has it a place on the axis, as one of 0 % would have.
    assert [place for line in panel.lines for place in line.get_xdata() if np.isfinite(place)] == [0, 0]
    assert panel.lines[-1].get_ydata() == [0, 1]  # the line at 0 %


def run(*overlays, target=None, is_imported=False):
    return _run_figure(
        record(*overlays), DEFAULT_STYLE, title="t", target_accuracy=target, is_imported=is_imported
    )


def test_an_imported_curve_is_drawn_once_over_rounds():
    star, ring = overlay("star", 2.0, [0.1, 0.9]), overlay("ring", 1.0, [0.1, 0.9])
    figure = run(star, ring, is_imported=True)
    assert [len(panel.lines) for panel in figure.axes] == [1, 2, 1, 2]
    assert figure.axes[0].get_title() == "one imported curve, on every overlay"
    assert figure.axes[1].get_title() == "only cycle times differ"
    assert figure.axes[0].lines[0].get_color() == "0.35"
    for several in (run(star, ring), run(star, is_imported=True)):
        assert several.axes[0].get_title() == ""
        assert len(several.axes[0].lines) == len(several.axes[1].lines)


def test_a_target_without_accuracies_is_not_drawn():
    ring = overlay("ring", 1.0, [0.1, 0.9])
    bare = replace(ring, history=ring.history | {"test_accuracy": np.full(2, np.nan)})
    figure = run(bare, target=0.5)
    assert [text.get_text() for text in figure.legends[0].texts] == ["ring"]
    assert len(figure.axes) == 2
    assert figure.get_figheight() == pytest.approx(3.2)
    with_target = run(ring, target=0.5)
    assert [text.get_text() for text in with_target.legends[0].texts] == ["ring", "target 50 %"]
    assert with_target.axes[2].lines[-1].get_ydata() == [50.0, 50.0]
    assert with_target.get_figheight() == pytest.approx(5.2)
    assert len(with_target.axes[0].lines) == 1


class Marked(RendererBase):
    """Counts the markers that are drawn."""

    count = 0

    def draw_path(self, *_: object) -> None:
        """Lines do not count."""

    def draw_markers(self, _gc, _marker, _marker_transform, path, *_: object) -> None:
        self.count += int(np.isfinite(path.vertices).all(axis=1).sum())


def marks(lines):
    """Markers that are drawn on each line."""
    renderers = [Marked() for _ in lines]
    for line, renderer in zip(lines, renderers, strict=True):
        line.draw(renderer)
    return [renderer.count for renderer in renderers]


def test_a_curve_of_one_row_is_seen():
    star, ring = overlay("star", 9.0, [0.1, 0.9]), overlay("ring", 1.0, [0.1, 0.9])
    once = replace(ring, history=ring.history | {"test_accuracy": np.array([np.nan, 0.9])})
    # A logarithmic axis has no round 0, so that one round is left.
    apart, alone = run(star, ring), run(once)
    assert [len(line.get_xdata()) for line in apart.axes[1].lines] == [1, 1]
    assert marks(apart.axes[1].lines) == [1, 1]
    assert marks([*alone.axes[0].lines, *alone.axes[2].lines, *alone.axes[3].lines]) == [2, 1, 1]
    imported = run(once, replace(once, kind="star"), is_imported=True)
    assert marks([*imported.axes[0].lines, *imported.axes[2].lines]) == [0, 1]
    seeds = _figure({1: record(star, ring)}, DEFAULT_STYLE, title="t")
    assert marks(seeds.axes[1].lines) == [1, 1]
    measured_once = _figure({1: record(once)}, DEFAULT_STYLE, title="t")
    assert marks([*measured_once.axes[0].lines, *measured_once.axes[2].lines]) == [2, 1]


def test_texts_of_narrow_figures_are_broken_where_letters_end():
    # Letters side by side are those of 7 in by the root of the width.
    def of(letters, usual):
        """A style that has room for just so few letters of the usual number, and no more for one more."""
        style = FigureStyle(width_in=7.0 * ((letters + 1 - 1e-3) / (usual + 1)) ** 2 * (1 + 1e-4))
        assert (style.letters(usual), style.letters(usual + 1)) == (letters, letters + 1)
        return style

    # The longest names have 26, 32 and 11 letters, lines beside them 7 and 9.
    raised = upgrade_table([0.0, 1.0], half_width_s=0.1)
    figures = [
        (_upgrade_figure(raised, of(3 * 33 - 1, 108), wanted_s=0.5), 2),
        (_validation_figure(validation_rows(["ring"], 0.3), of(2 * 41 - 1, 118), title="t"), 1),
    ]
    table = sweep_table(("x" * 11, "y" * 11, "z" * 11), [1e8])
    figures.append((over_access(table, "simulated_s", "paper_s", style=of(4 * 20 - 1, 105)), 2))
    assert [figure.legends[0]._ncols for figure, _ in figures] == [columns for _, columns in figures]
    star, ring = overlay("star", 2.0, [0.1, 0.9]), overlay("ring", 1.0, [0.1, 0.9])
    imported = _run_figure(record(star, ring), of(35, 38), title="t", target_accuracy=None, is_imported=True)
    # 36 letters.
    assert imported.axes[0].get_title().replace("\n", " ") == "one imported curve, on every overlay"
    assert "\n" in imported.axes[0].get_title()
    label = "x" * 20 + " " + "y" * 13
    figure = _over_access_figure(table, of(33, 48), title="t", keys=["paper_s"], scale_s=1.0, label=label)
    assert figure.axes[0].get_ylabel() == label.replace(" ", "\n")
