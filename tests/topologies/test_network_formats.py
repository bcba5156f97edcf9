"""The same network from GML, GraphML and node-link JSON; and text that is none of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from graph_files import FORMATS, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from topologies import InputError, Underlay, load_underlay
from topologies.networks.attributes import Graph, stated_network
from topologies.networks.gml import parse_gml
from topologies.networks.graphml import parse_graphml
from topologies.networks.node_link import parse_node_link

NODES = [
    {"id": 0, "label": "Zürich & <Bern>", "Latitude": 47.37, "Longitude": 8.54, "Internal": 1},
    {"id": 7, "label": "Paris", "Latitude": 48.85, "Longitude": 2.35, "Internal": 1},
    {"id": 3, "label": "Oslo", "Latitude": 59.91, "Longitude": 10.75, "Internal": 1},
]
LINKS = [
    {"source": 7, "target": 0, "LinkSpeed": "10", "LinkSpeedUnits": "G", "key": 0},
    {"source": 0, "target": 7, "distance": 600.25, "capacity": 2.5e9, "key": 1},
    {"source": 3, "target": 0, "dist": 1500, "LinkSpeedRaw": 155000000.0},
]


def same(a: Underlay, b: Underlay) -> bool:
    """Whether two underlays agree in all but their names."""
    arrays = ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps")
    return (a.labels, a.notes) == (b.labels, b.notes) and all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=name != "ends") for name in arrays
    )


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_network(tmp_path, ending):
    found = load_underlay(write(tmp_path, ending, NODES, LINKS))

    assert found.labels == ("Oslo", "Paris", "Zürich & <Bern>")
    assert found.ends.tolist() == [[0, 2], [1, 2], [1, 2]]
    assert found.capacity_bps.tolist() == [155e6, 1e10, 2.5e9]
    assert found.length_km.tolist()[::2] == [1500.0, 600.25]
    assert same(found, load_underlay(write(tmp_path, ".gml", NODES, LINKS)))


@pytest.mark.parametrize("ending", [".GML", ".GraphML", ".JSON", ""])
def test_endings_in_any_case_and_gml_without_one(tmp_path, ending):
    path = tmp_path / f"network{ending}"
    path.write_text(FORMATS[ending.lower() or ".gml"](NODES, LINKS))

    assert load_underlay(path).routers == 3


def test_an_unknown_ending_names_the_known_ones(tmp_path):
    path = tmp_path / "network.yaml"
    path.write_text("nodes: []")
    with pytest.raises(InputError) as caught:
        load_underlay(path)

    assert (
        str(caught.value)
        == f"{path}: ending(='.yaml') must be one of .gml, .graphml, .json, .csv, .tsv, .toml."
    )


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Connected networks with stated lengths, as blocks."""
    count = draw(st.integers(2, 7))
    names = draw(
        st.lists(st.text("abcXYZ é&<'", min_size=1, max_size=5), min_size=count, max_size=count, unique=True)
    )
    labels = [f"{i}{name}" for i, name in enumerate(names)]
    nodes = [{"id": i, "label": labels[i]} for i in range(count)]
    pairs = [(i, draw(st.integers(0, i - 1))) for i in range(1, count)]
    pairs += draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=5))
    length_km = st.floats(0, 2e4, allow_subnormal=False)
    capacity = st.one_of(st.integers(1, 2**40), st.floats(1, 1e12))
    links: list[dict[str, Any]] = []
    for a, b in pairs:
        if a != b:
            link: dict[str, Any] = {"source": a, "target": b, "distance": draw(length_km)}
            if draw(st.booleans()):
                link["capacity"] = draw(capacity)
            links.append(link)
    return nodes, links


