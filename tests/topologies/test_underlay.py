"""The underlay's rules, its names for links, and how an underlay is found by name or path."""

import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError, Underlay, load_underlay, published_underlays, shipped_underlays
from topologies.geodesy import geodesic_km
from topologies.site_values import SiteValues
from topologies.stated_routes import stated_routes
from topologies.underlay import disconnected


def triangle(**changes: Any) -> Underlay:
    """Three routers, two of them joined by parallel links."""
    fields: dict[str, Any] = {
        "name": "triangle",
        "variant": "corrected",
        "labels": ("A", "B", "C"),
        "latitude_deg": [1.0, np.nan, 90],
        "longitude_deg": [-180, np.nan, 180],
        "ends": [[0, 1], [2, 1], [1, 0], [0, 2]],
        "length_km": [5.0, 0.0, 3.0, 1.0],
        "capacity_bps": [1e9, np.nan, 1e8, np.nan],
    }
    return Underlay(**(fields | changes))


def test_counts_and_link_names() -> None:
    underlay = triangle()
    assert (underlay.routers, underlay.links) == (3, 4)
    assert [underlay.link_name(link) for link in range(4)] == ["A - B #1", "C - B", "B - A #2", "A - C"]
    assert underlay.link_name(-2) == "B - A #2"


def test_arrays_are_read_only_copies_of_the_right_type() -> None:
    length_km = np.array([5, 0, 3, 1], dtype=np.int32)
    underlay = triangle(length_km=length_km)
    length_km[0] = 99
    assert underlay.length_km.tolist() == [5.0, 0.0, 3.0, 1.0]
    assert underlay.length_km.dtype == np.float64
    assert underlay.ends.dtype == np.int64
    for array in (underlay.latitude_deg, underlay.ends, underlay.length_km, underlay.capacity_bps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(triangle()))
    assert copy.labels == ("A", "B", "C")
    np.testing.assert_array_equal(copy.ends, triangle().ends)


@pytest.mark.parametrize(
    ("changes", "fragments"),
    [
        ({"variant": "true"}, ["variant(='true')", "'corrected' or 'published'"]),
        ({"labels": ("A", "B", "A")}, ["label(='A')", "routers 0 and 2", "unique"]),
        ({"labels": ("A", "", "C")}, ["label(='')", "router 1", "not blank"]),
        ({"labels": ("A", 5, "C")}, ["label(=5)", "router 1", "text"]),
        ({"labels": ("A", "B\x1b[2J", "C")}, ["label(='B\\x1b[2J')", "router 1", "control"]),
        ({"labels": ("A", "B")}, ["latitude_deg", "(3,)", "(2,)"]),
        (
            {"latitude_deg": [91, 0, 0], "longitude_deg": [0, 0, 0]},
            ["'A'", "latitude_deg(=91.0)", "[-90, 90]"],
        ),
        ({"latitude_deg": [0, 0, 0], "longitude_deg": [0, 0, -np.inf]}, ["'C'", "longitude_deg(=-inf)"]),
        ({"latitude_deg": [0, 0, 90]}, ["'B'", "both a latitude and a longitude"]),
        ({"length_km": [1, 1, np.nan, 1]}, ["link 2 ('B - A #2')", "length_km(=nan)", "finite and >= 0"]),
        ({"length_km": [1, 1, 1, np.inf]}, ["link 3 ('A - C')", "length_km(=inf)", "finite and >= 0"]),
        ({"length_km": [1, -0.5, 1, 1]}, ["link 1 ('C - B')", "length_km(=-0.5)", "finite and >= 0"]),
        ({"length_km": [1, 1, 1]}, ["length_km", "(3,)", "(4,)"]),
        ({"length_km": [[1], [1, 2], [1], [1]]}, ["length_km", "regular"]),
        ({"length_km": ["1", "1", "1", "1"]}, ["length_km", "numbers", "<U1"]),
        ({"length_km": [True, True, True, True]}, ["length_km", "numbers", "bool"]),
        ({"capacity_bps": [1, 1, 0, 1]}, ["link 2 ('B - A #2')", "capacity_bps(=0.0)", "> 0"]),
        ({"capacity_bps": [1, np.inf, 1, 1]}, ["link 1 ('C - B')", "capacity_bps(=inf)", "finite"]),
        ({"ends": [[0, 1], [2, 1], [1, 0], [0, 3]]}, ["link 3", "[0, 3]", "[0, 3)"]),
        ({"ends": [[0, 1], [2, -1], [1, 0], [0, 2]]}, ["link 1", "[2, -1]", "[0, 3)"]),
        ({"ends": [[0, 1], [2, 1], [1, 1], [0, 2]]}, ["link 2", "self-loop", "'B'"]),
        ({"ends": [[0.0, 1], [2, 1], [1, 0], [0, 2]]}, ["ends", "integers", "float64"]),
        ({"ends": [0, 1, 2, 1]}, ["ends", "(4,)", "(4, 2)"]),
        ({"ends": [[0, 1], [1, 0], [1, 0], [0, 1]]}, ["connected", "2 components", "2 with 'A', 1 with 'C'"]),
    ],
)
def test_broken_rules_are_named(changes: dict[str, Any], fragments: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        triangle(**changes)
    message = str(caught.value)
    assert [fragment for fragment in fragments if fragment not in message] == []
    assert message.isprintable()


@given(
    st.integers(2, 9).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.permutations(range(n)), max_size=6))
    )
)
def test_accepts_exactly_the_connected_graphs(case: tuple[int, list[list[int]]]) -> None:
    routers, shuffles = case
    ends = np.array([shuffle[:2] for shuffle in shuffles], dtype=np.int64).reshape(-1, 2)
    reference = nx.Graph(ends.tolist())
    reference.add_nodes_from(range(routers))
    unknown = np.full(routers, np.nan)
    fields: dict[str, Any] = {
        "labels": tuple(map(str, range(routers))),
        "latitude_deg": unknown,
        "longitude_deg": unknown,
        "ends": ends,
        "length_km": np.zeros(len(ends)),
        "capacity_bps": np.ones(len(ends)),
    }
    if nx.is_connected(reference):
        assert triangle(**fields).links == len(ends)
    else:
        with pytest.raises(InputError, match=f"has {nx.number_connected_components(reference)} components"):
            triangle(**fields)


