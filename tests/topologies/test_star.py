"""The STAR's hub: by load, by closeness, chosen; with pairs that cannot talk."""

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from topologies import AccessLinks, InputError, Workload, connectivity, load_underlay, published_underlays
from topologies.compiled_designs import many_designs
from topologies.designers.star import _compiled_load, _plain_load, router_load, star
from topologies.latency_rule import S_PER_KM, S_PER_PATH

ACCESS = AccessLinks(up_bps=1e10, down_bps=1e10)
WORK = Workload(model_bits=1e8, compute_s=0.1)
PUBLISHED_HUBS = {
    "gaia": "Virginia",
    "aws_na": "Ashburn",
    "geant": "NL",
    "exodus": "San Jose 471",
    "ebone": "London 209",
}
"""First nodes of the published files."""

# A path that ends in a fork: most routes pass r3, which is also nearest to all.
LINKS = [(0, 1, 1000.0), (1, 2, 1000.0), (2, 3, 100.0), (3, 4, 10.0), (3, 5, 10.0), (3, 6, 10.0)]


@pytest.fixture
def graph(make_underlay):
    return connectivity(make_underlay(7, LINKS), access=ACCESS)


def test_the_rules_differ(make_underlay):
    # r0 joins two pairs with a far mesh of six (r5..r10): it carries most routes, but r5 is nearest to most silos.
    pairs = [(0, 1, 3000.0), (1, 2, 1.0), (0, 3, 3000.0), (3, 4, 1.0), (0, 5, 3000.0)]
    mesh = [(i, j, 1.0) for i, j in itertools.combinations(range(5, 11), 2)]
    graph = connectivity(make_underlay(11, pairs + mesh), access=ACCESS)

    assert star(graph, WORK, hub="closeness").hub == 5
    assert star(graph, WORK, hub="load").hub == 0
    assert star(graph, WORK).hub == 0


def test_load_counts_the_routes_between_others(make_underlay):
    # On a path of 3, all routes between the ends pass the middle.
    graph = connectivity(make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)]), access=ACCESS)

    assert router_load(graph.underlay) == pytest.approx(np.array([0.0, 1.0, 0.0]), abs=1e-12)


@pytest.mark.parametrize(("links", "loads"), [([(0, 1)], [0, 0]), ([(0, 1), (1, 2)], [0, 1, 0])])
def test_the_compiled_load_of_the_smallest_networks(make_underlay, links, loads):
    with many_designs():
        found = router_load(make_underlay(len(loads), [(a, b, 1.0) for a, b in links]))

    assert found.tolist() == pytest.approx(loads, abs=1e-12)


def _random_underlay(make_underlay, seed: int):
    """Up to 24 routers, most of their lengths equal, some 0, some links parallel: many shortest paths tie."""
    draw = np.random.default_rng(seed)
    routers = int(draw.integers(2, 25))
    tree = [(int(draw.integers(node)), node) for node in range(1, routers)]
    more = [
        tuple(draw.choice(routers, 2, replace=False).tolist()) for _ in range(int(draw.integers(2 * routers)))
    ]
    lengths = [0.0, 100.0, 100.0, 200.0, 300.0, 0.1 * draw.random()]
    return make_underlay(routers, [(a, b, float(draw.choice(lengths))) for a, b in tree + more])


@pytest.mark.parametrize("block", [3, 256])
def test_the_compiled_load_is_that_of_networkx_to_the_last_bit(make_underlay, monkeypatch, block):
    monkeypatch.setattr("topologies.designers.star.BLOCK_ROUTERS", block)
    for seed in range(15):
        underlay = _random_underlay(make_underlay, seed)
        links = nx.Graph()
        links.add_nodes_from(range(underlay.routers))
        for (a, b), length_km in zip(underlay.ends.tolist(), underlay.length_km.tolist(), strict=True):
            latency_s = min(S_PER_KM * length_km + S_PER_PATH, links.get_edge_data(a, b, {"w": np.inf})["w"])
            links.add_edge(a, b, w=latency_s)
        expected = nx.load_centrality(links, weight="w")
        router_load.cache_clear()
        assert router_load(underlay).tolist() == [expected[router] for router in range(underlay.routers)]
        router_load.cache_clear()
        with many_designs():
            assert router_load(underlay).tolist() == [expected[router] for router in range(underlay.routers)]


def test_what_routers_out_of_reach_pass_on_is_not_counted():
    # 0 - 1 - 2 - 3, and apart from them 4 - 5 - 6: between others, 1 and 2 carry 4 messages each, and 5 carries 2.
    lines = nx.Graph([(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)])
    latency_s = nx.to_scipy_sparse_array(lines, nodelist=range(7), weight=None, dtype=float)

    loads = _compiled_load(latency_s)
    assert loads * 6 * 5 == pytest.approx(np.array([0, 4, 4, 0, 0, 2, 0]), abs=1e-12)
    assert loads.tolist() == _plain_load(latency_s).tolist()


def test_the_compiled_load_of_the_shipped_networks_is_that_of_networkx():
    for name in PUBLISHED_HUBS:
        underlay = load_underlay(name)
        router_load.cache_clear()
        plain = router_load(underlay)
        router_load.cache_clear()
        with many_designs():
            assert router_load(underlay).tolist() == plain.tolist()


@pytest.mark.parametrize("hub", [5, "r5", np.int64(5)])
def test_a_chosen_hub(graph, hub):
    overlay = star(graph, WORK, hub=hub)

    assert overlay.hub == 5
    assert overlay.arcs == 12
    assert set(overlay.source[overlay.target == 5].tolist()) == {0, 1, 2, 3, 4, 6}


