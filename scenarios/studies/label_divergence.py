"""How unlike the silos' labels are."""

import numpy as np
from scipy.spatial.distance import jensenshannon

from topologies.arrays import FloatArray, IntArray


def divergences_bits(counts: IntArray) -> FloatArray:
    """Jensen-Shannon divergence of every two silos' label distributions.

    Parameters
    ----------
    counts : ndarray of int, shape (silos, classes)
        At least one label in each silo.

    Returns
    -------
    ndarray, shape (silos, silos)
        In bits, 0 (alike) to 1 (no label in common); symmetric.

    Notes
    -----
    The square of SciPy's Jensen-Shannon distance with base 2. O(silos^2 * classes).

    References
    ----------
    J. Lin, "Divergence measures based on the Shannon entropy", IEEE Transactions on Information Theory 37, 1991.
    """
    result = np.zeros((len(counts), len(counts)))
    for silo in range(len(counts) - 1):
        # Of nearly equal distributions rounding may leave less than 0, of which SciPy takes the root.
        with np.errstate(invalid="ignore"):
            distance = jensenshannon(counts[silo][np.newaxis], counts[silo + 1 :], base=2, axis=1)
        result[silo, silo + 1 :] = np.minimum(np.nan_to_num(distance) ** 2, 1.0)
    return np.asarray(result + result.T)
