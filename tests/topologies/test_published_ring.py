"""The ring of the published tables."""

from dataclasses import replace

import numpy as np
import pytest

from topologies import (
    AccessLinks,
    InputError,
    Workload,
    build_overlay,
    connectivity,
    design,
    design_periodic,
    load_underlay,
)
from topologies.designers.multigraph import multigraph_reading_s
from topologies.designers.published_ring import _tour, published_ring

TABLES = {
    "table3_s1_access10G_inaturalist": ("inaturalist", 1, 1e10),
    "table_s5_access10G_inaturalist": ("inaturalist", 5, 1e10),
    "table_s10_access10G_inaturalist": ("inaturalist", 10, 1e10),
    "table_full_inaturalist_s1_access1G": ("full_inaturalist", 1, 1e9),
}
"""Task, local steps and access capacity of each."""


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("network", ["gaia", "aws_na", "geant", "exodus", "ebone"])
def test_published_figures(published, published_graph, table, network):
    task, local_steps, access_bps = TABLES[table]
    work = Workload.preset(task, local_steps=local_steps, variant="published")
    source, target, delay_s = published_ring(published_graph(network, access_bps), work)
    assert source.tolist() == sorted(target.tolist()) == list(range(len(source)))
    stated_ms = published[table][network]["RING"]
    if (table, network) == ("table_s5_access10G_inaturalist", "geant"):
        # The one figure of the four tables that comes out otherwise.
        assert (stated_ms, round(delay_s.mean() * 1e3, 1)) == (210.6, 208.3)
    else:
        # Some figures are printed without digits, rounded or cut.
        assert delay_s.mean() * 1e3 == pytest.approx(stated_ms, abs=0.05 if stated_ms % 1 else 0.95)


def test_the_published_ring_needs_published_inputs(few_silos, published_graph):
    work = Workload(model_bits=1e6, compute_s=0.01)
    with pytest.raises(InputError, match=r"^the published ring needs an underlay of published inputs"):
        published_ring(few_silos(3), work)
    unequal = Workload(model_bits=1e6, compute_s=np.full(11, 0.01))
    with pytest.raises(InputError, match=r"^the published ring needs equal computing times"):
        published_ring(published_graph("gaia", 1e10), unequal)


@pytest.mark.parametrize(
    "routers",
    [range(10), [0, 0, *range(2, 11)], [*range(11), 0], [*range(11), *range(11)]],
    ids=[
        "a router without a silo",
        "as many silos as routers, two at one",
        "a silo more",
        "two silos at each",
    ],
)
def test_where_a_router_has_no_silo_or_two_the_multigraph_is_on_a_ring_of_today(routers):
    graph = connectivity(
        load_underlay("gaia", variant="published"),
        access=AccessLinks(up_bps=1e10, down_bps=1e10),
        routers=routers,
    )
    work = Workload.preset("inaturalist", variant="published")
    with pytest.raises(InputError, match=r"published inputs with one silo at each router\.$"):
        published_ring(graph, work)

    # With a lag of 1 the multigraph is its ring.
    ring = design("christofides", graph, work)
    found = design_periodic("multigraph", graph, work, most_lag=1)
    assert found.closed_forms.paper_s == pytest.approx(ring.closed_forms.paper_s, rel=1e-12)
    assert multigraph_reading_s(graph, work) > 0


def test_the_ring_of_the_tables_needs_one_capacity_of_access_and_of_core(published_graph):
    graph = published_graph("gaia", 1e10)
    work = Workload.preset("inaturalist", variant="published")
    uneven = np.full(11, 1e10)
    uneven[3] = 1e9
    core_bps = graph.core_bps.copy()
    core_bps[5] = 2e9
    for other in (
        replace(graph, up_bps=uneven),
        replace(graph, down_bps=uneven),
        replace(graph, up_bps=np.full(11, 1e9)),
        replace(graph, core_bps=core_bps),
    ):
        with pytest.raises(InputError, match=r"equal computing times, access links and core links\.$"):
            published_ring(other, work)


@pytest.mark.parametrize("access_bps", [1e8, 1e10])
def test_delays_are_those_of_eq_3_with_degrees_1(published_graph, access_bps):
    graph = published_graph("gaia", access_bps)
    work = Workload.preset("inaturalist", variant="published", local_steps=3)
    source, target, delay_s = published_ring(graph, work)

    pairs = np.column_stack((source, target))
    assert delay_s == pytest.approx(build_overlay("ring", graph, work, pairs).delay_s, rel=1e-12)


def test_a_tour_of_one_node():
    assert _tour(np.zeros((1, 1))).tolist() == [0]
