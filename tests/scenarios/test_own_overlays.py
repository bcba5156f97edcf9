"""Overlays of users: from files, and the same kind twice with different options."""

import json
from itertools import permutations

import h5py
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.config.network import NetworkConfig
from scenarios.config.overlay_config import OWN_KEYS, OverlayConfig, default_overlays, distinct
from scenarios.config.scenario import parse_scenario, read_toml, scenario_of
from scenarios.config.simulation import SimulationConfig
from scenarios.config.toml import scenario_text
from scenarios.runfile.reader import read_run
from topologies import AccessLinks, InputError, Underlay, Workload, connectivity, load_underlay
from topologies.consensus import consensus_matrix, consensus_rules
from topologies.designers.ring_search import is_dense
from topologies.measured_pairs import MeasuredPairs

pytestmark = pytest.mark.usefixtures("compiled_simulations")

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
WORK = Workload(model_bits=8e5, compute_s=0.01)
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


@pytest.mark.usefixtures("files", "placeholder_figures")
@pytest.mark.parametrize("file", ["steps.csv", pytest.param("steps.graphml", marks=pytest.mark.slow)])
def test_a_file_is_one_more_kind_in_every_command(silosim, file):
    plain = ("--access", "1 Gbps", "--arcs", file)
    designed = rows(silosim, "design", "gaia", "--kind", "ring", *plain)
    (swept,) = rows(
        silosim, "sweep", "gaia", "--access", "1 Gbps", "--rounds", 20, "--arcs", file, "--kind", "ring"
    )[1:]
    validated = rows(silosim, "validate", "gaia", "--kind", "ring", "--rounds", 100, *plain)
    simulated = rows(silosim, "simulate", "gaia", "--kind", "ring", "--rounds", 200, *plain)
    explained = json.loads(silosim("explain", "gaia", *plain, "--json").ok().out)

    for table in (designed, validated, simulated):
        assert [row["overlay"] for row in table] == ["ring", "steps"]
    assert designed[1]["paper_s"] == swept["paper_s"] == validated[1]["paper_s"]
    assert designed[1]["arcs"] == 11
    assert simulated[1]["simulated_s"] == pytest.approx(validated[1]["maxmin_s"], rel=1e-9)
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        ("", r"overlays\[0\] must have one of kind, arcs, weights and schedule, has none\."),
        (
            'kind = "ring"\narcs = "x.csv"',
            "must have one of kind, arcs, weights and schedule, has kind and arcs",
        ),
        (
            'hub = "Dublin"',
            r"overlays\[0\] must have one of kind, arcs, weights and schedule beside hub, has none",
        ),
        *(
            (
                entry,
                rf"overlays\[0\].key\(='{key}'\) must be one of arcs, .*, weights, .*did you mean '{meant}'\?\)",
            )
            for entry, key, meant in (
                ('arc = "x.csv"', "arc", "arcs"),
                ('weight = "x.csv"', "weight", "weights"),
                ('Kind = "ring"', "Kind", "kind"),
                ('kind = "ring"\nconsensu = "fdla"', "consensu", "consensus"),
                ('kind = "star"\nhub = "Dublin"\nnmae = "x"', "nmae", "name"),
                ('arcs = "x.csv"\nboth_way = true', "both_way", "both_ways"),
            )
        ),
        ('kind = "rung"', r"overlays\[0\].kind\(='rung'\) must be one of .*did you mean 'ring'"),
        ('kind = "ring"\nhub = "Dublin"', r"overlays\[0\].ring has no options, but hub is given"),
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
        (
            'kind = "ring"\n[[overlays]]\nkind = "ring"',
            r"name\(='ring'\) must not repeat a name: two overlays are the designer ring, and equal in all else; leave "
            r"one out, or state a name in \[\[overlays\]\] of a scenario\.",
        ),
        (
            'kind = "star"\nhub = "Dublin"\n[[overlays]]\nkind = "star"',
            r"name\(='star'\) must not repeat a name: two overlays are the designer star; state a name in .* for one",
        ),
        (
            'arcs = "x.csv"\n[[overlays]]\narcs = "x.csv"\nboth_ways = true',
            r"name\(='x'\) must not repeat a name: two overlays are the file 'x.csv'; state a name in .* for one of",
        ),
        ('arcs = ""', r"overlays\[0\].arcs\(=''\) must not be empty"),
        ('arcs = "a\\nb.csv"', r"overlays\[0\].name\(='a\\nb'\) must be printable"),
        (f'kind = "ring"\nname = "{"ü" * 101}"', "must have at most 200 bytes as UTF-8 text, has 202"),
        (f'arcs = "{"a" * 201}.csv"', "must have at most 200 bytes as UTF-8 text, has 201"),
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
            f"error: steps.csv: {LABELS[0]} cannot send to {LABELS[3]}",
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

    assert "error: part.csv: the overlay must be strongly connected" in error
    text = (
        ENTRIES.split("[[overlays]]")[0]
        + '[[overlays]]\narcs = "part.csv"\nboth_ways = true\nname = "mine"\n'
    )
    (files / "named.toml").write_text(text)
    error = silosim("simulate", "named.toml").failed(2).err
    assert "part.csv: mine: the overlay must be strongly connected" in error


