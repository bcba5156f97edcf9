"""Silos on chosen routers and pairs that cannot talk, in TOML, on the command line and in a run's file."""

import json

import h5py
import numpy as np
import pytest

from scenarios.config.network import (
    NetworkConfig,
    WorkloadConfig,
    _compute_span,
    _windows,
    build_network,
    build_workload,
    describe,
    idle_links,
    silos_without_compute,
    superseded,
    work_name,
)
from scenarios.config.quantities import format_rate
from scenarios.config.transfer_windows import with_windows_of
from scenarios.runfile.reader import read_run
from topologies import InputError, Workload, design
from topologies.designers.star import default_hub, star

PLACES = ("Seoul", "Tokyo", "Seoul", "Sydney")


def network(**changes: object) -> NetworkConfig:
    return NetworkConfig(underlay="gaia", **changes)


def test_silos_hang_on_their_routers_and_carry_their_own_access():
    graph = build_network(network(silo_at=PLACES, access_at={"Seoul/2": "1 Mbps"}))
    labels = graph.underlay.labels

    assert graph.labels == ("Seoul/1", "Seoul/2", "Sydney", "Tokyo")
    assert [labels[router] for router in graph.router] == sorted(PLACES)
    assert graph.up_bps.tolist() == [1e10, 1e6, 1e10, 1e10]
    assert graph.available_bps[0, 1] == np.inf


@pytest.mark.parametrize("places", [PLACES, PLACES[::-1], ("Tokyo", "Seoul", "Sydney", "Seoul")])
@pytest.mark.parametrize("kind", ["star", "ring", "mst", "christofides"])
def test_the_order_of_places_changes_no_design(places, kind):
    work = Workload.preset("inaturalist")
    graph, expected = (build_network(network(silo_at=each)) for each in (places, sorted(PLACES)))
    ours, theirs = design(kind, graph, work), design(kind, expected, work)

    assert graph.labels == expected.labels
    assert np.array_equal(ours.source, theirs.source)
    assert np.array_equal(ours.target, theirs.target)
    assert ours.closed_forms == theirs.closed_forms


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Seoul/1 - Tokyo", {(0, 3), (3, 0)}),
        ("Seoul/1 -> Tokyo", {(0, 3)}),
        (" Tokyo  ->  Sydney ", {(3, 2)}),
    ],
)
def test_blocked_pairs_are_those_of_the_text(text, pairs):
    graph = build_network(network(silo_at=PLACES, blocked=(text,)))
    missing = {(int(i), int(j)) for i, j in np.argwhere(~graph.may_send) if i != j}

    assert missing == pairs


def test_labels_that_hold_arrows_are_told_apart(tmp_path):
    gml = tmp_path / "arrows.gml"
    names = ("A - B", "C", "A", "B - C")
    nodes = "".join(f'node [ id {k} label "{name}" ] ' for k, name in enumerate(names))
    edges = "".join(f"edge [ source 0 target {k} distance 1.0 ] " for k in (1, 2, 3))
    gml.write_text(f"graph [ {nodes}{edges}]")

    graph = build_network(NetworkConfig(underlay=str(gml), blocked=("A - B -> A",)))
    assert graph.labels == ("A", "A - B", "B - C", "C")
    assert not graph.may_send[1, 0]
    assert graph.may_send[0, 1]
    with pytest.raises(InputError, match=r"blocked\(='A - B - C'\) must name two silos in one way, not in 2"):
        build_network(NetworkConfig(underlay=str(gml), blocked=("A - B - C",)))


def test_the_description_names_places_and_blocked_arcs():
    work = Workload.preset("inaturalist")
    first = describe(build_network(network(silo_at=PLACES, blocked=("Tokyo - Sydney",))), work).splitlines()[
        0
    ]
    alone = describe(build_network(network(silo_at=("Tokyo",))), work).splitlines()[0]

    assert first == "gaia (corrected): 4 silos on 3 of 11 routers, 55 core links; 2 arcs blocked"
    assert alone == "gaia (corrected): 1 silo on 1 of 11 routers, 55 core links"
    assert " on " not in describe(build_network(network()), work).splitlines()[0]


