"""Figures of a study's table: which rows and columns they show, and how they look."""

import itertools
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from test_figures import labels_collide, legend_is_outside

from scenarios.report.column_labels import column_axis, value_text, words_of
from scenarios.report.study_lines import OverlayLine, _besides, keys_besides, study_lines
from scenarios.report.study_plot import _marked, plot_study
from scenarios.runfile.study_table import read_study
from topologies import DESIGNERS, RANDOM_DESIGNERS, InputError

KINDS = [*DESIGNERS, *RANDOM_DESIGNERS]
MINE = ["mine", "MATCHA, a budget of one tenth of all arcs", "_hidden $x_1$"]
ACCESS = (1e8, 1e9, 1e10)


def study(
    *, overlays: Iterable[str] = ("star", "ring"), simulated: bool = True, **grid: Iterable[object]
) -> pandas.DataFrame:
    """A table as `silosim study` writes it: a row for each overlay at each point of a grid."""
    rows = []
    for place, (overlay, *values) in enumerate(itertools.product(overlays, *grid.values())):
        varied = dict(zip(grid, values, strict=True))
        access_bps = varied.get("access_bps", 1e9)
        paper_s = (1 + list(overlays).index(overlay)) * 1e8 / access_bps
        inputs = {
            **varied,
            "network": "gaia",
            "silos": 11,
            "access_up_bps": access_bps,
            "access_down_bps": access_bps,
            "core_bps": 1e9,
            "model_bits": 38.624e6,
            "compute_s": 0.0046,
            "local_steps": varied.get("local_steps", 1),
            "seed": varied.get("seed", 0),
            "overlay": overlay,
            "kind": overlay,
            "options": None,
        }
        simulation = {
            "sharing": "maxmin",
            "queueing": "fifo",
            "simulated_s": 2 * paper_s,
            "simulated_half_width_s": 0.0,
        }
        results = {"arcs": 11, "paper_s": paper_s, "spectral_gap": 0.1, "hub": None}
        ends = {"error": None, "point": str(place // len(list(overlays)))}
        rows.append(inputs | results | (simulation if simulated else {}) | ends)
    return pandas.DataFrame(rows)


def draw(table: pandas.DataFrame, tmp_path: Path, **options: object) -> tuple[str, ...]:
    return plot_study(table, tmp_path / "x.png", force=False, **options)  # type: ignore[arg-type]


# Which columns


def test_the_first_key_with_numbers_goes_to_the_right_and_the_simulation_up():
    table = study(overlays_best_rule=["a"], access_bps=ACCESS)
    found = study_lines(table)

    assert (found.x, found.y, found.is_joined) == ("access_bps", "simulated_s", True)
    (panel,) = found.panels
    assert [line.overlay for line in panel.lines] == ["star", "ring"]
    assert panel.lines[1].x.tolist() == list(ACCESS)
    assert panel.lines[1].y.tolist() == [4.0, 0.4, 0.04]
    assert panel.lines[1].paper.tolist() == [2.0, 0.2, 0.02]
    without = study_lines(study(simulated=False, access_bps=ACCESS))
    assert without.y == "paper_s"
    assert without.panels[0].lines[0].paper is None


def test_what_follows_from_a_key_is_no_key_of_its_own():
    table = study(access_bps=ACCESS)
    for x in ("access_bps", "access_up_bps", "access_down_bps"):
        assert len(study_lines(table, x=x).panels) == 1
    table["access_down_bps"] = 1e9
    assert study_lines(table).title.startswith("gaia: 11 silos, downlinks 1 Gbps, core 1 Gbps")
    table = pandas.concat([table, table.assign(access_down_bps=5e8)])
    assert [panel.title for panel in study_lines(table).panels] == [
        "downlink capacity: 500 Mbps",
        "downlink capacity: 1 Gbps",
    ]


def test_the_title_says_between_which_values_silos_differ():
    ranges = '{"access_up_bps": [1e6, 1e10], "access_down_bps": [1e6, 1e10], "compute_s": [0.0046, 1.0]}'
    table = study(local_steps=[1, 5]).assign(access_up_bps=np.nan, access_down_bps=np.nan, compute_s=np.nan)
    table.insert(list(table.columns).index("seed"), "ranges", ranges)

    assert study_lines(table).title == (
        "gaia: 11 silos, access 1 Mbps to 10 Gbps, core 1 Gbps, model 38.62 Mbit, 4.6 ms to 1 s a local step, "
        "simulated with maxmin and fifo"
    )
    varied = table.assign(ranges=[ranges, None] * 2)
    assert "access" not in study_lines(varied).title
    # What is alike in all rows is named beside what is not.
    partly = table.assign(ranges=[ranges, ranges.replace("1e10", "1e9")] * 2)
    assert study_lines(partly).title == (
        "gaia: 11 silos, core 1 Gbps, model 38.62 Mbit, 4.6 ms to 1 s a local step, simulated with maxmin and fifo"
    )


@pytest.mark.parametrize("y", ["time_to_target_s", "rounds_to_target", "speedup"])
def test_the_title_names_the_target_of_times_to_it(y):
    table = study(access_bps=ACCESS).assign(target_accuracy=0.75, **{y: 3.0})

    assert "to a test accuracy of 0.75" in study_lines(table, y=y).title
    assert "accuracy" not in study_lines(table).title
    assert study_lines(table, y=y, where={"access_bps": [1e9]}).title.startswith(
        "gaia: 11 silos, access 1 Gbps,"
    )
    assert "to the last recorded round" in study_lines(table.assign(target_accuracy=np.nan), y=y).title
    several = table.assign(target_accuracy=[0.75, 0.75, 0.8] * 2)
    assert "accuracy" not in study_lines(several, y=y).title


def test_a_target_that_varies_is_named_once():
    table = study(target_accuracy=[0.7, 0.8], access_bps=ACCESS).assign(time_to_target_s=3.0)
    found = study_lines(table, y="time_to_target_s", where={"target_accuracy": [0.8]})

    assert found.title.count("accuracy") == 1
    assert "target accuracy 0.8" in found.title


def test_one_further_key_makes_panels_and_two_are_an_error():
    two = study(access_bps=ACCESS, local_steps=[1, 5], overlays_matcha_budget=[0.5, 0.2])
    with pytest.raises(InputError) as caught:
        study_lines(two)
    assert str(caught.value) == (
        "local_steps (1, 5) and overlays_matcha_budget (0.2, 0.5) vary beside access_bps: draw a panel for each value "
        "of one with --facet COLUMN, and choose a value of each other one with --where COLUMN=VALUE."
    )
    with pytest.raises(
        InputError,
        match=r"^local_steps \(1, 5\) varies beside access_bps and overlays_matcha_budget: choose a value of it with",
    ):
        study_lines(two, facet="overlays_matcha_budget")

    found = study_lines(two, where={"local_steps": [5]})
    assert [panel.title for panel in found.panels] == ["matcha budget: 0.2", "matcha budget: 0.5"]
    assert "5 local steps" in found.title
    found = study_lines(two, facet="local_steps", where={"overlays_matcha_budget": ["0.2"]})
    assert [panel.title for panel in found.panels] == ["local steps per round: 1", "local steps per round: 5"]
    assert "matcha budget 0.2" in found.title


def test_seven_panels_are_drawn_only_where_they_are_asked_for():
    table = study(access_bps=ACCESS, local_steps=range(1, 8))
    with pytest.raises(
        InputError, match=r"\(1, 2, 3, 4, 5, 6, \.\.\.\) varies beside access_bps: draw a panel for each"
    ):
        study_lines(table)
    assert len(study_lines(table, facet="local_steps").panels) == 7
    six = study(access_bps=ACCESS, local_steps=range(1, 7))
    assert [panel.title for panel in study_lines(six).panels] == [
        f"local steps per round: {steps}" for steps in range(1, 7)
    ]
    most = study(access_bps=ACCESS, local_steps=range(1, 37))
    assert len(study_lines(most, facet="local_steps").panels) == 36
    many = study(access_bps=ACCESS, local_steps=range(1, 38))
    with pytest.raises(InputError, match=r"facet\(='local_steps'\) must have <= 36 values, has 37"):
        study_lines(many, facet="local_steps")


def test_texts_have_places_in_the_order_of_the_table():
    table = study(underlay=["geant", "gaia"])
    table["network"] = table["underlay"]
    found = study_lines(table)

    assert (found.x, found.categories, found.is_joined) == ("underlay", ["geant", "gaia"], False)
    assert [line.x.tolist() for line in found.panels[0].lines] == [[0.0, 1.0]] * 2


def test_without_a_key_that_varies_overlays_stand_side_by_side():
    found = study_lines(study(overlays=KINDS, seed=[0, 1]))

    assert (found.x, found.categories) == ("overlay", KINDS)
    assert [line.x.tolist() for line in found.panels[0].lines] == [
        [float(place)] for place in range(len(KINDS))
    ]


def test_a_result_to_the_right_makes_curves_along_the_first_key():
    table = study(overlays=["ring"], overlays_ring_budget=[0.1, 0.5, 0.9])
    table["spectral_gap"], table["simulated_s"] = [0.3, 0.1, 0.2], [3.0, 2.0, 4.0]
    found = study_lines(table, x="spectral_gap")

    assert found.is_curve
    (line,) = found.panels[0].lines
    assert (line.x.tolist(), line.y.tolist()) == ([0.3, 0.1, 0.2], [3.0, 2.0, 4.0])
    assert "along the lines: ring budget" in found.title


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"x": "acces_bps"},
            r"x\(='acces_bps'\) must be one of 23 names; did you mean 'access_bps'\? Among them are access_bps,",
        ),
        ({"y": "paper"}, r"y\(='paper'\) must be .*; did you mean 'paper_s'\?"),
        ({"facet": "steps"}, r"facet\(='steps'\) must be .* 'local_steps'"),
        ({"where": {"step": [1]}}, r"where\(='step'\) must be "),
        (
            {"where": {"access_bps": ["3 Gbps"]}},
            "'access_bps=3 Gbps'.* is in no row; access_bps is 100 Mbps, 1 Gbps",
        ),
        ({"where": {"access_bps": ["3 Gps"]}}, r"where\(='access_bps=3 Gps'\) has the unit 'Gps'"),
        ({"where": {"local_steps": ["many"]}}, r"where\(='local_steps=many'\) must be a number"),
        ({"y": "kind"}, r"y\(='kind'\) must be a column of numbers"),
        ({"y": "hub"}, r"y\(='hub'\) has no value in any row"),
        ({"x": "hub"}, r"x\(='hub'\) has no finite value in any row"),
        ({"x": "paper_s", "y": "paper_s"}, r"y\(='paper_s'\) must differ from x"),
        ({"facet": "access_bps", "x": "access_bps"}, r"facet\(='access_bps'\) must differ from x and y"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(options, message):
    with pytest.raises(InputError, match=message) as caught:
        study_lines(study(access_bps=ACCESS), **options)
    assert "\n" not in str(caught.value)


def test_where_takes_units_numbers_texts_and_missing_values():
    table = study(access_bps=ACCESS, core=["stated", None], is_far=[True, False])
    assert (
        study_lines(table, where={"access_bps": ["1 Gbps"], "core": ["stated"], "is_far": ["true"]}).x
        == "overlay"
    )
    found = study_lines(table, where={"access_bps": ["0.1 Gbps", 1e10], "core": [""], "is_far": [False]})
    assert found.panels[0].lines[0].x.tolist() == [1e8, 1e10]
    assert [
        line.overlay
        for line in study_lines(table, where={"overlay": ["ring"], "core": ["stated"], "is_far": [True]})
        .panels[0]
        .lines
    ] == ["ring"]


# Which values


def test_seeds_are_a_mean_between_the_lowest_and_the_highest():
    table = study(overlays=["matcha"], access_bps=[1e8, 1e9], seed=[0, 1, 2])
    table["simulated_s"] = [1.0, 6.0, 2.0, 5.0, 5.0, 5.0]
    found = study_lines(table)
    (line,) = found.panels[0].lines

    assert (found.spread, found.seeds) == ("seeds", "3 seeds")
    assert (line.y.tolist(), line.low.tolist(), line.high.tolist()) == ([3.0, 5.0], [1.0, 5.0], [6.0, 5.0])
    assert study_lines(table[1:]).seeds == "2 to 3 seeds"
    assert study_lines(table, x="seed", where={"access_bps": [1e8]}).panels[0].lines[0].y.tolist() == [
        1.0,
        6.0,
        2.0,
    ]


@pytest.mark.slow
@settings(max_examples=8)
@given(values=st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=12), seed=st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(values, seed):
    table = study(overlays=["matcha"], access_bps=[1e9, 1e8], seed=range(len(values)))
    table["simulated_s"] = [*values, *reversed(values)]
    shuffled = table.iloc[np.random.default_rng(seed).permutation(len(table))]
    one, other = (study_lines(rows).panels[0].lines[0] for rows in (table, shuffled))

    for line in (one, other):
        assert line.x.tolist() == [1e8, 1e9]
        assert line.low.tolist() == [min(values)] * 2
        assert line.high.tolist() == [max(values)] * 2
        assert line.y == pytest.approx(np.mean(values), rel=1e-12)


def test_a_point_without_a_value_of_each_seed_is_left_out():
    table = study(overlays=["ring"], access_bps=ACCESS, seed=[0, 1])
    table["time_to_target_s"] = [10.0, 12.0, 8.0, None, None, None]
    found = study_lines(table, y="time_to_target_s")
    (line,) = found.panels[0].lines

    assert line.y[0] == 11.0
    assert np.isnan(line.y[1:]).all()
    assert found.notes == [
        "left out: 3 rows that did not reach the target.",
        "left out: 1 point of which some seeds have no time_to_target_s.",
    ]
    table["time_to_target_s"] = [10.0, None] * 3
    with pytest.raises(InputError, match="has no point with a value of every seed"):
        study_lines(table, y="time_to_target_s")


def test_points_with_an_error_are_counted_and_break_lines():
    table = study(overlays=["star", "ring"], access_bps=[1e8, 1e9, 2e9])
    is_failed = table["access_bps"] == 1e9
    failed = table[is_failed][:1].assign(overlay=None, simulated_s=np.nan, error="has no hub")
    found = study_lines(pandas.concat([table[~is_failed], failed]))

    assert found.notes == ["left out: 1 row with an error."]
    for line in found.panels[0].lines:
        assert np.isnan(line.y).tolist() == [False, True, False]
    with pytest.raises(InputError, match="has no row without an error"):
        study_lines(table.assign(error="has no hub"))


def with_errors(table: pandas.DataFrame, *failed: dict[str, object]) -> pandas.DataFrame:
    """The table with rows of errors in place of those at some places, with the keys that vary and the overlay alone."""
    rows = [table]
    for place in failed:
        there = np.logical_and.reduce([rows[0][column] == value for column, value in place.items()])
        rows[0] = rows[0][~there]
        rows.append(pandas.DataFrame([{"error": "has no hub", "point": "e", **place}]))
    return pandas.concat(rows, ignore_index=True)[table.columns]


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("x", ["access_bps", "access_up_bps"])
def test_a_point_one_of_whose_seeds_is_an_error_is_left_out(tmp_path, x, is_read):
    # Of the seeds 0 and 1, the quick one is left.
    table = study(overlays=["star", "ring"], access_bps=ACCESS, seed=[0, 1])
    table["simulated_s"] *= 1 + table["seed"]
    failed = with_errors(table, {"access_bps": 1e9, "seed": 1})
    if is_read:
        failed.to_csv(tmp_path / "s.csv", index=False)
        failed = read_study(tmp_path / "s.csv")
    found = study_lines(failed, x=x)

    assert (found.seeds, found.spread) == ("2 seeds", "seeds")
    assert found.notes == [
        "left out: 1 row with an error.",
        "left out: 2 points of which some seeds have an error.",
    ]
    for line, star in zip(found.panels[0].lines, (1, 2), strict=True):
        assert line.x.tolist()[::2] == [1e8, 1e10]
        assert line.y[::2] == pytest.approx([3 * star, 0.03 * star])
        assert np.isnan([line.y[1], line.low[1], line.high[1], line.paper[1]]).all()


def test_an_error_of_one_overlay_leaves_the_others():
    table = study(overlays=["star", "ring"], access_bps=ACCESS, seed=[0, 1])
    star, ring = (
        study_lines(with_errors(table, {"overlay": "ring", "access_bps": 1e9, "seed": 1})).panels[0].lines
    )

    assert np.isfinite(star.y).all()
    assert np.isnan(ring.y).tolist() == [False, True, False]


def test_an_error_at_another_value_of_a_key_leaves_a_point():
    table = study(overlays=["ring"], core=["stated", None], access_bps=ACCESS, seed=[0, 1])
    failed = with_errors(table, {"core": "stated", "access_bps": 1e9, "seed": 1})
    stated, without = study_lines(failed, facet="core").panels

    assert np.isnan(stated.lines[0].y).tolist() == [False, True, False]
    assert np.isfinite(without.lines[0].y).all()
    with pytest.raises(InputError, match="has no point with a value of every seed"):
        study_lines(with_errors(study(seed=[0, 1, 2]), {"seed": 2}))


def test_rows_without_a_place_are_counted():
    table = study(access_bps=[1e8, 1e9, np.inf])
    found = study_lines(table)

    assert found.notes == ["left out: 2 rows without a finite access_bps."]
    assert found.panels[0].lines[0].x.tolist() == [1e8, 1e9]


def test_rows_that_differ_in_nothing_that_is_known_are_no_seeds():
    table = study(overlays=["ring"], access_bps=[1e8, 1e9])
    assert study_lines(pandas.concat([table, table])).spread is None
    with pytest.raises(
        InputError,
        match=r"^has 2 rows of the same inputs: overlay ring, access_bps 100 Mbps; they differ in simulated_s\.$",
    ):
        study_lines(pandas.concat([table, table.assign(simulated_s=1.0)]))
    with pytest.raises(InputError, match=r"access_bps 100 Mbps; they repeat\.$"):
        study_lines(pandas.concat([table, table.assign(point="again")]))


def test_a_mean_is_over_seeds_and_nothing_else():
    # What varies is not in the table: two times for each seed.
    table = study(overlays=["ring"], access_bps=[1e8, 1e9], seed=[0, 1])
    hidden = pandas.concat([table, table.assign(paper_s=table["paper_s"] * 3, simulated_s=9.0)])
    with pytest.raises(
        InputError,
        match=r"has 2 rows of the same inputs: overlay ring, access_bps 100 Mbps, seed 0; they differ in paper_s, "
        r"simulated_s\.$",
    ):
        study_lines(hidden)
    # A second seed tells them apart.
    hidden["network_seed"] = np.repeat([0, 1], 4)
    hidden = hidden[["network_seed", *table.columns]]
    assert study_lines(hidden).seeds == "4 seeds"


def test_one_seed_has_its_interval():
    table = study(overlays=["mst"], access_bps=[1e8, 1e9])
    table["simulated_half_width_s"] = [0.5, None]
    found = study_lines(table)
    (line,) = found.panels[0].lines

    assert found.spread == "interval"
    assert (line.low.tolist(), line.high.tolist()) == ([1.5, 0.2], [2.5, 0.2])
    # Rounding errors are no uncertainty.
    assert study_lines(table.assign(simulated_half_width_s=1e-12)).spread is None


# Words and units


def test_names_of_columns_in_words():
    names = (
        "access_bps",
        "time_to_target_s",
        "rounds_to_target",
        "overlays_matcha_budget",
        "model_size_bits",
        "silos",
    )
    assert [words_of(name) for name in names] == [
        *("access capacity", "time to target", "rounds to target", "matcha budget", "model size", "silos")
    ]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("access_bps", 1e9, "1 Gbps"),
        ("model_bits", 38.624e6, "38.62 Mbit"),
        ("compute_s", 0.0046, "4.6 ms"),
        ("time_to_target_s", 7200.0, "2 h"),
        ("over_paper", 0.125, "12.5 %"),
        ("local_steps", np.int64(5), "5"),
        ("network", "gaia", "gaia"),
        ("core", float("nan"), "none"),
    ],
)
def test_values_with_their_units(column, value, text):
    assert value_text(column, value) == text


