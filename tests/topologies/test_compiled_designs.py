"""Compiled code makes the plain code's choices: the same designs to the last bit, ties and rounding included."""

import threading
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, EventGraph, Workload, connectivity, cycle_time, design, load_underlay
from topologies.compiled_designs import many_designs, takes_compiled
from topologies.designers.compiled.first_tours import greedy_edges, nearest_neighbours
from topologies.designers.compiled.local_search import HELD, _two_opt
from topologies.designers.compiled.tour_search import CompiledTourSearch
from topologies.designers.cube_path import cube_paths
from topologies.designers.matching import lightest_matching
from topologies.designers.mbst import delta_prim
from topologies.designers.tour import _starts, christofides_tours, short_tour
from topologies.designers.tour_search import TourSearch
from topologies.designers.trees import TreeTimes, prim
from topologies.errors import InputError
from topologies.sizes import MANY_SILOS

SEEDS = st.integers(0, 2**32 - 1)
KINDS = ("star", "mst", "delta_mbst", "ring", "christofides")


def test_many_designs_holds_for_its_block_and_its_thread_only():
    seen = []

    def fail() -> None:
        with many_designs():
            with many_designs():
                pass
            seen.append(takes_compiled(2))
            thread = threading.Thread(target=lambda: seen.append(takes_compiled(2)))
            thread.start()
            thread.join()
            raise ValueError("end")

    with pytest.raises(ValueError, match="end"):
        fail()

    assert seen == [True, False]
    assert not takes_compiled(2)


def test_many_silos_take_compiled_code_by_themselves():
    assert not takes_compiled(MANY_SILOS)
    assert takes_compiled(MANY_SILOS + 1)


def weights(rng: np.random.Generator, nodes: int, symmetric: bool) -> np.ndarray:
    """Ties, near ties of rounding, zeros, or none of these."""
    kind = rng.integers(4)
    costs = rng.random((nodes, nodes))
    if kind == 1:
        costs = rng.integers(0, 4, (nodes, nodes)).astype(float)
    elif kind == 2:
        costs = rng.integers(0, 12, (nodes, nodes)) * 0.1
    elif kind == 3:
        places = rng.integers(0, 5, (nodes, 2)) * 0.1
        costs = np.hypot(*(places[:, np.newaxis] - places).transpose(2, 0, 1))
    return np.triu(costs, 1) + np.triu(costs, 1).T if symmetric else costs


@given(
    seed=SEEDS, nodes=st.integers(3, 30), symmetric=st.booleans(), missing=st.sampled_from([0.0, 0.0, 0.3])
)
def test_tours(seed, nodes, symmetric, missing):
    rng = np.random.default_rng(seed)
    costs = weights(rng, nodes, symmetric)
    costs[rng.random((nodes, nodes)) < missing] = np.inf
    start = rng.permutation(nodes).tolist()
    plain, compiled = TourSearch.of(costs), CompiledTourSearch.of(costs)
    local = plain.improved(start)

    assert compiled.improved(start) == local
    assert compiled.length(local) == plain.length(local)
    assert compiled.perturbed(local, 40, seed) == plain.perturbed(local, 40, seed)
    with many_designs():
        starts = _starts(costs)
    assert starts == _starts(costs)


@pytest.mark.parametrize("seed", range(12))
def test_greedy_paths_that_the_nearest_arcs_leave_apart(seed):
    # Above 27 nodes not all arcs are taken in: several paths stay, which are joined from the end of one to the next.
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(40, 90))
    costs = weights(rng, nodes, symmetric=seed % 2 == 0)
    costs[rng.random((nodes, nodes)) < rng.choice([0.0, 0.9])] = np.inf
    with many_designs():
        found = _starts(costs)

    assert found == _starts(costs)