def test_the_variant_is_that_of_a_shipped_network_and_of_published_lengths(tmp_path):
    work, edge = Workload.preset("inaturalist"), "distance 1.0 published_distance 2.0"
    text = f'graph [ node [ id 0 label "A" ] node [ id 1 label "B" ] edge [ source 0 target 1 {edge} ] ]'
    (tmp_path / "hosp.gml").write_text(text)
    (tmp_path / "gaia.gml").write_text(text)
    titles = [
        describe(build_network(NetworkConfig(underlay=underlay, variant=variant)), work).split(":")[0]
        for underlay in ("gaia", str(tmp_path / "hosp.gml"), str(tmp_path / "gaia.gml"))
        for variant in ("corrected", "published")
    ]

    assert titles == [
        *("gaia (corrected)", "gaia (published)"),
        *("hosp", "hosp (published)"),
        *("gaia", "gaia (published)"),
    ]
    with pytest.raises(InputError, match=r"no link of hosp states one"):
        build_network(NetworkConfig(underlay=str(tmp_path / "hosp.gml"), core="stated"))


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("silo_at = []", "network.silo_at(=[]) must name a router"),
        ('silo_at = "Seoul"', "network.silo_at(='Seoul')"),
        ('silo_at = ["Seol"]', "network.silo_at(='Seol') must be one of"),
        ('blocked = ["Seoul"]', "network.blocked(='Seoul') must be 'A - B'"),
        ('blocked = ["Seoul-Tokyo"]', "network.blocked(='Seoul-Tokyo') must be 'A - B'"),
        ('blocked = ["Seoul - Seoul"]', "blocked(='Seoul - Seoul') must name two different silos"),
        ('blocked = ["Seoul -> Tokio"]', "blocked silo(='Tokio') must be one of"),
        (
            'blocked = [["Seoul", "Tokyo"]]',
            "network.blocked[0](=['Seoul', 'Tokyo']) must be a text, in quotes.",
        ),
        ('silo_at = ["Seoul", "Seoul"]\nblocked = ["Seoul - Tokyo"]', "blocked silo(='Seoul')"),
        ('silo_at = ["Seoul", "Seoul"]\naccess_at = { Seoul = "1 Mbps" }', "must be one of Seoul/1, Seoul/2"),
        ('silo_at = ["Seoul", "Tokyo"]\nblocked = ["Seoul -> Tokyo"]', "Seoul"),
    ],
)
def test_wrong_places_are_one_line_with_file_key_and_value(silosim, tmp_path, toml, message):
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        f'[network]\nunderlay = "gaia"\n{toml}\n[workload]\npreset = "inaturalist"\n[overlays]\nkinds = ["ring"]\n'
    )
    result = silosim("run", scenario, "-o", tmp_path / "s.h5")

    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert f"{scenario}: " in result.err
    assert message in result.err


def test_the_command_line_says_the_same(silosim):
    places = (word for router in PLACES for word in ("--silo-at", router))
    result = silosim(
        "design", "gaia", *places, "--blocked", "Tokyo - Sydney", "--kind", "ring", "--json"
    ).ok()
    (row,) = json.loads(result.out)["rows"]
    circuit = row["critical_circuit"]

    assert row["arcs"] == 4
    assert ("Tokyo", "Sydney") not in set(neighbours(circuit))
    assert ("Sydney", "Tokyo") not in set(neighbours(circuit))


def neighbours(circuit: list[str]) -> list[tuple[str, str]]:
    return list(zip(circuit, circuit[1:] + circuit[:1], strict=True))


