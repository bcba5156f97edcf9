"""What periodic overlays cost a search, on three silos by hand."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from small_networks import network

from simulator.designers import periodic_cost
from simulator.designers.periodic_cost import Costly, PeriodicCost
from topologies import InputError, Workload, state_of

RING = frozenset({(0, 1), (1, 2), (2, 0)})
PAIR = frozenset({(0, 1), (1, 0)})
EVERYBODY = frozenset(itertools.permutations(range(3), 2))
COMPUTE_S = np.array([1.0, 2.0, 3.0])


def cost(*, up_bps=math.inf, bps=10.0, may_send=None):
    """Each two silos have a core link, on which a model takes 2 s and 4 ms of latency."""
    graph = network([(0, 1), (1, 2), (0, 2)], [0.0] * 3, [bps] * 3, up_bps=up_bps, down_bps=math.inf)
    found = PeriodicCost(graph, Workload(model_bits=20.0, compute_s=COMPUTE_S))
    if may_send is not None:
        found.graph = SimpleNamespace(silos=3, may_send=may_send)
    return found


def slowest(states, delay_s):
    """Largest mean time per round of a circuit, by powers of max-plus matrices."""
    whole = np.where(np.eye(3, dtype=bool), 0.0, -np.inf)
    for arcs in states:
        step = np.where(np.eye(3, dtype=bool), COMPUTE_S, -np.inf)
        for i, j in arcs:
            step[j, i] = delay_s(i)
        whole = (step[:, :, np.newaxis] + whole[np.newaxis]).max(axis=1)
    power, means = whole, []
    for length in (1, 2, 3):
        means.append(np.diag(power).max() / (length * len(states)))
        power = (whole[:, :, np.newaxis] + power[np.newaxis]).max(axis=1)
    return max(means)


@pytest.mark.parametrize(
    "states", [(RING,), (RING, PAIR), (PAIR, RING), (RING, PAIR, PAIR), (EVERYBODY, PAIR)]
)
def test_the_bound_is_the_slowest_circuit_of_all_states(states):
    bound = cost().bound(states)
    assert bound.time_s == pytest.approx(slowest(states, lambda i: COMPUTE_S[i] + 2.004), rel=1e-12)
    assert all((i, j) in states[state] for state, i, j in bound.arcs)


def test_the_arcs_of_the_slowest_circuit():
    # 0 -> 1 with the pair, 1 -> 2 on the ring, silo 2 computes while the others are a pair, 2 -> 0 on the ring.
    bound = cost().bound((RING, PAIR))
    assert bound.time_s == pytest.approx((3.004 + 4.004 + 3.0 + 5.004) / 4, rel=1e-12)
    assert set(bound.arcs) == {(1, 0, 1), (0, 1, 2), (0, 2, 0)}


def test_the_busiest_link_is_a_bound_and_its_arcs_set_it():
    # Two models leave silo 0 in the first state and one in the second, each for 10 s; a circuit takes 13 s a round.
    slow = cost(up_bps=np.array([2.0, math.inf, math.inf]))
    assert slow.load_s((EVERYBODY, PAIR)) == 15.0
    assert slow.bound((EVERYBODY, PAIR)) == Costly(time_s=15.0, arcs=((0, 0, 1), (0, 0, 2), (1, 0, 1)))
    assert slow.bound((PAIR,)) == Costly(time_s=10.0, arcs=((0, 0, 1),))
    assert cost().load_s((RING, PAIR)) == 2.0
    assert cost().load_s((RING, PAIR, frozenset())) == pytest.approx(4.0 / 3)
    assert cost().load_s((frozenset(),)) == 0.0


@pytest.mark.parametrize(
    ("states", "fits"),
    [
        ((RING,), True),
        ((PAIR, frozenset({(1, 2), (2, 1)})), True),
        ((RING, frozenset()), True),
        ((PAIR,), False),  # nobody reaches silo 2
        ((RING, frozenset({(0, 1)})), False),  # no weights keep the mean
        ((frozenset(),), False),
    ],
)
def test_states_keep_the_mean_and_join_all_silos(states, fits):
    found = cost()
    assert found.is_overlay(states) == fits
    assert found.is_overlay(states) == fits  # what is known of a state is kept


def test_pairs_that_cannot_talk_are_in_no_state():
    may_send = ~np.eye(3, dtype=bool)
    may_send[2, 0] = False
    assert not cost(may_send=may_send).is_overlay((RING,))
    assert cost(may_send=may_send).is_overlay((PAIR, frozenset({(1, 2), (2, 1)})))


def test_weights_of_a_state_are_found_once():
    found = cost()
    one, other, again = found.states((RING, PAIR, RING))
    assert one is again
    assert found.states((PAIR,))[0] is other
    for state, arcs in ((one, RING), (other, PAIR)):
        assert set(zip(state.source.tolist(), state.target.tolist(), strict=True)) == arcs
        np.testing.assert_allclose(state.consensus(3).sum(axis=0), 1.0, atol=1e-12)
        np.testing.assert_allclose(state.consensus(3).sum(axis=1), 1.0, atol=1e-12)
    assert found.contraction((EVERYBODY,)) < found.contraction((PAIR,)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rounds", "lost_s", "slowed"),
    [
        (6, {(4, 0): 1.0, (5, 2): 0.5, (5, 3): 0.4999}, [(0, 0, 1), (1, 1, 2)]),
        (6, {(3, 2): 9.0, (2, 0): 9.0, (4, 1): 1e-3}, [(0, 1, 0)]),  # the first half does not count
        (6, {(4, 0): 0.9e-8, (5, 3): 1.1e-8}, [(1, 2, 1)]),  # more than rounding of 10 s
        (8, {(4, 0): 1.0, (6, 0): 1.0, (5, 2): 1.0, (7, 2): 0.0, (5, 3): 0.9}, [(0, 0, 1), (1, 1, 2)]),
        (8, {}, []),
    ],
)
def test_arcs_of_a_state_that_lose_half_of_the_longest_time_lost_count_as_slowed(
    monkeypatch, rounds, lost_s, slowed
):
    # 0 - 1 and 1 - 2 in turn, on arcs 0 and 1, and 2 and 3; messages take 2, 3, 4 and 5 s alone.
    states = [state_of([0, 1], [1, 0], [0.5, 0.5]), state_of([1, 2], [2, 1], [0.5, 0.5])]
    numbers = {(0, 1): 0, (1, 0): 1, (1, 2): 2, (2, 1): 3}
    alone_s = np.zeros((3, 3))
    last_s = np.full((rounds, 4), np.nan)
    for (i, j), arc in numbers.items():
        alone_s[i, j] = 2.0 + arc
        last_s[arc // 2 :: 2, arc] = 2.0 + arc
    for place, lost in lost_s.items():
        last_s[place] += lost
    timeline = SimpleNamespace(
        messages=SimpleNamespace(last_bit_s=last_s, start_s=np.zeros_like(last_s)),
        confidence_interval=lambda: None,
        cycle_time_s=10.0,
    )
    overlay = SimpleNamespace(
        states=states,
        period=2,
        numbers=SimpleNamespace(
            of=lambda source, target: [
                numbers[ends] for ends in zip(source.tolist(), target.tolist(), strict=True)
            ]
        ),
    )
    monkeypatch.setattr(periodic_cost, "overlay_job", lambda *_: None)
    monkeypatch.setattr(periodic_cost, "run", lambda *_, **__: timeline)
    found = cost()
    found.static = SimpleNamespace(sending_s=alone_s)

    assert found.simulated(overlay, rounds) == Costly(time_s=10.0, arcs=tuple(slowed))
    timeline.confidence_interval = lambda: SimpleNamespace(mean=11.0)
    assert found.simulated(overlay, rounds).time_s == 11.0
    # Where nobody sends, it is the time of computing.
    overlay.states = [state_of([], [], [])]
    assert found.simulated(overlay, rounds) == Costly(time_s=10.0, arcs=())


def test_what_cannot_be_simulated_takes_for_ever(monkeypatch):
    def fails(*_):
        raise InputError("time could not advance.")

    monkeypatch.setattr(periodic_cost, "overlay_job", fails)
    assert cost().simulated(None, 9) == Costly(time_s=math.inf, arcs=())
