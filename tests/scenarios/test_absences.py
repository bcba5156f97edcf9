"""A silo that others go on without: every command follows the silos that are there."""

import json

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.runfile.reader import read_run

pytestmark = pytest.mark.usefixtures("compiled_simulations")

# Three silos, a core link of 1 Mbps between each two, 10 s of computing: a round takes 11.004 s for whoever is there.
ROUND_S = 11.004
NETWORK = "\n".join(
    (
        "graph [",
        *(f'node [ id {n} label "{label}" ]' for n, label in enumerate("ABC")),
        *(f"edge [ source {a} target {b} distance 0.0 capacity 1.0e6 ]" for a, b in ((0, 1), (1, 2), (0, 2))),
        "]",
    )
)
SCENARIO = """
seed = 4
[network]
underlay = "{gml}"
access = "10 Gbps"
[workload]
model_size = "1 Mbit"
compute = "10 s"
[overlays]
kinds = {kinds}
[simulation]
"""
LOGNORMAL = 'compute = { distribution = "lognormal", cv = 0.2 }\n'


def away(first, rounds, silo="C"):
    return (
        f'[[simulation.away]]\nsilo = "{silo}"\nfrom_round = {first}\npolicy = "go_on"\nrounds = {rounds}\n'
    )


WHEN = {
    "start": away(0, 60),
    "middle": away(250, 40),
    "end": away(300, 100),
    "most": away(10, 390),
    "twice": away(20, 100) + away(380, 10),
    "in turn": away(120, 10, "A") + away(200, 10, "B") + away(390, 5),
}
SHORT = {
    "start": away(0, 30),
    "middle": away(60, 20),
    "end": away(80, 20),
    "twice": away(20, 40) + away(90, 5),
    "in turn": away(52, 5, "A") + away(60, 5, "B") + away(70, 5),
}


@pytest.fixture
def command(silosim, tmp_path):
    (tmp_path / "net.gml").write_text(NETWORK)

    def run(name, tables, *options, kinds=("complete",)):
        toml = tmp_path / "x.toml"
        toml.write_text(SCENARIO.format(gml=tmp_path / "net.gml", kinds=json.dumps(list(kinds))) + tables)
        result = silosim(name, toml, *options)
        assert result.code == 0, result.err
        return result.out

    return run


def words(text):
    """Without line breaks."""
    return " ".join(text.split())


def row_of(text):
    return json.loads(text)["rows"][0]


def growth_s(path, silos, first, end):
    """Growth per round of the last start of some silos, from the file of a run."""
    with h5py.File(path) as file:
        last_s = file["simulation/complete/round_start_s"][:, silos].max(axis=1)
    return (last_s[end] - last_s[first]) / (end - first)


@pytest.mark.parametrize(
    ("rounds", "tables"),
    [*((400, tables) for tables in WHEN.values()), *((100, tables) for tables in SHORT.values())],
    ids=[*WHEN, *(f"{name} of few" for name in SHORT)],
)
def test_constant_rounds_take_as_long_as_they_do(command, rounds, tables):
    simulated = row_of(command("simulate", f"rounds = {rounds}\n{tables}", "--json"))
    validated = row_of(command("validate", f"rounds = {rounds}\n{tables}", "--json"))

    assert simulated["simulated_s"] == pytest.approx(ROUND_S, rel=1e-12)
    assert (simulated["simulated_half_width_s"] is None) or simulated["simulated_half_width_s"] < 1e-9
    assert not simulated["simulated_is_exact"]
    for name in ("paper_s", "equal_s", "maxmin_s"):
        assert validated[name] == pytest.approx(ROUND_S, rel=1e-12)
    for part in ("world_s", "world_off_arcs_s", "waits_for_other_arcs_s", "shared_links_s"):
        assert validated[part] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_a_narrow_interval_is_that_of_the_silos_that_are_there(command, tmp_path):
    path = tmp_path / "x.h5"
    tables = f'rounds = 20000\nuntil_ci = "1 %"\n{LOGNORMAL}{away(10, 19_000)}'
    row = row_of(command("simulate", tables, "-o", path, "--json"))
    first, end = row["first_round"], row["last_round"] + 1
    there_s = growth_s(path, [0, 1], first, end)

    assert row["narrow_enough"]
    assert row["rounds"] < 2000
    assert row["simulated_s"] == pytest.approx(there_s, rel=1e-9)
    assert abs(row["end_s"] / row["rounds"] - row["simulated_s"]) < row["simulated_half_width_s"]
    # Both compute, and the slower one sends: more than the mean of one, 11.004 s.
    assert row["simulated_s"] - row["simulated_half_width_s"] > ROUND_S


