"""Image files as inputs, decoded when they are read."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import IntArray
from topologies.errors import InputError

THREADS = min(8, os.cpu_count() or 1)

KEPT_BYTES = 1 << 26
"""Largest decoded images that stay in memory: 5,461 of 32 x 32 pixels in colour."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ImageFiles:
    """Images that are decoded when they are read: all of them the first time, if they fit into `KEPT_BYTES`.

    Parameters
    ----------
    paths : str array, shape (samples,)
        The files.
    decode : callable
        Returns the image of a path, float32 of shape `sample`.
    sample : tuple of int
        (channels, height, width).
    """

    paths: NDArray[np.str_]
    decode: Callable[[str], NDArray[np.float32]]
    sample: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of all samples, (samples, channels, height, width)."""
        return (len(self.paths), *self.sample)

    @property
    def nbytes(self) -> int:
        """Bytes that stay in memory after the first reading: those of all images, or none."""
        size = np.dtype(np.float32).itemsize * math.prod(self.shape)
        return size if size <= KEPT_BYTES else 0

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.paths)

    def __getitem__(self, index: Any, /) -> NDArray[np.float32]:
        """Return the images of an index array or a slice; several are decoded at once."""
        if not self.nbytes:
            return self._decoded(self.paths[index])
        chosen: IntArray = np.arange(len(self))[index]
        return np.take(self._kept, chosen, axis=0)

    @cached_property
    def _kept(self) -> NDArray[np.float32]:
        return self._decoded(self.paths)

    def _decoded(self, paths: NDArray[np.str_]) -> NDArray[np.float32]:
        batch = np.empty((len(paths), *self.sample), dtype=np.float32)
        with ThreadPoolExecutor(THREADS) as pool:
            for place, image in enumerate(pool.map(self.decode, paths.tolist())):
                batch[place] = image
        return batch


def decodes(decode: Callable[[str], object], path: str) -> bool:
    """Return whether an image can be read."""
    try:
        decode(path)
    except InputError:
        return False
    return True
