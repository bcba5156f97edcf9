"""Overlays of users: from files, and the same kind twice with different options."""

import json

import h5py
import networkx as nx
import numpy as np
import pytest

from scenarios.config.overlay_config import OverlayConfig, distinct
from scenarios.config.scenario import parse_scenario
from scenarios.runfile.reader import read_run
from topologies import InputError, load_underlay
from topologies.consensus import consensus_matrix

LABELS = load_underlay("gaia").labels
RING = [(i, (i + 3) % 11) for i in range(11)]
ENTRIES = """
name = "entries"
seed = 4
[network]
underlay = "gaia"
access = "100 Mbps"
[workload]
compute = "10 ms"
model_size = "100 kB"
[[overlays]]
kind = "star"
hub = "Dublin"
[[overlays]]
kind = "star"
hub = "Sydney"
name = "southern star"
[[overlays]]
arcs = "steps.csv"
consensus = "half"
[[overlays]]
weights = "W.npy"
name = "mixing"
[[overlays]]
kind = "matcha"
budget = 0.3
[[overlays]]
kind = "matcha"
budget = 0.3
seed = 9
name = "other seed"
[[overlays]]
kind = "mst"
consensus = "mst-weights.csv"
[simulation]
rounds = 12
[training]
ranks = 1
dataset = "digits"
model = "softmax"
executor = "loop"
rounds = 6
batch_size = 8
log_every = 3
"""
NAMES = ("star", "southern star", "steps", "mixing", "matcha", "other seed", "mst")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with a ring of steps by three as CSV and GraphML, a mixing matrix, and weights for the MST."""
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{LABELS[i]},{j}" for i, j in RING)
    (tmp_path / "steps.csv").write_text(f"from,to\n{rows}\n")
    nx.write_graphml(nx.DiGraph([(LABELS[i], LABELS[j]) for i, j in RING]), tmp_path / "steps.graphml")
    matrix = np.eye(11) * 0.75
    for i, j in RING:
        matrix[j, i] = 0.25
    np.save(tmp_path / "W.npy", matrix)
    (tmp_path / "study.toml").write_text(ENTRIES)
    return tmp_path


@pytest.fixture
def weights_of_the_mst(files, silosim):
    """The MST's Metropolis weights as a file."""
    silosim("simulate", "gaia", "--kind", "mst", "--rounds", 4, "--access", "100 Mbps", "-o", "mst.h5").ok()
    (overlay,) = read_run(files / "mst.h5").overlays
    matrix = consensus_matrix("metropolis", 11, *overlay.arcs[:, :2].T)
    np.savetxt(files / "mst-weights.csv", matrix, delimiter=",")
    return matrix


