"""Which column is which: names, units, averages, and what is said of those that are wrong."""

import numpy as np
import pytest

from topologies import InputError
from topologies.networks.csv_table import parse_number, read_table, with_point
from topologies.networks.table_columns import (
    Role,
    column_name,
    find_columns,
    in_brackets,
    missing_column,
    numbers,
    origins,
    unit_kind,
    unit_of,
    with_statistics,
)

LAT = Role(title="latitude", names=(("lat",),), kind="deg")
RATE = Role(title="rate", names=(("rate",),), kind="bit/s")
RTT = Role(title="round-trip time", names=with_statistics("rtt"), kind="s")
FAR = Role(title="length", names=(("far",),), kind="km")


def table(*lines):
    return read_table("\n".join(lines).encode(), "folder/t.csv")


def only(role, *lines):
    """Numbers of the one column that a role finds."""
    read = table(*lines)
    return numbers(read, find_columns(read, {"it": role})[0]["it"])


def test_names_of_averages_go_before_those_of_other_statistics():
    plain, averages, others = with_statistics("rtt", "ping")
    assert plain == ("rtt", "ping")
    assert averages == (
        *("rtt avg", "avg rtt", "rtt average", "average rtt", "rtt mean", "mean rtt"),
        *("ping avg", "avg ping", "ping average", "average ping", "ping mean", "mean ping"),
    )
    assert others[:4] == ("rtt median", "median rtt", "rtt min", "min rtt")
    assert len(others) == 20


def test_of_three_columns_that_mean_the_same_two_are_named():
    with pytest.raises(InputError) as caught:
        find_columns(table("lat,LAT,Lat", "1,2,3"), {"it": LAT})
    assert str(caught.value) == "folder/t.csv: the columns 'lat' and 'LAT' both mean latitude; keep one."


@pytest.mark.parametrize(
    ("name", "header", "meant"),
    [
        ("place", "places", True),
        ("site", "sites", False),
        ("label", "lable", False),
        ("plaza", "plazas", True),
    ],
)
def test_only_a_name_of_five_letters_or_more_may_be_meant(name, header, meant):
    read, roles = table(f"{header},x", "1,2"), {"it": Role(title="it", names=((name,), ("other",)))}
    if meant:
        with pytest.raises(InputError, match=rf"'{header}' is unknown \(did you mean '{name}'\?\)\.$"):
            find_columns(read, roles)
    else:
        assert find_columns(read, roles) == ({}, [header, "x"])


def test_what_a_table_has_already_is_not_meant_again():
    roles = {"it": Role(title="it", names=(("place",),))}
    assert find_columns(table("place,places", "a,b"), roles)[1] == ["places"]


def test_only_after_a_time_a_word_may_be_a_unit():
    for header in ("rtt foo", "day_d", "rate_d"):
        assert find_columns(table(f"{header},x", "1,2"), {"t": RTT, "r": RATE}) == ({}, [header, "x"])


def test_min_beside_a_unit_is_minutes_and_beside_another_statistic_the_minimum():
    with pytest.raises(InputError, match=r"'rtt \[ms\]' and 'rtt \[min\]' both mean round-trip time"):
        find_columns(table("rtt [ms],rtt [min]", "1,2"), {"it": RTT})
    found, ignored = find_columns(table("rtt [ms],rtt [avg],rtt [min]", "1,2,3"), {"it": RTT})
    assert (found["it"].header, found["it"].unit) == ("rtt [ms]", "ms")
    assert ignored == ["rtt [avg]", "rtt [min]"]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("[km]", ("", "km")),
        ("", ("", "")),
        ("avg", ("avg", "")),
        ("ms_avg", ("avg", "ms")),
        ("speed mbps avg", ("speed avg", "Mbps")),
        ("LATENCY_MS", ("latency", "ms")),
        ("Latency MS", ("latency ms", "")),
        ("DISTANCE KM", ("distance", "km")),
        ("Distance KM", ("distance km", "")),
        ("MBPS", ("", "Mbps")),
        ("Speed MBPS", ("speed mbps", "")),
        ("in km", ("", "km")),
        ("Way in total km", ("way in total", "km")),
        ("speed (up) [Mbps]", ("speed (up)", "Mbps")),
        ("Länge (km)", ("lange", "km")),
        ("a/b\\c", ("a b c", "")),
    ],
)
def test_name_and_unit_of_a_column(header, expected):
    assert column_name(header) == expected


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("a [b]", ("a", "b")),
        (" a ( b ) ", ("a", "b")),
        ("[b]", ("", "b")),
        ("a [b] (c)", ("a [b]", "c")),
        ("a (b) c]", None),
        ("a [b] c)", None),
        ("a [b", None),
        ("a b]", None),
        ("a [b] c", None),
        ("", None),
    ],
)
def test_the_last_brackets_of_a_header_hold_its_unit(header, parts):
    assert in_brackets(header) == parts


