"""Traffic matrices of files: tables, SNDlib's two formats, folders that are sequences."""

import re

import numpy as np
import pytest

from topologies import InputError
from topologies.networks.traffic_dates import parse_date
from topologies.networks.traffic_files import read_traffic

XML = """<?xml version="1.0"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <meta>
  <granularity>5min</granularity>
{time}  <unit>MBITPERSEC</unit>
  <origin>made for a test</origin>
 </meta>
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="a"><coordinates><x>1.0</x><y>2.0</y></coordinates></node>
  </nodes>
  <links>
  </links>
 </networkStructure>
 <demands>
{demands} </demands>
</network>
"""
NATIVE = """?SNDlib native format; type: network; version: 1.0
# network demandMatrix-test-5min-20040301-0000

# META SECTION
META (
  granularity = 5min
  time = 20040301-0000
  unit = MBITPERSEC
  origin = made for a test
)

NODES (
  a ( 1.0 2.0 )
  b ( -1.0 2.0 )
)

# <link_id> ( <source> <target> ) ...
LINKS (
)

# <demand_id> ( <source> <target> ) <routing_unit> <demand_value> <max_path_length>
DEMANDS (
  a_b ( a b ) 1 2.500000 UNLIMITED
  b_a ( b a ) 4 0.25 3
)

ADMISSIBLE_PATHS (
  a_b (
    P_0 ( L_0 )
  )
)
"""


def xml(time="20040301-0000", **demands):
    """A matrix of SNDlib's; demands by ``source_target``."""
    listed = "".join(
        f'  <demand id="{ends}">\n   <source>{ends[0]}</source>\n   <target>{ends[2:]}</target>\n'
        f"   <demandValue> {value} </demandValue>\n  </demand>\n"
        for ends, value in demands.items()
    )
    return XML.format(time=f"  <time>{time}</time>\n" if time else "", demands=listed)


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def table(matrices):
    """Demands in bit/s by names, at each date."""
    names = [
        f"{matrices.labels[i]}{matrices.labels[j]}"
        for i, j in zip(matrices.source.tolist(), matrices.target.tolist(), strict=True)
    ]
    return [dict(zip(names, row.tolist(), strict=True)) for row in matrices.demand_bps]


def refused(path, rule, **how):
    with pytest.raises(InputError, match=re.escape(rule)) as caught:
        read_traffic(path, **how)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "source,target,demand_mbps\na,b,2.5\nb,a,1\n",
        "from,to,demand\na,b,2500 kbps\nb,a,1 Mbps\n",
        "src;dst;traffic [Mbit/s]\na;b;2,5\nb;a;1,0\n",
        "target,source,Mbps,name\nb,a,2.5,x\na,b,1,y\n",
        "Mbps,a,b\na,,2.5\nb,1,\n",
    ],
)
def test_one_matrix_in_many_forms(tmp_path, text):
    matrices = read_traffic(written(tmp_path, "tm.csv", text))

    assert table(matrices) == [{"ab": 2.5e6, "ba": 1e6}]
    assert (matrices.date_s.tolist(), matrices.period_s, matrices.own) == ([0.0], None, 0)


@pytest.mark.parametrize("name", ["tm.xml", "tm.txt"])
def test_one_matrix_of_sndlib(tmp_path, name):
    text = xml(a_b=2.5, b_a=1) if name == "tm.xml" else NATIVE

    assert table(read_traffic(written(tmp_path, name, text))) == [{"ab": 2.5e6, "ba": 1e6}]


def test_a_demand_is_a_multiple_of_its_routing_unit(tmp_path):
    text = xml(a_b=2.5).replace("   <demandValue>", "   <routingUnit>155</routingUnit>\n   <demandValue>")

    assert table(read_traffic(written(tmp_path, "tm.xml", text))) == [{"ab": 2.5 * 155e6}]