def test_a_star_cannot_have_a_rule(silosim, files):
    text = ENTRIES.split("[[overlays]]")[0] + '[[overlays]]\nkind = "star"\nconsensus = "fdla"\n'
    (files / "star.toml").write_text(text)
    error = silosim("simulate", "star.toml").failed(2).err

    assert (
        "consensus(='fdla') goes with an overlay without a hub; the hub of star averages all models." in error
    )


def test_names_differ():
    rule = (
        r"name\(='ring'\) must not repeat a name: the designer ring and the file 'folder/ring.csv' have it; "
        r"rename a file, or state a name in \[\[overlays\]\] of a scenario"
    )
    with pytest.raises(InputError, match=rule):
        distinct([OverlayConfig(kind="ring"), OverlayConfig(arcs="folder/ring.csv")])


def test_a_name_as_long_as_it_may_be_is_one_of_an_overlay(silosim, files):
    name = "ü" * 100
    text = ENTRIES.split("[[overlays]]")[0] + f'[[overlays]]\nkind = "ring"\nname = "{name}"\n'
    (files / "long.toml").write_text(text + "[simulation]\nrounds = 4\n", encoding="utf-8")
    silosim("simulate", "long.toml", "-o", "long.h5").ok()

    assert [overlay.kind for overlay in read_run(files / "long.h5").overlays] == [name]


@pytest.mark.slow
def test_default_overlays_that_the_pairs_do_not_allow_are_left_out(silosim):
    text = json.loads(silosim("design", "clouds_aws", "--json").ok().out)
    assert [row["overlay"] for row in text["rows"]] == ["star", "mst", "delta_mbst", "ring"]
    for command in (("design", "clouds"), ("simulate", "clouds", "--rounds", 4)):
        found = json.loads(silosim(*command, "--json").ok().out)
        assert [row["overlay"] for row in found["rows"]] == ["mst", "delta_mbst", "ring"]
        assert "left out: star, as no silo can talk both ways with all others." in " ".join(found["notes"])
    # One that is asked for is an error.
    assert "no silo can be the hub" in silosim("design", "clouds", "--kind", "star").failed(2).err


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    """Writes a table of measured pairs: arcs as texts such as "ab", one way each."""
    monkeypatch.chdir(tmp_path)

    def write(name, *arcs):
        rows = "".join(f"{i},{j},100 Mbps,{10 + place} ms\n" for place, (i, j) in enumerate(arcs))
        (tmp_path / name).write_text("from,to,bandwidth,latency\n" + rows)
        return name

    return write


HUB = [*(f"h{spoke}" for spoke in "abcd"), *(f"{spoke}h" for spoke in "abcd")]
CIRCLE = ["ab", "bc", "cd", "de", "ea"]
# Strongly connected, but every way from {a, b} to {c, d} and back goes through h, and no pair talks both ways.
TWO_CIRCLES = ["ha", "ab", "bh", "hc", "cd", "dh"]