def test_a_runs_file_keeps_the_places_and_a_replay_uses_them(silosim, tmp_path):
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        '[network]\nunderlay = "gaia"\nsilo_at = ["Seoul", "Tokyo", "Seoul", "Sydney"]\n'
        'blocked = ["Tokyo - Sydney"]\n[workload]\npreset = "inaturalist"\n[overlays]\nkinds = ["ring"]\n'
        "[simulation]\nrounds = 20\n"
    )
    silosim("run", scenario, "-o", tmp_path / "run.h5").ok()
    silosim("replay", tmp_path / "run.h5", "-o", tmp_path / "same.h5").ok()
    moved = silosim(
        *("replay", tmp_path / "run.h5", "--underlay", "aws_na", "-o", tmp_path / "moved.h5"),
        *(word for router in ("Denver", "Denver", "Miami", "Boston") for word in ("--silo-at", router)),
    )
    before, after = (read_run(tmp_path / name) for name in ("run.h5", "same.h5"))

    assert before.network == after.network == network(silo_at=PLACES, blocked=("Tokyo - Sydney",))
    assert before.overlays[0].closed_forms == after.overlays[0].closed_forms
    with h5py.File(tmp_path / "same.h5") as file:
        assert file["underlay/labels"].asstr()[:][file["connectivity/router"][:]].tolist() == sorted(PLACES)
    assert moved.code == 0, moved.err
    assert read_run(tmp_path / "moved.h5").network.silo_at == ("Denver", "Denver", "Miami", "Boston")
    assert read_run(tmp_path / "moved.h5").network.blocked is None


@pytest.mark.parametrize(
    ("text", "up", "down"),
    [
        ("10 Mbps", 1e7, 1e7),
        ("100 Mbps up, 1 Gbps down", 1e8, 1e9),
        ("1 Gbps down,100 Mbps up", 1e8, 1e9),
        ("100 Mbps up", 1e8, 3e9),
        ("1 Gbps down", 2e9, 1e9),
    ],
)
def test_access_links_of_two_directions(text, up, down):
    graph = build_network(network(access_up="2 Gbps", access_down="3 Gbps", access_at={"Tokyo": text}))
    tokyo = graph.labels.index("Tokyo")

    assert (graph.up_bps[tokyo], graph.down_bps[tokyo]) == (up, down)
    assert set(np.delete(graph.up_bps, tokyo)) == {2e9}
    assert set(np.delete(graph.down_bps, tokyo)) == {3e9}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Gbps up, 2 Gbps", "must be one capacity, or one up and one down"),
        ("1 Gbps up, 2 Gbps up", "must be one capacity, or one up and one down"),
        ("1 Gbps, 2 Gbps", "must be one capacity, or one up and one down"),
        ("1 Gbps sideways", "must be a number with a unit"),
        ("100 up", "Tokyo up"),
        ("nan Gbps down", "must be finite"),
    ],
)
def test_unclear_access_links_are_refused(text, message):
    with pytest.raises(InputError, match=r"access_at\.Tokyo") as caught:
        network(access_at={"Tokyo": text})
    assert message in str(caught.value)


def test_both_directions_on_the_command_line(silosim):
    both = ("--access-up", "20 Mbps", "--access-down", "50 Mbps", "--access-at", "DE=1 Mbps up")
    result = silosim("design", "geant", "--kind", "mst", *both)

    assert result.code == 0
    assert "access 1 Mbps to 20 Mbps up, 50 Mbps down" in result.out


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"underlay": "gaia"}, "core as stated"),
        ({"underlay": "gaia", "variant": "published"}, "core 1 Gbps, assumed on all 55 links"),
        ({"underlay": "geant"}, "core as stated on 39 links, 1 Gbps assumed on 22"),
        ({"underlay": "geant", "core": "stated"}, "core as stated on 39 links, 1 Gbps assumed on 22"),
        ({"underlay": "geant", "core": "1 Gbps"}, "core 1 Gbps"),
        ({"underlay": "ebone"}, "core 1 Gbps, assumed on all 161 links"),
    ],
)
def test_assumed_capacities_are_counted(changes, shown):
    about = describe(build_network(NetworkConfig(**changes)), Workload.preset("inaturalist"))

    assert about.splitlines()[1] == f"access 10 Gbps; {shown}"


