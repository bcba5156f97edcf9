"""Cycle time against Karp's algorithm, brute force and its own certificate; the recurrence against hand sums."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import EventGraph, InputError, cycle_time, recurrence
from topologies.howard import _circuit_back, _potential, bounds


def event_graph(nodes: int, arcs: list[tuple[int, int, float, int]]) -> EventGraph:
    source, target, delay, tokens = zip(*arcs, strict=True)
    return EventGraph(
        nodes=nodes,
        source=np.array(source),
        target=np.array(target),
        delay_s=np.array(delay, dtype=float),
        tokens=np.array(tokens),
    )


def brute_force(graph: EventGraph) -> float:
    """Largest ratio over all simple circuits, parallel arcs told apart."""
    network = nx.MultiDiGraph()
    for arc, (i, j) in enumerate(zip(graph.source.tolist(), graph.target.tolist(), strict=True)):
        network.add_edge(i, j, key=arc)
    best = -np.inf
    for nodes in nx.simple_cycles(nx.DiGraph(network)):
        pairs = zip(nodes, nodes[1:] + nodes[:1], strict=True)
        for arcs in itertools.product(*(list(network[i][j]) for i, j in pairs)):
            best = max(best, graph.delay_s[list(arcs)].sum() / graph.tokens[list(arcs)].sum())
    return best


def karp(graph: EventGraph) -> float:
    """Karp's theorem on a strongly connected graph with one token on each arc."""
    walk = np.full((graph.nodes + 1, graph.nodes), -np.inf)
    walk[0, 0] = 0.0
    for k in range(1, graph.nodes + 1):
        np.maximum.at(walk[k], graph.target, walk[k - 1][graph.source] + graph.delay_s)
    steps = graph.nodes - np.arange(graph.nodes)[:, np.newaxis]
    reached = np.isfinite(walk[-1])
    walk = walk[:, reached]
    return float(((walk[-1] - walk[:-1]) / steps).min(axis=0).max())


def assert_proven(graph: EventGraph) -> None:
    """The circuit attains the value, and the potential shows that none exceeds it."""
    result = cycle_time(graph)
    arcs = list(result.circuit)
    assert np.array_equal(graph.target[arcs], np.roll(graph.source[arcs], -1))
    assert len(set(graph.source[arcs].tolist())) == len(arcs)
    assert graph.delay_s[arcs].sum() / graph.tokens[arcs].sum() == pytest.approx(
        result.cycle_time_s, rel=1e-12
    )
    v = result.potential_s
    slack = v[graph.target] - v[graph.source] - graph.delay_s + result.cycle_time_s * graph.tokens
    assert slack.min() >= -1e-9 * max(1.0, np.abs(v).max(), np.abs(graph.delay_s).max())


delays = st.one_of(st.integers(0, 3).map(float), st.floats(0, 1e3, allow_subnormal=False))


@st.composite
def strong_graphs(draw, largest: int = 6) -> EventGraph:
    """A Hamiltonian circuit with one token on each arc, and more arcs."""
    nodes = draw(st.integers(1, largest))
    extra = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=12))
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    return event_graph(nodes, [(i, j, draw(delays), 1) for i, j in ring + extra])


@st.composite
def token_graphs(draw) -> EventGraph:
    """Any digraph whose token-free arcs lead from a lower to a higher node."""
    nodes = draw(st.integers(1, 6))
    pairs = draw(
        st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), min_size=1, max_size=14)
    )
    return event_graph(
        nodes, [(i, j, draw(delays), draw(st.integers(0 if i < j else 1, 3))) for i, j in pairs]
    )


@given(graph=strong_graphs())
def test_karp_and_brute_force_agree(graph):
    result = cycle_time(graph)

    assert result.cycle_time_s == pytest.approx(brute_force(graph), rel=1e-12, abs=1e-12)
    assert result.cycle_time_s == pytest.approx(karp(graph), rel=1e-9, abs=1e-9)
    assert_proven(graph)


@given(graph=token_graphs())
def test_any_tokens_and_any_number_of_components(graph):
    expected = brute_force(graph)
    if expected == -np.inf:
        with pytest.raises(InputError, match="no circuit"):
            cycle_time(graph)
        return

    assert cycle_time(graph).cycle_time_s == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert_proven(graph)