@pytest.mark.usefixtures("placeholder_figures")
def test_a_hub_and_its_spokes_have_no_ring(silosim, pairs):
    name = pairs("hs.csv", *HUB)
    why = "left out: ring, as no ring exists, since it would pass h twice"
    commands = (
        ("design", name),
        ("simulate", name, "--rounds", 4),
        ("validate", name, "--rounds", 100),
        ("sweep", name, "--access", "1 Gbps", "--rounds", 4, "-o", "sweep.csv"),
    )
    for command in commands:
        found = json.loads(silosim(*command, "--json").ok().out)
        assert [row["overlay"] for row in found["rows"]] == ["star", "mst", "delta_mbst"]
        assert why in " ".join(found["notes"])
        force = ["--force"] if command[0] == "sweep" else []
        named = json.loads(silosim(*command, "--kind", "star", *force, "--json").ok().out)
        assert "left out" not in " ".join(named["notes"])
    assert "no ring exists" in silosim("design", name, "--kind", "ring").failed(2).err


def test_one_way_pairs_have_a_ring_only(silosim, pairs):
    name = pairs("oneway.csv", *CIRCLE)
    found = json.loads(silosim("simulate", name, "--rounds", 4, "--json").ok().out)

    assert [row["overlay"] for row in found["rows"]] == ["ring"]
    assert "left out: star, mst, delta_mbst, as too few pairs can talk both ways." in " ".join(found["notes"])
    # What the user names, nothing is left out of, though it be the same.
    named = json.loads(silosim("simulate", name, "--rounds", 4, "--kind", "ring", "--json").ok().out)
    assert [row["simulated_s"] for row in named["rows"]] == [row["simulated_s"] for row in found["rows"]]
    assert "left out" not in " ".join(named["notes"])


def test_where_no_default_overlay_exists_the_error_is_that_of_the_first(silosim, pairs, tmp_path):
    name = pairs("two.csv", *TWO_CIRCLES)
    for command in (("design", name), ("simulate", name, "--rounds", 4)):
        assert "star: no silo can be the hub" in silosim(*command).failed(2).err
    # A file is enough.
    (tmp_path / "mine.csv").write_text("from,to\n" + "".join(f"{i},{j}\n" for i, j in TWO_CIRCLES))
    for command in (("design", name), ("simulate", name, "--rounds", 4)):
        assert [row["overlay"] for row in rows(silosim, *command, "--arcs", "mine.csv")] == ["mine"]


def sites(allowed):
    """Sites of which some pairs can talk, all at one rate."""
    silos = len(allowed)
    underlay = Underlay(
        name="sites",
        variant="corrected",
        labels=tuple(f"s{i}" for i in range(silos)),
        latitude_deg=np.full(silos, np.nan),
        longitude_deg=np.full(silos, np.nan),
        ends=np.empty((0, 2), dtype=np.int64),
        length_km=np.empty(0),
        capacity_bps=np.empty(0),
        measured=MeasuredPairs(
            bandwidth_bps=np.where(allowed, 1e8, 0.0), latency_s=np.full((silos, silos), 0.01)
        ),
    )
    return connectivity(underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9))


def test_a_ring_of_many_silos_is_found_among_few_pairs():
    silos = 300
    around = np.arange(silos)
    allowed = np.random.default_rng(0).random((silos, silos)) < 4 / silos
    allowed[around, (around + 1) % silos] = True
    allowed |= allowed.T
    np.fill_diagonal(allowed, False)

    assert not is_dense(allowed)
    assert "ring" in [config.kind for config in default_overlays(sites(allowed))]