@pytest.mark.parametrize(
    ("a", "b", "length_km"),
    [
        # The example in the documentation of geographiclib: Wellington to Salamanca, nearly antipodal.
        ((-41.32, 174.81), (40.96, -5.50), 19959.679267),
        # Closed forms on WGS84: one degree of the equator, and the quarter meridian.
        ((0.0, 10.0), (0.0, 11.0), 6378.137 * np.pi / 180),
        ((0.0, 7.0), (90.0, 7.0), 10001.965729),
        ((51.5, -0.1), (51.5, -0.1), 0.0),
        # Across the antimeridian: one degree, not 359.
        ((0.0, 179.5), (0.0, -179.5), 6378.137 * np.pi / 180),
    ],
)
def test_geodesics_of_wgs84(a: tuple[float, float], b: tuple[float, float], length_km: float) -> None:
    assert geodesic_km(*a, *b) == pytest.approx(length_km, abs=1e-6)
    assert geodesic_km(*b, *a) == pytest.approx(length_km, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "nearest"), [("nosuch", ""), ("giant", "geant"), ("GEANT", "geant"), ("aws", "aws_na"), ("", "")]
)
def test_unknown_name_lists_the_known_ones(name: str, nearest: str) -> None:
    with pytest.raises(InputError) as caught:
        load_underlay(name)
    message = str(caught.value)
    known = "aws_na, clouds, clouds_aws, ebone, exodus, gaia, geant"
    assert message.startswith(f"underlay(={name!r}) must be one of {known}")
    assert "the path of a network's file (.gml, .graphml, .json" in message
    assert "or of a folder of its tables" in message
    assert (f"did you mean {nearest!r}?" in message) if nearest else ("did you mean" not in message)


def test_unknown_variant() -> None:
    with pytest.raises(InputError, match=r"variant\(='true'\) must be 'corrected' or 'published'"):
        load_underlay("gaia", variant="true")  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["nosuch.gml", "no/such", "hospitals/", "./net", "geant.gml", Path("geant")])
def test_missing_file(path: str | Path) -> None:
    with pytest.raises(InputError) as caught:
        load_underlay(path)
    assert str(caught.value) == (
        f"{path}: there is no such file or folder; a network is one of aws_na, clouds, clouds_aws, ebone, exodus, "
        "gaia, geant, or the path of a network's file (.gml, .graphml, .json, .csv, .tsv, .toml) or of a folder of its "
        "tables."
    )


def test_what_lies_below_a_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.gml").write_text("")
    with pytest.raises(InputError, match=r"a\.gml/b: there is no such file or folder"):
        load_underlay(tmp_path / "a.gml" / "b")


