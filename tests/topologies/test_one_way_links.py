"""Directed graphs: a link and its way back are one; a link without one is an error."""

import pytest

from topologies import InputError
from topologies.networks.attributes import Graph
from topologies.networks.one_way_links import full_duplex

NODES = [{"id": i, "label": "ABC"[i]} for i in range(3)]


def graph(*links, directed=1):
    """Links as source, target and attributes."""
    return Graph(
        nodes=NODES, links=[{"source": a, "target": b, **more} for a, b, more in links], directed=directed
    )


def test_a_link_and_its_way_back_are_one():
    found, notes = full_duplex(
        graph(
            (0, 1, {"dist": 5}), (1, 2, {}), (1, 0, {"distance": "5.0", "LinkLabel": "x"}), (2, 1, {"key": 3})
        )
    )

    assert [(link["source"], link["target"]) for link in found.links] == [(0, 1), (1, 2)]
    assert found.directed == 0
    assert notes == ["joined 4 directed links to 2 full-duplex ones."]


def test_parallel_links_stay_parallel():
    links = [
        (0, 1, {"capacity": 1}),
        (0, 1, {"capacity": 2}),
        (1, 0, {"capacity": 2}),
        (1, 0, {"capacity": 1}),
    ]
    found, _ = full_duplex(graph(*links))

    assert [link["capacity"] for link in found.links] == [1, 2]
    same, notes = full_duplex(graph(*[(a, b, {}) for a, b, _ in links]))
    assert len(same.links) == 2
    assert notes == ["joined 4 directed links to 2 full-duplex ones."]


@pytest.mark.parametrize(
    ("links", "lone"),
    [
        ([(0, 1, {})], "link 0 ('A - B')"),
        ([(0, 1, {}), (1, 0, {}), (1, 2, {})], "link 2 ('B - C')"),
        ([(0, 1, {"dist": 1}), (1, 0, {"dist": 2})], "link 0 ('A - B')"),
        ([(0, 1, {"capacity": 1}), (1, 0, {})], "link 0 ('A - B')"),
        ([(0, 1, {"LinkSpeed": 1, "LinkSpeedUnits": "G"}), (1, 0, {})], "link 0 ('A - B')"),
        ([(0, 1, {}), (0, 1, {}), (1, 0, {})], "link 1 ('A - B')"),
    ],
)
def test_a_link_without_its_way_back_is_named(links, lone):
    with pytest.raises(InputError) as caught:
        full_duplex(graph(*links))

    assert str(caught.value) == (
        "directed(=1) must be 0, or each link must have a way back of the same length and capacity, which "
        f"{lone} lacks: links are full duplex."
    )


@pytest.mark.parametrize("directed", [0, False, "0", "false", "False"])
def test_a_graph_that_is_not_directed_stays(directed):
    given = graph((0, 1, {}), directed=directed)

    assert full_duplex(given) == (given, [])


def test_no_links_and_self_loops():
    assert full_duplex(graph())[1] == []
    assert len(full_duplex(graph((0, 0, {}), (0, 0, {})))[0].links) == 2
