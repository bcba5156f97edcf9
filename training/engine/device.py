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
"""Eight of 4 MiB for each stream: of the two sizes with which cuBLAS is reproducible the faster one."""


def resolve_device(name: str, rank: int) -> torch.device:
    """Return the device of a rank.

    Parameters
    ----------
    name : str
        ``cpu``, ``cuda`` or ``auto``.
    rank : int
        The rank's index on its machine; ranks take the GPUs that they see in turn.

    Returns
    -------
    torch.device
        The device.

    Raises
    ------
    MachineError
        If ``cuda`` is asked for and torch sees no GPU.
    """
    available = torch.cuda.is_available() if name != "cpu" else False
    if name == "cuda" and not available:
        raise MachineError("device(=cuda) needs a GPU and a torch built for it; torch sees none.")
    return torch.device("cuda", rank % torch.cuda.device_count()) if available else torch.device("cpu")


def take_gpu(name: str, rank: int) -> None:
    """Make a rank's GPU the current one, for what looks for the current one: an MPI that is built for GPUs.

    Parameters
    ----------
    name, rank
        As in `resolve_device`; nothing happens where that is the processor.
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
        Where is computed; by default the processor.

    Notes
    -----
    On a GPU PyTorch is asked for operations whose sums have one order, where it has them, and warns where it has not;
    cuBLAS' workspaces get one size (`CUBLAS_WORKSPACE_CONFIG`), which it reads when it starts and without which
    products on several streams may differ from run to run. New tensors are not filled with NaN, as PyTorch would do
    then: nothing is read before it is written.

    One thread per rank: the order of a sum would otherwise depend on the number of threads, and the silos' small
    batches gain little from more. Ranks are what uses more cores.

    That holds with the executor ``loop`` on processors of one kind. Gradients and metrics are sums of PyTorch's
    libraries, which take other kernels, and so another order, on another maker's or generation's processor; with other
    executors also for another number of silos that a rank hosts. For one silo, what the libraries are given does not
    depend on the ranks: shapes, and where numbers lie in cache lines. What is summed over silos is fixed by
    construction on any processor: mixing (`compiled.mixing`) and the average model (`training.engine.exact_sums`).
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with (
            torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False),
            _one_order() if device is not None and device.type == "cuda" else nullcontext(),
        ):
            yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _one_order() -> Iterator[None]:
    """Ask torch for operations on a GPU that sum in one order; see `reproducible`."""
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