def test_greedy_paths_by_hand():
    # 3 -> 1 and 4 -> 2, then the rest: from the end of the first path to the nearest begin, of equal ones the first.
    costs = np.array(
        [
            [np.inf, 9.0, 9.0, 9.0, 9.0],
            [7.0, np.inf, 9.0, 9.0, 5.0],
            [4.0, 9.0, np.inf, 4.0, 9.0],
            [9.0, 1.0, 9.0, np.inf, 9.0],
            [9.0, 9.0, 1.0, 9.0, np.inf],
        ]
    )
    found, *buffers = np.empty((4, 5), dtype=np.int64)
    greedy_edges(costs, np.array([3, 4]), np.array([1, 2]), found, *buffers)
    assert found.tolist() == [0, 3, 1, 4, 2]
    # An arc into a node that has one, out of one that has one, or back to the begin of a path, is left out.
    costs[0, [3, 4]] = 9.0, 8.0
    more = [(3, 1), (4, 2), (0, 1), (3, 2), (1, 3), (2, 4)]
    greedy_edges(costs, *np.array(more).T, found, *buffers)
    assert found.tolist() == [0, 4, 2, 3, 1]


def test_nearest_neighbours_by_hand():
    # From 2 to 1, of two equally near ones the first; from 0, which no arc leaves, to the first that is left.
    costs = np.full((5, 5), np.inf)
    costs[2, [1, 3]] = 1.0
    costs[1, [0, 4]] = 3.0, 4.0
    tour, left = np.array([2, 4, 4, 4, 4]), np.zeros(5, dtype=bool)
    nearest_neighbours(costs, tour, left)

    assert tour.tolist() == [2, 1, 0, 3, 4]
    assert not left.any()


def test_long_reversals_of_asymmetric_tours():
    # Above 100 nodes a reversal that changes its cost is not tried everywhere, and restarts cut within a window.
    rng = np.random.default_rng(0)
    places = rng.random((130, 2))
    costs = np.hypot(*(places[:, np.newaxis] - places).transpose(2, 0, 1)) * (
        1 + 0.01 * rng.random((130, 130))
    )
    tour = rng.permutation(130).tolist()
    plain, compiled = TourSearch.of(costs), CompiledTourSearch.of(costs)

    assert compiled.improved(tour) == plain.improved(tour)
    assert compiled.perturbed(tour, 5, 1) == plain.perturbed(tour, 5, 1)


@pytest.mark.parametrize("symmetric", [False, True])
def test_compiled_and_plain_restarts_whose_heat_falls_find_the_same(symmetric):
    # Enough nodes that a longer tour which is kept, or not, changes what is found.
    for seed in range(4):
        rng = np.random.default_rng(seed)
        costs = weights(rng, 50, symmetric) if seed else rng.random((50, 50))
        plain, compiled = TourSearch.of(costs), CompiledTourSearch.of(costs)
        start = plain.improved(rng.permutation(50).tolist())
        found = plain.perturbed(start, 60, seed)

        assert compiled.perturbed(start, 60, seed) == found


@pytest.mark.parametrize("nodes", [3, 4, 5, 6])
def test_compiled_and_plain_tours_of_few_nodes_are_the_same(nodes):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        costs = weights(rng, nodes, symmetric=seed % 2 == 0)
        plain, compiled = TourSearch.of(costs), CompiledTourSearch.of(costs)
        start = rng.permutation(nodes).tolist()

        assert compiled.improved(start) == plain.improved(start)


@pytest.mark.parametrize("by_compiled", [False, True])
@pytest.mark.parametrize(("noise", "is_changed"), [(1.999, True), (2.0, False)])
def test_a_move_that_gains_no_more_than_noise_is_none(noise, is_changed, by_compiled):
    # Round a square, crossed: each of the moves saves the two diagonals, 2 each, for two sides, 1 each.
    costs = np.ones((4, 4))
    costs[[0, 1, 2, 3], [2, 3, 0, 1]] = 2.0
    search = (CompiledTourSearch if by_compiled else TourSearch).of(costs, noise=noise)
    found = search.improved([0, 2, 1, 3])

    assert search.length(found) == (4.0 if is_changed else 6.0)
    assert is_changed or found == [0, 2, 1, 3]


