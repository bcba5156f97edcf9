"""Shared links against theory: exact dates by hand, and processor sharing with random arrivals."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import Exponential, FlowArc, simulate_flows
from topologies.statistics import batch_means

ENGINES = ("simpy", "compiled")
BOTH = pytest.mark.parametrize("engine", ENGINES)


def departures(engine, routes, capacity_bps, bits, sent_s):
    """When the last bit of each message leaves: one message per route, handed over at a given date.

    Silo ``i + 1`` computes until the date, then sends to silo 0, which takes no part in the link sharing.
    """
    sink = [
        FlowArc(source=n, target=0, latency_s=0.0, links=tuple(route)) for n, route in enumerate(routes, 1)
    ]
    back = [FlowArc(source=0, target=arc.source, latency_s=0.0, links=()) for arc in sink]
    timeline = simulate_flows(
        sink + back,
        link_capacity_bps=capacity_bps,
        message_bits=np.concatenate((np.broadcast_to(bits, len(sink)), np.zeros(len(back)))),
        compute_s=np.concatenate(([0.0], np.broadcast_to(sent_s, len(sink)))),
        rounds=1,
        engine=engine,
    )
    return timeline.arrival_s[0, : len(sink)]


@BOTH
@given(
    flows=st.integers(1, 200),
    bits=st.floats(1.0, 1e12),
    capacity=st.floats(1e3, 1e12),
    sent_s=st.just(0.0) | st.floats(1e-6, 10),
)
def test_equal_messages_on_one_link_end_together(engine, flows, bits, capacity, sent_s):
    ends = departures(engine, [[0]] * flows, [capacity], bits, sent_s)
    np.testing.assert_allclose(ends, sent_s + flows * bits / capacity, rtol=1e-12)


@BOTH
@given(flows=st.integers(1, 60), bits=st.lists(st.integers(1, 10**9), min_size=60, max_size=60))
def test_unequal_messages_on_one_link_end_from_the_smallest_to_the_largest(engine, flows, bits):
    """While n messages are left, each bit of the next to end costs n bits of the link."""
    bits = np.sort(bits[:flows])
    expected = np.cumsum(np.diff(bits, prepend=0) * np.arange(flows, 0, -1)) / 1e6
    ends = departures(engine, [[0]] * flows, [1e6], bits, 0.0)
    np.testing.assert_allclose(ends, expected, rtol=1e-12)


@BOTH
@given(
    wide=st.integers(1, 12),
    narrow=st.integers(1, 12),
    capacity=st.tuples(st.floats(1.0, 1e3), st.floats(1.0, 1e3)),
    bits=st.tuples(st.floats(1.0, 1e3), st.floats(1.0, 1e3)),
)
def test_two_classes_of_messages_end_at_the_dates_of_their_max_min_rates(
    engine, wide, narrow, capacity, bits
):
    """All cross link 0, and the narrow class also crosses link 1."""
    ends = departures(
        engine, [[0]] * wide + [[0, 1]] * narrow, capacity, np.repeat(bits, (wide, narrow)), 0.0
    )

    narrow_bps = min(capacity[0] / (wide + narrow), capacity[1] / narrow)
    wide_bps = (capacity[0] - narrow * narrow_bps) / wide
    first_s = min(bits[0] / wide_bps, bits[1] / narrow_bps)
    wide_left, narrow_left = bits[0] - first_s * wide_bps, bits[1] - first_s * narrow_bps
    alone_bps = (capacity[0] / wide, min(capacity[0], capacity[1]) / narrow)
    expected = (first_s + wide_left / alone_bps[0], first_s + narrow_left / alone_bps[1])
    np.testing.assert_allclose(ends, np.repeat(expected, (wide, narrow)), rtol=1e-12)


@BOTH
def test_two_classes_by_hand(engine):
    # Narrow: 2 bit/s / 2 = 1 bit/s each, 8 s. Wide: (10 - 2) / 4 = 2 bit/s each, 4 s.
    ends = departures(engine, [[0]] * 4 + [[0, 1]] * 2, [10.0, 2.0], 8.0, 0.0)
    assert ends.tolist() == [4.0] * 4 + [8.0] * 2


@BOTH
def test_processor_sharing_by_hand(engine):
    # On 1 bit/s: A has 3 bits left when B comes at 1, A 2 and B 1 when C comes at 3; B ends at 6, A and C at 8.
    ends = departures(engine, [[0]] * 3, [1.0], [4.0, 2.0, 2.0], [0.0, 1.0, 3.0])
    np.testing.assert_allclose(ends, [8.0, 6.0, 8.0], rtol=1e-15)


SIZES = {
    "constant": lambda _, count: np.ones(count),
    "exponential": lambda rng, count: rng.exponential(1.0, count),
    "two values": lambda rng, count: rng.choice([0.5, 5.5], count, p=[0.9, 0.1]),
}
"""Sizes of messages with mean 1."""


# Both engines give the same dates, which other tests show: the slow one serves one distribution.
@pytest.fixture(scope="module", params=[*product(SIZES, ["compiled"]), ("two values", "simpy")], ids=" ".join)
def queue(request):
    """Poisson arrivals on one link of 1 bit/s at load 0.4: sizes, and what each message spends on the link."""
    sizes, engine = request.param
    rng = np.random.default_rng(1)
    count, load = 20_000, 0.4
    sent_s = np.cumsum(rng.exponential(1 / load, count))
    bits = SIZES[sizes](rng, count)
    sojourn_s = departures(engine, [[0]] * count, [1.0], bits, sent_s) - sent_s
    warm = slice(1_000, None)
    return bits[warm], sojourn_s[warm], load


@pytest.mark.slow
def test_random_arrivals_spend_the_mean_time_of_processor_sharing(queue):
    """1 / (mu - lambda), whatever the sizes' distribution (Kleinrock 1976, section 4.4)."""
    _, sojourn_s, load = queue
    interval = batch_means(sojourn_s, confidence=0.99)
    assert interval.low <= 1 / (1 - load) <= interval.high
    assert interval.half_width < 0.05 / (1 - load)


@pytest.mark.slow
def test_a_message_is_slowed_down_by_the_load_whatever_its_size(queue):
    """A message of x bits spends x / (1 - load) seconds on a link of 1 bit/s on average."""
    bits, sojourn_s, load = queue
    assert (bits - sojourn_s).max() < 1e-8  # dates reach 50,000 s
    interval = batch_means(sojourn_s / bits, confidence=0.99)
    assert interval.low <= 1 / (1 - load) <= interval.high
    assert interval.half_width < 0.05 / (1 - load)


@BOTH
def test_silos_that_all_wait_for_each_other_take_the_longest_of_their_random_times(engine):
    """The maximum of n exponential times of mean 1 is 1 + 1/2 + ... + 1/n on average."""
    silos, rounds = 5, 10_000
    arcs = [
        FlowArc(source=i, target=j, latency_s=0.0, links=())
        for i in range(silos)
        for j in range(silos)
        if i != j
    ]
    timeline = simulate_flows(
        arcs,
        link_capacity_bps=[],
        message_bits=0.0,
        compute=Exponential(mean_s=np.ones(silos), seed=1),
        rounds=rounds,
        engine=engine,
    )
    interval = batch_means(np.diff(timeline.round_start_s[:, 0]), confidence=0.99)
    expected = sum(1 / n for n in range(1, silos + 1))
    assert interval.low <= expected <= interval.high
    assert interval.half_width < 0.02 * expected
