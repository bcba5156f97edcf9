"""Checks of numbers that users give, with one-line errors."""

import math

import numpy as np
from numpy.typing import ArrayLike

from topologies.arrays import FloatArray
from topologies.errors import Field, InputError


def per_silo(field: str, value: ArrayLike, silos: int, *, positive: bool) -> FloatArray:
    """One checked number per silo, from a number for all of them or an array.

    Parameters
    ----------
    field : str
        The name for the error message.
    value : float or array_like, shape (silos,)
    positive : bool
        Whether the rule is ``> 0`` (infinity allowed: no limit) or ``>= 0`` and finite.

    Returns
    -------
    ndarray, shape (silos,)
        A read-only copy.

    Raises
    ------
    InputError
        If the value is of another shape, or breaks the rule.
    """
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field}(={value!r:.60}) must be a number or one number per silo.") from None
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != silos):
        raise InputError(
            f"{field} has shape {numbers.shape}; it must be a number or one for each of {silos} silos."
        )
    bad = ~(numbers > 0) if positive else ~((numbers >= 0) & np.isfinite(numbers))
    if np.any(bad):
        worst = float(np.ravel(numbers)[np.ravel(bad)][0])
        where = "" if numbers.ndim == 0 else f" of silo {int(np.flatnonzero(bad)[0])}"
        rule = "> 0" if positive else "finite and >= 0"
        raise InputError(f"{field}(={worst:g}){where} must be {rule}.")
    full = np.broadcast_to(numbers, (silos,)).copy()
    full.flags.writeable = False
    return full


def check_integer(field: str, value: object, *, minimum: int) -> None:
    """Raise InputError unless `value` is an integer of at least `minimum`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{field}(={value!r}) must be an integer.")
    if value < minimum:
        raise InputError(f"{field}(={value}) must be >= {minimum}.")


def check_number(field: str, value: object) -> float:
    """Return `value` as a float; raise InputError unless it is a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise InputError("must be a finite number.", field=Field(field, value=value))
    return float(value)
