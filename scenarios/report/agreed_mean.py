"""The weighted mean of their models on which the silos agree, where it is not the plain mean."""

from collections.abc import Sequence

import numpy as np

from topologies import Overlay
from topologies.arrays import FloatArray
from topologies.consensus import SUM_TOLERANCE
from topologies.errors import quoted
from topologies.input_limits import MOST_MIXING_SILOS

_DIGITS = 9
"""Decimals of a share beyond which there is rounding, which must not say who is first."""


def weights_by_label(labels: Sequence[str], weights: FloatArray | None) -> dict[str, float] | None:
    """Weight of each silo in the mean on which all agree, by label; None where there is no such mean.

    Parameters
    ----------
    labels : sequence of str, (silos,)
    weights : ndarray, shape (silos,), or None
    """
    return None if weights is None else dict(zip(labels, weights.tolist(), strict=True))


def shares_text(labels: Sequence[str], weights: FloatArray) -> str:
    """Which silo weighs most and which least, as multiples of the plain share; of equal ones the first."""
    share = np.round(weights * len(weights), _DIGITS)
    low, high = int(np.argmin(share)), int(np.argmax(share))
    return (
        f"{quoted(labels[high])} weighs {share[high]:.3g} times its plain share, {quoted(labels[low])} "
        f"{share[low]:.3g} times."
    )


def mean_notes(overlay: Overlay) -> list[str]:
    """One sentence, where columns of the consensus matrix do not sum to 1 or the silos never agree.

    Of more than `MOST_MIXING_SILOS` silos nothing is said.

    Parameters
    ----------
    overlay : Overlay

    Returns
    -------
    list of str
    """
    if overlay.graph.silos > MOST_MIXING_SILOS:
        return []
    return agreement_notes(overlay, overlay.agreed_weights)


def agreement_notes(overlay: Overlay, weights: FloatArray | None) -> list[str]:
    """As `mean_notes`, of the `Overlay.agreed_weights` that are known."""
    if weights is None:
        return [never_agree_text(overlay.kind)]
    if np.abs(overlay.consensus.sum(axis=0) - 1).max() <= SUM_TOLERANCE:
        return []
    return [
        f"{overlay.kind}: the silos agree on a weighted mean of their models, since columns of its consensus matrix do "
        f"not sum to 1: {shares_text(overlay.graph.labels, weights)}"
    ]


def never_agree_text(kind: str) -> str:
    """That the silos do not come to agree, in one sentence."""
    return f"{kind}: with its weights the silos never agree on one model."
