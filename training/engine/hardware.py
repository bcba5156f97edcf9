"""The hardware of a rank: its name, and numbers by which ranks know that they share it."""

import platform
import socket
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    import torch

CPUINFO = Path("/proc/cpuinfo")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def hardware_name(device: "torch.device") -> str:
    """Return the name of a device.

    Returns
    -------
    str
        A GPU's name as torch reports it; the processor's model and the number of threads that torch uses.
    """
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"{processor_name()} ({threads} thread{'' if threads == 1 else 's'})"


def processor_name(cpuinfo: Path = CPUINFO) -> str:
    """Return the model of this machine's processor, or its architecture where no model is known.

    Parameters
    ----------
    cpuinfo : pathlib.Path
        Linux's description of the processors.
    """
    try:
        lines = cpuinfo.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    models = [
        value for key, _, value in (line.partition(":") for line in lines) if key.strip() == "model name"
    ]
    return " ".join((models[0] if models else "").split()) or platform.processor() or platform.machine()


def machine_number() -> int:
    """Return a number that processes on the same machine share; those on others have another, below 2^32."""
    try:
        boot = _BOOT.read_text()
    except OSError:
        boot = ""
    return crc32(f"{socket.gethostname()} {boot}".encode())


def gpu_number(device: "torch.device") -> int:
    """Return a number > 0 that processes on the same GPU share, others almost never; 0 for the processor."""
    import torch

    if device.type != "cuda":
        return 0
    return 1 + crc32(str(torch.cuda.get_device_properties(device).uuid).encode())
