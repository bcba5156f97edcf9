"""Facts of networks in words, by hand from the facts; and which files a network is written into."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.studies import underlay as study
from scenarios.studies.underlay import (
    LinkFacts,
    PairFacts,
    SiteFacts,
    Span,
    UnderlayFacts,
    _count,
    _degrees,
    _direct_km,
    _in_ms,
    _km,
    _link_facts,
    _link_lines,
    _pair_lines,
    _places,
    _site_facts,
    _site_lines,
    _span,
    _west_and_east,
    check_conversion,
    check_drawing,
    facts_text,
    pairs_text,
    write_conversion,
)
from topologies import InputError, Underlay
from topologies.geodesy import geodesic_km
from topologies.measured_pairs import MeasuredPairs
from topologies.networks.link_notes import NO_CABLE
from topologies.site_values import SiteValues


def span(lowest, highest, low_at="A", high_at="B"):
    return Span(lowest=lowest, lowest_at=low_at, highest=highest, highest_at=high_at)


LINKS = LinkFacts(
    links=3,
    parallel=0,
    capacity_bps=span(1e8, 1e9),
    capacity_stated=3,
    capacity_assumed=0,
    assumed_bps=2e9,
    length_km=span(5.0, 2000.0, "A - B", "B - C"),
    length_computed=3,
    length_stated=0,
    below_geodesic=0,
    stated_over_geodesic=None,
)


@pytest.mark.parametrize(
    ("change", "key", "line"),
    [
        ({}, "capacity", "100 Mbps to 1 Gbps, stated on all 3 links"),
        ({"capacity_bps": span(1e9, 1e9)}, "capacity", "1 Gbps, stated on all 3 links"),
        (
            {"capacity_stated": 1, "capacity_assumed": 2},
            "capacity",
            "100 Mbps to 1 Gbps, stated on 1 link; 2 Gbps assumed on 2",
        ),
        (
            {"capacity_stated": 2, "capacity_assumed": 1},
            "capacity",
            "100 Mbps to 1 Gbps, stated on 2 links; 2 Gbps assumed on 1",
        ),
        ({"capacity_bps": None, "links": 1}, "capacity", "none stated: 2 Gbps assumed on all 1 link"),
        ({}, "length", "5 km to 2,000 km; from the coordinates on all 3 links"),
        ({"length_stated": 3, "length_computed": 0}, "length", "5 km to 2,000 km; stated on all 3 links"),
        (
            {"length_stated": 1, "length_computed": 2},
            "length",
            "5 km to 2,000 km; stated on 1 link, from the coordinates on 2",
        ),
        ({}, "longest link", "B - C, 2,000 km"),
    ],
)
def test_lines_about_core_links(change, key, line):
    lines = dict(_link_lines(replace(LINKS, **change)))
    assert list(lines) == ["capacity", "length", "longest link"]
    assert lines[key] == line


@pytest.mark.parametrize(
    ("missing", "unlimited", "bandwidth_bps", "lines"),
    [
        (0, 0, span(1e6, 1e9), ("no pair", "1 Mbps (A) to 1 Gbps (B)")),
        (1, 2, span(1e6, 1e9), ("1 pair", "1 Mbps (A) to 1 Gbps (B); unlimited on 2 pairs")),
        (1234, 1, None, ("1,234 pairs", "unlimited on 1 pair")),
        (0, 0, span(1e9, 1e9), ("no pair", "1 Gbps on each pair")),
    ],
)
def test_lines_about_measured_pairs(missing, unlimited, bandwidth_bps, lines):
    facts = PairFacts(
        pairs=6, missing=missing, unlimited=unlimited, bandwidth_bps=bandwidth_bps, latency_s=span(0.01, 0.02)
    )
    assert _pair_lines(facts) == [
        ("missing", lines[0]),
        ("bandwidth", lines[1]),
        ("latency", "10.00 ms (A) to 20.00 ms (B)"),
    ]


def test_lines_about_sites_leave_out_what_is_not_stated():
    facts = SiteFacts(
        up_stated=2,
        up_bps=span(1e8, 1e9),
        down_stated=3,
        down_bps=span(1e9, 1e9),
        compute_stated=1,
        compute_s=span(0.02, 0.02),
    )
    assert _site_lines(facts, 3) == [
        ("uplinks", "100 Mbps to 1 Gbps, stated of 2 of 3 sites"),
        ("downlinks", "1 Gbps, stated of all sites"),
        ("computing", "20.00 ms a local step, stated of 1 of 3 sites"),
    ]
    several = replace(facts, up_bps=None, down_bps=None, compute_s=span(0.02, 0.04))
    assert _site_lines(several, 1) == [
        ("computing", "20.00 ms to 40.00 ms a local step, stated of all sites")
    ]


FACTS = UnderlayFacts(
    name="net",
    variant="corrected",
    title="net",
    sites=3,
    components=1,
    links=LINKS,
    pairs=None,
    without_coordinates=[],
    latitude_deg=span(1.0, 2.0),
    longitude_deg=span(-10.0, 20.0),
    stated_of_sites=None,
    notes=[],
)


def test_the_head_counts_routers_and_links():
    assert str(FACTS).splitlines()[0] == "net: 3 routers, 3 core links, connected"
    parallel = replace(FACTS, links=replace(LINKS, links=1, parallel=2))
    assert (
        facts_text(parallel).splitlines()[0] == "net: 3 routers, 1 core link, 2 of them parallel, connected"
    )
    text = facts_text(replace(FACTS, notes=["One.", "Two."])).splitlines()
    assert text[1] == ""
    assert text[-4:] == ["coordinates   of all sites: 1 N to 2 N, 10 W to 20 E", "", "One.", "Two."]
    assert facts_text(FACTS).splitlines()[-1].startswith("coordinates")


@pytest.mark.parametrize("lacking", ["latitude_deg", "longitude_deg"])
def test_places_of_no_site(lacking):
    assert _places(replace(FACTS, **{lacking: None})) == "of no site"


def test_a_span_is_of_those_that_count_and_names_the_first_of_several():
    values = np.array([3.0, 1.0, 5.0, 1.0, 5.0, 0.5])
    assert _span(values, "abcdef".__getitem__) == span(0.5, 5.0, "f", "c")
    among = np.array([True, True, False, True, True, False])
    assert _span(values, "abcdef".__getitem__, among) == span(1.0, 5.0, "b", "e")
    assert _span(values, "abcdef".__getitem__, np.zeros(6, dtype=bool)) is None
    assert _span(np.zeros(0), "".__getitem__) is None


@pytest.mark.parametrize(
    ("longitude_deg", "west", "east"),
    [
        ([-10.0, 20.0, 5.0], -10.0, 20.0),
        # Across the date line the westernmost one is in the east.
        ([170.0, -170.0, 175.0], 170.0, -170.0),
        ([170.0, 180.0], 170.0, 180.0),
        ([7.0], 7.0, 7.0),
    ],
)
def test_the_ends_of_the_arc_that_has_all_places(longitude_deg, west, east):
    places = np.array([*longitude_deg, np.nan])
    found = _west_and_east(places, str, np.isfinite(places))
    assert (found.lowest, found.highest) == (pytest.approx(west), pytest.approx(east))
    assert np.isnan(places[-1])
    assert _west_and_east(np.full(2, np.nan), str, np.zeros(2, dtype=bool)) is None


def network(ends, length_km, capacity_bps=None, **changes):
    """Routers A (48 N 2 E), B (46 N 4 E), C (44 N 7 E), and D, without a place."""
    given = {
        "name": "net",
        "variant": "corrected",
        "labels": ("A", "B", "C", "D"),
        "latitude_deg": np.array([48.0, 46.0, 44.0, np.nan]),
        "longitude_deg": np.array([2.0, 4.0, 7.0, np.nan]),
        "ends": np.array(ends, dtype=np.int64).reshape(-1, 2),
        "length_km": np.array(length_km, dtype=float),
        "capacity_bps": np.array(capacity_bps or [np.nan] * len(length_km)),
    }
    return Underlay(**given | changes)


def test_links_with_stated_lengths_are_set_against_the_geodesic():
    a_b, b_c = geodesic_km(48.0, 2.0, 46.0, 4.0), geodesic_km(46.0, 4.0, 44.0, 7.0)
    # Computed; 1.5 times as long; too short, there and back in parallel; of unknown geodesic.
    ends = [(0, 1), (1, 2), (1, 2), (2, 1), (2, 3)]
    lengths = [a_b, 1.5 * b_c, 0.98 * b_c, 0.995 * b_c, 50.0]
    facts = _link_facts(network(ends, lengths, [1e9, np.nan, 1e8, np.nan, np.nan]))
    assert (facts.links, facts.parallel) == (5, 2)
    assert (facts.capacity_stated, facts.capacity_assumed) == (2, 3)
    assert (facts.capacity_bps.lowest, facts.capacity_bps.highest) == (1e8, 1e9)
    assert (facts.length_computed, facts.length_stated, facts.below_geodesic) == (1, 4, 1)
    ratio = facts.stated_over_geodesic
    assert (ratio.lowest, ratio.highest) == (pytest.approx(0.98), pytest.approx(1.5))
    assert (facts.length_km.lowest, facts.length_km.highest) == (50.0, pytest.approx(max(lengths)))


def test_a_geodesic_is_the_same_there_and_back_and_unknown_without_a_place():
    found = network([(0, 1), (1, 2), (2, 3)], [1.0, 1.0, 1.0])
    assert _direct_km(found, 0, 1) == _direct_km(found, 1, 0) == geodesic_km(48.0, 2.0, 46.0, 4.0)
    assert np.isnan(_direct_km(found, 2, 3))
    assert np.isnan(_direct_km(found, 3, 2))


def test_what_is_stated_of_sites_is_counted():
    plain = network([(0, 1), (1, 2), (2, 3)], [1.0, 1.0, 1.0])
    assert _site_facts(plain) is None
    nan = np.nan
    sites = SiteValues(
        up_bps=np.array([1e8, nan, 1e9, nan]),
        down_bps=np.full(4, nan),
        compute_s=np.array([nan, 0.5, nan, nan]),
    )
    facts = _site_facts(replace(plain, sites=sites))
    assert (facts.up_stated, facts.down_stated, facts.compute_stated) == (2, 0, 1)
    assert facts.up_bps == span(1e8, 1e9, "A", "C")
    assert facts.down_bps is None
    assert facts.compute_s == span(0.5, 0.5, "B", "B")


def pairs_of(bandwidth_bps, latency_s):
    return MeasuredPairs(bandwidth_bps=np.array(bandwidth_bps), latency_s=np.array(latency_s))


def test_pairs_as_csv_have_a_row_where_anything_limits_them():
    inf = np.inf
    measured = pairs_of([[inf, 1e6], [inf, 5e8]], [[0.002, 0.0], [30.1 / 1000, 0.0]])
    assert pairs_text(measured, ("a", 'b "c"')).splitlines() == [
        "from,to,bandwidth_bps,latency_ms",
        "a,a,inf,2.0",
        'a,"b ""c""",1000000.0,0.0',
        '"b ""c""",a,inf,30.1',
        '"b ""c""","b ""c""",500000000.0,0.0',
    ]
    plain = pairs_of([[inf, 1e6], [0.0, inf]], [[0.0, 0.01], [0.0, 0.0]])
    assert pairs_text(plain, ("a", "b")).splitlines()[1:] == ["a,b,1000000.0,10.0"]


