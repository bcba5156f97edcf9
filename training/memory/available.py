"""How much memory this process has and can still get: on the machine, in its control group, on its GPU."""

import math
import os
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")


def resident_bytes(proc: Path = PROC) -> int:
    """Return the memory that this process holds now; where the system does not tell, the most it has held."""
    try:
        return int((proc / "self" / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        # macOS counts in bytes, all others in KiB.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def available_bytes(proc: Path = PROC, cgroup: Path = CGROUP) -> float:
    """Return how much memory the processes of this machine can still get without swapping.

    Parameters
    ----------
    proc, cgroup : pathlib.Path
        Where Linux tells about processes and control groups.

    Returns
    -------
    float
        The lower of what the machine has left and of what the control groups of this process (a container's, a batch
        job's; version 1 or 2) leave; infinity where the system tells neither.
    """
    return min(_machine_bytes(proc), _cgroup_bytes(proc, cgroup))


def gpu_bytes(device: "torch.device") -> float:
    """Return how much memory of a GPU is free, with what this process' allocator holds without using it."""
    import torch

    free, _total = torch.cuda.mem_get_info(device)
    return float(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def _machine_bytes(proc: Path) -> float:
    """What the kernel estimates new processes can get, in bytes."""
    try:
        lines = (proc / "meminfo").read_text().splitlines()
    except OSError:
        return math.inf
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return float(found[0]) if found else math.inf


def _cgroup_bytes(proc: Path, root: Path) -> float:
    """The least that a control group of this process, or one that holds it, leaves."""
    try:
        groups = [line.split(":", 2) for line in (proc / "self" / "cgroup").read_text().splitlines()]
    except OSError:
        return math.inf
    left = math.inf
    for _number, controllers, path in groups:
        if controllers == "":
            mount, limit, usage, cache = root, "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            mount, limit, usage = root / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            cache = "total_inactive_file"
        else:
            continue
        folder = mount / path.lstrip("/")
        # In a container the path may be that on the host, which is not there: then the mount itself is its group.
        for level in (folder, *folder.parents):
            left = min(left, _left(level, limit, usage, cache))
            if level == mount:
                break
    return left


def _left(group: Path, limit: str, usage: str, cache: str) -> float:
    """What one control group leaves: its limit, less what it holds beyond files that the kernel can drop."""
    try:
        most = float((group / limit).read_text())
        used = float((group / usage).read_text())
        counts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no such group, or "max"
        return math.inf
    return max(0.0, most - used + float(counts.get(cache, 0)))
