"""Confidence interval of a steady-state mean by batch means."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from topologies.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfidenceInterval:
    """A mean and how far off it may be, in the samples' unit.

    Attributes
    ----------
    mean : float
    half_width : float
        The interval is ``mean - half_width`` to ``mean + half_width``.
    confidence : float
        Probability with which such intervals hold the true mean.
    """

    mean: float
    half_width: float
    confidence: float

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width


def batch_means(samples: ArrayLike, *, batches: int = 30, confidence: float = 0.95) -> ConfidenceInterval:
    """Confidence interval of the mean of a stationary, possibly correlated, series.

    Parameters
    ----------
    samples : array_like, shape (n,)
        In their order in time; ``n >= batches``. The first ``n mod batches`` are left out.
    batches : int, default 30
        Batches of equal length. They must be long against the time over which samples are correlated.
    confidence : float, default 0.95

    Returns
    -------
    ConfidenceInterval
        Of Student's distribution with ``batches - 1`` degrees of freedom.

    Raises
    ------
    InputError
        If there are too few samples or batches, a sample is not finite, or `confidence` is not inside (0, 1).

    Examples
    --------
    >>> interval = batch_means([1.0, 2.0, 3.0, 4.0], batches=2)
    >>> f"{interval.mean:.1f} +- {interval.half_width:.1f}"
    '2.5 +- 12.7'

    Notes
    -----
    Source: A. M. Law, "Simulation Modeling and Analysis", section on batch means (20 to 40 batches). Time O(n).
    """
    series = np.asarray(samples, dtype=np.float64)
    if batches < 2:
        raise InputError(f"batches(={batches}) must be >= 2.")
    if not 0 < confidence < 1:
        raise InputError(f"confidence(={confidence:g}) must be > 0 and < 1.")
    if series.ndim != 1 or len(series) < batches:
        raise InputError(f"samples have shape {series.shape}; there must be at least {batches} (batches).")
    if not np.isfinite(series).all():
        raise InputError("samples must be finite.")
    means = series[len(series) % batches :].reshape(batches, -1).mean(axis=1)
    quantile = float(stdtrit(batches - 1, (1 + confidence) / 2))
    return ConfidenceInterval(
        mean=float(means.mean()),
        half_width=quantile * float(means.std(ddof=1)) / batches**0.5,
        confidence=confidence,
    )
