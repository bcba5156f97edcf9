import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.data.batches import BatchStream


@given(
    size=st.integers(1, 50),
    batch_size=st.integers(1, 40),
    seed=st.integers(0, 2**64),
    silo=st.integers(0, 300),
)
def test_every_epoch_holds_every_sample_once(size, batch_size, seed, silo):
    stream = BatchStream(size=size, batch_size=batch_size, seed=seed, silo=silo)
    steps = -(-3 * size // batch_size)
    order = np.concatenate([stream.batch(step) for step in range(steps)])[: 3 * size]
    for epoch in order.reshape(3, size):
        np.testing.assert_array_equal(np.sort(epoch), np.arange(size))


def test_a_batch_depends_on_seed_silo_and_step_alone():
    def make() -> BatchStream:
        return BatchStream(size=37, batch_size=16, seed=5, silo=11)

    in_order = make()
    batches = [in_order.batch(step) for step in range(20)]
    for step in (13, 2, 19, 0):
        np.testing.assert_array_equal(make().batch(step), batches[step])
        np.testing.assert_array_equal(in_order.batch(step), batches[step])


def test_silos_and_seeds_read_in_different_orders():
    orders = {
        tuple(BatchStream(size=30, batch_size=30, seed=seed, silo=silo).batch(0))
        for seed in range(5)
        for silo in range(5)
    }
    assert len(orders) == 25


def test_a_silo_with_one_sample_repeats_it():
    np.testing.assert_array_equal(BatchStream(size=1, batch_size=4, seed=0, silo=0).batch(9), np.zeros(4))


def test_the_order_of_a_seed_is_the_recorded_one():
    """A new release must read the samples of old runs in their order."""
    stream = BatchStream(size=8, batch_size=8, seed=5, silo=11)
    assert stream.batch(0).tolist() == [5, 7, 3, 6, 1, 4, 0, 2]
    assert stream.batch(1).tolist() == [4, 7, 5, 6, 2, 0, 3, 1]
