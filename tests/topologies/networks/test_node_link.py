"""Node-link JSON as NetworkX writes it, and as files without some of its keys have it."""

import json

import pytest

from topologies.networks.node_link import parse_node_link

LINKS = [{"source": 0, "target": 1}]


@pytest.mark.parametrize(
    ("stated", "directed"), [({}, 0), ({"directed": False}, False), ({"directed": True}, True)]
)
def test_a_graph_is_directed_only_where_it_says_so(stated, directed):
    content = {**stated, "nodes": [{"id": 0}, {"id": 1}], "links": LINKS}
    assert parse_node_link(json.dumps(content).encode()).directed == directed