def test_a_faster_parallel_link_without_routes_is_named(silosim, tmp_path):
    gml = tmp_path / "parallel.gml"
    nodes = "".join(f'node [ id {k} label "{k}" ] ' for k in range(3))
    link = "edge [ source {} target {} distance {} capacity {} ] "
    # Parallel links are numbered from the shortest on.
    links = [(0, 1, 5.0, 1000000), (0, 1, 9.0, 2000000000), (1, 0, 7.0, 1000000), (1, 2, 1.0, 1000000)]
    gml.write_text(f"graph [ {nodes}{''.join(link.format(*each) for each in links)}]")

    said = "no route takes 0 - 1 #3 (2 Gbps): of parallel links the shortest carries all"
    for command in (("design", gml, "--kind", "mst"), ("explain", gml, "--kind", "mst")):
        assert said in " ".join(silosim(*command).ok().out.split())
    assert "no route takes" not in silosim("design", gml, "--kind", "mst", "--core", "1 Gbps").ok().out


@pytest.mark.parametrize(
    ("text", "up_bps", "down_bps"),
    [("10 Gbps", 10e9, 10e9), ("5 Gbps up", 5e9, 1e8), ("2 Gbps down, 3 Gbps up", 3e9, 2e9)],
)
def test_hub_has_a_link_of_its_own_whatever_the_others_have(text, up_bps, down_bps):
    plain = build_network(network(access="100 Mbps"))
    graph = build_network(network(access="100 Mbps", access_hub=text))
    hub = star(plain, Workload(model_bits=1e6, compute_s=0.0)).hub
    assert (graph.up_bps[hub], graph.down_bps[hub]) == (up_bps, down_bps)
    others = np.arange(graph.silos) != hub
    assert set(graph.up_bps[others]) == {1e8}
    assert set(graph.down_bps[others]) == {1e8}
    assert graph.link_capacity_bps[graph.first_uplink + hub] == up_bps
    # A faster link does not make another silo the hub.
    assert star(graph, Workload(model_bits=1e6, compute_s=0.0)).hub == hub


def test_new_access_capacity_of_all_replaces_the_hubs():
    changed = network(access="1 Gbps", access_hub="10 Gbps").changed(access="2 Gbps")
    assert changed.access_hub is None
    assert network(access_hub="1 Gbps").changed(access="2 Gbps", access_hub="5 Gbps").access_hub == "5 Gbps"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"access_hub": "fast"}, r"access_hub\(='fast'\) must be"),
        (
            {"access_hub": "1 Gbps up, 2 Gbps up"},
            r"access_hub\(='1 Gbps up, 2 Gbps up'\) must be one capacity",
        ),
        ({"access_hub": "0 bps"}, r"access_hub\(='0 bps'\) must be > 0"),
    ],
)
def test_wrong_hub_link_is_named(given, message):
    with pytest.raises(InputError, match=message):
        network(**given)


def test_hub_link_is_stated_once():
    hub = build_network(network()).labels[default_hub(build_network(network()))]
    both = network(access_hub="10 Gbps", access_at={hub: "1 Gbps"})
    with pytest.raises(
        InputError, match=rf"access_at\.{hub} must not be given beside access_hub\(='10 Gbps'\)"
    ):
        build_network(both)


@pytest.mark.parametrize(
    ("own", "own_compute", "name"),
    [
        ({"model_size": "1 MB"}, True, "custom"),
        ({"model_size": "1 MB"}, False, "custom"),
        ({}, True, "trained model"),
        ({"preset": "femnist"}, False, "femnist"),
        ({"preset": "femnist"}, True, "custom, model of femnist"),
        ({"preset": "femnist", "model_size": "1 MB"}, False, "custom, compute of femnist"),
        ({"preset": "femnist", "model_size": "1 MB"}, True, "custom"),
    ],
)
def test_a_workload_is_named_for_what_is_left_of_its_preset(own, own_compute, name):
    assert work_name(WorkloadConfig(**own), own_compute=own_compute) == name


