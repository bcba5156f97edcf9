"""Which samples metrics are measured on, where that is not all of them."""

import numpy as np

from topologies.arrays import BoolArray, IntArray


def share_of(evaluate: float, samples: int) -> float:
    """Return the share of some samples that `TrainingConfig.evaluate` asks for: itself up to 1, else a number of them.

    Examples
    --------
    >>> share_of(0.1, 50), share_of(20, 50), share_of(20, 10)
    (0.1, 0.4, 1.0)
    """
    return evaluate if evaluate <= 1 else min(1.0, evaluate / max(1, samples))


def evaluated(counted: BoolArray, share: float, rng: np.random.Generator) -> IntArray | None:
    """Return which samples are evaluated, ascending; None for all.

    Parameters
    ----------
    counted : BoolArray, shape (samples,)
        Which samples have a label that counts; only these are drawn, without replacement.
    share : float
        Part of those, above 0; the number is rounded, and at least 1.

    Examples
    --------
    >>> evaluated(np.array([True, False, True]), 0.1, np.random.default_rng(0)).tolist()
    [2]
    """
    if share >= 1:
        return None
    candidates = np.flatnonzero(counted)
    chosen = rng.choice(candidates, max(1, round(share * len(candidates))), replace=False)
    return np.sort(chosen)
