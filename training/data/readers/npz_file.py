"""Arrays in a file of NumPy's."""

import warnings
from dataclasses import dataclass

import numpy as np

from topologies.errors import InputError
from training.data.arrays import AnyArray, Samples, dataset_of
from training.data.datasets import DataOptions, Dataset
from training.data.readers.files import data_file
from training.data.readers.whole import WholeReader

SPLIT, WHOLE = ("x_train", "y_train", "x_test", "y_test"), ("x", "y")
GROUPS = "groups"


@dataclass(frozen=True, kw_only=True)
class NpzFile(WholeReader):
    """Arrays ``x_train``, ``y_train``, ``x_test`` and ``y_test``, or ``x`` and ``y``; maybe ``groups`` for training."""

    def read(self, options: DataOptions) -> Dataset:
        """Return the data; `training.data.arrays.dataset_of` says in which types."""
        path = data_file("npz_file", options)
        try:
            with (
                warnings.catch_warnings(),
                path.open("rb") as file,
                np.load(file, allow_pickle=False) as stored,
            ):
                # On files that Python 2 wrote NumPy gives advice, and reads them.
                warnings.filterwarnings("ignore", message="Reading `.npy`")
                arrays: dict[str, AnyArray] = dict(stored)
        except Exception as error:  # on arbitrary bytes numpy and zipfile raise whatever they come across
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"must be a file of arrays, as numpy.savez writes it: {said}.",
                source=str(path),
            ) from None
        names = SPLIT if SPLIT[0] in arrays or SPLIT[1] in arrays else WHOLE
        missing = [name for name in names if name not in arrays]
        if missing:
            raise InputError(
                f"must hold the arrays {', '.join(names)}; {missing[0]} is not among {', '.join(arrays) or 'none'}.",
                source=str(path),
            )
        train = Samples(inputs=[arrays[names[0]]], labels=arrays[names[1]], groups=arrays.get(GROUPS))
        test = Samples(inputs=[arrays[names[2]]], labels=arrays[names[3]]) if names is SPLIT else None
        return dataset_of(train, test, source=str(path))
