"""Arcs that users give: pairs of labels or numbers, an adjacency or mixing matrix, or a graph of networkx."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import Field, InputError, quoted, unknown_name
from topologies.rounded_weights import ROUNDED, exact_sums, is_rounded_one

if TYPE_CHECKING:
    import networkx as nx

Silo: TypeAlias = int | str
"""A silo's index, or its label."""
Arcs: TypeAlias = "Iterable[tuple[Silo, Silo]] | FloatArray | IntArray | nx.Graph[Any]"


def numbered_arcs(arcs: Arcs, labels: Sequence[str]) -> tuple[IntArray, FloatArray | None]:
    """Arcs by the indices of their silos, with the mixing weights if there are any.

    Parameters
    ----------
    arcs : iterable of (source, target), array of shape (silos, silos), or networkx.Graph
        Silos are labels or indices. An array of as many rows and columns as there are silos is a matrix: of zeros and
        ones, zeros on its diagonal, it is an adjacency matrix, whose row is the sender; else a mixing matrix, see
        `mixing_arcs`. Of two silos an array of integers, two different ones in each row, is one of pairs. A directed
        graph has its edges as arcs, another one both directions of them; where all edges have a ``weight``, it is the
        weight that the target gives the source's model, see `weighted_arcs`.
    labels : sequence of str, (silos,)

    Returns
    -------
    pairs : ndarray of int, shape (arcs, 2)
        In the order given.
    weights : ndarray, shape (silos, silos), or None
        Row: who averages.

    Raises
    ------
    InputError
        If a silo is unknown, or a matrix is neither.
    """
    if _is_graph(arcs):
        return _graph_arcs(arcs, labels)
    if isinstance(arcs, np.ndarray) and _is_matrix(arcs, len(labels)):
        return matrix_arcs(arcs, labels)
    if isinstance(arcs, np.ndarray) and not (arcs.ndim == 2 and arcs.shape[1] == 2):
        raise InputError(
            f"arcs(of shape {arcs.shape}) must be pairs of silos, or a matrix of {len(labels)} rows and columns."
        )
    if isinstance(arcs, np.ndarray) and arcs.dtype.kind == "i" and ((arcs >= 0) & (arcs < len(labels))).all():
        return arcs.astype(np.int64), None
    try:
        pairs = [(i, j) for i, j in arcs]
    except (TypeError, ValueError):
        raise InputError("arcs must be pairs of silos; a matrix must be an array of NumPy.") from None
    numbers = [end for pair in pairs for end in pair if isinstance(end, float | np.floating)]
    if len(numbers) == 2 * len(pairs) and not all(map(float.is_integer, map(float, numbers))):
        raise InputError("arcs must be pairs of silos; a matrix must be an array of NumPy.")
    return _pairs([(silo_index(i, labels), silo_index(j, labels)) for i, j in pairs]), None


def _is_matrix(arcs: "np.ndarray[Any, Any]", silos: int) -> bool:
    """Whether an array is a matrix of all silos; for two silos, pairs have that shape, too."""
    if arcs.shape != (silos, silos):
        return False
    # The adjacency matrix of both arcs is at the same time the pairs of both arcs.
    return silos != 2 or arcs.dtype.kind not in "iu" or bool((arcs[:, 0] == arcs[:, 1]).any())


def silo_index(silo: object, labels: Sequence[str]) -> int:
    """Index of a silo by its label, else by its number from 0, in Python or as a text.

    Where some labels are numbers themselves, a text is a label only: "1" would be a silo's label for one reader and the
    second silo for another.

    Raises
    ------
    InputError
        If there is no such silo.
    """
    if isinstance(silo, str):
        if silo in labels:
            return labels.index(silo)
        numbered = next((label for label in labels if label.isdecimal()), None)
        if numbered is not None:
            why = f" A text is only a label here, not a silo's number, as {quoted(numbered)} is a label."
            raise unknown_name("silo", silo, labels).followed_by(why)
        digits = silo.lstrip("0") or "0"
        if not silo.isdecimal():
            raise unknown_name("silo", silo, labels, otherwise=f"a number of 0..{len(labels) - 1}")
        # Python makes no integers of thousands of digits.
        silo = int(digits) if len(digits) <= len(str(len(labels))) else silo
    whole = isinstance(silo, int | np.integer) or (
        isinstance(silo, float | np.floating) and float(silo).is_integer()
    )
    if isinstance(silo, bool | np.bool_) or not whole or not 0 <= int(silo) < len(labels):  # type: ignore[call-overload]
        raise InputError(
            f"must be a label or a number of 0..{len(labels) - 1}.", field=Field("silo", value=silo)
        )
    return int(silo)  # type: ignore[call-overload, no-any-return]


def matrix_arcs(matrix: FloatArray | IntArray, labels: Sequence[str]) -> tuple[IntArray, FloatArray | None]:
    """Arcs of an adjacency or mixing matrix; see `numbered_arcs`."""
    numbers = np.asarray(matrix)
    if numbers.dtype.kind not in "biuf":
        raise InputError(f"the matrix must hold numbers, not {numbers.dtype}.")
    if not numbers.diagonal().any() and np.isin(numbers, (0, 1)).all():
        return np.argwhere(numbers), None
    return mixing_arcs(numbers.astype(np.float64), labels)


