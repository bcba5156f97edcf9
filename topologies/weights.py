"""Consensus weights in closed form: local degree, Metropolis, directed ring, plain average."""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.balanced import rebuilt
from topologies.errors import InputError


def local_degree(silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Consensus matrix of the local-degree rule.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)

    Returns
    -------
    ndarray, shape (silos, silos)
        ``A[j, i] = 1 / (1 + max(in-degree of i, in-degree of j))`` for each arc `(i, j)`, the rest of each row on
        its diagonal. Rows sum to 1; columns too where the overlay is symmetric or regular. On a directed ring every
        weight is 1/2.

    Notes
    -----
    Source: appendix of the paper, after Lin Xiao and Stephen Boyd, "Fast linear iterations for distributed
    averaging" (2004), section 4.
    """
    into = np.bincount(target, minlength=silos)
    return rebuilt(silos, source, target, 1 / (1 + np.maximum(into[source], into[target])))


def uniform(silos: int) -> FloatArray:
    """Consensus matrix of the plain average over all silos, as of a hub, shape (silos, silos)."""
    return np.full((silos, silos), 1 / silos)


def half_ring(silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Consensus matrix of a directed ring: half of a silo's own model, half of its predecessor's.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)

    Returns
    -------
    ndarray, shape (silos, silos)
        Rows and columns sum to 1. Of all weights on a directed ring these have the largest spectral gap among those
        whose columns sum to 1, ``1 - cos(pi / silos)``.

    Raises
    ------
    InputError
        If some silo does not have exactly one arc out and one in.
    """
    if silos == 1 and not len(source):
        return np.ones((1, 1))
    for ends, word in ((source, "sends"), (target, "receives")):
        count = np.bincount(ends, minlength=silos)
        if np.any(count != 1):
            silo = int(np.argmax(count != 1))
            raise InputError(f"half_ring needs a directed ring, but silo {silo} {word} {count[silo]} models.")
    weights = np.eye(silos) / 2
    weights[target, source] = 0.5
    return weights


def metropolis(silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Consensus matrix of the Metropolis weights of a symmetric overlay.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)

    Returns
    -------
    ndarray, shape (silos, silos)
        Symmetric, ``1 / (1 + max(degree of i, degree of j))`` between neighbours: the local-degree rule where it
        promises that columns sum to 1.

    Raises
    ------
    InputError
        If an arc has no arc back.

    Notes
    -----
    Source: Lin Xiao, Stephen Boyd, Sanjay Lall, "Distributed average consensus with time-varying Metropolis
    weights" (2006). The chain of Metropolis and Hastings, ``1 / max(degrees)``, never stops alternating between the
    two sides of a ring of even length, its gap 0; the 1 in the denominator keeps a part of each silo's own model.
    """
    if not is_symmetric(silos, source, target):
        raise InputError("metropolis needs a symmetric overlay, but some arc has no arc back.")
    return local_degree(silos, source, target)


def is_symmetric(silos: int, source: IntArray, target: IntArray) -> bool:
    """Whether each arc has its reverse."""
    return bool(np.array_equal(np.unique(source * silos + target), np.unique(target * silos + source)))
