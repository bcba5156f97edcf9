"""Which columns, points and words a figure of a study's table has, at the edges of its rules."""

import numpy as np
import pandas
import pytest
from test_study_plot import ACCESS, study, with_errors

from scenarios.report.study_lines import (
    _beside_error,
    _equal,
    _first_key,
    _is_varied,
    _ordered,
    _title,
    _values_text,
    keys_besides,
    study_lines,
)
from topologies import InputError


def lines_of(table, **options):
    (panel,) = study_lines(table, **options).panels
    return panel.lines


# Which columns


def test_a_table_without_overlays_is_none_of_a_study():
    with pytest.raises(InputError, match=r"^table is not the table of a study: it has no column overlay\.$"):
        study_lines(study(access_bps=ACCESS).drop(columns="overlay"))


def test_a_table_without_rows_or_without_any_but_errors_has_nothing_to_draw():
    table = study(access_bps=ACCESS)
    with pytest.raises(InputError, match=r"^has no row to draw\.$"):
        study_lines(table[:0])
    with pytest.raises(InputError, match=r"^has no row without an error\.$"):
        study_lines(table.assign(overlay=None))
    assert keys_besides(table[:0]) == []


@pytest.mark.parametrize(
    ("simulated_s", "y"), [(np.nan, "paper_s"), ([1.0, *[np.nan] * 5], "simulated_s"), (2.0, "simulated_s")]
)
def test_the_paper_goes_up_where_nothing_was_simulated(simulated_s, y):
    assert study_lines(study(access_bps=ACCESS).assign(simulated_s=simulated_s)).y == y


def test_a_table_without_times_needs_a_column():
    table = study(access_bps=ACCESS, simulated=False).drop(columns="paper_s")
    with pytest.raises(InputError, match=r"^y\(='paper_s'\) must be one of"):
        study_lines(table)
    found = study_lines(table, y="arcs")
    assert (found.y, found.panels[0].lines[0].y.tolist(), found.panels[0].lines[0].paper) == (
        "arcs",
        [11.0] * 3,
        None,
    )


def test_an_input_that_is_no_key_is_to_the_right_where_no_key_varies():
    table = study(overlays=["ring"], seed=[0, 1]).assign(core_bps=[1e9, 1e9])
    assert _first_key(table, None) == "overlay"
    table = pandas.concat([table, table.assign(core_bps=2e9)])
    assert _first_key(table, None) == "core_bps"
    assert _first_key(table, "core_bps") == "overlay"
    assert _first_key(table.drop(columns="silos"), None) == "core_bps"
    # A key comes first, even if it has no numbers; of several keys the first with numbers.
    table.insert(0, "core", ["a", "b"] * 2)
    assert _first_key(table, None) == "core"
    assert _first_key(table, "core") == "core_bps"
    table.insert(1, "model_bits_", [1, 2] * 2)
    assert _first_key(table, None) == "model_bits_"


@pytest.mark.parametrize(
    ("values", "varies"),
    [
        ([0.1, 0.1], False),
        ([0.1, 0.1 * (1 + 5e-10)], False),
        ([0.1, 0.1 * (1 + 2e-9)], True),
        ([0.0, 1e-300], True),
        ([np.nan, np.nan], False),
        ([0.1, np.nan], True),
        ([1, 1], False),
        ([1, 2], True),
        (["a", "a"], False),
        (["a", None], True),
        ([None, None], False),
    ],
)
def test_numbers_that_differ_by_rounding_do_not_vary(values, varies):
    assert _is_varied(pandas.DataFrame({"x": values}), "x") is varies


def test_values_are_in_order_and_the_missing_one_is_last():
    table = pandas.DataFrame({"n": [3.0, np.nan, 1.0, 3.0], "t": ["b", None, "a", "b"]})
    numbers = _ordered(table, "n")
    assert numbers[:2] == [1.0, 3.0]
    assert np.isnan(numbers[2])
    assert _ordered(table, "t")[:2] == ["b", "a"]
    assert _ordered(table[::2], "t") == ["b", "a"]
    assert _values_text(table, "t") == "b, a, none"
    for count, more in ((6, ""), (7, ", ...")):
        some = pandas.DataFrame({"n": range(count)})
        assert _values_text(some, "n") == f"0, 1, 2, 3, 4, 5{more}"