@pytest.mark.parametrize(
    ("column", "low", "high", "is_log", "label", "shown"),
    [
        ("access_bps", 1e8, 1e9, False, "access capacity", "1 Gbps"),
        ("model_bits", 1e7, 3.59e8, False, "model size", "359 Mbit"),
        ("simulated_s", 0.1, 5.0, False, "cycle time (ms)", "5000"),
        ("simulated_s", 0.1, 26.0, True, "cycle time (s)", "26"),
        ("simulated_s", 0.9, 720.0, True, "cycle time (s)", "720"),
        ("simulated_s", 0.9, 720.0, False, "cycle time (min)", "12"),
        ("time_to_target_s", 600.0, 36000.0, True, "time to target (h)", "10"),
        ("time_to_target_s", 6e5, 8.64e5, False, "time to target (days)", "10"),
        ("over_paper", 0.0, 0.5, False, "simulated over paper (%)", "50"),
        ("spectral_gap", 0.1, 0.3, False, "spectral gap", "0.3"),
    ],
)
def test_an_axis_has_its_unit_once(column, low, high, is_log, label, shown):
    axis = column_axis(column, low, high, is_log=is_log)

    assert axis.label == label
    assert axis.show(axis.factor * high) == shown


# How it looks


@pytest.mark.parametrize("overlays", [["ring"], KINDS[:5], [*KINDS, *MINE]], ids=len)
@pytest.mark.parametrize("access", [ACCESS[:1], ACCESS, tuple(np.geomspace(1e6, 1e10, 40))], ids=len)
def test_overlays_look_different_and_the_legend_is_outside(drawn, tmp_path, overlays, access):
    table = study(overlays=overlays, access_bps=access)
    draw(table, tmp_path, x="access_bps")
    (figure,) = drawn
    (panel,) = figure.axes
    simulated, paper = panel.lines[::2], panel.lines[1::2]
    looks = {(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in simulated}

    assert len(looks) == len(overlays) == len(simulated)
    assert [line.get_color() for line in paper] == [line.get_color() for line in simulated]
    assert {line.get_marker() for line in paper} == ({"_"} if len(access) == 1 else {"None"})
    assert max(line.get_linewidth() for line in paper) < min(line.get_linewidth() for line in simulated)
    texts = [text.get_text().replace("\n", " ") for text in figure.legends[0].texts]
    assert texts == [*overlays, "dash: paper" if len(access) == 1 else "thin: paper"]
    assert legend_is_outside(figure)
    assert not labels_collide(panel)
    assert all(label.get_text().endswith("bps") for label in panel.get_xticklabels())


# Of two columns and of three with an incomplete row; others are more of the same, and slower.
@pytest.mark.parametrize(
    "count", [4, 5, *(pytest.param(count, marks=pytest.mark.slow) for count in (2, 6, 7))]
)
def test_panels_share_their_axes(drawn, tmp_path, count):
    table = study(
        overlays=[*KINDS, *MINE], access_bps=(3e7, *ACCESS), local_steps=range(1, count + 1), seed=[0, 1]
    )
    draw(table, tmp_path, facet="local_steps")
    (figure,) = drawn
    panels = figure.axes

    assert [panel.get_title() for panel in panels] == [
        f"local steps per round: {k}" for k in range(1, count + 1)
    ]
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in panels}) == 1
    assert legend_is_outside(figure)
    assert not any(map(labels_collide, panels))
    ticks = [
        label.get_window_extent()
        for panel in panels
        for label in panel.get_xticklabels()
        if label.get_visible() and panel.xaxis.get_tick_params()["labelbottom"]
    ]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(ticks, 2))
    columns = 2 if count in (2, 4) else 3
    assert [bool(panel.get_xlabel()) for panel in panels] == [k + columns >= count for k in range(count)]