def test_a_word_is_a_unit_in_any_case_unless_case_matters():
    assert [unit_of(text) for text in ("MBPS", "KM", "ms ", "MS", "Deg", "°", "", "x", "1")] == [
        *("Mbps", "km", "ms", "ms", "Deg", "°", "", "", "")
    ]
    assert [unit_of(text, fold=False) for text in ("MBPS", "KM", "MS", "mbps", "mBit/s", "km")] == [
        *("", "", "", "Mbps", "Mbps", "km")
    ]
    assert [unit_kind(unit) for unit in ("km", "deg", "Mbps", "ms", "", "x")] == [
        *("km", "deg", "bit/s", "s", "", "")
    ]


@pytest.mark.parametrize(
    ("role", "lines", "message"),
    [
        (
            RATE,
            ("rate,x", "10,1"),
            "row 2, rate(='10') has no unit, neither in its name nor in the cell (the column 'rate'): write "
            "'rate [Mbps]' or '10 Mbps', for instance.",
        ),
        (
            RTT,
            ("rtt,x", "10,1"),
            "row 2, rtt(='10') has no unit, neither in its name nor in the cell (the column 'rtt'): write "
            "'rtt [ms]' or '10 ms', for instance.",
        ),
        (
            RTT,
            ("rtt_min,x", "10,1"),
            "row 2, rtt_min(='10') has no unit, neither in its name nor in the cell (the column 'rtt_min'; min in a "
            "name is the minimum, [min] minutes): write 'rtt_min [ms]' or '10 ms', for instance.",
        ),
        (
            FAR,
            ("far,x", "10,1"),
            "row 2, far(='10') has no unit, neither in its name nor in the cell (the column 'far'): write 'far [km]' "
            "or '10 km', for instance.",
        ),
        (FAR, ("far [ms],x", "1,1"), "the column 'far [ms]' has the unit 'ms', must be a unit of length."),
        (RTT, ("rtt [km],x", "1,1"), "the column 'rtt [km]' has the unit 'km', must be a unit of time."),
        (LAT, ("lat [km],x", "1,1"), "the column 'lat [km]' has the unit 'km', must be a unit of angle."),
        (
            FAR,
            ("far,x", "1 ms,1"),
            "row 2, far(='1 ms') must have a unit: km, m, mi, mile, miles.",
        ),
    ],
)
def test_what_is_said_of_units(role, lines, message):
    with pytest.raises(InputError) as caught:
        only(role, *lines)
    assert str(caught.value) == f"folder/t.csv: {message}"


def test_cells_that_state_nothing_and_cells_that_do():
    cells = ("1", "", "-", "NaN", "N/A", "null", "None", "–", "2")
    found = only(LAT, "lat,x", *(f"{cell},x" for cell in cells))
    np.testing.assert_array_equal(found, [1, *[np.nan] * 7, 2])
    assert np.isnan(only(RATE, "rate,x", ",x", "-,x")).all()
    # One cell with a unit of its own, and the others are read one by one.
    np.testing.assert_array_equal(only(FAR, "far [km],x", "1,x", ",x", "1 m,x"), [1, np.nan, 1e-3])


def test_one_decimal_mark_in_a_column():
    with pytest.raises(InputError) as caught:
        only(RATE, "rate_mbps;x", "1.5;1", "2,5;1")
    assert str(caught.value) == (
        "folder/t.csv: row 3, rate_mbps(='2,5') must have the decimal mark of '1.5', which is in the same column: a "
        "table has one, and no thousands separators."
    )


