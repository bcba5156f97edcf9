"""Names of links and silos."""

import pytest
from small_networks import network, triangle_network

from simulator.world.background import ConstantShare
from simulator.world.capacities import CapacityTrace
from simulator.world.dynamic_network import dynamic_network
from simulator.world.effects import effects_of
from simulator.world.failures import LinkFailure
from simulator.world.names import Names
from topologies import InputError


@pytest.fixture
def triangle():
    return triangle_network()


def test_names(triangle):
    find = finder(triangle)
    assert find("A - B") == find("B - A") == (0, 1)
    assert find("A -> B") == (0,)
    assert find("B -> A") == (1,)
    assert find("C uplink") == (8,)
    assert find("A downlink") == (9,)
    assert find(None) == (0, 1, 2, 3, 4, 5)
    assert find(11) == (11,)
    assert Names(triangle).core_link("C - B", "x") == Names(triangle).core_link(1, "x") == 1
    assert Names(triangle).silo("C", "x") == Names(triangle).silo(2, "x") == 2
    for direction in range(12):
        assert find(triangle.link_name(direction)) == (direction,)


def test_names_of_parallel_links():
    graph = network([(0, 1), (1, 0)], [1.0, 1.0], [10.0] * 2)
    find = finder(graph)
    assert find("A - B #1") == (0, 1)
    assert find("B - A #2") == (2, 3)
    assert find("A -> B #2") == (3,)
    assert Names(graph).core_link("A - B #2", "x") == 1
    with pytest.raises(InputError, match=r"link\(='A - B'\) must be one of .* \(did you mean 'A - B #"):
        find("A - B")


def finder(graph):
    find = Names(graph).directions
    return lambda name: find(name, "link")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda g: finder(g)("A - X"), "link(='A - X') must be one of "),
        (lambda g: finder(g)(12), "link(=12) must be >= 0 and < 12."),
        (lambda g: finder(g)(1.5), "link(=1.5) must be a name or a number."),
        (
            lambda g: Names(g).core_link("A -> B", "core link"),
            "core link(='A -> B') must be one of A - B, A - C, ",
        ),
        (lambda g: Names(g).core_link(3, "core link"), "core link(=3) must be >= 0 and < 3."),
        (lambda g: Names(g).silo("X", "silo"), "silo(='X') must be one of A, B, C"),
        (lambda g: Names(g).silo(-1, "silo"), "silo(=-1) must be >= 0 and < 3."),
        (
            lambda g: around(g, ConstantShare(share=0.1), ConstantShare(share=0.1, link="B -> A")),
            "events[1] must not name B -> A again: events[0] is its constant share.",
        ),
        (
            lambda g: around(g, *[CapacityTrace(link=n, date_s=[0], capacity_bps=[1]) for n in ("A - B", 1)]),
            "events[1] must not name B -> A again: events[0] is its capacity trace.",
        ),
        (
            lambda g: around(g, ConstantShare(share=0.1, link=0), ConstantShare(share=0.1, link="X")),
            "events[1].link(='X') must be one of ",
        ),
        (
            lambda g: around(g, LinkFailure(link="A -> B", from_s=1.0)),
            "events[0].link(='A -> B') must be one of A - B, A - C, ",
        ),
    ],
)
def test_unknown_names_and_links_named_twice(triangle, ask, message):
    with pytest.raises(InputError) as caught:
        ask(triangle)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def around(graph, *events):
    return network_with(events, graph, [(0, 1), (1, 2), (2, 0)])


def network_with(events, graph, arcs):
    return dynamic_network(effects_of(events, graph), graph, arcs)
