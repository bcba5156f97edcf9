"""One clear line for each way in which a GML file can be bad."""

from pathlib import Path

import pytest

from topologies import InputError, load_underlay
from topologies.networks.gml import quoted

TWO_NODES = (
    'node [ id 0 label "A" Latitude 48.0 Longitude 2.0 ] node [ id 7 label "B" Latitude 49.0 Longitude 3.0 ]'
)


def graph(nodes: str = TWO_NODES, links: str = "edge [ source 0 target 7 ]", header: str = "") -> str:
    """GML text from its parts."""
    return f"graph [ {header}\n{nodes}\n{links}\n]\n"


def error(tmp_path: Path, content: str | bytes) -> str:
    """Message of the error that the content gives, one short line that names the file."""
    path = tmp_path / "network.gml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        load_underlay(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert len(message) < 600 + len(str(path))
    return message


NOT_GML = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "invalid UTF-8": (b"graph [ \xff ]", "byte 8 is not UTF-8"),
    "latin-1": ('graph [ label "Zürich" ]'.encode("latin-1"), "byte 16 is not UTF-8"),
    "zip": (b"PK\x03\x04\x14\x00\x00\x00", "is compressed by zip: unpack it first"),
    "NUL": (b"\0" * 1000, "line 1, column 1: "),
    "JSON": (b'{"nodes": []}', "line 1, column 1: '{\"nodes\": []}' is no GML there."),
    "text": (b"not a network", "line 1, column 5"),
    "no graph": (b"node [ id 0 ]", "must hold one 'graph"),
    "a number for the graph": (b"graph 5", "must hold one 'graph"),
    "two graphs": (graph().encode() * 2, "must hold one 'graph"),
    "open bracket": (graph().encode()[:-2], "it ends early, a '[' or a quotation mark is not closed."),
    "closing bracket": (graph().encode() + b"]", "it has a ']' too many."),
    "open quote": (graph().encode() + b'Note "no end', "is not a GML file"),
    "a quotation mark in a label": (
        b'graph [\n  node [ id 0 label "x "1" y" ]\n]',
        'line 2, column 25: \'node [ id 0 label "x "1" y" ]\' is no GML there '
        "(a quotation mark within a text is &quot;).",
    ),
    "two numbers": (b"graph [\n 5 ]", "line 2, column 2: '5 ]' is no GML there: expected ']'."),
    "deeply nested": (b"graph [ a [ " * 100_000, "is not a GML file"),
    "deeply nested and closed": (b"graph [ " * 5000 + b"]" * 5000, "is not a GML file"),
    "a number of 5000 digits": (b"graph [ a " + b"9" * 5000 + b" ]", "is not a GML file"),
}


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        ("1e9", " (an exponent needs a point, as in 1.0e9)"),
        ("1e+9", " (an exponent needs a point, as in 1.0e9)"),
        ("-1E-9", " (an exponent needs a point, as in 1.0e9)"),
        ("1Gbps", ""),
        ("1.5.2", ""),
        ("+9k", ""),
        ("0x10", ""),
    ],
)
def test_a_word_that_only_begins_as_a_number(tmp_path: Path, number: str, hint: str) -> None:
    # The parser takes 1e+9 for a capacity of 1 and a key e of 9, without a word.
    message = error(tmp_path, graph(links=f"edge [ source 0 target 7 capacity {number} ]"))

    assert message.endswith(f"is not a GML file: {number!r} at line 3, column 35 must be a number{hint}.")


@pytest.mark.parametrize("number", ["1000000000", "1.0e9", "1.e+9", ".1E10", "+1000000000.0"])
def test_numbers_of_gml(tmp_path: Path, number: str) -> None:
    path = tmp_path / "network.gml"
    note = f'Note "1e9 [ 1Gbps" # 5x "\n{TWO_NODES}'
    path.write_text(graph(nodes=note, links=f"edge [ source 0 target 7 capacity {number}]"))

    assert load_underlay(path).capacity_bps.tolist() == [1e9]


@pytest.mark.parametrize("case", NOT_GML)
def test_not_gml(tmp_path: Path, case: str) -> None:
    content, rule = NOT_GML[case]
    assert rule in error(tmp_path, content)


