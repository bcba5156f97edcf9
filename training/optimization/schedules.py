"""Learning-rate schedules: the rate of round `k` from the first rate."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RateSettings:
    """Numbers that schedules take.

    Parameters
    ----------
    learning_rate : float
        The first rate.
    rounds : int
        Rounds that the schedule has, >= 1.
    decay_every : int
        Of `step`.
    decay_factor : float
        Of `step`.
    final_learning_rate : float
        Of `cosine`.

    Examples
    --------
    >>> settings = RateSettings(
    ...     learning_rate=0.8, rounds=48, decay_every=10, decay_factor=0.5, final_learning_rate=0
    ... )
    >>> {name: rate(settings, 24, 3) for name, rate in SCHEDULES.items()}
    {'constant': 0.8, 'cosine': 0.4, 'halved_each_epoch': 0.1, 'inverse_sqrt': 0.16, 'step': 0.2}
    """

    learning_rate: float
    rounds: int
    decay_every: int
    decay_factor: float
    final_learning_rate: float


Schedule = Callable[[RateSettings, int, int], float]
"""The rate of (settings, round, epoch)."""


def constant(settings: RateSettings, round_index: int, epoch: int) -> float:
    """Return the same rate in every round."""
    del round_index, epoch
    return settings.learning_rate


def inverse_sqrt(settings: RateSettings, round_index: int, epoch: int) -> float:
    """Return ``learning_rate / sqrt(k + 1)`` in round ``k``, ``k = 0, 1, ...``."""
    del epoch
    return settings.learning_rate / math.sqrt(round_index + 1)


def halved_each_epoch(settings: RateSettings, round_index: int, epoch: int) -> float:
    """Return ``learning_rate / 2^epoch``; see `epoch_of`."""
    del round_index
    return math.ldexp(settings.learning_rate, -epoch)


def step(settings: RateSettings, round_index: int, epoch: int) -> float:
    """Return ``learning_rate * decay_factor^floor(k / decay_every)``, as ``torch.optim.lr_scheduler.StepLR``."""
    del epoch
    return settings.learning_rate * settings.decay_factor ** (round_index // settings.decay_every)


def cosine(settings: RateSettings, round_index: int, epoch: int) -> float:
    """Return ``final + (learning_rate - final) (1 + cos(pi k / rounds)) / 2``, where final is `final_learning_rate`.

    Notes
    -----
    That of ``torch.optim.lr_scheduler.CosineAnnealingLR``, and of Loshchilov and Hutter, "SGDR", ICLR 2017, Eq. 5,
    without restarts. The last round, ``rounds - 1``, is still one step above the final rate.
    """
    del epoch
    above = settings.learning_rate - settings.final_learning_rate
    return settings.final_learning_rate + above * (1 + math.cos(math.pi * round_index / settings.rounds)) / 2


SCHEDULES: Mapping[str, Schedule] = {
    "constant": constant,
    "cosine": cosine,
    "halved_each_epoch": halved_each_epoch,
    "inverse_sqrt": inverse_sqrt,
    "step": step,
}


def warm_up_rate(learning_rate: float, round_index: int, warm_up_rounds: int) -> float:
    """Return ``learning_rate (k + 1) / W`` of round ``k`` of the ``W`` first ones; the schedule starts in round ``W``.

    Notes
    -----
    That of ``torch.optim.lr_scheduler.LinearLR`` with ``start_factor = 1 / W`` and ``total_iters = W - 1``, and then of
    a ``SequentialLR`` with the milestone ``W``. P. Goyal et al., "Accurate, Large Minibatch SGD", 2017, Section 2.2.

    Examples
    --------
    >>> [warm_up_rate(0.8, k, 4) for k in range(4)]
    [0.2, 0.4, 0.6000000000000001, 0.8]
    """
    return learning_rate * (round_index + 1) / warm_up_rounds


def epoch_of(steps: int, *, batch_size: int, samples: int) -> int:
    """Return how many epochs lie before a round.

    Parameters
    ----------
    steps : int
        Local steps that all silos together have made before.
    batch_size : int
        Samples per step.
    samples : int
        Training samples of all silos, >= 1.

    Returns
    -------
    int
        ``floor(steps * batch_size / samples)``: an epoch is over once the silos together have drawn as many samples as
        there are. Small silos have then seen theirs more than once, large ones not yet all.

    Examples
    --------
    >>> [epoch_of(4 * k, batch_size=10, samples=100) for k in (0, 2, 3, 5)]
    [0, 0, 1, 2]
    """
    return steps * batch_size // samples