def test_windows_and_streams_of_pairs_go_before_those_of_receivers_and_of_all():
    graph = build_network(NetworkConfig(underlay="gaia", access="100 Gbps"))
    first, second, third = graph.labels[:3]
    place = [graph.labels.index(label) for label in (first, second, third)]
    found = with_windows_of(
        graph, 8e6, 2, {second: 16e6, f"{first} -> {second}": 4e6}, {f"{third} - {first}": 3, third: 5}
    )
    round_trip_s = graph.latency_s + graph.latency_s.T

    def bps(a, b):
        return found.window_bps[place[a], place[b]] * round_trip_s[place[a], place[b]]

    assert bps(0, 1) == pytest.approx(2 * 4e6)
    assert bps(2, 1) == pytest.approx(2 * 16e6)
    assert bps(1, 0) == pytest.approx(2 * 8e6)
    assert bps(2, 0) == pytest.approx(3 * 8e6)
    assert bps(0, 2) == pytest.approx(3 * 8e6)
    assert bps(1, 2) == pytest.approx(5 * 8e6)
    # Without a window streams say nothing.
    assert with_windows_of(graph, None, 2, {}, {first: 3}) is graph
    alone = with_windows_of(graph, None, 1, {second: 8e6}, {})
    assert np.isinf(alone.window_bps[place[1], place[0]])
    assert alone.window_bps[place[0], place[1]] * round_trip_s[place[0], place[1]] == pytest.approx(8e6)
    with pytest.raises(InputError, match=r"window_at silo\(='nobody'\) must be one of"):
        with_windows_of(graph, None, 1, {"nobody": 8e6}, {})


def test_times_and_windows_that_differ_are_told_from_the_smallest_to_the_largest():
    assert (
        _compute_span(Workload(model_bits=1.0, compute_s=np.array([0.3, 0.1, 0.2]))) == "100.0 ms to 300.0 ms"
    )
    assert _compute_span(Workload(model_bits=1.0, compute_s=np.full(3, 0.1))) == "100.0 ms"
    graph = build_network(NetworkConfig(underlay="gaia", access="100 Gbps"))
    assert _windows(graph) == ""
    found = with_windows_of(graph, 8e6, 1, {}, {})
    round_trip_s = (graph.latency_s + graph.latency_s.T)[~np.eye(11, dtype=bool)]
    low, high = (format_rate(8e6 / end) for end in (round_trip_s.max(), round_trip_s.min()))
    assert _windows(found) == f"; windows allow {low} to {high}"


def about(work=None, **changes):
    """Lines that describe a network and a workload."""
    return describe(build_network(network(**changes)), work or Workload.preset("inaturalist")).splitlines()


@pytest.mark.parametrize(
    ("changes", "first", "second"),
    [
        ({"blocked": ("Tokyo -> Sydney",)}, "; 1 arc blocked", ""),
        ({"half_duplex": ("Tokyo",)}, "", "; 1 half-duplex access link"),
        (
            {"half_duplex": ("access", "core")},
            "",
            "; 11 half-duplex access links; 55 half-duplex core links",
        ),
        (
            {"shared_access": {"Seoul + Tokyo": "1 Gbps"}, "acks": "2 %"},
            "",
            "; 1 shared access link; acknowledgements 2 %",
        ),
        (
            {"shared_access": {"Seoul + Tokyo": "1 Gbps", "Sydney + Oregon": "1 Gbps"}, "acks": "tcp"},
            "",
            "; 2 shared access links; acknowledgements 1.84 %",
        ),
        ({"fat_pipes": ("core",)}, "", "; 55 fat pipes"),
        ({"slow_start": "first"}, "", "; slow start first"),
        ({"slow_start": "none"}, "", ""),
    ],
)
def test_the_description_counts_blocked_arcs_and_links_with_rules(changes, first, second):
    assert about(**changes)[:2] == [
        f"gaia (corrected): 11 silos, 55 core links{first}",
        f"access 10 Gbps; core as stated{second}",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "x: 2 Mbit, 1 local step of 100.0 ms"),
        ({"local_steps": 2}, "x: 2 Mbit, 2 local steps of 100.0 ms"),
        ({"local_steps": np.array([1] * 10 + [3])}, "x: 2 Mbit, 1 to 3 local steps of 100.0 ms"),
        (
            {"message_share": 0.125, "compute_s": np.array([0.1] * 10 + [0.2])},
            "x: 2 Mbit (12.5 % of the model), 1 local step of 100.0 ms to 200.0 ms",
        ),
    ],
)
def test_the_description_of_a_workload(changes, words):
    work = Workload(**{"model_bits": 2e6, "compute_s": 0.1, "name": "x", **changes})
    assert about(work)[2] == words
    assert describe(build_network(network()), work, access=False).splitlines()[1] == "core as stated"