@pytest.mark.parametrize(
    ("head", "first", "second"),
    [
        ("time", "300", "0"),
        ("time_s", "1078100100", "1078099800"),
        ("time [min]", "10", "5"),
        ("Timestamp", "1 h", "55 min"),
        ("time", "2004-03-01T00:05", "2004-03-01T00:00"),
        ("date", "2004-03-01 01:05:00+01:00", "2004-03-01T00:00Z"),
        ("time", "20040301-0005", "20040301-0000"),
    ],
)
def test_times_are_since_the_first_one_in_any_order(tmp_path, head, first, second):
    text = f"{head},source,target,demand_bps\n{first},a,b,1\n{second},b,a,2\n{second},a,b,3\n"
    matrices = read_traffic(written(tmp_path, "tm.csv", text))

    assert matrices.date_s.tolist() == [0.0, 300.0]
    assert table(matrices) == [{"ab": 3.0, "ba": 2.0}, {"ab": 1.0, "ba": 0.0}]
    assert matrices.period_s == 600.0


def test_demands_of_a_router_to_itself_are_left_out_and_counted(tmp_path):
    matrices = read_traffic(written(tmp_path, "tm.csv", "source,target,bps\na,a,1\na,b,2\na,a,3\n"))

    assert table(matrices) == [{"ab": 2.0}]
    assert matrices.own == 2


def test_a_row_that_states_no_demand_is_none(tmp_path):
    text = "source,target,bps\na,b,\na,b,2\nb,a,-\n"

    assert table(read_traffic(written(tmp_path, "tm.csv", text))) == [{"ab": 2.0}]


@pytest.mark.parametrize("in_meta", [True, False])
def test_a_folder_is_a_sequence_by_date_in_which_empty_files_are_gaps(tmp_path, in_meta):
    for number, (date, demand) in enumerate(
        [("20040301-0010", 3), ("20040229-2355", 1), ("20040301-0005", 0)]
    ):
        name = f"{'bca'[number]}.xml" if in_meta else f"demandMatrix-test-5min-{date}.xml"
        demands = {"a_b": demand} if demand else {}
        written(tmp_path, name, xml(time=date if in_meta else "", **demands))
    written(tmp_path, "readme.txt", "no matrix")
    matrices = read_traffic(tmp_path)

    assert matrices.date_s.tolist() == [0.0, 900.0]
    assert table(matrices) == [{"ab": 1e6}, {"ab": 3e6}]


def test_files_without_dates_are_a_step_apart_by_name(tmp_path):
    for name, demand in (("m2.xml", 2), ("m1.xml", 1)):
        written(tmp_path, name, xml(time="", a_b=demand))

    assert table(read_traffic(tmp_path, step_s=60.0)) == [{"ab": 1e6}, {"ab": 2e6}]
    assert read_traffic(tmp_path, step_s=60.0).date_s.tolist() == [0.0, 60.0]
    refused(tmp_path, "holds files that state no dates, so that step must be given.")


