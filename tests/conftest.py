"""A network and a workload that tests of several packages share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from topologies import AccessLinks, Connectivity, Workload, connectivity, load_underlay


@pytest.fixture(scope="session")
def graph() -> Connectivity:
    """Gaia with access links of 1 Gbps."""
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))


@pytest.fixture(scope="session")
def work() -> Workload:
    """A model of 1 Mbit and three local steps of 10 ms."""
    return Workload(model_bits=1e6, compute_s=0.01, local_steps=3)


@pytest.fixture
def processes_naming() -> Callable[[Path], list[int]]:
    """Find the processes whose command line names a path (Linux)."""

    def find(path: Path) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    command = (entry / "cmdline").read_bytes()
                except OSError:  # it ended in the meantime
                    continue
                if str(path).encode() in command:
                    found.append(int(entry.name))
        return found

    return find