def test_an_axis_is_logarithmic_where_values_span_more_than_a_decade(tmp_path, monkeypatch):
    drawn: list[Figure] = []
    # Not laid out, on which scales do not depend.
    monkeypatch.setattr("scenarios.report.study_plot.save_figure", lambda figure, _path: drawn.append(figure))
    decade, more = study(access_bps=[1e8, 1e9]), study(access_bps=[1e8, 1.1e9])
    draw(decade, tmp_path, y="spectral_gap")
    draw(more, tmp_path, y="spectral_gap")
    draw(decade, tmp_path, log_x=True, log_y=False)
    draw(more, tmp_path, log_x=False, log_y=True)
    draw(study(local_steps=[0, 100]), tmp_path)
    scales = [(figure.axes[0].get_xscale(), figure.axes[0].get_yscale()) for figure in drawn]

    assert scales == [
        *(("linear", "linear"), ("log", "linear"), ("log", "linear"), ("linear", "log"), ("linear", "linear"))
    ]
    with pytest.raises(
        InputError, match=r"log_x\(=True\) goes with values > 0; the least local_steps is 0\."
    ):
        draw(study(local_steps=[0, 100]), tmp_path, log_x=True)
    with pytest.raises(InputError, match=r"log_x\(=True\) goes with numbers, not with the texts of overlay"):
        draw(study(), tmp_path, log_x=True)


