"""The device that a rank computes on, and torch's settings for it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.utils.deterministic

from topologies.errors import MachineError

CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
WORKSPACES = ":4096:8"
"""Eight of 4 MiB for each stream: the faster of the two sizes with which cuBLAS is reproducible."""


def resolve_device(name: str, rank: int) -> torch.device:
    """Return the device of a rank; ranks of one machine take its visible GPUs in turn.

    Parameters
    ----------
    name : str
        ``cpu``, ``cuda`` or ``auto``.
    rank : int
        The rank's index on its machine.

    Raises
    ------
    MachineError
        If ``cuda`` is asked for and torch sees no GPU.
    """
    available = torch.cuda.is_available() if name != "cpu" else False
    if name == "cuda" and not available:
        raise MachineError("device(=cuda) needs a GPU and a torch built for it; torch sees none.")
    return torch.device("cuda", rank % torch.cuda.device_count()) if available else torch.device("cpu")


def select_gpu(name: str, rank: int) -> None:
    """Make a rank's GPU the current one, as an MPI built for GPUs requires.

    Parameters
    ----------
    name, rank
        As in `resolve_device`.
    """
    device = resolve_device(name, rank)
    if device.type == "cuda":
        torch.cuda.set_device(device)


@contextmanager
def reproducible(device: torch.device | None = None) -> Iterator[None]:
    """Make torch's results independent of the number of ranks while training, then restore its settings.

    Parameters
    ----------
    device : torch.device, optional
        The device of the training; by default the processor.

    Notes
    -----
    On a GPU PyTorch uses deterministic operations where it has them, and warns where it has not; cuBLAS' workspaces get
    a fixed size (`CUBLAS_WORKSPACE_CONFIG`), without which products on several streams may differ from run to run. New
    tensors are not filled with NaN, PyTorch's default then: nothing is read before it is written.

    One thread per rank: the order of a sum would otherwise depend on the number of threads, and the silos' small
    batches gain little from more. Further cores are used by further ranks.

    That holds with the executor ``loop`` on processors of one kind. Gradients and metrics are sums of PyTorch's
    libraries, whose kernels, and so the order of sums, depend on the processor; with other executors also on the number
    of silos of a rank. For one silo, the libraries' inputs do not depend on the ranks: neither shapes nor positions in
    cache lines. Sums over silos have a fixed order on any processor: mixing (`compiled.mixing`) and the average model
    (`training.engine.exact_sums`).
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with (
            torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False),
            _fixed_order() if device is not None and device.type == "cuda" else nullcontext(),
        ):
            yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _fixed_order() -> Iterator[None]:
    """Use operations on a GPU that sum in a fixed order; see `reproducible`."""
    mode, stated = torch.get_deterministic_debug_mode(), CUBLAS in os.environ
    fill: Any = torch.utils.deterministic  # a module whose attribute is a setting
    filled = fill.fill_uninitialized_memory
    os.environ.setdefault(CUBLAS, WORKSPACES)
    torch.use_deterministic_algorithms(True, warn_only=True)
    fill.fill_uninitialized_memory = False
    try:
        yield
    finally:
        fill.fill_uninitialized_memory = filled
        torch.set_deterministic_debug_mode(mode)
        if not stated:
            del os.environ[CUBLAS]