def rows(silosim, *command):
    return json.loads(silosim(*command, "--json").ok().out)["rows"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("file", ["steps.csv", "steps.graphml"])
def test_a_file_is_one_more_kind_in_every_command(silosim, file):
    plain = ("--access", "1 Gbps", "--arcs", file)
    designed = rows(silosim, "design", "gaia", "--kind", "ring", *plain)
    (swept,) = rows(silosim, "sweep", "gaia", "--access", "1 Gbps", "--arcs", file, "--kind", "ring")[1:]
    validated = rows(silosim, "validate", "gaia", "--kind", "ring", "--rounds", 100, *plain)
    simulated = rows(silosim, "simulate", "gaia", "--kind", "ring", "--rounds", 200, *plain)
    explained = json.loads(silosim("explain", "gaia", *plain, "--json").ok().out)

    for table in (designed, validated, simulated):
        assert [row["overlay"] for row in table] == ["ring", "steps"]
    assert designed[1]["paper_s"] == swept["paper_s"] == validated[1]["paper_s"]
    assert designed[1]["arcs"] == 11
    assert simulated[1]["cycle_time_s"] == pytest.approx(validated[1]["maxmin_s"], rel=1e-9)
    assert explained["rows"]


@pytest.mark.usefixtures("files")
def test_the_default_kinds_are_shown_beside_a_file(silosim):
    designed = rows(silosim, "design", "gaia", "--arcs", "steps.csv")

    assert [row["overlay"] for row in designed] == ["star", "mst", "delta_mbst", "ring", "steps"]


@pytest.mark.usefixtures("files")
def test_the_gap_of_a_mixing_matrix_is_that_of_its_eigenvalues(silosim):
    (row,) = rows(silosim, "design", "gaia", "--weights", "W.npy", "--kind", "ring")[1:]
    eigenvalues = np.sort(np.abs(0.75 + 0.25 * np.exp(2j * np.pi * np.arange(11) / 11)))

    assert row["overlay"] == "W"
    assert row["spectral_gap"] == pytest.approx(1 - eigenvalues[-2], abs=1e-12)


def test_entries_are_trained_simulated_shown_and_replayed_under_their_names(
    silosim, files, weights_of_the_mst
):
    silosim("run", "study.toml", "-o", "study.h5").ok()
    record = read_run(files / "study.h5")

    assert tuple(overlay.kind for overlay in record.overlays) == NAMES
    assert all(overlay.history["round"][-1] == 6 for overlay in record.overlays)
    by_name = {overlay.kind: overlay for overlay in record.overlays}
    hubs = [record.silo_labels[by_name[name].hub] for name in NAMES[:2]]
    assert hubs == ["Dublin", "Sydney"]
    assert np.array_equal(by_name["mst"].consensus, weights_of_the_mst)
    half = consensus_matrix("half_ring", 11, *np.array(RING).T)
    assert np.array_equal(by_name["steps"].consensus, half)
    assert np.array_equal(by_name["mixing"].consensus, np.load("W.npy"))
    for name in NAMES:
        assert name in silosim("show", "study.h5").ok().out
    with h5py.File("study.h5") as file:
        choices = [file[f"overlays/{name}/rounds/active"][:] for name in ("matcha", "other seed")]
        assert not np.array_equal(*choices)
    # The files are in the run, and needed no more.
    for name in ("steps.csv", "W.npy", "mst-weights.csv"):
        (files / name).unlink()
    silosim("replay", "study.h5", "--access", "10 Mbps", "-o", "slow.h5").ok()
    slow = read_run(files / "slow.h5")
    assert tuple(overlay.kind for overlay in slow.overlays) == NAMES
    assert all(
        s.wall_clock_s[-1] > f.wall_clock_s[-1] for s, f in zip(slow.overlays, record.overlays, strict=True)
    )


def test_the_seed_of_an_entry_is_that_of_its_rounds(silosim, files):
    text = ENTRIES.split("[[overlays]]")[0]
    tail = "[simulation]\nrounds = 12\n"
    entry = '[[overlays]]\nkind = "random_ring"\n'
    (files / "own.toml").write_text(text + entry + 'seed = 9\nname = "own"\n' + entry + tail)
    (files / "nine.toml").write_text(text.replace("seed = 4", "seed = 9") + entry + tail)
    silosim("simulate", "own.toml", "-o", "own.h5").ok()
    silosim("simulate", "nine.toml", "-o", "nine.h5").ok()
    with h5py.File("own.h5") as own, h5py.File("nine.h5") as nine:
        drawn = nine["overlays/random_ring/rounds/active"][:]
        assert np.array_equal(own["overlays/own/rounds/active"][:], drawn)
        assert not np.array_equal(own["overlays/random_ring/rounds/active"][:], drawn)


def test_entries_are_chosen_by_their_names(silosim, files):
    text = ENTRIES.replace('consensus = "mst-weights.csv"', "").split("[training]")[0]
    (files / "study.toml").write_text(text)
    chosen = rows(
        silosim, "simulate", "study.toml", "--kind", "southern star", "--kind", "steps", "--kind", "ring"
    )

    assert [row["overlay"] for row in chosen] == ["southern star", "steps", "ring"]


def test_the_text_of_changed_entries_is_a_scenario(silosim, files):
    text = ENTRIES.replace('consensus = "mst-weights.csv"', "").split("[training]")[0]
    (files / "study.toml").write_text(text)
    silosim("simulate", "study.toml", "--rounds", 8, "-o", "changed.h5").ok()
    again = parse_scenario(read_run(files / "changed.h5").scenario, source="x").overlays.overlays

    assert [(config.name, config.options) for config in again[:2]] == [
        ("star", {"hub": "Dublin"}),
        ("southern star", {"hub": "Sydney"}),
    ]
    assert (again[2].consensus, again[3].weights, again[5].seed) == ("half_ring", "W.npy", 9)


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("", r"overlays\[0\].*must be one of kind, arcs and weights, not none"),
        ('kind = "ring"\narcs = "x.csv"', "must be one of kind, arcs and weights, not kind, arcs"),
        ('kind = "rung"', r"overlays\[0\].kind\(='rung'\) must be one of .*did you mean 'ring'"),
        ('kind = "ring"\nhub = "Dublin"', "ring has no options, but hub is given"),
        ('kind = "star"\nhbu = "Dublin"', r"star: option\(='hbu'\) must be one of hub"),
        ('arcs = "x.csv"\nhub = "Dublin"', r"overlays\[0\].hub goes with a designer's overlay only"),
        ('kind = "ring"\nboth_ways = true', r"overlays\[0\].both_ways\(=True\) goes with arcs only"),
        ('weights = "x.npy"\nconsensus = "fdla"', r"overlays\[0\].consensus goes without weights"),
        (
            'kind = "ring"\nconsensus = "fdl"',
            r"consensus\(='fdl'\) must be one of .*\.npy.*did you mean 'fdla'",
        ),
        ('kind = "matcha"\nconsensus = "fdla"', "goes with a static overlay; matcha has weights of its own"),
        (
            'kind = "ring"\nseed = 3',
            r"overlays\[0\].seed\(=3\) goes with a designer that takes one; ring takes none",
        ),
        ('kind = "best"\nseed = -1', r"overlays\[0\].seed\(=-1\) must be >= 0"),
        ('kind = "best"\nseed = "x"', r"overlays\[0\].seed\(='x'\) must be an integer"),
        ('kind = "ring"\nname = "a/b"', r"overlays\[0\].name\(='a/b'\) must be printable, without a slash"),
        ('kind = "ring"\n[[overlays]]\nkind = "ring"', r"name\(='ring'\) must not repeat a name"),
    ],
)
def test_a_wrong_entry_is_one_line(entry, rule):
    text = f'[network]\nunderlay = "gaia"\n[workload]\npreset = "femnist"\n[[overlays]]\n{entry}\n'
    with pytest.raises(InputError, match=rule) as caught:
        parse_scenario(text, source="x.toml")
    assert str(caught.value).startswith("x.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("command", "rule"),
    [
        (("design", "gaia", "--arcs", "none.csv"), "none.csv: there is no such file"),
        (("design", "gaia", "--both-ways"), "both_ways(=True) goes with --arcs"),
        (("design", "geant", "--weights", "W.npy"), "W.npy: has 11 x 11 weights, must have 40 x 40"),
        (
            ("design", "gaia", "--arcs", "steps.csv", "--arcs", "steps.graphml"),
            "name(='steps') must not repeat",
        ),
        (("explain", "gaia", "--arcs", "steps.csv", "--kind", "ring"), "explain takes one overlay"),
        (
            ("design", "gaia", "--arcs", "steps.csv", "--blocked", f"{LABELS[0]} -> {LABELS[3]}"),
            f"steps.csv: steps: {LABELS[0]} cannot send to {LABELS[3]}",
        ),
    ],
)
def test_a_wrong_request_is_one_line(silosim, command, rule):
    error = silosim(*command).failed(2).err

    assert rule in error
    assert error.count("\n") == 1


