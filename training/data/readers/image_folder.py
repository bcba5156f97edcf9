"""Images in a folder for each class, decoded when read."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from topologies.errors import InputError, unknown_name
from training.data.datasets import DataOptions, Dataset, held_out
from training.data.readers.files import data_file
from training.data.readers.image_files import THREADS, ImageFiles, decodes

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
TRAIN, TEST = "train", "test"


@dataclass(frozen=True, kw_only=True)
class ImageFolder:
    """``CLASS/*.png`` and so on, or ``train/CLASS/*.png`` and ``test/CLASS/*.png``.

    Parameters
    ----------
    size : int
        Height and width to which images are resized; 0 takes them as they are, all of one size.
    grey : bool
        One channel, instead of red, green and blue.
    """

    size: int = 0
    grey: bool = False

    def __post_init__(self) -> None:
        if self.size < 0:
            raise InputError(f"dataset_options.size(={self.size}) must be >= 0.")

    def sample_shape(self, options: DataOptions) -> tuple[int, ...]:
        """Return (channels, height, width); of images that are not resized those of the first.

        Notes
        -----
        With `skip_bad` it is the first of training that can be read.
        """
        folder = _train(data_file("image_folder", options, folder=True))
        return self._shape(folder, _classes(folder), skip_bad=options.skip_bad)

    def count_classes(self, options: DataOptions) -> int:
        """Return the number of folders."""
        return len(_classes(_train(data_file("image_folder", options, folder=True))))

    def load(self, options: DataOptions) -> Dataset:
        """Return the data: float32 in [0, 1]; classes are the folders' names in ascending order.

        Raises
        ------
        InputError
            If there are no images, a class of the test folder is none of training, or (when it is read) an image does
            not decode or has another size.

        Notes
        -----
        Without the folders train and test every fifth image of each class is held out, in the order of digests of the
        files' names.
        """
        folder = data_file("image_folder", options, folder=True)
        names = _classes(_train(folder))
        shape = self._shape(_train(folder), names, skip_bad=options.skip_bad)
        one = partial(decode, shape=shape, resize=self.size > 0)
        usable = partial(decodes, one) if options.skip_bad and options.decode_all else None
        train_paths, train_labels, skipped = _found(_train(folder), names, usable)
        if _train(folder) == folder:
            test = held_out(
                train_labels, names=np.array([os.path.relpath(path, folder) for path in train_paths])
            )
            test_paths, test_labels, skipped_tests = train_paths[test], train_labels[test], 0
            train_paths, train_labels = train_paths[~test], train_labels[~test]
        else:
            test_paths, test_labels, skipped_tests = _found(folder / TEST, names, usable)
        return Dataset(
            train_inputs=ImageFiles(paths=train_paths, sample=shape, decode=one),
            train_labels=train_labels,
            test_inputs=ImageFiles(paths=test_paths, sample=shape, decode=one),
            test_labels=test_labels,
            classes=len(names),
            label_names=names,
            skipped=skipped + skipped_tests,
            opened=options.skip_bad and options.decode_all,
        )

    def _shape(self, folder: Path, names: tuple[str, ...], *, skip_bad: bool) -> tuple[int, ...]:
        """Shape of an image."""
        channels = 1 if self.grey else 3
        if self.size:
            return (channels, self.size, self.size)
        for path in (path for name in names for path in _images(folder / name)):
            try:
                with Image.open(path) as image:
                    if skip_bad:
                        image.load()  # a file may be cut off behind its size
                    return (channels, image.height, image.width)
            except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
                if not skip_bad:
                    raise InputError("must be an image.", source=str(path)) from None
        raise InputError("must hold an image that can be read.", source=str(folder))


def _found(
    folder: Path, names: tuple[str, ...], usable: Callable[[str], bool] | None
) -> tuple[NDArray[np.str_], NDArray[np.int64], int]:
    """Paths and labels of the images below a folder, and how many were left out."""
    unknown = sorted(set(_classes(folder)) - set(names))
    if unknown:
        raise unknown_name("class", unknown[0], names, source=str(folder))
    of_class = [_images(folder / name) if (folder / name).is_dir() else [] for name in names]
    paths = np.array([str(path) for each in of_class for path in each])
    labels = np.repeat(np.arange(len(names)), [len(each) for each in of_class])
    if usable is None:
        return paths, labels, 0
    with ThreadPoolExecutor(THREADS) as pool:
        good = np.array(list(pool.map(usable, paths.tolist())))
    return paths[good], labels[good], int((~good).sum())


def decode(path: str, *, shape: tuple[int, ...], resize: bool) -> NDArray[np.float32]:
    """Return an image as float32 in [0, 1].

    Parameters
    ----------
    shape : tuple of int
        (channels, height, width), with 1 channel or 3.
    resize : bool
        Whether an image of another size is resized; it is an error otherwise.

    Raises
    ------
    InputError
        If the image does not decode, or has another size.
    """
    channels, height, width = shape
    try:
        with Image.open(path) as image:
            pixels: Any = image.convert("L" if channels == 1 else "RGB")
            if resize:
                pixels = pixels.resize((width, height), Image.Resampling.BILINEAR)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(
            f"image(={path}) must decode; skip_bad = true leaves such images out and counts them."
        ) from error
    if pixels.size != (width, height):
        raise InputError(
            f"image(={path}) of {pixels.size[0]} x {pixels.size[1]} pixels must have {width} x {height}, as the first; "
            "dataset_options.size resizes all."
        )
    array = np.asarray(pixels, dtype=np.float32).reshape(height, width, channels)
    return np.ascontiguousarray(array.transpose(2, 0, 1)) / np.float32(255)


def _train(folder: Path) -> Path:
    """Where the training images are: in the folder itself, unless it has folders train and test."""
    return folder / TRAIN if (folder / TRAIN).is_dir() and (folder / TEST).is_dir() else folder


def _classes(folder: Path) -> tuple[str, ...]:
    """Names of the folders with images, ascending."""
    names = tuple(sorted(each.name for each in folder.iterdir() if each.is_dir() and _images(each)))
    if not names:
        raise InputError("must hold a folder of images for each class.", source=str(folder))
    return names


def _images(folder: Path) -> list[Path]:
    """The image files of a folder, by name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS and path.is_file())
