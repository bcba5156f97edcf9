"""Learning-rate schedules: the rate of round `k` from the first rate."""

import math
from collections.abc import Callable, Mapping

Schedule = Callable[[float, int, int], float]
"""The rate of (first rate, round, epoch)."""


def constant(learning_rate: float, round_index: int, epoch: int) -> float:
    """Return the same rate in every round."""
    del round_index, epoch
    return learning_rate


def inverse_sqrt(learning_rate: float, round_index: int, epoch: int) -> float:
    """Return ``learning_rate / sqrt(k + 1)`` in round ``k``, ``k = 0, 1, ...``.

    Examples
    --------
    >>> inverse_sqrt(0.1, 3, 0)
    0.05
    """
    del epoch
    return learning_rate / math.sqrt(round_index + 1)


def halved_each_epoch(learning_rate: float, round_index: int, epoch: int) -> float:
    """Return ``learning_rate / 2^epoch``; see `epoch_of`.

    Examples
    --------
    >>> halved_each_epoch(0.1, 700, 2)
    0.025
    """
    del round_index
    return math.ldexp(learning_rate, -epoch)


SCHEDULES: Mapping[str, Schedule] = {
    "constant": constant,
    "halved_each_epoch": halved_each_epoch,
    "inverse_sqrt": inverse_sqrt,
}


def epoch_of(round_index: int, *, local_steps: int, batch_size: int, silos: int, samples: int) -> int:
    """Return how many epochs lie before a round.

    Parameters
    ----------
    round_index : int
        The round, ``0, 1, ...``.
    local_steps, batch_size, silos : int
        Batches per round and silo, samples per batch, silos.
    samples : int
        Training samples of all silos, >= 1.

    Returns
    -------
    int
        ``floor(k * local_steps * batch_size * silos / samples)``: an epoch is over once the silos together have drawn
        as many samples as there are. Small silos have then seen theirs more than once, large ones not yet all.

    Examples
    --------
    >>> [epoch_of(k, local_steps=1, batch_size=10, silos=4, samples=100) for k in (0, 2, 3, 5)]
    [0, 0, 1, 2]
    """
    return round_index * local_steps * batch_size * silos // samples
