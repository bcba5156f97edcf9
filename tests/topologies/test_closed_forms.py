"""Closed forms by hand: the load of links, and arcs that send one model after the other."""

import numpy as np
import pytest

from topologies import EventGraph, cycle_time, recurrence
from topologies.closed_forms import before_any, closed_forms, largest_load, serialized_event_graph


def test_the_busiest_link_is_the_one_that_takes_longest_for_a_round():
    crossings, capacity_bps = np.array([0.0, 2.0, 3.0, 1.5]), np.array([1.0, 10.0, 20.0, 10.0])

    assert largest_load(crossings, capacity_bps, 100.0, period=1) == (20.0, 1)
    assert largest_load(crossings, capacity_bps, 100.0, period=4) == (5.0, 1)
    # Of links that are as busy the first.
    assert largest_load(np.array([0.0, 1.0, 2.0]), np.array([1.0, 5.0, 10.0]), 50.0, period=1) == (10.0, 1)
    assert largest_load(np.array([0.0, 1.0]), np.array([1.0, np.inf]), 50.0, period=1) == (0.0, 1)


def test_where_nothing_is_sent_no_link_is_busy():
    assert largest_load(np.zeros(3), np.ones(3), 100.0, period=1) == (0.0, None)
    forms = closed_forms(2.0, 0.0, np.zeros(3), np.ones(3), 100.0, period=1)
    assert (forms.paper_s, forms.serialized_s, forms.load_bound_s, forms.busiest_link) == (
        2.0,
        2.0,
        0.0,
        None,
    )


@pytest.mark.parametrize(("slowest_s", "serialized_s"), [(1.0, 2.0), (3.0, 3.0)])
def test_a_round_takes_no_less_than_the_slowest_arc(slowest_s, serialized_s):
    forms = closed_forms(2.0, slowest_s, np.array([0.0, 4.0]), np.array([1.0, 8.0]), 10.0, period=2)

    assert (forms.paper_s, forms.serialized_s) == (2.0, serialized_s)
    assert (forms.load_bound_s, forms.busiest_link) == (2.5, 1)


@pytest.fixture
def ring():
    """Three silos that compute for 1 s each; arcs of 0.5 s latency send for 1, 2 and 9 s."""
    silo = np.arange(3)
    return EventGraph(
        nodes=3,
        source=np.concatenate((silo, silo)),
        target=np.concatenate(((silo + 1) % 3, silo)),
        delay_s=np.array([2.5, 3.5, 10.5, 1.0, 1.0, 1.0]),
        tokens=np.ones(6, dtype=np.int64),
    )


def test_an_arc_finishes_one_model_before_it_starts_the_next(ring):
    computing_s, latency_s, sending_s = np.ones(3), np.full(3, 0.5), np.array([1.0, 2.0, 9.0])
    queued = serialized_event_graph(ring, computing_s, latency_s, sending_s, direct=False)

    assert cycle_time(ring).cycle_time_s == pytest.approx(16.5 / 3)
    assert cycle_time(queued).cycle_time_s == 9.0
    # Silo 0 waits for the models of silo 2, one every 9 s after the first, whoever waits for it.
    starts_s = recurrence(queued, 4, before_any(3, queued.nodes))[:, :3]
    assert np.isfinite(starts_s).all()
    assert starts_s[:, 0].tolist() == [0.0, 10.5, 19.5, 28.5, 37.5]
    assert before_any(2, 5).tolist() == [0.0, 0.0, -np.inf, -np.inf, -np.inf]


def test_arcs_whose_models_leave_in_turn_share_the_time(ring):
    """Arcs 0 and 1 take turns: 1 after 0 in the same round, 0 after 1 of the round before."""
    queued = serialized_event_graph(
        ring,
        np.zeros(3),
        np.zeros(3),
        np.array([4.0, 3.0, 0.0]),
        behind=np.array([1, 0, 2]),
        turns=np.array([1, 0, 1]),
        direct=False,
    )

    assert (queued.nodes, len(queued.source)) == (6, 12)
    assert queued.source.tolist() == [0, 1, 2, 4, 3, 5, 3, 4, 5, 0, 1, 2]
    assert queued.target.tolist() == [3, 4, 5, 3, 4, 5, 1, 2, 0, 0, 1, 2]
    assert queued.tokens.tolist() == [1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1]
    assert queued.delay_s.tolist() == [0, 0, 0, 3, 4, 0, 4, 3, 0, 1, 1, 1]
    assert cycle_time(queued).cycle_time_s == 7.0


def test_arcs_hold_directly_beside_their_parts_where_that_is_asked_for(ring):
    queued = serialized_event_graph(ring, np.zeros(3), np.zeros(3), np.zeros(3), direct=True)

    assert len(queued.source) == 15
    assert queued.source[-3:].tolist() == ring.source[:3].tolist()
    assert queued.target[-3:].tolist() == ring.target[:3].tolist()
    assert queued.delay_s[-3:].tolist() == [2.5, 3.5, 10.5]
    assert queued.tokens[-3:].tolist() == [1, 1, 1]
    assert cycle_time(queued).cycle_time_s == pytest.approx(16.5 / 3)
    apart = serialized_event_graph(ring, np.zeros(3), np.zeros(3), np.zeros(3), direct=False)
    assert len(apart.source) == 12
