"""A data set made of a user's arrays: types, checks, a held-out test set where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import IntArray
from topologies.errors import InputError
from training.data.datasets import IGNORED, Dataset, InputPart, held_out

AnyArray = NDArray[Any]

LARGEST_PIXEL = np.float32(255)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Samples:
    """Labelled samples as a user has them.

    Parameters
    ----------
    inputs : sequence of array, each of shape (samples, ...)
        One for each input of the model.
    labels : array, shape (samples,) or (samples, length)
        Whole numbers >= 0 (or `IGNORED`), or texts.
    groups : array, shape (samples,), optional
        Whatever tells groups apart.
    """

    inputs: Sequence[AnyArray]
    labels: AnyArray
    groups: AnyArray | None = None


def dataset_of(train: Samples, test: Samples | None, *, source: str) -> Dataset:
    """Return a data set of arrays.

    Parameters
    ----------
    train : Samples
        The training samples, or all.
    test : Samples, optional
        Without them every fifth sample of each class is held out (`held_out`), of sequences every fifth one.
    source : str
        The file or the callable, for messages.

    Returns
    -------
    Dataset
        Inputs of whole numbers in int64, bytes in [0, 1] (divided by 255, as pixels), and all others in float32. Labels
        that are texts are numbered in ascending order; whole numbers stay as they are, and there is one class more than
        the largest of them.

    Raises
    ------
    InputError
        If there are no labels, lengths or shapes do not agree, labels are no classes, or a number is not finite.
    """
    named = [("training", train), *([] if test is None else [("test", test)])]
    names: tuple[str, ...] = ()
    if any(part.labels.dtype.kind in "OUS" for _what, part in named):
        texts = [part.labels.astype(str) for _what, part in named]
        names = tuple(np.unique(np.concatenate([each.ravel() for each in texts])).tolist())
        labels = [np.searchsorted(names, each) for each in texts]
    else:
        labels = [_whole(part.labels, what, source) for what, part in named]
    inputs = [_checked(part, what, source) for what, part in named]
    if test is not None and _shapes(inputs[0]) != _shapes(inputs[1]):
        raise InputError(
            f"test samples of shape {_shapes(inputs[1])} must have that of the training samples, {_shapes(inputs[0])}.",
            source=source,
        )
    groups, group_names = _numbered(train.groups)
    packed = [_packed(each) for each in inputs]
    classes = len(names) or 1 + max(int(each.max(initial=-1)) for each in labels)
    if classes < 1:
        raise InputError("must have labels >= 0.", source=source)
    kept: slice | AnyArray = slice(None)
    if test is None:
        tested = held_out(labels[0]) if labels[0].ndim == 1 else np.arange(len(labels[0])) % 5 == 4
        kept, packed, labels = ~tested, [packed[0], packed[0][tested]], [labels[0], labels[0][tested]]
    parts = inputs[0]
    return Dataset(
        train_inputs=packed[0][kept],
        train_labels=labels[0][kept],
        test_inputs=packed[1],
        test_labels=labels[1],
        classes=classes,
        train_groups=None if groups is None else groups[kept],
        group_names=group_names,
        label_names=names,
        source=source,
        input_parts=()
        if len(parts) == 1
        else tuple(InputPart(dtype=str(each.dtype), shape=each.shape[1:]) for each in parts),
    )


def _shapes(inputs: Sequence[AnyArray]) -> Any:
    """Shape of one sample, or of each of its inputs."""
    return inputs[0].shape[1:] if len(inputs) == 1 else tuple(each.shape[1:] for each in inputs)


def _checked(part: Samples, what: str, source: str) -> list[AnyArray]:
    """The inputs in the types that models read, with the lengths of all arrays checked."""
    for name, array in (
        ("labels", part.labels),
        ("groups", part.groups),
        *(("inputs", x) for x in part.inputs),
    ):
        if array is not None and not array.ndim:
            raise InputError(f"{what} {name} must be an array, is a single value.", source=source)
    count = len(part.labels)
    if not count:
        raise InputError(f"must have {what} samples, not 0.", source=source)
    if not part.inputs:
        raise InputError(f"{what} samples must have an input beside the label.", source=source)
    if part.groups is not None and len(part.groups) != count:
        raise InputError(
            f"groups(of {len(part.groups)}) must be one for each of {count} {what} labels.", source=source
        )
    inputs = []
    for values in part.inputs:
        if len(values) != count:
            raise InputError(
                f"{what} inputs(of {len(values)} samples) must be as many as labels(of {count}).",
                source=source,
            )
        if values.dtype == np.uint8:
            inputs.append(values.astype(np.float32) / LARGEST_PIXEL)
        elif values.dtype.kind in "iub":
            inputs.append(values.astype(np.int64))
        elif values.dtype.kind == "f":
            with np.errstate(over="ignore"):  # infinite, which is refused
                found = values.astype(np.float32)
            wrong = np.flatnonzero(~np.isfinite(found).reshape(count, -1).all(axis=1))
            if wrong.size:
                raise InputError(f"{what} sample {wrong[0]} must hold finite numbers.", source=source)
            inputs.append(found)
        else:
            raise InputError(f"{what} inputs must be numbers, not {values.dtype}.", source=source)
    return inputs


def _whole(labels: AnyArray, what: str, source: str) -> IntArray:
    """Labels as classes."""
    if labels.ndim not in (1, 2):
        raise InputError(
            f"{what} labels(shape={labels.shape}) must have shape (samples,) or (samples, length).",
            source=source,
        )
    numbers = labels.dtype.kind in "iubf"
    with np.errstate(invalid="ignore"):  # of floats beyond 64 bits, which differ then
        found = labels.astype(np.int64) if numbers and np.isfinite(labels).all() else None
    if found is None or (found != labels).any() or ((found < 0) & (found != IGNORED)).any():
        raise InputError(
            f"{what} labels must be whole numbers >= 0 or texts: a class for each sample.", source=source
        )
    return found


def _numbered(groups: AnyArray | None) -> tuple[IntArray | None, tuple[str, ...]]:
    """Groups as indices into their names."""
    if groups is None:
        return None, ()
    names, index = np.unique(groups.astype(str), return_inverse=True)
    return index.reshape(-1), tuple(names.tolist())


def _packed(inputs: Sequence[AnyArray]) -> AnyArray:
    """One input as it is, several as rows of bytes."""
    if len(inputs) == 1:
        return inputs[0]
    rows = [np.ascontiguousarray(each).reshape(len(each), -1).view(np.uint8) for each in inputs]
    return np.concatenate(rows, axis=1)
