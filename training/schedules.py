"""Learning-rate schedules: the rate of round `k` from the first rate."""

import math
from collections.abc import Callable, Mapping

Schedule = Callable[[float, int], float]


def constant(learning_rate: float, round_index: int) -> float:
    """Return the same rate in every round."""
    del round_index
    return learning_rate


def inverse_sqrt(learning_rate: float, round_index: int) -> float:
    """Return ``learning_rate / sqrt(k + 1)`` in round ``k``, ``k = 0, 1, ...``.

    Examples
    --------
    >>> inverse_sqrt(0.1, 3)
    0.05
    """
    return learning_rate / math.sqrt(round_index + 1)


SCHEDULES: Mapping[str, Schedule] = {"constant": constant, "inverse_sqrt": inverse_sqrt}
