"""Rings where many pairs cannot talk: they are found wherever they exist, or the reason is named."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from topologies import AccessLinks, InputError, Workload, connectivity
from topologies.designers import ring_search
from topologies.designers.christofides import christofides
from topologies.designers.random_ring import _completions, _counted_order, _first_ways, random_ring
from topologies.designers.ring import ring
from topologies.designers.ring_search import _crowd, _cut_silo, is_dense, some_circuit, tour_along

WORK = Workload(model_bits=1e7, compute_s=0.01)
DESIGNS = (ring, christofides, random_ring)


@pytest.fixture(scope="module")
def make_graph(make_underlay):
    """Connectivity graph with these arcs only, shape (silos, silos)."""

    def make(allowed, km=None, routers=None):
        silos = len(allowed)
        km = np.arange(1.0, silos) * 100 if km is None else km
        underlay = make_underlay(silos, [(i, i + 1, float(km[i])) for i in range(silos - 1)])
        blocked = [(i, j) for i, j in itertools.permutations(range(silos), 2) if not allowed[i, j]]
        access = AccessLinks(up_bps=1e9, down_bps=1e9)
        return connectivity(underlay, access=access, blocked=blocked, routers=routers)

    return make


def cliques(silos, *groups):
    allowed = np.zeros((silos, silos), dtype=bool)
    for group in groups:
        allowed[np.ix_(group, group)] = True
    return allowed


def hidden(silos, density, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(silos)
    allowed = rng.random((silos, silos)) < density
    allowed[order, np.roll(order, -1)] = True
    np.fill_diagonal(allowed, False)
    return allowed


def is_ring(overlay):
    after = dict(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    seen = [0]
    while len(seen) < overlay.graph.silos:
        seen.append(after[seen[-1]])
    return sorted(seen) == list(range(overlay.graph.silos)) and after[seen[-1]] == 0


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(
    ("allowed", "reason"),
    [
        (cliques(9, range(5), range(4, 9)), r"pass r4 twice: without it neither of r0 and r5"),
        (cliques(6, range(5)), r"r5 can send to no other silo"),
        (cliques(6, range(3), range(3, 6)), r"nothing that r\d sends can reach r\d"),
        (
            np.fromfunction(lambda i, j: (i != j) & ((i < 3) | (j < 3)), (10, 10)),
            r"4 silos \(r3, r4, r5, r6\) can send to 3 silos only",
        ),
    ],
)
def test_the_reason_is_named(make_graph, design, allowed, reason):
    with pytest.raises(InputError, match=reason):
        design(make_graph(allowed), WORK)


PETERSEN = [pair for i in range(5) for pair in ((i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5))]
# Without silos 0 and 1 the other six are in three parts.
THREE_WAYS = [pair for i in (2, 4, 6) for pair in ((0, i), (i, i + 1), (i + 1, 1))]


@pytest.mark.parametrize(
    "pairs", [THREE_WAYS, pytest.param(PETERSEN, marks=pytest.mark.slow)], ids=["three ways", "Petersen"]
)
def test_networks_without_a_ring_for_none_of_the_simpler_reasons(make_graph, pairs):
    silos = 1 + max(map(max, pairs))
    allowed = np.zeros((silos, silos), dtype=bool)
    for a, b in pairs:
        allowed[a, b] = allowed[b, a] = True

    with pytest.raises(InputError, match="no circle of pairs that can talk visits every silo once"):
        ring(make_graph(allowed), WORK)


@given(silos=st.integers(2, 8), density=st.sampled_from((0.2, 0.4, 0.7)), seed=st.integers(0, 2**32 - 1))
def test_designers_find_a_ring_exactly_where_one_exists(make_graph, silos, density, seed):
    rng = np.random.default_rng(seed)
    allowed = rng.random((silos, silos)) < density
    np.fill_diagonal(allowed, False)
    exists = any(
        all(allowed[i, j] for i, j in itertools.pairwise((0, *rest, 0)))
        for rest in itertools.permutations(range(1, silos))
    )
    graph = make_graph(allowed, km=rng.integers(0, 3, silos) * 500.0)

    assert (some_circuit(allowed)[0] is not None) == exists
    if not exists:
        for design in DESIGNS:
            with pytest.raises(InputError):
                design(graph, WORK)
        return
    short, paper = ring(graph, WORK), christofides(graph, WORK)
    assert is_ring(short)
    assert is_ring(paper)
    assert short.closed_forms.paper_s <= paper.closed_forms.paper_s * (1 + 1e-12)
    order = random_ring(graph, WORK).draw(np.random.default_rng(seed), 0)
    assert allowed[order, np.roll(order, -1)].all()


@pytest.mark.parametrize(
    ("silos", "density"),
    [
        (12, 0.08),
        *(pytest.param(*large, marks=pytest.mark.slow) for large in ((40, 0.05), (40, 0.5), (60, 0.02))),
    ],
)
def test_hidden_rings_are_found_and_drawn(make_graph, silos, density):
    allowed = hidden(silos, density, 1)
    graph = make_graph(allowed)

    assert is_ring(ring(graph, WORK))
    assert is_ring(christofides(graph, WORK))
    overlay = random_ring(graph, WORK)
    order = overlay.draw(np.random.default_rng(3), 0)
    assert sorted(order) == list(range(silos))
    assert allowed[order, np.roll(order, -1)].all()
    assert np.array_equal(order, overlay.draw(np.random.default_rng(3), 0))


# Up to 14 silos all rings are counted, more are searched.
@pytest.mark.slow
@pytest.mark.parametrize("silos", [13, 15])
def test_rare_rings_of_equal_shape_are_equally_likely(make_graph, silos):
    # One circuit on which three pairs of neighbours may change places: 8 rings among (silos - 1)! orders.
    allowed = np.zeros((silos, silos), dtype=bool)
    allowed[np.arange(silos), np.roll(np.arange(silos), -1)] = True
    for a in (1, 5, 9):
        allowed[a - 1, a + 1] = allowed[a + 1, a] = allowed[a, a + 2] = True
    overlay, rng = random_ring(make_graph(allowed), WORK), np.random.default_rng(5)
    uses = Counter(tuple(overlay.draw(rng, 0).tolist()) for _ in range(160))

    assert len(uses) == 8
    assert chisquare(list(uses.values())).pvalue > 0.01


@pytest.mark.parametrize("silos", [1, 2, 3, 12])
def test_zero_lengths_and_a_shared_router(make_graph, silos):
    routers = max(silos, 2)
    graph = make_graph(~np.eye(routers, dtype=bool), km=np.zeros(routers), routers=[0] * silos)
    for design in (ring, christofides):
        overlay = design(graph, WORK)
        assert overlay.arcs == (0 if silos == 1 else silos)
        assert silos == 1 or is_ring(overlay)


@pytest.mark.parametrize("silos", [1, 2, 3, 4, 5])
def test_the_spectral_norm_of_random_rings_is_that_of_all_orders(make_graph, silos):
    routers = max(silos, 2)
    graph = make_graph(~np.eye(routers, dtype=bool), routers=range(silos))
    identity, mean = np.eye(silos), np.zeros((silos, silos))
    orders = [(0, *rest) for rest in itertools.permutations(range(1, silos))]
    for order in orders:
        weights = identity / 2
        weights[np.roll(order, -1), order] += 0.5
        mean += weights.T @ weights / len(orders)

    expected = np.linalg.norm(mean - 1 / silos, 2)
    assert random_ring(graph, WORK).spectral_norm == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_the_spectral_norm_is_not_known_where_some_pair_cannot_talk(make_graph):
    allowed = ~np.eye(4, dtype=bool)
    allowed[0, 1] = False

    assert random_ring(make_graph(allowed), WORK).spectral_norm is None


def reaches(allowed, without=()):
    """Which nodes reach which by arcs of the others than those left out."""
    reach = allowed | np.eye(len(allowed), dtype=bool)
    reach[list(without)] = reach[:, list(without)] = False
    for via in range(len(allowed)):
        reach |= np.logical_and.outer(reach[:, via], reach[via])
    return reach


@pytest.mark.parametrize("seed", range(60))
def test_reasons_hold_and_are_found_exactly_where_they_exist(seed):
    rng = np.random.default_rng(seed)
    silos = int(rng.integers(3, 7))
    allowed = rng.random((silos, silos)) < rng.choice((0.3, 0.45, 0.6))
    np.fill_diagonal(allowed, False)

    apart = []
    for node in range(silos):
        reach = reaches(allowed, (node,))
        apart += [
            (node, i, j)
            for i, j in itertools.combinations(sorted({*range(silos)} - {node}), 2)
            if not reach[i, j] and not reach[j, i]
        ]
    cut = _cut_silo(allowed)
    assert (cut in apart) if apart else (cut is None)

    crowds = [
        set(some)
        for size in range(1, silos + 1)
        for some in itertools.combinations(range(silos), size)
        if np.count_nonzero(allowed[list(some)].any(axis=0)) < size
    ]
    crowd, hearers = _crowd(allowed)
    assert bool(crowd) == bool(crowds)
    if crowd:
        assert set(crowd) in crowds
        assert hearers == np.count_nonzero(allowed[crowd].any(axis=0))

    rings = [
        [0, *rest]
        for rest in itertools.permutations(range(1, silos))
        if all(allowed[i, j] for i, j in itertools.pairwise([0, *rest, 0]))
    ]
    tour, known = some_circuit(allowed)
    assert known
    assert (tour in rings) if rings else (tour is None)
    enough = (allowed.sum(axis=0) + allowed.sum(axis=1)).min() >= silos
    assert is_dense(allowed) == (enough and reaches(allowed).all())
    assert rings or not is_dense(allowed)


def test_a_tour_along_arcs_in_any_order():
    assert tour_along(np.array([3, 0, 2, 1]), np.array([1, 2, 3, 0])) == [0, 2, 3, 1]


class Numbered:
    """Draws the number that it is made with."""

    def __init__(self, number):
        self.number = number

    def integers(self, high):
        assert self.number < high
        return self.number


@pytest.mark.parametrize("seed", range(20))
def test_every_number_up_to_the_count_is_another_ring(seed):
    rng = np.random.default_rng(seed)
    silos = int(rng.integers(2, 7))
    allowed = rng.random((silos, silos)) < 0.7
    rings = [
        [0, *rest]
        for rest in itertools.permutations(range(1, silos))
        if all(allowed[i, j] for i, j in itertools.pairwise([0, *rest, 0]))
    ]
    completions = _completions(allowed)
    assert not completions.flags.writeable  # several rounds draw from it
    ways = _first_ways(allowed, completions)

    assert ways.tolist() == [sum(ring[1] == first for ring in rings) for first in range(1, silos)]
    assert [_counted_order(Numbered(k), allowed, completions).tolist() for k in range(len(rings))] == rings


def test_a_search_that_gives_up_says_no_more(make_graph, monkeypatch):
    # Two cliques with two bridges on either side: a ring exists, and the first assignment has two circuits.
    allowed = cliques(12, range(6), range(6, 12)) & ~np.eye(12, dtype=bool)
    allowed[0, 6] = allowed[7, 1] = True
    assert some_circuit(allowed)[0] is not None
    monkeypatch.setattr(ring_search, "ROUNDS", 1)
    assert some_circuit(allowed) == (None, False)
    graph = make_graph(allowed)
    expected = "ring: no ring was found, neither by local search nor by integer programming."
    assert str(ring_search.no_ring("ring", graph)) == expected
    monkeypatch.setattr(ring_search, "ROUNDS", 100)
    monkeypatch.setattr(ring_search, "MANY_SILOS", 12)
    assert some_circuit(allowed)[0] is not None
    monkeypatch.setattr(ring_search, "MANY_SILOS", 11)
    assert some_circuit(allowed) == (None, False)


def test_many_silos_with_rare_rings_draw_short_tours(make_graph, monkeypatch):
    # Both directions of one circle: two rings, of which 1,000 random orders hit none.
    allowed = np.roll(np.eye(9, dtype=bool), 1, axis=1)
    allowed |= allowed.T
    monkeypatch.setattr("topologies.designers.random_ring.MOST_COUNTED", 8)
    graph = make_graph(allowed)
    overlay = random_ring(graph, WORK)
    assert overlay.completions is None
    rng = np.random.default_rng(0)
    drawn = {tuple(overlay.draw(rng, 0).tolist()) for _ in range(30)}
    assert drawn == {tuple(range(9)), (0, *range(8, 0, -1))}


@pytest.mark.parametrize(
    ("arcs", "dense"),
    [
        ([[False]], True),
        ([[False, True], [True, False]], True),
        ([[False, True], [False, False]], False),
        ([[False, True, True], [True, False, True], [True, True, False]], True),
        ([[False, True, True], [True, False, True], [False, False, False]], False),
        ([[False, True, False], [False, False, True], [True, False, False]], False),
    ],
)
def test_enough_arcs_for_a_circuit_are_as_many_as_nodes_at_each(arcs, dense):
    assert is_dense(np.array(arcs)) is dense