def mixing_arcs(matrix: FloatArray, labels: Sequence[str]) -> tuple[IntArray, FloatArray]:
    """Arcs that a mixing matrix needs, and the matrix with rows that sum to 1.

    It makes no weight negative that is not.

    Parameters
    ----------
    matrix : ndarray, shape (silos, silos)
        ``matrix[i, j]`` is the weight that silo `i` gives the model of silo `j`; where it is not 0, there is an arc
        ``(j, i)``. Weights may be below 0. Rows sum to 1 within `ROUNDED`, and exactly once
        `topologies.rounded_weights.exact_sums` has added what is left.
    labels : sequence of str, (silos,)

    Raises
    ------
    InputError
        If a weight is not finite, or a row does not sum to 1.
    """
    for i, j in np.argwhere(~np.isfinite(matrix)).tolist():
        raise InputError(f"the weight(={matrix[i, j]}) that {labels[i]} gives {labels[j]} must be finite.")
    sums = _row_sums(matrix)
    if not is_rounded_one(sums):
        worst = int(np.argmax(np.abs(sums - 1)))
        raise InputError(
            f"the row of {labels[worst]} sums to {sums[worst]:.10g}; rows of a mixing matrix must sum to 1 within "
            f"{ROUNDED:g} (an adjacency matrix has zeros and ones, and zeros on its diagonal)."
        )
    weights = exact_sums(matrix)
    arcs = np.argwhere((weights != 0) & ~np.eye(len(weights), dtype=bool))[:, ::-1]
    return np.ascontiguousarray(arcs[np.lexsort((arcs[:, 1], arcs[:, 0]))]), weights


def weighted_arcs(
    pairs: IntArray, weight: Sequence[float] | FloatArray, labels: Sequence[str]
) -> tuple[IntArray, FloatArray]:
    """Arcs with a weight each, and their mixing matrix.

    Parameters
    ----------
    pairs : ndarray of int, shape (arcs, 2)
        Each at most once; a silo with itself for the weight of its own model.
    weight : array_like, shape (arcs,)
        That the target gives the source's model. A silo without one of its own keeps what the others leave of 1;
        where they exceed 1 by no more than `ROUNDED`, they are divided by their sum.
    labels : sequence of str, (silos,)

    Raises
    ------
    InputError
        If a pair is there twice, or the weights of a silo do not sum to 1 (where it has none of its own, more than
        1).
    """
    silos = len(labels)
    matrix = np.zeros((silos, silos))
    seen = np.zeros((silos, silos), dtype=bool)
    for (i, j), value in zip(pairs.tolist(), weight, strict=True):
        if seen[j, i]:
            raise InputError(f"the arc {labels[i]} -> {labels[j]} must not be repeated.")
        seen[j, i], matrix[j, i] = True, value
    alone = ~seen.diagonal()
    rest = 1 - _row_sums(matrix)
    for silo in np.flatnonzero(alone & (rest < 0)).tolist():
        if not is_rounded_one(1 - rest[[silo]]):
            raise InputError(
                f"the weights that {labels[silo]} gives the models that it receives sum to {1 - rest[silo]:.10g}; they "
                f"must sum to <= 1 within {ROUNDED:g}, the rest being that of its own model."
            )
    matrix[alone, alone] = np.maximum(rest[alone], 0.0)
    _, weights = mixing_arcs(matrix, labels)
    arcs = pairs[pairs[:, 0] != pairs[:, 1]]
    return arcs, weights


def _row_sums(matrix: FloatArray) -> FloatArray:
    """Sum of each row, infinite where the weights are too large for a number: then it is not 1, which is all we ask."""
    with np.errstate(over="ignore"):
        return np.asarray(matrix.sum(axis=1))


def _is_graph(arcs: object) -> "TypeGuard[nx.Graph[Any]]":
    """Whether something is a graph of networkx, which need not be imported to say so."""
    return hasattr(arcs, "is_directed") and hasattr(arcs, "edges")


def _graph_arcs(graph: "nx.Graph[Any]", labels: Sequence[str]) -> tuple[IntArray, FloatArray | None]:
    """Arcs of a graph of networkx."""
    edges = [(silo_index(i, labels), silo_index(j, labels), data) for i, j, data in graph.edges(data=True)]
    for node in graph.nodes:
        silo_index(node, labels)
    if not graph.is_directed():
        edges += [(j, i, data) for i, j, data in edges if i != j]
    pairs = _pairs([(i, j) for i, j, _ in edges])
    stated = [data["weight"] for _, _, data in edges if "weight" in data]
    if not stated:
        return pairs, None
    if len(stated) < len(edges):
        raise InputError(f"weight must be stated by all {len(edges)} edges or by none, is by {len(stated)}.")
    try:
        return weighted_arcs(pairs, [float(value) for value in stated], labels)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("weight must be a number on all edges.") from None


def _pairs(pairs: Sequence[tuple[int, int]]) -> IntArray:
    """Pairs as an array, also where there are none."""
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
