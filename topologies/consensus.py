"""Consensus matrices: the weights with which a silo averages the models that it receives."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from scipy.sparse import csr_array

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.balanced import fast_balanced
from topologies.digraph import check_connected
from topologies.errors import InputError, unknown_name
from topologies.optimal_consensus import fdla, fmmc
from topologies.weights import half_ring, is_symmetric, local_degree, metropolis

SUM_TOLERANCE = 1e-12
"""Largest distance of a row or column sum from 1, and of a weight below 0: rounding on some thousand silos."""
SPLIT = 1e-9
"""Spectral gaps up to this count as 0: rounding of the eigenvalues."""


consensus_rules: Mapping[str, Callable[[int, IntArray, IntArray], FloatArray]] = MappingProxyType(
    {
        "local_degree": local_degree,
        "half_ring": half_ring,
        "metropolis": metropolis,
        "balanced": fast_balanced,
        "fdla": fdla,
        "fmmc": fmmc,
    }
)
"""Rules by the name that `consensus_matrix` takes; all but `local_degree` promise column sums of 1."""
NEGATIVE_RULES = ("fdla",)
"""Rules that may give weights below 0."""


def consensus_matrix(rule: str, silos: int, source: IntArray, target: IntArray) -> FloatArray:
    """Consensus matrix of an overlay by a named rule.

    Parameters
    ----------
    rule : str
        One of `consensus_rules`.
    source, target : ndarray of int, shape (arcs,)
        A repeated arc counts once (a torus of width 2 has the same silo on both sides).

    Returns
    -------
    ndarray, shape (silos, silos)
        Row `j` holds the weights with which silo `j` averages; entries off the diagonal are zero where no arc is.
        Rows sum to 1. Columns sum to 1 too, so that the silos agree on the plain average of their models, by every
        rule but ``local_degree``, which does so on symmetric or regular overlays only.

    Raises
    ------
    InputError
        If the rule is unknown or not for this overlay, an arc joins a silo with itself or leaves ``0..silos - 1``,
        or the overlay is not strongly connected.

    Examples
    --------
    >>> import numpy as np
    >>> consensus_matrix("metropolis", 2, np.array([0, 1]), np.array([1, 0])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    if rule not in consensus_rules:
        raise unknown_name("consensus rule", rule, consensus_rules)
    pairs = np.column_stack((source, target)).astype(np.int64).reshape(-1, 2)
    if np.any((pairs < 0) | (pairs >= silos)):
        raise InputError(f"arcs must join silos 0..{silos - 1}.")
    if np.any(pairs[:, 0] == pairs[:, 1]):
        raise InputError("an arc must join two different silos.")
    source, target = np.unique(pairs, axis=0).T
    names = [f"silo {silo}" for silo in range(silos)]
    check_connected(
        f"consensus rule {rule}: the overlay must be strongly connected", names, source, target, strong=True
    )
    columns = rule != "local_degree" or is_symmetric(silos, source, target)
    return check_consensus(
        consensus_rules[rule](silos, source, target),
        columns=columns,
        negative_weights=rule in NEGATIVE_RULES,
        pattern=weight_pattern(silos, source, target),
    )


def weight_pattern(silos: int, source: IntArray, target: IntArray, hub: int | None = None) -> BoolArray:
    """Which models can enter the average of each silo.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
    hub : int, optional
        The silo that only averages: what it sends holds the models of all that it receives from.

    Returns
    -------
    ndarray of bool, shape (silos, silos)
        Row `i`: silo `i` itself, every `j` with an arc `(j, i)`, and where `i` receives from the hub, what
        the hub does.
    """
    pattern = np.eye(silos, dtype=bool)
    pattern[target, source] = True
    return pattern if hub is None else pattern | np.logical_and.outer(pattern[:, hub], pattern[hub])


def check_consensus(
    matrix: FloatArray,
    *,
    columns: bool,
    negative_weights: bool = False,
    pattern: BoolArray | None = None,
    labels: Sequence[str] | None = None,
) -> FloatArray:
    """The matrix itself, after a check that it is a consensus matrix.

    Parameters
    ----------
    matrix : ndarray, shape (silos, silos)
    columns : bool
        Whether columns must sum to 1 too: only then do the silos agree on the plain average of their models.
    negative_weights : bool
        Whether weights may be below 0, as FDLA's and MATCHA's are.
    pattern : ndarray of bool, shape (silos, silos), optional
        Which weights may differ from 0, see `weight_pattern`. By default all.
    labels : sequence of str, optional
        What messages call the silos; by default ``silo 0`` and so on.

    Returns
    -------
    ndarray, shape (silos, silos)

    Raises
    ------
    InputError
        If it is not square and finite, a silo weighs a model that it does not receive, a weight is below 0
        that must not be, or a row (or column, where asked) does not sum to 1 within `SUM_TOLERANCE`. An error, not an
        ``assert``: the matrix may come from a user, and the check must hold under ``python -O`` too.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InputError(f"consensus matrix has shape {matrix.shape}; it must be square.")
    names = [f"silo {silo}" for silo in range(len(matrix))] if labels is None else labels

    def weight(i: int, j: int) -> str:
        return (
            f"consensus matrix: the weight(={matrix[i, j]:.6g}) that {names[i]} gives the model of {names[j]}"
        )

    for i, j in np.argwhere(~np.isfinite(matrix)).tolist():
        raise InputError(f"{weight(i, j)} must be finite.")
    for i, j in [] if pattern is None else np.argwhere((matrix != 0) & ~pattern).tolist():
        raise InputError(f"{weight(i, j)} must be 0: there is no arc {names[j]} -> {names[i]}.")
    for i, j in [] if negative_weights else np.argwhere(matrix < -SUM_TOLERANCE).tolist():
        raise InputError(f"{weight(i, j)} must be >= 0, or negative_weights=True be given.")
    for axis, word in ((1, "row"), (0, "column")) if columns else ((1, "row"),):
        sums = matrix.sum(axis=axis)
        worst = int(np.argmax(np.abs(sums - 1)))
        if abs(sums[worst] - 1) > SUM_TOLERANCE:
            raise InputError(
                f"consensus matrix: the {word} of {names[worst]} sums to {sums[worst]:.15g}; it must sum to 1 "
                f"within {SUM_TOLERANCE:g}."
            )
    return matrix


def spectral_gap(matrix: FloatArray | csr_array) -> float:
    """Spectral gap of a consensus matrix: 1 minus the second largest modulus of its eigenvalues.

    Parameters
    ----------
    matrix : ndarray or csr_array, shape (silos, silos)
        Rows sum to 1.

    Returns
    -------
    float
        At most 1, which the uniform matrix and a single silo have. 0 where the silos never agree; negative where
        weights below 0 make them diverge.

    Raises
    ------
    InputError
        If the matrix is not square or finite, or a row does not sum to 1.

    Notes
    -----
    The difference between the models of the silos shrinks by the factor ``1 - gap`` per round in the long run. The
    eigenvalues other than the 1 of the constant vector are those of ``A - 1 1^T / silos`` (Wielandt's deflation),
    beside one 0: this holds whether or not columns sum to 1, and counts further eigenvalues of modulus 1. Time
    O(silos^3), a second or two for 1,000 silos. On a matrix far from normal, defective eigenvalues are
    only accurate to a root of the floating point precision.
    """
    dense = np.asarray(matrix.toarray() if isinstance(matrix, csr_array) else matrix, dtype=np.float64)
    check_consensus(dense, columns=False, negative_weights=True)
    rest = dense - 1 / len(dense)
    eigenvalues = np.linalg.eigvalsh(rest) if np.array_equal(rest, rest.T) else np.linalg.eigvals(rest)
    return float(1 - np.abs(eigenvalues).max())


def agreed_weights(matrix: FloatArray, *, gap: float | None = None) -> FloatArray | None:
    """Weights of the mean on which the silos agree in the limit of many rounds.

    Parameters
    ----------
    matrix : ndarray, shape (silos, silos)
        Rows sum to 1.
    gap : float, optional
        Its `spectral_gap`, where that is known: finding it takes most of the time.

    Returns
    -------
    ndarray, shape (silos,), or None
        They sum to 1: ``1 / silos`` each where the columns sum to 1, which is the plain average. None where the silos
        never agree.

    Raises
    ------
    InputError
        If the matrix is not square or finite, or a row does not sum to 1.

    Notes
    -----
    The left eigenvector `v` of eigenvalue 1 (Perron's where no weight is below 0): ``v A = v`` keeps the mean
    ``sum v_i x_i`` of the models, and ``A^k`` tends to ``1 v``. Time O(silos^3).
    """
    if (spectral_gap(matrix) if gap is None else gap) <= SPLIT:
        return None
    silos = len(matrix)
    if np.abs(matrix.sum(axis=0) - 1).max() <= SUM_TOLERANCE:
        return np.full(silos, 1 / silos)
    kept = matrix.T - np.eye(silos)
    kept[0] = 1.0
    return np.asarray(np.linalg.solve(kept, np.eye(silos)[0]))
