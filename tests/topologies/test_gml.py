"""GML files in every dialect that is accepted, and text that is close to GML."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topologies import InputError, Underlay, load_underlay
from topologies.geodesy import geodesic_km
from topologies.networks.attributes import stated_network
from topologies.networks.gml import parse_gml

# Written in the manner of the Internet Topology Zoo: its attribute names, order and multi-line notes.
ZOO = """\
graph [
  DateObtained "22/10/10"
  GeoLocation "Europe"
  Note "drawn from a map,
some links

are uncertain"\t
  Creator "Topology Zoo Toolset"
  Backbone 1
  label "Sample"
  node [
    id 0
    label "Paris"
    Country "France"
    Longitude 2.3488
    Internal 1
    Latitude 48.85341
  ]
  node [
    id 5
    label "Z&#252;rich"
    Country "Switzerland"
    Longitude 8.55
    Internal 1
    Latitude 47.36667
  ]
  node [
    id 2
    label "London"
    Country "United Kingdom"
    Longitude -0.12574
    Internal 1
    Latitude 51.50853
  ]
  edge [
    source 2
    target 0
    LinkSpeed "10"
    LinkSpeedUnits "G"
    LinkLabel "10 Gbps"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 0
    target 5
    id "e59"
  ]
]
"""

TWO_NODES = (
    'node [ id 0 label "A" Latitude 48.0 Longitude 2.0 ] node [ id 7 label "B" Latitude 49.0 Longitude 3.0 ]'
)


def graph(nodes: str = TWO_NODES, links: str = "edge [ source 0 target 7 ]", header: str = "") -> str:
    """GML text from its parts."""
    return f"graph [ {header}\n{nodes}\n{links}\n]\n"


def load(tmp_path: Path, content: str | bytes) -> Underlay:
    """What `load_underlay` makes of a file with this content."""
    path = tmp_path / "network.gml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_underlay(path)


def test_topology_zoo_file(tmp_path: Path) -> None:
    underlay = load(tmp_path, ZOO)
    assert underlay.name == "network"
    assert underlay.variant == "corrected"
    assert underlay.labels == ("London", "Paris", "Zürich")
    assert underlay.latitude_deg.tolist() == [51.50853, 48.85341, 47.36667]
    assert underlay.longitude_deg.tolist() == [-0.12574, 2.3488, 8.55]
    assert underlay.ends.tolist() == [[0, 1], [1, 2]]
    assert underlay.length_km[0] == geodesic_km(51.50853, -0.12574, 48.85341, 2.3488)
    assert underlay.length_km[1] == geodesic_km(48.85341, 2.3488, 47.36667, 8.55)
    np.testing.assert_array_equal(underlay.capacity_bps, [1e10, np.nan])


@pytest.mark.parametrize("header", ["", "multigraph 0", "multigraph 1", "directed 0"])
def test_parallel_links_need_no_header_and_come_shortest_first(tmp_path: Path, header: str) -> None:
    links = """
        edge [ source 7 target 0 distance 5.0 ] edge [ source 0 target 7 distance 3 ]
        edge [ source 7 target 0 distance 4.5 key 1 ]"""
    underlay = load(tmp_path, graph(links=links, header=header))
    assert underlay.ends.tolist() == [[0, 1], [0, 1], [0, 1]]
    assert underlay.length_km.tolist() == [3.0, 4.5, 5.0]
    assert [underlay.link_name(link) for link in range(3)] == ["A - B #1", "A - B #2", "A - B #3"]


@pytest.mark.parametrize(
    ("ids", "labels"),
    [(("3", "1"), ("3", "1")), (('"x"', '"y z"'), ("x", "y z")), (("-2", '"2"'), ("-2", "2"))],
)
def test_ids_serve_as_labels_where_there_are_none(
    tmp_path: Path, ids: tuple[str, str], labels: tuple[str, str]
) -> None:
    nodes = f"node [ id {ids[0]} ] node [ id {ids[1]} ]"
    underlay = load(tmp_path, graph(nodes, f"edge [ source {ids[1]} target {ids[0]} distance 1.5 ]"))
    assert underlay.labels == tuple(sorted(labels))
    assert underlay.ends.tolist() == [[0, 1]]
    assert underlay.length_km.tolist() == [1.5]
    assert np.isnan(underlay.latitude_deg).all()


def test_numbers_as_labels_become_text(tmp_path: Path) -> None:
    nodes = "node [ id 0 label 12 ] node [ id 1 label 1.5 ]"
    assert load(tmp_path, graph(nodes, "edge [ source 0 target 1 distance 1 ]")).labels == ("1.5", "12")


def test_stated_distance_and_capacity_go_before_computed_and_raw(tmp_path: Path) -> None:
    links = "edge [ source 0 target 7 distance 12.25 capacity 5 LinkSpeedRaw 7 ] edge [ source 0 target 7 ]"
    underlay = load(tmp_path, graph(links=links))
    assert underlay.length_km.tolist() == [12.25, geodesic_km(48.0, 2.0, 49.0, 3.0)]
    np.testing.assert_array_equal(underlay.capacity_bps, [5.0, np.nan])


def test_a_city_of_several_routers_has_links_of_length_zero(tmp_path: Path) -> None:
    nodes = 'node [ id 0 label "A" Latitude 1 Longitude 2 ] node [ id 7 label "B" Latitude 1 Longitude 2 ]'
    assert load(tmp_path, graph(nodes)).length_km.tolist() == [0.0]


@pytest.mark.parametrize("distance", [0.1 + 0.2, 1e-7, 5e-324, 179.32598576708145, 1e22])
def test_distances_keep_every_bit(tmp_path: Path, distance: float) -> None:
    text = repr(distance) if "." in repr(distance) else repr(distance).replace("e", ".0e")
    underlay = load(tmp_path, graph(links=f"edge [ source 0 target 7 distance {text} ]"))
    assert underlay.length_km.tolist() == [distance]


@pytest.mark.parametrize("encode", [str.encode, lambda text: text.encode("utf-8-sig")], ids=["utf-8", "bom"])
def test_dialects_of_text_files_read_alike(tmp_path: Path, encode: Callable[[str], bytes]) -> None:
    plain = load(tmp_path, ZOO)
    raw = load(tmp_path, encode("# comment\n" + ZOO.replace("&#252;", "ü").replace("\n", "\r\n")))
    assert raw.labels == plain.labels
    np.testing.assert_array_equal(raw.length_km, plain.length_km)


def parse_or_refuse(content: bytes) -> None:
    """Parse; an `InputError` of one short printable line is the only exception."""
    message = "fine"
    try:
        stated_network(parse_gml(content))
    except InputError as error:
        message = str(error)
    assert message.isprintable()
    assert len(message) < 250


@given(st.binary(max_size=200))
@example(b"id")
@example(b'graph [ a "\n\n')
def test_random_bytes_are_never_a_network(content: bytes) -> None:
    with pytest.raises(InputError):
        stated_network(parse_gml(content))


TOKENS = [
    "graph",
    "node",
    "edge",
    "id",
    "source",
    "target",
    "label",
    "[",
    "]",
    '"',
    "0",
    "7",
    "1.5",
    '"a"',
    "\n",
    "&#99999999999;",
]


@given(st.lists(st.sampled_from(TOKENS), max_size=40))
def test_random_gml_tokens_give_a_network_or_an_input_error(tokens: list[str]) -> None:
    parse_or_refuse(" ".join(tokens).encode())
    parse_or_refuse(f"graph [ {' '.join(tokens)} ]".encode())


@given(st.data())
def test_damaged_files_give_a_network_or_an_input_error(data: st.DataObject) -> None:
    content = ZOO.encode()
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, min(start + 30, len(content))))
    parse_or_refuse(content[:start] + data.draw(st.binary(max_size=4)) + content[stop:])
