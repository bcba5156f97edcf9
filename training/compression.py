"""Compressors: what a silo sends in place of all numbers of its model, how many bits that takes, and what is lost."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from training.config import TrainingConfig

BITS_PER_NUMBER = 32
"""Models travel in single precision, whatever precision they are trained in."""

BUCKET = 512
"""Numbers that `Qsgd` and `Sign` scale together, as QSGD's authors do."""

MOST_LEVELS = 2**20
"""Of `Qsgd`: single precision tells more of them hardly apart."""

COMPRESSIONS = {
    "none": "all numbers of the model",
    "qsgd": "numbers rounded at random to some levels of their norm",
    "random_k": "a share of the numbers, drawn anew in each round",
    "sign": "the signs of the numbers and their mean absolute value",
    "top_k": "a share of the numbers, the largest ones",
}

GOSSIPS = {
    "choco": "differences to what the neighbours know of the model",
    "error_feedback": "the model with what earlier messages left out",
}


class Compressor(Protocol):
    """Maps a row of ``d`` numbers to one that takes fewer bits, with ``E |C(x) - x|^2 <= (1 - delta) |x|^2``."""

    def bits(self, numbers: int) -> float:
        """Return the size of a message for ``d`` numbers, in bits."""

    def contraction(self, numbers: int) -> float:
        """Return the ``delta`` that holds for every row of ``d`` numbers, in (0, 1]."""

    def consensus_step(self, numbers: int) -> float:
        """Return the consensus step that is taken where none is stated, in (0, 1]."""

    def compress(self, row: "Tensor", generator: np.random.Generator) -> "Tensor":
        """Return what the receivers make of the message, a new tensor of shape (d,)."""


@dataclass(frozen=True, slots=True)
class _Sparsifier:
    """Keeps ``k`` of ``d`` numbers.

    Parameters
    ----------
    ratio : float
        Share of the numbers that is kept, in (0, 1]; at least one is.
    """

    ratio: float

    def contraction(self, numbers: int) -> float:
        """Return ``k / d``."""
        return kept_numbers(self.ratio, numbers) / numbers


@dataclass(frozen=True, slots=True)
class TopK(_Sparsifier):
    """Keeps the numbers of largest absolute value; of equal ones the first.

    Notes
    -----
    ``delta = k / d`` (Stich, Cordonnier and Jaggi, "Sparsified SGD with Memory", NeurIPS 2018, Lemma A.1), reached
    where all numbers are equal in size; trained models are far from that, so that the step that contracts best is
    larger than that of `RandomK`. A message holds ``k`` numbers and their places, ``ceil(log2 d)`` bits each, or all
    numbers where that is less. Time O(d).
    """

    def bits(self, numbers: int) -> float:
        """Return ``min(k (32 + ceil(log2 d)), 32 d)``."""
        place = math.ceil(math.log2(numbers))
        return _at_most_all(kept_numbers(self.ratio, numbers) * (BITS_PER_NUMBER + place), numbers)

    def consensus_step(self, numbers: int) -> float:
        """Return ``delta``."""
        return self.contraction(numbers)

    def compress(self, row: "Tensor", generator: np.random.Generator) -> "Tensor":
        """See `Compressor.compress`."""
        del generator
        size, kept = row.abs(), kept_numbers(self.ratio, len(row))
        least = size.topk(kept, sorted=False).values.min()
        chosen = size > least
        equal = (size == least).nonzero().flatten()
        chosen[equal[: kept - int(chosen.sum())]] = True
        return row * chosen


@dataclass(frozen=True, slots=True)
class RandomK(_Sparsifier):
    """Keeps numbers that are drawn anew for every message, each with the same probability.

    Notes
    -----
    ``E |C(x) - x|^2 = (1 - k / d) |x|^2`` for every ``x`` (the same lemma). The numbers are not scaled up: that would
    make their mean right and ``delta`` negative. Receivers draw the places themselves, from a seed that they share with
    the sender, so a message holds ``k`` numbers. Time O(d).
    """

    def bits(self, numbers: int) -> float:
        """Return ``32 k``."""
        return float(BITS_PER_NUMBER * kept_numbers(self.ratio, numbers))

    def consensus_step(self, numbers: int) -> float:
        """Return ``delta^1.5``."""
        return math.pow(self.contraction(numbers), 1.5)

    def compress(self, row: "Tensor", generator: np.random.Generator) -> "Tensor":
        """See `Compressor.compress`."""
        import torch

        places = generator.choice(len(row), kept_numbers(self.ratio, len(row)), replace=False, shuffle=False)
        chosen = torch.from_numpy(places).to(row.device)
        message = torch.zeros_like(row)
        message[chosen] = row[chosen]
        return message


