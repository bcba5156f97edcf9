"""Mean capacities and utilisations of links by hand."""

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.scenario import parse_scenario
from scenarios.config.utilisation import mean_capacity_bps, utilisation
from simulator.world.names import Names

HEAD = '[network]\nunderlay = "gaia"\n'
TRACE = (
    '[[simulation.capacity]]\nlink = "Tokyo uplink"\nat = ["0 s", "10 s"]\ncapacity = ["1 Gbps", "2 Gbps"]\n'
)
FAILURE = '[[simulation.failure]]\nlink = "Tokyo - Seoul"\nfrom = "5 s"\nuntil = "10 s"\n'
SHARE = '[[simulation.background]]\nshare = "50 %"\n'


@pytest.fixture(scope="module")
def names():
    return Names(build_network(NetworkConfig(underlay="gaia")))


@pytest.mark.parametrize(
    ("end_s", "trace_bps", "failing"),
    [
        (20.0, 1.5e9, 0.75),
        (40.0, 1.75e9, 0.875),
        (10.0, 1e9, 0.5),
        (8.0, 1e9, 0.625),
        (5.0, 1e9, 1.0),
        (0.0, 1e10, 1.0),
    ],
)
def test_capacities_are_means_over_the_time_of_the_job(names, end_s, trace_bps, failing):
    graph = names.graph
    simulation = parse_scenario(HEAD + TRACE + FAILURE + SHARE, source="x").simulation
    found = mean_capacity_bps(graph, simulation, end_s) / graph.link_capacity_bps
    expected = np.ones(len(found))
    (uplink,) = names.directions("Tokyo uplink")
    expected[uplink] = trace_bps / 1e10
    expected[[*names.directions("Tokyo - Seoul")]] = failing
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_without_events_capacities_are_the_networks(names):
    simulation = parse_scenario(HEAD, source="x").simulation
    found = mean_capacity_bps(names.graph, simulation, 7.0)
    np.testing.assert_array_equal(found, names.graph.link_capacity_bps)
    assert found is not names.graph.link_capacity_bps


def test_utilisation_is_the_jobs_bits_over_those_that_a_link_could_carry():
    bits, mean_bps = np.array([10.0, 0.0, 4.0, 0.0]), np.array([10.0, np.nan, np.nan, 5.0])
    np.testing.assert_array_equal(utilisation(bits, mean_bps, 4.0), [0.25, 0.0, np.nan, 0.0])
    assert utilisation(bits, mean_bps, 0.0).tolist() == [0.0] * 4
    assert utilisation(np.array([1e300]), np.array([1e300]), 1e100)[0] == pytest.approx(1e-100)
