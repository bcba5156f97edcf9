"""Upgrades that take the paper's closed form below load: explain says so, as upgrade marks it."""

import json

import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.report.longer_load import longer_load
from scenarios.studies.periodic_gains import periodic_gains
from topologies import Workload, design, design_periodic
from topologies.analysis import loads_after, upgrade_links, upgraded

PAIR = ("gaia", "--silo-at", "Tokyo", "--silo-at", "Seoul", "--access", "100 Mbps")
SAID = "But no network is faster than load, which is longer then: 3.590 s with twice the capacity, 3.590 s with no"


def pair():
    return build_network(NetworkConfig(underlay="gaia", access="100 Mbps", silo_at=("Tokyo", "Seoul")))


def test_it_is_said_where_load_is_longer():
    assert longer_load((1.0, 0.5), (1.0, 0.5)) == ""
    assert longer_load((1.0, 0.5), (0.9, 0.6)) == (
        "But no network is faster than load, which is longer then: 600.0 ms with no limit."
    )


@pytest.mark.parametrize("kind", ["one_peer_exponential", "ring"])
def test_the_load_is_that_of_the_network_with_these_links_raised(kind):
    graph, work = pair(), Workload.preset("inaturalist")
    overlay = design(kind, graph, work) if kind == "ring" else design_periodic(kind, graph, work)
    every = upgrade_links(overlay)
    for links in ([], every[:1], every[:3], every):
        doubled_s, unlimited_s = loads_after(overlay, [link.name for link in links])
        assert doubled_s == upgraded(overlay, links).closed_forms.load_bound_s
        assert unlimited_s <= doubled_s <= overlay.closed_forms.load_bound_s
    assert loads_after(overlay, [])[0] == overlay.closed_forms.load_bound_s


@pytest.mark.parametrize("kind", ["one_peer_exponential", "ring"])
def test_explain_says_it(silosim, kind):
    said = " ".join(silosim("explain", *PAIR, "--kind", kind).ok().out.split())
    assert SAID in said
    wide = " ".join(silosim("explain", "gaia", "--kind", kind).ok().out.split())
    assert "no network is faster" not in wide


def test_json_has_the_load(silosim):
    gains = json.loads(silosim("explain", *PAIR, "--kind", "one_peer_exponential", "--json").ok().out)[
        "gains"
    ]
    assert gains[0]["by"] == "paper"
    assert gains[0]["doubled_load_s"] > gains[0]["doubled_s"] + 0.5


def test_where_load_chooses_nothing_is_added():
    overlay = design_periodic(
        "multigraph", build_network(NetworkConfig(underlay="gaia")), Workload.preset("inaturalist")
    )
    gains = {gain.form: gain for gain in periodic_gains(overlay)}
    assert "no network is faster" not in gains["load"].sentence
