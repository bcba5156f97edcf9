"""Data sets by name, each split into training data and a held-out test set."""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import BoolArray, IntArray
from training.registry import lookup


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Dataset:
    """A labelled data set.

    Parameters
    ----------
    train_inputs, test_inputs : float32 array, shape (samples, channels, height, width)
        Images with pixels in [0, 1].
    train_labels, test_labels : IntArray, shape (samples,)
        Classes, ``0 .. classes - 1``.
    classes : int
        Number of classes.
    """

    train_inputs: NDArray[np.float32]
    train_labels: IntArray
    test_inputs: NDArray[np.float32]
    test_labels: IntArray
    classes: int


def held_out(labels: IntArray, *, every: int = 5) -> BoolArray:
    """Mark the test samples: every fifth sample of each class, in file order.

    Parameters
    ----------
    labels : IntArray, shape (samples,)
        Classes.
    every : int
        One sample in `every` of each class is held out.

    Returns
    -------
    BoolArray, shape (samples,)
        True for test samples.

    Notes
    -----
    No random numbers: the test set is the same for every seed, so accuracies of different runs compare.
    """
    mask = np.zeros(labels.size, dtype=np.bool_)
    for label in np.unique(labels):
        mask[np.flatnonzero(labels == label)[every - 1 :: every]] = True
    return mask


def digits() -> Dataset:
    """Return the 1,797 handwritten digits of UCI: 8 x 8 pixels, 10 classes.

    Returns
    -------
    Dataset
        Pixels 0 to 16 are divided by 16. 1,442 samples train, 355 are held out (`held_out`).

    References
    ----------
    E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998,
    doi:10.24432/C50P49, CC BY 4.0 (see ``data/ATTRIBUTION.md``).
    """
    packed = files("training").joinpath("data", "digits.csv.gz").read_bytes()
    rows = np.loadtxt(BytesIO(gzip.decompress(packed)), delimiter=",", dtype=np.int64)
    inputs = (rows[:, :64] / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    labels = rows[:, 64]
    test = held_out(labels)
    return Dataset(
        train_inputs=inputs[~test],
        train_labels=labels[~test],
        test_inputs=inputs[test],
        test_labels=labels[test],
        classes=10,
    )


DATASETS: Mapping[str, Callable[[], Dataset]] = {"digits": digits}


def load_dataset(name: str) -> Dataset:
    """Return a data set by name; InputError if there is none."""
    return lookup(DATASETS, name, field="dataset")()