def test_a_bar_that_reaches_below_zero_does_not_change_the_scale(drawn, tmp_path):
    table = study(overlays=["mst"], access_bps=ACCESS)
    draw(table.assign(simulated_half_width_s=1.0), tmp_path)
    (panel,) = drawn[0].axes

    assert panel.get_yscale() == "log"
    assert 0 < panel.get_ylim()[0] < 10  # ms, the paper's least


def test_bands_and_bars_are_named_with_the_number_of_seeds(drawn, tmp_path):
    table = study(overlays=["matcha"], access_bps=ACCESS, seed=[0, 1, 2])
    table["simulated_s"] *= 1 + 0.1 * table["seed"]
    draw(table, tmp_path)
    draw(table, tmp_path, where={"access_bps": [1e9]})
    draw(table.assign(simulated_half_width_s=0.01), tmp_path, where={"seed": [0]})
    texts = [[text.get_text().replace("\n", " ") for text in figure.legends[0].texts] for figure in drawn]

    assert texts == [
        ["matcha", "thin: paper", "mean of 3 seeds; band: lowest to highest"],
        ["dash: paper", "mean of 3 seeds; bar: lowest to highest"],
        ["matcha", "thin: paper", "bar: 95 % interval"],
    ]
    band = drawn[0].axes[0].collections[0].get_paths()[0].vertices
    at_first = band[band[:, 0] == 1e8][:, 1]
    assert (at_first.min(), at_first.max()) == pytest.approx((2000.0, 2400.0))