@pytest.mark.parametrize("name", ["tm.csv", "square.csv", "tm.xml", "tm.txt"])
def test_a_unit_is_for_files_that_state_none(tmp_path, name):
    texts = {
        "tm.csv": "source,target,demand\na,b,2\n",
        "square.csv": ",a,b\na,,2\nb,,\n",
        "tm.xml": xml(a_b=2).replace("MBITPERSEC", "UNKNOWN"),
        "tm.txt": NATIVE.replace("  unit = MBITPERSEC\n", "")
        .replace("2.500000", "2")
        .replace("b_a ( b a ) 4 0.25 3", ""),
    }
    path = written(tmp_path, name, texts[name])

    assert table(read_traffic(path, unit="Gbps"))[0]["ab"] == 2e9
    refused(path, "unit must be given" if name in ("tm.xml", "tm.txt") else "has no unit")


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("a.csv", "source,target,time\na,b,1\n", "needs a column 'demand'"),
        ("a.csv", "source,target,bps\na,b,-1\n", "row 2, bps(='-1') must be finite and >= 0."),
        ("a.csv", "source,target,bps\na,b,inf\n", "row 2, bps(='inf') must be finite and >= 0."),
        ("a.csv", "source,target,bps\na,,1\n", "row 2, target(='') must be the name of a router."),
        ("a.csv", "source,target,bps\na,a,1\n", "must hold a demand between two routers."),
        (
            "a.csv",
            "source,target,bps\na,b,1\nb,a,1\na,b,2\n",
            "row 2 and row 4 are both of 'a -> b' at one date",
        ),
        ("a.csv", "time,source,target,bps\n,a,b,1\n", "row 2, time(='') must be a time."),
        ("a.csv", "time,source,target,bps\nsoon,a,b,1\n", "row 2, time(='soon') must be a number."),
        (
            "a.csv",
            "time,source,target,bps\n2004-02-30,a,b,1\n",
            "row 2, time(='2004-02-30') must be a date such as",
        ),
        (
            "a.csv",
            "time,source,target,bps\n2004-02-01T00:00,a,b,1\n2004-02-01T00:05Z,a,b,1\n",
            "row 3, time(='2004-02-01T00:05Z') must name a time zone as all others do, or none as they do.",
        ),
        ("a.csv", "Mbps,a,b\na,,inf\nb,,\n", "row 2, b(='inf') must be finite."),
        ("a.xml", "<network", "is no XML"),
        ("a.xml", "<graphml/>", "its outermost element(='graphml') must be 'network'"),
        ("a.xml", xml(a_b="x"), "demand a_b, demand value(='x') must be a finite number >= 0."),
        ("a.xml", xml(a_b=1e308), "demand a_b must have a finite demand in bit/s."),
        ("a.xml", xml(a_b=-1), "demand a_b, demand value(='-1') must be a finite number >= 0."),
        ("a.xml", xml(a_b=1).replace("<target>b</target>", ""), "demand a_b must have a target."),
        ("a.xml", xml(), "must hold a demand between two routers."),
        ("a.txt", "hello\n", "must have a section 'DEMANDS ('"),
        ("a.txt", "DEMANDS (\n a b 1\n)\n", "line 2(='a b 1') must be 'id ( source target ) routing_unit"),
        (
            "a.txt",
            "DEMANDS (\n i ( a b ) x 1 2\n)\n",
            "line 2, routing unit(='x') must be a finite number >= 0.",
        ),
    ],
)
def test_what_is_wrong_is_named_by_file_and_row(tmp_path, name, text, rule):
    path = written(tmp_path, name, text)

    refused(path, f"{path}: {rule}")


def test_what_does_not_go_together_in_a_folder(tmp_path):
    refused(tmp_path, "must hold .xml or .txt files of SNDlib.")
    written(tmp_path, "a.xml", xml(a_b=1))
    refused(tmp_path, "holds files that state their dates, so that step must be left out.", step_s=1.0)
    refused(tmp_path / "a.xml", "is one file; a step goes with a folder", step_s=1.0)
    refused(tmp_path / "a.xml", "states the unit 'MBITPERSEC', so that unit must be left out.", unit="Mbps")
    twice = written(tmp_path, "b.xml", xml(a_b=1))
    refused(tmp_path, "has the date of a.xml, must have one of its own.")
    twice.write_text(xml(time="", a_b=1))
    refused(tmp_path, "b.xml: states no date, as others of its folder do.")
    twice.write_text(xml(time="noon", a_b=1))
    refused(tmp_path, "b.xml: time(='noon') must be a date such as")
    twice.write_text(
        xml(time="20040302", a_b=1).replace(
            "</demands>",
            '<demand id="2"><source>a</source><target>b</target><demandValue>3</demandValue></demand></demands>',
        )
    )
    refused(tmp_path, "b.xml, demand a_b, and b.xml, demand 2, are both of 'a -> b' at one date")
    refused(tmp_path / "none.xml", "there is no such file.")


def test_dates_of_sndlib_may_lack_their_ends():
    assert (
        parse_date("200403") == parse_date("20040301") == parse_date("20040301-0000") == (1078099200.0, False)
    )


def test_a_week_of_matrices_is_a_matter_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    demands = rng.random((40, 12, 12)).round(6)
    rows = [
        f"{300 * k},r{i},r{j},{demands[k, i, j]}" for k in range(40) for i in range(12) for j in range(12)
    ]
    matrices = read_traffic(
        written(tmp_path, "tm.csv", "time_s,source,target,mbps\n" + "\n".join(rows) + "\n")
    )
    names = np.array([int(label[1:]) for label in matrices.labels])

    assert matrices.own == 40 * 12
    np.testing.assert_array_equal(
        matrices.demand_bps, demands[:, names[matrices.source], names[matrices.target]] * 1e6
    )


