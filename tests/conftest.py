"""A network and a workload that tests of several packages share."""

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
