"""The handwritten digits that come with the package."""

import gzip
from functools import cache
from importlib.resources import files
from io import BytesIO

import numpy as np

from topologies.arrays import IntArray
from training.data.datasets import DataOptions, Dataset, held_out


def digits(_options: DataOptions) -> Dataset:
    """Return the 1,797 handwritten digits of UCI: 8 x 8 pixels, 10 classes.

    Parameters
    ----------
    _options : DataOptions
        Unused: the data come with the package.

    Returns
    -------
    Dataset
        Pixels 0 to 16 are divided by 16. 1,442 samples train, 355 are held out (`held_out`).

    References
    ----------
    E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998,
    doi:10.24432/C50P49, CC BY 4.0 (see ``data/ATTRIBUTION.md``).
    """
    rows = _rows()
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


@cache
def _rows() -> IntArray:
    """Pixels and label of every sample, shape (1797, 65); of each overlay of a run they are asked for again."""
    packed = files("training").joinpath("data", "digits.csv.gz").read_bytes()
    rows = np.loadtxt(BytesIO(gzip.decompress(packed)), delimiter=",", dtype=np.int64)
    rows.flags.writeable = False
    return rows