@pytest.mark.parametrize(
    "text", ["20040300", "20040031", "200400", "00000301", "20040301-2400", "20040301-0060", "soon"]
)
def test_dates_that_no_calendar_has(text):
    with pytest.raises(InputError, match=r"must be a date such as 2004-03-01T00:05 or 20040301-0005\."):
        parse_date(text)


def test_a_time_zone_is_told_and_moves_the_date():
    assert parse_date("2004-03-01T01:00+01:00") == (1078099200.0, True)
    assert parse_date("2004-03-01") == parse_date("20040301T0000") == (1078099200.0, False)


def test_dates_are_kept_as_they_are_written_and_seconds_are_not(tmp_path):
    rows = "{1},a,b,1\n{0},b,a,2\n{0},a,b,3\n"
    for first, second, dates in (
        ("2004-03-01", "2004-03-02", ("2004-03-01", "2004-03-02")),
        ("0", "86400", ()),
    ):
        text = "time,source,target,bps\n" + rows.format(first, second)
        matrices = read_traffic(written(tmp_path, "tm.csv", text))
        assert (matrices.date_s.tolist(), matrices.dates) == ([0, 86400], dates)
        assert matrices.period_s == 2 * 86400
        assert repr(matrices) == "<TrafficMatrices: 2 of 2 pairs>"
    one = read_traffic(written(tmp_path, "tm.csv", "time,source,target,bps\n2004-03-01,a,b,1\n"))
    assert (one.dates, one.date_s.tolist(), one.period_s) == (("2004-03-01",), [0.0], None)


def test_the_place_of_each_name_is_where_it_stands_first(tmp_path):
    path = written(tmp_path, "tm.csv", "source,target,bps\nb,a,\n\nc,b,1\na,c,2\n")
    matrices = read_traffic(path)
    assert dict(zip(matrices.labels, matrices.places, strict=True)) == {
        "b": f"{path}: row 2, source",
        "c": f"{path}: row 4, source",
        "a": f"{path}: row 5, source",
    }
    square = written(tmp_path, "square.csv", "Mbps,b,a\na,1,\nb,,2\n")
    assert read_traffic(square).places == (f"{square}: row 2", f"{square}: row 3")


def test_rows_that_state_nothing_count_where_a_row_is_named(tmp_path):
    path = written(tmp_path, "tm.csv", "source,target,bps\na,b,\na,b,1\nc,c,1\na,b,2\n")
    refused(path, f"{path}: row 3 and row 5 are both of 'a -> b' at one date; a pair must have one demand.")


def test_a_folder_of_one_file_needs_neither_date_nor_step(tmp_path):
    file = written(tmp_path, "m.xml", xml(time="", a_b=1))
    matrices = read_traffic(tmp_path)
    assert (table(matrices), matrices.date_s.tolist(), matrices.dates) == ([{"ab": 1e6}], [0.0], ())
    assert matrices.places == (f"{file}: demand a_b", f"{file}: demand a_b")
    other = written(tmp_path, "n.xml", xml(time="", c_b=1, b_c=2))
    matrices = read_traffic(tmp_path, step_s=60.0)
    assert dict(zip(matrices.labels, matrices.places, strict=True))["c"] == f"{other}: demand c_b"


def test_dates_at_the_end_of_names_and_in_files_are_kept(tmp_path):
    for date in ("20040302", "20040301"):
        written(tmp_path, f"m-{date}.xml", xml(time="", a_b=1))
    matrices = read_traffic(tmp_path)
    assert (matrices.dates, matrices.date_s.tolist()) == (("20040301", "20040302"), [0.0, 86400.0])


def test_empty_sequences_and_demands_that_are_too_large_are_named(tmp_path):
    written(tmp_path, "a.xml", xml(time="20040301"))
    refused(tmp_path, f"{tmp_path}: must hold a demand between two routers.")
    written(tmp_path, "b.xml", xml(time="20040302", a_b=1))
    written(tmp_path, "c.xml", xml(time="20040303", a_b=1, b_a=1e308))
    refused(tmp_path, f"{tmp_path}: c.xml, demand b_a, must have a finite demand in bit/s.")


