"""Fashion-MNIST, a stand-in for FEMNIST: the same size of image, with writers that are drawn."""

import gzip
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import IntArray
from topologies.errors import InputError
from training.data.datasets import DataOptions, Dataset
from training.data.readers.files import data_folder, required

DEFAULT = "/usr/share/datasets/fashion-mnist"
NAMES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
SEED = 0


def read_idx(path: Path, *, dimensions: int) -> NDArray[np.uint8]:
    """Return the bytes of a gzip-compressed IDX file.

    Parameters
    ----------
    dimensions : int
        Dimensions that it must have.

    Returns
    -------
    uint8 array
        With the shape that the file states.

    Raises
    ------
    InputError
        If the file is cut or of another kind.
    """
    try:
        content = gzip.decompress(required("fashion_mnist", path).read_bytes())
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError("must be a complete gzip file.", source=str(path)) from error
    head = 4 + 4 * dimensions
    if content[:4] != bytes([0, 0, 8, dimensions]) or len(content) < head:
        raise InputError(f"must be an IDX file of bytes with {dimensions} dimensions.", source=str(path))
    shape = tuple(int(size) for size in np.frombuffer(content[4:head], dtype=">u4"))
    expected = int(np.prod(shape, dtype=np.int64))
    if len(content) - head != expected:
        rule = f"must be {expected} for shape {shape}"
        raise InputError(f"bytes(={len(content) - head}) {rule}.", source=str(path))
    return np.frombuffer(content, dtype=np.uint8, offset=head).reshape(shape)


def drawn_writers(samples: int, rng: np.random.Generator) -> IntArray:
    """Return a writer for each sample: lognormal counts (mean 5, standard deviation 1.5 of the logarithm).

    Parameters
    ----------
    samples : int
        Number of samples, >= 1.
    rng : numpy.random.Generator
        Source of the counts and of who has which sample.

    Returns
    -------
    IntArray, shape (samples,)
        Writers ``0, 1, ...``, each with one sample or more; the last has what is left.
    """
    counts: list[int] = []
    left = samples
    while left:
        counts.append(min(left, max(1, round(rng.lognormal(5.0, 1.5)))))
        left -= counts[-1]
    return rng.permutation(np.repeat(np.arange(len(counts)), counts))


def fashion_mnist(options: DataOptions) -> Dataset:
    """Return 60,000 images of clothes for training and 10,000 for tests: 28 x 28 pixels in [0, 1], 10 classes.

    Parameters
    ----------
    options : DataOptions
        Folder of the four files; by default where Debian's package puts them.

    Returns
    -------
    Dataset
        Grouped by writers that `drawn_writers` draws with a fixed seed: the same in every run.

    Raises
    ------
    InputError
        If a file is missing or bad.

    References
    ----------
    H. Xiao, K. Rasul, R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning
    Algorithms", 2017, MIT.
    """
    folder = data_folder("fashion_mnist", options, default=DEFAULT)
    train_inputs, train_labels = _part(folder, "train")
    test_inputs, test_labels = _part(folder, "t10k")
    groups = drawn_writers(train_labels.size, np.random.default_rng(SEED))
    return Dataset(
        train_inputs=train_inputs,
        train_labels=train_labels,
        test_inputs=test_inputs,
        test_labels=test_labels,
        classes=len(NAMES),
        train_groups=groups,
        group_names=tuple(f"writer {number}" for number in range(groups.max() + 1)),
        label_names=NAMES,
    )


def _part(folder: Path, name: str) -> tuple[NDArray[np.float32], IntArray]:
    """Return the images and labels of one part."""
    path, pictures = (folder / f"{name}-{kind}-ubyte.gz" for kind in ("labels-idx1", "images-idx3"))
    labels = read_idx(path, dimensions=1)
    images = read_idx(pictures, dimensions=3)
    if images.shape[1:] != (28, 28):
        raise InputError(f"images(shape={images.shape}) must be 28 x 28.", source=str(pictures))
    if len(images) != labels.size or not labels.size:
        raise InputError(f"labels(={labels.size}) must be one per image, {len(images)}.", source=str(path))
    if labels.max() >= len(NAMES):
        position = int(np.argmax(labels >= len(NAMES)))
        rule = f"must be 0 to {len(NAMES) - 1}"
        raise InputError(f"label(={labels[position]}) of sample {position} {rule}.", source=str(path))
    return np.divide(images[:, None], 255, dtype=np.float32), labels.astype(np.int64)