class _Draws:
    """Random numbers as of numpy, but for the first of each row, by which a longer tour is always refused."""

    def __init__(self, seed):
        self.rng = np.random.Generator(np.random.PCG64(-seed))

    def random(self, shape):
        drawn = self.rng.random(shape)
        drawn[:, 0] = 0.0
        return drawn


@pytest.mark.parametrize("symmetric", [False, True])
def test_changes_as_large_as_noise_count_in_compiled_code_as_in_plain_code(monkeypatch, symmetric):
    # Whole numbers, so that many changes are equal to the noise: of moves, of restarts, and of the best tour.
    monkeypatch.setattr(np.random, "default_rng", _Draws)
    for seed in range(30):
        rng = np.random.Generator(np.random.PCG64(seed))
        nodes, noise = int(rng.integers(5, 20)), float(rng.integers(0, 4))
        costs = rng.integers(0, 8, (nodes, nodes)).astype(float)
        costs = np.triu(costs, 1) + np.triu(costs, 1).T if symmetric else costs
        plain, compiled = TourSearch.of(costs, noise=noise), CompiledTourSearch.of(costs, noise=noise)
        start = rng.permutation(nodes).tolist()
        found = plain.improved(start)

        assert compiled.improved(start) == found
        # Draws are kept by their seed: those of no other test.
        assert compiled.perturbed(start, 25, -1 - seed) == plain.perturbed(start, 25, -1 - seed)
        assert found == start or plain.length(found) < plain.length(start) - noise


@pytest.mark.parametrize(("reversed_nodes", "is_tried"), [(99, True), (100, True), (101, False)])
def test_the_longest_part_that_is_reversed(reversed_nodes, is_tried):
    # Around a circle, in whose order one part stands the other way round; each way costs a little more or less.
    rng = np.random.default_rng(0)
    angle = np.arange(300) * (2 * np.pi / 300)
    places = np.column_stack((np.cos(angle), np.sin(angle)))
    costs = np.hypot(*(places[:, np.newaxis] - places).transpose(2, 0, 1)) * (
        1 + 1e-6 * rng.random((300, 300))
    )
    order = list(range(300))
    start = [*order[:60], *order[60 : 60 + reversed_nodes][::-1], *order[60 + reversed_nodes :]]
    search, compiled = TourSearch.of(costs), CompiledTourSearch.of(costs)
    tour, place = np.array(start, dtype=np.uint32), np.argsort(start).astype(np.uint32)
    held = np.empty(HELD, dtype=np.uint32)
    change = _two_opt(compiled.cost, compiled.near, compiled.symmetric, compiled.noise, tour, place, 59, held)
    plain_tour = list(start)
    move = search._two_opt(plain_tour, np.argsort(start).tolist(), 59)

    assert (move is not None) == (change != 0) == is_tried
    assert change == (move[0] if move else 0.0)
    assert tour.tolist() == plain_tour == (order if is_tried else start)


@given(seed=SEEDS, nodes=st.integers(2, 25))
def test_short_tours_and_christofides_tours(seed, nodes):
    rng = np.random.default_rng(seed)
    costs = weights(rng, nodes, symmetric=True)
    with many_designs():
        found = short_tour(costs, restarts=10, searches=1), christofides_tours(costs).tolist()

    assert found == (short_tour(costs, restarts=10, searches=1), christofides_tours(costs).tolist())


def assert_same_matching(costs):
    """The plain and the compiled code join the same nodes, in the same order."""
    with many_designs():
        found = lightest_matching(costs)
    assert found.tolist() == lightest_matching(costs).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_matchings(seed):
    # Where networkx breaks ties decides a RING: blossoms that are made, expanded and dissolved, in its order.
    rng = np.random.default_rng(seed)
    for _ in range(40):
        costs = weights(rng, 2 * int(rng.integers(1, 13)), symmetric=True)
        assert_same_matching(costs)


