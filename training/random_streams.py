"""Independent random streams, named by what they are for."""

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a random stream is drawn for; a new purpose gets a new number, old ones keep theirs."""

    PARTITION = 0
    INITIAL_MODEL = 1
    BATCHES = 2


def stream(seed: int, purpose: Purpose, *keys: int) -> np.random.Generator:
    """Return the generator of one purpose, independent of every other one.

    Parameters
    ----------
    seed : int
        The run's seed, >= 0.
    purpose : Purpose
        What the numbers are for.
    *keys : int
        Further coordinates, for instance the silo and the epoch.

    Returns
    -------
    numpy.random.Generator
        The same one for the same arguments, whatever was drawn elsewhere: this is what makes results independent
        of the number of ranks.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose), *keys)))
