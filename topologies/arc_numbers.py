"""One numbering of all arcs that several lists of arcs hold."""

from collections.abc import Iterable

import numpy as np

from topologies.arrays import IntArray


class ArcNumbers:
    """Numbers of the arcs of some lists, each arc once.

    Parameters
    ----------
    silos : int
    lists : iterable of (source, target)
        Silos at the ends of each arc.

    Attributes
    ----------
    source, target : ndarray of int, shape (arcs,)
        Ends of the arcs by their numbers: sorted by source, then target.

    Notes
    -----
    Time and memory O(silos^2) beside the lists.
    """

    __slots__ = ("_number", "source", "target")

    def __init__(self, silos: int, lists: Iterable[tuple[IntArray, IntArray]]) -> None:
        used = np.zeros((silos, silos), dtype=np.bool_)
        for source, target in lists:
            used[source, target] = True
        self.source, self.target = (ends.astype(np.int64) for ends in np.nonzero(used))
        self._number = np.full((silos, silos), -1, dtype=np.int64)
        self._number[self.source, self.target] = np.arange(len(self.source))

    def __repr__(self) -> str:
        return f"ArcNumbers({len(self.source)} arcs)"

    def of(self, source: IntArray, target: IntArray) -> IntArray:
        """Number of each of some arcs that the lists hold, shape (arcs,)."""
        return np.asarray(self._number[source, target])
