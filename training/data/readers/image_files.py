"""Image files as inputs, decoded when they are first read."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import IntArray
from topologies.errors import InputError

THREADS = min(8, os.cpu_count() or 1)

KEPT_BYTES = 1 << 26
"""Largest decoded images that stay in memory: 5,461 of 32 x 32 pixels in colour."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ImageFiles:
    """Images that are decoded when they are read, small ones the first time only.

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
    _kept: NDArray[np.float32] = field(init=False, repr=False)
    _known: NDArray[np.bool_] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        all_bytes = len(self) * np.dtype(np.float32).itemsize * math.prod(self.sample)
        kept = len(self) if all_bytes <= KEPT_BYTES else 0
        object.__setattr__(self, "_kept", np.empty((kept, *self.sample), dtype=np.float32))
        object.__setattr__(self, "_known", np.zeros(kept, dtype=np.bool_))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of all samples, (samples, channels, height, width)."""
        return (len(self.paths), *self.sample)

    @property
    def nbytes(self) -> int:
        """Bytes that stay in memory once all images were read."""
        return self._kept.nbytes

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.paths)

    def __getitem__(self, index: Any, /) -> NDArray[np.float32]:
        """Return the images of an index array or a slice; several are decoded at once."""
        chosen: IntArray = np.arange(len(self))[index]
        if not self._known.size:
            return self._decoded(chosen)
        new = chosen[~self._known[chosen]]
        if new.size:
            self._kept[new] = self._decoded(new)
            self._known[new] = True
        return np.take(self._kept, chosen, axis=0)

    def _decoded(self, chosen: IntArray) -> NDArray[np.float32]:
        batch = np.empty((len(chosen), *self.sample), dtype=np.float32)
        with ThreadPoolExecutor(THREADS) as pool:
            for place, image in enumerate(pool.map(self.decode, self.paths[chosen].tolist())):
                batch[place] = image
        return batch


def decodes(decode: Callable[[str], object], path: str) -> bool:
    """Return whether an image can be read."""
    try:
        decode(path)
    except InputError:
        return False
    return True
