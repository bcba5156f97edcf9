"""Links that can be raised: their names and capacities, and networks where some are against networks built anew."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity
from topologies.analysis import Resources, upgrade_links, upgraded
from topologies.analysis.upgrade_links import link_names
from topologies.analysis.upgrade_terms import _key

seeds = st.integers(0, 2**32 - 1)
WORK = Workload(model_bits=1e7, compute_s=0.0)


@pytest.fixture
def line(make_underlay):
    """Silos 0 and 2 of three on a line exchange models over both core links; silo 1 only with silo 2."""
    graph = connectivity(
        make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)]),
        access=AccessLinks(up_bps=np.array([1e8, 2e9, 1e9]), down_bps=np.array([np.inf, 1e9, 1e9])),
    )
    return build_overlay("line", graph, WORK, [(0, 2), (2, 0), (1, 2), (2, 1)])


def test_names_and_capacities(line):
    links = upgrade_links(line)

    assert [(link.name, link.bps, link.raised_bps, link.added_gbps) for link in links] == [
        ("r0 uplink", 1e8, 2e8, 0.1),
        ("r1 uplink", 2e9, 4e9, 2.0),
        ("r2 uplink", 1e9, 2e9, 1.0),
        # Nothing limits the downlink of r0.
        ("r1 downlink", 1e9, 2e9, 1.0),
        ("r2 downlink", 1e9, 2e9, 1.0),
        ("core link r0 - r1", 1e9, 2e9, 1.0),
        ("core link r1 - r2", 1e9, 2e9, 1.0),
    ]


def test_links_that_have_the_capacity_already_are_left_out(line):
    links = upgrade_links(line, to_bps=1e9)

    assert [(link.name, link.raised_bps) for link in links] == [("r0 uplink", 1e9)]
    assert [link.raised_bps for link in upgrade_links(line, factor=1.5)][:2] == [1.5e8, 3e9]


def test_links_that_no_model_crosses_are_left_out(make_underlay):
    graph = connectivity(
        make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)]),
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        routers=[0, 1],
    )
    pair = build_overlay("pair", graph, WORK, [(0, 1), (1, 0)])

    assert "core link r1 - r2" in link_names(graph).values()
    assert [link.name for link in upgrade_links(pair)][-1] == "core link r0 - r1"


def test_measured_pairs_are_links_in_one_direction(make_underlay):
    rates = np.array([[np.inf, 3e8], [1e8, np.inf]])
    graph = connectivity(
        make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), bandwidth=rates
    )
    pair = build_overlay("pair", graph, WORK, [(0, 1), (1, 0)])
    forth, back = upgrade_links(pair)[-2:]

    assert (forth.name, forth.bps) == ("measured bandwidth r0 -> r1", 3e8)
    assert (back.name, back.bps) == ("measured bandwidth r1 -> r0", 1e8)
    assert upgraded(pair, [back]).rate_bps.tolist() == [3e8, 2e8]


@given(seed=seeds, ties=st.booleans())
def test_raised_links_are_those_of_a_network_built_anew(random_case, seed, ties):
    case = random_case(seed, ties=ties)
    overlay = case.build()
    rng = np.random.default_rng(seed)
    links = [link for link in upgrade_links(overlay, factor=3.0) if rng.random() < 0.5]
    up, down, core = case.up_bps.copy(), case.down_bps.copy(), case.underlay.capacity_bps.copy()
    rates = case.bandwidth if isinstance(case.bandwidth, str) else case.bandwidth.copy()
    for link in links:
        if link.link_class == "measured":
            rates[*overlay.graph.measured_pairs[link.index]] *= 3.0
        else:
            {"uplink": up, "downlink": down, "core": core}[link.link_class][link.index] *= 3.0
    anew = case.with_(up_bps=up, down_bps=down, core_bps=core, bandwidth=rates).build()
    found = upgraded(overlay, links)

    np.testing.assert_array_equal(found.rate_bps, anew.rate_bps)
    np.testing.assert_array_equal(found.graph.available_bps, anew.graph.available_bps)
    np.testing.assert_array_equal(found.graph.link_capacity_bps, anew.graph.link_capacity_bps)
    np.testing.assert_array_equal(found.consensus, overlay.consensus)
    assert found.closed_forms == anew.closed_forms
    assert (found.kind, found.hub, found.routes) == (overlay.kind, overlay.hub, overlay.routes)


def test_bandwidth_put_into_the_graph_has_no_core_links(line):
    half = replace(line.graph, available_bps=line.graph.available_bps / 2)
    arcs = list(zip(line.source.tolist(), line.target.tolist(), strict=True))
    overlay = build_overlay("line", half, WORK, arcs)
    links = upgrade_links(overlay)

    assert {link.link_class for link in links} == {"uplink", "downlink"}
    np.testing.assert_array_equal(upgraded(overlay, links).graph.available_bps, half.available_bps)


def test_rates_with_all_links_raised_are_twice_as_high(random_case):
    overlay = random_case(3).build()

    np.testing.assert_allclose(
        upgraded(overlay, upgrade_links(overlay)).rate_bps, 2 * Resources.of(overlay).limits_bps().min(axis=0)
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"factor": 1.0}, r"^factor\(=1\.0\) must be finite and > 1\.$"),
        ({"factor": np.inf}, r"^factor\(=inf\) must be finite and > 1\.$"),
        ({"to_bps": 0.0}, r"^to\(=0\.0\) must be finite and > 0\.$"),
        (
            {"factor": 2.0, "to_bps": 1e9},
            r"^factor\(=2\.0\) must not be given beside to\(=1000000000\.0\)\.$",
        ),
    ],
)
def test_wrong_capacities_are_named(line, given, message):
    with pytest.raises(InputError, match=message):
        upgrade_links(line, **given)


@pytest.mark.parametrize("is_measured", [False, True])
def test_directions_belong_to_the_link_of_their_class(is_measured):
    # Ten directions in the core, or measured ones; uplinks and downlinks of five silos; then windows.
    graph = SimpleNamespace(first_uplink=10, first_window=20, silos=5, is_measured=is_measured)
    first = [("measured", 0), ("measured", 1)] if is_measured else [("core", 0), ("core", 0)]
    assert [_key(graph, direction) for direction in (0, 1)] == first
    assert _key(graph, 9) == (("measured", 9) if is_measured else ("core", 4))
    assert [_key(graph, direction) for direction in (10, 14, 15, 19)] == [
        ("uplink", 0),
        ("uplink", 4),
        ("downlink", 0),
        ("downlink", 4),
    ]
    assert [_key(graph, direction) for direction in (20, 25)] == [("measured", -1)] * 2