def test_silos_without_a_ring_are_those_that_a_search_of_all_orders_finds_none_for():
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(60):
        allowed = rng.random((5, 5)) < rng.uniform(0.4, 0.9)
        np.fill_diagonal(allowed, False)
        if nx.is_strongly_connected(nx.from_numpy_array(allowed.astype(int), create_using=nx.DiGraph)):
            exists = any(
                all(allowed[i, j] for i, j in zip((0, *order), (*order, 0), strict=True))
                for order in permutations(range(1, 5))
            )
            graph = sites(allowed)
            found = "ring" in [config.kind for config in default_overlays(graph)]
            assert found == exists
            assert exists or not is_dense(allowed)
            seen.add((exists, is_dense(allowed)))
    assert seen == {(True, True), (True, False), (False, False)}


@pytest.mark.usefixtures("files")
def test_an_option_of_a_designer_needs_one(silosim):
    error = silosim("explain", "gaia", "--arcs", "steps.csv", "--hub", "load").failed(2).err

    assert "hub(='load') goes with the kind star, but no designer is asked for." in error


NAMES_OF_OVERLAYS = st.text(
    st.characters(exclude_characters="/", exclude_categories=["C", "Z"]), min_size=1, max_size=40
).filter(lambda name: name not in (".", ".."))
PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
OPTION = st.from_regex(r"[a-z_]{1,8}", fullmatch=True) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=8
)
OPTIONS = st.dictionaries(
    OPTION.filter(lambda name: name not in OWN_KEYS),
    st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.booleans(),
    max_size=3,
)
RULES = st.none() | st.sampled_from(["half", *consensus_rules]) | PATHS.map("{}w.csv".format)
SEEDS = st.none() | st.just(0) | st.integers(0, 2**63 - 1)
CONFIGS = (
    st.builds(
        OverlayConfig,
        kind=st.sampled_from(["star", "mst", "best", "theirs"]),  # entries is reserved
        name=st.just("") | NAMES_OF_OVERLAYS,
        options=OPTIONS,
        consensus=RULES,
        seed=SEEDS,
    )
    | st.builds(
        OverlayConfig,
        arcs=PATHS,
        both_ways=st.booleans(),
        consensus=RULES,
        seed=SEEDS,
        name=NAMES_OF_OVERLAYS,
    )
    | st.builds(OverlayConfig, weights=PATHS, seed=SEEDS, name=NAMES_OF_OVERLAYS)
)


@given(
    st.lists(CONFIGS, min_size=1, max_size=4, unique_by=lambda config: config.name),
    st.sampled_from(["", *consensus_rules]),
)
def test_the_text_of_overlays_is_a_scenario_of_the_same(configs, consensus):
    text = scenario_text(
        NetworkConfig(underlay="gaia"), WORK, configs, SimulationConfig(rounds=3), 0, consensus=consensus
    )
    again = scenario_of(read_toml(text, "x"), source="x", recorded=True).overlays

    assert again.overlays == tuple(configs)
    assert again.consensus == consensus
    assert [config.seed for config in again.overlays] == [config.seed for config in configs]


def test_a_rule_beside_entries_stands_for_those_that_can_have_it(silosim, files):
    head = ENTRIES.split("[[overlays]]")[0]
    tail = "[simulation]\nrounds = 4\n"
    (files / "kinds.toml").write_text(head + '[overlays]\nkinds = ["ring"]\nconsensus = "half"\n' + tail)
    beside = ("kind = 'star'", "arcs = 'steps.csv'", "kind = 'matcha'", "kind = 'mst'\nconsensus = 'fmmc'")
    entries = "".join(f"[[overlays.entries]]\n{entry}\n" for entry in ("kind = 'ring'", *beside))
    (files / "entries.toml").write_text(head + '[overlays]\nconsensus = "half"\n' + entries + tail)
    silosim("simulate", "kinds.toml", "-o", "kinds.h5").ok()
    silosim("simulate", "entries.toml", "-o", "entries.h5").ok()
    (ring,) = read_run(files / "kinds.h5").overlays
    own, *others = read_run(files / "entries.h5").overlays

    assert len(others) == len(beside)
    assert np.array_equal(own.consensus, ring.consensus)
    assert np.array_equal(own.consensus, consensus_matrix("half_ring", 11, *ring.arcs[:, :2].T))
    # What a change of the scenario writes has the same meaning.
    silosim("simulate", "entries.toml", "--rounds", 5, "-o", "changed.h5").ok()
    again = read_run(files / "changed.h5")
    assert parse_scenario(again.scenario, source="x").overlays.consensus == "half_ring"
    for overlay, before in zip(again.overlays, (own, *others), strict=True):
        assert np.array_equal(overlay.consensus, before.consensus)