@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(2, 80), ties=st.booleans())
def test_larger_graphs_against_karp(seed, nodes, ties):
    rng = np.random.default_rng(seed)
    pairs = [(i, (i + 1) % nodes) for i in range(nodes)] + rng.integers(0, nodes, (3 * nodes, 2)).tolist()
    graph = event_graph(
        nodes, [(i, j, float(rng.integers(0, 4)) if ties else rng.random(), 1) for i, j in pairs]
    )

    assert cycle_time(graph).cycle_time_s == pytest.approx(karp(graph), rel=1e-9)
    assert_proven(graph)


@pytest.mark.parametrize(
    ("nodes", "arcs", "cycle_time_s", "circuit"),
    [
        (1, [(0, 0, 3.0, 1)], 3.0, (0,)),
        (2, [(0, 1, 1.0, 1), (1, 0, 4.0, 1)], 2.5, (0, 1)),
        (2, [(0, 1, 1.0, 0), (1, 0, 4.0, 1)], 5.0, (0, 1)),
        (2, [(0, 0, 2.0, 1), (0, 1, 1.0, 1), (1, 0, 2.0, 1)], 2.0, (0,)),
        (2, [(0, 1, 0.0, 1), (1, 0, 0.0, 1)], 0.0, (0, 1)),
        (3, [(0, 1, 1.0, 2), (1, 0, 1.0, 1), (2, 2, 1.0, 2)], 2 / 3, (0, 1)),
    ],
    ids=["loop", "pair", "token-free arc", "loop wins", "zero delays", "unconnected, more tokens"],
)
def test_known_values(nodes, arcs, cycle_time_s, circuit):
    result = cycle_time(event_graph(nodes, arcs))

    assert result.cycle_time_s == cycle_time_s
    assert result.circuit == circuit


@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(2, 12), exponent=st.floats(-13.5, -11))
def test_delays_that_differ_by_rounding_noise(seed, nodes, exponent):
    rng = np.random.default_rng(seed)
    pairs = [(i, (i + 1) % nodes) for i in range(nodes)] + rng.integers(0, nodes, (2 * nodes, 2)).tolist()
    noise = rng.integers(-3, 4, len(pairs)) * 10.0**exponent
    delay = np.abs(rng.integers(0, 2, len(pairs)) + noise)
    graph = event_graph(nodes, [(i, j, d, 1) for (i, j), d in zip(pairs, delay.tolist(), strict=True)])

    assert cycle_time(graph).cycle_time_s == pytest.approx(karp(graph), rel=1e-9, abs=1e-11)
    assert_proven(graph)


def test_policies_that_return_end_the_iteration():
    source = [0, 1, 2, 3, 4, 1, 1, 4, 3, 3, 2]
    target = [1, 2, 3, 4, 0, 1, 0, 4, 3, 3, 1]
    tiny = 6.531036222309768e-13
    delay = [tiny, tiny, tiny, 1 + 3 * tiny, 1 - tiny, 1.0, 0.0, 1 - tiny, 1 + tiny, 1 + 2 * tiny, 1.0]
    graph = event_graph(5, [(i, j, d, 1) for i, j, d in zip(source, target, delay, strict=True)])

    assert cycle_time(graph).cycle_time_s == pytest.approx(1 + 2 * tiny, rel=1e-15)
    assert_proven(graph)


def test_several_critical_circuits_give_a_proof_all_the_same():
    arcs = [(0, 1, 1.0, 1), (1, 0, 1.0, 1), (2, 3, 1.0, 1), (3, 2, 1.0, 1), (1, 2, 0.0, 1), (3, 0, 0.0, 1)]
    graph = event_graph(4, arcs)

    assert cycle_time(graph).cycle_time_s == 1.0
    assert_proven(graph)


def test_huge_and_tiny_delays_together():
    graph = event_graph(3, [(0, 1, 1e9, 1), (1, 0, 1e-9, 1), (1, 2, 1e-9, 1), (2, 1, 1e-9, 1)])

    assert cycle_time(graph).cycle_time_s == (1e9 + 1e-9) / 2


