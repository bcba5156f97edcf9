"""Checks of single numbers; each error names the field, the value and the rule."""

import math

from topologies.errors import InputError


def check_integer(field: str, value: object, *, minimum: int) -> None:
    """Raise InputError unless `value` is an integer of at least `minimum`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{field}(={value!r}) must be an integer.")
    if value < minimum:
        raise InputError(f"{field}(={value}) must be >= {minimum}.")


def check_number(field: str, value: object) -> float:
    """Return `value` as a float; raise InputError unless it is a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise InputError(f"{field}(={value!r}) must be a finite number.")
    return float(value)