@pytest.mark.parametrize("seed", range(10))
def test_matchings_of_many_nodes(seed):
    # Blossoms within blossoms, of which some outlive the search for a path.
    rng = np.random.default_rng(seed)
    for _ in range(6):
        costs = weights(rng, 2 * int(rng.integers(13, 31)), symmetric=True)
        assert_same_matching(costs)


BLOSSOMS = {
    "made": [(1, 2, 9), (1, 3, 8), (2, 3, 10), (1, 4, 5), (4, 5, 3), (3, 6, 4)],
    "nested": [(1, 2, 9), (1, 3, 9), (2, 3, 10), (2, 4, 8), (3, 5, 8), (4, 5, 10), (5, 6, 6)],
    "nested and relabelled": [
        *[(1, 2, 10), (1, 7, 10), (2, 3, 12), (3, 4, 20), (3, 5, 20), (4, 5, 25), (5, 6, 10), (6, 7, 10)],
        (7, 8, 8),
    ],
    "nested and dissolved": [
        *[(1, 2, 8), (1, 3, 8), (2, 3, 10), (2, 4, 12), (3, 5, 12), (4, 5, 14), (4, 6, 12), (5, 7, 12)],
        *[(6, 7, 14), (7, 8, 12)],
    ],
    "expanded": [
        *[(1, 2, 23), (1, 5, 22), (1, 6, 15), (2, 3, 25), (3, 4, 22), (4, 5, 25), (4, 8, 14), (5, 7, 13)],
    ],
    "nested and expanded": [
        *[(1, 2, 19), (1, 3, 20), (1, 8, 8), (2, 3, 25), (2, 4, 18), (3, 5, 18), (4, 5, 13), (4, 7, 7)],
        (5, 6, 7),
    ],
    "expanded, children keep labels": [
        *[(1, 2, 45), (1, 5, 45), (2, 3, 50), (3, 4, 45), (4, 5, 50), (1, 6, 30), (3, 9, 35), (4, 8, 35)],
        *[(5, 7, 26), (9, 10, 5)],
    ],
    "expanded, a child is S": [
        *[(1, 2, 45), (1, 5, 45), (2, 3, 50), (3, 4, 45), (4, 5, 50), (1, 6, 30), (3, 9, 35), (4, 8, 26)],
        *[(5, 7, 40), (9, 10, 5)],
    ],
    "expanded, another least slack": [
        *[(1, 2, 45), (1, 5, 45), (2, 3, 50), (3, 4, 45), (4, 5, 50), (1, 6, 30), (3, 9, 35), (4, 8, 28)],
        *[(5, 7, 26), (9, 10, 5)],
    ],
    "expanded, then augmented through": [
        *[(1, 2, 45), (1, 7, 45), (2, 3, 50), (3, 4, 45), (4, 5, 95), (4, 6, 94), (5, 6, 94), (6, 7, 50)],
        *[(1, 8, 30), (3, 11, 35), (5, 9, 36), (7, 10, 26), (11, 12, 5)],
    ],
    "expanded with those inside": [
        *[(1, 2, 40), (1, 3, 40), (2, 3, 60), (2, 4, 55), (3, 5, 55), (4, 5, 50), (1, 8, 15), (5, 7, 30)],
        *[(7, 6, 10), (8, 10, 10), (4, 9, 30)],
    ],
}
"""Edges with what they gain, after the tests of van Rantwijk's program: what happens to a blossom in each."""


