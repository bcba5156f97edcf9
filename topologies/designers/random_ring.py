"""A directed ring in a new random order each round."""

from dataclasses import dataclass

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.designers.ring_search import no_ring, require_reach
from topologies.designers.tour import short_tour
from topologies.label_order import silo_order
from topologies.weights import local_degree
from topologies.workload import Workload

TRIES = 1000
"""Random orders among which a ring of pairs that can talk must appear for draws by rejection."""
MOST_COUNTED = 14
"""Silos up to which all rings are counted where rejection finds none."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RandomRing:
    """A ring whose cyclic order is random each round; made by `random_ring`.

    Attributes
    ----------
    completions : ndarray of int, shape (2 ** (silos - 1), silos - 1), or None
        Of each set of visited silos and the last of them: the ways to end the ring. Where few silos have rare rings.
    known : tuple of int or None
        One ring, where many silos have rare rings. Both count silos in the order of labels.
    """

    kind: str
    graph: Connectivity
    work: Workload
    completions: IntArray | None = None
    known: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        """Kind, network and number of silos."""
        return f"<RandomRing {self.kind} on {self.graph.underlay.name}: {self.graph.silos} silos>"

    @property
    def spectral_norm(self) -> float | None:
        """Of ``E[W^T W] - J`` with ``J = 1 1^T / silos``; None where some pair cannot talk.

        Notes
        -----
        ``W = (I + P) / 2`` with the permutation `P` of a uniformly random cyclic order, so that
        ``E[W^T W] = (I + E[P]) / 2``, where `E[P]` is ``1 / (silos - 1)`` off the diagonal.
        """
        silos = self.graph.silos
        if self.graph.may_send.sum() < silos * (silos - 1):
            return None
        return 0.0 if silos == 1 else (silos - 2) / (2 * (silos - 1))

    @property
    def negative_weights(self) -> bool:
        """False: every weight is 0 or 1/2."""
        return False

    def draw(self, rng: np.random.Generator, _round: int, /) -> IntArray:
        """Silos in the order of the ring, from the silo of the first label on, shape (silos,).

        Uniform over the orders in which every silo can send to the next: others are drawn again, or the rings are
        counted. Many silos with rare rings: a short tour under uniformly random costs of the pairs that can talk, so
        that every ring may come, but some come more often than others.
        """
        silos, allowed = _allowed(self.graph)
        if self.completions is not None:
            return silos[_counted_order(rng, allowed, self.completions)]
        if self.known is not None:
            costs = np.where(allowed, rng.random(allowed.shape), np.inf)
            return silos[short_tour(costs, restarts=10, searches=1) or list(self.known)]
        while True:
            order = _order(rng, self.graph.silos)
            if _possible(allowed, order):
                return silos[order]

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """Source and target of the ring's arcs, sorted by source; a single silo has none."""
        silos = len(choice)
        if silos == 1:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        target = np.empty(silos, dtype=np.int64)
        target[choice] = np.roll(choice, -1)
        return np.arange(silos), target

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """Every silo averages its own model and its predecessor's, shape (silos, silos)."""
        return local_degree(self.graph.silos, source, target)


def random_ring(graph: Connectivity, work: Workload) -> RandomRing:
    """Directed ring in a new random order each round.

    Raises
    ------
    InputError
        If the pairs that cannot talk leave no ring, or none is found; see `no_ring`.

    Notes
    -----
    Uniform by rejection where at least one of 1,000 random orders is a ring. Else, up to 14 silos, uniform by counting
    the rings (dynamic programming over sets of silos, as Held and Karp 1962), O(2^silos silos^2) once; more silos have
    a distribution that is not uniform, see `RandomRing.draw`.
    """
    require_reach("random_ring", graph)
    rng = np.random.default_rng(0)
    _, allowed = _allowed(graph)
    if any(_possible(allowed, _order(rng, graph.silos)) for _ in range(TRIES)):
        return RandomRing(kind="random_ring", graph=graph, work=work)
    if graph.silos <= MOST_COUNTED:
        completions = _completions(allowed)
        if _first_ways(allowed, completions).any():
            return RandomRing(kind="random_ring", graph=graph, work=work, completions=completions)
        raise no_ring("random_ring", graph)
    known = short_tour(np.where(allowed, 1.0, np.inf))
    if known is None:
        raise no_ring("random_ring", graph)
    return RandomRing(kind="random_ring", graph=graph, work=work, known=tuple(known))


def _allowed(graph: Connectivity) -> tuple[IntArray, BoolArray]:
    """Silos by label, so that draws do not depend on their numbers, and which of them may send to which."""
    silos = silo_order(graph)
    return silos, graph.may_send[np.ix_(silos, silos)]


def _completions(allowed: BoolArray) -> IntArray:
    """Ways to end a ring from silo 0 after each set of visited other silos, by the last of them (both less 1)."""
    others = len(allowed) - 1
    ways = np.zeros((1 << others, others), dtype=np.int64)
    ways[-1] = allowed[1:, 0]
    sets = np.arange(1 << others)
    size = sum((sets >> j) & 1 for j in range(others))
    for visited in range(others - 1, 0, -1):
        for new in range(others):
            before = sets[(size == visited) & ((sets >> new) & 1 == 0)]
            ways[before] += allowed[1:, new + 1] * ways[before | 1 << new, new][:, np.newaxis]
    ways.flags.writeable = False
    return ways


def _first_ways(allowed: BoolArray, completions: IntArray) -> IntArray:
    """Number of rings that begin with each silo after silo 0, shape (silos - 1,)."""
    first = np.arange(len(allowed) - 1)
    return np.asarray(allowed[0, 1:] * completions[1 << first, first])


def _counted_order(rng: np.random.Generator, allowed: BoolArray, completions: IntArray) -> IntArray:
    """The ring of a uniformly random number, in lexicographic order."""
    ways = _first_ways(allowed, completions)
    number = int(rng.integers(ways.sum()))
    order, visited = [0], 0
    while True:
        upto = np.cumsum(ways)
        new = int(np.searchsorted(upto, number, side="right"))
        number -= int(upto[new] - ways[new])
        order.append(new + 1)
        visited |= 1 << new
        left = [j for j in range(len(ways)) if not visited >> j & 1]
        if not left:
            return np.array(order, dtype=np.int64)
        ways = np.zeros_like(ways)
        for j in left:
            ways[j] = allowed[new + 1, j + 1] * completions[visited | 1 << j, j]


def _order(rng: np.random.Generator, silos: int) -> IntArray:
    """A uniformly random cyclic order, from silo 0 on."""
    return np.concatenate((np.zeros(1, dtype=np.int64), 1 + rng.permutation(silos - 1)))


def _possible(allowed: BoolArray, order: IntArray) -> bool:
    """Whether every silo can send to the next."""
    return len(order) == 1 or bool(allowed[order, np.roll(order, -1)].all())
