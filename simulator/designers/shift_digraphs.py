"""Digraphs of equal shifts along a short ring that mix well, from which the search for the time to accuracy starts."""

from collections.abc import Iterator

import numpy as np

from simulator.designers.simulated_cost import Arcs
from topologies.arrays import IntArray
from topologies.connectivity import Connectivity
from topologies.designers.node_order import node_order
from topologies.errors import InputError
from topologies.workload import Workload

DEGREES = range(2, 9)
"""Shifts of each digraph: models that a silo sends."""
DRAWN = 300
"""Sets of shifts of which the best one is taken."""


def shift_digraphs(graph: Connectivity, work: Workload, seed: int) -> Iterator[Arcs]:
    """Along the tour of `node_order`, or by label where there is none: every silo sends the same shifts ahead.

    Parameters
    ----------
    seed : int
        Of the sets of shifts that are drawn.
    """
    silos = graph.silos
    rng = np.random.default_rng(seed)
    try:
        order = node_order("tour", graph, work)
    except InputError:
        order = node_order("none", graph, work)
    place = np.arange(silos)
    for degree in DEGREES:
        if degree < silos:
            shifts = mixing_shifts(silos, degree, rng)
            ahead = order[(place[:, np.newaxis] + shifts) % silos]
            yield frozenset(zip(np.repeat(order, degree).tolist(), ahead.ravel().tolist(), strict=True))


def mixing_shifts(silos: int, degree: int, rng: np.random.Generator) -> IntArray:
    """The shifts with the smallest contraction of those drawn, shape (degree,), sorted.

    Notes
    -----
    With weights ``1 / (degree + 1)`` the matrix is circulant, hence normal, and its contraction is the largest modulus
    of the Fourier transform of its first row without the constant term. Time O(DRAWN * silos log silos).
    """
    drawn = rng.random((DRAWN, silos - 1)).argsort(axis=1)[:, :degree] + 1
    rows = np.zeros((DRAWN, silos))
    rows[:, 0] = 1.0
    np.put_along_axis(rows, drawn, 1.0, axis=1)
    contraction = np.abs(np.fft.fft(rows, axis=1)[:, 1:]).max(axis=1) / (degree + 1)
    # Equally good sets differ by rounding, which is not the same on all machines.
    return np.sort(drawn[int(np.argmin(np.round(contraction, 9)))])