BAD_GRAPHS = {
    "directed": (graph(header="directed 1"), ["directed(=1)", "must be 0"]),
    "node is no block": (graph(nodes="node 5"), ["node 0", "5", "node [ ... ]"]),
    "edge is no block": (graph(links='edge "x"'), ["edge 0", "'x'", "edge [ ... ]"]),
    "no id": (graph('node [ label "A" ]'), ["node 0", "id(=None)", "must be an integer"]),
    "list as id": (graph("node [ id 0 id 1 ]"), ["node 0", "id(=[0, 1])", "must be an integer"]),
    "fraction as id": (graph("node [ id 0.5 ]"), ["id(=0.5)", "must be an integer"]),
    "id twice": (graph("node [ id 4 ] node [ id 4 ]"), ["node id(=4)", "must be unique"]),
    "label twice": (
        graph('node [ id 4 label "None" ] node [ id 3 label "C" ] node [ id 9 label "None" ]', ""),
        ["label(='None')", "node 4 and node 9", "must be unique"],
    ),
    "label that is another's id": (
        graph('node [ id 4 label "5" ] node [ id 5 ]', ""),
        ["label(='5')", "4", "5"],
    ),
    "block as label": (
        graph("node [ id 4 label [ a 1 ] ]"),
        ["node 4", "label(={'a': 1})", "must be a text"],
    ),
    "blank label": (graph('node [ id 0 label " " ] node [ id 7 ]', ""), ["label(='')", "not blank"]),
    "NUL in label": (graph('node [ id 0 label "a&#0;" ] node [ id 7 ]', ""), ["'a\\x00'", "control"]),
    "surrogate in label": (
        graph('node [ id 0 label "&#55296;" ] node [ id 7 ]', ""),
        ["'\\ud800'", "control"],
    ),
    "no source": (graph(links="edge [ target 7 ]"), ["link 0", "source(=None)", "must be the id of a node"]),
    "unknown target": (graph(links="edge [ source 0 target 8 ]"), ["link 0", "target(=8)", "id of a node"]),
    "text as source": (
        graph(links='edge [ source "0" target 7 ]'),
        ["link 0", "source(='0')", "id of a node"],
    ),
    "two sources": (graph(links="edge [ source 0 source 7 target 7 ]"), ["source(=[0, 7])", "id of a node"]),
    "self-loop": (
        graph(links="edge [ source 0 target 7 ] edge [ source 7 target 7 ]"),
        ["link 1", "'B'", "self-loop"],
    ),
    "no node": (graph("", ""), ["routers(=0)", ">= 2"]),
    "one node": (graph("node [ id 0 ]", ""), ["routers(=1)", ">= 2"]),
    "no link": (graph(links=""), ["connected", "2 components", "1 with 'A'", "1 with 'B'"]),
    "no coordinates": (
        graph('node [ id 0 label "A" Latitude 1 Longitude 1 ] node [ id 7 label "B" ]'),
        ["link 0", "'A - B'", "no distance", "node 'B'", "Latitude and Longitude"],
    ),
    "half the coordinates": (
        graph('node [ id 0 label "A" Latitude 1 Longitude 1 ] node [ id 7 label "B" Latitude 1 ]'),
        ["link 0", "'A - B'", "no distance", "node 'B'", "Latitude and Longitude"],
    ),
    "half the coordinates beside a distance": (
        graph(
            'node [ id 0 label "A" ] node [ id 7 label "B" Latitude 1 ]',
            "edge [ source 0 target 7 distance 1 ]",
        ),
        ["'B'", "latitude and a longitude"],
    ),
    "too far north": (graph(TWO_NODES.replace("49.0", "90.5")), ["'B'", "latitude_deg(=90.5)", "[-90, 90]"]),
    "too far west": (
        graph(TWO_NODES.replace("3.0", "-180.5")),
        ["'B'", "longitude_deg(=-180.5)", "[-180, 180]"],
    ),
    "negative distance": (
        graph(links="edge [ source 0 target 7 distance -1 ]"),
        ["link 0", "'A - B'", "length_km(=-1.0)", ">= 0"],
    ),
    "zero capacity": (
        graph(links="edge [ source 0 target 7 capacity 0 ]"),
        ["link 0", "'A - B'", "capacity_bps(=0.0)", "> 0"],
    ),
    "negative raw speed": (
        graph(links="edge [ source 0 target 7 LinkSpeedRaw -2.5 ]"),
        ["link 0", "'A - B'", "capacity_bps(=-2.5)", "> 0"],
    ),
}


@pytest.mark.parametrize("case", BAD_GRAPHS)
def test_bad_graph(tmp_path: Path, case: str) -> None:
    content, fragments = BAD_GRAPHS[case]
    message = error(tmp_path, content)
    assert [fragment for fragment in fragments if fragment not in message] == []