@pytest.mark.parametrize(
    ("seconds", "ms"), [(30.1 / 1000, 30.1), (0.0, 0.0), (0.001, 1.0), (1.0, 1000.0), (5e-324, 0.0)]
)
def test_milliseconds_are_short_where_they_bring_the_seconds_back(seconds, ms):
    assert _in_ms(seconds) == pytest.approx(ms)
    if seconds > 1e-300:
        assert _in_ms(seconds) == ms


@pytest.mark.parametrize(
    ("name", "is_measured", "message"),
    [
        ("x.gml", False, None),
        ("x.GML", False, None),
        ("x.csv", True, None),
        ("x.gml", True, r"must end in \.csv: measured pairs go to CSV, GML has none\."),
        ("x.csv", False, r"must end in \.gml: only measured pairs go to CSV\."),
        ("x.png", False, r"must end in \.gml or \.csv\."),
    ],
)
def test_measured_pairs_go_to_csv_and_links_to_gml(tmp_path, name, is_measured, message):
    found = SimpleNamespace(measured=object() if is_measured else None)
    if message is None:
        check_conversion(tmp_path / name, found, force=False)
    else:
        with pytest.raises(InputError, match=message):
            check_conversion(tmp_path / name, found, force=False)


def test_a_drawing_ends_like_a_picture_or_a_page(tmp_path):
    for name in ("x.svg", "x.png", "x.pdf", "x.html"):
        check_drawing(tmp_path / name, force=False)
    with pytest.raises(InputError, match=r"must end in \.png or \.svg or \.pdf or \.html"):
        check_drawing(tmp_path / "x.gml", force=False)
    (tmp_path / "x.svg").touch()
    with pytest.raises(InputError, match="exists already"):
        check_drawing(tmp_path / "x.svg", force=False)
    check_drawing(tmp_path / "x.svg", force=True)


