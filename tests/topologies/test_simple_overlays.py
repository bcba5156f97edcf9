"""The complete graph and the underlay as overlays."""

import numpy as np
import pytest

from topologies import AccessLinks, InputError, Workload, connectivity, load_underlay, published_underlays
from topologies.designers.complete import complete
from topologies.designers.underlay_overlay import neighbouring_silos, underlay_overlay

ACCESS = AccessLinks(up_bps=1e9, down_bps=1e9)
WORK = Workload(model_bits=1e8, compute_s=0.1)


def arcs(overlay) -> set[tuple[int, int]]:
    return set(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))


def both(*pairs: tuple[int, int]) -> set[tuple[int, int]]:
    return {arc for i, j in pairs for arc in ((i, j), (j, i))}


@pytest.mark.parametrize("silos", [1, 2, 3, 6])
def test_complete_has_every_pair(make_underlay, silos):
    path = make_underlay(6, [(i, i + 1, 0.0) for i in range(5)])
    overlay = complete(connectivity(path, access=ACCESS, routers=list(range(silos))), WORK)

    assert overlay.kind == "complete"
    assert arcs(overlay) == {(i, j) for i in range(silos) for j in range(silos) if i != j}
    # Each model shares the 1 Gbps access with silos - 1 others: the slowest pair waits for that, or for 5 hops.
    farthest = max(silos - 1, 0)
    expected = 0.1 + (0.004 + 0.1 * farthest if silos > 1 else 0.0)
    assert overlay.closed_forms.paper_s == pytest.approx(expected, rel=1e-12)


def test_complete_leaves_out_pairs_that_cannot_talk(make_underlay):
    path = make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)])
    overlay = complete(connectivity(path, access=ACCESS, blocked=[(0, 2)]), WORK)

    assert arcs(overlay) == both((0, 1), (1, 2)) | {(2, 0)}
    with pytest.raises(InputError, match=r"complete: .* nothing that r0 sends can reach r1\."):
        complete(connectivity(path, access=ACCESS, blocked=[(0, 1), (0, 2)]), WORK)


@pytest.mark.parametrize("name", published_underlays())
def test_the_underlay_has_an_arc_each_way_on_every_link(published_graph, name):
    graph = published_graph(name, 1e10)
    overlay = underlay_overlay(graph, WORK)

    assert overlay.kind == "underlay"
    assert arcs(overlay) == both(*map(tuple, graph.underlay.ends.tolist()))


def test_on_a_full_mesh_the_underlay_is_complete(published_graph):
    graph = published_graph("gaia", 1e10)

    assert arcs(underlay_overlay(graph, WORK)) == arcs(complete(graph, WORK))


def test_parallel_links_make_one_arc_each_way(make_underlay):
    twice = make_underlay(3, [(0, 1, 5.0), (1, 0, 1.0), (1, 2, 1.0)])

    assert arcs(underlay_overlay(connectivity(twice, access=ACCESS), WORK)) == both((0, 1), (1, 2))


def test_silos_of_one_router_are_neighbours(make_underlay):
    path = make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)])
    graph = connectivity(path, access=ACCESS, routers=[0, 0, 1, 2])

    assert arcs(underlay_overlay(graph, WORK)) == both((0, 1), (0, 2), (1, 2), (2, 3))


def test_a_router_without_a_silo_joins_those_around_it(make_underlay):
    # 0 - 1 - 2 - 3 - 4 with a leaf 5 at 2; routers 1, 2 and 5 have no silo, so 0 and 3 are neighbours, 0 and 4 not.
    tree = make_underlay(6, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0), (2, 5, 1.0)])
    graph = connectivity(tree, access=ACCESS, routers=[0, 3, 4])

    assert arcs(underlay_overlay(graph, WORK)) == both((0, 1), (1, 2))


def test_a_transit_hub_makes_a_clique(make_underlay):
    hub = make_underlay(5, [(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0), (3, 4, 1.0)])
    graph = connectivity(hub, access=ACCESS, routers=[1, 2, 3, 4])

    assert arcs(underlay_overlay(graph, WORK)) == both((0, 1), (0, 2), (1, 2), (2, 3))


def test_the_underlay_respects_missing_arcs(make_underlay):
    ring = make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)])

    one_way = underlay_overlay(connectivity(ring, access=ACCESS, blocked=[(0, 1), (1, 2), (2, 0)]), WORK)
    assert arcs(one_way) == {(1, 0), (2, 1), (0, 2)}
    with pytest.raises(InputError, match=r"underlay: .* nothing that r0 sends can reach r1\."):
        underlay_overlay(connectivity(ring, access=ACCESS, blocked=[(0, 1), (0, 2)]), WORK)


def test_one_silo(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 1.0)]), access=ACCESS, routers=[1])

    for designer in (complete, underlay_overlay):
        overlay = designer(graph, WORK)
        assert overlay.arcs == 0
        assert overlay.closed_forms.paper_s == 0.1


def test_real_underlays_with_silos_on_some_routers_stay_strong():
    # Building the overlay checks that it is strongly connected.
    underlay = load_underlay("geant")
    rng = np.random.default_rng(1)
    for silos in (2, 5, 20, 60):
        routers = rng.integers(0, underlay.routers, silos).tolist()
        assert underlay_overlay(connectivity(underlay, access=ACCESS, routers=routers), WORK).arcs >= silos


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_are_joined_by_a_path_through_routers_without_a_silo(make_underlay, seed):
    rng = np.random.default_rng(seed)
    routers = 9
    links = [(int(rng.integers(i)), i, 10.0) for i in range(1, routers)]
    links += [(0, 8, 10.0), (2, 5, 10.0)] * (seed % 2)
    silos = sorted(rng.integers(0, routers, int(rng.integers(2, 7))).tolist())
    graph = connectivity(
        make_underlay(routers, links), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=silos
    )
    expected = np.zeros((len(silos), len(silos)), dtype=bool)
    for i, here in enumerate(silos):
        reached, latest = {here}, {here}
        while latest:
            latest = {
                there
                for a, b, _ in links
                for one, there in ((a, b), (b, a))
                if one in latest and (one == here or one not in silos) and there not in reached
            }
            reached |= latest
        expected[i] = [there in reached for there in silos]

    assert np.array_equal(neighbouring_silos(graph), expected)
