import math

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from training.engine.exact_sums import exact_sums


def spread(seed, rows, columns):
    """Numbers of both signs from 2^-60 to 2^8, with all bits of a float32."""
    random = np.random.default_rng(seed)
    values = random.standard_normal((rows, columns)) * 2.0 ** random.integers(-60, 8, (rows, columns))
    return torch.from_numpy(values.astype(np.float32))


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 50))
def test_any_grouping_and_order_gives_the_same_bits(seed, rows, columns):
    terms = spread(seed, rows, columns)
    whole = exact_sums(terms)
    random = np.random.default_rng(seed)
    order = torch.from_numpy(random.permutation(rows))
    cut = int(random.integers(rows + 1))
    first, second = exact_sums(terms[order[:cut]]), exact_sums(terms[order[cut:]])
    assert torch.equal(first + second, whole)


def test_it_is_the_sum_to_the_last_bit_of_a_float64():
    terms = spread(0, 64, 1000)
    sums = exact_sums(terms).sum(dim=0)
    for column in range(1000):
        exact = math.fsum(terms[:, column].tolist())
        assert abs(float(sums[column]) - exact) <= max(2.0**-52 * abs(exact), 64 * 2.0**-65)


def test_plain_float64_sums_of_these_numbers_do_depend_on_the_order():
    terms = spread(1, 64, 10_000).double()
    assert not torch.equal(terms.sum(dim=0), terms.flip(0).cumsum(dim=0)[-1])


def test_large_and_infinite_terms():
    assert exact_sums(torch.tensor([[1e30], [1e30]])).sum() == 2 * float(np.float32(1e30))
    assert not torch.isfinite(exact_sums(torch.tensor([[math.inf], [1.0]])).sum())
    assert exact_sums(torch.zeros(0, 3)).tolist() == [[0.0] * 3] * 2


def test_the_parts_are_multiples_of_their_steps():
    """Three eighths of a step are rounded off, five eighths up; what the first part lacks is in the second."""
    for eighths, coarse in ((3, 0), (5, 2.0**-24)):
        assert exact_sums(torch.tensor([[eighths * 2.0**-27]])).tolist() == [
            [coarse],
            [eighths * 2.0**-27 - coarse],
        ]
    for eighths, fine in ((3, 0), (5, 2.0**-64)):
        assert exact_sums(torch.tensor([[eighths * 2.0**-67]])).tolist() == [[0], [fine]]
