"""The device that a rank computes on, and torch's settings for it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from topologies.errors import MachineError


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


@contextmanager
def reproducible() -> Iterator[None]:
    """Make torch's results independent of the number of ranks while training, then restore its settings.

    Notes
    -----
    One thread per rank: the order of a sum would otherwise depend on the number of threads, and the silos' small
    batches gain little from more. Ranks are what uses more cores.

    That holds with the executor ``loop`` on processors of one kind. Gradients and metrics are sums of PyTorch's
    libraries, which take other kernels, and so another order, on another maker's or generation's processor; with other
    executors also for another number of silos that a rank hosts. For one silo, what the libraries are given does not
    depend on the ranks: shapes, and where numbers lie in cache lines. What is summed over silos is fixed by
    construction on any processor: mixing (`training.compiled.mixing`) and the average model (`training.exact_sums`).
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
            yield
    finally:
        torch.set_num_threads(threads)