def test_a_file_says_who_was_away_and_shows_what_simulate_said(command, silosim, tmp_path):
    path = tmp_path / "x.h5"
    tables = f'rounds = 4000\nuntil_ci = "1 %"\n{LOGNORMAL}{away(10, 300)}{away(350, 3_500)}'
    row = row_of(command("simulate", tables, "-o", path, "--json"))
    shown = row_of(silosim("show", path, "--json").ok().out)

    for key in ("simulated_s", "simulated_half_width_s"):
        assert shown[key] == row[key]
    assert "Silos are away: where that is felt" in silosim("show", path).ok().out
    silosim("show", path, "--verify").ok()
    with edited(path) as file:
        group = file["simulation/complete"]
        assert group["absences"][:].tolist() == [[2, 10, 310], [2, 350, 3_850]]
        group.attrs["cycle_time_s"] = np.nan  # as if it had been killed after its last block
    kept = read_run(path).overlays[0].simulation
    assert not kept.is_whole
    assert (kept.cycle_time_s, kept.half_width_s) == (row["simulated_s"], row["simulated_half_width_s"])


def test_run_and_replay_say_the_same(command, silosim, tmp_path):
    tables = f"rounds = 500\n{LOGNORMAL}{away(250, 40)}"
    row = row_of(command("simulate", tables, "--json"))
    command("run", tables, "-o", tmp_path / "x.h5")
    silosim("replay", tmp_path / "x.h5", "--access", "20 Gbps", "-o", tmp_path / "y.h5").ok()

    for name in ("x.h5", "y.h5"):
        shown = row_of(silosim("show", tmp_path / name, "--json").ok().out)
        assert shown["simulated_s"] == pytest.approx(row["simulated_s"], rel=1e-9)
        assert shown["simulated_half_width_s"] == pytest.approx(row["simulated_half_width_s"], rel=1e-6)


@pytest.mark.parametrize("missed", [(250, 40), (10, 485), (0, 137)])
def test_the_worlds_part_is_the_difference_of_the_same_silos_in_the_same_rounds(command, tmp_path, missed):
    first, rounds = missed
    tables = f"rounds = 500\n{LOGNORMAL}"
    row = row_of(command("validate", f"{tables}{away(first, rounds)}", "--json"))
    seen = row_of(command("simulate", f"{tables}{away(first, rounds)}", "-o", tmp_path / "with.h5", "--json"))
    command("simulate", tables, "-o", tmp_path / "without.h5")
    there = [0, 1] if seen["first_round"] < first + rounds else [0, 1, 2]
    window = there, seen["first_round"], seen["last_round"] + 1
    apart_s = growth_s(tmp_path / "with.h5", *window) - growth_s(tmp_path / "without.h5", *window)

    assert row["maxmin_s"] == pytest.approx(seen["simulated_s"], rel=1e-9)
    assert row["world_s"] == pytest.approx(apart_s, abs=1e-9)
    parts = (
        "serialization",
        "shared_links",
        "unused_shares",
        "waits_for_other_arcs",
        "computing_times",
        "world",
    )
    gap_s = row["maxmin_s"] - row["paper_s"]
    assert sum(row[f"{part}_s"] for part in parts) == pytest.approx(gap_s, abs=1e-9)


