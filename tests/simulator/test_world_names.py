"""Names of links and silos in a world."""

import numpy as np
import pytest

from simulator.world.background import ConstantShare
from simulator.world.capacities import CapacityTrace
from simulator.world.names import core_link_of, directions_of, silo_of
from simulator.world.surroundings import surroundings
from simulator.world.world import World
from topologies import AccessLinks, InputError, Underlay, connectivity


def network(ends, length_km, capacity_bps, labels="ABCD", **how):
    routers = int(np.max(ends)) + 1
    underlay = Underlay(
        name="test",
        variant="corrected",
        labels=tuple(labels[:routers]),
        latitude_deg=np.zeros(routers),
        longitude_deg=np.zeros(routers),
        ends=ends,
        length_km=length_km,
        capacity_bps=capacity_bps,
    )
    return connectivity(underlay, access=AccessLinks(up_bps=1000.0, down_bps=1000.0), **how)


@pytest.fixture
def triangle():
    return network([(0, 1), (1, 2), (0, 2)], [100.0, 100.0, 150.0], [10.0, 5.0, 20.0])


def test_names(triangle):
    find = directions_of(triangle)
    assert find("A - B") == find("B - A") == (0, 1)
    assert find("A -> B") == (0,)
    assert find("B -> A") == (1,)
    assert find("C uplink") == (8,)
    assert find("A downlink") == (9,)
    assert find(None) == (0, 1, 2, 3, 4, 5)
    assert find(11) == (11,)
    assert core_link_of(triangle, "C - B") == core_link_of(triangle, 1) == 1
    assert silo_of(triangle, "C") == silo_of(triangle, 2) == 2
    for direction in range(12):
        assert find(triangle.link_name(direction)) == (direction,)


def test_names_of_parallel_links():
    graph = network([(0, 1), (1, 0)], [1.0, 1.0], [10.0] * 2)
    find = directions_of(graph)
    assert find("A - B #1") == (0, 1)
    assert find("B - A #2") == (2, 3)
    assert find("A -> B #2") == (3,)
    assert core_link_of(graph, "A - B #2") == 1
    with pytest.raises(InputError, match=r"link\(='A - B'\) must be one of .* \(did you mean 'A - B #"):
        find("A - B")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda g: directions_of(g)("A - X"), "link(='A - X') must be one of "),
        (lambda g: directions_of(g)(12), "link(=12) must be >= 0 and < 12."),
        (lambda g: directions_of(g)(1.5), "link(=1.5) must be a name or a number."),
        (lambda g: core_link_of(g, "A -> B"), "core link(='A -> B') must be one of A - B, A - C, "),
        (lambda g: core_link_of(g, 3), "core link(=3) must be >= 0 and < 3."),
        (lambda g: silo_of(g, "X"), "silo(='X') must be one of A, B, C"),
        (lambda g: silo_of(g, -1), "silo(=-1) must be >= 0 and < 3."),
        (
            lambda g: around(
                g, background=[ConstantShare(share=0.1), ConstantShare(share=0.1, link="B -> A")]
            ),
            "constant share of B -> A must not be given twice.",
        ),
        (
            lambda g: around(
                g, capacities=[CapacityTrace(link=n, date_s=[0], capacity_bps=[1]) for n in ("A - B", 1)]
            ),
            "capacity trace of B -> A must not be given twice.",
        ),
    ],
)
def test_unknown_names_and_links_named_twice(triangle, ask, message):
    with pytest.raises(InputError) as caught:
        ask(triangle)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def around(graph, **entries):
    return surroundings(World(**entries), graph, [(0, 1), (1, 2), (2, 0)])
