"""The objective of all silos together: the mean of their losses, plain or weighted by samples."""

from collections.abc import Mapping

import numpy as np

from topologies.arrays import FloatArray

OBJECTIVES: Mapping[str, str] = {
    "samples": "each silo weighs as its share of all training samples",
    "silos": "each silo weighs the same",
}


def silo_weights(objective: str, samples: FloatArray) -> FloatArray:
    """Return the weight of each silo's mean loss in the objective.

    Parameters
    ----------
    objective : str
        One of `OBJECTIVES`.
    samples : FloatArray, shape (silos,)
        Labels that count in each silo: one per sample, or one per position of a sequence that is no padding.

    Returns
    -------
    FloatArray, shape (silos,)
        Sums to 1: ``1 / N``, or ``p_i = n_i / n``. The latter make the objective the mean loss over all samples.
    """
    shares = samples if objective == "samples" else np.ones(len(samples))
    weights: FloatArray = shares / shares.sum()
    return weights
