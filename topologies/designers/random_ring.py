"""A directed ring in a new random order each round."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.consensus import local_degree
from topologies.errors import InputError
from topologies.workload import Workload

TRIES = 1000
"""Random orders among which a ring of pairs that can talk must appear."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RandomRing:
    """A ring whose cyclic order is uniformly random each round; made by `random_ring`.

    Attributes
    ----------
    kind : str
    graph : Connectivity
    work : Workload
    """

    kind: str
    graph: Connectivity
    work: Workload

    def draw(self, rng: np.random.Generator) -> IntArray:
        """Silos in the order of the ring, from silo 0 on, shape (silos,).

        Uniform over the orders in which every silo can send to the next: others are drawn again.
        """
        while True:
            order = _order(rng, self.graph.silos)
            if _possible(self.graph, order):
                return order

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
    """Directed ring in a new uniformly random order each round.

    Parameters
    ----------
    graph : Connectivity
    work : Workload

    Returns
    -------
    RandomRing

    Raises
    ------
    InputError
        If the pairs that cannot talk cut the silos into parts, or leave so few rings that none of 1,000 random
        orders is one.
    """
    source, target = np.nonzero(graph.may_send)
    links = coo_array((np.ones(len(source)), (source, target)), shape=(graph.silos, graph.silos))
    parts, part = connected_components(links, connection="strong")
    if parts > 1:
        other = graph.labels[int(np.argmax(part != part[0]))]
        raise InputError(
            f"random_ring: no ring exists, since models cannot go from {graph.labels[0]} to {other} and back."
        )
    rng = np.random.default_rng(0)
    if not any(_possible(graph, _order(rng, graph.silos)) for _ in range(TRIES)):
        raise InputError(
            f"random_ring: too many pairs cannot talk; none of {TRIES} random orders of the silos avoids them."
        )
    return RandomRing(kind="random_ring", graph=graph, work=work)


def _order(rng: np.random.Generator, silos: int) -> IntArray:
    """A uniformly random cyclic order, from silo 0 on."""
    return np.concatenate((np.zeros(1, dtype=np.int64), 1 + rng.permutation(silos - 1)))


def _possible(graph: Connectivity, order: IntArray) -> bool:
    """Whether every silo can send to the next."""
    return bool((graph.available_bps[order, np.roll(order, -1)] > 0).all())
