"""The command that holds the closed forms against the simulation."""

import csv
import json

import h5py
import numpy as np
import pytest

from scenarios.config.quantities import signed_s
from scenarios.config.scenario import parse_scenario

pytestmark = pytest.mark.usefixtures("compiled_simulations")

SCENARIO = """
seed = 4
[network]
underlay = "gaia"
access = "1 Gbps"
[workload]
preset = "inaturalist"
[overlays]
kinds = ["mst", "ring"]
[simulation]
rounds = 500
compute = { distribution = "lognormal", cv = 0.5 }
"""


@pytest.fixture
def toml(tmp_path):
    path = tmp_path / "random.toml"
    path.write_text(SCENARIO)
    return path


def test_the_table_says_why_and_fits_80_columns(silosim):
    result = silosim("validate", "geant", "--published", "--kind", "star", "--rounds", "200")

    assert result.code == 0
    assert "shared core link NL -> DE: 24 arcs of the overlay cross it" in " ".join(result.out.split())
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize("network", ["geant", "ebone"])
def test_the_circuit_of_a_long_ring_has_its_largest_arcs_and_the_sum(silosim, network):
    command = ("validate", network, "--published", "--kind", "ring", "--rounds", "200")
    out = silosim(*command).ok().out
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][0]
    circuit = {"geant": 40, "ebone": 87}[network]
    _, paper, queue, rate, wait, *_ = next(
        line.rsplit(maxsplit=6) for line in out.splitlines() if line.startswith(f"sum / {circuit}")
    )

    assert max(map(len, out.splitlines())) <= 80
    assert f"{circuit - 10} others" in out
    assert float(paper) == pytest.approx(1e3 * row["paper_s"], rel=1e-3)
    assert (queue, wait) == ("0", "0")
    assert float(rate) == pytest.approx(1e3 * (row["maxmin_s"] - row["paper_s"]), rel=1e-3)


def test_only_gaps_above_1_percent_have_a_circuit(silosim):
    out = silosim("validate", "geant", "--published", "--kind", "mst", "--rounds", "200").ok().out

    assert "critical circuit" not in out


def test_json_has_the_arcs_and_they_add_up(silosim):
    kinds = ("--kind", "ring")
    found = json.loads(silosim("validate", "gaia", *kinds, "--rounds", "200", "--json").ok().out)
    row, arcs = found["rows"][0], found["arcs"]
    total = sum(arc["eq3_s"] + arc["queue_s"] + arc["rate_s"] + arc["wait_s"] for arc in arcs)

    assert total / sum(arc["tokens"] for arc in arcs) == pytest.approx(row["maxmin_s"], rel=1e-9)
    assert row["maxmin_over_paper"] == pytest.approx(row["maxmin_s"] / row["paper_s"] - 1)


def test_a_scenario_gives_everything_and_options_change_it(silosim, toml):
    toml.write_text(SCENARIO.replace("rounds = 500", "rounds = 150"))
    found = json.loads(silosim("validate", toml, "--json").ok().out)["rows"]
    other = json.loads(
        silosim("validate", toml, "--kind", "mst", "--rounds", "100", "--seed", "5", "--json").ok().out
    )

    assert [row["overlay"] for row in found] == ["mst", "ring"]
    assert [row["maxmin_rounds"] for row in found] == [150, 150]
    assert not any(row["maxmin_is_exact"] for row in found)
    assert [row["overlay"] for row in other["rows"]] == ["mst"]
    assert other["rows"][0]["maxmin_rounds"] == 100
    refused = silosim("validate", toml, "--access", "1 Gbps")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--access goes with the name of a network" in refused.err


def test_random_computing_times_add_up_and_differences_are_paired(silosim, toml):
    result = silosim("validate", toml).ok()
    found = json.loads(silosim("validate", toml, "--json").ok().out)
    mst, ring = found["rows"]

    for row in (mst, ring):
        arcs = [arc for arc in found["arcs"] if arc["overlay"] == row["overlay"]]
        terms = ("eq3_s", "queue_s", "rate_s", "wait_s", "computing_s")
        total = sum(arc[term] for arc in arcs for term in terms)
        assert total / sum(arc["tokens"] for arc in arcs) == pytest.approx(row["maxmin_s"], rel=1e-9)
    assert any(arc["computing_s"] != 0 for arc in found["arcs"])
    assert mst["difference_s"] is None
    apart_s = ring["maxmin_s"] - mst["maxmin_s"]
    assert abs(ring["difference_s"] - apart_s) < mst["maxmin_half_width_s"] + ring["maxmin_half_width_s"]
    assert ring["difference_s"] == pytest.approx(2.3, rel=1e-2)
    shown = f"ring minus mst, maxmin on the same computing times: {signed_s(ring['difference_s'])} +- "
    assert shown in " ".join(result.out.split())
    assert max(map(len, result.out.splitlines())) <= 80