def plain_floats(block: dict[str, Any]) -> dict[str, Any]:
    """GML's exponents need a point."""
    return {
        key: repr(value) if isinstance(value, float) and "e" in repr(value) else value
        for key, value in block.items()
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(networks(), st.randoms(use_true_random=False))
def test_neither_format_nor_order_nor_ids_change_a_network(tmp_path, network, random):
    nodes, links = network
    expected = load_underlay(write(tmp_path, ".json", nodes, links))
    ids = random.sample(range(1000), len(nodes))
    shuffled = [{**node, "id": ids[node["id"]]} for node in nodes]
    turned = [
        {**link, "source": ids[link[a]], "target": ids[link[b]]}
        for link in links
        for a, b in [random.sample(("source", "target"), 2)]
    ]
    random.shuffle(shuffled)
    random.shuffle(turned)
    for ending in FORMATS:
        blocks = [plain_floats(block) for block in shuffled], [plain_floats(block) for block in turned]
        assert same(load_underlay(write(tmp_path, ending, *blocks)), expected), ending
        both = [
            *blocks[1],
            *({**link, "source": link["target"], "target": link["source"]} for link in blocks[1]),
        ]
        twice = load_underlay(write(tmp_path, ending, blocks[0], both, directed=1))
        assert twice.notes[0] == f"joined {2 * len(links)} directed links to {len(links)} full-duplex ones."
        assert twice.notes[1:] == expected.notes
        assert np.array_equal(twice.length_km, expected.length_km)
        assert np.array_equal(twice.ends, expected.ends)


@pytest.fixture(scope="module")
def drawn() -> nx.Graph:
    """1,000 nodes and 3,000 links with capacities of 10 Gbps, which networkx writes as texts in GML."""
    graph = nx.gnm_random_graph(1000, 2001, seed=1)
    graph.add_edges_from(nx.path_graph(1000).edges)
    for node, values in graph.nodes(data=True):
        values |= {"Latitude": node / 20, "Longitude": node / 10, "label": f"n{node}"}
    for _, _, values in graph.edges(data=True):
        values["capacity"] = 10**10
    return graph


@pytest.mark.parametrize("ending", FORMATS)
def test_what_networkx_writes(tmp_path, drawn, ending, processor_time_below):
    path = tmp_path / f"drawn{ending}"
    if ending == ".gml":
        nx.write_gml(nx.relabel_nodes(drawn, {node: f"n{node}" for node in drawn}), path)
    elif ending == ".graphml":
        nx.write_graphml_xml(drawn, path)
    else:
        path.write_text(json.dumps(nx.node_link_data(drawn, edges="edges")))
    with processor_time_below(2):
        found = load_underlay(path)

    assert (found.routers, found.links) == (1000, drawn.number_of_edges())
    assert set(found.capacity_bps.tolist()) == {1e10}
    assert found.labels[:2] == ("n0", "n1")


def test_graphml_of_yed_with_labels_in_its_drawings():
    text = """<?xml version="1.0" encoding="UTF-8"?>
    <graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
      <key for="node" id="d5" attr.name="description" attr.type="string"/>
      <key for="node" id="d4" attr.name="label" attr.type="string"/>
      <key for="node" id="d6" yfiles.type="nodegraphics"/>
      <key for="edge" id="d7" attr.name="dist" attr.type="double"><default>12.5</default></key>
      <graph edgedefault="directed" id="G">
        <node id="n0"><data key="d6">
          <y:ShapeNode><y:NodeLabel> Rome <y:LabelModel/></y:NodeLabel></y:ShapeNode>
        </data></node>
        <node id="n1"><data key="d5"/><data key="d4" xml:space="preserve"></data></node>
        <edge id="e0" source="n0" target="n1" directed="false"/>
        <edge id="e1" source="n0" target="n1" directed="false"><data key="d7">3</data></edge>
      </graph></graphml>"""
    found = stated_network(parse_graphml(text.encode()))

    assert found.labels == ("Rome", "n1")
    assert found.distance_km.tolist() == [12.5, 3.0]
    assert parse_graphml(text.encode()).directed == 0


def test_graphml_without_a_namespace_and_in_latin_1():
    text = '<?xml version="1.0" encoding="latin-1"?><graphml><graph><node id="Zürich"/></graph></graphml>'

    assert stated_network(parse_graphml(text.encode("latin-1"))).labels == ("Zürich",)


@pytest.mark.parametrize(
    ("nodes", "links", "labels", "ends"),
    [
        ([{"name": "a"}, {"name": "b"}], [{"source": 0, "target": 1}], ("a", "b"), [[0, 1]]),
        ([{"id": "a"}, {"id": "b"}], [{"source": 1, "target": 0}], ("a", "b"), [[1, 0]]),
        ([{"id": 1}, {"id": 0}], [{"source": 0, "target": 1}], ("1", "0"), [[1, 0]]),
        ([{"id": "1"}, {"id": "0"}], [{"source": "0", "target": "1"}], ("1", "0"), [[1, 0]]),
        ([{"id": "a", "label": None}, {"id": "b"}], [], ("a", "b"), []),
    ],
    ids=["without ids", "places", "integers", "texts of integers", "null"],
)
def test_ends_in_json(nodes, links, labels, ends):
    found = stated_network(parse_node_link(json.dumps({"nodes": nodes, "links": links}).encode()))

    assert found.labels == labels
    assert found.ends.tolist() == ends


def test_integer_ends_beside_texts_of_integers_may_mean_either():
    nodes = [{"id": "1"}, {"id": "0"}]
    with pytest.raises(InputError, match=r"link 0: source\(=0\) must be the id of a node\."):
        stated_network(
            parse_node_link(json.dumps({"nodes": nodes, "links": [{"source": 0, "target": 1}]}).encode())
        )


def message(tmp_path: Path, ending: str, content: str | bytes) -> str:
    """The one line that a file gives."""
    path = tmp_path / f"network{ending}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        load_underlay(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert text.isprintable()
    return text.removeprefix(f"{path}: ")


BILLION = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + ']><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph><node id="&i;"/></graph></graphml>'
)
EMPTY = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'
BAD = {
    "empty graphml": (".graphml", "", "is empty"),
    "text": (".graphml", "graph [ ]", "is not a GraphML file: 'syntax error: line 1, column 0'."),
    "cut graphml": (".graphml", EMPTY[:-4], "is not a GraphML file"),
    "html": (".graphml", "<html/>", "outermost element(='html') must be 'graphml'"),
    "no graph": (".graphml", EMPTY.format(""), "one graph, has 0"),
    "two graphs": (".graphml", EMPTY.format("<graph/><graph/>"), "one graph, has 2"),
    "nested": (".graphml", EMPTY.format('<graph><node id="a"><graph/></node></graph>'), "within a node"),
    "hyperedge": (".graphml", EMPTY.format('<graph><hyperedge id="h"/></graph>'), "hyperedge(='h')"),
    "unknown key": (
        ".graphml",
        EMPTY.format('<graph><node id="a"><data key="d9">1</data></node></graph>'),
        "data key(='d9') must be the id of a key",
    ),
    "node without id": (".graphml", EMPTY.format("<graph><node/></graph>"), "id(=None) must be an integer"),
    "id twice": (
        ".graphml",
        EMPTY.format('<graph><node id="a"/><node id="a"/></graph>'),
        "id(='a') must be unique",
    ),
    "both ways": (
        ".graphml",
        EMPTY.format('<graph><edge directed="true"/><edge/></graph>'),
        "directed must be 'true' of all links, or of none",
    ),
    "unknown encoding": (
        ".graphml",
        '<?xml version="1.0" encoding="nope"?><graphml/>',
        "is not a GraphML file",
    ),
    "entities": (".graphml", BILLION, "is not a GraphML file"),
    "empty json": (".json", " ", "is empty"),
    "cut json": (".json", '{"nodes": [', "is not a JSON file: Expecting value at line 1, column 12."),
    "not UTF-8": (".json", b'{"a": "\xff"}', "byte 7 is not UTF-8"),
    "list": (".json", "[1, 2]", "an object with 'nodes' and 'links', is [1, 2]"),
    "no nodes": (".json", "{}", "nodes(=None) must be a list"),
    "node is no object": (".json", '{"nodes": [5], "links": []}', "nodes[0](=5) must be an object"),
    "no links": (".json", '{"nodes": []}', "'links' or 'edges', has neither"),
    "links and edges": (".json", '{"nodes": [], "links": [], "edges": []}', "has both"),
    "nothing": (".json", '{"nodes": [], "links": []}', "routers(=0) must be >= 2"),
    "one node": (".json", '{"nodes": [{"id": 1}], "links": []}', "routers(=1) must be >= 2"),
    "key twice": (
        ".json",
        '{"nodes": [{"id": 1, "lat": 1, "lat": 1}], "links": []}',
        "node 1: lat(=[1, 1]) must",
    ),
    "NaN": (".json", '{"nodes": [{"id": 1, "lat": NaN}], "links": []}', "node 1: lat(=nan) must be finite"),
    "infinite": (
        ".json",
        '{"nodes": [{"id": 1, "lon": -Infinity}], "links": []}',
        "lon(=-inf) must be finite",
    ),
    "1e999": (".json", '{"nodes": [{"id": 1, "lon": 1e999}], "links": []}', "lon(=inf) must be finite"),
    "a huge integer": (
        ".json",
        f'{{"nodes": [{{"id": 1, "lon": 1{"0" * 400}}}], "links": []}}',
        "must be finite",
    ),
    "5000 digits": (".json", f'{{"nodes": [{{"id": {"9" * 5000}}}], "links": []}}', "is not a JSON file"),
    "deep": (".json", "[" * 100_000, "is not a JSON file"),
    "true as a number": (
        ".json",
        '{"nodes": [{"id": 1, "lon": true}], "links": []}',
        "lon(=True) must be a number",
    ),
    "a list as id": (
        ".json",
        '{"nodes": [{"id": [1]}], "links": []}',
        "id(=[1]) must be an integer or a text",
    ),
    "an object as source": (
        ".json",
        '{"nodes": [{"id": 1}], "links": [{"source": {"id": 1}, "target": 1}]}',
        "link 0: source(={'id': 1}) must be the id of a node",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_give_one_line(tmp_path, case):
    ending, content, rule = BAD[case]

    assert rule in message(tmp_path, ending, content)


def said(parse: Callable[[bytes], Graph], content: bytes) -> str:
    """Message of the error; empty where the content is a network. Another exception passes through."""
    text = ""
    try:
        stated_network(parse(content))
    except InputError as error:
        text = str(error)
    return text


@given(st.binary(max_size=200))
def test_random_bytes_are_never_a_network(content):
    for parse in (parse_graphml, parse_node_link):
        with pytest.raises(InputError):
            parse(content)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["nodes", "links", "id", "source", "target", "lat", "label"]),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_random_json_gives_a_network_or_an_input_error(content):
    assert said(parse_node_link, json.dumps(content).encode()).isprintable()


@given(st.data())
def test_damaged_graphml_gives_a_network_or_an_input_error(data):
    content = FORMATS[".graphml"](NODES, LINKS).encode()
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, min(start + 30, len(content))))
    damaged = content[:start] + data.draw(st.binary(max_size=4)) + content[stop:]

    assert said(parse_graphml, damaged).isprintable()