@pytest.mark.parametrize("field", ["distance", "capacity", "LinkSpeedRaw", "Latitude", "Longitude"])
@pytest.mark.parametrize(
    ("value", "shown", "rule"),
    [
        ('"10 Gbps"', "'10 Gbps'", "must be a number"),
        ('"True"', "'True'", "must be a number"),
        ('"[]"', "[]", "must be a number"),
        ("[ a 1 ]", "{'a': 1}", "must be a number"),
        ("NAN", "nan", "must be finite"),
        ("INF", "inf", "must be finite"),
        ("-INF", "-inf", "must be finite"),
        ("1.0E999", "inf", "must be finite"),
        ("1" + 400 * "0", "1000", "must be finite"),
    ],
)
def test_bad_number(tmp_path: Path, field: str, value: str, shown: str, rule: str) -> None:
    on_node = field.startswith("L") and field != "LinkSpeedRaw"
    content = (
        graph(TWO_NODES.replace("48.0" if field == "Latitude" else "2.0", value))
        if on_node
        else graph(links=f"edge [ source 0 target 7 {field} {value} ]")
    )
    message = error(tmp_path, content)
    assert ("node 0" if on_node else "link 0 ('A - B')") in message
    assert f"{field}(={shown}" in message
    assert rule in message


def test_number_stated_twice(tmp_path: Path) -> None:
    assert "distance(=[1, 2])" in error(
        tmp_path, graph(links="edge [ source 0 target 7 distance 1 distance 2 ]")
    )


def test_disconnected_graph_names_sizes_and_one_node_of_each(tmp_path: Path) -> None:
    nodes = "".join(f'node [ id {i} label "N{i}" ]' for i in range(10))
    links = "".join(f"edge [ source {a} target {b} distance 1 ]" for a, b in [(9, 8), (8, 7), (1, 2)])
    message = error(tmp_path, graph(nodes, links))
    alone = ", ".join(f"1 with 'N{i}'" for i in (0, 3, 4, 5, 6))
    assert f"7 components: 3 with 'N7', 2 with 'N1', {alone} (--largest-component" in message


def test_huge_texts_are_cut_in_messages(tmp_path: Path) -> None:
    assert len(quoted("x" * 10_000)) <= 80
    assert len(quoted([["x" * 100] * 100] * 100)) <= 80
    assert "..." in error(tmp_path, graph(links=f'edge [ source "{"x" * 10_000}" target 7 ]'))


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("edge [ source 0 target 7 capcity 5 ]", "'capcity' is unknown (did you mean 'capacity'?)"),
        ("edge [ source 0 target 7 distnace 5 ]", "'distnace' is unknown (did you mean 'distance'?)"),
        ("edge [ source 0 target 7 capacity_bps 5 ]", "'capacity_bps' is unknown (did you mean 'capacity'?)"),
        ("edge [ source 0 target 7 lenght_km 5 ]", "'lenght_km' is unknown (did you mean 'length_km'?)"),
        ("edge [ source 0 target 7 LinkSpeedRow 5 ]", "did you mean 'LinkSpeedRaw'?)"),
    ],
)
def test_misspelt_attributes_of_links(tmp_path, links, message):
    found = error(tmp_path, graph(links=links))

    assert "link 0 ('A - B'): the attribute " in found
    assert message in found


@pytest.mark.parametrize(
    ("attribute", "meant"), [("lable", "label"), ("Latitde", "Latitude"), ("Longtitude", "Longitude")]
)
def test_misspelt_attributes_of_nodes(tmp_path, attribute, meant):
    nodes = TWO_NODES.replace(meant, attribute, 1)

    assert f"node 0: the attribute {attribute!r} is unknown (did you mean {meant!r}?)" in error(
        tmp_path, graph(nodes)
    )


def test_other_attributes_are_ignored(tmp_path):
    zoo = (
        'node [ id {} label "{}" Country "France" Longitude 2.0 Internal 1 Latitude {} type "x" hyperedge 0 asn 1 '
        'GeoName "P" place "P" region "R" altitude 1.0 LABEL "x" labels "y" ]'
    )
    link = (
        'edge [ source 0 target 7 LinkType "Fibre" LinkSpeed "10" LinkNote "n" LinkLabel "10 Gbps" LinkSpeedUnits "G" '
        'LinkSpeedRaw 10000000000.0 key 0 id "e7" dist 3 ]'
    )
    path = tmp_path / "zoo.gml"
    path.write_text(graph(f"{zoo.format(0, 'A', 48.0)} {zoo.format(7, 'B', 49.0)}", link))

    assert load_underlay(path).capacity_bps.tolist() == [1e10]


def test_a_link_with_units_beside_its_speed_is_fine(tmp_path):
    path = tmp_path / "zoo.gml"
    path.write_text(graph(links='edge [ source 0 target 7 LinkSpeed "10" LinkSpeedUnits "G" ]'))

    assert load_underlay(path).links == 1