def test_the_description_of_measured_pairs_and_of_stated_routes(tmp_path):
    (tmp_path / "pairs.csv").write_text("from,to,mbps,ms\na,b,1,1\nb,a,2,1\nc,a,3,1\na,c,1,1\n")
    graph = build_network(NetworkConfig(pairs=str(tmp_path / "pairs.csv"), access_up="1 Gbps"))
    work = Workload.preset("inaturalist")
    lines = describe(graph, work).splitlines()
    assert lines[0].endswith(": 3 silos, bandwidth and latency measured for 4 of 6 pairs")
    assert lines[1] == "access 1 Gbps up, 10 Gbps down; pairs 1 Mbps to 3 Mbps"
    (tmp_path / "routes.csv").write_text("source,target,path\nTokyo,Seoul,Tokyo > Sydney > Seoul\n")
    stated = build_network(network(routes=str(tmp_path / "routes.csv"), blocked=("Tokyo - Seoul",)))
    assert describe(stated, work).splitlines()[0] == (
        "gaia (corrected): 11 silos, 55 core links, 2 routes stated; 2 arcs blocked"
    )


def test_all_idle_links_are_counted_and_the_first_is_named(tmp_path):
    gml = tmp_path / "parallel.gml"
    nodes = "".join(f'node [ id {k} label "{k}" ] ' for k in range(3))
    link = "edge [ source {} target {} distance {} capacity {} ] "
    links = [(0, 1, 5.0, 1000000), (0, 1, 9.0, 2000000000), (0, 1, 7.0, 3000000000), (1, 2, 1.0, 1000000)]
    gml.write_text(f"graph [ {nodes}{''.join(link.format(*each) for each in links)}]")
    assert idle_links(build_network(NetworkConfig(underlay=str(gml)))) == [
        "no route takes 0 - 1 #2 (3 Gbps) and 1 more: of parallel links the shortest carries all, though this one is "
        "faster."
    ]
    assert idle_links(build_network(network())) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"streams": 0}, "streams(=0) must be >= 1."),
        ({"streams_at": {"Tokyo": 0}}, "streams_at.Tokyo(=0) must be >= 1."),
        ({"streams": 2}, "streams(=2) needs a window or slow_start: without one a stream has no limit."),
        (
            {"streams_at": {"Tokyo": 1, "Seoul": 2}},
            "needs a window or slow_start: without one a stream has no",
        ),
        ({"streams": 2, "slow_start": "none"}, "streams(=2) needs a window or slow_start"),
        ({"routes": ""}, "routes(='') must be a path."),
        ({"sites": "s.csv"}, "sites(='s.csv') must not be given beside underlay(='gaia')."),
        ({"underlay": None}, "underlay is missing."),
        ({"underlay": None, "sites": "s.csv"}, "sites(='s.csv') needs links, pairs or a bandwidth_matrix"),
    ],
)
def test_what_does_not_go_together_in_a_network(changes, message):
    with pytest.raises(InputError) as caught:
        NetworkConfig(**{"underlay": "gaia", **changes})
    assert message in str(caught.value)


