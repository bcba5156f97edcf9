"""``silosim underlay``: known facts of networks, refusals in one line, and files that read back."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import silosim as package
from scenarios.studies.underlay import _in_ms, convert, pairs_text, underlay_facts
from topologies import InputError, Underlay, load_underlay
from topologies.measured_pairs import MeasuredPairs
from topologies.networks.loading import published_underlays
from topologies.site_values import SiteValues


def measured_network(bandwidth_bps, latency_s, **changes):
    """Sites called A, B and so on, with measured pairs."""
    size = len(bandwidth_bps)
    given = {
        "name": "clouds",
        "variant": "corrected",
        "labels": tuple("ABCDEFGH"[:size]),
        "latitude_deg": np.full(size, np.nan),
        "longitude_deg": np.full(size, np.nan),
        "ends": np.zeros((0, 2), dtype=int),
        "length_km": np.zeros(0),
        "capacity_bps": np.zeros(0),
        "measured": MeasuredPairs(bandwidth_bps=bandwidth_bps, latency_s=latency_s),
    }
    return Underlay(**given | changes)


THREE = measured_network(
    [[np.inf, 1e9, 2e8], [5e8, np.inf, 0], [3e7, np.inf, np.inf]],
    [[0, 0.01, 0.05], [0.01, 0, 0], [0.045, 30.1 / 1000, 0]],
)


def test_facts_of_geant(silosim):
    result = silosim("underlay", "geant").ok()

    assert result.err == ""
    assert result.out.splitlines() == [
        "geant (corrected): 40 routers, 61 core links, connected",
        "",
        "capacity      155 Mbps to 10 Gbps, stated on 39 links; 1 Gbps assumed on 22",
        "length        55 km to 3,223 km; from the coordinates on all 61 links",
        "longest link  CY - UK, 3,223 km",
        "coordinates   of all sites: 31.5 N to 64.14 N, 21.9 W to 37.62 E",
    ]


@pytest.mark.parametrize(
    ("name", "sites", "links", "stated"),
    [
        *(("gaia", 11, 55, 55), ("aws_na", 22, 231, 0), ("geant", 40, 61, 39)),
        *(("exodus", 79, 147, 0), ("ebone", 87, 161, 0)),
    ],
)
def test_json_has_the_facts_of_the_shipped_networks(silosim, name, sites, links, stated):
    facts = json.loads(silosim("underlay", name, "--json").ok().out)

    assert (facts["name"], facts["variant"], facts["sites"], facts["components"]) == (
        name,
        "corrected",
        sites,
        1,
    )
    assert (facts["links"]["links"], facts["links"]["capacity_stated"]) == (links, stated)
    assert facts["links"]["capacity_assumed"] == links - stated
    assert facts["links"]["length_computed"] == links
    assert facts["without_coordinates"] == []
    assert facts["pairs"] is facts["stated_of_sites"] is None


def test_the_published_lengths_are_stated_and_some_are_too_short(silosim):
    text = silosim("underlay", "geant", "--published").ok().out
    facts = package.describe_underlay(package.NetworkConfig(underlay="geant", variant="published"))

    assert text.startswith("geant (published): 40 routers")
    assert "none stated: 1 Gbps assumed on all 61 links" in text
    assert "stated on all 61 links" in text
    assert facts.links.below_geodesic > 0
    assert facts.links.stated_over_geodesic.lowest < 0.99
    assert "shorter than it, which no cable is, such as" in " ".join(text.split())


def test_facts_of_measured_pairs():
    facts = underlay_facts(THREE)

    assert (facts.pairs.pairs, facts.pairs.missing, facts.pairs.unlimited) == (5, 1, 1)
    assert (facts.pairs.bandwidth_bps.lowest, facts.pairs.bandwidth_bps.lowest_at) == (3e7, "C -> A")
    assert (facts.pairs.bandwidth_bps.highest, facts.pairs.bandwidth_bps.highest_at) == (1e9, "A -> B")
    assert str(facts).splitlines() == [
        "clouds: 3 sites, 5 of 6 ordered pairs measured, strongly connected",
        "",
        "missing       1 pair",
        "bandwidth     30 Mbps (C -> A) to 1 Gbps (A -> B); unlimited on 1 pair",
        "latency       10.00 ms (A -> B) to 50.00 ms (A -> C)",
        "coordinates   of no site",
    ]
    json.loads(facts.json())


def test_what_is_stated_of_sites_and_notes_are_said():
    nan = np.nan
    sites = SiteValues(
        up_bps=np.array([1e8, 1e9, nan]),
        down_bps=np.array([1e9, 1e9, 1e9]),
        compute_s=np.array([nan, 0.1, 0.02]),
    )
    placed = replace(
        THREE,
        sites=sites,
        notes=("5 nodes were left out: they are external.",),
        latitude_deg=np.array([1.0, 2.0, nan]),
        longitude_deg=np.array([170.0, -170.0, nan]),
    )
    lines = str(underlay_facts(placed)).splitlines()

    assert lines[5:] == [
        # East of the first one, across the date line.
        "coordinates   of 2 of 3 sites: 1 N to 2 N, 170 E to 170 W; none of C",
        "uplinks       100 Mbps to 1 Gbps, stated of 2 of 3 sites",
        "downlinks     1 Gbps, stated of all sites",
        "computing     20.00 ms to 100.0 ms a local step, stated of 2 of 3 sites",
        "",
        "5 nodes were left out: they are external.",
    ]


def test_no_line_is_wider_than_eighty_columns_whatever_the_labels():
    labels = tuple(f"{letter * 45} hospital" for letter in "ABC")
    geant = load_underlay("geant")
    unknown = np.full(40, np.nan)
    unknown[0] = 1.0
    for network in (
        replace(THREE, labels=labels),
        replace(
            geant,
            labels=tuple(f"{label} {'x' * 40}" for label in geant.labels),
            latitude_deg=unknown,
            longitude_deg=unknown,
        ),
    ):
        assert max(map(len, str(underlay_facts(network)).splitlines())) <= 80


@pytest.mark.usefixtures("placeholder_figures")
def test_a_map_and_a_conversion_are_written_once(silosim, tmp_path):
    figure, copy = tmp_path / "new" / "map.svg", tmp_path / "copy.gml"
    (tmp_path / "net.gml").write_text(
        'graph [ node [ id 0 label "A" Latitude 48.0 Longitude 2.0 ] '
        'node [ id 1 label "B" Latitude 45.0 Longitude 9.0 ] edge [ source 0 target 1 ] ]'
    )
    arguments = ("underlay", tmp_path / "net.gml", "-o", figure, "--convert", copy)
    first = silosim(*arguments).ok()
    (drawn, written) = figure.read_bytes(), copy.read_bytes()

    assert first.err.splitlines() == [f"written: {figure}", f"written: {copy}"]
    refused = silosim(*arguments)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"silosim: error: {figure} exists already; --force replaces it.\n"
    assert (figure.read_bytes(), copy.read_bytes()) == (drawn, written)
    silosim("underlay", "gaia", "--convert", copy, "--force").ok()
    assert load_underlay(copy).routers == 11
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.gml", "net.gml", "new"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "'nowhere'"),
        (("gaia", "-o", "map.jpg"), "output(='map.jpg') must end in .png or .svg or .pdf or .html."),
        (("gaia", "--convert", "x.txt"), "output(='x.txt') must end in .gml or .csv."),
        (("gaia", "--convert", "x.csv"), "output(='x.csv') must end in .gml: only measured pairs go to CSV."),
        (("gaia", "--core", "1 Gbps"), "No such option"),
    ],
)
def test_wrong_input_is_refused_in_one_line_before_anything_is_written(
    silosim, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    result = silosim("underlay", *arguments)

    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", published_underlays())
def test_a_converted_network_is_the_same(silosim, tmp_path, name):
    path = tmp_path / f"{name}.gml"
    silosim("underlay", name, "--convert", path).ok()

    assert silosim("underlay", path, "--json").ok().out == silosim("underlay", name, "--json").ok().out


def test_measured_pairs_go_to_csv_and_not_to_gml(tmp_path):
    with pytest.raises(
        InputError, match=r"x\.gml'\) must end in \.csv: measured pairs go to CSV, GML has none\."
    ):
        convert(THREE, tmp_path / "x.gml", force=False)
    placed = replace(THREE, latitude_deg=np.zeros(3), longitude_deg=np.zeros(3))

    assert convert(THREE, tmp_path / "x.csv", force=False) == []
    assert (tmp_path / "x.csv").read_text().splitlines() == [
        "from,to,bandwidth_bps,latency_ms",
        "A,B,1000000000.0,10.0",
        "A,C,200000000.0,50.0",
        "B,A,500000000.0,10.0",
        "C,A,30000000.0,45.0",
        "C,B,inf,30.1",
    ]
    (lost,) = convert(placed, tmp_path / "y.csv", force=False)
    assert lost.endswith("does not hold coordinates.")
    with pytest.raises(InputError, match="exists already; --force replaces it"):
        convert(THREE, tmp_path / "x.csv", force=False)


@pytest.mark.slow
@given(
    st.lists(st.floats(1e-3, 1e15) | st.just(np.inf), min_size=6, max_size=6),
    st.lists(st.floats(0, 1e4).map(lambda ms: ms / 1e3), min_size=6, max_size=6),
)
@example([1e9] * 6, [30.1 / 1000, 9.907 / 1000, 0.1 / 1000, 1 / 3 / 1000, 5e-324, 0.0])
def test_csv_brings_measurements_back_to_the_last_bit(bandwidths, latencies):
    off = ~np.eye(3, dtype=bool)
    bandwidth_bps, latency_s = np.full((3, 3), np.inf), np.zeros((3, 3))
    bandwidth_bps[off], latency_s[off] = bandwidths, latencies
    network = measured_network(bandwidth_bps, latency_s, labels=("a, b", 'say "c"', "Zürich"))
    text = pairs_text(network.measured, network.labels)
    back_bps, back_s = np.full((3, 3), np.inf), np.zeros((3, 3))
    for row in csv.DictReader(io.StringIO(text)):
        pair = network.labels.index(row["from"]), network.labels.index(row["to"])
        back_bps[pair], back_s[pair] = float(row["bandwidth_bps"]), float(row["latency_ms"]) / 1000

    np.testing.assert_array_equal(back_bps, bandwidth_bps)
    np.testing.assert_array_equal(back_s, latency_s)


@given(st.floats(1e-3, 1e4))
def test_latencies_that_were_read_in_milliseconds_are_written_as_they_were(ms):
    seconds = ms / 1e3
    assert _in_ms(seconds) / 1e3 == seconds
    assert _in_ms(float(f"{ms:.9g}") / 1e3) == float(f"{ms:.9g}")


def test_from_python(tmp_path):
    gaia = package.load_underlay("gaia")
    package.draw_underlay(gaia, tmp_path / "gaia.html")
    package.convert_underlay(gaia, tmp_path / "gaia.gml")

    assert package.describe_underlay(tmp_path / "gaia.gml").sites == 11
    assert (tmp_path / "gaia.html").read_text().startswith("<!doctype html>")
    with pytest.warns(UserWarning, match="does not hold coordinates"):
        package.convert_underlay(
            replace(THREE, latitude_deg=np.zeros(3), longitude_deg=np.zeros(3)), tmp_path / "pairs.csv"
        )


def test_options_of_a_workload_are_refused(silosim):
    for option, value in (
        ("--compute-at", "Dublin=1 ms"),
        ("--compute", "1 ms"),
        ("--access-at", "Dublin=1 Mbps"),
    ):
        assert f"No such option: {option}" in silosim("underlay", "gaia", option, value).failed(2).err