def graphml(inner: str, *keys: str) -> Graph:
    """The graph of a text with these keys."""
    return parse_graphml(EMPTY.format("".join(keys) + inner).encode())


def test_defaults_of_graphml_are_those_of_the_keys_owner():
    keys = [
        f'<key id="{name}" attr.name="{name}"{owner}><default>{name}0</default></key>'
        for name, owner in (("n", ' for="node"'), ("e", ' for="edge"'), ("a", ' for="all"'), ("w", ""))
    ]
    keys.append(
        '<key id="none" attr.name="none" for="node"/><key id="drawn" for="node"><default>x</default></key>'
    )
    found = graphml(
        '<graph><node id="1"><data key="n">own</data></node><node id="2"/><edge source="1" target="2"/></graph>',
        *keys,
    )
    assert found.nodes == [
        {"n": "own", "a": "a0", "w": "w0", "id": "1"},
        {"n": "n0", "a": "a0", "w": "w0", "id": "2"},
    ]
    assert found.links == [{"e": "e0", "a": "a0", "w": "w0", "source": "1", "target": "2"}]


@pytest.mark.parametrize(
    ("graph", "edges", "directed"),
    [
        ("", [""], 0),
        (' edgedefault="undirected"', [""], 0),
        (' edgedefault="directed"', [""], 1),
        (' edgedefault="directed"', [], 1),
        (' edgedefault="directed"', ['directed="false"', 'directed="0"'], 0),
        ("", ['directed="true"', 'directed="1"'], 1),
        (' edgedefault="directed"', ['directed="true"', ""], 1),
    ],
)
def test_which_graphml_is_directed(graph, edges, directed):
    assert (
        graphml(f"<graph{graph}>{''.join(f'<edge {edge}/>' for edge in edges)}</graph>").directed == directed
    )


