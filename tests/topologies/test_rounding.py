"""Numbers that differ by rounding only, and those that differ by more."""

import math

import pytest

from topologies.rounding import ROUNDING, exceeds


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e15])
def test_a_sum_in_another_order_is_no_larger_and_a_millionth_is(scale):
    terms = [scale * k / 7 for k in range(1, 5000)]
    forward, exact = sum(terms), math.fsum(terms)

    assert not exceeds(forward, exact)
    assert not exceeds(exact, forward)
    assert exceeds(forward * (1 + 1e-6), exact)
    assert not exceeds(exact, forward * (1 + 1e-6))


@pytest.mark.parametrize(("parts", "larger"), [(0.99, False), (1.01, True)])
def test_the_limit_is_that_of_isclose(parts, larger):
    value = 1 + parts * ROUNDING

    assert exceeds(value, 1) == larger
    assert math.isclose(value, 1) != larger


def test_zeros_and_what_never_ends():
    assert not exceeds(0.0, 0.0)
    assert exceeds(5e-324, 0.0)
    assert exceeds(math.inf, 1e300)
    assert not exceeds(math.inf, math.inf)
