"""Windows from measured pairs: known ones come back, links are no windows, and the clouds have two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError, load_underlay
from topologies.measured_pairs import MeasuredPairs
from topologies.networks.window_fit import WindowFit, fit_windows


def measured(window_bits, link_bps, latency_s):
    """Pairs that a link or the receiver's window limits, whichever is slower."""
    trip_s = latency_s + latency_s.T
    rate = np.minimum(link_bps, window_bits / np.where(trip_s > 0, trip_s, 1.0))
    np.fill_diagonal(rate, 0.0)
    return MeasuredPairs(bandwidth_bps=rate, latency_s=latency_s)


@given(st.integers(0, 2**32 - 1))
def test_windows_of_receivers_come_back_and_so_do_the_pairs_that_they_limit(seed):
    rng = np.random.default_rng(seed)
    latency_s = rng.uniform(0.001, 0.2, (8, 8))
    latency_s = (latency_s + latency_s.T) / 2
    np.fill_diagonal(latency_s, 0.0)
    window = rng.uniform(1e6, 2e7, 8)
    fit = fit_windows(measured(window, np.inf, latency_s), far_s=0.1, streams=1)
    many = fit.far_pairs >= 3

    np.testing.assert_allclose(fit.window_bits[many], window[many], rtol=1e-12)
    assert np.isnan(fit.window_bits[~many]).all()
    np.testing.assert_allclose(fit.high_bits[many], fit.low_bits[many], rtol=1e-12)


def test_a_link_is_no_window():
    """At one rate whatever the distance, the product grows with the round-trip time."""
    latency_s = np.linspace(0.05, 0.4, 9).reshape(1, -1)
    latency_s = np.abs(latency_s - latency_s.T)
    fit = fit_windows(measured(np.full(9, np.inf), 1e8, latency_s), far_s=0.1, streams=1)

    assert not fit.is_constant.any()
    assert not fit.limited.any()
    assert fit.sizes() == []


def test_near_pairs_are_limited_by_what_is_slower():
    """Of 4 sites at 10 ms and 4 more at 200 ms: 1 MB in 20 ms is 400 Mbps, above the link's 100 Mbps."""
    place = np.array([0.0, 0.005, 0.01, 0.015, 0.2, 0.205, 0.21, 0.215])
    latency_s = np.abs(place[:, np.newaxis] - place)
    fit = fit_windows(measured(np.full(8, 8e6), 1e8, latency_s), far_s=0.1, streams=1)
    near = (latency_s < 0.02) & (latency_s > 0)

    np.testing.assert_allclose(fit.window_bits, 8e6, rtol=1e-12)
    assert not fit.limited[near].any()
    assert [part.tolist() for part in fit.sizes()] == [list(range(8))]


def test_streams_share_what_was_measured():
    one, four = (
        fit_windows(load_underlay("clouds_aws").measured, far_s=0.1, streams=streams) for streams in (1, 4)
    )

    np.testing.assert_allclose(four.window_bits * 4, one.window_bits, rtol=1e-12)


def test_the_clouds_have_two_windows():
    """0.83 MB towards AWS and 2.6 MB towards GCP, 10th to 90th percentiles 0.80 to 0.86 and 2.4 to 2.9."""
    underlay = load_underlay("clouds")
    fit = fit_windows(underlay.measured, far_s=0.1, streams=1)
    small, large = fit.sizes()

    assert {underlay.labels[site][:3] for site in small.tolist()} == {"aws"}
    assert {underlay.labels[site][:3] for site in large.tolist()} == {"gcp"}
    assert np.median(fit.window_bits[small]) / 8e6 == pytest.approx(0.83, rel=0.03)
    assert np.median(fit.window_bits[large]) / 8e6 == pytest.approx(2.6, rel=0.05)
    assert fit.is_constant.all()
    # Most pairs, of near ones some: their links are slower than their windows.
    assert 0.7 < fit.limited.sum() / len(underlay.measured.pairs) < 0.95


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"far_s": 0.0}, "far_s(=0.0): must be finite and > 0."),
        ({"far_s": np.nan}, "far_s(=nan): must be finite and > 0."),
        ({"streams": 0}, "streams(=0): must be >= 1."),
    ],
)
def test_bad_values_are_refused(options, said):
    with pytest.raises(InputError) as raised:
        fit_windows(load_underlay("clouds_aws").measured, **{"far_s": 0.1, "streams": 1} | options)
    assert said.replace("): ", ") ") in str(raised.value).replace("): ", ") ")