def test_a_result_of_texts_has_a_place_for_each():
    table = study(overlays=["ring"], access_bps=ACCESS).assign(busiest_link=["b", "a", "b"])
    table["simulated_s"] = [1.0, 2.0, 3.0]
    with pytest.raises(InputError, match=r"access_bps .* varies beside busiest_link"):
        study_lines(
            table.assign(access_up_bps=1e9, access_down_bps=1e9), x="busiest_link", facet="local_steps"
        )
    one = study_lines(table[:2], x="busiest_link", where={"access_bps": [1e9]})
    assert (one.categories, one.is_joined, one.is_curve) == (["a"], False, False)


def test_rows_without_a_text_have_no_place():
    table = study(overlays=["ring"], core=["stated", None, "1 Gbps"])
    found = study_lines(table, x="core")
    assert found.categories == ["stated", "1 Gbps"]
    assert found.notes == ["left out: 1 row without a finite core."]


def test_a_curve_leaves_out_what_has_no_place_along_it():
    table = study(overlays=["ring"], access_bps=[1e8, 1e9, np.inf]).assign(spectral_gap=[0.1, 0.2, 0.3])
    found = study_lines(table, x="spectral_gap")
    assert found.notes == ["left out: 1 row without a finite access_bps."]
    assert found.panels[0].lines[0].x.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(("count", "message"), [(5, ""), (6, r"varies beside access_bps: draw a panel")])
def test_a_missing_value_is_one_of_the_six_that_make_panels(count, message):
    table = study(overlays=["ring"], access_bps=ACCESS[:2], step=[*range(count), None])
    if message:
        with pytest.raises(InputError, match=message):
            study_lines(table)
    else:
        titles = [panel.title for panel in study_lines(table).panels]
        assert titles == ["step: 0", "step: 1", "step: 2", "step: 3", "step: 4", "step: none"]
    most = study(overlays=["ring"], access_bps=ACCESS[:2], step=[*range(36), None])
    with pytest.raises(InputError, match=r"facet\(='step'\) must have <= 36 values, has 37; --where"):
        study_lines(most, facet="step")


def test_what_to_do_where_keys_vary_besides():
    table = study(overlays=["ring"], access_bps=ACCESS[:2], a=[1, 2], b=["x", "y"], c=[True, False])
    with pytest.raises(
        InputError,
        match=r"^a \(1, 2\) and b \(x, y\) and c \(True, False\) vary beside access_bps: draw a panel for",
    ):
        study_lines(table, x="access_bps")
    with pytest.raises(
        InputError,
        match=r"^b .* and c .* vary beside access_bps and a: choose a value of each with --where COLUMN=VALUE\.$",
    ):
        study_lines(table, x="access_bps", facet="a")
    seven = study(overlays=["ring"], access_bps=ACCESS[:2], a=range(7))
    with pytest.raises(
        InputError,
        match=r"draw a panel for each value with --facet a, or choose one with --where a=VALUE\.$",
    ):
        study_lines(seven, x="access_bps")


# Which values


def test_only_simulated_times_have_intervals_and_the_paper_beside_them():
    table = study(overlays=["ring"], access_bps=ACCESS).assign(simulated_half_width_s=0.5)
    assert study_lines(table).spread == "interval"
    for y in ("arcs", "paper_s"):
        found = study_lines(table, y=y)
        (line,) = found.panels[0].lines
        assert (found.spread, line.paper) == (None, None)
        assert line.low.tolist() == line.high.tolist() == line.y.tolist()
    assert lines_of(table.drop(columns="paper_s"))[0].paper is None
    assert study_lines(table.drop(columns="simulated_half_width_s")).spread is None


@pytest.mark.parametrize(("half", "spread"), [(0.9e-8, None), (1.1e-8, "interval")])
def test_a_half_width_of_rounding_is_no_interval(half, spread):
    table = study(overlays=["ring"], access_bps=ACCESS)
    table["simulated_half_width_s"] = half * table["simulated_s"]
    assert study_lines(table).spread == spread


def test_where_the_paper_is_below_the_load_of_any_seed_it_is_marked():
    table = study(overlays=["ring"], access_bps=ACCESS, seed=[0, 1])
    assert lines_of(table)[0].below.tolist() == [False] * 3
    table["paper_below_load"] = [False, False, False, True, None, False]
    assert lines_of(table)[0].below.tolist() == [False, True, False]