def test_what_a_file_cannot_hold_is_said(monkeypatch):
    written = []
    monkeypatch.setattr(
        study, "write_whole", lambda path, text, *, force: written.append((path, text, force))
    )
    monkeypatch.setattr(study, "gml_text", lambda _: "gml")
    path = Path("x.gml")
    plain = network([(0, 1), (1, 2), (2, 3)], [1.0, 1.0, 1.0])
    assert write_conversion(plain, path, force=False) == []
    ones = np.ones(4)
    sites = SiteValues(up_bps=ones, down_bps=ones, compute_s=ones)
    assert write_conversion(replace(plain, sites=sites), path, force=True) == [
        "'x.gml' does not hold what is stated of sites: access links and computing times."
    ]
    assert written == [(path, "gml", False), (path, "gml", True)]
    nowhere = {"latitude_deg": np.full(2, np.nan), "longitude_deg": np.full(2, np.nan), "labels": ("a", "b")}
    measured = pairs_of([[np.inf, 1e6], [1e6, np.inf]], [[0.0, 0.01], [0.01, 0.0]])
    unplaced = network(np.zeros((0, 2)), [], measured=measured, **nowhere)
    assert write_conversion(unplaced, Path("x.csv"), force=False) == []
    placed = replace(unplaced, latitude_deg=np.array([1.0, np.nan]), longitude_deg=np.array([1.0, np.nan]))
    assert write_conversion(placed, Path("x.csv"), force=False) == ["'x.csv' does not hold coordinates."]
    assert written[-1][1] == pairs_text(measured, ("a", "b"))


