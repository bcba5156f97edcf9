"""Independent random streams, one for each purpose."""

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """Purpose of a random stream; numbers never change, a new purpose gets a new one."""

    PARTITION = 0
    INITIAL_MODEL = 1
    BATCHES = 2
    EVALUATED_TRAINING = 3
    EVALUATED_TEST = 4
    PASSES = 5
    COMPRESSION = 6


def stream(seed: int, purpose: Purpose, *keys: int) -> np.random.Generator:
    """Return the generator of one purpose, independent of every other one.

    Parameters
    ----------
    *keys : int
        Further coordinates, such as the silo and the epoch.

    Returns
    -------
    numpy.random.Generator
        The same one for the same arguments, whatever was drawn elsewhere: so results do not depend on the number of
        ranks.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose), *keys)))
