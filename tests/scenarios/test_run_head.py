"""What the file of a run says of its network, its workload and its overlays, in a file in memory."""

import json
from dataclasses import replace

import numpy as np
import pair_run
import pytest
from pair_run import pair_graph

from scenarios.config.network import NetworkConfig
from scenarios.config.participation import participation_of
from scenarios.config.simulation import SimulationConfig
from scenarios.runfile import writer
from scenarios.runfile.attributes import check_attributes, json_object
from scenarios.runfile.reader import read_inputs
from scenarios.runfile.recorded_states import read_states
from scenarios.runfile.writer import RunFile, RunHead, graph_digest, write_head, write_overlay
from simulator import overlay_job
from topologies import InputError, State, Workload, build_overlay, build_periodic, connectivity, load_underlay
from topologies.connectivity import AccessLinks
from topologies.link_rules import LinkRules
from topologies.slow_start import with_slow_start

WORK = Workload(model_bits=1e6, compute_s=0.01)


def head_of(**changes):
    given = {
        "scenario": 'name = "x"',
        "network": NetworkConfig(underlay="gaia"),
        "seed": 5,
        "graph": pair_graph(),
        "work": WORK,
    }
    return RunHead(**(given | changes))


def test_a_head_has_the_scenario_and_the_network(file_in_memory):
    head = head_of()
    write_head(file_in_memory, head)
    attrs = dict(file_in_memory.attrs)
    assert (attrs["schema"], attrs["scenario"], attrs["seed"]) == ("silosim-run/1", 'name = "x"', 5)
    assert not attrs["is_replay"]
    assert attrs["graph_sha256"] == graph_digest(head.graph)
    assert "numpy" in json.loads(attrs["library_versions"])
    assert len(attrs["about"].splitlines()) == 3
    check_attributes(attrs)
    graph, underlay = head.graph, head.graph.underlay
    for name in ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps"):
        assert np.array_equal(file_in_memory[f"underlay/{name}"][...], getattr(underlay, name))
    for name in ("router", "up_bps", "down_bps", "core_bps", "latency_s", "available_bps"):
        assert np.array_equal(file_in_memory[f"connectivity/{name}"][...], getattr(graph, name))
    assert "notes" not in file_in_memory["underlay"].attrs
    for absent in ("window_bps", "link_capacity_bps", "initial_window_bits"):
        assert absent not in file_in_memory["connectivity"]
    assert "slow_start" not in file_in_memory["connectivity"].attrs
    network, read, work = read_inputs(file_in_memory)
    assert (network, read.labels) == (head.network, underlay.labels)
    assert (work.model_bits, float(work.compute_s), work.local_steps) == (1e6, 0.01, 1)
    assert (work.overlap, work.message_share, work.participation) == (0.0, 1.0, None)


def test_a_file_that_does_not_say_so_has_whole_models_and_no_overlap(file_in_memory):
    """As those of earlier versions."""
    write_head(file_in_memory, head_of(work=replace(WORK, overlap=0.5)))
    assert read_inputs(file_in_memory)[2].overlap == 0.5
    for name in ("overlap", "message_share", "participation"):
        file_in_memory["workload"].attrs.pop(name, None)
    _, _, work = read_inputs(file_in_memory)
    assert (work.overlap, work.message_share, work.participation) == (0.0, 1.0, None)


def test_a_head_of_a_replay_says_so(file_in_memory):
    write_head(file_in_memory, head_of(is_replay=True))
    assert file_in_memory.attrs["is_replay"]


def test_what_only_some_workloads_have_is_read_again(file_in_memory):
    work = replace(WORK, compute_s=np.array([0.01, 0.02]), local_steps=np.array([1, 3]), message_share=0.25)
    write_head(file_in_memory, head_of(work=work))
    assert "compute_s" not in file_in_memory["workload"].attrs
    *_, read = read_inputs(file_in_memory)
    assert read.compute_s.tolist() == [0.01, 0.02]
    assert read.local_steps.tolist() == [1, 3]
    assert read.message_share == 0.25


def test_computing_that_overlaps_is_read_again(file_in_memory):
    write_head(file_in_memory, head_of(work=replace(WORK, overlap=0.5, local_steps=3)))
    *_, read = read_inputs(file_in_memory)
    assert (read.overlap, read.local_steps) == (0.5, 3)


