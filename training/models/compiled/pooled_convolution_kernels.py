"""Kernels of a 3 x 3 convolution of 32 channels, 2 x 2 max-pooling and ReLU; channels last in memory.

At most one of four outputs of the convolution reaches the loss, and of these only positive ones. The backward pass
visits just them, where a library multiplies with all the zeros.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from topologies.jit import compiled

Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]
Offsets = NDArray[np.int32]

CUT = 4
"""Code of a maximum that is not positive."""

RUN = 96
"""Numbers of a row of the kernel: 3 columns of 32 channels, adjacent in memory."""

STRIP = 3
"""Pooled rows at a time: their inputs stay in the first-level cache while all channels visit them."""


@partial(compiled, fused=True)
def add_weighted_runs(
    total: Floats, source: Floats, first: int, offsets: Offsets, weights: Floats, begin: int, end: int
) -> None:
    """Add weighted runs: ``total[k] += sum of weights[i] * source[first + offsets[i] + k] over begin <= i < end``.

    Parameters
    ----------
    total : array, shape (RUN,)
        Added to.
    source : array, shape (numbers,)
        Holds the runs.
    first, begin, end : int
        As in the sum.
    offsets, weights : array, at least shape (end,)
        Where each run starts, and its factor.

    Notes
    -----
    The terms are added one after the other. Four at a time, as the compiler keeps no sum in registers from one term to
    the next: it cannot know that the arrays do not overlap.
    """
    i = begin
    while i + 4 <= end:
        w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        s0 = source[first + offsets[i] :][:RUN]
        s1 = source[first + offsets[i + 1] :][:RUN]
        s2 = source[first + offsets[i + 2] :][:RUN]
        s3 = source[first + offsets[i + 3] :][:RUN]
        for k in range(RUN):
            total[k] = (((total[k] + w0 * s0[k]) + w1 * s1[k]) + w2 * s2[k]) + w3 * s3[k]
        i += 4
    while i < end:
        weight, run = weights[i], source[first + offsets[i] :][:RUN]
        for k in range(RUN):
            total[k] += weight * run[k]
        i += 1


@compiled
def pool(scores: Floats, pooled: Floats, codes: Codes) -> None:
    """Write the positive part of every square's maximum, and where in its square it is.

    Parameters
    ----------
    scores : array, shape (images, height, width, channels)
        The convolution's output.
    pooled, codes : array, shape (images, height // 2, width // 2, channels)
        Written: the maxima, NaN if a number of the square is; their places, 0 to 3 row by row, the first of equal
        ones, or `CUT`.
    """
    images, rows, columns, channels = pooled.shape
    for n in range(images):
        for i in range(rows):
            for j in range(columns):
                for c in range(channels):
                    best, code = scores[n, 2 * i, 2 * j, c], np.uint8(0)
                    for k in range(1, 4):
                        value = scores[n, 2 * i + (k >> 1), 2 * j + (k & 1), c]
                        better = (value > best) | (value != value)
                        best = value if better else best
                        code = np.uint8(k) if better else code
                    cut = best <= 0
                    pooled[n, i, j, c] = np.float32(0) if cut else best
                    codes[n, i, j, c] = np.uint8(CUT) if cut else code


@compiled
def weight_gradient(
    gradient: Floats,
    codes: Codes,
    inputs: Floats,
    weights: Floats,
    biases: Floats,
    offsets: Offsets,
    terms: Floats,
) -> None:
    """Add up the gradients of the weights and of the biases.

    Parameters
    ----------
    gradient, codes : array, shape (images, rows, columns, channels)
        Of `pool`'s output, and its places.
    inputs : array, shape (images, height, width, 32)
        The convolution's input.
    weights : array, shape (channels, 3, 3, 32)
        Added to.
    biases : array, shape (channels,)
        Added to.
    offsets, terms : array, at least shape (STRIP * columns,)
        Scratch.
    """
    images, rows, columns, channels = gradient.shape
    _, height, width, depth = inputs.shape
    source, sums = inputs.reshape(-1), weights.reshape(-1)
    for n in range(images):
        for top in range(0, rows, STRIP):
            for c in range(channels):
                count = 0
                for i in range(top, min(top + STRIP, rows)):
                    for j in range(columns):
                        code = codes[n, i, j, c]
                        row, column = 2 * i + (code >> 1), 2 * j + (code & 1)
                        offsets[count] = (row * width + column) * depth
                        terms[count] = gradient[n, i, j, c]
                        count += code != CUT
                for term in terms[:count]:
                    biases[c] += term
                for r in range(3):
                    at, first = (3 * c + r) * RUN, (n * height + r) * width * depth
                    add_weighted_runs(sums[at : at + RUN], source, first, offsets, terms, 0, count)


@compiled
def input_gradient(
    gradient: Floats,
    codes: Codes,
    weights: Floats,
    inputs: Floats,
    offsets: Offsets,
    terms: Floats,
    ends: NDArray[np.int64],
) -> None:
    """Add up the gradient of the input.

    Parameters
    ----------
    gradient, codes : array, shape (images, rows, columns, channels)
        Of `pool`'s output, and its places.
    weights : array, shape (3, channels, 3, 32)
        The convolution's, rows of the kernel first: one such row of all channels fits into the first-level cache.
    inputs : array, shape (images, height, width, 32)
        Added to.
    offsets, terms : array, shape (columns * 4 * channels,)
        Scratch.
    ends : array, shape (columns * 4,)
        Scratch.
    """
    images, rows, columns, channels = gradient.shape
    _, height, width, depth = inputs.shape
    source, sums = weights.reshape(-1), inputs.reshape(-1)
    for n in range(images):
        for i in range(rows):
            for j in range(columns):
                for k in range(4):
                    ends[4 * j + k] = (4 * j + k) * channels
                for c in range(channels):
                    code = codes[n, i, j, c]
                    square = 4 * j + (code & 3)
                    end = ends[square]
                    offsets[end] = c * RUN
                    terms[end] = gradient[n, i, j, c]
                    ends[square] = end + (code != CUT)
            for r in range(3):
                for square in range(4 * columns):
                    row, column = 2 * i + r + (square >> 1 & 1), 2 * (square >> 2) + (square & 1)
                    at = ((n * height + row) * width + column) * depth
                    begin = square * channels
                    add_weighted_runs(
                        sums[at : at + RUN], source, r * channels * RUN, offsets, terms, begin, ends[square]
                    )
