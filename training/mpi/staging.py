"""Host buffers that MPI reads and writes in place of rows on a GPU."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def synchronize(device: "torch.device") -> None:
    """Wait for all work on a GPU's current stream."""
    import torch

    torch.cuda.current_stream(device).synchronize()


class Staging:
    """Rows as MPI sees them: in host memory, unless MPI takes GPU memory itself.

    Parameters
    ----------
    gpu_aware : bool
        Whether MPI reads and writes the GPU's memory itself.
    pinned : bool, default True
        Whether host memory is page-locked, so that copies run without the processor.
    wait : callable, default `synchronize`
        Waits for the work on a device.

    Notes
    -----
    Rows in CPU memory are never copied. A host buffer is allocated once per silo. All copies are enqueued on the
    current stream, like the work that makes the rows and that reads them, and one wait before the first message makes
    three things true: sent rows are complete, received rows are no longer read, and no copy of an earlier round still
    reads the host buffer of a received row.
    """

    def __init__(
        self,
        *,
        gpu_aware: bool,
        pinned: bool = True,
        wait: Callable[["torch.device"], None] = synchronize,
    ) -> None:
        self._gpu_aware = gpu_aware
        self._pinned = pinned
        self._wait = wait
        self._buffers: dict[int, Tensor] = {}

    def open(self, sends: Mapping[int, "Tensor"], receives: Mapping[int, "Tensor"]) -> dict[int, "Tensor"]:
        """Return the rows or buffers that MPI sends and fills, ready for its first message.

        Parameters
        ----------
        sends, receives : mapping of int to torch.Tensor
            Rows by silo, all on one device; no silo is in both.

        Returns
        -------
        dict of int to torch.Tensor
            By silo: the row itself or its host buffer.
        """
        rows = {**sends, **receives}
        if all(row.device.type == "cpu" for row in rows.values()):
            return rows
        device = next(iter(rows.values())).device
        if self._gpu_aware:
            self._wait(device)
            return rows
        buffers = {silo: self._buffer(silo, row) for silo, row in rows.items()}
        for silo, row in sends.items():
            buffers[silo].copy_(row, non_blocking=True)
        self._wait(device)
        return buffers

    @staticmethod
    def close(receives: Mapping[int, "Tensor"], opened: Mapping[int, "Tensor"], columns: slice) -> None:
        """Copy columns that MPI has filled to their rows.

        Parameters
        ----------
        receives, opened : mapping of int to torch.Tensor
            An argument of `open`, and its result.
        columns : slice
            The columns.
        """
        for silo, row in receives.items():
            if opened[silo] is not row:
                row[columns].copy_(opened[silo][columns], non_blocking=True)

    def _buffer(self, silo: int, row: "Tensor") -> "Tensor":
        """Return the host buffer of a silo's row."""
        # Here since the processes of an outer launcher meet through this module, whether they train or not.
        import torch

        if silo not in self._buffers:
            self._buffers[silo] = torch.empty(row.shape, dtype=row.dtype, pin_memory=self._pinned)
        return self._buffers[silo]
