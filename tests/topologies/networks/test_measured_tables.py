"""Networks of measured pairs: long tables and matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, load_underlay
from topologies.geodesy import geodesic_km
from topologies.networks.csv_table import read_table
from topologies.networks.measured_tables import labelled_matrix, stated_matrices, stated_pairs
from topologies.networks.site_tables import read_sites

PAIRS = """from,to,bandwidth_mbps,rtt_ms,when
b,a,20,40,x
a,b,10,30,x
a,c,5,80,x
c,b,4,20,y
b,c,8,20,y
"""
BANDWIDTH = "Mbps,a,c,b\nb,20,8,0\na,-,5,10\nc,,0,4\n"
ROUND_TRIPS = "rtt [ms],a,b,c\na,0,30,80\nb,40,0,20\nc,,20,0\n"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "labs_pairs.csv"
    path.write_text(PAIRS)
    return load_underlay(path)


def same(one, other):
    assert one.labels == other.labels
    for field in ("bandwidth_bps", "latency_s"):
        np.testing.assert_array_equal(getattr(one.measured, field), getattr(other.measured, field))


def test_what_a_table_of_pairs_states(pairs):
    inf = np.inf
    assert pairs.labels == ("a", "b", "c")
    assert pairs.measured.bandwidth_bps.tolist() == [[inf, 1e7, 5e6], [2e7, inf, 8e6], [0, 4e6, inf]]
    assert pairs.measured.latency_s == pytest.approx(
        np.array([[0, 0.015, 0.04], [0.02, 0, 0.01], [0, 0.01, 0]]), rel=1e-15
    )
    assert pairs.notes == (
        "labs_pairs.csv: sender from 'from', receiver from 'to', bandwidth from 'bandwidth_mbps' (Mbps), round-trip "
        "time from 'rtt_ms' (ms); ignored: 'when'.",
        "labs_pairs.csv: the latency is half of 'rtt_ms'.",
    )


def test_matrices_state_the_same(pairs, tmp_path):
    folder = tmp_path / "labs"
    folder.mkdir()
    (folder / "bandwidth.csv").write_text(BANDWIDTH)
    (folder / "latency.csv").write_text(ROUND_TRIPS)
    same(load_underlay(folder), pairs)
    (folder / "latency.csv").unlink()
    (folder / "rtt_ms.csv").write_text(ROUND_TRIPS.replace("rtt [ms]", ""))
    same(load_underlay(folder), pairs)
    (folder / "rtt_ms.csv").unlink()
    (folder / "latency.csv").write_text("x;a;b;c\na;0 s;15 ms;40 ms\nb;20 ms;;10 ms\nc;;10000 us;\n")
    same(load_underlay(folder), pairs)
    assert load_underlay(folder).name == "labs"


def test_closed_form_by_hand(pairs):
    graph = connectivity(pairs, access=AccessLinks(up_bps=1e9, down_bps=6e6))
    overlay = build_overlay("pair", graph, Workload(model_bits=1e6, compute_s=0.25), [(0, 2), (2, 1), (1, 0)])

    # a -> c: 40 ms and 5 Mbps; c -> b: 10 ms and 4 Mbps; b -> a: 20 ms and the downlink's 6 Mbps.
    expected = (0.75 + 0.04 + 0.01 + 0.02 + 1 / 5 + 1 / 4 + 1 / 6) / 3
    assert overlay.closed_forms.paper_s == pytest.approx(expected, rel=1e-12)


@given(order=st.permutations(range(5)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_rows_does_not_matter(order):
    head, *lines = PAIRS.splitlines()
    shuffled = "\n".join([head, *(lines[i] for i in order)])
    one, other = (stated_pairs(read_table(text.encode(), "t.csv")) for text in (PAIRS, shuffled))
    same(one, other)


@given(sites=st.integers(2, 5), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_matrices_and_pairs_agree_in_any_order(sites, seed):
    rng = np.random.default_rng(seed)
    labels = [f"s{i}" for i in range(sites)]
    mbps, ms = rng.uniform(1, 100, (2, sites, sites)).round(3)

    def matrix(values, corner):
        rows, columns = rng.permutation(sites), rng.permutation(sites)
        lines = [",".join([labels[i], *(str(values[i, j]) for j in columns)]) for i in rows]
        return read_table(
            "\n".join([",".join([corner, *(labels[j] for j in columns)]), *lines]).encode(), "t.csv"
        )

    lines = [f"s{i},s{j},{mbps[i, j]},{ms[i, j]}" for i in range(sites) for j in range(sites)]
    long = "\n".join(["src,dst,speed_mbps,delay_ms", *rng.permutation(lines)])
    one = stated_matrices(matrix(mbps, "Mbps"), matrix(ms, "ms"))
    other = stated_pairs(read_table(long.encode(), "t.csv"))
    place = [one.labels.index(label) for label in other.labels]
    for field in ("bandwidth_bps", "latency_s"):
        np.testing.assert_array_equal(
            getattr(one.measured, field)[np.ix_(place, place)], getattr(other.measured, field)
        )


def test_latencies_that_are_not_stated_follow_from_coordinates(tmp_path):
    (tmp_path / "sites.csv").write_text("name,lat,lon,up_mbps\na,45.76,4.84,3\nb,45.07,7.69,\n")
    (tmp_path / "pairs.csv").write_text("from,to,bandwidth_mbps,latency_ms\na,b,1,\nb,a,2,9\n")
    underlay = load_underlay(tmp_path)

    expected = 0.0085e-3 * geodesic_km(45.76, 4.84, 45.07, 7.69) + 0.004
    assert underlay.measured.latency_s[0, 1] == pytest.approx(expected, rel=1e-15)
    assert underlay.measured.latency_s[1, 0] == pytest.approx(0.009, rel=1e-15)
    assert underlay.notes[-1] == (
        "pairs.csv: the latency of 1 pairs is not stated, but computed from the sites' distance: 0.0085 ms/km and 4 ms."
    )
    assert underlay.sites.up_bps[0] == 3e6
    (tmp_path / "pairs.csv").unlink()
    (tmp_path / "bandwidth_mbps.csv").write_text(",a,b\na,,1\nb,2,\n")
    again = load_underlay(tmp_path)
    assert again.measured.latency_s.tolist() == pytest.approx(np.array([[0, expected], [expected, 0]]))


def test_the_diagonal_is_between_two_silos_of_a_site(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("from,to,mbps,ms\na,b,1,1\nb,a,1,1\na,a,500,2\n")
    measured = load_underlay(path).measured

    assert np.diag(measured.bandwidth_bps).tolist() == [5e8, np.inf]
    assert np.diag(measured.latency_s).tolist() == [0.002, 0]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "from,to,mbps,ms\na,b,1,1\nb,a,1,1\na,b,2,2\n",
            "rows 2 and 4 are both of 'a -> b'; a pair must have one row",
        ),
        (
            "from,to,mbps,ms\na,b,1,1\nb,a,1,1\nb,a,1,1\na,b,2,2\na,b,2,2\n",
            "rows 3 and 4 are both of 'b -> a'",
        ),
        (
            "from,to,mbps\na,b,1\nb,a,1\n",
            "'a -> b' has a bandwidth, but no latency, and a table of sites must give",
        ),
        (
            "from,to,mbps,ms\na,b,1,1\nc,a,1,1\nb,a,1,1\nc,a,1,1\nb,a,1,1\nc,a,1,1\n",
            "rows 3 and 5 are both of 'c -> a'; a pair must have one row",
        ),
        ("from,to,mbps,ms\n,b,1,1\nb,a,1,1\n", r"row 2, from\(=''\) must be the name of a site"),
        ("from,to,mbps,ms\na,b,1,1\nb,,1,1\n", r"row 3, to\(=''\) must be the name of a site"),
        (
            "from,to,mbps,ms\na,b,1,1\nb,a,1,\n",
            "'b -> a' has a bandwidth, but no latency, and a table of sites must give the latitude and longitude of "
            "'a' to compute it from",
        ),
        ("from,to,ms\na,b,1\n", "needs a column 'bandwidth' or 'capacity' .* for the bandwidth"),
        ("from,mbps,ms\na,1,1\n", "needs a column 'to' or 'target' .* for the receiver"),
        ("from,to,mbps,ms\na,,1,1\n", r"row 2, to\(=''\) must be the name of a site"),
        ("from,to,mbps,ms\na,b,-1,1\nb,a,1,1\n", r"row 2, mbps\(='-1'\) must be >= 0"),
        ("from,to,mbps,ms\na,b,1,-1\nb,a,1,1\n", r"row 2, ms\(='-1'\) must be finite and >= 0"),
        ("from,to,bandwidth,ms\na,b,1,1\nb,a,1,1\n", r"row 2, bandwidth\(='1'\) has no unit"),
        ("from,to,mbps,ms\na,b,1,1\n", "'b' must send to another site; no measured pair says so"),
        (",a,b\na,1,2\nb,1,2\n", "is one matrix; a network takes one of bandwidth and one of latency"),
    ],
)
def test_tables_of_pairs_that_are_wrong(tmp_path, text, rule):
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(InputError, match=f"pairs.csv: {rule}") as caught:
        load_underlay(tmp_path / "pairs.csv")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("bandwidth", "latency", "rule"),
    [
        ("Mbps,a,a\na,1,2\nb,1,2\n", ROUND_TRIPS, "the label 'a' must be that of one column"),
        ("Mbps,a,b\na,1,2\na,1,2\n", ROUND_TRIPS, "the label 'a' must be that of one row"),
        ("Mbps,a,b\na,1,2\nc,1,2\n", ROUND_TRIPS, "must be a square matrix .*; 'b' has no row"),
        ("Mbps,a,c\na,1,2\nb,1,2\n", ROUND_TRIPS, "must be a square matrix .*; 'b' has no column"),
        ("Mbps,b,a\na,,2\nb,1,-3\n", ROUND_TRIPS, r"bandwidth.csv: row 3, a\(='-3'\) must be >= 0\.$"),
        (BANDWIDTH, ROUND_TRIPS.replace("80", "-8"), r"row 2, c\(='-8'\) must be finite and >= 0\.$"),
        ("Mbps,a,b\na,,2\nb,1,\n", "ms,a,b\na,0,\nb,1,0\n", "'a -> b' has a bandwidth, but no latency"),
        ("Mbps,a\na,1\n", ROUND_TRIPS, "must hold two sites or more"),
        ("x,a,b\na,,2\nb,1,\n", ROUND_TRIPS, r"row 2, b\(='2'\) has no unit, neither in the corner cell"),
        ("Mbps,a,b\na,,-2\nb,1,\n", ROUND_TRIPS, r"row 2, b\(='-2'\) must be >= 0"),
        ("Mbps,a,b\na,,2\nb,1,\n", ROUND_TRIPS, r"the label of a row\(='c'\) must be one of a, b"),
        (BANDWIDTH, "ms,a,b\na,0,1\nb,1,0\n", "latency.csv: must have a row and a column for 'c'"),
        (
            BANDWIDTH,
            ROUND_TRIPS.replace("80", "inf"),
            r"latency.csv: row 2, c\(='inf'\) must be finite and >= 0",
        ),
    ],
)
def test_matrices_that_are_wrong(tmp_path, bandwidth, latency, rule):
    (tmp_path / "bandwidth.csv").write_text(bandwidth)
    (tmp_path / "latency.csv").write_text(latency)
    with pytest.raises(InputError, match=rule):
        load_underlay(tmp_path)


def test_sites_that_no_table_of_sites_has(tmp_path):
    (tmp_path / "sites.csv").write_text("name,lat,lon\na,1,2\nb,3,4\n")
    (tmp_path / "pairs.csv").write_text(PAIRS)
    with pytest.raises(InputError, match=r"pairs.csv: row 5, from\(='c'\) must be one of a, b"):
        load_underlay(tmp_path)


def test_no_measured_latency_of_the_shipped_clouds_is_shorter_than_the_way_of_light():
    clouds = load_underlay("clouds")
    i, j = clouds.measured.pairs.T
    places = np.column_stack((clouds.latitude_deg, clouds.longitude_deg))
    km = np.array([geodesic_km(*places[a], *places[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)])

    assert (clouds.measured.latency_s[i, j] >= km / 299_792.458).all()


def test_shipped_clouds_are_limited_by_the_window_of_one_tcp_stream():
    clouds, aws = load_underlay("clouds"), load_underlay("clouds_aws")
    assert (clouds.routers, len(clouds.measured.pairs)) == (45, 1556)
    assert all(label.startswith("aws:") for label in aws.labels)
    i, j = clouds.measured.pairs.T
    rtt_s = 2 * clouds.measured.latency_s[i, j]
    window_mb = clouds.measured.bandwidth_bps[i, j] * rtt_s / 8e6
    is_aws = np.array([label.startswith("aws:") for label in clouds.labels])
    far = (rtt_s > 0.1) & is_aws[i]
    # Were the source's bytes those of a second, as it says, the windows would be ten times as large.
    for receivers, low, median, high in ((is_aws, 0.80, 0.83, 0.86), (~is_aws, 2.4, 2.6, 2.9)):
        found = np.percentile(window_mb[far & receivers[j]], [10, 50, 90])
        assert found == pytest.approx([low, median, high], abs=0.006 if median < 1 else 0.06)
    for name in ("clouds", "clouds_aws"):
        with pytest.raises(InputError, match=f"goes with gaia, .* and GML files, not with {name}"):
            load_underlay(name, variant="published")


def rows_of(header, *cells):
    return "\n".join([f"from,to,mbps,{header}", f"a,b,1,{','.join(cells)}", f"b,a,1,{','.join(cells)}", ""])


@pytest.mark.parametrize(
    ("header", "cells", "one_way_ms", "taken"),
    [
        ("rtt_min [ms],rtt_avg [ms],rtt_max [ms],rtt_mdev [ms]", "2468", 2, "rtt_avg [ms]"),
        ("rtt_min_ms,rtt_mean_ms,rtt_max_ms", "246", 2, "rtt_mean_ms"),
        ("rtt_ms_min,rtt_ms_avg,rtt_ms_max", "246", 2, "rtt_ms_avg"),
        ("min_ping_ms,avg_ping_ms", "24", 2, "avg_ping_ms"),
        ("rtt_ms,rtt_avg_ms", "24", 1, "rtt_ms"),
        ("rtt_min_ms", "2", 1, "rtt_min_ms"),
        ("latency_min_ms,latency_avg_ms,latency_max_ms", "246", 4, "latency_avg_ms"),
        ("latency_max (ms)", "6", 6, "latency_max (ms)"),
        ("rtt_min,rtt_avg,rtt_max", ("2 ms", "4 ms", "6 ms"), 2, "rtt_avg"),
        ("rtt [min],rtt [avg],rtt [max]", ("2 ms", "4 ms", "6 ms"), 2, "rtt [avg]"),
        ("rtt [min]", "3", 90_000, "rtt [min]"),
        # Of what `avg_ms` is the average nobody says.
        ("rtt_ms,avg_ms", "86", 4, "rtt_ms"),
        ("rtt_ms,min_ms,max_ms", "867", 4, "rtt_ms"),
    ],
)
def test_of_several_latencies_the_average_is_taken(header, cells, one_way_ms, taken):
    found = stated_pairs(read_table(rows_of(header, *cells).encode(), "t.csv"))
    assert found.measured.latency_s[0, 1] == pytest.approx(one_way_ms / 1e3, rel=1e-15)
    assert f"from {taken!r}" in found.notes[0]
    ignored = [name for name in header.split(",") if name != taken]
    assert all(repr(name) in found.notes[0] for name in ignored)


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        ("rtt_min,rtt_avg,rtt_max", r"row 2, rtt_avg\(='3'\) has no unit"),
        ("rtt_min,rtt_max", "the columns 'rtt_min' and 'rtt_max' both mean round-trip time; keep one"),
        (
            "latency_min_ms,latency_max_ms",
            "the columns 'latency_min_ms' and 'latency_max_ms' both mean latency",
        ),
        ("rtt_avg_ms,rtt_mean_ms", "the columns 'rtt_avg_ms' and 'rtt_mean_ms' both mean round-trip time"),
        (
            "latency_min",
            r"row 2, latency_min\(='3'\) has no unit, .* min in a name is the minimum, \[min\] minutes",
        ),
        ("rtt_d", r"the column 'rtt_d' must have its unit in brackets: 'rtt \[d\]'"),
    ],
)
def test_several_latencies_that_are_wrong(header, rule):
    with pytest.raises(InputError, match=rf"^t\.csv: {rule}"):
        stated_pairs(read_table(rows_of(header, *"333"[: header.count(",") + 1]).encode(), "t.csv"))


def test_a_table_of_pairs_and_a_matrix_have_one_decimal_mark(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("from;to;bandwidth_mbps;rtt_ms\na;b;1.000;12,5\nb;a;2.500;13,5\n")
    with pytest.raises(InputError, match=r"row 2, rtt_ms\(='12,5'\) must have the decimal mark of '1.000'"):
        load_underlay(path)
    with pytest.raises(InputError, match=r"row 3, a\(='2,5'\) must have the decimal mark of '1.000'"):
        stated_matrices(read_table(b"Mbps;a;b\na;;1.000\nb;2,5;\n", "t.csv"))


@pytest.mark.parametrize(
    ("number", "rule"), [("1e400", "must be finite"), ("1e-400", "must be 0 or larger than")]
)
def test_bandwidths_beyond_floating_point_numbers(number, rule):
    with pytest.raises(InputError, match=rf"row 2, mbps\(='{number}'\) {rule}"):
        stated_pairs(read_table(f"from,to,mbps,ms\na,b,{number},1\nb,a,1,1\n".encode(), "t.csv"))
    with pytest.raises(InputError, match=rf"row 2, b\(='{number}'\) {rule}"):
        stated_matrices(read_table(f"Mbps,a,b\na,,{number}\nb,1,\n".encode(), "t.csv"))


def test_latencies_by_distance_are_those_of_pairs_that_can_talk():
    rng = np.random.default_rng(2)
    latitude, longitude = rng.uniform(-60, 60, 8), rng.uniform(-180, 180, 8)
    order = rng.permutation(8)
    lines = [f"s{order[i]},{latitude[i]},{longitude[i]}" for i in range(8)]
    sites = read_sites(read_table("\n".join(["name,lat,lon", *lines, "none,,"]).encode(), "sites.csv"))
    talks = rng.random((8, 8)) < 0.5
    rows = [f"s{order[i]},s{order[j]},1" for i, j in np.argwhere(talks)]
    table = read_table("\n".join(["from,to,mbps", *rows]).encode(), "t.csv")
    found = stated_pairs(table, sites).measured.latency_s
    for i, j in np.argwhere(talks & ~np.eye(8, dtype=bool)):
        km = geodesic_km(latitude[i], longitude[i], latitude[j], longitude[j])
        assert found[i, j] == pytest.approx(0.0085e-3 * km + 0.004, rel=1e-9)
        assert found[j, i] in (found[i, j], 0)
    table = read_table("\n".join(["from,to,mbps", *rows, "none,s1,1"]).encode(), "t.csv")
    with pytest.raises(InputError, match=r"'none -> s1' has a bandwidth.* sites\.csv must give .* of 'none'"):
        stated_pairs(table, sites)


@pytest.mark.parametrize("zero", ["0", "", "-"])
def test_a_bandwidth_of_0_or_none_is_a_pair_that_cannot_talk(tmp_path, zero):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"from,to,bps,ms\na,b,0.5,1\nb,a,{zero},1\nc,a,3,1\na,c,inf,0\nb,c,1,1\nc,b,1,1\n")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "bandwidth_bps.csv").write_text(f",a,b,c\na,,0.5,inf\nb,{zero},,1\nc,3,1,\n")
    (tmp_path / "m" / "latency_ms.csv").write_text(",a,b,c\na,,1,0\nb,1,,1\nc,1,1,\n")
    for path in (pairs, tmp_path / "m"):
        underlay = load_underlay(path)
        graph = connectivity(underlay, access=AccessLinks(up_bps=10.0, down_bps=10.0))

        assert underlay.measured.bandwidth_bps.tolist() == [
            [np.inf, 0.5, np.inf],
            [0, np.inf, 1],
            [3, 1, np.inf],
        ]
        assert np.argwhere(~graph.may_send).tolist() == [[0, 0], [1, 0], [1, 1], [2, 2]]
        assert graph.latency_s[0].tolist() == [0.0, 0.001, 0.0]


def pairs_of(head, row):
    return stated_pairs(read_table(f"from,to,mbps,{head}\na,b,1,{row}\nb,a,1,{row}\n".encode(), "t.csv"))


def test_a_stated_latency_goes_before_half_of_the_round_trip_time():
    half = "t.csv: the latency is half of 'rtt_ms'."
    for head, row, one_way_s, is_said in (
        ("ms,rtt_ms", "3,8", 0.003, False),
        ("ms,rtt_ms", ",8", 0.004, False),
        ("rtt_ms,x", "8,", 0.004, True),
        ("ms,x", "3,", 0.003, False),
    ):
        found = pairs_of(head, row)
        assert found.measured.latency_s[0, 1] == pytest.approx(one_way_s, rel=1e-15)
        assert (half in found.notes) == is_said


def matrix(text, name="bandwidth_mbps.csv", **options):
    return labelled_matrix(read_table(text.encode(), name), options.pop("kind", "bit/s"), **options)


def test_the_unit_of_a_matrix_is_that_of_its_corner_else_of_its_file():
    corner = matrix("kbps,a,b\na,1,2\nb,3,4\n")
    assert corner.values.tolist() == [[1e3, 2e3], [3e3, 4e3]]
    assert corner.note == (
        "bandwidth_mbps.csv: bandwidth from the row's site to the column's, in kbps by the corner cell."
    )
    for other in ("", "km", "ms", "from/to"):
        file = matrix(f"{other},b,a\na,1,2\nb,3,4\n")
        assert (file.labels, file.values.tolist()) == (("a", "b"), [[2e6, 1e6], [4e6, 3e6]])
        assert file.note.endswith("to the column's, in Mbps by the file's name.")
    given = matrix(",a,b\na,1,2\nb,3,4\n", "t.csv", unit="Gbps")
    assert given.values[1, 0] == 3e9
    assert given.note == "t.csv: bandwidth from the row's site to the column's."
    with pytest.raises(InputError, match=r"has the unit 'Mbps', so that unit must be left out\.$"):
        matrix(",a,b\na,1,2\nb,3,4\n", unit="Gbps")


def test_a_matrix_of_times_may_hold_zeros_but_no_infinity_and_one_of_rates_both():
    assert matrix("ms,a,b\na,0,2\nb,,0\n", "t.csv", kind="s").note == (
        "t.csv: latency from the row's site to the column's, in ms by the corner cell."
    )
    assert matrix("Mbps,a,b\na,0,inf\nb,,0\n").values[0].tolist() == [0, np.inf]
    with pytest.raises(InputError) as caught:
        matrix("ms,b,a\na,1,inf\nb,0,0\n", "t.csv", kind="s")
    assert str(caught.value) == "t.csv: row 2, a(='inf') must be finite and >= 0."


def test_a_matrix_may_be_of_some_of_the_sites_and_a_diagonal_of_0_is_none():
    sites = read_sites(read_table(b"name,lat,lon\na,1,2\nb,3,4\nc,5,6\n", "sites.csv"))
    table = read_table(b"Mbps,a,c\na,0,1\nc,2,3\n", "t.csv")
    found = stated_matrices(table, read_table(b"ms,a,c\na,7,1\nc,2,\n", "u.csv"), sites)
    assert found.measured.bandwidth_bps.tolist() == [
        [np.inf, 0, 1e6],
        [0, np.inf, 0],
        [2e6, 0, 3e6],
    ]
    assert np.diag(found.measured.latency_s).tolist() == [0.007, 0, 0]
    assert found.notes[0] == sites.note
    assert [note.partition(":")[0] for note in found.notes[1:]] == ["t.csv", "u.csv"]


def test_a_bandwidth_below_one_bit_per_second_is_one():
    text = "from,to,bps,ms\na,a,0.5,\na,b,0.5,1\nb,a,0.5,1\n"
    found = stated_pairs(read_table(text.encode(), "t.csv"))
    assert np.diag(found.measured.bandwidth_bps).tolist() == [0.5, np.inf]
    with pytest.raises(InputError, match="'b -> a' has a bandwidth, but no latency"):
        stated_pairs(read_table(text.removesuffix("1\n").encode() + b"\n", "t.csv"))


def test_pairs_have_no_links_and_so_no_numbers_of_links():
    found = stated_pairs(read_table(b"from,to,bps,ms\na,b,5,1\nb,a,5,1\n", "t.csv"))
    for numbers in (found.distance_km, found.published_distance_km, found.capacity_bps):
        assert numbers.shape == (len(found.ends),) == (0,)
