"""The schedule of a randomized overlay."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from topologies import AccessLinks, InputError, Workload, connectivity
from topologies.designers.matcha import matcha
from topologies.designers.random_ring import random_ring
from topologies.schedule import NamedRandomOverlay, choices, make_schedule

WORK = Workload(model_bits=1e6, compute_s=0.01)
ACCESS = AccessLinks(up_bps=1e9, down_bps=1e9)


@pytest.fixture(scope="module")
def make_graph(make_underlay):
    """Connectivity graph of silos on a path of routers."""

    def make(silos, blocked=()):
        routers = max(silos, 2)
        underlay = make_underlay(routers, [(i, i + 1, 100.0) for i in range(routers - 1)])
        return connectivity(underlay, access=ACCESS, routers=list(range(silos)), blocked=blocked)

    return make


@pytest.mark.parametrize("design", [matcha, random_ring])
@pytest.mark.parametrize("silos", [1, 2, 3, 6])
def test_first_rounds_do_not_depend_on_how_many_follow(make_graph, design, silos):
    overlay = design(make_graph(silos), WORK)
    short, long = make_schedule(overlay, 5, 7), make_schedule(overlay, 5, 40)

    assert (short.rounds, long.rounds) == (7, 40)
    assert np.array_equal(short.index, long.index[:7])
    assert np.array_equal(short.choices, long.choices[: len(short.choices)])
    for k in range(7):
        assert np.array_equal(short.arcs(k), long.arcs(k))


def test_each_choice_is_kept_once_and_in_the_order_drawn(make_graph):
    overlay = random_ring(make_graph(4), WORK)
    schedule = make_schedule(overlay, 1, 200)

    assert len(np.unique(schedule.choices, axis=0)) == len(schedule.choices) == 6
    drawn = list(itertools.islice(choices(overlay, 1), 200))
    assert np.array_equal(schedule.choices[schedule.index], drawn)


class Alternating:
    """A fixed sequence of digraphs: a ring one way round in even rounds, the other way in odd ones."""

    kind, work, negative_weights = "alternating", WORK, False

    def __init__(self, graph):
        self.graph = graph

    def draw(self, rng, round_):
        del rng
        return np.array([round_ % 2])

    def arcs(self, choice):
        silos = np.arange(self.graph.silos)
        after = (silos + (1, -1)[int(choice[0])]) % len(silos)
        return silos, after

    def consensus(self, source, target):
        matrix = np.eye(self.graph.silos) / 2
        matrix[target, source] = 0.5
        return matrix


@pytest.mark.parametrize("seed", [0, 7])
def test_a_fixed_sequence_of_digraphs_is_an_overlay_by_the_number_of_the_round(make_graph, seed):
    overlay = Alternating(make_graph(4))
    schedule = make_schedule(overlay, seed, 7)

    assert schedule.index.tolist() == [0, 1, 0, 1, 0, 1, 0]
    assert [schedule.arcs(k)[1].tolist() for k in (0, 1, 6)] == [[1, 2, 3, 0], [3, 0, 1, 2], [1, 2, 3, 0]]
    assert np.array_equal(schedule.consensus(1), schedule.consensus(0).T)


def test_seeds_differ_and_no_other_stream_of_the_seed_is_reused(make_graph):
    overlay = random_ring(make_graph(9), WORK)
    first, second = make_schedule(overlay, 0, 20), make_schedule(overlay, 1, 20)
    assert not np.array_equal(first.choices[first.index], second.choices[second.index])
    assert not np.array_equal(first.choices[0], overlay.draw(np.random.default_rng(0), 0))


@pytest.mark.parametrize("design", [matcha, random_ring])
@pytest.mark.parametrize("silos", [1, 2, 3, 7])
def test_arcs_are_sorted_and_consensus_averages_along_them(make_graph, design, silos):
    schedule = make_schedule(design(make_graph(silos), WORK), 3, 30)
    for k in range(schedule.rounds):
        source, target = schedule.arcs(k)
        consensus = schedule.consensus(k)
        assert np.array_equal(np.lexsort((target, source)), np.arange(len(source)))
        assert consensus.sum(axis=0) == pytest.approx(1)
        assert consensus.sum(axis=1) == pytest.approx(1)
        sends = np.zeros((silos, silos), dtype=bool)
        sends[target, source] = True
        assert np.array_equal((consensus != 0) & ~np.eye(silos, dtype=bool), sends)


def test_random_ring_is_a_ring_with_weights_of_one_half(make_graph):
    schedule = make_schedule(random_ring(make_graph(5), WORK), 3, 20)
    for k in range(20):
        source, target = schedule.arcs(k)
        visited = [0]
        for _ in source:
            visited.append(int(target[visited[-1]]))
        assert sorted(visited[:-1]) == [0, 1, 2, 3, 4]
        assert visited[-1] == 0
        assert np.unique(schedule.consensus(k)).tolist() == [0.0, 0.5]


def test_every_cyclic_order_is_equally_likely(make_graph):
    schedule = make_schedule(random_ring(make_graph(5), WORK), 11, 4800)
    uses = np.bincount(schedule.index)
    assert len(uses) == 24
    assert chisquare(uses).pvalue > 0.01


def test_blocked_pairs_are_never_drawn(make_graph):
    blocked = [(0, 1), (1, 0), (2, 3), (3, 2)]
    graph = make_graph(5, blocked)
    ring = make_schedule(random_ring(graph, WORK), 2, 500)
    assert len(ring.choices) == 24 - 12 - 12 + 8  # all orders, less those with 0 beside 1 or 2 beside 3
    for overlay in (random_ring(graph, WORK), matcha(graph, WORK)):
        schedule = make_schedule(overlay, 2, 100)
        used = Counter(
            pair for k in range(100) for pair in zip(*map(np.ndarray.tolist, schedule.arcs(k)), strict=True)
        )
        assert not set(used) & set(blocked)


def test_ring_names_a_silo_on_each_side_of_a_cut(make_graph):
    with pytest.raises(InputError, match="r2 can receive from no other silo"):
        random_ring(make_graph(3, [(0, 2), (1, 2)]), WORK)


def test_a_hub_between_silos_that_cannot_talk_allows_no_ring(make_graph):
    spokes = [(i, j) for i, j in itertools.permutations(range(1, 5), 2)]
    with pytest.raises(InputError, match="would pass r0 twice"):
        random_ring(make_graph(5, spokes), WORK)


def test_no_rounds_and_bad_numbers(make_graph):
    overlay = random_ring(make_graph(3), WORK)
    assert repr(make_schedule(overlay, 0, 0)) == f"<Schedule of {overlay.kind}: 0 rounds, 0 distinct, seed 0>"
    assert make_schedule(overlay, 0, 0).choices.shape == (0, 0)
    with pytest.raises(InputError, match=r"rounds\(=-1\) must be >= 0"):
        make_schedule(overlay, 0, -1)
    with pytest.raises(InputError, match=r"seed\(=-3\) must be >= 0"):
        make_schedule(overlay, -3, 2)


def test_a_name_and_a_seed_of_its_own_change_nothing_else(make_graph):
    base = random_ring(make_graph(6), Workload(model_bits=1e6, compute_s=0.1))
    named, seeded = (NamedRandomOverlay(kind="mine", base=base, seed=seed) for seed in (None, 0))

    assert (named.kind, named.graph, named.work) == ("mine", base.graph, base.work)
    assert named.negative_weights is base.negative_weights
    for seed in (0, 5):
        plain = make_schedule(base, seed, 20)
        assert np.array_equal(make_schedule(named, seed, 20).choices, plain.choices)
        fixed = make_schedule(seeded, seed, 20)
        assert np.array_equal(fixed.choices, make_schedule(base, 0, 20).choices)
        assert (fixed.seed, fixed.rounds) == (seed, 20)
        for one, other in zip(fixed.arcs(3), make_schedule(base, 0, 20).arcs(3), strict=True):
            assert np.array_equal(one, other)
        assert np.array_equal(fixed.consensus(3), make_schedule(base, 0, 20).consensus(3))