def test_windows_and_slow_start_are_in_the_file(file_in_memory):
    graph = with_slow_start(replace(pair_graph(), window_bps=np.full((2, 2), 5e6)), "idle", 1e5)
    write_head(file_in_memory, head_of(graph=graph))
    group = file_in_memory["connectivity"]
    assert (group["window_bps"][...] == 5e6).all()
    assert group.attrs["slow_start"] == "idle"
    assert (group["initial_window_bits"][...] == graph.slow_start.initial_bits).all()


@pytest.mark.parametrize("stated", ["25 %", 3])
def test_who_takes_part_is_read_again(file_in_memory, stated):
    write_head(file_in_memory, head_of(work=replace(WORK, participation=participation_of(stated))))
    assert read_inputs(file_in_memory)[2].participation == participation_of(stated)


def test_measured_pairs_are_read_again(file_in_memory):
    underlay = load_underlay("clouds")
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=[0, 1, 2])
    write_head(file_in_memory, head_of(graph=graph))
    read = read_inputs(file_in_memory)[1]
    assert np.array_equal(read.measured.bandwidth_bps, underlay.measured.bandwidth_bps)


def test_capacities_of_links_with_rules_are_in_the_file(file_in_memory):
    graph = replace(pair_graph(), rules=LinkRules(half_duplex=(0,)))
    write_head(file_in_memory, head_of(graph=graph))
    assert np.array_equal(file_in_memory["connectivity/link_capacity_bps"][...], graph.link_capacity_bps)
    assert graph_digest(graph) != graph_digest(pair_graph())


def test_notes_and_numbers_of_a_network_s_file_are_kept(file_in_memory):
    graph = pair_graph()
    noted = replace(graph.underlay, notes=("one", "two"), published_index=np.array([7, 3]))
    write_head(file_in_memory, head_of(graph=replace(graph, underlay=noted)))
    _, read, _ = read_inputs(file_in_memory)
    assert read.notes == ("one", "two")
    assert read.published_index.tolist() == [7, 3]
    assert file_in_memory["underlay"].attrs["name"] == "pair"
    assert file_in_memory["workload"].attrs["name"] == WORK.name
    assert file_in_memory.attrs["units"].startswith("seconds, bits, bits per second, kilometres, degrees")


def test_a_digest_is_that_of_all_that_decides_on_times(monkeypatch):
    graph = pair_graph()
    others = [
        replace(graph, up_bps=graph.up_bps * 2),
        replace(graph, down_bps=graph.down_bps * 2),
        replace(graph, latency_s=graph.latency_s * 2),
        replace(graph, window_bps=np.full((2, 2), 5e6)),
        replace(graph, window_bps=np.full((2, 2), 6e6)),
        with_slow_start(graph, "idle", 1e5),
        with_slow_start(graph, "idle", 2e5),
        with_slow_start(graph, "always", 1e5),
        replace(graph, rules=LinkRules(half_duplex=(0,))),
        replace(graph, rules=LinkRules(half_duplex=(1,))),
        pair_graph(bandwidth=np.array([[np.inf, 1e6], [1e6, np.inf]])),
        replace(graph, underlay=replace(graph.underlay, length_km=np.array([101.0]))),
    ]
    monkeypatch.setattr(pair_run, "LABELS", ("A", "B"))
    digests = [graph_digest(each) for each in (graph, *others, pair_graph())]
    monkeypatch.undo()
    same = [place for place, each in enumerate(digests) if digests.index(each) < place]
    assert same == []
    assert graph_digest(pair_graph()) == digests[0]


def overlays_of(file, *overlays):
    for overlay in overlays:
        write_overlay(file, overlay, overlay_job(overlay, 4), overlay.closed_forms)
    return file["overlays"]


def test_an_overlay_has_its_arcs_weights_and_closed_forms(file_in_memory):
    graph = connectivity(
        load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=[0, 1, 2]
    )
    star = build_overlay("star", graph, WORK, [(1, 0), (0, 1), (2, 0), (0, 2)], hub=0)
    ring = build_overlay("ring", graph, WORK, [(0, 1), (1, 2), (2, 0)])
    groups = overlays_of(file_in_memory, star, ring)
    for order, overlay in enumerate((star, ring)):
        group = groups[overlay.kind]
        assert group["arcs"][:, :2].tolist() == np.column_stack([overlay.source, overlay.target]).tolist()
        assert group["arcs"][:, 2].tolist() == overlay.tokens.tolist()
        assert np.array_equal(group["delay_s"][...], overlay.delay_s)
        assert np.array_equal(group["consensus"][...], overlay.consensus)
        assert group["critical_circuit"][...].tolist() == list(overlay.critical_circuit)
        attrs, forms = group.attrs, overlay.closed_forms
        assert (attrs["paper_s"], attrs["serialized_s"], attrs["load_bound_s"]) == (
            forms.paper_s, forms.serialized_s, forms.load_bound_s,
        )  # fmt: skip
        assert attrs["busiest_link"] == graph.link_name(forms.busiest_link)
        assert attrs["order"] == order
        assert not attrs["drawn"]
        assert not group["consensus"].attrs["negative_weights"]
    # Two arcs at the hub in each direction, one at each silo of a ring.
    assert [groups[kind].attrs["max_degree"] for kind in ("star", "ring")] == [2, 1]
    assert (groups["star"].attrs["hub"], groups["star"].attrs["hub_label"]) == (0, graph.labels[0])
    assert (groups["ring"].attrs["hub"], groups["ring"].attrs["hub_label"]) == (-1, "")
    assert read_states(groups["ring"]) is None


