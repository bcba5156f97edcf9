"""What the figures show with one, three and all overlays: styles, labels, limits, and where the legend is."""

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from test_tables_and_plots import overlay, record

from scenarios.report.figure_parts import balanced
from scenarios.report.line_styles import styles_of
from scenarios.report.log_axis import log_ticks, spaced
from scenarios.report.plots import plot_run, plot_sweep, plot_upgrade, plot_validation
from scenarios.report.tables import Table
from topologies import DESIGNERS, PERIODIC_DESIGNERS, RANDOM_DESIGNERS

KINDS = (*DESIGNERS, *RANDOM_DESIGNERS, *PERIODIC_DESIGNERS)
FEW_AND_ALL = pytest.mark.parametrize(
    "kinds", [KINDS[:1], pytest.param(KINDS[:3], marks=pytest.mark.slow), KINDS], ids=len
)
LONG_TITLE = "a network with a very long name (corrected): 40 silos, 61 core links; inaturalist: 359 Mbit" * 2


def sweep_table(kinds: Sequence[str], capacities: Sequence[float]) -> Table:
    rows = [
        {
            "overlay": kind,
            "access_bps": bps,
            "simulated_s": (1 + place) * 1e8 / bps,
            "paper_s": (1 + place) * 5e7 / bps,
        }
        for place, kind in enumerate(kinds)
        for bps in capacities
    ]
    return Table(caption="", columns=(), rows=rows)


def validation_rows(kinds: Sequence[str], fraction: float) -> Table:
    parts = ("serialization_s", "shared_links_s", "unused_shares_s", "waits_for_other_arcs_s")
    rare = ("computing_times_s", "world_s", "no_barrier_s")
    row = {
        "paper_s": 2.0,
        "maxmin_over_paper": fraction,
        "maxmin_half_width_s": 0.0,
        "maxmin_is_exact": True,
        "equal_over_paper": 0.0,
        "equal_half_width_s": 0.0,
        **dict.fromkeys((*parts, *rare), 0.0),
        "shared_links_s": 2.0 * fraction,
    }
    return Table(caption="", columns=(), rows=[row | {"overlay": kind} for kind in kinds])


def legend_is_outside(figure: Figure) -> bool:
    (legend,) = figure.legends
    box = legend.get_window_extent()
    inside = figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
    inside = inside and figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
    return inside and not any(box.overlaps(panel.get_tightbbox()) for panel in figure.axes)


def labels_collide(panel: Axes) -> bool:
    for axis in (panel.xaxis, panel.yaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels(which="both") if label.get_text()]
        if any(one.overlaps(other) for one, other in combinations([box for box in boxes if box.width], 2)):
            return True
    return False


def test_every_kind_has_a_style_of_its_own_in_colour_and_in_grey():
    styles = [*styles_of([*KINDS, *(f"somebody else's {n}" for n in range(28))]).values()]

    assert len({(style.colour, style.dashes) for style in styles}) == len(styles)
    assert len({style.marker for style in styles[: len(KINDS) + 9]}) == len(KINDS) + 9


@FEW_AND_ALL
def test_a_sweep_has_one_name_for_each_overlay_outside_its_panel(drawn, kinds):
    plot_sweep(sweep_table(kinds, [1e8, 1e9, 1e10]), Path("x.png"), title=LONG_TITLE)
    (figure,) = drawn
    (panel,) = figure.axes

    assert [text.get_text() for text in figure.legends[0].texts] == [*kinds, "thin: paper"]
    assert legend_is_outside(figure)
    assert not labels_collide(panel)
    assert [label.get_text() for label in panel.get_xticklabels()] == ["100 Mbps", "1 Gbps", "10 Gbps"]
    simulated, paper = panel.lines[::2], panel.lines[1::2]
    assert [line.get_color() for line in simulated] == [styles_of([kind])[kind].colour for kind in kinds]
    assert [line.get_color() for line in paper] == [styles_of([kind])[kind].colour for kind in kinds]
    assert [line.get_linestyle() for line in paper] == [line.get_linestyle() for line in simulated]
    assert {line.get_marker() for line in paper} == {""}
    assert max(line.get_linewidth() for line in paper) < min(line.get_linewidth() for line in simulated)