def test_a_mark_in_a_unit_is_not_one_of_the_number():
    read = table("rate_mbps;note", "1,000;1,5 m.p")
    assert find_columns(read, {"it": RATE})[1] == ["note"]


def test_at_most_twelve_columns_are_named_and_none_without_a_name():
    read = table(",".join(["a", "", *(f"c{i}" for i in range(14))]), ",".join("1" * 16))
    role = Role(title="it", names=(("one", "two", "three", "four"), ("five",)))
    assert str(missing_column(read, role, "this")) == (
        "folder/t.csv: needs a column 'one' or 'two' or 'three' for this; it has "
        f"{', '.join(repr(name) for name in ['a', *(f'c{i}' for i in range(10))])}."
    )


def test_what_was_taken_from_where():
    read = table("lat [deg],rtt_ms,note", "1,2,3")
    assert origins(read, *find_columns(read, {"a": LAT, "b": RTT})) == (
        "t.csv: latitude from 'lat [deg]', round-trip time from 'rtt_ms' (ms); ignored: 'note'."
    )
    read = table("lat,rtt", "1,2 s")
    assert origins(read, *find_columns(read, {"a": LAT, "b": RTT})) == (
        "t.csv: latitude from 'lat', round-trip time from 'rtt'."
    )


@pytest.mark.parametrize(
    ("text", "decimal_comma", "rule"),
    [
        ("1,234,567", True, "must be written without thousands separators."),
        ("1,234,567", False, "must be written without thousands separators."),
        ("1 234,5", True, "must be written without thousands separators."),
        ("1'234.5", False, "must be written without thousands separators."),
        ("-1.234.567,5", True, "must be written without thousands separators: -1234567.5 if that is meant."),
        ("1,234", False, "must have a decimal point, as commas separate the columns, and no thousands separators: "
         "1.234 or 1234."),
        ("1,23", False, "must have a decimal point, as commas separate the columns: 1.23."),
        ("1,2,3", False, "must be a number."),
        ("", True, "must be a number."),
    ],
)  # fmt: skip
def test_what_is_said_of_numbers(text, decimal_comma, rule):
    with pytest.raises(InputError) as caught:
        parse_number(text, decimal_comma=decimal_comma)
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    ("text", "decimal_comma", "value"),
    [("1,234", True, 1.234), ("-.5", False, -0.5), ("\u22122e3", False, -2000.0), ("5.", False, 5.0),
     ("INF", False, np.inf), ("+inf", True, np.inf), ("unlimited", False, np.inf)],
)  # fmt: skip
def test_a_number_may_have_a_comma_a_minus_sign_or_no_limit(text, decimal_comma, value):
    assert parse_number(text, decimal_comma=decimal_comma) == value


def test_decimal_commas_where_commas_separate_no_columns():
    assert [with_point(text, ";") for text in ("1,5", " 1,5 ", "a,5", "1,5,6", "1.5")] == [
        *("1.5", " 1.5 ", "a,5", "1,5,6", "1.5")
    ]
    assert with_point("1,5", ",") == "1,5"


def test_the_line_that_is_no_text():
    with pytest.raises(InputError, match=r"^t\.csv: line 3 is no UTF-8 text: save it as 'CSV UTF-8'\.$"):
        read_table("\na,b\nZürich,2\n".encode("latin-1"), "t.csv")


def test_degrees_are_degrees_and_cells_beyond_the_header_count():
    np.testing.assert_array_equal(only(LAT, "lat [deg],x", "1,x", "-2.5,x"), [1, -2.5])
    with pytest.raises(InputError, match=r"^t\.csv: row 2 has 4 cells, the header 2; numbers with"):
        read_table(b"a,b\n1,2,,3\n", "t.csv")


@pytest.mark.parametrize(
    ("unit", "km"),
    # The international mile: 1,760 yards of 0.9144 m.
    [("km", 1.0), ("m", 1e-3), ("mi", 1.609344), ("mile", 1.609344), ("miles", 1.609344)],
)
def test_lengths_in_a_name_and_in_a_cell(unit, km):
    for lines in ((f"far [{unit}],x", "10,1"), (f"far_{unit},x", "10,1"), ("far,x", f"10 {unit},1")):
        assert only(FAR, *lines).tolist() == pytest.approx([10 * km], rel=1e-12)