def test_one_stream_needs_no_window_and_several_may_have_one_of_some_receivers():
    assert network(streams_at={"Tokyo": 1}).streams == 1
    for limit in ({"window": "1 MiB"}, {"window_at": {"Tokyo": "1 MiB"}}, {"slow_start": "first"}):
        assert network(streams=2, streams_at={"Tokyo": 3}, **limit).streams == 2


@pytest.mark.parametrize(
    ("changed", "lost"),
    [
        ("access", ["access_at", "access_down", "access_hub", "access_up"]),
        ("window", ["window_at"]),
        ("streams", ["streams_at"]),
        ("core", []),
        (
            "underlay",
            [
                *(
                    "bandwidth_matrix",
                    "blocked",
                    "fat_pipes",
                    "half_duplex",
                    "internal_only",
                    "largest_component",
                ),
                *(
                    "latency_matrix",
                    "links",
                    "pairs",
                    "routes",
                    "shared_access",
                    "silo_at",
                    "sites",
                    "streams_at",
                ),
                "window_at",
            ],
        ),
    ],
)
def test_what_a_new_value_replaces(changed, lost):
    assert superseded([changed]) == lost
    assert superseded([changed, *lost]) == []


@pytest.mark.parametrize("name", ["routing", "multipath_seed", "split_flows"])
def test_measured_pairs_are_not_routed(name):
    value = {"routing": "hops", "multipath_seed": 0, "split_flows": True}[name]
    with pytest.raises(
        InputError, match=rf"^{name}\(={value!r}\) goes with a routed core; the pairs of clouds_aws are"
    ):
        build_network(NetworkConfig(underlay="clouds_aws", **{name: value}))


def test_the_access_of_a_file_holds_where_nothing_else_is_stated(tmp_path):
    (tmp_path / "sites.csv").write_text("site,up_mbps,down_mbps\na,1,2\nb,,4\n")
    (tmp_path / "links.csv").write_text("a,b,km\na,b,1\n")
    files = {"sites": str(tmp_path / "sites.csv"), "links": str(tmp_path / "links.csv")}

    def capacities(**stated):
        graph = build_network(NetworkConfig(**files, **stated))
        return graph.up_bps.tolist(), graph.down_bps.tolist()

    assert capacities() == ([1e6, 1e10], [2e6, 4e6])
    assert capacities(access="3 Mbps") == ([3e6] * 2, [3e6] * 2)
    assert capacities(access_up="3 Mbps") == ([3e6] * 2, [2e6, 4e6])
    assert capacities(access="5 Mbps", access_down="3 Mbps") == ([5e6] * 2, [3e6] * 2)
    for name, text in (("access", "x"), ("access_up", "0 bps"), ("access_down", "nan bps")):
        with pytest.raises(InputError, match=rf"^{name}\(='{text}'\) "):
            NetworkConfig(**files, **{name: text})


def test_computing_times_of_single_silos_files_and_presets(tmp_path):
    (tmp_path / "sites.csv").write_text("site,compute_ms\na,1\nb,\nc,\n")
    (tmp_path / "links.csv").write_text("a,b,km\na,b,1\nb,c,1\n")
    files = {"sites": str(tmp_path / "sites.csv"), "links": str(tmp_path / "links.csv")}
    graph = build_network(NetworkConfig(**files))

    def compute_s(**stated):
        work = build_workload(WorkloadConfig(model_size="1 Mbit", **stated), "corrected", graph=graph)
        return np.broadcast_to(work.compute_s, 3).tolist(), work.name

    assert compute_s(compute="2 ms") == ([0.002] * 3, "custom")
    assert compute_s(compute="2 ms", compute_at={"c": "3 ms"}) == ([0.002, 0.002, 0.003], "custom")
    assert compute_s(preset="femnist")[0] == [0.001, *[Workload.preset("femnist").compute_s] * 2]
    assert silos_without_compute(WorkloadConfig(compute_at={"c": "3 ms"}), graph) == ("b",)
    with pytest.raises(InputError) as caught:
        compute_s(compute_at={"c": "3 ms"})
    assert str(caught.value) == (
        "workload needs a preset, or a compute time for 'b': for instance compute_at = { \"b\" = '25.4 ms' }; "
        "compute = '25.4 ms' would hold for all silos."
    )
    plain = build_network(network())
    for given in (None, plain):
        with pytest.raises(
            InputError, match=r"^workload needs a preset or a compute time, for instance compute = "
        ):
            build_workload(WorkloadConfig(model_size="1 Mbit"), "corrected", graph=given)
    with pytest.raises(InputError, match=r"^workload needs a preset or a model_size\.$"):
        build_workload(WorkloadConfig(compute="1 s"), "corrected")


