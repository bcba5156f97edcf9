"""The available bandwidth of links that differ, against the routes themselves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, connectivity, load_underlay


def by_route(graph) -> np.ndarray:
    """Smallest capacity on each route, link by link."""
    smallest = np.full((graph.silos, graph.silos), np.inf)
    for i in range(graph.silos):
        for j in range(graph.silos):
            links = graph.routes.links(int(graph.router[i]), int(graph.router[j]))
            smallest[i, j] = min((graph.core_bps[link // 2] for link in links), default=np.inf)
    return smallest


@pytest.mark.parametrize("name", ["gaia", "geant"])
def test_stated_capacities(name):
    graph = connectivity(
        load_underlay(name),
        access=AccessLinks(up_bps=1e10, down_bps=1e10),
        core="stated",
        bandwidth="bottleneck",
    )

    assert np.array_equal(graph.available_bps, by_route(graph))


@given(
    links=st.lists(
        st.tuples(
            st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 1.0, 1.0 + 6e-10, 2.0, 2.0 + 3e-9])
        ).filter(lambda link: link[0] != link[1]),
        max_size=8,
    ),
    order=st.permutations(range(6)),
)
def test_routes_through_routers_of_lower_numbers(make_underlay, links, order):
    tree = [(order[i], order[i + 1], 1.0) for i in range(5)]
    underlay = make_underlay(6, tree + links)
    access = AccessLinks(up_bps=1e10, down_bps=1e10)
    core = 1e9 + np.arange(underlay.links)
    underlay = replace(underlay, capacity_bps=core)
    graph = connectivity(underlay, access=access, core="stated", bandwidth="bottleneck")

    assert np.array_equal(graph.available_bps, by_route(graph))