@pytest.mark.parametrize("name", ["a\0b", "a\0b.gml", "a\nb.gml", "x" * 5000, "x" * 5000 + ".gml"])
def test_impossible_paths_give_one_line(name: str) -> None:
    with pytest.raises(InputError) as caught:
        load_underlay(name)
    assert str(caught.value).isprintable()


def test_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("some").mkdir()
    for path in (tmp_path, "some"):
        with pytest.raises(InputError, match=f"^{path}: is a directory"):
            load_underlay(path)


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.gml").write_text("")
    monkeypatch.setattr(Path, "open", refuse)  # root may read everything
    with pytest.raises(InputError, match=r"a\.gml: cannot be read: Permission denied"):
        load_underlay(tmp_path / "a.gml")
    monkeypatch.setattr(Path, "stat", lambda _, **__: refuse(Path()))
    with pytest.raises(InputError, match=r"b/a\.gml: cannot be read: Permission denied"):
        load_underlay(tmp_path / "b" / "a.gml")


NETWORK = """graph [
  node [ id 0 Latitude 0 Longitude 10 ] node [ id 1 Latitude 0 Longitude 11 ]
  edge [ source 0 target 1 published_distance 100.5 capacity 1000 ]
]"""


def test_variants_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "two.gml"
    path.write_text(NETWORK)
    corrected, published = load_underlay(path), load_underlay(str(path), variant="published")
    assert (corrected.variant, published.variant) == ("corrected", "published")
    assert corrected.name == published.name == "two"
    assert corrected.length_km == pytest.approx(6378.137 * np.pi / 180, abs=1e-9)
    assert published.length_km.tolist() == [100.5]
    assert corrected.capacity_bps.tolist() == [1000.0]
    assert np.isnan(published.capacity_bps).all()


def test_published_variant_needs_published_lengths(tmp_path: Path) -> None:
    path = tmp_path / "two.gml"
    path.write_text(NETWORK.replace("published_distance", "distance"))
    assert load_underlay(path).length_km.tolist() == [100.5]
    with pytest.raises(InputError, match=r"two\.gml: link 0 \('0 - 1'\) has no published_distance"):
        load_underlay(path, variant="published")


def test_shipped_name_goes_before_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("geant").write_text(NETWORK)
    assert load_underlay("geant").routers == 40
    assert load_underlay(os.path.join(".", "geant")).routers == 2
    assert load_underlay(Path("geant")).routers == 2


def test_shipped_names() -> None:
    assert published_underlays() == ("gaia", "aws_na", "geant", "exodus", "ebone")
    assert shipped_underlays() == (*published_underlays(), "clouds", "clouds_aws")


