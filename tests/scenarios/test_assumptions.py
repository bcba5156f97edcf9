"""What a page says is assumed of a network and a workload."""

import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.pages.assumptions import assumptions


@pytest.mark.parametrize(
    ("access", "said"),
    [
        ({}, "Access capacity: what the network's file states"),
        ({"access_up": "100 Mbps"}, "Access capacity of downlinks: what the network's file states"),
        ({"access_down": "100 Mbps"}, "Access capacity of uplinks: what the network's file states"),
        ({"access": "100 Mbps"}, None),
        ({"access_up": "1 Gbps", "access_down": "100 Mbps"}, None),
    ],
)
def test_access_links_without_a_stated_capacity_are_named(access, said):
    config = NetworkConfig(underlay="gaia", **access)
    found = [each for each in assumptions(build_network(config), config, None) if "Access" in each]

    assert [each.partition(",")[0] for each in found] == ([] if said is None else [said])