def test_points_that_are_missing_break_the_line_and_stay_marked(drawn, tmp_path):
    table = study(overlays=["ring"], access_bps=np.geomspace(1e8, 1e9, 50))
    table.loc[[20, 22, 40], "simulated_s"] = None
    assert draw(table, tmp_path) == ("left out: 3 rows without simulated_s.",)
    line = drawn[0].axes[0].lines[0]

    assert np.flatnonzero(np.isnan(line.get_ydata())).tolist() == [20, 22, 40]
    assert 21 in line.get_markevery()
    assert len(line.get_markevery()) < 15


def test_a_text_has_the_overlays_side_by_side(drawn, tmp_path):
    table = study(
        overlays=[*KINDS, *MINE], underlay=["gaia", "geant", "a network with quite a long name, $x$"]
    )
    draw(table, tmp_path)
    (figure,) = drawn
    (panel,) = figure.axes
    places = np.array([line.get_xdata() for line in panel.lines[::2]])

    assert len(np.unique(places)) == 3 * (len(KINDS) + len(MINE))
    assert (np.abs(places - [0, 1, 2]) < 0.5).all()
    assert {line.get_linestyle() for line in panel.lines} == {"None"}
    assert [label.get_text() for label in panel.get_xticklabels()][:2] == ["gaia", "geant"]
    assert legend_is_outside(figure)


