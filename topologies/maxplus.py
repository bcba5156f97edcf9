"""Timed event graphs: cycle time with its proof, and the recurrence of round starts."""

from dataclasses import dataclass

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.digraph import components
from topologies.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EventGraph:
    """Arcs with delays and tokens between `nodes` recurring events.

    Event `j` of round `k` happens no earlier than ``delay_s`` after event `i` of round ``k - tokens``, for every
    arc `(i, j)`.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
    delay_s : ndarray, shape (arcs,)
    tokens : ndarray of int, shape (arcs,)

    Raises
    ------
    InputError
        If a delay is not finite, a token count negative, an end out of range, or a circuit has no token (each of
        its events would wait for itself).
    """

    nodes: int
    source: IntArray
    target: IntArray
    delay_s: FloatArray
    tokens: IntArray

    def __repr__(self) -> str:
        """Number of nodes and arcs."""
        return f"<EventGraph: {self.nodes} nodes, {len(self.source)} arcs>"

    def __post_init__(self) -> None:
        """Check the arcs."""
        if not (len(self.source) == len(self.target) == len(self.delay_s) == len(self.tokens)):
            raise InputError("source, target, delay_s and tokens must have one entry per arc.")
        for ends in (self.source, self.target):
            if len(ends) and not (ends.min() >= 0 and ends.max() < self.nodes):
                raise InputError(f"arc ends must lie in 0..{self.nodes - 1}.")
        if not np.all(np.isfinite(self.delay_s)):
            raise InputError(f"delay_s of arc {int(np.argmin(np.isfinite(self.delay_s)))} must be finite.")
        if np.any(self.tokens < 0):
            raise InputError(f"tokens(={int(self.tokens.min())}) must be >= 0.")
        free = self.tokens == 0
        if free.any():
            circuit = on_circuit(self.nodes, self.source[free], self.target[free])
            if circuit.any():
                arc = int(np.flatnonzero(free)[np.argmax(circuit)])
                raise InputError(
                    f"arc {int(self.source[arc])} -> {int(self.target[arc])} lies on a circuit without a token: "
                    "its events would wait for themselves."
                )


def on_circuit(nodes: int, source: IntArray, target: IntArray) -> BoolArray:
    """Whether each arc lies on a circuit: its ends are in one strongly connected component."""
    _, component = components(nodes, source, target, strong=True)
    return np.asarray(component[source] == component[target])


def recurrence(graph: EventGraph, rounds: int, initial_s: FloatArray | None = None) -> FloatArray:
    """Event times of rounds 0 to `rounds`.

    Parameters
    ----------
    graph : EventGraph
    initial_s : ndarray, shape (nodes,) or (n, nodes), optional
        Times of round 0, by default 0, or of the `n` rounds up to it; ``-inf`` for an event that a round does not have.
        Before them there is none.

    Returns
    -------
    ndarray, shape (rounds + 1, nodes)
        ``x_j(k) = max(x_i(k - tokens) + delay over the arcs (i, j))``.

    Notes
    -----
    The max-plus linear system of the paper's Eq. 4 (Baccelli, Cohen, Olsder, Quadrat, "Synchronization and
    Linearity", 1992, section 2.5). Time O(rounds * arcs).
    """
    marked = [
        (tokens, np.flatnonzero(graph.tokens == tokens))
        for tokens in np.unique(graph.tokens).tolist()
        if tokens
    ]
    levels = _zero_token_levels(graph)
    given = np.zeros((1, graph.nodes)) if initial_s is None else np.atleast_2d(initial_s)
    times = np.full((len(given) + rounds, graph.nodes), -np.inf)
    times[: len(given)] = given
    for k in range(len(given), len(times)):
        now = times[k]
        for tokens, arcs in marked:
            if tokens <= k:
                then = times[k - tokens]
                np.maximum.at(now, graph.target[arcs], then[graph.source[arcs]] + graph.delay_s[arcs])
        for arcs in levels:
            np.maximum.at(now, graph.target[arcs], now[graph.source[arcs]] + graph.delay_s[arcs])
    return times[len(given) - 1 :]


def _zero_token_levels(graph: EventGraph) -> list[IntArray]:
    """Arcs without a token in topological groups: the sources of a group are final before it."""
    free = np.flatnonzero(graph.tokens == 0)
    depth = np.zeros(graph.nodes, dtype=np.int64)
    while True:
        deeper = depth.copy()
        np.maximum.at(deeper, graph.target[free], depth[graph.source[free]] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    arc_depth = depth[graph.source[free]]
    return [free[arc_depth == level] for level in np.unique(arc_depth)]