def test_an_infinite_value_breaks_the_line():
    table = study(overlays=["ring"], access_bps=ACCESS)
    table["simulated_s"] = [1.0, np.inf, 3.0]
    found = study_lines(table)
    assert np.isnan(found.panels[0].lines[0].y).tolist() == [False, True, False]
    assert found.notes == ["left out: 1 row without simulated_s."]


@pytest.mark.parametrize(
    ("y", "why"),
    [
        ("time_to_target_s", "that did not reach the target"),
        ("rounds_to_target", "that did not reach the target"),
        ("speedup", "without speedup"),
    ],
)
def test_values_to_the_target_are_missing_where_it_was_not_reached(y, why):
    table = study(overlays=["ring"], access_bps=ACCESS).assign(**{y: [1.0, None, 2.0]})
    assert study_lines(table, y=y).notes == [f"left out: 1 row {why}."]


def test_points_of_which_some_seeds_are_missing_are_told_from_those_without_any():
    table = study(overlays=["ring"], access_bps=ACCESS, seed=[0, 1])
    table["simulated_s"] = [1.0, None, None, None, 5.0, 7.0]
    found = study_lines(table)
    assert found.notes == [
        "left out: 3 rows without simulated_s.",
        "left out: 1 point of which some seeds have no simulated_s.",
    ]
    (line,) = found.panels[0].lines
    assert np.isnan(line.y).tolist() == np.isnan(line.low).tolist() == [True, True, False]
    assert (line.y[2], line.low[2], line.high[2]) == (6.0, 5.0, 7.0)


def test_errors_at_a_place_without_any_point_are_gaps_of_their_panel():
    table = study(overlays=["ring"], access_bps=ACCESS, local_steps=[1, 5])
    failed = with_errors(table, {"access_bps": 1e9, "local_steps": 5})
    one, five = study_lines(failed, facet="local_steps").panels
    assert one.lines[0].x.tolist() == list(ACCESS)
    assert np.isnan(five.lines[0].y).tolist() == [False, True, False]
    # Where overlays stand side by side, an error has no place among them.
    side = with_errors(study(overlays=["star", "ring"]), {"overlay": "star"})
    assert [line.overlay for line in lines_of(side)] == ["ring"]


# The title


def title_of(table, y="simulated_s"):
    """That of lines along the access capacity, or of overlays where it is fixed."""
    x = _first_key(table, None)
    return _title(table, x=x, y=y, along=x, facet=None)


@pytest.mark.parametrize("y", ["simulated_s", "simulated_half_width_s", "over_paper"])
def test_the_title_says_how_what_is_shown_was_simulated(y):
    table = study(access_bps=ACCESS).assign(over_paper=1.0)
    assert title_of(table, y=y).endswith(", simulated with maxmin and fifo")
    assert "simulated with" not in title_of(table, y="arcs")
    several = table.assign(queueing=["fifo", "overlap"] * 3)
    assert title_of(several, y=y).endswith(", simulated with maxmin")
    partly = table.assign(queueing=["fifo", None] * 3)
    assert title_of(partly, y=y).endswith(", simulated with maxmin")
    assert "simulated" not in title_of(table.drop(columns=["sharing", "queueing"]), y=y)
    # As keys they are inputs, and named once.
    table.insert(0, "sharing_", table.pop("sharing"))
    keyed = table.rename(columns={"sharing_": "sharing"})
    title = title_of(keyed, y=y)
    assert title.count("maxmin") == 1
    assert title.endswith(", simulated with fifo")