def test_nothing_is_blown_up_that_is_equal(drawn, tmp_path):
    table = study(overlays=["ring"], access_bps=ACCESS).assign(simulated_s=0.2, paper_s=0.2 * (1 + 1e-12))
    draw(table, tmp_path)
    low, high = drawn[0].axes[0].get_ylim()

    assert (low, high) == pytest.approx((196.0, 204.0))


# Files


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["pdf", "svg", "png", pytest.param("SVG", marks=pytest.mark.slow)])
def test_a_table_gives_the_same_bytes(tmp_path, ending):
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        plot_study(study(access_bps=ACCESS[:2]), path, force=False)

    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == paths


def test_no_file_is_replaced_unasked(tmp_path):
    table, paths = study(access_bps=ACCESS), [tmp_path / f"{name}.svg" for name in "ab"]
    plot_study(table, paths[0], force=False)
    shutil.copy(*paths)
    with pytest.raises(InputError, match="exists already; --force replaces it"):
        plot_study(table, paths[0], force=False)
    plot_study(table, paths[0], y="arcs", force=True)
    assert paths[0].read_bytes() != paths[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == paths


def test_a_study_that_is_not_finished_is_drawn_as_far_as_it_is(silosim, tmp_path):
    text = study(access_bps=ACCESS).to_csv(index=False)
    (tmp_path / "s.csv.partial").write_text(text[: len(text) - 20])
    result = silosim("plot", tmp_path / "s.csv.partial").ok()

    assert "is of a study that is not finished: 3 points so far." in " ".join(result.err.split())
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    assert len(read_study(tmp_path / "s.csv.partial")) == 5


HEAD = ",".join(study(access_bps=ACCESS).columns) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("s.csv", HEAD, "has no rows, so nothing can be drawn."),
        ("s.csv.partial", HEAD, "has no finished point yet, so nothing can be drawn."),
        ("s.csv.partial", "", "has no finished point yet, so nothing can be read."),
        ("s.csv.partial", HEAD[:-9], "has no finished point yet, so nothing can be read."),
        ("s.csv", "", "is not the table of a study."),
        *(
            (
                name,
                text,
                "must be the HDF5 file of a run (.h5 or .hdf5) or the table of a study (.csv or .parquet).",
            )
            for name, text in (
                ("sweep.json", '{"rows": []}'),
                ("sweep.txt", "a table"),
                ("run.h5", "no HDF5"),
            )
        ),
    ],
)
def test_a_file_without_anything_to_draw_is_one_line(silosim, tmp_path, name, text, rule):
    (tmp_path / name).write_text(text)
    result = silosim("plot", tmp_path / name).failed(2)

    assert result.err == f"silosim: error: {tmp_path / name}: {rule}\n"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("count", [2**63, 10**21])
