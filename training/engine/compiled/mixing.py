"""Mixing on processors: weighted sums of rows whose bits depend on nothing but the row that is asked for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topologies.jit import compiled
from training.engine.compiled.weighted_sums import (
    LANES,
    PIECE,
    fence,
    store_weighted_sum,
    stream_weighted_sum,
)

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]

FEW = 8
"""Products for each written row up to which mixing waits for the memory, and not the processor for a cache."""

SECOND_LEVEL, FIRST_LEVEL = 1 << 16, 1 << 13
"""Numbers that stay in a core's second-level and first-level cache while other things pass through."""

LONG, SHORT = 1024, 256
"""Columns that are read at a time, at least: memory is fast where neighbouring numbers follow each other."""

STREAMED = 1 << 21
"""Numbers that are written past the caches: so many would not be found there again."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sums:
    """Different sums of rows, and where each of them goes.

    Parameters
    ----------
    first : Indices, shape (sums + 1,)
        The terms of sum ``n`` are ``first[n] .. first[n + 1] - 1``.
    sources : Indices, shape (terms,)
        Of each term the row, in the order in which a sum adds them.
    weights : Floats, shape (terms,)
        Of each term the factor; none is zero.
    first_target : Indices, shape (sums + 1,)
        Sum ``n`` is written to ``targets[first_target[n] .. first_target[n + 1] - 1]``.
    targets : Indices, shape (written rows,)
        Rows that are written, each once.
    """

    first: Indices
    sources: Indices
    weights: Floats
    first_target: Indices
    targets: Indices


def sums_of(matrix: Floats) -> Sums:
    """Return the sums that a matrix stands for; rows that are alike, as those of a plain average, are summed once.

    Parameters
    ----------
    matrix : Floats, shape (written rows, rows)
        The weights.

    Returns
    -------
    Sums
        Each adds its terms in ascending order of rows.

    Examples
    --------
    >>> sums = sums_of(np.array([[0.5, 0, 0.5], [0, 1, 0], [0.5, 0, 0.5]], np.float32))
    >>> sums.sources, sums.weights, sums.targets
    (array([0, 2, 1]), array([0.5, 0.5, 1. ], dtype=float32), array([0, 2, 1]))
    """
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    first, first_target = np.empty((2, len(matrix) + 1), dtype=np.int64)
    targets, group, size = np.empty((3, len(matrix)), dtype=np.int64)
    sources, weights = np.empty(matrix.size, dtype=np.int64), np.empty(matrix.size, dtype=np.float32)
    sums = _find_sums(matrix, first, sources, weights, first_target, targets, group, size)
    return Sums(
        first=first[: sums + 1],
        sources=sources[: first[sums]],
        weights=weights[: first[sums]],
        first_target=first_target[: sums + 1],
        targets=targets,
    )


@compiled
def _find_sums(
    matrix: Floats,
    first: Indices,
    sources: Indices,
    weights: Floats,
    first_target: Indices,
    targets: Indices,
    group: Indices,
    size: Indices,
) -> int:
    """Write the arrays of `Sums`, and return how many sums there are; `group` and `size` are scratch."""
    sums = 0
    first[0] = 0
    for target in range(len(matrix)):
        begin = end = first[sums]
        for source in range(matrix.shape[1]):
            if matrix[target, source] != 0:
                sources[end], weights[end] = source, matrix[target, source]
                end += 1
        found = sums
        for n in range(sums):
            length = first[n + 1] - first[n]
            k = 0
            while k < length and length == end - begin:
                if sources[first[n] + k] != sources[begin + k] or weights[first[n] + k] != weights[begin + k]:
                    break
                k += 1
            if k == length == end - begin:
                found = n
                break
        if found == sums:
            size[sums] = 0
            sums += 1
            first[sums] = end
        group[target] = found
        size[found] += 1
    first_target[0] = 0
    for n in range(sums):
        first_target[n + 1] = first_target[n] + size[n]
        size[n] = first_target[n]
    for target in range(len(matrix)):
        targets[size[group[target]]] = target
        size[group[target]] += 1
    return sums


def write_sums(sums: Sums, rows: Floats, out: Floats, columns: slice) -> None:
    """Write weighted sums of rows.

    Parameters
    ----------
    sums : Sums
        Which ones.
    rows : Floats, shape (rows, width)
        What is summed; contiguous.
    out : Floats, shape (written rows, width)
        Written in `columns`; contiguous, and no row that is summed.
    columns : slice
        Which ones; without a step.

    Notes
    -----
    A sum starts at zero and takes its terms in the order of `sums`, each of them a product that is rounded before it is
    added. A weight of zero is no term, even where a row has numbers that are not finite. So the bits of a sum
    depend on its terms alone: not on the other rows, the columns, the processor, or how much is written past the
    caches.

    Columns are taken in blocks. Of a block each row is read from memory once, for the first sum, and from a cache for
    the others. With few products the memory decides, and a block is what the second-level cache holds; with many the
    cache decides, and a block is what the first-level cache holds.
    """
    width = rows.shape[1]
    start, stop, _step = columns.indices(width)
    few = len(sums.sources) <= FEW * len(sums.targets)
    numbers, least = (SECOND_LEVEL, LONG) if few else (FIRST_LEVEL, SHORT)
    block = max(least, numbers // max(1, len(rows)) // PIECE * PIECE)
    aligned = out.ctypes.data % (4 * LANES) == 0 and width % LANES == start % LANES == 0
    _write_sums(
        sums.first,
        sums.sources,
        sums.weights,
        sums.first_target,
        sums.targets,
        rows,
        out,
        start,
        stop,
        block,
        aligned and out.size >= STREAMED,
    )


@compiled
def _write_sums(
    first: Indices,
    sources: Indices,
    weights: Floats,
    first_target: Indices,
    targets: Indices,
    rows: Floats,
    out: Floats,
    start: int,
    stop: int,
    block: int,
    streamed: bool,
) -> None:
    """Write the sums' columns ``start .. stop - 1``, so many at a time."""
    width = rows.shape[1]
    for top in range(start, stop, block):
        end = min(top + block, stop)
        whole = top + (end - top) // PIECE * PIECE
        for n in range(len(first) - 1):
            a, b, c, d = first_target[n], first_target[n + 1], first[n], first[n + 1]
            for at in range(top, whole, PIECE):
                if streamed:
                    stream_weighted_sum(out, targets, a, b, rows, sources, weights, c, d, width, at)
                else:
                    store_weighted_sum(out, targets, a, b, rows, sources, weights, c, d, width, at)
            for at in range(whole, end):
                total = np.float32(0)
                for i in range(c, d):
                    total += weights[i] * rows[sources[i], at]
                for i in range(a, b):
                    out[targets[i], at] = total
    if streamed:
        fence()
