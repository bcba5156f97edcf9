"""Random streams of a training keep their numbers, on which the results of earlier versions depend."""

import numpy as np

from training.random_streams import Purpose, stream


def test_streams_have_the_numbers_that_they_always_had():
    assert {purpose.name: purpose.value for purpose in Purpose} == {
        "PARTITION": 0,
        "INITIAL_MODEL": 1,
        "BATCHES": 2,
        "EVALUATED_TRAINING": 3,
        "EVALUATED_TEST": 4,
        "PASSES": 5,
        "COMPRESSION": 6,
    }
    keys = np.random.SeedSequence(7, spawn_key=(2, 3, 4))
    assert (
        stream(7, Purpose.BATCHES, 3, 4).random(5).tolist() == np.random.default_rng(keys).random(5).tolist()
    )