def test_sizes_of_a_workload_and_local_steps():
    graph = build_network(network())
    work = build_workload(WorkloadConfig(compute="0 s", local_steps=2), "corrected", 8.0, graph=graph)
    assert (work.model_bits, work.compute_s, work.local_steps, work.name) == (8.0, 0.0, 2, "trained model")
    some = WorkloadConfig(preset="femnist", local_steps=2, local_steps_at={"Tokyo": 1}, overhead="5 %")
    work = build_workload(some, "corrected", 8.0, graph=graph)
    tokyo = graph.labels.index("Tokyo")
    assert np.asarray(work.local_steps).tolist() == [1 if silo == tokyo else 2 for silo in range(11)]
    assert work.model_bits == pytest.approx(1.05 * Workload.preset("femnist").model_bits, rel=1e-12)
    assert work.name == "femnist, overhead 5 %"
    for field, steps in (("local_steps", 0), ("local_steps_at", {"Tokyo": 0})):
        with pytest.raises(InputError, match=rf"^{field}.*\(=0\) must be >= 1\.$"):
            WorkloadConfig(**{field: steps})


def test_no_time_and_no_bits_are_a_time_and_a_size():
    graph = build_network(network())
    config = WorkloadConfig(model_size="0 bit", compute="1 s", compute_at={"Tokyo": "0 s"})
    work = build_workload(config, "corrected", graph=graph)
    assert (work.model_bits, np.asarray(work.compute_s)[graph.labels.index("Tokyo")]) == (0.0, 0.0)
    assert build_workload(WorkloadConfig(model_size="0 bit", compute="0 s"), "corrected").compute_s == 0.0


def test_a_single_silo_may_have_its_own_time_and_steps():
    graph = build_network(network(silo_at=("Tokyo",)))
    config = WorkloadConfig(preset="femnist", compute_at={"Tokyo": "2 s"}, local_steps_at={"Tokyo": 3})
    work = build_workload(config, "corrected", graph=graph)
    assert (work.compute_s, work.steps_text) == (2.0, "3")


def test_an_example_names_the_silo_as_it_is_written(tmp_path):
    (tmp_path / "sites.csv").write_text("site,compute_ms\nZürich,\nBern,1\n", encoding="utf-8")
    (tmp_path / "links.csv").write_text("a,b,km\nZürich,Bern,1\n", encoding="utf-8")
    files = {"sites": str(tmp_path / "sites.csv"), "links": str(tmp_path / "links.csv")}
    with pytest.raises(InputError, match=r"for instance compute_at = \{ \"Zürich\" = '25\.4 ms' \};"):
        build_workload(
            WorkloadConfig(model_size="1 Mbit"), "corrected", graph=build_network(NetworkConfig(**files))
        )


@pytest.mark.parametrize(
    ("field", "known"),
    [("half_duplex", "access, core, California, Dublin"), ("fat_pipes", "core, California - Dublin")],
)
def test_what_may_be_half_duplex_or_a_fat_pipe_is_listed(field, known):
    with pytest.raises(InputError, match=rf"^{field}\(='nowhere'\) must be one of \d+ names: {known}"):
        build_network(network(**{field: ("nowhere",)}))