def test_a_circuit_without_a_token_is_an_error():
    with pytest.raises(InputError, match="circuit without a token"):
        event_graph(3, [(0, 1, 1.0, 0), (1, 0, 1.0, 0), (1, 2, 1.0, 1), (2, 1, 1.0, 1)])


@pytest.mark.parametrize("delay", [np.nan, np.inf])
def test_delays_must_be_finite(delay):
    with pytest.raises(InputError, match="delay_s of arc 1 must be finite"):
        event_graph(2, [(0, 1, 1.0, 1), (1, 0, delay, 1)])


def test_arcs_must_end_at_nodes():
    with pytest.raises(InputError, match=r"0\.\.1"):
        event_graph(2, [(0, 2, 1.0, 1)])


def test_recurrence_by_hand():
    # A two-silo exchange: silo 0 computes 1 s, silo 1 computes 3 s, arcs take 1 s more.
    graph = event_graph(2, [(0, 1, 2.0, 1), (1, 0, 4.0, 1), (0, 0, 1.0, 1), (1, 1, 3.0, 1)])

    assert recurrence(graph, 3).tolist() == [[0, 0], [4, 3], [7, 6], [10, 9]]


def test_recurrence_follows_chains_of_token_free_arcs():
    graph = event_graph(3, [(0, 0, 1.0, 1), (1, 2, 5.0, 0), (0, 1, 2.0, 0)])

    assert recurrence(graph, 2).tolist() == [[0, 0, 0], [1, 3, 8], [2, 4, 9]]


def test_recurrence_with_several_tokens_by_hand():
    # Node 1 waits 5 s for node 0 of two rounds before, once there is such a round, and 1 s for itself.
    graph = event_graph(2, [(0, 0, 3.0, 1), (1, 1, 1.0, 1), (0, 1, 5.0, 2)])

    assert recurrence(graph, 4).tolist() == [[0, 0], [3, 1], [6, 5], [9, 8], [12, 11]]


@given(graph=token_graphs(), cut=st.integers(1, 5))
def test_the_recurrence_goes_on_from_its_last_rounds(graph, cut):
    whole = recurrence(graph, 9)

    assert np.array_equal(recurrence(graph, 9 - cut, whole[: cut + 1]), whole[cut:])


@given(graph=strong_graphs())
def test_the_recurrence_grows_by_the_cycle_time(graph):
    tau = cycle_time(graph).cycle_time_s
    rounds = 60
    last = recurrence(graph, rounds)[-1]

    # From below by the critical circuit, from above by the potential: |t(k) - tau k| stays bounded.
    bound = 2 * graph.nodes * (graph.delay_s.max() + tau) + 1e-9
    assert np.all(np.abs(last - tau * rounds) <= bound)


def test_delays_whose_sum_is_no_number_are_refused():
    ends = np.array([0, 1])
    graph = EventGraph(
        nodes=2, source=ends, target=1 - ends, delay_s=np.array([1e308, 1.1e308]), tokens=np.array([1, 1])
    )

    with pytest.raises(InputError, match=r"delay_s\(=1\.1e\+308\) must not pass 1\.8e308 s on 8 arcs"):
        cycle_time(graph)


def test_a_ratio_that_is_too_small_is_refuted_by_a_larger_circuit():
    # The ring of 0, 1, 2 has the mean 2 s; each of the loops less. A chain leads to node 3.
    graph = event_graph(
        4, [(0, 0, 1, 1), (0, 1, 1, 1), (1, 2, 2, 1), (2, 0, 3, 1), (2, 3, 9, 1), (3, 3, 0, 1)]
    )
    for tau in (0.0, 1.0, 1.9):
        _, circuit = _potential(graph, tau, np.zeros(4))
        assert circuit is not None
        assert [graph.target[arc] for arc in circuit] == [graph.source[arc] for arc in np.roll(circuit, -1)]
        assert graph.delay_s[list(circuit)].sum() > tau * graph.tokens[list(circuit)].sum()
    potential, circuit = _potential(graph, 2.0, np.zeros(4))
    assert circuit is None
    assert (
        potential[graph.target] >= potential[graph.source] + graph.delay_s - 2 * graph.tokens - 1e-9
    ).all()


