"""Tolerances that both engines share.

`topologies.jit` looks at this file, too, when it decides whether compiled code of a folder beside it is up to date.
"""

SAME_INSTANT = 1.0 + 1e-13
"""Largest ratio of two dates of one instant.

Two dates of one instant that were computed in different ways differ by some units in the last place (2e-16) per rate
change. A merge that is missed costs one more solution of the rates, a wrong one this fraction of the date.
"""

EQUAL_RATE = 1.0 + 1e-12
"""Largest ratio of two max-min fair rates that are one rate."""

REPEATED_STATE = 1e-12
"""Difference of two states that are one, as a fraction of the time between them or of a message.

Max-min fair rates may let a state converge slowly, or a difference grow: only rounding is taken for a repeat.
"""

DATE_NOISE = 2e-15
"""Rounding of a date in a state, as a fraction of it; comes on top of `REPEATED_STATE`."""

REPEATED_START = 1e-9
"""Difference of round starts that repeat, as a fraction of the period."""
