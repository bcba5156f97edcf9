"""Array types shared by all packages."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def freeze(*arrays: NDArray[Any]) -> None:
    """Make arrays read-only, in place, for a frozen dataclass."""
    for array in arrays:
        array.flags.writeable = False