def test_differences_are_of_silos_that_are_there(command):
    tables = f"rounds = 500\n{LOGNORMAL}{away(10, 480)}"
    rows = json.loads(command("simulate", tables, "--json", kinds=("complete", "underlay")))["rows"]

    # Both are all arcs, on the same computing times.
    assert rows[1]["difference_s"] == pytest.approx(0.0, abs=1e-9)
    validated = json.loads(command("validate", tables, "--json", kinds=("complete", "underlay")))["rows"]
    assert validated[1]["difference_s"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", ["simulate", "validate"])
def test_the_table_says_who_is_counted(command, name):
    some = words(command(name, f"rounds = 400\n{WHEN['middle']}"))
    turns = words(command(name, f"rounds = 100\n{SHORT['in turn']}"))
    past = words(command(name, f"rounds = 400\n{away(0, 20)}"))

    counted = (
        "Where silos are away, the last start counts of those that are there throughout: complete, 2 silos."
    )
    assert counted in some
    assert "No silo is there throughout" not in some
    assert "No silo is there throughout: complete, rounds " in turns
    if name == "validate":
        assert "(mean of rounds " in turns
    assert "the last start counts" not in past
    if name == "validate":
        assert "~: " in some
        assert "over paper" in some


@pytest.mark.slow
def test_until_ci_names_what_begins_and_what_ends_later(command):
    tables = f'rounds = 2000\nuntil_ci = "5 %"\n{LOGNORMAL}'
    begins = words(command("simulate", tables + away(1_800, 100)))
    ends = words(command("simulate", tables + away(10, 1_800)))
    both = words(command("validate", tables + away(10, 1_800) + away(1_900, 10, "B")))

    later = "Still to come after these rounds, and so no part of it: "
    no_wait = "--until-ci does not wait for what is still to come."
    assert f"{later}C away from round 1,800. {no_wait}" in begins
    assert f"{later}C back from round 1,810 on. {no_wait}" in ends
    assert "is part of it: C away from round 10." in ends
    assert f"{later}C back from round 1,810 on; B away from round 1,900. {no_wait}" in both


def test_a_star_of_36_silos_that_are_there_of_40(silosim, tmp_path):
    text = (
        '[network]\nunderlay = "geant"\naccess = "100 Mbps"\n[workload]\npreset = "inaturalist"\n'
        '[overlays]\nkinds = ["star"]\n[simulation]\nrounds = 100\n'
    )
    gone = ("PT", "ES", "IE", "UK")
    (tmp_path / "x.toml").write_text(text + "".join(away(5, 95, silo) for silo in gone))
    found = row_of(silosim("simulate", tmp_path / "x.toml", "-o", tmp_path / "x.h5", "--json").ok().out)
    with h5py.File(tmp_path / "x.h5") as file:
        labels = file["underlay/labels"].asstr()[:].tolist()
        there = [silo for silo, label in enumerate(labels) if label not in gone]
        start_s = file["simulation/star/round_start_s"][:, there]
        bits = file["workload"].attrs["model_bits"]

    assert len(there) == 36
    first, end = found["first_round"], found["last_round"] + 1
    each_s = (start_s[end] - start_s[first]) / (end - first)
    assert found["simulated_s"] == pytest.approx(each_s.max(), rel=1e-9)
    assert each_s.min() == pytest.approx(each_s.max(), rel=1e-9)
    # The hub's access link takes 35 models in and 35 out, one direction after the other.
    assert found["simulated_s"] == pytest.approx(70 * bits / 100e6, rel=1e-3)


def test_a_gap_of_constant_rates_is_exact_and_needs_no_sign(command):
    out = words(command("validate", "rounds = 100"))

    assert "+0.0% +0.0%" in out
    assert "~" not in out


@pytest.mark.usefixtures("placeholder_figures")
def test_a_sweep_says_that_its_gaps_are_estimates(silosim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = ("--access", "10 Gbps", "--published", "--rounds", 20)
    estimated = words(silosim("sweep", "geant", "--kind", "mst", *study).ok().out)
    exact = words(silosim("sweep", "gaia", "--kind", "star", *study).ok().out)

    assert "~: " in estimated
    assert "over paper" in estimated
    assert "~" not in exact
