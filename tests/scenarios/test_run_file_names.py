"""Names in the file of a run: a reader needs no other group, and no silosim."""

import h5py
import numpy as np
import pytest
from edited_run import edited
from pair_run import ACCESS_BPS, BITS, CYCLE_S, LABELS, OVERLAYS, ROUNDS, pair_graph, write_pair_run

from scenarios.runfile.names import link_names, window_pairs
from scenarios.runfile.reader import read_run
from topologies import AccessLinks, connectivity, load_underlay

ADDED = ("connectivity/silo_labels", "connectivity/link_names")


@pytest.fixture(scope="module")
def pair_run(tmp_path_factory):
    return write_pair_run(tmp_path_factory.mktemp("pair") / "pair.h5")


def test_silos_links_and_arcs_have_their_names(pair_run):
    a, b = LABELS
    with h5py.File(pair_run) as file:
        assert file["connectivity/silo_labels"].asstr()[:].tolist() == [a, b]
        assert file["connectivity/link_names"].asstr()[:].tolist() == [
            *(f"{a} -> {b}", f"{b} -> {a}", f"{a} uplink", f"{b} uplink", f"{a} downlink", f"{b} downlink")
        ]
        group = file[f"overlays/{OVERLAYS[0]}"]
        assert group["source"].asstr()[:].tolist() == [a, b]
        assert group["target"].asstr()[:].tolist() == [b, a]
        assert group.attrs["hub_label"] == ""


def test_the_bits_the_capacity_and_the_time_of_a_link_are_side_by_side(pair_run):
    with h5py.File(pair_run) as file:
        group = file[f"simulation/{OVERLAYS[1]}"]
        names = file["connectivity/link_names"].asstr()[:].tolist()
        assert group["link_bits"].shape == group["link_capacity_bps"].shape == (len(names),)
        assert group.attrs["end_s"] == pytest.approx(ROUNDS * CYCLE_S, rel=1e-12)
        # Each of the two messages of a round crosses one direction of everything.
        assert group["link_bits"][:].tolist() == pytest.approx([ROUNDS * BITS] * 6)
        assert group["link_capacity_bps"][2:].tolist() == [ACCESS_BPS] * 4


def test_arcs_of_a_randomized_overlay_are_named_in_both_places(imported_run):
    with h5py.File(imported_run) as file:
        labels = file["connectivity/silo_labels"].asstr()[:]
        for name, ends in (("overlays/matcha", "arcs"), ("overlays/matcha/rounds", "ends")):
            group = file[name]
            assert group["source"].asstr()[:].tolist() == labels[group[ends][:, 0]].tolist()
            assert group["target"].asstr()[:].tolist() == labels[group[ends][:, 1]].tolist()
        hub = file["overlays/star"].attrs
        assert hub["hub_label"] == labels[hub["hub"]]


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.parametrize("command", ["replay", "simulate", "validate"])
def test_every_command_that_writes_such_a_file_names_them(silosim, run_file, tmp_path, command):
    path = tmp_path / "x.h5"
    given = {
        "replay": (run_file, "--access", "1 Gbps"),
        "simulate": ("gaia", "--kind", "ring", "--rounds", 5),
        "validate": ("gaia", "--kind", "ring", "--rounds", 100),
    }
    silosim(command, *given[command], "-o", path).ok()
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    with h5py.File(path) as file:
        assert tuple(file["connectivity/silo_labels"].asstr()[:]) == graph.labels
        assert tuple(file["connectivity/link_names"].asstr()[:]) == graph.link_names


def test_the_names_of_links_are_those_of_the_graph_in_the_order_of_its_capacities():
    for graph in (pair_graph(), pair_graph(bandwidth=np.array([[np.inf, 1e6], [0.0, np.inf]]))):
        names = [graph.link_name(direction) for direction in range(len(graph.link_capacity_bps))]
        assert graph.link_names == tuple(names)
    # The pair that cannot talk is no link.
    assert len(names) == 1 + 2 + 2
    assert names[0] == f"{LABELS[0]} -> {LABELS[1]}"


@pytest.mark.parametrize("measured", [False, True])
def test_a_file_of_an_older_version_is_read_with_the_same_names(tmp_path, measured):
    graph = pair_graph(bandwidth=np.array([[np.inf, 5e8], [6e8, np.inf]])) if measured else pair_graph()
    path = write_pair_run(tmp_path / "x.h5", graph=graph)
    now = read_run(path)
    frames = [now.links(), now.messages(), now.rounds()]
    with edited(path) as file:
        for name in ADDED:
            del file[name]
        for kind in OVERLAYS:
            del file[f"overlays/{kind}/source"], file[f"overlays/{kind}/target"]
            del file[f"simulation/{kind}/link_capacity_bps"], file[f"simulation/{kind}"].attrs["end_s"]
        names = link_names(file["connectivity"], now.underlay, now.silo_labels)
    old = read_run(path)

    assert names == graph.link_names
    assert old.silo_labels == now.silo_labels == graph.labels
    for frame, before in zip([old.links(), old.messages(), old.rounds()], frames, strict=True):
        assert frame.equals(before)


def test_a_run_with_the_same_seed_gives_the_same_bytes(tmp_path):
    first, second = (write_pair_run(tmp_path / name).read_bytes() for name in ("a.h5", "b.h5"))
    assert first == second


def test_windows_are_of_pairs_that_can_talk(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["available_bps"] = [[1.0, 2.0, 0.0], [2.0, 1.0, 2.0], [2.0, 2.0, 1.0]]
        assert window_pairs(file).shape == (0, 2)
        file["window_bps"] = [[1.0, 1.0, 1.0], [np.inf, 1.0, 1.0], [1.0, np.inf, 1.0]]
        assert window_pairs(file).tolist() == [[0, 1], [1, 2], [2, 0]]