@dataclass(frozen=True, slots=True)
class Qsgd:
    """Rounds numbers at random to levels of the norm of their bucket, and scales the result down.

    Parameters
    ----------
    levels : int
        Levels ``s`` above zero, >= 1 and at most `MOST_LEVELS`.

    Notes
    -----
    Of a bucket ``x`` of ``b`` numbers it makes ``|x| sign(x_i) l_i / (s tau)``, where ``l_i`` is ``s |x_i| / |x|``
    rounded up or down at random so that its mean is right (Alistarh et al., "QSGD", NeurIPS 2017, section 3.1), and
    ``tau = 1 + min(b / s^2, sqrt(b) / s)`` (Koloskova, Stich and Jaggi, "Decentralized Stochastic Optimization and
    Gossip Algorithms with Compressed Communication", ICML 2019, section 3.5), with which ``delta = 1 / tau``. A message
    has a norm for each bucket and ``ceil(log2(2 s + 1))`` bits for each number: a code of fixed length; one of variable
    length, as in the paper, takes fewer where most levels are zero. Time O(d).
    """

    levels: int

    def bits(self, numbers: int) -> float:
        """Return ``min(32 ceil(d / b) + d ceil(log2(2 s + 1)), 32 d)``."""
        return _at_most_all(
            _bucket_bits(numbers) + numbers * math.ceil(math.log2(2 * self.levels + 1)), numbers
        )

    def contraction(self, numbers: int) -> float:
        """Return ``1 / tau``."""
        return 1 / self._tau(numbers)

    def consensus_step(self, numbers: int) -> float:
        """Return ``delta / 2``."""
        return self.contraction(numbers) / 2

    def compress(self, row: "Tensor", generator: np.random.Generator) -> "Tensor":
        """See `Compressor.compress`."""
        import torch

        buckets = _buckets(row)
        norms = buckets.norm(dim=1, keepdim=True)
        drawn = torch.zeros_like(buckets)
        drawn.flatten()[: len(row)] = torch.from_numpy(generator.random(len(row), dtype=np.float32))
        levels = (self.levels / norms * buckets.abs() + drawn).floor()
        found = torch.copysign(norms / (self.levels * self._tau(len(row))) * levels, buckets)
        return torch.where(norms == 0, 0.0, found).flatten()[: len(row)]

    def _tau(self, numbers: int) -> float:
        bucket = min(BUCKET, numbers)
        return 1 + min(bucket / self.levels**2, math.sqrt(bucket) / self.levels)


@dataclass(frozen=True, slots=True)
class Sign:
    """Keeps the signs of the numbers, and of each bucket their mean absolute value.

    Notes
    -----
    ``|C(x) - x|^2 = (1 - |x|_1^2 / (b |x|^2)) |x|^2`` for a bucket of ``b`` numbers, whose ``delta`` is at least ``1 /
    b`` (Karimireddy et al., "Error Feedback Fixes SignSGD", ICML 2019, section 3); it is 0.64 where numbers are
    normally distributed. A message has a bit for each number and the mean of each bucket. Time O(d).
    """

    def bits(self, numbers: int) -> float:
        """Return ``min(32 ceil(d / b) + d, 32 d)``."""
        return _at_most_all(_bucket_bits(numbers) + numbers, numbers)

    def contraction(self, numbers: int) -> float:
        """Return ``1 / b``."""
        return 1 / min(BUCKET, numbers)

    def consensus_step(self, numbers: int) -> float:
        """Return 0.05."""
        del numbers
        return 0.05

    def compress(self, row: "Tensor", generator: np.random.Generator) -> "Tensor":
        """See `Compressor.compress`."""
        import torch

        del generator
        buckets = _buckets(row)
        sizes = torch.full((len(buckets), 1), float(min(BUCKET, len(row))), device=row.device)
        sizes[-1] = len(row) - BUCKET * (len(buckets) - 1)
        means = buckets.abs().sum(dim=1, keepdim=True) / sizes
        return torch.copysign(means, buckets).flatten()[: len(row)]


def compressor_of(config: "TrainingConfig") -> Compressor | None:
    """Return the compressor of a training; None without one."""
    makers: Mapping[str, Compressor | None] = {
        "none": None,
        "qsgd": Qsgd(config.quantization_levels),
        "random_k": RandomK(config.compression_ratio),
        "sign": Sign(),
        "top_k": TopK(config.compression_ratio),
    }
    return makers[config.compression]


def kept_numbers(ratio: float, numbers: int) -> int:
    """Return how many numbers a share is, at least one.

    Examples
    --------
    >>> kept_numbers(0.01, 1000), kept_numbers(0.01, 7)
    (10, 1)
    """
    return max(1, round(ratio * numbers))


def _bucket_bits(numbers: int) -> int:
    """Size of the numbers that buckets send beside the codes."""
    return BITS_PER_NUMBER * math.ceil(numbers / BUCKET)


def _at_most_all(bits: int, numbers: int) -> float:
    """The size of a message: where it would be larger than the numbers themselves, these are sent."""
    return float(min(bits, BITS_PER_NUMBER * numbers))


def _buckets(row: "Tensor") -> "Tensor":
    """Numbers in rows of a bucket each, the last one filled up with zeros."""
    import torch

    width = min(BUCKET, len(row))
    buckets = torch.zeros(math.ceil(len(row) / width), width, dtype=row.dtype, device=row.device)
    buckets.flatten()[: len(row)] = row
    return buckets