def test_inputs_that_are_fixed_are_named_in_one_order_and_once():
    table = study(overlays=["ring"], seed=[0, 1]).assign(silos=1)
    assert title_of(table) == (
        "gaia: 1 silo, access 1 Gbps, core 1 Gbps, model 38.62 Mbit, 4.6 ms a local step, 1 local step, simulated "
        "with maxmin and fifo"
    )
    uneven = table.assign(access_down_bps=5e8, local_steps=5)
    assert title_of(uneven).startswith(
        "gaia: 1 silo, uplinks 1 Gbps, downlinks 500 Mbps, core 1 Gbps, model 38.62 Mbit, 4.6 ms a local step, "
        "5 local steps, "
    )
    # Keys that say the same in other words are not named beside it.
    for key, value in (("access_bps", 1e9), ("model_size_bits", 38.624e6), ("underlay", "gaia")):
        keyed = table.copy()
        keyed.insert(0, key, value)
        assert title_of(keyed) == title_of(table)
    other = table.copy()
    other.insert(0, "overlays_ring_budget", 0.5)
    assert ", ring budget 0.5, " in title_of(other)
    assert title_of(table.drop(columns="network")).startswith("1 silo, access 1 Gbps")
    assert title_of(table.assign(core_bps=np.nan)).startswith("gaia: 1 silo, access 1 Gbps, model")


def test_along_what_a_curve_goes_is_said_unless_it_is_overlays():
    table = study(overlays=["star", "ring"]).assign(spectral_gap=[0.1, 0.2])
    found = study_lines(table, x="spectral_gap")
    assert found.is_curve
    assert "along the lines" not in found.title
    keyed = study(overlays=["ring"], access_bps=ACCESS).assign(spectral_gap=[0.1, 0.2, 0.3])
    assert study_lines(keyed, x="spectral_gap").title.endswith(", along the lines: access capacity")
    assert "along the lines" not in study_lines(keyed).title


# Errors


PLACES = pandas.DataFrame(
    {
        "core": ["a", "a", "b", None, None, "a"],
        "access_bps": [1e8, 1e9, 1e8, 1e8, 1e9, 1e8],
        "network": "gaia",
        "silos": [11, 11, 11, 11, 11, 11],
        "seed": [0, 0, 0, 0, 0, 1],
        "overlay": ["ring", "ring", "ring", "ring", "ring", "star"],
        "paper_s": 1.0,
    }
)


@pytest.mark.parametrize(
    ("error", "found"),
    [
        # Without an overlay it stands for all of them, and for all seeds.
        ({"core": "a", "access_bps": 1e8, "seed": 7}, [0, 5]),
        ({"core": "a", "access_bps": 1e8, "overlay": "star"}, [5]),
        ({"core": "a", "access_bps": 1e8, "overlay": ""}, [0, 5]),
        ({"core": "a", "access_bps": 1e8, "network": "geant"}, []),
        ({"core": "a", "access_bps": 1e8, "silos": 11}, [0, 5]),
        # A key that is missing has that value.
        ({"access_bps": 1e8}, [3]),
        ({"core": "", "access_bps": 1e9}, [4]),
        ({"core": "c", "access_bps": 1e9}, []),
    ],
)
def test_an_error_stands_for_the_points_at_its_keys(error, found):
    errors = pandas.DataFrame([{"paper_s": 2.0, **error}]).reindex(columns=PLACES.columns)
    assert np.flatnonzero(_beside_error(PLACES, errors)).tolist() == found
    assert not _beside_error(PLACES, errors[:0]).any()
    both = pandas.concat(
        [errors, errors.assign(core="b", access_bps=1e8, overlay=None, network=None, silos=None)]
    )
    assert np.flatnonzero(_beside_error(PLACES, both)).tolist() == sorted([*found, 2])


def test_without_a_network_no_column_is_a_key():
    table = PLACES.drop(columns="network")
    errors = pandas.DataFrame([{"access_bps": 1e8}]).reindex(columns=table.columns)
    assert np.flatnonzero(_beside_error(table, errors)).tolist() == [0, 2, 3, 5]


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("t", "a", [0]),
        ("t", "A", []),
        ("t", None, [2]),
        ("t", "", [2]),
        ("b", "True", [0, 2]),
        ("b", False, [1]),
        ("access_bps", "1 Gbps", [0, 2]),
        ("access_bps", 1e9 * (1 + 0.5e-9), [0, 2]),
        ("access_bps", 1e9 * (1 + 2e-9), []),
        ("n", "0", [0]),
        ("n", "", [1]),
    ],
)
def test_rows_with_a_value(column, value, found):
    table = pandas.DataFrame(
        {
            "t": ["a", "b", None],
            "b": [True, False, True],
            "access_bps": [1e9, 2e9, 1e9],
            "n": [0.0, np.nan, 1e-12],
        }
    )
    assert np.flatnonzero(_equal(table, column, value)).tolist() == found
