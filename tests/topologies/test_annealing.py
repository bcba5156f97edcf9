"""Temperatures and neighbours of the annealing of `best`, worked out by hand, and how much other searches try."""

import math

import numpy as np
import pytest

from topologies import AccessLinks, Workload, connectivity
from topologies.designers import best_detours, christofides, ring_search
from topologies.designers.euler_tours import euler_tours
from topologies.designers.node_order import searched_order


class FakeCircle:
    """Keeps what each step is given; `better` says which steps end below the present cycle time."""

    better, last = None, None

    def __init__(self, graph, *_):
        silos = graph.silos
        place = np.arange(float(silos))
        self.closeness = np.abs(place[:, np.newaxis] - place)
        np.fill_diagonal(self.closeness, np.inf)
        self.closeness[0, 3:] = np.inf
        self.tau, self.violations, self.excess = 2.0, 0, 0.0
        self.steps, self.lowered = [], 0
        FakeCircle.last = self

    def start(self):
        self.steps.append("start")

    def step(self, near, heat, draw):
        assert len(draw) == 6
        self.near = near
        self.steps.append(heat)
        kept, self.violations, self.excess = self.better.get(len(self.steps) - 1, (True, 0, 0.0))
        return kept

    def lower(self):
        self.lowered += 1

    def arcs(self):
        return [("steps", len(self.steps) - 1)]


def search(monkeypatch, silos, steps, better=None):
    """Result, circle and heats of a search from a temperature of 0.05."""
    monkeypatch.setattr(best_detours, "_MovingCircle", FakeCircle)
    monkeypatch.setattr(FakeCircle, "better", better or {})
    graph = type("Graph", (), {"silos": silos})
    found = best_detours.detour_search(graph, None, [], steps=steps, seed=1, temperature=0.05)
    begun, *heats = FakeCircle.last.steps
    assert begun == "start"
    return found, FakeCircle.last, heats


@pytest.mark.parametrize(("silos", "scale"), [(4, 1.0), (100, 1.0), (200, 0.5)])
def test_it_cools_to_a_two_thousandth_in_steps_of_a_thousand_moves(monkeypatch, silos, scale):
    _, circle, heats = search(monkeypatch, silos, 2500)

    assert len(heats) == 2500
    for start in (0, 1000, 2000):
        expected = scale * 0.05 * 2.0 * math.exp(math.log(0.0005 / 0.05) * start / 2500)
        assert heats[start : start + 1000] == [pytest.approx(expected, rel=1e-12)] * min(1000, 2500 - start)
    # The twelve nearest that there is a way to.
    assert circle.near[0] == [1, 2][: silos - 1]
    assert len(circle.near[-1]) == min(12, silos - 1)


def test_what_is_better_has_no_violations_and_more_than_rounding_to_spare(monkeypatch):
    found, circle, _ = search(
        monkeypatch,
        4,
        6,
        {
            1: (True, 0, -2.1e-9),
            2: (True, 1, -1.0),
            3: (False, 0, -1.0),
            4: (True, 0, -2.1e-9),
            5: (True, 0, -2e-9),
            6: (True, 0, -1.9e-9),
        },
    )

    assert found == [("steps", 4)]
    assert circle.lowered == 2


@pytest.mark.parametrize("evaluations", [2, 3, 2000, None])
def test_orders_are_tried_as_often_as_asked_and_2000_times_by_default(evaluations):
    calls = []

    def better_each_time(order):
        calls.append(order.tolist())
        return -float(len(calls))

    how = {} if evaluations is None else {"evaluations": evaluations}
    searched_order([np.arange(4), np.arange(4)[::-1]], better_each_time, **how)

    assert len(calls) == (evaluations or 2000)
    assert calls[:2] == [[0, 1, 2, 3], [3, 2, 1, 0]]


@pytest.mark.parametrize(("gain", "kept"), [(0.9e-12, False), (1.1e-12, True)])
@pytest.mark.parametrize("value", [1.0, -1.0, 1e6])
def test_an_exchange_that_gains_by_rounding_only_is_not_kept(value, gain, kept):
    def slightly(order):
        return value - abs(value) * gain * (order[0] == 1)

    order = searched_order([np.arange(2)], slightly)
    assert order.tolist() == ([1, 0] if kept else [0, 1])


def test_any_order_that_is_possible_is_better_than_one_that_is_not():
    def possible(order):
        return 1e300 if order[0] == 1 else math.inf

    assert searched_order([np.arange(2)], possible).tolist() == [1, 0]
    calls = []
    searched_order([np.arange(4)], lambda order: calls.append(order) or math.inf)
    # Each pair of places once.
    assert len(calls) == 1 + 6


def test_24_euler_circuits_are_walked():
    edges = np.array([(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)])
    tours = euler_tours(edges, 5, (6,))

    assert tours.shape == (24, 5)
    assert tours[0].tolist()[0] == 0
    assert (np.sort(tours, axis=1) == np.arange(5)).all()


def test_eight_tours_are_repaired_where_arcs_are_missing(monkeypatch, make_underlay):
    blocked = [(0, 3), (2, 5), (4, 1), (1, 6)]
    graph = connectivity(
        make_underlay(8, [(i, i + 1, 100.0 * (i + 1)) for i in range(7)] + [(0, 7, 350.0), (2, 6, 777.0)]),
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        blocked=blocked,
    )
    seen = []
    tours = np.array([np.roll(np.arange(8), shift) for shift in range(6)])
    monkeypatch.setattr(christofides, "christofides_tours", lambda _: tours)
    monkeypatch.setattr(christofides, "repaired", lambda _, tour: seen.append(tour.tolist()) or tour)
    made = christofides.christofides(graph, Workload(model_bits=1e6, compute_s=0.01))

    # Four in each direction.
    assert seen == [way.tolist() for tour in tours[:4] for way in (tour, tour[::-1])]
    assert made.arcs == 8


@pytest.mark.parametrize(
    ("degree", "dense"),
    [((1, 1, 1), False), ((2, 2, 2), True)],
)
def test_a_digraph_of_many_arcs_has_a_circuit(degree, dense):
    allowed = np.zeros((3, 3), dtype=bool)
    for node, count in enumerate(degree):
        for step in range(1, count + 1):
            allowed[node, (node + step) % 3] = True

    # Three arcs at each node are as many as nodes: out and in together the ring has two.
    assert ring_search.is_dense(allowed) == dense
    assert ring_search.is_dense(np.zeros((1, 1), dtype=bool))