def test_a_file_beside_kinds_leaves_their_rule_recorded(silosim, files):
    head = ENTRIES.split("[[overlays]]")[0]
    overlays = '[overlays]\nkinds = ["star", "ring"]\nconsensus = "half"\n'
    (files / "s.toml").write_text(head + overlays + "[simulation]\nrounds = 4\n")
    silosim("simulate", "s.toml", "--arcs", "steps.csv", "-o", "x.h5").ok()
    run = read_run(files / "x.h5")
    (files / "again.toml").write_text(run.scenario)
    silosim("simulate", "again.toml", "-o", "again.h5").ok()

    assert [overlay.kind for overlay in run.overlays] == ["star", "ring", "steps"]
    for overlay, same in zip(run.overlays, read_run(files / "again.h5").overlays, strict=True):
        assert np.array_equal(overlay.consensus, same.consensus)
    half = consensus_matrix("half_ring", 11, *run.overlays[1].arcs[:, :2].T)
    assert np.array_equal(run.overlays[1].consensus, half)


@pytest.mark.parametrize(
    ("overlays", "rule"),
    [
        ("overlays = []", r"x.toml: overlays\(=\[\]\) must name an overlay"),
        ("overlays = { entries = [] }", r"x.toml: overlays\(=\[\]\) must name an overlay"),
        ("overlays = { entries = 3 }", r"x.toml: overlays.entries\(=3\) must be a list"),
        (
            'overlays = { kinds = ["ring"], entries = [{ kind = "mst" }] }',
            r"overlays.kinds goes without \[\[overlays.entries",
        ),
        (
            'overlays = { star = {}, entries = [{ kind = "star" }] }',
            r"overlays.star goes without \[\[overlays.entries",
        ),
        ('overlays = { entries = [{ kind = "rung" }] }', r"overlays\[0\].kind\(='rung'\) must be one of"),
        (
            'overlays = { consensus = "fdl" }',
            r"overlays.consensus\(='fdl'\) must be one of .*did you mean 'fdla'",
        ),
    ],
)
def test_wrong_tables_of_overlays_are_one_line(overlays, rule):
    text = f'{overlays}\n[network]\nunderlay = "gaia"\n[workload]\npreset = "femnist"\n'
    with pytest.raises(InputError, match=rule) as caught:
        parse_scenario(text, source="x.toml")
    assert "\n" not in str(caught.value)


def test_a_seed_of_thousands_of_digits_is_one_line():
    with pytest.raises(InputError, match=r"x.toml: not valid TOML"):
        parse_scenario(f"seed = {'9' * 5000}\n", source="x.toml")


def test_a_weight_file_for_an_overlay_is_corrected_as_a_mixing_matrix_is(silosim, files):
    matrix = np.eye(11) * 0.5
    for i, j in RING:
        matrix[j, i] = 0.4
    head = ENTRIES.split("[[overlays]]")[0]
    np.save(files / "W.npy", matrix)
    (files / "w.toml").write_text(
        head + '[[overlays]]\narcs = "steps.csv"\nconsensus = "W.npy"\n[simulation]\nrounds = 4\n'
    )
    assert f"W.npy: the row of {LABELS[0]} sums to 0.9" in silosim("simulate", "w.toml").failed(2).err
    np.fill_diagonal(matrix, 0.6000004)
    np.save(files / "W.npy", matrix)
    silosim("simulate", "w.toml", "-o", "w.h5").ok()
    (overlay,) = read_run(files / "w.h5").overlays
    assert overlay.consensus.diagonal() == pytest.approx(0.6, abs=1e-12)