def test_facts_as_json_keep_the_letters_of_names():
    facts = replace(FACTS, name="Zürich", without_coordinates=["Å"])
    assert json.loads(facts.json())["name"] == "Zürich"
    assert "Zürich" in facts.json()
    assert json.loads(facts.json())["links"]["length_km"] == {
        "lowest": 5.0,
        "lowest_at": "A - B",
        "highest": 2000.0,
        "highest_at": "B - C",
    }


def test_stated_lengths_between_places_that_are_the_same_have_no_ratio():
    near = np.array([48.0, 48.0, 48.004, np.nan])
    placed = network([(0, 1), (1, 2), (2, 3)], [5.0, 0.5, 9.0], latitude_deg=near, longitude_deg=near * 0)
    facts = _link_facts(placed)
    # 0.004 degrees are 0.445 km.
    assert (
        facts.stated_over_geodesic.lowest
        == facts.stated_over_geodesic.highest
        == pytest.approx(0.5 / 0.4448, rel=1e-3)
    )
    assert (facts.length_computed, facts.below_geodesic) == (0, 0)


def test_a_length_of_99_parts_of_the_geodesic_may_be_a_cable():
    b_c = geodesic_km(46.0, 4.0, 44.0, 7.0)
    for share, below in ((NO_CABLE, 0), (NO_CABLE * (1 - 1e-12), 1)):
        assert _link_facts(network([(1, 2), (0, 2), (2, 3)], [share * b_c, 9e9, 9.0])).below_geodesic == below


def test_places_just_across_the_date_line():
    found = _west_and_east(np.array([179.0, -179.5]), str, np.ones(2, dtype=bool))
    assert (found.lowest, found.highest) == (179.0, pytest.approx(-179.5))


@pytest.mark.parametrize(
    ("angle", "sides", "text"),
    [
        (31.8349, "NS", "31.83 N"),
        (-31.8, "NS", "31.8 S"),
        (0.0, "EW", "0 E"),
        (0.5, "EW", "0.5 E"),
        (-180.0, "EW", "180 W"),
    ],
)
def test_degrees_have_their_side(angle, sides, text):
    assert _degrees(angle, sides) == text


@pytest.mark.parametrize(
    ("length", "text"),
    [(0.123, "0.12 km"), (9.94, "9.9 km"), (10.0, "10 km"), (10.6, "11 km"), (12_345.6, "12,346 km")],
)
def test_short_lengths_have_two_digits(length, text):
    assert _km(length) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 links"), (1, "1 link"), (1234, "1,234 links")])
def test_numbers_of_things(number, text):
    assert _count(number, "link") == text


def test_pairs_of_any_bandwidth_have_a_row():
    measured = pairs_of([[np.inf, 0.5], [0.0, np.inf]], [[0.0, 0.01], [0.0, 0.0]])
    assert pairs_text(measured, ("a", "b")).splitlines()[1:] == ["a,b,0.5,10.0"]


def test_long_lines_about_a_network_are_wrapped_below_each_other():
    facts = replace(FACTS, without_coordinates=[f"site {number}" for number in range(9)], sites=20)
    lines = facts_text(facts).splitlines()
    assert max(map(len, lines)) <= 80
    place = next(
        number for number, line in enumerate(lines) if line.startswith("coordinates   of 11 of 20 sites: ")
    )
    assert lines[place + 1].startswith(" " * 14)
    assert lines[-1].endswith("and 1 more")


def test_pairs_that_are_not_measured_are_counted():
    pairs = PairFacts(pairs=5, missing=1, unlimited=5, bandwidth_bps=None, latency_s=span(0.01, 0.02))
    head = facts_text(replace(FACTS, links=None, pairs=pairs)).splitlines()[0]
    assert head == "net: 3 sites, 5 of 6 ordered pairs measured, strongly connected"
