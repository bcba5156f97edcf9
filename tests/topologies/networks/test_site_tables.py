"""Networks of a table of sites and one of links."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, load_underlay
from topologies.geodesy import geodesic_km
from topologies.networks.csv_table import read_table
from topologies.networks.loading import _underlay
from topologies.networks.network_files import NetworkFiles
from topologies.networks.site_tables import read_sites, stated_sites_and_links

SITES = """Hospital,lat,Long,uplink_mbps,Downlink [Gbit/s],compute_ms,Ward
Turin,45.07,7.69,50,,25,b
Lyon,45.76,4.84,100,1,20,a
Zurich,47.37,8.54,100,0.1,,c
"""
LINKS = """from,to,capacity,distance (km)
Lyon,Turin,10 Gbps,251.5
Zurich,Turin,1 Gbps,
Zurich,Lyon,,
"""


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def same(one, other):
    assert one.labels == other.labels
    for field in ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    if one.sites is None:
        assert other.sites is None
    else:
        for field in ("up_bps", "down_bps", "compute_s"):
            np.testing.assert_array_equal(getattr(one.sites, field), getattr(other.sites, field))


def test_what_the_tables_state(tmp_path):
    underlay = load_underlay(write(tmp_path / "wards", sites=SITES, links=LINKS))

    assert (underlay.name, underlay.labels) == ("wards", ("Lyon", "Turin", "Zurich"))
    assert underlay.ends.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert underlay.length_km[0] == 251.5
    assert underlay.length_km[1] == geodesic_km(45.76, 4.84, 47.37, 8.54)
    np.testing.assert_array_equal(underlay.capacity_bps, [1e10, np.nan, 1e9])
    assert underlay.sites.up_bps.tolist() == [1e8, 5e7, 1e8]
    np.testing.assert_array_equal(underlay.sites.down_bps, [1e9, np.nan, 1e8])
    np.testing.assert_array_equal(underlay.sites.compute_s, [0.02, 0.025, np.nan])
    assert underlay.notes == (
        "sites.csv: name from 'Hospital', latitude from 'lat', longitude from 'Long', access up from 'uplink_mbps' "
        "(Mbps), access down from 'Downlink [Gbit/s]' (Gbit/s), computing time from 'compute_ms' (ms); "
        "ignored: 'Ward'.",
        "links.csv: one end from 'from', other end from 'to', capacity from 'capacity', length from 'distance (km)' "
        "(km).",
    )


def test_all_ways_to_name_the_files_give_the_same(tmp_path):
    folder = write(tmp_path / "wards", sites=SITES, links=LINKS)
    whole = load_underlay(folder)
    (folder / "wards.toml").write_text('sites = "sites.csv"\nlinks = "links.csv"\n')
    files = NetworkFiles(sites=folder / "sites.csv", links=str(folder / "links.csv"))
    for network in (str(folder), folder / "wards.toml", files):
        again = load_underlay(network)
        same(again, whole)
        assert again.name == "wards"
    (folder / "north_links.csv").write_text(LINKS)
    assert NetworkFiles(sites="s.csv", links=folder / "north_links.csv").name == "north"


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_dialects_give_the_same_network(tmp_path, delimiter):
    whole = load_underlay(write(tmp_path / "wards", sites=SITES, links=LINKS))
    other = {
        name: text.replace(",", delimiter).replace(".", ",").replace("\n", "\r\n")
        for name, text in (("sites", SITES), ("links", LINKS))
    }
    folder = tmp_path / "other"
    folder.mkdir()
    for name, text in other.items():
        (folder / f"{name}.csv").write_bytes(text.encode("utf-16"))
    same(load_underlay(folder), whole)


@given(
    rows=st.permutations(range(3)),
    links=st.permutations(range(3)),
    swaps=st.lists(st.booleans(), min_size=3, max_size=3),
)
@settings(max_examples=30, deadline=None)
def test_the_order_of_rows_does_not_matter(rows, links, swaps):
    def underlay(sites_text, links_text):
        tables = (read_table(text.encode(), "t.csv") for text in (sites_text, links_text))
        return _underlay("t", "corrected", stated_sites_and_links(*tables)).in_label_order()

    def shuffled(text, order, swap=()):
        head, *lines = text.splitlines()
        cells = [line.split(",") for line in lines]
        cells = [
            [b, a, *rest] if flip else [a, b, *rest]
            for (a, b, *rest), flip in zip(cells, swap or (0,) * 3, strict=True)
        ]
        return "\n".join([head, *(",".join(cells[i]) for i in order)])

    same(underlay(shuffled(SITES, rows), shuffled(LINKS, links, swaps)), underlay(SITES, LINKS))


def test_access_of_both_directions_and_names_of_columns(tmp_path):
    text = "Name,Access [Mbps],LATITUDE,lng\nA,10,1,2\nB,20 Gbps,3,4\n"
    underlay = load_underlay(write(tmp_path / "two", sites=text, links="source;target;speed_gbps\nA;B;1\n"))

    assert underlay.sites.up_bps.tolist() == underlay.sites.down_bps.tolist() == [1e7, 2e10]
    assert underlay.capacity_bps.tolist() == [1e9]
    assert (
        load_underlay(
            write(tmp_path / "bare", sites="name,lat,lon\nA,1,2\nB,3,4\n", links="a,b\nA,B\n")
        ).sites
        is None
    )


def test_latencies_of_links_add_up_on_a_path(tmp_path):
    links = "a,b,latency_ms,rtt\nA,B,3,\nB,C,,14 ms\n"
    underlay = load_underlay(write(tmp_path / "chain", sites="name,x\nA,\nB,\nC,\n", links=links))
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9))

    # The constant of the model's paths, 4 ms, comes on top.
    assert graph.latency_s[0] == pytest.approx([0.0, 0.007, 0.014], rel=1e-12)
    assert underlay.notes[-1] == (
        "links.csv: the latency of 2 of 2 links stands in them as the length that has it (0.0085 ms/km); the 4 ms of "
        "each path come on top."
    )


def test_links_with_and_without_a_latency_are_counted_apart(tmp_path):
    links = "a,b,latency_ms,km\nA,B,3,\nB,C,,700\n"
    underlay = load_underlay(write(tmp_path / "chain", sites="name,x\nA,\nB,\nC,\n", links=links))

    assert underlay.length_km == pytest.approx([3 / 0.0085, 700], rel=1e-12)
    assert underlay.notes[-1].startswith(
        "links.csv: the latency of 1 of 2 links stands in them as the length"
    )


def test_an_access_link_may_be_as_slow_as_a_bit_per_second(tmp_path):
    sites = "name,lat,lon,up_bps\nA,1,2,1\nB,3,4,0.5\n"
    underlay = load_underlay(write(tmp_path / "slow", sites=sites, links="a,b\nA,B\n"))

    assert underlay.sites.up_bps.tolist() == [1.0, 0.5]


def test_closed_form_by_hand(tmp_path):
    underlay = load_underlay(
        write(tmp_path / "two", sites="name,x\nA,\nB,\n", links="a,b,km,gbps\nA,B,1000,1\n")
    )
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e8, down_bps=1e10))
    overlay = build_overlay("pair", graph, Workload(model_bits=1e8, compute_s=0.5), [(0, 1), (1, 0)])

    assert overlay.closed_forms.paper_s == pytest.approx(0.5 + 0.0085 + 0.004 + 1.0, rel=1e-12)


TWO = "name,lat,lon\nA,1,2\nB,3,4\n"


@pytest.mark.parametrize(
    ("sites", "links", "rule"),
    [
        (
            "name,lat,lon\nA,1,2\nA,3,4\n",
            "a,b\nA,B\n",
            r"sites.csv: row 3, name\(='A'\) must be unique, is in row 2",
        ),
        ("name,lat,lon\nA,1,2\n", "a,b\nA,B\n", "sites.csv: must hold two sites or more"),
        (
            "name,lat,lon\n,1,2\nB,3,4",
            "a,b\nA,B\n",
            r"sites.csv: row 2, name\(=''\) must be the name of a site",
        ),
        (
            "lat,lon\n1,2\n3,4\n",
            "a,b\nA,B\n",
            r"sites.csv: needs a column 'site' or 'silo' or 'name' for the sites' names; it has 'lat', 'lon'\.$",
        ),
        (
            "name,lat\nA,1\nB,3\n",
            "a,b\nA,B\n",
            r"sites.csv: needs a column 'longitude' or 'lon' or 'lng' for the longitude, beside the other coordinate; "
            r"it has 'name', 'lat'\.$",
        ),
        (
            "name,lon\nA,1\nB,3\n",
            "a,b\nA,B\n",
            "sites.csv: needs a column 'latitude' or 'lat' for the latitude, beside the other coordinate; it has",
        ),
        (
            ",lat,lon\nA,1,2\nB,3,4\n",
            "a,b\nA,B\n",
            r"sites.csv: needs a column 'site' or 'silo' or 'name' for the sites' names; it has 'lat', 'lon'\.$",
        ),
        (
            "name,lat,lon\nA,-90.5,2\nB,3,4\n",
            "a,b\nA,B\n",
            r"sites.csv: row 2, lat\(='-90.5'\) must be degrees in \[-90, 90\] \(are the columns",
        ),
        (
            "name,lat,lon\nA,91,2\nB,3,-91\n",
            "a,b\nA,B\n",
            r"sites.csv: row 2, lat\(='91'\) must be degrees in \[-90, 90\]\.$",
        ),
        (
            "name,lat,lon\nA,,1\nB,3,4\n",
            "a,b\nA,B\n",
            r"sites.csv: row 2, lat\(=''\) must be a number, as the row has",
        ),
        (
            "name,compute_ms\nA,1\nB,inf\n",
            "a,b\nA,B\n",
            r"sites.csv: row 3, compute_ms\(='inf'\) must be finite and >= 0",
        ),
        (
            "name,down_mbps,access_mbps\nA,1,1\nB,3,1\n",
            "a,b\nA,B\n",
            "sites.csv: the column 'access_mbps' states the access in both directions, 'down_mbps' in one of them; "
            r"keep one way\.$",
        ),
        (
            "name,access_mbps,down_mbps,up_mbps\nA,1,1,1\nB,3,1,1\n",
            "a,b\nA,B\n",
            "'access_mbps' states the access in both directions, 'up_mbps' in one of them",
        ),
        (
            TWO,
            "b,c\nB,A\n",
            "links.csv: needs a column 'from' or 'source' or 'src' for the ends of the links; it has 'b'",
        ),
        (
            "name,lat,lon\nA,139.7,35.6\nB,3,4\n",
            "a,b\nA,B\n",
            r"sites.csv: row 2, lat\(='139.7'\) must be degrees in \[-90, 90\] \(are the columns .* swapped\?\)",
        ),
        (
            "name,lat,lon\nA,1,181\nB,3,4\n",
            "a,b\nA,B\n",
            r"sites.csv: row 2, lon\(='181'\) must be degrees in \[-180, 180\]\.",
        ),
        (
            "name,lat,lon\nA,1,\nB,3,4\n",
            "a,b\nA,B\n",
            r"sites.csv: row 2, lon\(=''\) must be a number, as the row has",
        ),
        (
            "name,lat,lon,up_mbps\nA,1,2,0\nB,3,4,1\n",
            "a,b\nA,B\n",
            r"sites.csv: row 2, up_mbps\(='0'\) must be > 0",
        ),
        (
            "name,compute_ms\nA,-1\nB,3\n",
            "a,b\nA,B\n",
            r"sites.csv: row 2, compute_ms\(='-1'\) must be finite and >= 0",
        ),
        (
            "name,access_mbps,up_mbps\nA,1,1\nB,3,1\n",
            "a,b\nA,B\n",
            "'access_mbps' states the access in both directions",
        ),
        (TWO, "a,b\nA,b\n", r"links.csv: row 2, b\(='b'\) must be one of A, B \(did you mean 'B'\?\)"),
        (TWO, "a,b\nA,A\n", r"links.csv: row 2, b\(='A'\) must be another site"),
        (
            TWO,
            "a,c\nA,B\n",
            r"links.csv: needs a column 'to' or 'target' or 'dst' for the ends of the links; it has 'a', 'c'\.$",
        ),
        (TWO, "a,b,speed_mbps\nA,B,0\n", r"links.csv: row 2, speed_mbps\(='0'\) must be > 0"),
        (TWO, "a,b,speed_mbps\nA,B,inf\n", r"links.csv: row 2, speed_mbps\(='inf'\) must be finite"),
        (TWO, "a,b,length\nA,B,3\n", r"links.csv: row 2, length\(='3'\) has no unit"),
        (
            "name,lat,lon\nA,,\nB,1,2\n",
            "a,b\nA,B\n",
            r"links.csv: row 2 \('A - B'\) must state a length or latency, as 'A' has no",
        ),
        (
            "name,x\nA,\nB,\nC,\n",
            "a,b,km\nA,B,1\n",
            "links.csv: the graph must be connected, has 2 components",
        ),
    ],
)
def test_tables_that_are_wrong(tmp_path, sites, links, rule):
    with pytest.raises(InputError, match=rule) as caught:
        load_underlay(write(tmp_path / "net", sites=sites, links=links))
    assert "\n" not in str(caught.value)


def test_poles_the_date_line_and_a_computing_time_of_0_are_allowed(tmp_path):
    sites = "name,lat,lon,compute_ms\nA,90,180,0\nB,-90,-180,1\n"
    underlay = load_underlay(write(tmp_path / "ends", sites=sites, links="a,b,km\nA,B,0\n"))

    assert (underlay.latitude_deg.tolist(), underlay.longitude_deg.tolist()) == ([90, -90], [180, -180])
    assert underlay.sites.compute_s.tolist() == [0, 0.001]
    assert underlay.length_km.tolist() == [0]


def test_the_first_column_names_the_sites_where_no_other_does(tmp_path):
    sites = "Clinic,lat,lon,Ward,Clinic chief\nA,1,2,x,y\nB,3,4,x,y\n"
    underlay = load_underlay(write(tmp_path / "ends", sites=sites, links="a,b\nA,B\n"))

    assert underlay.labels == ("A", "B")
    assert underlay.notes[0] == (
        "sites.csv: name from 'Clinic', latitude from 'lat', longitude from 'lon'; ignored: 'Ward', 'Clinic chief'."
    )


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        ({}, "a network must have links and sites, pairs, or a bandwidth_matrix"),
        ({"sites": "s"}, r"sites\(='s'\) needs links, pairs or a bandwidth_matrix beside it"),
        ({"links": "l"}, r"links\(='l'\) needs sites beside it"),
        ({"links": "l", "sites": "s", "pairs": "p"}, r"links\(='l'\) goes without pairs"),
        ({"pairs": "l", "bandwidth_matrix": "p"}, r"pairs\(='l'\) goes without bandwidth_matrix"),
        ({"latency_matrix": "l"}, r"latency_matrix\(='l'\) goes with bandwidth_matrix"),
        (
            {"bandwidth_matrix": "b"},
            r"bandwidth_matrix\(='b'\) needs a latency_matrix, or sites with coordinates",
        ),
    ],
)
def test_files_that_do_not_go_together(files, rule):
    with pytest.raises(InputError, match=rule):
        NetworkFiles(**files)


def test_folders_and_network_files_that_are_wrong(tmp_path):
    with pytest.raises(InputError, match=r"is a directory; one of a network holds sites.csv and links.csv"):
        load_underlay(tmp_path)
    write(tmp_path, sites=SITES, nodes=SITES)
    with pytest.raises(InputError, match=r"nodes\.csv and sites.csv both hold sites; keep one"):
        load_underlay(tmp_path)
    (tmp_path / "nodes.csv").unlink()
    with pytest.raises(InputError, match="needs links, pairs or a bandwidth_matrix beside it"):
        load_underlay(tmp_path)
    for text, rule in (
        ("sites = 3", r"sites\(=3\) must be a path, in quotes"),
        ("site = 's.csv'", r"has no key 'site'; did you mean 'sites'"),
        ("[network]", "is a scenario; this takes a network"),
        ("= 1", "not valid TOML"),
        ("sites = 's.csv'", "needs links, pairs or a bandwidth_matrix"),
        ("sites = 's.csv'\nlinks = 'l.csv'", "s.csv: there is no such file"),
    ):
        (tmp_path / "net.toml").write_text(text)
        with pytest.raises(InputError, match=rule):
            load_underlay(tmp_path / "net.toml")
    with pytest.raises(
        InputError, match=r"sites\.csv: is a table of sites; the links, the pairs or the matrices"
    ):
        load_underlay(tmp_path / "sites.csv")
    write(tmp_path, links=LINKS)
    with pytest.raises(InputError, match=r"variant\(='published'\) goes with gaia"):
        load_underlay(tmp_path, variant="published")


def of_links(links):
    tables = (read_table(text.encode(), f"{name}.csv") for name, text in (("sites", THREE), ("links", links)))
    return _underlay("t", "corrected", stated_sites_and_links(*tables)).in_label_order()


THREE = "name,lat,lon\nA,1,2\nB,3,4\nC,5,6\n"
HEAD = "a,b,mbps,km\n"
ONCE = f"{HEAD}A,B,100,5\nB,C,200,\nA,C,,7\n"


@pytest.mark.parametrize(
    ("links", "joined"),
    [
        (f"{ONCE}B,A,100,5\n", 1),
        (f"{HEAD}B,A,0.1 Gbps,5000 m\nC,B,200,\n{ONCE.removeprefix(HEAD)}C,A,,7\n", 3),
    ],
)
def test_links_that_are_listed_in_both_directions_are_joined(links, joined):
    found = of_links(links)
    same(found, of_links(ONCE))
    assert found.notes[2] == (
        f"links.csv: joined {2 * joined} rows of links that are listed in both directions to {joined} full-duplex ones."
    )


def test_parallel_links_in_one_direction_stay():
    found = of_links(f"{HEAD}A,B,100,5\nA,B,100,5\nA,B,1000,5\nB,A,100,5\nB,C,1,1\n")
    assert found.ends.tolist() == [[0, 1]] * 3 + [[1, 2]]
    assert found.capacity_bps.tolist() == [1e9, 1e8, 1e8, 1e6]
    assert "joined 2 rows of links that are listed in both directions to 1 full-duplex ones" in found.notes[2]
    again = of_links(f"{HEAD}A,B,100,5\nA,B,1000,5\nB,C,1,1\n")
    assert (again.links, again.notes[2]) == (3, "links.csv: 1 of 3 links is parallel to another: A - B.")


@pytest.mark.parametrize(
    ("links", "rule"),
    [
        (
            "a,b,mbps\nB,C,1\nA,B,100\nA,C,1\nB,A,1000\n",
            r"rows 3 and 5 are both directions of 'A - B', but differ: mbps\(='100'\) and mbps\(='1000'\)\. Links are "
            "full duplex: .* take a table of pairs",
        ),
        (
            "a,b,mbps\nB,C,1\nB,A,100\nA,B,\n",
            r"rows 3 and 4 .* of 'B - A', but differ: mbps\(='100'\) and mbps\(=''",
        ),
        ("a,b,km\nB,C,1\nA,B,5\nB,A,6\n", r"rows 3 and 4 .*: km\(='5'\) and km\(='6'\)"),
        ("a,b,rtt_ms\nB,C,1\nA,B,5\nB,A,6\n", r"rows 3 and 4 .*: rtt_ms\(='5'\) and rtt_ms\(='6'\)"),
        (
            "a,b,mbps\nA,B,1\nB,A,1\nC,A,4\nA,B,2\nA,C,3\nB,A,3\n",
            "rows 4 and 6 are both directions of 'C - A'",
        ),
    ],
)
def test_directions_of_a_link_that_differ(links, rule):
    with pytest.raises(InputError, match=rf"^links\.csv: {rule}"):
        of_links(links)


def test_a_length_beyond_floating_point_numbers():
    with pytest.raises(InputError, match=r"length_km\(=inf\) must be finite"):
        of_links("a,b,latency\nA,B,1e306 s\nB,C,1 s\n")


def test_a_computing_time_may_be_a_minimum_or_in_minutes():
    for header, cell, expected in (
        ("compute [min]", "2", 120),
        ("compute_avg_ms", "2", 0.002),
        ("compute", "1 h", 3600),
    ):
        table = read_table(f"site,{header}\nA,{cell}\nB,\n".encode(), "t.csv")
        assert read_sites(table).values.compute_s[0] == expected
    with pytest.raises(InputError, match="min in a name is the minimum"):
        read_sites(read_table(b"site,compute_min\nA,2\nB,3\n", "t.csv"))


@pytest.mark.parametrize(
    ("together", "why"),
    [
        (
            {"links": "from;to;km\nB;C;7\nA;B;\n"},
            r"row 3 \('A - B'\) of links\.csv states neither length nor latency",
        ),
        (
            {"pairs": "from;to;mbps\nA;B;7\nB;A;7\n"},
            r"'A -> B' of pairs\.csv has a bandwidth, but no latency",
        ),
    ],
)
def test_the_header_of_the_sites_is_to_blame_where_it_has_no_coordinates(tmp_path, together, why):
    sites = "Kliniek;Breedte;Lengte;access_mbps\nA;50;8;1\nB;51;9;1\nC;52;9;1\n"
    folder = write(tmp_path / "nl", sites=sites, **together)
    known = r"latitude \(latitude, lat, breitengrad, .*\) and longitude \(longitude, lon, .*längengrad.*\)"
    rule = rf"sites\.csv: the header must have columns of {known}, since {why}; unknown in it: 'Breedte', 'Lengte'\.$"
    with pytest.raises(InputError, match=rule):
        load_underlay(folder)
    write(folder, sites="site;access_mbps\nA;1\nB;1\nC;1\n")
    with pytest.raises(InputError, match=rf"{why}; it has no other columns\.$"):
        load_underlay(folder)
    # An empty cell in a column of coordinates is another thing.
    write(folder, sites="site;lat;lon\nA;;\nB;1;2\nC;1;3\n")
    with pytest.raises(
        InputError, match=r"(links|pairs)\.csv: .*latitude and longitude .*'A'|'A' has no latitude"
    ):
        load_underlay(folder)


@pytest.mark.parametrize(
    ("sites", "links"),
    [
        (
            "Standort;Breitengrad;Längengrad;Uplink [MBit/s]",
            "Nr;Von;Nach;Kapazität [GBit/s];Länge [km]",
        ),
        ("Ort;Breite;Laenge;upload_mbps", "Nr;von;nach;Bandbreite_Gbps;Entfernung (km)"),
        ("Stadt;BREITE;LA\u0308NGE;upload_mbps", "Nr;von;nach;Kapazitaet Gbps;laenge_km"),
        ("Ville;Latitude;Longitude;uplink_mbps", "No;Origine;Destination;Débit [Gbit/s];Longueur (km)"),
        ("Nom;lat;lon;uplink_mbps", "No;Origine;Destination;capacite_gbps;Distance (km)"),
        ("Ciudad;Latitud;Longitud;uplink_mbps", "No;Origen;Destino;Capacidad [Gbps];Longitud [km]"),
        ("Sitio;latitud;longitud;up_mbps", "No;origen;destino;velocidad;capacidad_gbps;distancia_km"),
    ],
)
def test_german_french_and_spanish_headers(tmp_path, sites, links):
    def underlay(name, *heads):
        rows = ("Lyon;45,76;4,84;100\nTurin;45,07;7,69;50\n", "1;Lyon;Turin;10;251,5\n")
        if heads[1].count(";") == 5:
            rows = (rows[0], "1;Lyon;Turin;x;10;251,5\n")
        tables = dict(zip(("sites", "links"), map("\n".join, zip(heads, rows, strict=True)), strict=True))
        return load_underlay(write(tmp_path / name, **tables))

    same(underlay("there", sites, links), underlay("here", "site;lat;lon;up_mbps", "Nr;from;to;gbps;km"))
    with pytest.raises(InputError, match="is a table of sites; the links, the pairs or the matrices"):
        load_underlay(tmp_path / "there" / "sites.csv")


def test_an_english_name_goes_before_one_of_another_language(tmp_path):
    sites = "Site;Stadt;Breite;lat;Länge;lon\nA;x;0;1;0;2\nB;x;0;3;0;4\n"
    links = "von;From;To;nach\n1;A;B;2\n"
    found = load_underlay(write(tmp_path / "both", sites=sites, links=links))
    assert (found.labels, found.latitude_deg.tolist(), found.longitude_deg.tolist()) == (
        ("A", "B"),
        [1, 3],
        [2, 4],
    )
    assert "ignored: 'Stadt', 'Breite', 'Länge'" in found.notes[0]


@pytest.mark.parametrize(
    ("head", "hint", "better"),
    [
        (
            "from,to,bandwidth_mbps,ping",
            r"write 'ping \[ms\]' or '40 ms'",
            "from,to,bandwidth_mbps,ping [ms]",
        ),
        (
            "from,to,bandwidth,ping_ms",
            r"write 'bandwidth \[Mbps\]' or '40 Mbps'",
            "from,to,bandwidth [Mbps],ping_ms",
        ),
    ],
)
def test_the_hint_on_a_missing_unit_keeps_the_meaning_of_the_column(tmp_path, head, hint, better):
    path = tmp_path / "pairs.csv"
    path.write_text(f"{head}\nA,B,40,40\nB,A,40,40\n")
    with pytest.raises(InputError, match=hint):
        load_underlay(path)
    path.write_text(f"{better}\nA,B,40,40\nB,A,40,40\n")
    measured = load_underlay(path).measured
    assert (measured.bandwidth_bps[0, 1], measured.latency_s[0, 1]) == (40e6, 0.02)


@pytest.mark.parametrize(
    ("rows", "hint"),
    [("A,91,90", True), ("A,91,-90", True), ("A,91,90.5", False), ("A,90.5,-91", False), ("A,-139,35", True)],
)
def test_coordinates_may_be_swapped_where_all_longitudes_could_be_latitudes(rows, hint):
    with pytest.raises(InputError) as caught:
        read_sites(read_table(f"name,lat,lon\n{rows}\nB,3,4\n".encode(), "t.csv"))
    assert str(caught.value).endswith(" swapped?)." if hint else "must be degrees in [-90, 90].")


@pytest.mark.parametrize(("place", "shown"), [("90,180.5", "180.5"), ("0,-181", "-181")])
def test_longitudes_end_at_180(place, shown):
    with pytest.raises(InputError, match=rf"lon\(='{shown}'\) must be degrees in \[-180, 180\]\.$"):
        read_sites(read_table(f"name,lat,lon\nA,{place}\nB,3,4\n".encode(), "t.csv"))


def test_a_site_without_both_coordinates_has_no_place():
    sites = read_sites(read_table(b"name,lat,lon\nA,,\nB,3,4\nC,0,0\n", "t.csv"))
    assert sites.has_place.tolist() == [False, True, True]
    assert sites.values is None
    assert sites.ignored == ()
