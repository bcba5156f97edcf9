"""Image files as inputs, decoded when they are read."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.errors import InputError

THREADS = min(8, os.cpu_count() or 1)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ImageFiles:
    """Images that are decoded when they are read.

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

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.paths)

    def __getitem__(self, index: Any, /) -> NDArray[np.float32]:
        """Return the images of an index array or a slice; several are decoded at once."""
        chosen = self.paths[index].tolist()
        batch = np.empty((len(chosen), *self.sample), dtype=np.float32)
        with ThreadPoolExecutor(THREADS) as pool:
            for place, image in enumerate(pool.map(self.decode, chosen)):
                batch[place] = image
        return batch


def decodes(decode: Callable[[str], object], path: str) -> bool:
    """Return whether an image can be read."""
    try:
        decode(path)
    except InputError:
        return False
    return True
