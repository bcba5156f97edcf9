"""Local search on tours: what it returns is a local optimum of its moves, counted one by one."""

import itertools
import math

import numpy as np
import pytest

from topologies.designers.compiled.move_limits import LONGEST_SEGMENT
from topologies.designers.tour import _exact, christofides_tours, published_tour
from topologies.designers.tour_search import TourSearch, _positions, prepared

pytestmark = pytest.mark.timeout(20)
"""A search that keeps wrong books may never end."""


def length(costs, tour):
    return sum(costs[i, j] for i, j in zip(tour, [*tour[1:], tour[0]], strict=True))


def shortest(costs):
    return min(length(costs, [0, *rest]) for rest in itertools.permutations(range(1, len(costs))))


def drawn_costs(rng, nodes, symmetric):
    costs = rng.random((nodes, nodes)) if rng.random() < 0.7 else rng.integers(0, 9, (nodes, nodes)) * 1.0
    costs = (costs + costs.T) / 2 if symmetric else costs
    np.fill_diagonal(costs, 0.0)
    return costs


def reversals(tour):
    """Tours with a part reversed."""
    for low, high in itertools.combinations(range(1, len(tour) + 1), 2):
        yield [*tour[:low], *tour[low:high][::-1], *tour[high:]]


def shifts(costs, tour, symmetric):
    """Tours with a short part elsewhere, either way round: what is tried, by the gain of taking it out."""
    nodes = len(tour)
    for size in range(1, min(LONGEST_SEGMENT, nodes - 2) + 1):
        for start in range(nodes - size + 1):
            part, rest = tour[start : start + size], [*tour[:start], *tour[start + size :]]
            before, after = tour[start - 1], tour[(start + size) % nodes]
            gain = costs[before, part[0]] + costs[part[-1], after] - costs[before, after]
            for place, turned in itertools.product(range(len(rest)), (part, part[::-1])):
                x, y = rest[place - 1], rest[place]
                is_near = min(costs[x, turned[0]], costs[turned[-1], y]) < gain
                if x != before and (is_near or (gain > 0 and not symmetric)):
                    yield [*rest[:place], *turned, *rest[place:]]


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("nodes", [4, 5, 8, 10])
def test_no_move_around_any_node_helps_any_more(nodes, symmetric):
    rng = np.random.default_rng(nodes)
    for _ in range(25):
        costs = drawn_costs(rng, nodes, symmetric)
        search = TourSearch.of(costs)
        start = rng.permutation(nodes).tolist()
        tour, kept = search.improved(start), list(start)
        best = length(costs, tour)

        assert sorted(tour) == list(range(nodes))
        assert search.length(tour) == pytest.approx(best, rel=1e-12)
        # Only nodes at changed arcs are looked at again; where a second look at all changes nothing, no move helps.
        last = tour
        while (again := search.improved(last)) != last:
            last = again
        others = [*reversals(last), *shifts(costs, last, symmetric)]
        assert min(length(costs, other) for other in others) >= length(costs, last) - 1e-9
        assert start == kept
        # The changes that it adds up are those of the length.
        places = _positions(start)
        change = search._improve(start, places, list(start))
        assert start == tour
        assert places == _positions(tour)
        assert change == pytest.approx(best - length(costs, kept), abs=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_restarts_reach_the_shortest_tour_of_ten_nodes_where_moves_alone_do_not(symmetric):
    rng = np.random.default_rng(3)
    cases = 0
    while cases < 2:
        costs = drawn_costs(rng, 10, symmetric)
        search = TourSearch.of(costs)
        start = search.improved(rng.permutation(10).tolist())
        optimum = length(costs, _exact(costs))
        if length(costs, start) <= optimum * (1 + 1e-9):
            continue
        cases += 1
        assert search.perturbed(start, 0, cases) == start
        assert length(costs, search.perturbed(start, 1, cases)) <= length(costs, start)
        found = search.perturbed(start, 150, cases)
        assert sorted(found) == list(range(10))
        assert length(costs, found) == pytest.approx(optimum, rel=1e-12)


def test_missing_arcs_cost_more_than_any_tour_without_them():
    costs = np.full((6, 6), np.inf)
    for i in range(6):
        costs[i, (i + 1) % 6] = 3.0
        costs[i, (i + 2) % 6] = 1.0
    search = TourSearch.of(costs)

    assert search.length([0, 2, 4, 0]) == 3.0
    assert search.length([0, 3]) == 2 * 6 * 3.0
    assert not search.symmetric
    assert search.noise == 3e-12
    # In either direction, nearest first, smaller numbers first among equals.
    assert search.near[0] == [2, 4, 1, 5, 3]
    assert TourSearch.of(np.zeros((2, 2))).noise == 1e-12


@pytest.mark.parametrize("nodes", [1, 2, 3, 7])
def test_christofides_tours_of_points(nodes):
    rng = np.random.default_rng(nodes)
    for _ in range(4):
        places = rng.integers(0, 6, (nodes, 2)) if rng.random() < 0.5 else rng.random((nodes, 2))
        costs = np.hypot(*(places[:, np.newaxis] - places).transpose(2, 0, 1))
        tours = christofides_tours(costs).tolist()
        lengths = [length(costs, tour) for tour in tours]

        assert all(sorted(tour) == list(range(nodes)) and tour[0] == 0 for tour in tours)
        assert len({tuple(tour) for tour in tours}) == len(tours)
        assert lengths == sorted(lengths) or np.diff(lengths).min() > -1e-12
        assert max(lengths) <= 1.5 * shortest(costs) + 1e-12
        published = published_tour(costs).tolist()
        assert sorted(published) == list(range(nodes))
        assert published[0] == 0
        assert length(costs, published) <= 1.5 * shortest(costs) + 1e-12


def kicks(monkeypatch, nodes, seed, changes, noise=1e-12):
    """Ends of the segments that each restart exchanges on a tour of equal costs, and the tours that they make."""
    seen = []

    def improve(_self, tour, _places, ends):
        seen.append((list(ends), list(tour)))
        return changes[len(seen) - 1]

    monkeypatch.setattr(TourSearch, "_improve", improve)
    search = TourSearch(cost=[[1.0] * nodes] * nodes, near=[], symmetric=True, noise=noise)
    search.perturbed(list(range(nodes)), len(changes), seed)
    return seen


@pytest.mark.parametrize("nodes", [12, 100, 101, 130, 700])
def test_a_restart_exchanges_two_segments_within_a_hundred_nodes(monkeypatch, nodes):
    for seed in range(8):
        _, place, *cuts = np.random.default_rng(seed).random(5).tolist()
        reach = min(100, nodes)
        x, y, z = sorted(int(place * (nodes - reach + 1)) + int(cut * reach) for cut in cuts)
        seen = kicks(monkeypatch, nodes, seed, [0.0])
        if x < y < z:
            ((ends, tour),) = seen
            assert ends == [(k + nodes) % nodes for cut in (x, y, z) for k in (cut - 1, cut)]
            assert tour == [*range(x), *range(y, z), *range(x, y), *range(z, nodes)]
        else:
            assert seen == []


@pytest.mark.parametrize(("share", "kept"), [(0.999, True), (1.001, False)])
def test_a_longer_tour_is_kept_with_a_fifth_of_the_mean_cost_as_temperature_which_falls(
    monkeypatch, share, kept
):
    draws = np.random.default_rng(0).random((3, 5))

    def exchanged(tour, step):
        x, y, z = sorted(int(cut * 60) for cut in draws[step, 2:])
        return [*tour[:x], *tour[y:z], *tour[x:y], *tour[z:]]

    # Of three restarts the second is two thirds as hot.
    for step, heat in enumerate((0.2, 0.2 * 2 / 3)):
        changes = [-1.0, -1.0, 0.0]
        changes[step] = -share * heat * math.log(1 - draws[step, 0])
        tours = [list(range(60)), *(tour for _, tour in kicks(monkeypatch, 60, 0, changes))]

        # The next exchange is of the tour that was kept.
        assert tours[step + 2] == exchanged(tours[step + kept], step + 1)


def test_moves_look_at_nine_neighbours():
    assert prepared(np.ones((12, 12)))[1].shape == (12, 9)
    assert prepared(np.ones((9, 9)))[1].shape == (9, 8)
