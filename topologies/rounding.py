"""Which numbers differ by more than rounding."""

ROUNDING = 1e-9
"""Relative difference of two results that are one number: sums over thousands of links round to some 1e-12."""


def exceeds(value: float, other: float) -> bool:
    """Whether a value is larger than another, both >= 0, by more than rounding.

    Parameters
    ----------
    value, other : float
        In the same unit.

    Examples
    --------
    >>> exceeds(0.1 + 0.2, 0.3), exceeds(0.3001, 0.3)
    (False, True)
    """
    return value > other * (1 + ROUNDING)
