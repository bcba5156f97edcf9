"""Compiled code, in which no index is checked, stays within the arrays that it is given."""

import math

import numpy as np
import pytest

from topologies import EventGraph, cycle_time
from topologies.compiled_designs import many_designs
from topologies.designers.compiled.tour_search import CompiledTourSearch
from topologies.designers.cube_path import cube_paths
from topologies.designers.euler_tours import euler_tours
from topologies.designers.matching import lightest_matching
from topologies.designers.mbst import delta_prim
from topologies.designers.star import router_load
from topologies.designers.tour import _starts
from topologies.designers.trees import TreeTimes, prim
from topologies.routing import shortest_routes

GUARDS = 40
"""Numbers before and behind each array."""


@pytest.fixture(params=[0, 77])
def guarded(monkeypatch, request):
    """Run compiled code whose new arrays lie between numbers that must stay, and hold numbers that must not count."""

    def run(function, *arguments, **options):
        made = []

        def array_of(value):
            def make(shape, dtype=float):
                count = math.prod(np.atleast_1d(shape).tolist())
                whole = np.full(count + 2 * GUARDS, 77, dtype=dtype)
                whole[GUARDS : GUARDS + count] = value
                made.append(whole)
                return whole[GUARDS : GUARDS + count].reshape(shape)

            return make

        with monkeypatch.context() as patch, many_designs():
            patch.setattr(np, "empty", array_of(request.param))
            patch.setattr(np, "zeros", array_of(0))
            found = function(*arguments, **options)
        assert made
        for whole in made:
            assert (np.delete(whole, np.s_[GUARDS:-GUARDS]) == np.full(1, 77, dtype=whole.dtype)).all()
        return found

    return run


def costs_of(nodes, seed=0):
    costs = np.triu(np.random.default_rng(seed).integers(1, 6, (nodes, nodes)), 1).astype(float)
    return costs + costs.T


@pytest.mark.parametrize("nodes", [1, 2, 3, 8, 21])
def test_trees(guarded, nodes):
    costs = costs_of(nodes)
    tree = prim(costs)

    assert guarded(prim, costs).tolist() == tree.tolist()
    assert guarded(delta_prim, costs, 2).tolist() == delta_prim(costs, 2).tolist()
    paths = cube_paths(tree, nodes, starts=range(nodes))
    assert guarded(cube_paths, tree, nodes, starts=range(nodes)).tolist() == paths.tolist()


def test_a_trees_time(guarded, graph, work):
    times = TreeTimes.of(graph, work)
    edges = np.array([(0, silo) for silo in range(1, graph.silos)])

    assert guarded(times, edges) == times(edges)


@pytest.mark.parametrize("nodes", [2, 3, 8, 40])
def test_tours(guarded, nodes):
    costs = costs_of(nodes)
    costs[costs == 5] = np.inf
    start = np.random.default_rng(1).permutation(nodes).tolist()

    assert guarded(_starts, costs) == _starts(costs)
    search = CompiledTourSearch.of(costs)
    assert guarded(search.improved, start) == search.improved(start)
    assert guarded(search.perturbed, start, 20, 0) == search.perturbed(start, 20, 0)


@pytest.mark.parametrize("nodes", [2, 3, 9])
def test_tours_along_euler_circuits(guarded, nodes):
    # A circle, and another one that skips a node.
    circle = np.column_stack((np.arange(nodes), np.roll(np.arange(nodes), -1)))
    edges = np.concatenate((circle, circle[1:-1], [(nodes - 1, 1)]))
    found = guarded(euler_tours, edges, nodes, (len(edges),))

    assert found.tolist() == euler_tours(edges, nodes, (len(edges),)).tolist()


@pytest.mark.parametrize(
    ("nodes", "seeds"),
    [(2, [0]), (4, [0, 1]), (6, [0, 1]), (8, [76, 169, 243, 262]), (18, [45, 46, 75, 258]), (30, [0])],
)
def test_matchings(guarded, nodes, seeds):
    # With 8 and 18 nodes, blossoms are given up while others stay.
    for seed in seeds:
        costs = costs_of(nodes, seed)
        assert guarded(lightest_matching, costs).tolist() == lightest_matching(costs).tolist()


@pytest.mark.parametrize("routers", [2, 3, 12])
def test_routes_and_loads(guarded, make_underlay, routers):
    # Circles without length, in which each router is on a shortest route to itself.
    links = [(k, k + 1, float(k % 2)) for k in range(routers - 1)] + [(0, routers - 1, 0.0), (0, 1, 0.0)]
    underlay = make_underlay(routers, links)
    core_bps = np.arange(1.0, 1 + len(links))
    plain, routes = shortest_routes(underlay), guarded(shortest_routes, underlay)

    assert np.array_equal(routes.parent_link, plain.parent_link)
    assert np.array_equal(guarded(routes.bottleneck_bps, core_bps), plain.bottleneck_bps(core_bps))
    router_load.cache_clear()
    load = router_load(underlay)
    router_load.cache_clear()
    assert guarded(router_load, underlay).tolist() == load.tolist()


@pytest.mark.parametrize("nodes", [1, 2, 7])
def test_cycle_times(guarded, nodes):
    numbers = np.tile(np.arange(nodes), 2)
    graph = EventGraph(
        nodes=nodes,
        source=numbers,
        target=np.concatenate((np.roll(numbers[:nodes], -1), numbers[:nodes])),
        delay_s=np.arange(1.0, 1 + 2 * nodes),
        tokens=np.ones(2 * nodes, dtype=np.int64),
    )
    found, plain = guarded(cycle_time, graph), cycle_time(graph)

    assert (found.cycle_time_s, found.circuit) == (plain.cycle_time_s, plain.circuit)
