"""Half-duplex and shared links, fat pipes and acknowledgements of configurations and commands."""

import json

import h5py
import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, build_network, describe
from simulator import simulate
from simulator.world.background import ConstantShare
from topologies import InputError, Workload, design
from topologies.link_rules import LinkRules, SharedAccess

pytestmark = pytest.mark.usefixtures("compiled_simulations")

ROUTERS = ("Tokyo", "Seoul", "Sydney")


def graph_of(**network):
    return build_network(NetworkConfig(underlay="gaia", access="100 Mbps", silo_at=ROUTERS, **network))


@pytest.mark.parametrize(
    ("network", "rules"),
    [
        ({"half_duplex": ("access",)}, LinkRules(half_duplex=(0, 1, 2))),
        ({"half_duplex": ("Tokyo", "Seoul", "Tokyo")}, LinkRules(half_duplex=(2, 0))),
        ({"acks": "tcp"}, LinkRules(ack_share=0.0184)),
        ({"acks": "5 %"}, LinkRules(ack_share=0.05)),
        (
            {"shared_access": {"Tokyo + Sydney": "1 Gbps up, 10 Mbps down"}},
            LinkRules(shared_access=(SharedAccess(silos=(2, 1), up_bps=1e9, down_bps=1e7),)),
        ),
        (
            {"shared_access": {"Seoul + Sydney": "50 Mbps up"}},
            LinkRules(shared_access=(SharedAccess(silos=(0, 1), up_bps=5e7, down_bps=np.inf),)),
        ),
    ],
)
def test_rules_of_texts(network, rules):
    graph = graph_of(**network)
    assert graph.labels == ("Seoul", "Sydney", "Tokyo")
    assert graph.rules == rules


def test_core_links_by_name_in_either_order():
    graph = graph_of(half_duplex=("Tokyo - Seoul",), fat_pipes=("Seoul - Sydney", "Sydney - Seoul"))
    ends = {
        frozenset(graph.underlay.labels[i] for i in pair)
        for pair in graph.underlay.ends[[*graph.rules.half_duplex_core]]
    }
    assert ends == {frozenset(("Tokyo", "Seoul"))}
    assert len(graph.rules.fat_pipes) == 1
    assert graph_of(fat_pipes=("core",)).rules.fat_pipes == tuple(range(55))


def test_labels_with_pluses(tmp_path):
    sites = tmp_path / "sites.csv"
    sites.write_text("name,latitude,longitude\nA,0,0\nA + B,0,1\nB,0,2\n")
    links = tmp_path / "links.csv"
    links.write_text("source,target\nA,A + B\nA + B,B\n")
    config = NetworkConfig(sites=str(sites), links=str(links), shared_access={"A + B + B": "1 Gbps"})
    with pytest.raises(
        InputError, match=r"shared_access\.A \+ B \+ B\(='1 Gbps'\) must name two or more different"
    ):
        build_network(config)


@pytest.mark.parametrize(
    ("network", "error"),
    [
        ({"acks": "much"}, r"^acks\(='much'\) must be 'tcp' or a share such as '2 %'\.$"),
        ({"acks": "100 %"}, r"^acks\(='100 %'\)"),
        ({"half_duplex": ("Paris",)}, r"^half_duplex\(='Paris'\) must be one of"),
        ({"fat_pipes": ("Tokyo",)}, r"^fat_pipes\(='Tokyo'\) must be one of"),
        ({"shared_access": {"Tokyo": "1 Gbps"}}, r"^shared_access\.Tokyo\(='1 Gbps'\) must name two or more"),
        ({"shared_access": {"Tokyo + Paris": "1 Gbps"}}, r"^shared_access silo\(='Paris'\) must be one of"),
        ({"shared_access": {"Tokyo + Seoul": "fast"}}, r"^shared_access\.Tokyo \+ Seoul\(='fast'\)"),
        (
            {"shared_access": {"Tokyo + Seoul": "1 Gbps", "Seoul + Sydney": "1 Gbps"}},
            r"^shared_access\.Seoul \+ Sydney\(='1 Gbps'\) must not name Seoul again, which is in 'Tokyo \+ Seoul'\.$",
        ),
    ],
)
def test_wrong_texts_are_errors(network, error):
    with pytest.raises(InputError, match=error):
        graph_of(**network)


@pytest.mark.parametrize("half", ["core", "Tokyo - Seoul"])
def test_fat_pipes_are_shared_in_no_direction(half):
    with pytest.raises(InputError, match=r"^fat_pipes\(='core'\) must not be half-duplex, too\.$"):
        graph_of(half_duplex=(half,), fat_pipes=("core",))


def test_measured_pairs_have_no_core_links_to_name():
    with pytest.raises(InputError, match=r"^fat_pipes\(='core'\) names a core link; the pairs of clouds"):
        build_network(NetworkConfig(underlay="clouds", fat_pipes=("core",)))