def test_files_are_found_beside_a_scenario_only_where_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "there"
    folder.mkdir()
    for name in ("a.csv", "w.csv"):
        (folder / name).write_text("x")
    config = OverlayConfig(arcs="a.csv", consensus="w.csv").beside(folder)
    assert (config.arcs, config.consensus) == (str(folder / "a.csv"), str(folder / "w.csv"))
    missing = OverlayConfig(weights="none.npy").beside(folder)
    assert missing.weights == "none.npy"
    (tmp_path / "a.csv").write_text("x")
    assert OverlayConfig(arcs="a.csv", consensus="fdla").beside(folder).arcs == "a.csv"
    long = f"{'d' * 300}/a.csv"
    assert OverlayConfig(arcs=long).beside(folder).arcs == long


def test_so_many_overlays_at_most_and_each_once():
    names = [OverlayConfig(kind="ring", name=f"r{i}") for i in range(1001)]
    assert len(distinct(names[:1000])) == 1000
    with pytest.raises(InputError, match=r"must name at most 1,000 overlays, names 1,001\.$"):
        distinct(names)


@pytest.mark.parametrize(
    ("kind", "options", "is_what"),
    [
        ("ring", {}, "static"),
        ("one_peer_exponential", {}, "periodic"),
        ("matcha", {}, "randomized seed"),
        ("random_ring", {}, "randomized seed"),
        ("best", {}, "static seed"),
        ("stl_fw", {}, "static labels"),
    ],
)
def test_what_an_overlay_is_and_takes(kind, options, is_what):
    config = OverlayConfig(kind=kind, options=options)
    assert (config.is_periodic, config.is_randomized) == ("periodic" in is_what, "randomized" in is_what)
    assert (config.takes_seed, config.takes_label_shares) == ("seed" in is_what, "labels" in is_what)
    assert (config.is_plain, config.file, config.title) == (True, None, f"the designer {kind}")


@pytest.mark.parametrize("key", ["arcs", "weights", "schedule"])
def test_an_overlay_of_a_file_has_its_name_and_no_designer(key):
    config = OverlayConfig(**{key: "folder/mine.csv"})
    assert (config.name, config.file, config.title) == (
        "mine",
        "folder/mine.csv",
        "the file 'folder/mine.csv'",
    )
    assert (config.is_periodic, config.is_randomized, config.takes_seed) == (key == "schedule", False, False)
    assert (config.takes_label_shares, config.is_plain) == (False, False)
    config.check_designer()


@pytest.mark.parametrize(
    ("changes", "is_plain"),
    [({}, True), ({"name": "ring"}, True), ({"name": "x"}, False), ({"consensus": "fdla"}, False)],
)
def test_what_kinds_and_options_say_of_an_overlay(changes, is_plain):
    assert OverlayConfig(kind="ring", **changes).is_plain is is_plain


@pytest.mark.parametrize("name", ["a/b", " ", ".", "..", "a\n", "x" * 201])
def test_names_that_no_file_can_have(name):
    with pytest.raises(InputError, match=r"^name\(=.*\) must (be printable|have at most 200 bytes)"):
        OverlayConfig(kind="ring", name=name)


@pytest.mark.parametrize(("name", "used"), [("", "ring"), ("...", "..."), ("x" * 200, "x" * 200)])
def test_names_that_a_file_can_have(name, used):
    assert OverlayConfig(kind="ring", name=name).name == used


def test_which_file_of_weights_is_a_file():
    for text, is_file in (("w.csv", True), ("W.NPY", True), ("fdla", False)):
        assert OverlayConfig(kind="ring", consensus=text).consensus_is_file is is_file
    assert OverlayConfig(kind="ring", consensus="half").consensus == "half_ring"
    assert not OverlayConfig(kind="ring").consensus_is_file
    with pytest.raises(InputError, match=r"consensus goes without schedule, whose states have weights\.$"):
        OverlayConfig(schedule="s.csv", consensus="fdla")
