"""Random computing times: one seeded stream per silo."""

from abc import ABC, abstractmethod

import numpy as np

from simulator import input_checks as checks
from simulator.compute_times import span_s
from topologies.arrays import FloatArray

COMPUTE_STREAM = int.from_bytes(b"compute")
"""Separates computing times from all other random numbers of the same seed."""

_BLOCK_ROUNDS = 1024


class RandomTimes(ABC):
    """Computing times whose rounds and silos are independent; `ComputeTimes`.

    Notes
    -----
    Rounds ``1024 b`` to ``1024 b + 1023`` of silo `i` come from
    ``SeedSequence(seed, spawn_key=(COMPUTE_STREAM, i, b))``. So they are the same on every overlay (common random
    numbers), with more silos or rounds, and in any order.
    """

    __slots__ = ("_seed", "_silos")

    def __init__(self, silos: int, seed: int) -> None:
        self._silos = checks.check_at_least(1, "silos", silos)
        self._seed = checks.check_at_least(0, "seed", seed)

    @property
    def silos(self) -> int:
        """Number of silos."""
        return self._silos

    @property
    def period(self) -> None:
        """None."""
        return None

    def rows(self, first: int, count: int, /) -> FloatArray:
        """See `ComputeTimes`."""
        block, skipped = divmod(first, _BLOCK_ROUNDS)
        blocks = range(block, (first + count - 1) // _BLOCK_ROUNDS + 1)
        times_s = np.empty((len(blocks) * _BLOCK_ROUNDS, self._silos))
        for place, number in enumerate(blocks):
            for silo in range(self._silos):
                seeds = np.random.SeedSequence(self._seed, spawn_key=(COMPUTE_STREAM, silo, number))
                rows = slice(place * _BLOCK_ROUNDS, (place + 1) * _BLOCK_ROUNDS)
                times_s[rows, silo] = self._sample(np.random.default_rng(seeds), silo, _BLOCK_ROUNDS)
        return times_s[skipped : skipped + count]

    @abstractmethod
    def _sample(self, rng: np.random.Generator, silo: int, count: int, /) -> FloatArray:
        """Times of a silo in seconds, shape (count,)."""


class Lognormal(RandomTimes):
    """Lognormal times.

    Parameters
    ----------
    mean_s : array_like of shape (silos,)
        Mean of each silo, in seconds, finite and >= 0.
    cv : float
        Coefficient of variation of all silos: standard deviation divided by mean, finite and >= 0.
    seed : int
        At least 0.

    Raises
    ------
    InputError
        If a value is out of its range.

    Notes
    -----
    ``ln T`` is normal with variance ``s^2 = ln(1 + cv^2)`` and mean ``ln(mean_s) - s^2 / 2``.
    """

    __slots__ = ("_cv", "_mean_s", "_sigma")

    def __init__(self, *, mean_s: FloatArray, cv: float, seed: int) -> None:
        self._mean_s = checks.check_compute(mean_s, "mean_s")
        checks.check_not_negative("cv", cv)
        self._cv = cv
        # From 1e100 on, 1 + cv^2 is cv^2 to all digits, and may be too large for a float.
        self._sigma = float(np.sqrt(np.log1p(cv**2) if cv < 1e100 else 2 * np.log(cv)))
        super().__init__(len(self._mean_s), seed)

    def __repr__(self) -> str:
        return (
            f"Lognormal({self._silos} silos, mean {span_s(self._mean_s)}, cv={self._cv:g}, seed={self._seed})"
        )

    def _sample(self, rng: np.random.Generator, silo: int, count: int, /) -> FloatArray:
        normal = rng.standard_normal(count)
        return np.asarray(self._mean_s[silo] * np.exp(self._sigma * normal - self._sigma**2 / 2))


class Exponential(RandomTimes):
    """Exponential times.

    Parameters
    ----------
    mean_s : array_like of shape (silos,)
        Mean of each silo, in seconds, finite and >= 0.
    seed : int
        At least 0.

    Raises
    ------
    InputError
        If a value is out of its range.
    """

    __slots__ = ("_mean_s",)

    def __init__(self, *, mean_s: FloatArray, seed: int) -> None:
        self._mean_s = checks.check_compute(mean_s, "mean_s")
        super().__init__(len(self._mean_s), seed)

    def __repr__(self) -> str:
        return f"Exponential({self._silos} silos, mean {span_s(self._mean_s)}, seed={self._seed})"

    def _sample(self, rng: np.random.Generator, silo: int, count: int, /) -> FloatArray:
        return self._mean_s[silo] * rng.standard_exponential(count)


class Empirical(RandomTimes):
    """Times sampled, with replacement, from measured ones.

    Parameters
    ----------
    samples_s : array_like of shape (samples,)
        In seconds, finite and >= 0, 1 or more.
    silos : int
    seed : int
        At least 0.

    Raises
    ------
    InputError
        If a value is out of its range.
    """

    __slots__ = ("_samples_s",)

    def __init__(self, *, samples_s: FloatArray, silos: int, seed: int) -> None:
        self._samples_s = np.array(checks.check_compute(samples_s, "samples_s", "one or more samples"))
        super().__init__(silos, seed)

    def __repr__(self) -> str:
        samples_s = self._samples_s
        return f"Empirical({self._silos} silos, {len(samples_s)} samples, {span_s(samples_s)}, seed={self._seed})"

    def _sample(self, rng: np.random.Generator, _silo: int, count: int, /) -> FloatArray:
        return self._samples_s[rng.integers(len(self._samples_s), size=count)]