def test_an_overlay_looks_the_same_beside_any_others(drawn):
    plot_sweep(sweep_table(["ring"], [1e8, 1e9]), Path("x.png"), title="t")
    plot_sweep(sweep_table(["star", "best", "ring"], [1e8, 1e9]), Path("x.png"), title="t")
    plot_run(
        record(overlay("mst", 1.0, [0.1, 0.9]), overlay("ring", 1.0, [0.1, 0.9])), Path("x.png"), title="t"
    )
    lines = [drawn[0].axes[0].lines[0], drawn[1].axes[0].lines[4], drawn[2].axes[0].lines[1]]

    assert len({(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}) == 1


@pytest.mark.parametrize(
    "capacities",
    [[1e9], [1e8, 1.5e8, 2e8], [9.9e8, 1e9], [9.999e8, 1e9], [1e6 * 1.3**k for k in range(40)]],
)
def test_ticks_of_any_capacities_do_not_collide(drawn, capacities):
    plot_sweep(sweep_table(KINDS[:2], capacities), Path("x.png"), title="t")
    (panel,) = drawn[0].axes
    shown = [label.get_text() for label in panel.get_xticklabels()]

    assert not labels_collide(panel)
    assert all(text.endswith("bps") for text in shown)
    assert len(panel.get_yticklabels()) >= 2


@pytest.mark.slow
def test_one_capacity_marks_paper_too(drawn):
    plot_sweep(sweep_table(["ring"], [1e9]), Path("x.png"), title="t")

    assert drawn[0].axes[0].lines[1].get_marker() == "_"


@FEW_AND_ALL
def test_a_validation_does_not_blow_up_what_is_nothing(drawn, kinds):
    for fraction in (0.00012, 0.8):
        plot_validation(validation_rows(kinds, fraction), Path("x.png"), title=LONG_TITLE)
    small, large = (figure.axes[0].get_xlim() for figure in drawn)

    assert small[0] <= -1
    assert small[1] >= 1
    assert large[1] > 80
    assert all(legend_is_outside(figure) for figure in drawn)


def test_an_estimate_is_marked_beside_its_bar(drawn):
    (row,) = validation_rows(["mst"], 0.03).rows
    for exact in (True, False):
        table = Table(caption="", columns=(), rows=[{**row, "maxmin_is_exact": exact}])
        plot_validation(table, Path("x.png"), title="t")

    assert [figure.axes[0].texts[1].get_text() for figure in drawn] == ["+3.0%", "~+3.0%"]


@FEW_AND_ALL
def test_both_columns_of_a_run_have_one_range(drawn, kinds):
    curves = [1 - np.exp(-np.arange(30) / (5 + place)) for place in range(len(kinds))]
    runs = [
        overlay(kind, 1.5**place, curve.tolist())
        for place, (kind, curve) in enumerate(zip(kinds, curves, strict=True))
    ]
    plot_run(record(*runs), Path("x.png"), title=LONG_TITLE, target_accuracy=0.9)
    (figure,) = drawn
    loss_round, loss_time, accuracy_round, accuracy_time = figure.axes

    assert loss_round.get_ylim() == loss_time.get_ylim()
    assert accuracy_round.get_ylim() == accuracy_time.get_ylim()
    assert legend_is_outside(figure)
    assert not any(map(labels_collide, figure.axes))


@pytest.mark.parametrize(
    ("entries", "most", "columns"),
    [(1, 5, 1), (5, 5, 5), (6, 5, 3), (7, 5, 4), (11, 5, 4), (4, 3, 2), (2, 1, 1)],
)
def test_the_lines_of_a_legend_are_as_long_as_can_be(entries, most, columns):
    assert balanced(entries, most=most) == columns


def test_the_target_does_not_stand_alone_on_a_line_of_the_legend(drawn):
    plot_run(
        record(*(overlay(kind, 1.0, [0.1, 0.5, 0.9]) for kind in KINDS[:5])),
        Path("x.png"),
        title="t",
        target_accuracy=0.9,
    )
    (legend,) = drawn[0].legends

    assert (len(legend.get_texts()), legend._ncols) == (6, 3)


def test_a_time_axis_of_less_than_a_decade_has_plain_numbers(drawn):
    plot_run(
        record(overlay("star", 6.0, [0.1, 0.5, 0.8]), overlay("ring", 1.0, [0.1, 0.9, 0.9])),
        Path("x.png"),
        title="t",
    )
    panel = drawn[0].axes[-1]

    assert panel.get_xscale() == "log"
    assert [label.get_text() for label in panel.get_xticklabels()] == ["1", "2", "5", "10"]
    assert not labels_collide(panel)


POSITIVE = st.floats(1e-9, 1e12)


@given(low=POSITIVE, ratio=st.floats(1.001, 1e9), most=st.integers(2, 10))
def test_ticks_lie_in_the_range_and_are_not_too_many(low, ratio, most):
    ticks = log_ticks(low, low * ratio, most)

    assert ticks == sorted(set(ticks))
    assert all(low <= tick <= low * ratio for tick in ticks)
    assert len(ticks) <= most


@given(places=st.lists(POSITIVE, min_size=1, max_size=30, unique=True), most=st.integers(2, 9))
def test_spaced_places_keep_their_distance(places, most):
    places = sorted(places)
    low, high = places[0] / 1.1, places[-1] * 1.1
    kept = spaced(places, low, high, most)

    assert kept[0] == places[0]
    assert set(kept) <= set(places)
    assert len(kept) == 1 or np.diff(np.log(kept)).min() >= np.log(high / low) / most * (1 - 1e-9)


def upgrade_table(prices: Sequence[float], *, half_width_s: float | None, currency: str = "EUR") -> Table:
    rows = [
        {
            "total_price": price,
            "paper_s": 1.0 / (1 + place),
            "load_bound_s": 1.5 / (1 + place),
            "simulated_s": 2.0 / (1 + place) if place != 1 else None,
            "simulated_half_width_s": half_width_s,
            "is_proven": True,
        }
        for place, price in enumerate(prices)
    ]
    further = {"kind": "ring", "by": "load", "currency": currency, "is_priced": bool(currency)}
    further |= {"raised_how": "to 2 Gbps"}
    return Table(caption="gaia: 11 silos\naccess\n359 Mbit", columns=(), rows=rows, further=further)


@pytest.mark.parametrize("half_width_s", [None, 0.0, 0.1])
@pytest.mark.parametrize("prices", [[0.0], [0.0, 1e6], [0.0, 1.0, 2.0, 4.0]])
def test_upgrades_are_steps_of_the_closed_form_beside_simulated_markers(drawn, prices, half_width_s):
    plot_upgrade(upgrade_table(prices, half_width_s=half_width_s), Path("x.png"), wanted_s=0.5)
    (figure,) = drawn
    (panel,) = figure.axes
    step = next(
        line for line in panel.lines if line.get_drawstyle() == "steps-post" and line.get_linewidth() > 1
    )

    assert legend_is_outside(figure)
    assert not labels_collide(panel)
    assert [text.get_text() for text in figure.legends[0].texts] == [
        "paper or load, proven best",
        "simulated (95 %)",
        "wanted: 500 ms",
    ]
    assert step.get_xdata()[:-1].tolist() == prices
    assert step.get_ydata()[:-1].tolist() == pytest.approx(
        [1500 / (1 + place) for place in range(len(prices))]
    )
    assert panel.get_xlabel() == "total price (EUR)"
    # A line never breaks between a number and its unit.
    assert (
        figure.get_suptitle().replace("\u00a0", " ")
        == "ring on gaia: 11 silos\naccess; links raised to 2 Gbps\n359 Mbit"
    )


def test_links_without_prices_are_counted_in_whole_numbers(drawn):
    plot_upgrade(upgrade_table([0.0, 1.0, 2.0], half_width_s=0.0, currency=""), Path("x.png"))
    (panel,) = drawn[0].axes

    assert panel.get_xlabel() == "links raised"
    assert all(re.fullmatch(r"\N{MINUS SIGN}?\d+", label.get_text()) for label in panel.get_xticklabels())