def test_no_site_is_far_enough():
    fit = fit_windows(load_underlay("clouds_aws").measured, far_s=10.0, streams=1)

    assert np.isnan(fit.window_bits).all()
    assert not fit.limited.any()


def one_receiver(products, trips_s, near=()):
    """Pairs of site 0 with others: products of rate and round-trip time towards it, and these times; others are free.

    Of ``near`` each has a product and a time, too.
    """
    products, trips_s = (
        np.array([*products, *(p for p, _ in near)]),
        np.array([*trips_s, *(t for _, t in near)]),
    )
    rate, latency_s = np.zeros((2, len(trips_s) + 1, len(trips_s) + 1))
    latency_s[0, 1:] = latency_s[1:, 0] = trips_s / 2
    rate[1:, 0], rate[0, 1:] = products / trips_s, 1.0
    return MeasuredPairs(bandwidth_bps=rate, latency_s=latency_s)


FAR_S = [0.125, 0.125, 0.25, 0.5, 0.5]
"""Powers of two, so that products are exact; their 10th and 90th percentiles are the ends: the root of 4 is 2."""
LESS_S = [0.125, 0.125, 0.125, 0.1953125, 0.1953125]
"""The root of the ratio of the ends is 1.25."""


@pytest.mark.parametrize(
    ("products", "trips_s", "constant"),
    [
        ([8.0, 8, 10, 12, 12], FAR_S, True),  # 1.5 is constant
        ([8.0, 8, 10, 12.125, 12.125], FAR_S, False),
        ([8.0, 8, 9, 10, 10], LESS_S, True),  # as uneven as the root of the times
        ([8.0, 8, 9, 10.125, 10.125], LESS_S, False),
    ],
)
def test_how_uneven_a_window_may_be(products, trips_s, constant):
    fit = fit_windows(one_receiver(products, trips_s), far_s=0.125, streams=1)

    assert (fit.low_bits[0], fit.window_bits[0], fit.high_bits[0]) == (8, products[2], products[-1])
    assert (fit.is_constant[0], fit.limited[1:, 0].all(), fit.limited.any()) == (constant,) * 3


def test_percentiles_and_what_a_window_limits():
    """Of 6 products from 20 by 1 the 10th percentile is 20.5 and the 90th 24.5; no senders are far from each other."""
    near = [(20.5, 0.0625), (20.25, 0.0625)]
    fit = fit_windows(
        one_receiver(np.arange(20.0, 26), [0.125] * 3 + [0.5] * 3, near), far_s=0.125, streams=1
    )

    assert (fit.low_bits[0], fit.window_bits[0], fit.high_bits[0]) == pytest.approx(
        (20.5, 22.5, 24.5), rel=1e-12
    )
    assert fit.far_pairs.tolist() == [6, 1, 1, 1, 1, 1, 1, 0, 0]
    # From the 10th percentile on, of near pairs, too.
    assert fit.limited[:, 0].tolist() == [False, False, True, True, True, True, True, True, False]
    assert repr(fit) == "<WindowFit: 1 sites with a window, 6 pairs limited>"


def test_three_far_pairs_from_a_tenth_of_a_second_are_enough():
    alone = {
        count: fit_windows(
            one_receiver([8.0] * 4, [0.1] * count + [0.099] * (4 - count)), far_s=0.1, streams=1
        )
        for count in (2, 3)
    }

    assert [fit.far_pairs[0] for fit in alone.values()] == [2, 3]
    assert [np.isnan(fit.window_bits[0]) for fit in alone.values()] == [True, False]


def test_a_pair_that_was_measured_in_one_direction_is_not_far():
    both = one_receiver([8.0] * 4, [0.5] * 4)
    rate = both.bandwidth_bps.copy()
    rate[0, 1] = 0.0

    assert (
        fit_windows(
            MeasuredPairs(bandwidth_bps=rate, latency_s=both.latency_s), far_s=0.1, streams=1
        ).far_pairs[0]
        == 3
    )


def test_windows_are_of_two_sizes_from_a_quarter_more_on():
    window_bits = np.array([10.0, 40.0, 8.0, 12.5, 20.0])
    found = WindowFit(
        window_bits=window_bits,
        low_bits=window_bits,
        high_bits=window_bits,
        far_pairs=np.full(5, 3),
        is_constant=np.array([True, False, True, True, True]),
        limited=np.zeros((5, 5), dtype=bool),
    )

    assert [part.tolist() for part in found.sizes()] == [[2, 0, 3], [4]]
