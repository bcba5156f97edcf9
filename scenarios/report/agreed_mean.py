"""The weighted mean of their models on which the silos agree, where it is not the plain mean."""

import numpy as np

from topologies import Overlay
from topologies.consensus import SUM_TOLERANCE
from topologies.errors import quoted


def mean_weights(overlay: Overlay) -> dict[str, float] | None:
    """Weight of each silo in the mean on which all agree, by label; None where they never agree."""
    weights = overlay.agreed_weights
    return None if weights is None else dict(zip(overlay.graph.labels, weights.tolist(), strict=True))


def mean_notes(overlay: Overlay) -> list[str]:
    """One sentence, where columns of the consensus matrix do not sum to 1 or the silos never agree.

    Parameters
    ----------
    overlay : Overlay

    Returns
    -------
    list of str
    """
    weights = overlay.agreed_weights
    if weights is None:
        return [f"{overlay.kind}: with its weights the silos never agree on one model."]
    if np.abs(overlay.consensus.sum(axis=0) - 1).max() <= SUM_TOLERANCE:
        return []
    labels, share = overlay.graph.labels, weights * len(weights)
    low, high = int(np.argmin(share)), int(np.argmax(share))
    return [
        f"{overlay.kind}: the silos agree on a weighted mean of their models, since columns of its consensus matrix do "
        f"not sum to 1: {quoted(labels[high])} weighs {share[high]:.3g} times its plain share, {quoted(labels[low])} "
        f"{share[low]:.3g} times."
    ]