def test_constant_computing_times_have_no_paired_difference(silosim):
    out = silosim("validate", "gaia", "--kind", "mst", "--kind", "ring", "--rounds", "200").ok().out

    assert "minus" not in out


def test_a_random_overlay_has_both_of_its_forms_and_no_parts_by_arc(silosim):
    command = ("validate", "gaia", "--access", "1 Gbps", "--kind", "random_ring", "--seed", "3")
    out = silosim(*command).ok().out
    found = json.loads(silosim(*command, "--json").ok().out)
    row = found["rows"][0]

    assert row["maxmin_rounds"] == 1000
    assert row["max_plus_s"] <= row["paper_s"]
    assert row["max_plus_s"] <= row["equal_s"] + row["equal_half_width_s"] + row["max_plus_half_width_s"]
    assert row["maxmin_half_width_s"] > 0
    assert (row["serialized_s"], found["arcs"]) == (None, [])
    assert "the paper's form (a barrier after each round)" in " ".join(out.split())
    assert "no parts arc by arc" in out
    assert "random_ring: 1000 rounds, since drawn arcs take longer; --rounds sets it." in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.usefixtures("coarse_figures")
def test_too_few_rounds_for_an_interval_are_said_so_and_drawn(silosim, tmp_path):
    path = tmp_path / "gaia.png"
    command = ("validate", "gaia", "--kind", "random_ring", "--rounds", "100")
    result = silosim(*command, "-o", path)
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][0]

    assert (result.code, path.stat().st_size > 1000) == (0, True)
    assert "an estimate: too few rounds for an interval" in " ".join(result.out.split())
    assert (row["maxmin_half_width_s"], row["equal_half_width_s"]) == (None, None)
    assert row["maxmin_s"] > 0


def test_until_ci_stops_early(silosim, toml):
    rows = json.loads(silosim("validate", toml, "--kind", "ring", "--until-ci", "1%", "--json").ok().out)[
        "rows"
    ]
    exact = ("validate", "gaia", "--kind", "ring", "--until-ci", "0.1%", "--json")
    repeats = json.loads(silosim(*exact).ok().out)["rows"][0]

    assert 400 <= rows[0]["maxmin_rounds"] < 20_000
    assert rows[0]["maxmin_half_width_s"] <= 0.01 * rows[0]["maxmin_s"]
    assert repeats["maxmin_is_exact"]
    assert repeats["maxmin_rounds"] < 2000
    assert repeats["maxmin_s"] == pytest.approx(repeats["load_bound_s"], rel=1e-9)


def test_a_world_is_in_maxmin_alone(silosim, tmp_path):
    path = tmp_path / "shared.toml"
    path.write_text(
        SCENARIO.replace('compute = { distribution = "lognormal", cv = 0.5 }', "")
        + '[[simulation.background]]\nshare = "20 %"\n'
    )
    result = silosim("validate", path, "--kind", "ring", "--json").ok()
    row = json.loads(result.out)["rows"][0]

    assert row["equal_s"] == pytest.approx(row["serialized_s"], rel=1e-9)
    assert row["maxmin_s"] == pytest.approx(row["load_bound_s"] / 0.8, rel=1e-9)
    assert "know nothing of background" in silosim("validate", path, "--kind", "ring").ok().out


def test_one_silo_alone_takes_its_computing_time(silosim):
    found = json.loads(
        silosim("validate", "gaia", "--silo-at", "Tokyo", "--rounds", "100", "--json").ok().out
    )

    for row in found["rows"]:
        assert (row["paper_s"], row["maxmin_s"]) == pytest.approx((0.0254, 0.0254))
        assert row["maxmin_over_paper"] == pytest.approx(0, abs=1e-9)


