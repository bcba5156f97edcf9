"""Handwritten characters by writer, from LEAF's JSON files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import IntArray
from topologies.errors import InputError, quoted
from training.data.datasets import DataOptions, Dataset, held_out
from training.data.readers.files import data_folder, read_json, required

CLASSES = 62
PIXELS = 784

Samples = tuple[NDArray[np.float32], IntArray]


def _packed(item: dict[str, Any]) -> dict[str, Any]:
    """Turn a writer's lists into arrays as soon as they are parsed: a list needs eight times the memory."""
    if item.keys() >= {"x", "y"}:
        try:
            return {
                "x": np.asarray(item["x"], dtype=np.float32),
                "y": np.asarray(item["y"], dtype=np.float64),
            }
        except (TypeError, ValueError, OverflowError):
            return item
    return item


class Stack:
    """Samples one after the other in memory that grows in place, so that no second copy of all is ever needed."""

    def __init__(self) -> None:
        self._pixels, self._labels = bytearray(), bytearray()
        self._counts: list[int] = []

    def add(self, pixels: NDArray[np.float32], labels: IntArray) -> None:
        """Append the samples of the next writer, shapes (samples, 784) and (samples,)."""
        self._pixels += pixels.tobytes()
        self._labels += labels.tobytes()
        self._counts.append(labels.size)

    @property
    def images(self) -> NDArray[np.float32]:
        """All images, shape (samples, 1, 28, 28)."""
        return np.frombuffer(self._pixels, dtype=np.float32).reshape(-1, 1, 28, 28)

    @property
    def labels(self) -> IntArray:
        """Their classes, shape (samples,)."""
        return np.frombuffer(self._labels, dtype=np.int64)

    @property
    def writers(self) -> IntArray:
        """The number of each sample's writer, in the order of adding, shape (samples,)."""
        return np.repeat(np.arange(len(self._counts)), self._counts)


def read_leaf(paths: list[Path]) -> Iterator[tuple[str, Samples]]:
    """Return the samples of every writer, one file in memory at a time.

    Parameters
    ----------
    paths : list of pathlib.Path
        LEAF's files: ``users`` and ``user_data``, there for each user ``x``, lists of 784 pixels, and ``y``, classes;
        ``num_samples``, if there, says how many each user has.

    Yields
    ------
    writer : str
        In the order of the files and of their lists of users.
    samples : (float32 array, shape (samples, 784), IntArray, shape (samples,))
        Pixels and classes.

    Raises
    ------
    InputError
        If a file is cut, a writer has no samples, another number than stated or is there twice, or a sample has a
        wrong size or label.
    """
    known: set[str] = set()
    for path in paths:
        content = read_json(path, object_hook=_packed)
        users, samples = (
            content.get(key) if isinstance(content, dict) else None for key in ("users", "user_data")
        )
        if not isinstance(users, list) or not isinstance(samples, dict):
            raise InputError("must hold 'users', a list, and 'user_data'.", source=str(path))
        stated = content.get("num_samples")
        if stated is None:
            stated = [None] * len(users)
        if not isinstance(stated, list) or len(stated) != len(users):
            raise InputError("num_samples must be a list of one number per user.", source=str(path))
        for user, count in zip(map(str, users), stated, strict=True):
            if user in known:
                raise InputError(f"user(={quoted(user)}) must be there once.", source=str(path))
            known.add(user)
            pixels, labels = _checked(samples.pop(user, None), user, path)
            if count not in (None, labels.size):
                value = f"num_samples(={quoted(count)}) of user {quoted(user)}"
                raise InputError(f"{value} must be {labels.size}, as many as there are.", source=str(path))
            yield user, (pixels, labels)


