"""Periodic overlays for tests, and their round starts by the definition alone."""

import itertools
import math
from dataclasses import replace

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from topologies import build_overlay, build_periodic, state_of
from topologies.delays import pair_delays, pair_rates


def networkx_ring(graph, work):
    """The ring of Christofides as networkx breaks ties, whose cycle times are nearer to the published ones."""
    delay_s = pair_delays(graph, work)
    complete = nx.Graph()
    for i, j in itertools.combinations(range(graph.silos), 2):
        complete.add_edge(i, j, weight=(delay_s[i, j] + delay_s[j, i]) / 2)
    tour = np.array(nx.approximation.christofides(complete)[:-1])
    return build_overlay("ring", graph, work, np.column_stack((tour, np.roll(tour, -1))))


def multigraph(ring, *, most=5):
    """A ring whose slow arcs are strong in every n-th state only, with a lag of n and the delays of the ring."""
    graph, work = ring.graph, ring.work
    lag = np.minimum(most, np.rint(ring.delay_s / ring.delay_s.min())).astype(np.int64)
    period = math.lcm(*lag.tolist())
    strong = [np.flatnonzero(state % lag == 0) for state in range(period)]
    states = [
        state_of(ring.source[arcs], ring.target[arcs], np.full(len(arcs), 0.5), lag[arcs]) for arcs in strong
    ]
    rates = [pair_rates(graph)[ring.source[arcs], ring.target[arcs]] for arcs in strong]
    bound_s = pair_delays(graph, work)[ring.source, ring.target].sum() / lag.sum()
    return build_periodic("multigraph", graph, work, states, rates=rates), bound_s


def starts(overlay, rounds, *, fifo=False, compute_s=None):
    """t_i(k) by the recurrence itself, shape (rounds + 1, silos); with `fifo` models to one silo leave in turn."""
    computes = np.resize(overlay.computes, rounds)
    if compute_s is None:
        compute_s = np.outer(computes, overlay.compute_s)
    else:  # of the rounds in which silos compute
        drawn_s, compute_s = iter(compute_s), np.zeros((rounds, overlay.graph.silos))
        for k in np.flatnonzero(computes):
            compute_s[k] = next(drawn_s)
    t = np.zeros((rounds + 1, overlay.graph.silos))
    left_s, share, bits = {}, overlay.work.backward_share, overlay.work.model_bits
    for k in range(rounds):
        s = k % overlay.period
        t[k + 1] = t[k] + compute_s[k]
        rows = (overlay.states[s].source, overlay.states[s].target, overlay.states[s].lag)
        times = (bits / overlay.rate_bps[s], overlay.latency_s[s])
        for i, j, n, sending_s, latency_s in zip(*(row.tolist() for row in (*rows, *times)), strict=True):
            sent = k + 1 - n
            if sent < 0:
                continue
            begin_s = t[sent, i] + (1 - share) * compute_s[sent, i]
            if fifo:
                begin_s = max(begin_s, left_s.get((i, j), 0.0))
            left_s[i, j] = begin_s + sending_s
            last_bit_s = max(left_s[i, j], t[sent, i] + compute_s[sent, i])
            t[k + 1, j] = max(t[k + 1, j], last_bit_s + latency_s)
    return t


@st.composite
def lagged_states(draw, silos, *, most_states=4, most_lag=7, lags=True, pauses=False):
    """States of any arcs, whose union is strongly connected, with lags that never bring an older model later.

    With `pauses`, silos compute in some of them only.
    """
    period = draw(st.integers(1, most_states))
    pair = st.tuples(st.integers(0, silos - 1), st.integers(0, silos - 1)).filter(
        lambda ends: ends[0] != ends[1]
    )
    chosen = [draw(st.sets(pair, max_size=5)) if silos > 1 else set() for _ in range(period)]
    for i in range(silos if silos > 1 else 0):  # a ring, spread over the states
        chosen[draw(st.integers(0, period - 1))].add((i, (i + 1) % silos))
    latest = {}  # of each pair the round whose model was brought last, counted from the period's start
    states = []
    first = {}
    for s, pairs in enumerate(chosen):
        rows = []
        for ends in sorted(pairs):
            # Between the first use and its return a period later no model may be older than the one before.
            oldest = latest.get(ends, s + 1 - most_lag)
            newest = min(s, first[ends] + period) if ends in first else s
            sent = draw(st.integers(max(oldest, s + 1 - most_lag), newest)) if lags else s
            first.setdefault(ends, sent)
            latest[ends] = sent
            rows.append((*ends, s + 1 - sent))
        source, target, lag = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        into = np.bincount(target, minlength=silos)
        states.append(state_of(source, target, 1 / (1 + into[target]), lag))
    if pauses:
        first = draw(st.integers(0, period - 1))
        states = [
            replace(state, computes=s == first or draw(st.booleans())) for s, state in enumerate(states)
        ]
    return states


def repeats(t, period, *, most=120):
    """Growth per round where the last rounds repeat after a multiple of the period, else None."""
    rows = 40
    for p in range(period, min(most, len(t) - rows - 1), period):
        growth_s = t[-rows:] - t[-rows - p : -p]
        if np.ptp(growth_s) <= 2e-10 * growth_s.mean():
            return growth_s.mean() / p
    return None