def test_a_model_without_bits_takes_latency_and_computing(silosim):
    command = ("validate", "gaia", "--model-size", "0 B", "--rounds", "100", "--json")

    for row in json.loads(silosim(*command).ok().out)["rows"]:
        assert row["load_bound_s"] == 0
        assert row["maxmin_over_paper"] == pytest.approx(0, abs=1e-9)
        assert row["equal_over_paper"] == pytest.approx(0, abs=1e-9)


@pytest.mark.usefixtures("coarse_figures")
def test_a_cycle_time_of_zero_has_no_gap(silosim, tmp_path):
    network = ("gaia", "--silo-at", "Tokyo", "--compute", "0 s", "--rounds", "100")
    result = silosim("validate", *network, "-o", tmp_path / "all")
    row = json.loads(silosim("validate", *network, "--json").ok().out)["rows"][0]

    assert result.code == 0
    assert (row["paper_s"], row["maxmin_s"], row["maxmin_over_paper"]) == (0, 0, None)


def test_csv_holds_every_overlay(silosim, tmp_path):
    silosim("validate", "gaia", "--rounds", "200", "-o", tmp_path / "gaia.csv").ok()
    rows = list(csv.DictReader((tmp_path / "gaia.csv").read_text().splitlines()))

    assert [row["overlay"] for row in rows] == ["star", "mst", "delta_mbst", "ring"]


@pytest.mark.slow
def test_a_folder_gets_all_three_and_keeps_them_without_force(silosim, tmp_path):
    command = (
        "validate",
        "gaia",
        "--kind",
        "ring",
        "--kind",
        "random_ring",
        "--rounds",
        "200",
        "-o",
        tmp_path,
    )
    first = silosim(*command)
    stamp = (tmp_path / "validation-gaia.h5").stat().st_mtime_ns
    second = silosim(*command)

    assert first.code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"validation-gaia.{ending}" for ending in ("csv", "h5", "png")
    ]
    assert (second.code, second.err.count("\n")) == (2, 1)
    assert "exists already; --force replaces it" in second.err
    assert (tmp_path / "validation-gaia.h5").stat().st_mtime_ns == stamp
    silosim(*command, "--force").ok()


def test_the_file_holds_forms_simulations_and_parts_that_add_up(silosim, tmp_path):
    path = tmp_path / "gaia.h5"
    silosim("validate", "gaia", "--kind", "random_ring", "--kind", "ring", "--rounds", "450", "-o", path).ok()

    with h5py.File(path) as file:
        ring, drawn = file["validation/ring"], file["validation/random_ring"]
        terms = sum(ring[name][:].sum() for name in ("eq3_s", "queue_s", "rate_s", "wait_s", "computing_s"))
        assert terms / ring["tokens"][:].sum() == pytest.approx(ring.attrs["maxmin_s"], rel=1e-9)
        parts = ("serialization", "shared_links", "unused_shares", "waits_for_other_arcs", "computing_times")
        gap_s = ring.attrs["maxmin_s"] - ring.attrs["paper_s"]
        assert sum(ring.attrs[f"{part}_s"] for part in parts) == pytest.approx(gap_s, rel=1e-9)
        assert "Sydney" in ring["source"].asstr()[:]
        assert [drawn.attrs["order"], ring.attrs["order"]] == [0, 1]
        assert np.isnan(drawn.attrs["serialized_s"])
        assert drawn.attrs["maxmin_half_width_s"] > 0
        assert not len(drawn)
        scenario = parse_scenario(file.attrs["scenario"], source=str(path))
        assert scenario.overlays.kinds == ("random_ring", "ring")
    shown = silosim("show", path)
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert "silosim-validation/2" in shown.err


@pytest.mark.parametrize(("ending", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_drawn(silosim, tmp_path, ending, head):
    path = tmp_path / f"gaia.{ending}"
    silosim("validate", "gaia", "--kind", "ring", "--rounds", "100", "-o", path).ok()

    assert path.read_bytes().startswith(head)


def test_another_ending_is_one_line(silosim, tmp_path):
    result = silosim("validate", "gaia", "-o", tmp_path / "gaia.doc")

    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "must end in one of .h5, .hdf5, .png, .svg, .pdf, .csv, .json, .txt, or be a folder" in result.err


def test_too_few_rounds_are_one_line(silosim):
    result = silosim("validate", "gaia", "--rounds", "99")

    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "rounds(=99) must be >= 100." in result.err