def _checked(samples: Any, user: str, path: Path) -> Samples:
    """Return a writer's pixels and classes; InputError if they break the format."""
    who, source = f"user(={quoted(user)})", str(path)
    if samples is None:
        raise InputError(f"{who} must be in 'user_data'.", source=source)
    if not isinstance(samples, dict) or not isinstance(samples.get("x"), np.ndarray):
        raise InputError(f"{who}{_not_packed(samples)}", source=source)
    pixels, labels = samples["x"], samples["y"]
    if labels.ndim != 1:
        raise InputError(f"{who}: y must be a list of classes, one per sample.", source=source)
    if labels.size == 0:
        raise InputError(f"{who} must have samples, not 0.", source=source)
    if pixels.ndim == 2 and pixels.shape[1] != PIXELS:
        raise InputError(f"{who}: pixels(={pixels.shape[1]}) of sample 0 must be {PIXELS}.", source=source)
    if pixels.shape != (labels.size, PIXELS):
        rule = f"must have shape ({labels.size}, {PIXELS}), one row per label"
        raise InputError(f"{who}: x(shape={pixels.shape}) {rule}.", source=source)
    wrong = np.flatnonzero((labels < 0) | (labels >= CLASSES) | (labels != np.round(labels)))
    if wrong.size:
        value = f"label(={labels[wrong[0]]:g}) of sample {wrong[0]}"
        raise InputError(f"{who}: {value} must be 0 to {CLASSES - 1}.", source=source)
    bad = np.argwhere(~((pixels >= 0) & (pixels <= 1)))
    if bad.size:
        value = f"pixel(={pixels[tuple(bad[0])]:g}) of sample {bad[0, 0]}"
        raise InputError(f"{who}: {value} must be >= 0 and <= 1.", source=source)
    return pixels, labels.astype(np.int64)


def _not_packed(samples: Any) -> str:
    """Say what keeps a writer's lists from being arrays: the first label, row or pixel that breaks its rule."""
    pixels, labels = (samples.get(key) if isinstance(samples, dict) else None for key in ("x", "y"))
    if not isinstance(pixels, list) or not isinstance(labels, list):
        return f" must have 'x', lists of {PIXELS} numbers, and 'y', a list of classes."
    for number, label in enumerate(labels):
        if not isinstance(label, int | float) or not 0 <= label < CLASSES:
            return f": label(={quoted(label)}) of sample {number} must be 0 to {CLASSES - 1}."
    for number, row in enumerate(pixels):
        if not isinstance(row, list):
            return f": pixels(={quoted(row)}) of sample {number} must be a list of {PIXELS} numbers."
        if len(row) != PIXELS:
            return f": pixels(={len(row)}) of sample {number} must be {PIXELS}."
        for pixel in row:
            if not isinstance(pixel, int | float) or not 0 <= pixel <= 1:
                return f": pixel(={quoted(pixel)}) of sample {number} must be >= 0 and <= 1."
    return ": x and y must be lists of numbers."


def femnist(options: DataOptions) -> Dataset:
    """Return LEAF's FEMNIST: 28 x 28 pixels in [0, 1], 62 classes, grouped by writer.

    Parameters
    ----------
    options : DataOptions
        Folder with ``train/*.json`` and ``test/*.json``, or with ``*.json`` alone: then every fifth sample of each
        writer, and the last one of a writer with two to four, is held out.

    Raises
    ------
    InputError
        If files are missing or bad.

    References
    ----------
    S. Caldas et al., "LEAF: A Benchmark for Federated Settings", 2018.
    """
    folder = data_folder("femnist", options)
    divided = (folder / "train").is_dir()
    paths = sorted((folder / "train" if divided else folder).glob("*.json"))
    if not paths:
        required("femnist", (folder / "train" if divided else folder) / "*.json")
    names: list[str] = []
    train, test = Stack(), Stack()
    for writer, (pixels, labels) in read_leaf(paths):
        names.append(writer)
        held = np.zeros(labels.size, dtype=np.bool_) if divided else held_out(np.zeros_like(labels))
        train.add(pixels[~held], labels[~held])
        test.add(pixels[held], labels[held])
    if divided:
        tests = sorted((folder / "test").glob("*.json")) or [required("femnist", folder / "test" / "*.json")]
        for _writer, samples in read_leaf(tests):
            test.add(*samples)
    return Dataset(
        train_inputs=train.images,
        train_labels=train.labels,
        test_inputs=test.images,
        test_labels=test.labels,
        classes=CLASSES,
        train_groups=train.writers,
        group_names=tuple(names),
    )
