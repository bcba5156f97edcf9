"""Tables in all the forms in which spreadsheets save them."""

import numpy as np
import pytest

from topologies import InputError
from topologies.networks.csv_table import parse_number, read_table
from topologies.networks.table_columns import Role, column_name, find_columns, numbers

PLAIN = "site,lat,note\nLyon,45.76,first\nTurin,45.07,\n"
ROLES = {
    "name": Role(title="name", names=(("site",),)),
    "lat": Role(title="latitude", names=(("lat",),), kind="deg"),
    "rate": Role(title="rate", names=(("rate",),), kind="bit/s"),
    "wait": Role(title="wait", names=(("wait",),), kind="s"),
    "far": Role(title="length", names=(("far",),), kind="km"),
}


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace(",", "\t").encode(),
        PLAIN.replace(",", ";").encode(),
        PLAIN.replace(",", ";").replace(".", ",").encode(),
        PLAIN.replace(",", "\t").replace(".", ",").encode(),
        b"sep=;\r\n" + PLAIN.replace(",", ";").replace("\n", "\r\n").encode(),
        PLAIN.replace("Lyon", '"Lyon"').replace("first", '" first "').encode(),
        PLAIN.replace("\n", "\n\n,,\n").encode(),
        PLAIN.replace("\n", ",,\n").encode(),
        PLAIN.rstrip().encode(),
    ],
)
def test_every_dialect_gives_the_same_table(data):
    table = read_table(data, "t.csv")
    found, ignored = find_columns(table, ROLES)

    assert table.header == ("site", "lat", "note")
    assert [row[0] for row in table.rows] == ["Lyon", "Turin"]
    assert [row[2] for row in table.rows] == ["first", ""]
    assert numbers(table, found["lat"]).tolist() == [45.76, 45.07]
    assert ignored == ["note"]


def test_rows_are_numbered_as_in_a_spreadsheet():
    table = read_table(b'a,b\n\n"two\nlines",1\n,\nlast,2\n', "t.csv")

    assert table.row_numbers == [3, 5]
    assert table.rows[0][0] == "two\nlines"


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "is an empty table"),
        (b"\xef\xbb\xbf\n ,\n", "is an empty table|must have columns"),
        (b"a,b\n", "has column names, but no rows"),
        (b"a\n1\n", "must have columns separated by commas, semicolons or tabs; its header is 'a'"),
        (b"a,b\n1,2,3\n", "row 2 has 3 cells, the header 2; numbers with decimal commas need semicolons"),
        (b"a;b\n1;2;3\n", "row 2 has 3 cells, the header 2\\."),
        (b"a,b,c\n\n1,2\n", "row 3 has 2 cells, the header 3; a cell that states nothing is .* its comma\\."),
        (b"a;b;c\n1;2;3\n1\n", "row 3 has 1 cell, the header 3; a cell .* has its semicolon\\."),
        (b"a\tb\tc\t\n1\t2\n", "row 2 has 2 cells, the header 3; a cell .* has its tab\\."),
        (b'a,b\n"1,2\n', "row 2: unexpected end of data"),
        ("a,b\nZürich,2\n".encode("latin-1"), "line 2 is no UTF-8 text: save it as 'CSV UTF-8'"),
        ("a,b\n1,2\n".encode("utf-16-le"), "has a NUL: save it as 'CSV UTF-8'"),
        (b"PK\x03\x04rest", "is a workbook, must be a table as text: save the sheet as 'CSV UTF-8'"),
    ],
)
def test_files_that_are_no_table(data, rule):
    with pytest.raises(InputError, match=f"^t.csv: .*(?:{rule})"):
        read_table(data, "t.csv")


@pytest.mark.parametrize(
    ("text", "decimal_comma", "rule"),
    [
        ("1.234,5", True, "without thousands separators: 1234.5 if that is meant"),
        ("1,234.5", True, "without thousands separators: 1234.5 if that is meant"),
        ("1,234,567", True, "without thousands separators"),
        ("1 234", True, "without thousands separators"),
        ("1'234", False, "without thousands separators"),
        ("1,234", False, "decimal point, as commas separate the columns, .*: 1.234 or 1234"),
        ("12,5", False, "decimal point, as commas separate the columns: 12.5"),
        ("1.2.3", False, "must be a number"),
        ("x", False, "must be a number"),
        ("1_000", False, "must be a number"),
    ],
)
def test_numbers_that_may_be_read_in_two_ways(text, decimal_comma, rule):
    with pytest.raises(InputError, match=rule):
        parse_number(text, decimal_comma=decimal_comma)