def test_the_description_counts_them():
    graph = graph_of(half_duplex=("access", "Tokyo - Seoul"), fat_pipes=("Tokyo - Sydney",), acks="tcp")
    line = describe(graph, Workload.preset("inaturalist")).splitlines()[1]
    assert line.endswith(
        "; 3 half-duplex access links; 1 half-duplex core link; 1 fat pipe; acknowledgements 1.84 %"
    )


def test_events_on_such_links_are_errors():
    graph = graph_of(half_duplex=("Tokyo - Seoul",))
    ring = design("ring", graph, Workload.preset("inaturalist"))
    event = ConstantShare(link="Tokyo - Seoul", share=0.5)
    with pytest.raises(InputError, match=r"^events\[0\] must not be on .*, which is half-duplex or shared"):
        simulate(ring, 4, events=[event])


def test_a_run_is_recorded_shown_and_drawn(silosim, tmp_path):
    """The ring's busiest link is a half-duplex access link, twice as busy as each of its directions."""
    out = tmp_path / "run.h5"
    rules = ("--half-duplex", "access", "--acks", "2 %", "--shared-access", "Tokyo + Seoul=1 Gbps")
    silosim(
        "simulate", "gaia", "--kind", "ring", "--access", "100 Mbps", *rules, "--rounds", "30", "-o", out
    ).ok()
    with h5py.File(out) as file:
        names = file["connectivity/link_names"].asstr()[:].tolist()
        bits, capacity = file["simulation/ring/link_bits"][:], file["simulation/ring/link_capacity_bps"][:]
    place = {name: number for number, name in enumerate(names)}
    half = place["half-duplex Tokyo"]
    assert bits[half] == pytest.approx(bits[place["Tokyo uplink"]] + bits[place["Tokyo downlink"]])
    assert capacity[half] == 1e8
    shown = silosim("show", out, "--json").ok()
    assert json.loads(shown.out)
    page = tmp_path / "run.html"
    silosim("report", out, "-o", page).ok()
    assert "half-duplex" in page.read_text("utf-8")
    timeline = silosim("timeline", out, "--rounds", "20-22", "-o", tmp_path / "trace.json").ok()
    assert "ring" in timeline.out


def test_upgrades_by_load_refuse_them(silosim):
    words = (
        "upgrade",
        "gaia",
        "--kind",
        "ring",
        "--access",
        "100 Mbps",
        "--half-duplex",
        "access",
        "--budget",
        "2",
    )
    result = silosim(*words).failed(2)
    assert "upgrade by load knows no half-duplex links" in result.err
    silosim(*words, "--by", "paper").ok()


@pytest.mark.parametrize("kind", ["star", "mst", "ring", "base"])
@pytest.mark.parametrize("rules", [("--half-duplex", "access"), ("--fat-pipe", "core")])
def test_circuits_are_explained_by_the_paper(silosim, kind, rules):
    found = silosim("explain", "gaia", "--kind", kind, "--access", "10 Gbps", *rules).ok()
    plain = silosim("explain", "gaia", "--kind", kind, "--access", "10 Gbps").ok()
    assert found.out.count("─") == plain.out.count("─") > 0


def test_a_page_says_what_it_does_not_compute(silosim, tmp_path):
    out, page = tmp_path / "run.h5", tmp_path / "run.html"
    silosim("simulate", "gaia", "--kind", "ring", "--half-duplex", "core", "--rounds", "10", "-o", out).ok()
    silosim("report", out, "-o", page).ok()
    shown = page.read_text("utf-8")
    assert "there is no curve over one capacity of all access links" in shown
    assert "What more capacity gains by load is not computed" in shown


def test_a_replay_elsewhere_keeps_what_names_no_place_and_says_what_it_leaves_out(silosim, tmp_path):
    out = tmp_path / "run.h5"
    rules = ("--half-duplex", "access", "--shared-access", "Tokyo + Seoul=1 Gbps", "--access", "100 Mbps")
    silosim("simulate", "gaia", "--kind", "ring", *rules, "--rounds", "20", "-o", out).ok()
    again = silosim("replay", out, "--underlay", "gaia", "--json").ok()
    (ring,) = json.loads(again.out)["rows"]
    assert ring["load_bound_s"] == pytest.approx(2 * 358961664 / 1e8)
    said = " ".join(again.err.split())
    assert "left out, as they name places of gaia: shared_access(={'Tokyo + Seoul': '1 Gbps'})." in said


def test_constant_rates_say_what_they_leave_out(silosim):
    words = ("simulate", "gaia", "--kind", "ring", "--half-duplex", "access", "--rounds", "20")
    assert "the constant rates of Eq. 3 know no half-duplex links" in " ".join(
        silosim(*words, "--sharing", "equal").ok().out.split()
    )
    assert "constant rates of Eq. 3 know" not in " ".join(silosim(*words).ok().out.split())
