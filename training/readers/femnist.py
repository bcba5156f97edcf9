"""Handwritten characters by writer, from LEAF's JSON files."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import IntArray
from topologies.errors import InputError, quoted
from training.datasets import DataOptions, Dataset, held_out
from training.readers.files import data_folder, read_json, required

CLASSES = 62
PIXELS = 784

Samples = tuple[NDArray[np.float32], IntArray]


def _packed(item: dict[str, Any]) -> dict[str, Any]:
    """Turn a writer's lists into arrays as soon as they are parsed: a list needs eight times the memory."""
    if item.keys() == {"x", "y"}:
        try:
            return {"x": np.asarray(item["x"], dtype=np.float32), "y": np.asarray(item["y"])}
        except (TypeError, ValueError):
            return item
    return item


def read_leaf(paths: list[Path]) -> dict[str, Samples]:
    """Return the samples of every writer.

    Parameters
    ----------
    paths : list of pathlib.Path
        LEAF's files: ``users`` and ``user_data``, there for each user ``x``, lists of 784 pixels, and ``y``, classes.

    Returns
    -------
    dict of str to (float32 array, shape (samples, 784), IntArray)
        Writers in the order of the files and of their lists of users.

    Raises
    ------
    InputError
        If a file is cut, a writer has no samples or is there twice, or a sample has a wrong size or label.
    """
    writers: dict[str, Samples] = {}
    for path in paths:
        content = read_json(path, object_hook=_packed)
        if not isinstance(content, dict) or not {"users", "user_data"} <= content.keys():
            raise InputError("must hold 'users' and 'user_data'.", source=str(path))
        for user in content["users"]:
            if user in writers:
                raise InputError(f"user(={quoted(user)}) must be there once.", source=str(path))
            writers[user] = _checked(content["user_data"].get(user), user, path)
    return writers


def _checked(samples: Any, user: str, path: Path) -> Samples:
    """Return a writer's pixels and classes; InputError if they break the format."""
    who, source = f"user(={quoted(user)})", str(path)
    if not isinstance(samples, dict) or not isinstance(samples.get("x"), np.ndarray):
        raise InputError(f"{who} must have 'x', lists of {PIXELS} numbers, and 'y'.", source=source)
    pixels, labels = samples["x"], samples["y"]
    if labels.size == 0:
        raise InputError(f"{who} must have samples, not 0.", source=source)
    if pixels.shape != (labels.size, PIXELS):
        rule = f"must have shape ({labels.size}, {PIXELS}), one row per label"
        raise InputError(f"{who}: x(shape={pixels.shape}) {rule}.", source=source)
    wrong = np.flatnonzero((labels < 0) | (labels >= CLASSES) | (labels != np.round(labels)))
    if wrong.size:
        value = f"label(={labels[wrong[0]]}) of sample {wrong[0]}"
        raise InputError(f"{who}: {value} must be 0 to {CLASSES - 1}.", source=source)
    return pixels, labels.astype(np.int64)


def femnist(options: DataOptions) -> Dataset:
    """Return LEAF's FEMNIST: 28 x 28 pixels in [0, 1], 62 classes, grouped by writer.

    Parameters
    ----------
    options : DataOptions
        Folder with ``train/*.json`` and ``test/*.json``, or with ``*.json`` alone: then every fifth sample of each
        writer is held out.

    Returns
    -------
    Dataset
        The images.

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
    writers = read_leaf(paths)
    inputs, labels, groups = _stack(writers)
    if divided:
        tests = sorted((folder / "test").glob("*.json")) or [required("femnist", folder / "test" / "*.json")]
        test_inputs, test_labels, _groups = _stack(read_leaf(tests))
    else:
        test = held_out(groups)
        test_inputs, test_labels = inputs[test], labels[test]
        inputs, labels, groups = inputs[~test], labels[~test], groups[~test]
    return Dataset(
        train_inputs=inputs,
        train_labels=labels,
        test_inputs=test_inputs,
        test_labels=test_labels,
        classes=CLASSES,
        train_groups=groups,
        group_names=tuple(writers),
    )


def _stack(writers: dict[str, Samples]) -> tuple[NDArray[np.float32], IntArray, IntArray]:
    """Return images, labels and writers' numbers of all samples."""
    labels = np.concatenate([labels for _pixels, labels in writers.values()])
    groups = np.repeat(np.arange(len(writers)), [part.size for _pixels, part in writers.values()])
    images = np.concatenate([pixels for pixels, _labels in writers.values()]).reshape(-1, 1, 28, 28)
    return images, labels, groups