@pytest.mark.parametrize("turned", [False, True])
def test_the_degree_is_the_larger_of_both_directions(file_in_memory, turned):
    graph = connectivity(
        load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=[0, 1, 2, 3]
    )
    # Silo 0 sends to three, and nobody awaits more than two.
    arcs = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (3, 0)]
    overlay = build_overlay("x", graph, WORK, [(j, i) for i, j in arcs] if turned else arcs)
    assert overlays_of(file_in_memory, overlay)["x"].attrs["max_degree"] == 3


def test_states_are_read_as_they_were(file_in_memory):
    graph = connectivity(
        load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=[0, 1, 2]
    )

    def state(arcs, computes=True):
        source, target = np.array(sorted(arcs)).T
        lag, weight = np.ones(len(arcs), dtype=np.int64), np.full(len(arcs), 0.25)
        return State(source=source, target=target, lag=lag, weight=weight, computes=computes)

    states = (
        state([(0, 1), (1, 0)]),
        state([(1, 2), (2, 1), (0, 1), (1, 0)], computes=False),
        state([(0, 2), (2, 0)]),
    )
    group = overlays_of(file_in_memory, build_periodic("p", graph, WORK, states))["p"]
    found = read_states(group)
    assert [each.computes for each in found] == [True, False, True]
    for one, other in zip(found, states, strict=True):
        for name in ("source", "target", "lag", "weight"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
    assert group["states"].attrs["period"] == 3
    assert group["critical_circuit"].shape[1] == 2
    assert group["critical_circuit"].attrs["columns"] == "silo, state"
    assert group["states/ends"].attrs["columns"] == "source silo, target silo"
    assert group["arcs"].attrs["columns"] == "source silo, target silo, tokens"
    labels = graph.labels
    assert group["states/source"].asstr()[:2].tolist() == [labels[0], labels[1]]
    assert group["states/target"].asstr()[:2].tolist() == [labels[1], labels[0]]
    assert (group.attrs["hub"], group.attrs["drawn"], group.attrs["max_degree"]) == (-1, False, 2)
    assert (group["states"].attrs["longest_lag"], group["states"].attrs["negative_weights"]) == (1, False)
    del group["states/computes"]
    assert [each.computes for each in read_states(group)] == [True] * 3


@pytest.mark.parametrize("large", [True, False])
def test_a_large_file_is_announced(tmp_path, capsys, monkeypatch, large):
    overlay = build_overlay("pair", pair_graph(), WORK, [(0, 1), (1, 0)])
    monkeypatch.setattr(writer, "file_bytes", lambda *_jobs, **_options: 2_500_000)
    monkeypatch.setattr(writer, "LARGE_BYTES", 2_499_999 if large else 2_500_000)
    path = tmp_path / "x.h5"
    with RunFile.create(
        path,
        head_of(),
        [(overlay, overlay_job(overlay, 3))],
        settings=SimulationConfig(rounds=3),
        force=False,
    ) as file:
        assert file.silo_start_s("pair", 0).shape == (2,)
        assert "training" not in file._file
    assert capsys.readouterr().err == (f"silosim: {path} takes about 2 MB\n" if large else "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "x(='[1]') must be a JSON object."),
        ("{", "x(='{') must be a JSON object."),
        ('"' + "y" * 60 + '"', f"x(='\"{'y' * 39}') must be a JSON object."),
    ],
)
def test_what_is_no_object_is_shown_from_its_beginning(text, said):
    assert json_object('{"a": 1}', "x") == {"a": 1}
    with pytest.raises(InputError) as caught:
        json_object(text, "x")
    assert str(caught.value) == said