def test_one_column_has_one_decimal_mark():
    table = read_table(b"site;rate_mbps\na;1.5\nb;2,5\n", "t.csv")
    with pytest.raises(InputError, match=r"row 3, rate_mbps\(='2,5'\) must have the decimal mark of '1.5'"):
        numbers(table, find_columns(table, ROLES)[0]["rate"])


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("uplink_mbps", ("uplink", "Mbps")),
        ("UPLINK_MBPS", ("uplink", "Mbps")),
        ("Uplink MBps", ("uplink", "MBps")),
        ("Bandwidth [Mbit/s]", ("bandwidth", "Mbit/s")),
        ("capacity (MB/s)", ("capacity", "MB/s")),
        ("capacity gbit_s", ("capacity", "Gbps")),
        ("distance (km)", ("distance", "km")),
        ("Distance in km", ("distance", "km")),
        ("length-m", ("length", "m")),
        ("latency_ms", ("latency", "ms")),
        ("Latency [µs]", ("latency", "µs")),
        ("lat (deg)", ("lat", "deg")),
        ("Compute-Time s", ("compute time", "s")),
        ("km", ("", "km")),
        ("rtt_min", ("rtt min", "")),
        ("Uplink mbps", ("uplink", "Mbps")),
        ("Kbps", ("", "kbps")),
        ("Speed [MBit/s]", ("speed", "MBit/s")),
        ("SPEED_GBIT/S", ("speed", "Gbps")),
        ("Speed [mBit/s]", ("speed", "Mbps")),
        ("Speed [MB/s]", ("speed", "MB/s")),
        ("Speed GBps", ("speed", "GBps")),
        ("rtt_min_ms", ("rtt min", "ms")),
        ("rtt_ms_avg", ("rtt avg", "ms")),
        ("Latency-max", ("latency max", "")),
        ("Latitude", ("latitude", "")),
        ("name (of the ward)", ("name (of the ward)", "")),
    ],
)
def test_units_in_headers(header, expected):
    assert column_name(header) == expected


def test_cells_may_have_units_of_their_own():
    table = read_table(
        b"site;rate;wait_ms;far\na;10 Gbps;12;1,5 km\nb;2,5 MB/s;1 s;300 m\nc;inf Mbps;NA;2 miles\nd;-;;\n",
        "t.csv",
    )
    found, _ = find_columns(table, ROLES)

    assert numbers(table, found["rate"])[:3].tolist() == [1e10, 2e7, np.inf]
    assert numbers(table, found["wait"])[:2] == pytest.approx([0.012, 1.0], rel=1e-15)
    assert numbers(table, found["far"])[:3] == pytest.approx([1.5, 0.3, 3.218688], rel=1e-15)
    assert np.isnan([numbers(table, found[key])[3] for key in ("rate", "wait", "far")]).all()


@pytest.mark.parametrize(
    ("text", "key", "rule"),
    [
        (
            "site,rate\na,10\n",
            "rate",
            r"row 2, rate\(='10'\) has no unit, neither in its name nor in the cell",
        ),
        (
            "site,rate\na,10 mbps\n",
            "rate",
            r"row 2, rate\(='10 mbps'\) has the unit 'mbps'; did you mean 'Mbps'",
        ),
        (
            "site,rate_km\na,10\n",
            "rate",
            "the column 'rate_km' has the unit 'km', must be a unit of data rate",
        ),
        ("site,far\na,10 parsec\n", "far", r"row 2, far\(='10 parsec'\) must have a unit: km, m"),
        (
            "site,lat\na,10 km\n",
            "lat",
            r"row 2, lat\(='10 km'\) must be degrees alone, negative in the south and west\.$",
        ),
        ("site,wait_ms\na,x\n", "wait", r"row 2, wait_ms\(='x'\) must be a number"),
    ],
)
def test_cells_that_are_wrong(text, key, rule):
    table = read_table(text.encode(), "t.csv")
    with pytest.raises(InputError, match=f"^t.csv: {rule}"):
        numbers(table, find_columns(table, ROLES)[0][key])


def test_columns_that_mean_the_same_or_almost_nothing():
    twice = read_table(b"site,lat,LAT\na,1,2\n", "t.csv")
    with pytest.raises(InputError, match=r"t\.csv: the columns 'lat' and 'LAT' both mean latitude; keep one"):
        find_columns(twice, ROLES)
    roles = {"lat": Role(title="latitude", names=(("latitude",),), kind="deg")}
    misspelt = read_table(b"site,lattitude\na,1\n", "t.csv")
    with pytest.raises(InputError, match=r"the column 'lattitude' is unknown \(did you mean 'latitude'\?\)"):
        find_columns(misspelt, roles)