def blossom_costs(edges, rng=None, spread=0):
    """Costs of a complete graph in which only these edges gain, the nodes in any order and the gains changed a bit."""
    nodes = 2 * ((max(max(i, j) for i, j, _ in edges) + 1) // 2)
    costs = np.full((nodes, nodes), 100.0)
    for i, j, gain in edges:
        costs[i - 1, j - 1] = costs[j - 1, i - 1] = 100.0 - gain
    if rng is None:
        return costs
    change = np.triu(rng.integers(-spread, spread + 1, (nodes, nodes)), 1) / 4
    order = rng.permutation(nodes)
    return (costs + change + change.T)[np.ix_(order, order)]


@pytest.mark.parametrize("what", BLOSSOMS)
def test_matchings_through_blossoms(what):
    rng = np.random.default_rng(0)
    drawn = [blossom_costs(BLOSSOMS[what], rng, spread) for spread in (0, 0, 0, 0, 0, 0, 1, 2, 4, 4)]
    for costs in (blossom_costs(BLOSSOMS[what]), *drawn):
        assert_same_matching(costs)


def test_blossoms_that_are_expanded_give_the_matchings_known_of_them():
    known = [[0, 5], [1, 2], [3, 7], [4, 6], [8, 9]]
    with many_designs():
        for what in ("children keep labels", "a child is S", "another least slack"):
            found = lightest_matching(blossom_costs(BLOSSOMS[f"expanded, {what}"]))
            assert sorted(map(sorted, found.tolist())) == known
        through = lightest_matching(blossom_costs(BLOSSOMS["expanded, then augmented through"]))
        assert sorted(map(sorted, through.tolist())) == [[0, 7], [1, 2], [3, 5], [4, 8], [6, 9], [10, 11]]


@pytest.mark.parametrize("seed", range(10))
def test_matchings_through_blossoms_side_by_side(seed):
    rng = np.random.default_rng(seed)
    for _ in range(6):
        edges, nodes = [], 0
        for part in rng.integers(len(BLOSSOMS), size=2):
            more = [*BLOSSOMS.values()][part]
            edges += [(i + nodes, j + nodes, gain) for i, j, gain in more]
            nodes = max(max(i, j) for i, j, _ in edges)
        edges += [(int(rng.integers(1, 4)), nodes, 20)]
        costs = blossom_costs(edges, rng, int(rng.integers(3)))
        assert_same_matching(costs)


@pytest.mark.parametrize("seed", range(6))
def test_matchings_through_long_odd_circles(seed):
    # Circles of five to nine nodes, most of which gain nearly as much by an edge to a node outside.
    rng = np.random.default_rng(seed)
    for _ in range(8):
        size = int(rng.choice([5, 7, 9]))
        edges = [(k, k % size + 1, 44 + 6 * int(rng.integers(2))) for k in range(1, size + 1)]
        edges += [(k, size + k, int(rng.integers(22, 41))) for k in range(1, size + 1) if rng.random() < 0.8]
        costs = blossom_costs([*edges, (size + 2, 2 * size, 5)], rng, int(rng.integers(3)))
        assert_same_matching(costs)


@pytest.mark.parametrize("seed", [82390, 127810])
def test_matchings_where_a_blossom_is_reached_at_an_inner_vertex(seed):
    # Found among 150,000 random ones: what an expanded blossom's children are labelled by matters here.
    rng = np.random.default_rng(seed)
    costs = weights(rng, 2 * int(rng.integers(4, 13)), symmetric=True)
    assert_same_matching(costs)


def symmetric(rows):
    """A matrix from the part of each of its rows that is right of the diagonal."""
    costs = np.zeros((len(rows) + 1, len(rows) + 1))
    for i, row in enumerate(rows):
        costs[i, i + 1 :] = costs[i + 1 :, i] = row
    return costs


@pytest.mark.parametrize(
    "costs",
    [
        symmetric([[100, 100, 100, 100, 100], [100, 77, 100, 95], [56, 56, 100], [50, 100], [77]]),
        symmetric([[265, 401, 198, 400, 223], [379, 399, 402, 399], [298, 400, 399], [400, 200], [294]]),
        symmetric(
            [
                [316, 925, 723, 371, 289, 881, 135],
                [24, 54, 410, 479, 127, 665],
                [637, 57, 13, 389, 281],
                [519, 831, 920, 396],
                [85, 788, 23],
                [506, 703],
                [595],
            ]
        ),
    ],
)
def test_matchings_that_the_edge_of_least_slack_from_a_new_blossom_decides(costs):
    # Found among 35,000 random ones: the first of the least, from node 0, and of found ones only.
    assert_same_matching(costs)
    with many_designs():
        edges = lightest_matching(costs)
    assert costs[tuple(edges.T)].sum() == least_sum(costs)


def least_sum(costs, left=None):
    """Smallest sum of a perfect matching, over all of them."""
    left = tuple(range(len(costs))) if left is None else left
    if not left:
        return 0.0
    first, *others = left
    return min(
        costs[first, other] + least_sum(costs, tuple(node for node in others if node != other))
        for other in others
    )


@pytest.mark.parametrize("by_compiled", [False, True])
@pytest.mark.parametrize("scale", [1.0, -1.0, 0.0, 2.0**60])
def test_no_perfect_matching_is_lighter(scale, by_compiled):
    rng = np.random.default_rng(3)
    for nodes in (2, 4, 6, 8, 8):
        costs = scale * symmetric([rng.integers(0, 7, nodes - 1 - i) for i in range(nodes - 1)])
        with many_designs() if by_compiled else nullcontext():
            edges = lightest_matching(costs)
        assert sorted(edges.ravel().tolist()) == list(range(nodes))
        assert costs[tuple(edges.T)].sum() == least_sum(costs)


def test_a_matching_by_hand():
    # Two triangles far apart: one edge between them is needed, and the two cheapest inside.
    costs = np.full((6, 6), 10.0)
    for triangle in ((0, 1, 2), (3, 4, 5)):
        costs[np.ix_(triangle, triangle)] = 1.0
    costs[2, 3] = costs[3, 2] = 5.0
    with many_designs():
        edges = lightest_matching(costs)

    assert sorted(map(sorted, edges.tolist())) == [[0, 1], [2, 3], [4, 5]]


@given(
    seed=SEEDS,
    nodes=st.integers(1, 25),
    delta=st.integers(1, 6),
    ties=st.sampled_from(["oldest", "degree"]),
    bounded=st.booleans(),
)
def test_trees(seed, nodes, delta, ties, bounded):
    rng = np.random.default_rng(seed)
    costs = weights(rng, nodes, symmetric=True)
    hidden = rng.random((nodes, nodes)) < 0.2
    costs[hidden | hidden.T] = np.inf
    most = rng.integers(1, 6, nodes) if bounded else None
    tree = prim(costs)
    with many_designs():
        found = (
            prim(costs),
            cube_paths(tree, nodes, starts=range(nodes)),
            delta_prim(costs, delta, ties=ties, most=most),
        )
    grown = delta_prim(costs, delta, ties=ties, most=most)

    assert np.array_equal(found[0], tree)
    assert np.array_equal(found[1], cube_paths(tree, nodes, starts=range(nodes)))
    assert (found[2] is None) == (grown is None)
    assert grown is None or np.array_equal(found[2], grown)


@pytest.mark.parametrize("delta", [1, 2, 3])
@pytest.mark.parametrize("ties", ["oldest", "degree"])
def test_trees_of_equal_edges_from_any_node(ties, delta):
    costs = np.ones((6, 6))
    for start in range(6):
        plain = delta_prim(costs, delta, start=start, ties=ties)
        with many_designs():
            found = delta_prim(costs, delta, start=start, ties=ties)
        assert (found is None) == (plain is None) == (delta == 1)
        assert found is None or np.array_equal(found, plain)
    with many_designs():
        by_degree = delta_prim(costs, 3, start=3, ties="degree")
    # Of two ends of degree 1 the first; new nodes by number.
    assert by_degree.tolist() == [[3, 0], [0, 1], [1, 2], [2, 4], [3, 5]]


@pytest.mark.parametrize(
    ("most", "is_tree"),
    [([3, 1, 1, 1], True), ([2, 1, 1, 1], False), ([3, 1, 1, 0], False), ([3, 0, 1, 1], False)],
)
@pytest.mark.parametrize("by_compiled", [False, True])
def test_a_tree_may_have_as_many_neighbours_as_are_of_use(most, is_tree, by_compiled):
    costs = np.full((4, 4), 9.0)
    costs[0, 1:] = costs[1:, 0] = 1.0
    with many_designs() if by_compiled else nullcontext():
        tree = delta_prim(costs, 3, most=np.array(most))

    assert (tree is not None) == is_tree
    assert not is_tree or tree.tolist() == [[0, 1], [0, 2], [0, 3]]


@pytest.mark.parametrize("edges", [[(0, 1), (1, 0)], [(0, 1), (2, 2)]])
def test_edges_that_make_no_tree(edges):
    with many_designs(), pytest.raises(InputError, match="2 edges do not make a tree on 3 nodes"):
        cube_paths(edges, 3, starts=[0])


@given(seed=SEEDS, nodes=st.integers(1, 25), strong=st.booleans(), ties=st.booleans())
def test_cycle_times(seed, nodes, strong, ties):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, nodes, (2, 3 * nodes))
    if strong:
        source = np.concatenate((source, np.arange(nodes)))
        target = np.concatenate((target, np.roll(np.arange(nodes), -1)))
    delay_s = rng.integers(0, 4, len(source)) * 0.1 if ties else rng.random(len(source))
    tokens = rng.integers(1, 3, len(source))
    own = np.zeros(1, dtype=np.int64)
    graph = EventGraph(
        nodes=nodes,
        source=np.concatenate((source, own)),
        target=np.concatenate((target, own)),
        delay_s=np.concatenate((delay_s, [0.05])),
        tokens=np.concatenate((tokens, own + 1)),
    )
    plain = cycle_time(graph)
    with many_designs():
        found = cycle_time(graph)

    assert (found.cycle_time_s, found.circuit) == (plain.cycle_time_s, plain.circuit)
    assert np.array_equal(found.potential_s, plain.potential_s)