def test_the_arcs_that_raised_the_nodes_lead_back_around_a_circuit_or_nowhere():
    graph = event_graph(4, [(0, 1, 1, 1), (1, 2, 2, 1), (2, 0, 3, 1), (2, 3, 9, 1)])
    assert _circuit_back(graph, np.array([2, 0, 1, 3]), 3) == (2, 0, 1)
    assert _circuit_back(graph, np.array([2, 0, 1, 3]), 0) == (0, 1, 2)
    assert _circuit_back(graph, np.array([-1, 0, 1, 3]), 3) is None


def test_a_bound_is_shown_by_so_many_passes_as_its_longest_path_takes():
    # From node 0 on 3, 2 and 1 s over the mean of the only circuit, and back.
    graph = event_graph(4, [(0, 1, 5, 1), (1, 2, 4, 1), (2, 3, 3, 1), (3, 0, -4, 1)])

    assert [bounds(graph, 2.0, np.zeros(4), passes=passes) for passes in (0, 1, 3, 4)] == [
        False,
        False,
        False,
        True,
    ]
    assert bounds(graph, 2.0, np.array([0.0, 3.0, 5.0, 6.0]), passes=1)
    assert not bounds(graph, 1.9, np.zeros(4), passes=50)
    assert bounds(graph, 5.0, np.zeros(4), passes=1)


def test_an_event_graph_has_no_tokens_below_zero():
    with pytest.raises(InputError, match=r"^tokens\(=-2\) must be >= 0\.$"):
        event_graph(2, [(0, 1, 1.0, 0), (1, 0, 1.0, -2)])


def test_of_arcs_without_a_token_one_on_a_circuit_is_named():
    arcs = [(0, 1, 1.0, 0), (1, 0, 1.0, 1), (2, 3, 1.0, 0), (3, 2, 1.0, 0)]
    with pytest.raises(InputError, match=r"^arc 2 -> 3 lies on a circuit without a token: its events"):
        event_graph(4, arcs)


@pytest.mark.parametrize(("lost", "count"), [("target", 1), ("delay_s", 3), ("tokens", 0)])
def test_arcs_have_one_entry_in_each_array(lost, count):
    arrays = {name: np.zeros(2, dtype=int) for name in ("source", "target", "delay_s", "tokens")}
    with pytest.raises(InputError, match=r"must have one entry per arc\.$"):
        EventGraph(nodes=1, **(arrays | {lost: np.zeros(count, dtype=int)}))


@pytest.mark.parametrize(
    ("source", "target", "nodes", "taken"),
    [
        (0, 1, 2, True),
        (1, 0, 2, True),
        (-1, 0, 2, False),
        (0, -1, 2, False),
        (2, 0, 2, False),
        (0, 2, 2, False),
    ],
)
def test_both_ends_of_an_arc_are_nodes(source, target, nodes, taken):
    arcs = [(0, 0, 1.0, 1), (source, target, 1.0, 1)]
    if taken:
        assert len(event_graph(nodes, arcs).source) == 2
    else:
        with pytest.raises(InputError, match=r"^arc ends must lie in 0\.\.1\.$"):
            event_graph(nodes, arcs)


def test_a_loop_that_is_too_slow_is_the_larger_circuit():
    potential, circuit = _potential(event_graph(1, [(0, 0, 1.0, 1)]), 0.0, np.zeros(1))
    assert circuit == (0,)
    assert potential.tolist() == [2.0]


def test_a_circuit_is_sought_where_it_is_not_known_that_there_is_one():
    chain = [(0, 1, 9.0, 1), (1, 2, 1.0, 1), (2, 1, 3.0, 1)]
    found = cycle_time(event_graph(4, chain))
    assert (found.cycle_time_s, found.circuit) == (2.0, (1, 2))
    assert found.potential_s.shape == (4,)
    with pytest.raises(InputError, match="has no circuit, so it has no cycle time"):
        cycle_time(event_graph(3, chain[:2]))
