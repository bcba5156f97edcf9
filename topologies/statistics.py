"""Confidence interval of a steady-state mean by batch means."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from topologies.arrays import FloatArray
from topologies.errors import InputError

_MOST_CORRELATION = 0.9
"""Largest correlation of batch means; with more the series is too short for an interval."""
_LEAST_FREEDOM = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfidenceInterval:
    """A mean and the half-width of its confidence interval, in the samples' unit.

    Attributes
    ----------
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
    means = _means(samples, batches, confidence)
    return _interval(means, confidence, variance=float(means.var(ddof=1)), freedom=batches - 1)


def correlated_batch_means(
    samples: ArrayLike, *, batches: int = 20, confidence: float = 0.95
) -> ConfidenceInterval:
    """Confidence interval of the mean of a stationary series that is correlated over longer than a batch.

    Parameters
    ----------
    samples : array_like, shape (n,)
        As for `batch_means`; correlated over a time that is short against all of them.
    batches : int, default 20
    confidence : float, default 0.95

    Returns
    -------
    ConfidenceInterval
        Of Student's distribution; never narrower than that of `batch_means` with as many batches.

    Raises
    ------
    InputError
        As `batch_means`.

    Examples
    --------
    >>> interval = correlated_batch_means([1.0, 1.0, 2.0, 2.0], batches=4)
    >>> f"{interval.mean:.1f} +- {interval.half_width:.1f}"
    '1.5 +- 1.6'

    Notes
    -----
    The batch means are taken as an autoregressive series of order one, whose lag-one correlation ``r`` is estimated,
    plus ``1 / batches`` for the bias of that estimate, and kept within 0 and 0.9. The variance of their mean is then
    ``(1 + r) / (1 - r)`` times that of independent ones, and as many independent ones as say the same leave
    ``(batches - 1) (1 - r) / (1 + r)`` degrees of freedom, here at least 3. Time O(n).

    References
    ----------
    .. [1] G. S. Fishman, *Principles of Discrete Event Simulation*, 1978, chapter 5.
    .. [2] A. Tafazzoli, N. M. Steiger, J. R. Wilson, "N-Skart: a nonsequential skewness- and
       autoregression-adjusted batch-means procedure", IEEE Transactions on Automatic Control 56 (2011) 254-264.
    """
    means = _means(samples, batches, confidence)
    apart = means - means.mean()
    squares = float(apart @ apart)
    lag_one = float(apart[1:] @ apart[:-1]) / squares if squares else 0.0
    correlation = min(max(lag_one + 1 / batches, 0.0), _MOST_CORRELATION)
    inflation = (1 + correlation) / (1 - correlation)
    return _interval(
        means,
        confidence,
        variance=inflation * squares / (batches - 1),
        freedom=max((batches - 1) / inflation, min(_LEAST_FREEDOM, batches - 1)),
    )


def _means(samples: ArrayLike, batches: int, confidence: float) -> FloatArray:
    """Means of the batches, of checked input."""
    series = np.asarray(samples, dtype=np.float64)
    if batches < 2:
        raise InputError(f"batches(={batches}) must be >= 2.")
    if not 0 < confidence < 1:
        raise InputError(f"confidence(={confidence:g}) must be > 0 and < 1.")
    if series.ndim != 1 or len(series) < batches:
        raise InputError(f"samples have shape {series.shape}; there must be at least {batches} (batches).")
    if not np.isfinite(series).all():
        raise InputError("samples must be finite.")
    means: FloatArray = series[len(series) % batches :].reshape(batches, -1).mean(axis=1)
    return means


def _interval(means: FloatArray, confidence: float, *, variance: float, freedom: float) -> ConfidenceInterval:
    """Student's interval of the mean of batch means with this variance."""
    quantile = float(stdtrit(freedom, (1 + confidence) / 2))
    return ConfidenceInterval(
        mean=float(means.mean()),
        half_width=quantile * (variance / len(means)) ** 0.5,
        confidence=confidence,
    )