def test_the_canonical_order_of_routers_and_links() -> None:
    underlay = Underlay(
        name="mixed",
        variant="published",
        labels=("c", "a", "d", "b"),
        latitude_deg=np.array([3.0, 1.0, 4.0, 2.0]),
        longitude_deg=np.array([30.0, 10.0, 40.0, 20.0]),
        # Three parallel links of a and c, two of which are as short, one of these without a capacity.
        ends=np.array([(3, 2), (0, 1), (1, 0), (0, 1), (1, 0), (2, 1), (3, 0)]),
        length_km=np.array([7.0, 2.0, 1.0, 1.0, 1.0, 5.0, 6.0]),
        capacity_bps=np.array([1e9, 1e9, np.nan, 2e9, 3e9, 1e9, 1e9]),
        published_index=np.array([7, 9, 3, 5]),
        notes=["a note"],
        sites=SiteValues(
            up_bps=np.array([3.0, 1.0, 4.0, 2.0]), down_bps=np.full(4, np.nan), compute_s=np.full(4, np.nan)
        ),
        stated_routes=stated_routes([(0, 1, 2)]),
    )
    ordered = underlay.in_label_order()

    assert ordered.labels == ("a", "b", "c", "d")
    assert ordered.latitude_deg.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert ordered.longitude_deg.tolist() == [10.0, 20.0, 30.0, 40.0]
    assert ordered.ends.tolist() == [[0, 2], [0, 2], [0, 2], [0, 2], [0, 3], [1, 2], [1, 3]]
    assert ordered.length_km.tolist() == [1.0, 1.0, 1.0, 2.0, 5.0, 6.0, 7.0]
    np.testing.assert_array_equal(ordered.capacity_bps, [3e9, 2e9, np.nan, 1e9, 1e9, 1e9, 1e9])
    assert ordered.published_index is not None
    assert ordered.published_index.tolist() == [9, 5, 7, 3]
    assert ordered.sites is not None
    assert ordered.sites.up_bps.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert ordered.stated_routes is not None
    assert ordered.stated_routes.paths == ((2, 0, 3),)
    assert (ordered.notes, ordered.name, ordered.variant) == (("a note",), "mixed", "published")
    # Ties of the published tables fall by the place in their file, others by label.
    assert underlay.rank.tolist() == [2, 3, 0, 1]
    assert ordered.rank.tolist() == [3, 1, 2, 0]
    assert replace(underlay, variant="corrected").rank.tolist() == [2, 0, 3, 1]
    assert replace(underlay, published_index=None).rank.tolist() == [2, 0, 3, 1]
    assert [ordered.link_name(link) for link in range(5)] == [*(f"a - c #{k}" for k in range(1, 5)), "a - d"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"published_index": [0, 1, 1]}, "published_index must hold a number for each router, each once."),
        ({"published_index": [0, 1]}, "published_index has the shape (2,), must have (3,)."),
        ({"published_index": [0.0, 1.0, 2.0]}, "published_index must hold integers, not float64."),
        (
            {"sites": SiteValues(up_bps=np.ones(2), down_bps=np.ones(2), compute_s=np.ones(2))},
            "sites must have a value for each of 3 routers.",
        ),
        ({"latitude_deg": [-90.5, np.nan, 90]}, "router 'A': latitude_deg(=-90.5) must be in [-90, 90]."),
        (
            {"longitude_deg": [-180, np.nan, 180.5]},
            "router 'C': longitude_deg(=180.5) must be in [-180, 180].",
        ),
        ({"labels": ("A", "\u2028", "C")}, r"label(='\u2028') of router 1 must be a text that is not blank."),
        (
            {"labels": ("A", "b\u2029", "C")},
            r"label(='b\u2029') of router 1 must hold no control characters.",
        ),
        (
            {"labels": ("A", "b\ud800", "C")},
            r"label(='b\ud800') of router 1 must hold no control characters.",
        ),
        (
            {"labels": ("A", "b\u2028c", "C")},
            r"label(='b\u2028c') of router 1 must hold no control characters.",
        ),
        ({"labels": ("A", " \t", "C")}, r"label(=' \t') of router 1 must be a text that is not blank."),
        (
            {"capacity_bps": [1e9, -1e9, 1, 1]},
            "link 1 ('C - B'): capacity_bps(=-1000000000.0) must be finite and > 0.",
        ),
        ({"ends": [[0, 1], [2, 2], [1, 0], [0, 2]]}, "link 1 is a self-loop of 'C', must join two routers."),
        (
            {"ends": [[1, 2], [2, 1], [1, 2], [2, 1]]},
            "the graph must be connected, has 2 components: 2 with 'B', 1 with 'A'.",
        ),
    ],
)
def test_a_broken_rule_is_said_in_these_words(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        triangle(**changes)
    assert str(caught.value) == message


def test_places_at_the_ends_of_the_earth_and_links_of_no_length_are_taken() -> None:
    underlay = triangle(
        latitude_deg=[-90, np.nan, 90], longitude_deg=[180, np.nan, -180], length_km=[0, 0, 0, 0]
    )
    assert underlay.latitude_deg[[0, 2]].tolist() == [-90.0, 90.0]
    assert (underlay.notes, underlay.published_index, underlay.sites) == ((), None, None)


def test_two_routers_are_the_fewest() -> None:
    none: dict[str, Any] = {
        "ends": np.empty((0, 2), dtype=int),
        "length_km": np.empty(0),
        "capacity_bps": np.empty(0),
    }
    for routers in (0, 1):
        nowhere = np.full(routers, np.nan)
        with pytest.raises(InputError, match=rf"^routers\(={routers}\) must be >= 2\.$"):
            triangle(labels=("A",)[:routers], latitude_deg=nowhere, longitude_deg=nowhere, **none)


@pytest.mark.parametrize(("count", "more"), [(8, ""), (9, ", 1 more"), (11, ", 3 more")])
def test_of_many_components_the_eight_largest_are_named(count: int, more: str) -> None:
    # One router each but of the last, which has three, and the second, which has two.
    component = np.array([*range(count), count - 1, 1, count - 1])
    labels = [f"r{router}" for router in range(len(component))]
    one_each = [0, *range(2, 8)][: 8 - 2]
    named = [f"3 with 'r{count - 1}'", "2 with 'r1'", *(f"1 with 'r{router}'" for router in one_each)]

    assert disconnected("whole", labels, component) == (
        f"the graph must be whole, has {count} components: {', '.join(named)}{more}"
    )
