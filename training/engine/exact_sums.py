"""Sums that do not depend on the order of their terms, nor on which rank adds which."""

import torch
from torch import Tensor

COARSE, FINE = 2.0**24, 2.0**64
"""Steps per unit of the two parts."""


def exact_sums(rows: Tensor) -> Tensor:
    """Return column sums as two parts, each of which is exact.

    Parameters
    ----------
    rows : torch.Tensor of float32, shape (rows, columns)
        The terms.

    Returns
    -------
    torch.Tensor of float64, shape (2, columns)
        Sums of the terms' multiples of ``2^-24``, and of the rest in multiples of ``2^-64``. Parts may be added part
        by part; the two together are the sum of the terms, each rounded to ``2^-64``.

    Notes
    -----
    Sums of multiples of a common step are exact in float64, in any order, up to ``2^53`` steps: that is to say, while
    the sum of magnitudes stays below ``2^29`` in the first part, and for up to ``2^14`` rows in the second. Beyond, the
    sum is that of float64 and may depend on the order in its last bits.
    """
    terms = rows.double()
    coarse = (terms * COARSE).round_().div_(COARSE)
    fine = terms.sub_(coarse).mul_(FINE).round_().div_(FINE)
    return torch.stack([coarse.sum(dim=0), fine.sum(dim=0)])
