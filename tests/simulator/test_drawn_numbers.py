"""Random numbers of the simulator, drawn here anew from the streams that its documentation names."""

import numpy as np
import pytest

from simulator import Exponential, Lognormal
from simulator.random_compute_times import Empirical
from simulator.world.background import OnOffFlow, on_off_changes


def drawn(seed, name, *keys):
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int.from_bytes(name), *keys)))


def normal(rng, silo):
    # A cv of sqrt(e - 1) has a standard deviation of the logarithm of 1.
    return (1.0 + silo) * np.exp(rng.standard_normal(1024) - 0.5)


@pytest.mark.parametrize(
    ("times", "sample"),
    [
        (Lognormal(mean_s=[1.0, 2.0], cv=float(np.sqrt(np.e - 1)), seed=4), normal),
        (
            Exponential(mean_s=[1.0, 2.0], seed=4),
            lambda rng, silo: (1.0 + silo) * rng.standard_exponential(1024),
        ),
        (
            Empirical(samples_s=[3.0, 5.0, 8.0], silos=2, seed=4),
            lambda rng, _silo: np.array([3.0, 5.0, 8.0])[rng.integers(3, size=1024)],
        ),
    ],
)
def test_computing_times_by_blocks_of_1024_rounds(times, sample):
    blocks = [[sample(drawn(4, b"compute", silo, block), silo) for silo in range(2)] for block in range(3)]
    rows_s = np.concatenate([np.array(block).T for block in blocks])

    for first, count in (
        (0, 1),
        (0, 1024),
        (1023, 1),
        (1023, 2),
        (1024, 1),
        (1024, 1024),
        (1000, 1049),
        (0, 3072),
    ):
        np.testing.assert_allclose(times.rows(first, count), rows_s[first : first + count], rtol=1e-14)


def test_flows_of_others_are_on_and_off_for_exponential_times():
    flow = OnOffFlow(peak_bps=3.0, mean_on_s=2.0, mean_off_s=6.0, seed=5)
    begun = []
    for link in range(20):
        rng, date_s = drawn(5, b"background", link), 0.0
        is_on = rng.random() < 2.0 / 8.0
        begun.append(is_on)
        expected = [(0.0, 3.0)] if is_on else []
        for _ in range(5):
            date_s += rng.exponential(2.0 if is_on else 6.0)
            is_on = not is_on
            expected.append((date_s, 3.0 if is_on else 0.0))
        changes = on_off_changes(flow, link)
        assert [(one.date_s, one.peak_bps) for one, _ in zip(changes, expected, strict=False)] == expected

    assert 0 < sum(begun) < 10
