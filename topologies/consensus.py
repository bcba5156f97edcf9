"""Consensus matrices: with which weights a silo averages the models that it receives."""

import numpy as np

from topologies.arrays import FloatArray, IntArray


def local_degree(silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Consensus matrix of the local-degree rule.

    Parameters
    ----------
    silos : int
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
    weights = np.zeros((silos, silos))
    weights[target, source] = 1 / (1 + np.maximum(into[source], into[target]))
    np.fill_diagonal(weights, 1 - weights.sum(axis=1))
    return weights


def uniform(silos: int) -> FloatArray:
    """Consensus matrix of an average over all silos, shape (silos, silos): what a hub computes."""
    return np.full((silos, silos), 1 / silos)