@pytest.mark.parametrize("missing", [False, True])
def test_integers_of_more_than_64_bits_are_read_as_numbers(tmp_path, count, missing):
    text = study(overlays=["ring"], access_bps=[1e8, 1e9]).to_csv(index=False)
    lines = text.replace("gaia,11,", f"gaia,{count},").splitlines(keepends=True)
    if missing:
        lines[2] = lines[2].replace(f"gaia,{count},", "gaia,,")
    (tmp_path / "s.csv").write_text("".join(lines))
    silos = read_study(tmp_path / "s.csv")["silos"]

    assert silos.dtype == "float64"
    assert silos[0] == float(count)
    assert silos.isna().tolist() == [False, missing]


def test_the_command_has_columns_values_and_scales(silosim, tmp_path):
    study(access_bps=ACCESS, local_steps=[1, 5]).to_csv(tmp_path / "s.csv", index=False)
    command = ("plot", tmp_path / "s.csv", "-o", tmp_path / "figure-1.5")
    result = silosim(
        *command, "-x", "local_steps", "--where", "access_bps=100 Mbps", "--where", "access_bps=1Gbps"
    )

    assert result.ok().err == f"written: {tmp_path / 'figure-1.5.png'}\n"
    assert (tmp_path / "figure-1.5.png").is_file()
    for options, message in (
        (("-x", "acces_bps"), f"{tmp_path / 's.csv'}: x(='acces_bps') must be one of"),
        (("--where", "overlay"), "where(='overlay') must be COLUMN=VALUE"),
        (("--log-y", "-y", "simulated_half_width_s"), "log_y(=True) goes with values > 0"),
        (("-o", tmp_path / "s.csv"), "must be given once"),
    ):
        failed = silosim(*command, *options, "--force").failed(2)
        assert message in failed.err
        assert failed.err.count("\n") == 1
    assert (
        silosim("plot", tmp_path / "s.csv", "-o", tmp_path / "s.csv", "--force")
        .failed(2)
        .err.endswith("must end in .png or .svg or .pdf.\n")
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure-1.5.png", "s.csv"]


def test_a_run_has_no_columns_to_choose(silosim, run_file):
    result = silosim("plot", run_file, "-x", "round").failed(2)

    assert result.err == "silosim: error: x(='round') goes with the table of a study (.csv or .parquet).\n"


def test_of_a_long_line_some_points_and_all_that_stand_alone_are_marked():
    def marked(y):
        y = np.array(y, dtype=float)
        line = OverlayLine(
            overlay="ring",
            x=np.arange(float(len(y))),
            y=y,
            low=y,
            high=y,
            paper=None,
            below=np.zeros(len(y), bool),
        )
        return _marked(line)

    nan = np.nan
    assert marked([1, 2, nan, 4]) == [0, 1, 3]
    assert marked([1]) == [0]
    long = [1.0] * 100
    some = marked(long)
    assert some[0] == 0
    assert 10 < len(some) < 60
    assert len(set(np.diff(some))) == 1
    gaps = [nan if place in (0, 6, 8, 98) else 1.0 for place in range(100)]
    assert {7, 99} <= set(marked(gaps))
    assert set(marked(gaps)) <= {*some, 7, 99}
    assert [len(marked([1.0] * points)) for points in (12, 13)] == [12, 7]
    # Every third of 26 is marked anyway, the last one not.
    for place in (0, 1, 24, 25):
        assert marked([1.0 if each == place else nan for each in range(26)]) == [place]


def test_keys_that_vary_among_the_points_without_an_error():
    table = pandas.DataFrame(
        {
            "network.access": [1e9, 2e9, 1e9, 2e9],
            "workload.local_steps": [1, 1, 5, 5],
            "point": [0, 1, 2, 3],
            "network": "gaia",
            "overlay": "ring",
            "paper_s": [1.0, 2.0, np.nan, np.nan],
        }
    )
    assert keys_besides(table) == ["workload.local_steps"]
    assert keys_besides(table.assign(error=[None, None, "broken", "broken"])) == []


def test_rows_that_repeat_where_a_key_is_missing_are_named():
    table = study(access_bps=(1e8, 1e9), choice=[None, "b"], overlays=("star",))
    again = table[table["choice"].isna()].assign(simulated_s=9.0)
    with pytest.raises(
        InputError, match=r"^has 2 rows of the same inputs: overlay star, access_bps 100 Mbps,"
    ):
        study_lines(pandas.concat([table, again]), x="access_bps", facet="choice")


@pytest.mark.parametrize(
    ("rows", "besides"),
    [
        ([("ring", 1, 2), ("ring", 1, 3)], ["local_steps"]),
        ([("ring", 1, 2), ("star", 1, 3)], []),
        ([("ring", 1, 2), ("ring", 2, 3)], []),
        ([("ring", None, 2), ("ring", None, 3)], ["local_steps"]),
        ([(None, 1, 2), (None, 1, 3)], ["local_steps"]),
        ([("ring", 1, 2), ("ring", 1, None)], ["local_steps"]),
        ([("ring", 1, None), ("ring", 2, 2)], []),
    ],
)
def test_inputs_vary_beside_the_keys_where_one_place_has_several_of_their_values(rows, besides):
    table = pandas.DataFrame(
        [
            {"access_bps": key, "local_steps": input_, "overlay": kind, "paper_s": 1.0}
            for kind, key, input_ in rows
        ]
    )
    assert _besides(table, ["access_bps"]) == besides
