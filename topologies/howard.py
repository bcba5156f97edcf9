"""Cycle time of an event graph by policy iteration, with critical circuit and potential."""

import math
from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.compiled_designs import takes_compiled
from topologies.errors import InputError
from topologies.maxplus import EventGraph, on_circuit

RELATIVE_NOISE = 1e-12
"""Differences below this, relative to the largest number in play, are rounding noise."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CycleTime:
    """Largest mean delay per token over all circuits, with its proof.

    Attributes
    ----------
    cycle_time_s : float
        `tau`: no circuit has a larger ratio of delays to tokens.
    circuit : tuple of int
        Arcs of a circuit whose ratio is `tau`, in order (a lower bound on `tau`).
    potential_s : ndarray, shape (nodes,)
        `v` with ``v[j] >= v[i] + delay - tau * tokens`` on every arc, up to rounding (an upper bound on `tau`:
        summed along any circuit it says that the circuit's ratio is at most `tau`).
    """

    cycle_time_s: float
    circuit: tuple[int, ...]
    potential_s: FloatArray

    def __repr__(self) -> str:
        """The cycle time and the length of the circuit."""
        return f"<CycleTime {self.cycle_time_s:.6g} s: a critical circuit of {len(self.circuit)} arcs>"


def cycle_time(graph: EventGraph, *, connected: bool = False) -> CycleTime:
    """Maximum cycle ratio of an event graph by Howard's policy iteration.

    Parameters
    ----------
    graph : EventGraph
    connected : bool, default False
        Whether it is known to be strongly connected, which is then not looked for.

    Raises
    ------
    InputError
        If the graph has no circuit: then no cycle time exists. If delays are so large that
        their sum over all nodes may be infinite.

    Notes
    -----
    Multichain policy iteration as in Cochet-Terrasson, Cohen, Gaubert, McGettrick, Quadrat, "Numerical
    computation of spectral elements in max-plus algebra" (1998). Each iteration is O(arcs + nodes log nodes) with
    vectorised pointer doubling; the number of iterations is small in practice, without a polynomial bound known.
    The value is summed exactly over the circuit that attains it. Ratios that differ by rounding noise can make policies
    return; then the iteration stops, and the search for a potential finds the circuits that are still larger, if any:
    their ratios rise over finitely many circuits, so it ends.
    """
    inner = np.arange(len(graph.source))
    if not connected:
        inner = inner[on_circuit(graph.nodes, graph.source, graph.target)]
    if not len(inner):
        raise InputError("the event graph has no circuit, so it has no cycle time.")
    longest_s = float(np.abs(graph.delay_s).max())
    # Potentials are differences of sums over paths.
    if not math.isfinite(4 * graph.nodes * longest_s):
        raise InputError(f"delay_s(={longest_s}) must not pass 1.8e308 s on {4 * graph.nodes} arcs.")
    inner = inner[np.argsort(graph.source[inner], kind="stable")]
    nodes = _distinct(graph.source[inner], graph.nodes)
    source = np.searchsorted(nodes, graph.source[inner])
    arcs = _Arcs(
        source=source,
        target=np.searchsorted(nodes, graph.target[inner]),
        delay=graph.delay_s[inner],
        tokens=graph.tokens[inner].astype(np.float64),
        first=np.searchsorted(source, np.arange(len(nodes))),
    )
    policy, ratio, value = _iterate(arcs)
    circuit = tuple(int(inner[arc]) for arc in _circuit_of(arcs, policy, int(np.argmax(ratio))))
    start = np.zeros(graph.nodes)
    best = ratio >= ratio.max() - RELATIVE_NOISE * _scale(arcs.delay)
    start[nodes[best]] = -value[best]
    return _proven(graph, circuit, start)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Arcs:
    """Arcs inside the strongly connected components, sorted by source."""

    source: IntArray
    target: IntArray
    delay: FloatArray
    tokens: FloatArray
    first: IntArray


def _iterate(arcs: _Arcs) -> tuple[IntArray, FloatArray, FloatArray]:
    """Policy: best arc of every node, the ratio of the circuit that it leads to, and the value of every node."""
    policy = _argmax(arcs, arcs.delay)
    value = np.zeros(len(arcs.first))
    seen: set[bytes] = set()
    best = None
    while True:
        ratio, value = _evaluate(arcs, policy, value)
        if best is None or ratio.max() > best[1].max():
            best = policy, ratio, value
        if policy.tobytes() in seen:
            return best
        seen.add(policy.tobytes())
        noise = RELATIVE_NOISE * max(_scale(arcs.delay), _scale(value))
        better = _improved(arcs, policy, ratio, value, noise)
        if better is None:
            return policy, ratio, value
        policy = better


def _improved(
    arcs: _Arcs, policy: IntArray, ratio: FloatArray, value: FloatArray, noise: float
) -> IntArray | None:
    """A policy with better arcs, the first of the best: to larger ratios, else of larger values; None without any."""
    if takes_compiled(len(policy)):
        from topologies.compiled.policy_iteration import improve_policy

        better = policy.copy()
        changed = improve_policy(
            arcs.target, arcs.delay, arcs.tokens, arcs.first, ratio, value, noise, better
        )  # fmt: skip
        return better if changed else None
    reachable = ratio[arcs.target]
    better = _argmax(arcs, reachable)
    change = reachable[better] > ratio + noise
    if not change.any():
        gain = arcs.delay - ratio[arcs.source] * arcs.tokens + value[arcs.target]
        gain[reachable < ratio[arcs.source] - noise] = -np.inf
        better = _argmax(arcs, gain)
        change = gain[better] > value + noise
    return np.where(change, better, policy) if change.any() else None


def _evaluate(arcs: _Arcs, policy: IntArray, old: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ratio and value of every node when each follows its policy arc; a circuit's root keeps its old value."""
    nodes = len(policy)
    doublings = max(1, math.ceil(math.log2(nodes + 1)))
    if takes_compiled(nodes):
        from topologies.compiled.policy_iteration import find_values

        ratio, value, *sums = np.empty((4, nodes))
        buffers = np.empty((4, nodes), dtype=np.int64)
        find_values(
            arcs.target, arcs.delay, arcs.tokens, policy, doublings, old, ratio, value, *buffers, *sums
        )  # fmt: skip
        return ratio, value
    follow = arcs.target[policy]
    jump, lowest = follow, np.minimum(np.arange(nodes), follow)
    for _ in range(doublings):
        lowest = np.minimum(lowest, lowest[jump])
        jump = jump[jump]
    on_cycle = _distinct(jump, nodes)
    root = lowest[jump]
    delays = np.bincount(root[on_cycle], arcs.delay[policy[on_cycle]], nodes)
    tokens = np.bincount(root[on_cycle], arcs.tokens[policy[on_cycle]], nodes)
    ratio = delays[root] / tokens[root]

    roots = _distinct(root, nodes)
    value = arcs.delay[policy] - ratio * arcs.tokens[policy]
    value[roots], follow = 0.0, follow.copy()
    follow[roots] = roots
    for _ in range(doublings):
        value = value + value[follow]
        follow = follow[follow]
    return ratio, value + old[root]


def _argmax(arcs: _Arcs, score: FloatArray) -> IntArray:
    """For every node the first of its arcs with the largest score."""
    best = np.maximum.reduceat(score, arcs.first)
    hit = np.flatnonzero(score == best[arcs.source])
    return hit[np.searchsorted(arcs.source[hit], np.arange(len(best)))]


def _distinct(numbers: IntArray, nodes: int) -> IntArray:
    """Nodes that occur, in order."""
    occurs = np.zeros(nodes, dtype=bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs)


def _circuit_of(arcs: _Arcs, policy: IntArray, node: int) -> list[int]:
    """Policy arcs of the circuit that `node` leads to, from its lowest node on."""
    seen: set[int] = set()
    while node not in seen:
        seen.add(node)
        node = int(arcs.target[policy[node]])
    circuit = [node]
    while (after := int(arcs.target[policy[circuit[-1]]])) != node:
        circuit.append(after)
    start = circuit.index(min(circuit))
    return [int(policy[v]) for v in circuit[start:] + circuit[:start]]


def _ratio(graph: EventGraph, circuit: tuple[int, ...]) -> float:
    """Delays over tokens of a circuit, the sum exact before its one rounding."""
    arcs = list(circuit)
    return math.fsum(graph.delay_s[arcs]) / int(graph.tokens[arcs].sum())


def _proven(graph: EventGraph, circuit: tuple[int, ...], start: FloatArray) -> CycleTime:
    """The ratio of the circuit, or of a larger one that contradicts it, with a potential."""
    while True:
        tau = _ratio(graph, circuit)
        potential, other = _potential(graph, tau, start)
        if other is None or _ratio(graph, other) <= tau:
            return CycleTime(cycle_time_s=tau, circuit=circuit, potential_s=potential)
        circuit = other


def bounds(graph: EventGraph, tau: float, start: FloatArray, *, passes: int) -> bool:
    """Whether a potential near `start` shows that no circuit has a larger ratio than `tau`.

    Parameters
    ----------
    start : ndarray, shape (nodes,)
    passes : int
        How often it may be raised, O(arcs) each. False says that they did not suffice, and nothing else.
    """
    weight, potential = graph.delay_s - tau * graph.tokens, start.copy()
    for _ in range(passes):
        needed, violated = _violated(graph, weight, potential)
        if not len(violated):
            return True
        np.maximum.at(potential, graph.target[violated], needed[violated])
    return False


def _potential(graph: EventGraph, tau: float, start: FloatArray) -> tuple[FloatArray, tuple[int, ...] | None]:
    """Raise `start` until no arc violates it by more than rounding noise (Bellman-Ford), or find a larger circuit."""
    weight = graph.delay_s - tau * graph.tokens
    potential = start.copy()
    raised_by = np.full(graph.nodes, -1)
    for _ in range(graph.nodes + 1):
        needed, violated = _violated(graph, weight, potential)
        if not len(violated):
            return potential, None
        largest_last = violated[np.argsort(needed[violated], kind="stable")]
        raised_by[graph.target[largest_last]] = largest_last
        np.maximum.at(potential, graph.target[violated], needed[violated])
    return potential, _circuit_back(graph, raised_by, int(graph.target[violated[0]]))


def _violated(graph: EventGraph, weight: FloatArray, potential: FloatArray) -> tuple[FloatArray, IntArray]:
    """What each arc asks of its target's potential, and the arcs that ask for more than rounding noise more."""
    needed = potential[graph.source] + weight
    noise = RELATIVE_NOISE * max(_scale(graph.delay_s), _scale(potential))
    return needed, np.flatnonzero(needed > potential[graph.target] + noise)


def _circuit_back(graph: EventGraph, raised_by: IntArray, node: int) -> tuple[int, ...] | None:
    """Circuit along the arcs that raised the nodes, back from `node`."""
    position: dict[int, int] = {}
    arcs: list[int] = []
    while node not in position:
        position[node] = len(arcs)
        arc = int(raised_by[node])
        if arc < 0:
            return None
        arcs.append(arc)
        node = int(graph.source[arc])
    return tuple(reversed(arcs[position[node] :]))


def _scale(numbers: FloatArray) -> float:
    """Largest magnitude."""
    return float(np.abs(numbers).max(initial=0.0))