def test_tables_of_sites_and_senders_that_are_not_named(tmp_path):
    refused(
        written(tmp_path, "a.csv", "source,target,bps\na,b,1\n,c,1\n"),
        "row 3, source(='') must be the name of a router.",
    )
    refused(
        written(tmp_path, "a.csv", "source,target,demand_kbps\na,b,1\n"),
        "has a unit in 'demand_kbps', so that unit must be left out.",
        unit="Mbps",
    )


def test_demands_of_0_or_below_one_bit_per_second_are_demands(tmp_path):
    matrices = read_traffic(written(tmp_path, "tm.csv", "source,target,bps\na,b,0.5\nb,a,0\n"))
    assert table(matrices) == [{"ab": 0.5, "ba": 0.0}]


def test_demands_without_an_id_are_numbered_from_1(tmp_path):
    text = xml(a_b=1, b_a=2).replace(' id="a_b"', "").replace(' id="b_a"', "")
    for number, value in enumerate(("<demandValue> 1 ", "<demandValue> 2 "), start=1):
        path = written(tmp_path, "tm.xml", text.replace(value, "<demandValue> x "))
        refused(path, f"{path}: demand {number}, demand value(='x') must be a finite number >= 0.")


NATIVE_DEMANDS = "DEMANDS (\n a ( x y ) 2 3 UNLIMITED # {0}\n\n b ( y x ) {1} 4 5\n)\n"


@pytest.mark.parametrize(
    ("unit", "meta", "bps"),
    [
        ("Mbps", "", 1e6),
        ("", "META (\n unit = MBITPERSEC\n)\n", 1e6),
        ("", "META (\n unit = bitpersec\n)\n", 1.0),
        ("", "META (\n unit = Gbit/s\n)\n", 1e9),
        ("kbps", "META (\n unit = cars\n)\n", 1e3),
    ],
)
def test_units_of_sndlib(tmp_path, unit, meta, bps):
    path = written(tmp_path, "tm.txt", meta + NATIVE_DEMANDS.format("note", 1))
    assert table(read_traffic(path, unit=unit)) == [{"xy": 6 * bps, "yx": 4 * bps}]


@pytest.mark.parametrize(
    ("text", "unit", "rule"),
    [
        (NATIVE_DEMANDS.format("", 1), "", "states no unit: unit must be given, for instance 'Mbps'."),
        (
            "META (\n unit = cars\n)\n" + NATIVE_DEMANDS.format("", 1),
            "",
            "states the unit 'cars', which is no data rate: unit must be given, for instance 'Mbps'.",
        ),
        (
            NATIVE_DEMANDS.format("", "inf"),
            "Mbps",
            "line 4, routing unit(='inf') must be a finite number >= 0.",
        ),
        (
            NATIVE_DEMANDS.format("", "nan"),
            "Mbps",
            "line 4, routing unit(='nan') must be a finite number >= 0.",
        ),
        (
            "DEMANDS (\n a ( x y )2 3 4\n)\n",
            "Mbps",
            "line 2(='a ( x y )2 3 4') must be 'id ( source target ) ",
        ),
        ("DEMANDS (\n a ( x ) 2 3 4\n)\n", "Mbps", "line 2(='a ( x ) 2 3 4') must be 'id ( source target ) "),
        ("DEMANDS (\n a b ( x y ) 2 3 4\n)\n", "Mbps", "line 2(='a b ( x y ) 2 3 4') must be 'id ( source"),
    ],
)
def test_what_is_wrong_in_sndlibs_native_format(tmp_path, text, unit, rule):
    path = written(tmp_path, "tm.txt", text)
    refused(path, f"{path}: {rule}", unit=unit)


def test_a_native_file_in_latin_1_and_an_empty_section(tmp_path):
    path = tmp_path / "tm.txt"
    path.write_bytes("DEMANDS (\n a ( Z\xfcrich y ) 1 2 3\n)\n".encode("latin-1"))
    assert read_traffic(path, unit="bps").labels == ("Zürich", "y")
    refused(
        written(tmp_path, "e.txt", "DEMANDS (\n)\n"), "must hold a demand between two routers.", unit="bps"
    )
