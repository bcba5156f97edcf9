"""Changes of a strong digraph that look at how well it mixes, tried by the search for the time to accuracy."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from simulator.designers.search_moves import Arc
from simulator.designers.simulated_cost import Arcs
from topologies.arrays import BoolArray, FloatArray

DRAWN = 8
"""Arcs of which a move takes the one that mixes most, or least."""
POWER = 3
"""How often the products are squared that tell which models come together least."""


def apart(consensus: FloatArray) -> FloatArray:
    """How far the models of each two silos stay apart, shape (silos, silos), relative.

    Parameters
    ----------
    consensus : ndarray, shape (silos, silos)
        Doubly stochastic.

    Notes
    -----
    Squared distances of rows of ``(R^T R)^8`` for ``R = W - 1 1^T / silos``, whose leading vectors are the models that
    come together least; with the leading vector alone it is ``(v_i - v_j)^2``, the gain of an edge in A. Ghosh, S.
    Boyd, "Growing well-connected graphs", 2006. Time O(silos^3).
    """
    rest = consensus - 1 / len(consensus)
    product = rest.T @ rest
    for _ in range(POWER):
        most = float(np.diag(product).max())
        if most <= 0:
            return np.zeros_like(product)
        product = product / most
        product = product @ product
    own = np.diag(product)
    return np.asarray(own[:, np.newaxis] + own - 2 * product)


def most_apart(absent: BoolArray, distance: FloatArray, rng: np.random.Generator) -> Arc | None:
    """Of some absent arcs the one whose ends stay farthest apart."""
    drawn = [divmod(int(pair), len(absent)) for pair in rng.integers(absent.size, size=2 * DRAWN)]
    arcs = [arc for arc in drawn if absent[arc]][:DRAWN]
    return max(arcs, key=lambda arc: float(distance[arc]), default=None)


def least_apart(arcs: list[Arc], distance: FloatArray, rng: np.random.Generator) -> Arc:
    """Of some arcs the one whose ends are nearest."""
    drawn = [arcs[int(rng.integers(len(arcs)))] for _ in range(DRAWN)]
    return min(drawn, key=lambda arc: float(distance[arc]))


def cross(arcs: Arcs, one: Arc, other: Arc) -> Arcs:
    """Let two senders exchange their receivers; all degrees stay."""
    crossed = {(one[0], other[1]), (other[0], one[1])}
    return arcs if crossed & arcs else (arcs - {one, other}) | crossed


def best_matching(allowed: BoolArray, gain: FloatArray) -> list[Arc]:
    """Allowed arcs, at most one from each silo and one into each, of the largest total gain; the largest first.

    Parameters
    ----------
    allowed : ndarray of bool, shape (silos, silos)
    gain : ndarray, shape (silos, silos)
        Not below 0.
    """
    source, target = linear_sum_assignment(np.where(allowed, gain, 0.0), maximize=True)
    kept = allowed[source, target]
    source, target = source[kept], target[kept]
    order = np.argsort(-gain[source, target], kind="stable")
    return list(zip(source[order].tolist(), target[order].tolist(), strict=True))
