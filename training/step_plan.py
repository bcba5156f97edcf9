"""How many local steps each silo makes in each round."""

from dataclasses import dataclass, field

import numpy as np

from topologies.arrays import BoolArray, IntArray
from topologies.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StepPlan:
    """Local steps by silo, of the rounds in which silos compute.

    Parameters
    ----------
    local_steps : IntArray, shape (silos,)
        Steps of a round in which the silo takes part, each >= 1.
    taking_part : BoolArray, shape (rounds, silos), optional
        Which silos take part; all without it. The others make no step, and mix what they have.

    Raises
    ------
    InputError
        If a number or a shape breaks its rule.

    Notes
    -----
    Rounds are numbered by those in which silos compute. Memory: 4 bytes a round and silo with `taking_part`.
    """

    local_steps: IntArray
    taking_part: BoolArray | None = None
    _before: IntArray | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        steps = np.asarray(self.local_steps)
        if steps.ndim != 1 or not np.issubdtype(steps.dtype, np.integer) or steps.min(initial=1) < 1:
            raise InputError(
                f"local_steps(={self.local_steps!r:.60}) must be whole numbers >= 1, one for each silo."
            )
        object.__setattr__(self, "local_steps", steps.astype(np.int64))
        if self.taking_part is None:
            return
        taking_part = np.asarray(self.taking_part)
        if taking_part.dtype != np.bool_ or taking_part.shape[1:] != steps.shape:
            raise InputError(
                f"taking_part(shape={taking_part.shape}, {taking_part.dtype}) must hold one bool for each round and "
                f"each of {len(steps)} silos."
            )
        before = np.zeros((len(taking_part) + 1, len(steps)), dtype=np.int32)
        np.cumsum(taking_part, axis=0, out=before[1:])
        object.__setattr__(self, "taking_part", taking_part)
        object.__setattr__(self, "_before", before)

    @property
    def is_even(self) -> bool:
        """Whether all silos make the same steps in all rounds."""
        return self.taking_part is None and bool((self.local_steps == self.local_steps[:1]).all())

    def of_round(self, number: int) -> IntArray:
        """Return the local steps of each silo in a round, shape (silos,)."""
        return self.local_steps if self.taking_part is None else self.local_steps * self.taking_part[number]

    def before(self, number: int) -> IntArray:
        """Return the local steps that each silo makes before a round, shape (silos,)."""
        rounds = number if self._before is None else self._before[number]
        return np.asarray(self.local_steps * rounds)
