"""The order in which a silo reads its own samples."""

import numpy as np

from topologies.arrays import IntArray
from training.random_streams import Purpose, stream


class BatchStream:
    """Mini-batches of one silo: shuffled epochs one after the other, cut into batches of one size.

    Parameters
    ----------
    size : int
        Number of samples of the silo, >= 1.
    batch_size : int
        Samples per batch.

    Notes
    -----
    A batch may span the end of an epoch, so every batch has `batch_size` samples and every step costs the same
    computing time, as the overlay's delay model assumes. A silo with fewer samples than `batch_size` sees each of
    them as often as any other, up to one. The order of an epoch is drawn from ``(seed, silo, epoch)`` alone, hence
    `batch` needs no state to start in the middle of a run.
    """

    __slots__ = ("_epoch", "_order", "batch_size", "seed", "silo", "size")

    def __init__(self, *, size: int, batch_size: int, seed: int, silo: int) -> None:
        self.size = size
        self.batch_size = batch_size
        self.seed = seed
        self.silo = silo
        self._epoch = -1
        self._order: IntArray = np.empty(0, dtype=np.int64)

    def batch(self, step: int) -> IntArray:
        """Return the positions, within the silo's own samples, of the batch of one step.

        Parameters
        ----------
        step : int
            Number of local steps that the silo has made before.

        Returns
        -------
        IntArray, shape (batch_size,)
            Positions in ``range(size)``.
        """
        first = step * self.batch_size
        epoch, offset = divmod(first, self.size)
        if offset + self.batch_size <= self.size:
            return self._epoch_order(epoch)[offset : offset + self.batch_size].copy()
        epochs, offsets = np.divmod(np.arange(first, first + self.batch_size), self.size)
        batch = np.empty(self.batch_size, dtype=np.int64)
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            inside = epochs == epoch
            batch[inside] = self._epoch_order(epoch)[offsets[inside]]
        return batch

    def _epoch_order(self, epoch: int) -> IntArray:
        """Return the permutation of one epoch; the last one is cached, as an epoch lasts many batches."""
        if epoch != self._epoch:
            self._order = stream(self.seed, Purpose.BATCHES, self.silo, epoch).permutation(self.size)
            self._epoch = epoch
        return self._order
