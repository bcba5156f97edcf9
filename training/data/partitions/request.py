"""Input of a partition, and functions that all partitions share."""

from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SplitRequest:
    """Training samples and silos; each partition reads what it needs.

    Parameters
    ----------
    labels : IntArray, shape (samples,) or (samples, length)
        Classes of the samples, or of each position of sequences.
    silos : int
        Number of silos, at least 1 and at most the number of samples.
    alpha : float
        Concentration of ``dirichlet``, > 0.
    groups : IntArray, shape (samples,), optional
        Writer, role or account of each sample.
    places : FloatArray, shape (samples, 2), optional
        Latitude and longitude of each sample in degrees; NaN where unknown.
    silo_places : FloatArray, shape (silos, 2), optional
        Latitude and longitude of each silo in degrees.
    """

    labels: IntArray
    silos: int
    alpha: float
    groups: IntArray | None = None
    places: FloatArray | None = None
    silo_places: FloatArray | None = None


def too_many_silos(silos: int, most: int, of: str) -> InputError:
    """Error for more silos than there are samples or groups."""
    fewer = "a smaller network, or some of its routers (silo_at, --silo-at), takes fewer"
    return InputError(f"silos(={silos}) must be <= {most}, the number of {of}; {fewer}.")


def shares_of(owner: IntArray, silos: int) -> list[IntArray]:
    """Return for each silo the ascending indices of the samples that it owns.

    Parameters
    ----------
    owner : IntArray, shape (samples,)
        The silo of each sample.

    Returns
    -------
    list of IntArray
        One per silo; O(samples * log(samples)).
    """
    order = np.argsort(owner, kind="stable")
    return np.split(order, np.cumsum(np.bincount(owner, minlength=silos))[:-1])


def without_empty_silos(owner: IntArray, silos: int, rng: np.random.Generator) -> IntArray:
    """Give each silo without samples one sample of the silo that has most.

    Parameters
    ----------
    owner : IntArray, shape (samples,)
        The silo of each sample; at least as many samples as silos.

    Returns
    -------
    IntArray, shape (samples,)
        The silo of each sample, where every silo has one.

    Notes
    -----
    Drawing a whole split again until no silo is empty may never end. Instead each empty silo, in index order, receives
    one random sample of the silo that has most at that moment (lowest index among equals); all others are unchanged.
    """
    filled = owner.copy()
    sizes = np.bincount(filled, minlength=silos)
    for empty in np.flatnonzero(sizes == 0):
        giver = int(np.argmax(sizes))
        filled[rng.choice(np.flatnonzero(filled == giver))] = empty
        sizes[giver] -= 1
        sizes[empty] = 1
    return filled
