"""Data that a user's callable returns: arrays, or torch data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.data.arrays import Samples, dataset_of
from training.data.datasets import DataOptions, Dataset
from training.data.readers.whole import WholeReader
from training.own_code import call_with, own_code, refused

AnyArray = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class OwnData(WholeReader):
    """The data of ``module:callable``, which gets the scenario's `dataset_options`, and `data` if it is stated.

    Parameters
    ----------
    name : str
        The callable. It returns (training data, test data), or a `Dataset`. Each of the two is ``(x, y)`` or
        ``(x, y, groups)`` of arrays or tensors, where ``x`` is a tuple for several inputs, or a torch data set whose
        samples are ``(x, y)`` or ``(x1, x2, y)``; its attribute `groups`, if it has one, holds their groups.

    Notes
    -----
    A torch data set is read once, sample by sample, and its samples are kept: what it draws at random is drawn once.
    """

    name: str

    def read(self, options: DataOptions) -> Dataset:
        """Call the callable and return its data; InputError if they are none, TrainingError if it fails."""
        with own_code(dataset=self.name):
            given = {**({"data": options.data} if options.data else {}), **options.declared}
            found = call_with(self.name, field="dataset", given=given)
            if isinstance(found, Dataset):
                return found
            if not (isinstance(found, tuple | list) and len(found) == 2):
                raise self._refused(f"must return (training data, test data), not {_what(found)}")
            train, test = (self._samples(part) for part in found)
        return dataset_of(train, test, source=self.name)

    def _samples(self, part: Any) -> Samples:
        """One of the two as arrays."""
        if isinstance(part, tuple | list):
            if len(part) not in (2, 3):
                raise self._refused(
                    f"must return (x, y) or (x, y, groups) of arrays, not {_what(part)}: data need labels"
                )
            x, y, *groups = part
            inputs = x if isinstance(x, tuple) else (x,)
            return Samples(
                inputs=[self._array(each) for each in inputs],
                labels=self._array(y),
                groups=self._array(groups[0]) if groups else None,
            )
        if not (hasattr(part, "__len__") and hasattr(part, "__getitem__")) or isinstance(
            part, np.ndarray | dict
        ):
            raise self._refused(
                f"must return (x, y) of arrays or a torch Dataset of (x, y), with a length, not {_what(part)}: "
                "data need labels"
            )
        return self._items(part)

    def _items(self, part: Any) -> Samples:
        """The samples of a torch data set."""
        items = [part[index] for index in range(len(part))]
        if not items or not all(isinstance(item, tuple | list) and len(item) > 1 for item in items):
            raise self._refused("must return data sets whose samples are (x, y): data need labels")
        rows = [_flat(item) for item in items]
        numbers = list(dict.fromkeys(len(row) - 1 for row in rows))
        if len(numbers) > 1:
            raise self._refused(
                f"must return samples with the same number of inputs, not {numbers[0]} and {numbers[1]}"
            )
        columns = list(zip(*rows, strict=True))
        groups = getattr(part, "groups", None)
        return Samples(
            inputs=[self._stacked(column) for column in columns[:-1]],
            labels=self._stacked(columns[-1]),
            groups=None if groups is None else self._array(groups),
        )

    def _stacked(self, column: Sequence[Any]) -> AnyArray:
        """One array of all samples' values."""
        arrays = [self._array(value) for value in column]
        if len({each.shape for each in arrays}) > 1:
            raise self._refused("must return samples of one shape")
        return np.stack(arrays)

    def _array(self, values: Any) -> AnyArray:
        """An array, also of a tensor on another device."""
        try:
            return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
        except ValueError:
            raise self._refused("must return arrays whose rows have one length") from None

    def _refused(self, rule: str) -> Exception:
        return refused("dataset", self.name, rule)


def _flat(item: Sequence[Any]) -> list[Any]:
    """Inputs and label of a sample, whose inputs may be a tuple."""
    inputs, label = item[:-1], item[-1]
    if len(inputs) == 1 and isinstance(inputs[0], tuple | list):
        inputs = inputs[0]
    return [*inputs, label]


def _what(found: object) -> str:
    """What something is, for a message."""
    return f"{len(found)} parts" if isinstance(found, tuple | list) else type(found).__name__