@pytest.mark.parametrize("mark", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_cr_and_lf_end_a_row(mark):
    for end in ("\n", "\r\n", "\r"):
        text = f'site,no{mark}te{end}a,x{mark}y{end}b,"1{end}2"{end}'
        for data in (text, f"sep=,{end}{text}"):
            table = read_table(data.encode(), "t.csv")
            assert table.header == ("site", f"no{mark}te")
            assert list(table.rows) == [("a", f"x{mark}y"), ("b", f"1{end}2")]
    with pytest.raises(InputError, match="is an empty table"):
        read_table(f"{mark},{mark}\n".encode(), "t.csv")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "site;rate_mbps;wait_ms\nb;1.000;12,5\na;2.500;13,5\n",
            r"row 2, wait_ms\(='12,5'\) must have the decimal mark of '1.000', which is in row 2, rate_mbps: a table",
        ),
        ("site;rate_mbps;wait_ms\nb;1;12,5\na;2.500;13\n", r"row 3, rate_mbps\(='2.500'\) must .* '12,5'"),
        (
            "site;rate;wait\nb;1,5 Mbps;12.5 ms\n",
            r"row 2, wait\(='12.5 ms'\) must have the decimal mark of '1,5'",
        ),
        ("site\trate_mbps\twait_ms\nb\t1,5e3\t.5\n", r"row 2, wait_ms\(='.5'\) must have the decimal mark"),
        # The price is not read, but what it says of 1.000 counts.
        (
            "site;rate_mbps;price\nb;1.000;12,5\n",
            r"row 2, price\(='12,5'\) must have the decimal mark of '1.000'",
        ),
        ("site;price;rate_mbps\nb;12.5;1,000\n", r"row 2, rate_mbps\(='1,000'\) must have the decimal mark"),
    ],
)
def test_a_table_has_one_decimal_mark(text, rule):
    with pytest.raises(InputError, match=rf"^t\.csv: {rule}"):
        find_columns(read_table(text.encode(), "t.csv"), ROLES)


@pytest.mark.parametrize(
    "text",
    [
        "site;rate_mbps;wait_ms;price\nb;1.5;12.000;1,2\n",
        "site;rate_mbps;wait_ms;version\nb;1,5;12;1.2.3\n",
        "site;rate_mbps;day\nb;1,000;24.12.2024\n",
        'site,rate_mbps,note\nb,1.000,"12,5"\n',
        "b.1;site;rate_mbps\n1,5 and 2.5;c.d;3\n",
    ],
)
def test_what_says_nothing_of_the_decimal_mark(text):
    find_columns(read_table(text.encode(), "t.csv"), ROLES)


@pytest.mark.parametrize("number", ["1e400", "1e305", "1" + "0" * 400, "9.9e999"])
@pytest.mark.parametrize("other", ["1", "1 Gbps"])
def test_only_words_are_infinite(number, other):
    table = read_table(f"site,rate_gbps\na,{other}\nb,{number}\n".encode(), "t.csv")
    with pytest.raises(InputError, match=r"^t\.csv: row 3, rate_gbps\(='[\d.e]+.*'\) must be finite\.$"):
        numbers(table, find_columns(table, ROLES)[0]["rate"])


@pytest.mark.parametrize("number", ["1e-400", "-1e-400", "0.0001e-999", "0." + "0" * 400 + "1"])
@pytest.mark.parametrize("other", ["1", "1 s"])
def test_only_zeros_are_0(number, other):
    table = read_table(f"site,wait_ms\na,{other}\nb,{number}\nc,0\nd,0e-9\n".encode(), "t.csv")
    with pytest.raises(
        InputError, match=r"^t\.csv: row 3, wait_ms\(=.*\) must be 0 or larger than the smallest"
    ):
        numbers(table, find_columns(table, ROLES)[0]["wait"])
    with pytest.raises(InputError, match="must be 0 or larger"):
        parse_number(number, decimal_comma=False)


def test_words_and_zeros():
    table = read_table(b"site,rate_gbps,wait_ns\na,inf,0\nb,Unlimited,0e9\nc,1,1e-300\n", "t.csv")
    found, _ = find_columns(table, ROLES)
    assert numbers(table, found["rate"]).tolist() == [np.inf, np.inf, 1e9]
    assert numbers(table, found["wait"]) == pytest.approx([0, 0, 1e-309], rel=1e-6)  # subnormal


@pytest.mark.parametrize("end", ["min", "mins", "h", "d"])
def test_units_that_may_be_another_word_are_in_brackets_or_cells(end):
    assert column_name(f"wait_{end}") == (f"wait {end}", "")
    assert column_name(end) == (end, "")
    assert column_name(f"wait [{end}]") == ("wait", end)
    table = read_table(f"site,wait\na,2 {end}\n".encode(), "t.csv")
    assert numbers(table, find_columns(table, ROLES)[0]["wait"])[0] >= 120
    if end != "min":
        table = read_table(f"site,wait_{end}\na,2\n".encode(), "t.csv")
        with pytest.raises(
            InputError, match=rf"'wait_{end}' must have its unit in brackets: 'wait \[{end}\]'"
        ):
            find_columns(table, ROLES)


def test_numbers_with_exponents_beside_cells_with_units():
    table = read_table(b"site,rate_mbps\na,1e3\nb,1 Gbps\nc,1e-3 Tbps\n", "t.csv")
    assert numbers(table, find_columns(table, ROLES)[0]["rate"]).tolist() == [1e9, 1e9, 1e9]