def test_a_part_that_is_not_connected_is_named(silosim, files):
    (files / "part.csv").write_text(f"from,to\n{LABELS[0]},{LABELS[1]}\n")
    error = silosim("design", "gaia", "--arcs", "part.csv", "--both-ways").failed(2).err

    assert "part.csv: part: the overlay must be strongly connected" in error


def test_a_star_cannot_have_a_rule(silosim, files):
    text = ENTRIES.split("[[overlays]]")[0] + '[[overlays]]\nkind = "star"\nconsensus = "fdla"\n'
    (files / "star.toml").write_text(text)
    error = silosim("simulate", "star.toml").failed(2).err

    assert (
        "consensus(='fdla') goes with an overlay without a hub; the hub of star averages all models." in error
    )


def test_names_differ():
    with pytest.raises(InputError, match=r"name\(='ring'\) must not repeat a name"):
        distinct([OverlayConfig(kind="ring"), OverlayConfig(arcs="folder/ring.csv")])


def test_default_overlays_that_the_pairs_do_not_allow_are_left_out(silosim):
    text = json.loads(silosim("design", "clouds_aws", "--json").ok().out)
    assert [row["overlay"] for row in text["rows"]] == ["star", "mst", "delta_mbst", "ring"]
    for command in (("design", "clouds"), ("simulate", "clouds", "--rounds", 4)):
        found = json.loads(silosim(*command, "--json").ok().out)
        assert [row["overlay"] for row in found["rows"]] == ["mst", "delta_mbst", "ring"]
        assert "left out: star, as no silo can talk both ways with all others." in " ".join(found["notes"])
    # One that is asked for is an error.
    assert "no silo can be the hub" in silosim("design", "clouds", "--kind", "star").failed(2).err