@pytest.mark.parametrize("up_bps", [1e7, 1e8, 1e9])
@pytest.mark.parametrize("kind", KINDS)
def test_designs_on_a_network(kind, up_bps):
    graph = connectivity(load_underlay("aws_na"), access=AccessLinks(up_bps=up_bps, down_bps=2.5e8))
    work = Workload.preset("inaturalist")
    plain = design(kind, graph, work)
    with many_designs():
        found = design(kind, graph, work)

    assert found.closed_forms == plain.closed_forms
    assert found.critical_circuit == plain.critical_circuit
    assert np.array_equal(found.source, plain.source)
    assert np.array_equal(found.target, plain.target)
    assert np.array_equal(found.consensus, plain.consensus)
    assert found.routes == plain.routes


def test_a_trees_time_with_pairs_that_cannot_talk(graph, work):
    blocked = connectivity(graph.underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9), blocked=[(0, 1)])
    times = TreeTimes.of(blocked, work)
    edges = np.array([(0, 1), (1, 2)])
    with many_designs():
        assert times(edges) == np.inf
        assert times(edges[1:]) == TreeTimes.of(blocked, work)(edges[1:])
    assert times(edges) == np.inf
    # Half a bit per second is not nothing.
    slow = TreeTimes.of(connectivity(graph.underlay, access=AccessLinks(up_bps=0.5, down_bps=1e9)), work)
    with many_designs():
        found_s = slow(edges[:1])
    assert found_s == slow(edges[:1])
    assert found_s == pytest.approx(2 * work.model_bits, rel=1e-5)
    nothing = TreeTimes.of(blocked, Workload(model_bits=0.0, compute_s=0.1))
    with many_designs():
        assert nothing(edges) == np.inf
    assert nothing(edges) == np.inf