@pytest.mark.parametrize(
    ("hub", "message"),
    [
        ("r9", r"hub\(='r9'\) must be one of closeness, first, load, r0, .*, r6"),
        ("close", r"\(did you mean 'closeness'\?\)"),
        (7, r"hub\(=7\) must be a silo's label or an index of 0\.\.6\."),
        (-1, r"hub\(=-1\)"),
        (1.5, r"hub\(=1.5\)"),
        (True, r"hub\(=True\)"),
    ],
)
def test_no_such_hub(graph, hub, message):
    with pytest.raises(InputError, match=message):
        star(graph, WORK, hub=hub)


@pytest.mark.parametrize("pair", [(3, 4), (4, 3)])
def test_a_hub_must_reach_everybody(make_underlay, pair):
    graph = connectivity(make_underlay(7, LINKS), access=ACCESS, blocked=[pair])

    assert star(graph, WORK, hub="load").hub not in pair
    assert star(graph, WORK, hub="closeness").hub not in pair
    assert star(graph, WORK).hub not in pair
    with pytest.raises(InputError, match="the hub r3 cannot talk both ways with r4"):
        star(graph, WORK, hub="r3")


def test_nobody_can_be_the_hub(make_underlay):
    graph = connectivity(
        make_underlay(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]),
        access=ACCESS,
        blocked=[(0, 1), (1, 2), (2, 3), (0, 3)],
    )

    with pytest.raises(InputError, match=r"no silo can be the hub.*; r0 cannot with r1"):
        star(graph, WORK)


def test_the_silo_that_reaches_most_is_named_where_nobody_can_be_the_hub(make_underlay):
    # r2 talks with r0 and r1, these only with r2, and r3 with nobody.
    graph = connectivity(
        make_underlay(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]),
        access=ACCESS,
        blocked=[(0, 1), (0, 3), (1, 3), (2, 3)],
    )

    with pytest.raises(InputError, match="r2 cannot with r3"):
        star(graph, WORK)


@pytest.mark.parametrize(("nearer_s", "hub"), [(2e-13, 0), (4e-12, 1)])
def test_latencies_that_differ_by_less_than_a_picosecond_tie(make_underlay, nearer_s, hub):
    graph = connectivity(make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]), access=ACCESS)
    latency_s = np.where(np.eye(3, dtype=bool), 0.0, 0.003)
    # The mean over three silos of what r1 is nearer.
    latency_s[1, [0, 2]] -= 1.5 * nearer_s

    assert star(replace(graph, latency_s=latency_s), WORK, hub="closeness").hub == hub


@pytest.mark.parametrize(("more", "hub"), [(2e-10, 0), (4e-9, 1)])
def test_loads_that_differ_by_less_than_rounding_tie(graph, monkeypatch, more, hub):
    loads = np.array([0.25, 0.25 + more, 0.0, 0.0, 0.0, 0.0, 0.0])
    monkeypatch.setattr("topologies.designers.star.router_load", lambda _: loads)
    same = replace(graph, latency_s=np.full((7, 7), 0.001))

    assert star(same, WORK, hub="load").hub == hub


def test_the_published_hub_is_the_first_that_can(published_graph):
    underlay = load_underlay("gaia", variant="published")

    virginia, california = map(underlay.labels.index, ("Virginia", "California"))

    assert star(published_graph("gaia", 1e10), WORK).hub == virginia
    blocked = [(virginia, underlay.labels.index("Tokyo"))]
    assert star(connectivity(underlay, access=ACCESS, blocked=blocked), WORK).hub == california
    geant = star(published_graph("geant", 1e10), WORK, hub="load")
    assert geant.graph.labels[geant.hub] != PUBLISHED_HUBS["geant"]


@pytest.mark.parametrize("name", published_underlays())
def test_a_named_rule_does_not_ask_for_the_variant(published_graph, name):
    published = published_graph(name, 1e10)
    corrected = connectivity(load_underlay(name), access=ACCESS)

    hub = published.labels.index(PUBLISHED_HUBS[name])
    assert star(published, WORK).hub == star(published, WORK, hub="first").hub == hub
    assert star(corrected, WORK, hub="first").hub == hub
    assert star(corrected, WORK).hub == star(corrected, WORK, hub="load").hub
    as_corrected = replace(published, underlay=replace(published.underlay, variant="corrected"))
    assert star(as_corrected, WORK).hub == star(published, WORK, hub="load").hub


def test_an_unknown_label_of_a_thousand_lists_ten(make_underlay):
    many = make_underlay(1000, [(0, i, 1.0) for i in range(1, 1000)])
    with pytest.raises(InputError) as error:
        star(connectivity(many, access=ACCESS), WORK, hub="R 731")

    assert str(error.value) == (
        "hub(='R 731') must be one of 1003 names; did you mean 'r731'? Among them are "
        "r731, r73, r71, load, closeness, first, r0, r1, r2, r3, ..."
    )


def test_silos_take_the_load_of_their_router(make_underlay):
    # Silos 0 and 1 are attached to leaves, 2 and 3 on the middle.
    graph = connectivity(
        make_underlay(4, [(0, 3, 9.0), (1, 3, 9.0), (2, 3, 9.0)]), access=ACCESS, routers=[0, 1, 3, 3]
    )

    assert star(graph, WORK, hub="load").hub == 2
    assert star(graph, WORK, hub="r3/2").hub == 3


def test_one_silo_needs_no_arcs(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 1.0)]), access=ACCESS, routers=[1])
    for hub in (None, "load", "closeness", 0, "r1"):
        overlay = star(graph, WORK, hub=hub)
        assert (overlay.hub, overlay.arcs) == (0, 0)
        assert overlay.closed_forms.paper_s == 0.1