def test_data_of_graphml_that_is_stated_twice_or_not_at_all():
    key = '<key id="k" attr.name="lat" for="node"/><key id="l" attr.name="label" for="node"/>'
    data = "".join(f'<data key="k">{text}</data>' for text in ("1", "2"))
    assert graphml(f'<graph><node id="1">{data}<data key="l"/></node></graph>', key).nodes == [
        {"lat": ["1", "2"], "id": "1"}
    ]
    own = '<data key="k">1<b/></data>'
    assert graphml(f'<graph><node id="1">{own}</node></graph>', key).nodes == [{"id": "1"}]


@pytest.mark.parametrize(
    ("nodes", "links", "ends"),
    [
        ([{"id": "a"}, {"id": "b"}], [{"source": 0, "target": 2}], [(0, 2)]),
        ([{"id": "a"}, {"id": "b"}], [{"source": -1, "target": 1}], [(-1, 1)]),
        ([{"id": "a"}, {"id": "b"}], [{"source": 0, "target": True}], [(0, True)]),
        ([{"id": "a"}, {"id": 5}], [{"source": 0, "target": 1}], [(0, 1)]),
        ([{"id": "a"}, {"id": "-7"}], [{"source": 0, "target": 1}], [(0, 1)]),
        ([{"id": "a"}, {"id": "b"}], [{"source": 0, "target": "b"}], [(0, "b")]),
        ([{"id": "a"}, {"id": "b"}], [{"source": 1, "target": 0}], [("b", "a")]),
        ([{"x": 1}, {"id": "b"}], [{"source": 0, "target": 1}], [(0, 1)]),
        ([{"x": 1}, {"x": 2}], [{"source": 1, "target": 0}], [(1, 0)]),
    ],
)
def test_ends_in_json_are_places_only_where_they_cannot_be_ids(nodes, links, ends):
    for key in ("links", "edges"):
        found = parse_node_link(json.dumps({"nodes": nodes, key: links, "directed": True}).encode())
        assert [(link["source"], link["target"]) for link in found.links] == ends
        assert found.directed is True


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("\n1e+9\n", "'1e+9' at line 2, column 1 must be a number (an exponent needs a point, as in 1.0e9)."),
        ("a 1\n\n  5x\n", "'5x' at line 3, column 3 must be a number."),
    ],
)
def test_the_place_of_a_word_in_gml(text, rule):
    with pytest.raises(InputError) as caught:
        parse_gml(text.encode())
    assert str(caught.value) == f"is not a GML file: {rule}"
