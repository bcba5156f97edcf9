"""Rounds from the numbers in a file's column, which may count rounds, local steps or epochs."""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topologies import InputError
from topologies.arrays import FloatArray, IntArray
from topologies.errors import unknown_name

UNITS = ("rounds", "steps", "epochs")
"""Units that a column may count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counting:
    """How the numbers of a column become rounds.

    Parameters
    ----------
    column : str
    unit : {"rounds", "steps", "epochs"}
    shift : int
        Added to every number: 1 where the column counts from 0, so that its numbers say how many are done.
    per_round : int
        Numbers of the column that make a round: the local steps, where it counts steps, else 1.
    """

    column: str
    unit: str
    shift: int
    per_round: int

    def rounds_of(self, numbers: FloatArray) -> IntArray:
        """Rounds done at numbers of the column; a round that has begun counts.

        Exact: the ceiling of a quotient by a whole number is that of the dividend's ceiling by it.
        """
        whole = np.ceil(numbers).astype(np.int64) + self.shift
        return -(-whole // self.per_round)


def unit_of(
    column: str,
    *,
    given: str | None,
    local_steps: int | None,
    is_step: bool,
    is_epoch: bool,
    is_surely_step: bool,
    source: str,
) -> str:
    """Unit that a column counts.

    Parameters
    ----------
    column : str
    given : str, optional
        The user's choice, one of `UNITS`.
    local_steps : int, optional
        Of a round; None where unknown.
    is_step, is_epoch : bool
        Whether the column is named like one of steps or of epochs.
    is_surely_step : bool
        Whether a column that is named like one of steps cannot be one of rounds.
    source : str
        The file, for error messages.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the unit is unknown, or is not clear: the message asks for it.
    """
    if given is not None and given not in UNITS:
        raise unknown_name("unit", given, UNITS)
    if given is None and is_step and not is_surely_step and local_steps != 1:
        raise InputError(
            f"{column} may count rounds or local steps: --unit rounds, or --unit steps with --local-steps, must say "
            "which.",
            source=source,
        )
    unit = given or ("steps" if is_step else "epochs" if is_epoch else "rounds")
    if unit != "rounds" and local_steps is None:
        what = "local steps: --local-steps must say how many are a round"
        if unit == "epochs":
            what = "epochs, of which each is a round: --local-steps must say how many local steps one has"
        raise InputError(f"{column} counts {what}; or --unit rounds, if it counts these.", source=source)
    return unit


def counts_from_0(unit: str, numbers: Mapping[str, Collection[float]]) -> bool:
    """Whether a column counts from 0, so that its numbers are one too small.

    Parameters
    ----------
    unit : str
    numbers : mapping
        For each metric its numbers in the column of the round, ascending. Where there are metrics of the training, they
        alone count: a test may come before the first epoch, and not after each.

    Returns
    -------
    bool
        Of rounds never: round 0 is the model before the training. Of epochs where they are whole and begin with 0, as
        trainers number the epoch that they are in. Of steps where they end equal intervals, as 49, 99, 149 do.
    """
    training = {metric: some for metric, some in numbers.items() if not metric.startswith("test")}
    judged = [*(training or numbers).values()]
    if unit == "epochs":
        return all(min(some) == 0 and all(number.is_integer() for number in some) for some in judged)
    histories = [[int(number) for number in some] for some in judged if len(some) > 1]
    return unit == "steps" and bool(histories) and all(map(_end_intervals_from_0, histories))


def _end_intervals_from_0(steps: Sequence[int]) -> bool:
    """Whether steps are ``n k - 1`` for whole ``k``, where ``n`` is the longest interval that parts them, over 1."""
    interval = math.gcd(*(later - earlier for earlier, later in itertools.pairwise(steps)))
    # The others lie whole intervals behind the first.
    return interval > 1 and (steps[0] + 1) % interval == 0
