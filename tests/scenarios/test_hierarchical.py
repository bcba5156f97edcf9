"""Hierarchical FedAvg, whose silos compute in some states only, through commands, trainings and files."""

import json
import re
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.config.scenario import parse_scenario
from scenarios.pages.run_facts import run_facts
from scenarios.pages.training_charts import training_charts
from scenarios.runfile.reader import read_run
from scenarios.studies.run import run_scenario
from topologies import AccessLinks, Workload, connectivity, design_periodic, load_underlay

pytestmark = pytest.mark.usefixtures("compiled_simulations")

SCENARIO = """
seed = 3
[network]
underlay = "gaia"
variant = "published"
access = "1 Gbps"
[workload]
preset = "femnist"
[[overlays]]
kind = "star"
hub = "closeness"
[[overlays]]
kind = "hierarchical"
name = "one region"
regions = 1
cloud_every = 1
[[overlays]]
kind = "hierarchical"
cloud_every = 2
[simulation]
rounds = 60
sharing = "equal"
[training]
ranks = 1
executor = "loop"
model = "softmax"
rounds = 18
log_every = 2
learning_rate = 0.5
"""
GRAPH = connectivity(load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
WORK = Workload.preset("femnist", variant="published")
NOTE = (
    "hierarchical: silos compute in 2 of 6 states; a round, of which cycle times are, is one of these with those after "
    "it, in which models that were just averaged are sent on."
)


def rows_of(result):
    return {row["overlay"]: row for row in json.loads(result.ok().out)["rows"]}


def words(result):
    return " ".join(result.ok().out.split())


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    """The file of the scenario's run; not to be changed."""
    path = tmp_path_factory.mktemp("hierarchical") / "h.h5"
    run_scenario(parse_scenario(SCENARIO, source="h.toml"), SCENARIO, path, force=False, resume=False)
    return path


@pytest.fixture
def run_file(whole_run, tmp_path):
    """A copy of the run's file, which a test may change."""
    return Path(shutil.copy(whole_run, tmp_path))


@pytest.fixture
def overlay():
    return design_periodic("hierarchical", GRAPH, WORK, cloud_every=2)


COMMAND = ("gaia", "--published", "--workload", "femnist", "--access", "1 Gbps", "--kind", "hierarchical")


def test_design_says_what_a_round_is(silosim, overlay):
    row = rows_of(silosim("design", *COMMAND, "--cloud-every", 2, "--json"))["hierarchical"]

    assert (row["period"], row["computing_states"], row["max_degree"]) == (6, 2, overlay.max_degree)
    assert row["messages_per_round"] == overlay.messages / 2
    assert row["paper_s"] == overlay.closed_forms.paper_s
    assert row["throughput_per_s"] == 1 / row["simulated_s"]
    assert row["spectral_gap"] == 1.0
    shown = words(silosim("design", *COMMAND, "--cloud-every", 2))
    assert NOTE in shown
    assert "weighted mean" not in shown


def test_explain_computes_where_silos_do(silosim, overlay):
    rows = json.loads(silosim("explain", *COMMAND, "--cloud-every", 2, "--json").ok().out)["rows"]

    for row in rows:
        assert (row["compute_s"] > 0) == overlay.computes[row["state"]]
        assert row["delay_s"] == pytest.approx(row["compute_s"] + row["latency_s"] + row["transmission_s"])
    rounds = sum(row["lag"] for row in rows) * 2 / 6
    assert sum(row["delay_s"] for row in rows) / rounds == pytest.approx(overlay.closed_forms.paper_s)
    shown = words(silosim("explain", *COMMAND, "--cloud-every", 2))
    assert NOTE[len("hierarchical: s") :] in shown
    assert f"in {rounds:.0f} rounds: silos cannot start rounds faster" in shown


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_simulate_counts_the_rounds_in_which_silos_compute(silosim, overlay, engine):
    command = ("simulate", *COMMAND, "--cloud-every", 2, "--engine", engine, "--sharing", "equal")
    row = rows_of(silosim(*command, "--rounds", 90, "--json"))["hierarchical"]

    assert row["simulated_s"] == pytest.approx(overlay.closed_forms.serialized_s, rel=1e-9)
    assert row["rounds"] == 90
    assert row["period_s"] / row["simulated_s"] == pytest.approx(row["period_rounds"] / 3, rel=1e-9)
    shown = words(silosim(*command, "--rounds", 90))
    assert (
        f"{NOTE} Numbers of rounds to simulate and to train, and rounds in run files, count all states."
        in shown
    )
    assert f"/ {row['period_rounds'] // 3} round" in shown


@pytest.mark.usefixtures("placeholder_figures")
def test_validate_and_sweep_take_it(silosim, overlay, tmp_path):
    found = rows_of(silosim("validate", *COMMAND, "--cloud-every", 2, "--rounds", 120, "--json"))
    assert found["hierarchical"]["equal_s"] == pytest.approx(overlay.closed_forms.serialized_s, rel=1e-9)
    command = (
        "sweep",
        *COMMAND,
        "--cloud-every",
        2,
        "--rounds",
        30,
        "--workers",
        1,
        "-o",
        tmp_path / "s.csv",
    )
    assert rows_of(silosim(*command, "--json"))["hierarchical"]["paper_s"] == pytest.approx(
        overlay.closed_forms.paper_s
    )
    assert NOTE in words(silosim(*command, "--force"))


def test_random_computing_times_are_compared_round_by_round(silosim, tmp_path):
    file = tmp_path / "pair.toml"
    text = SCENARIO.split("[training]")[0].replace("rounds = 60", "rounds = 900")
    file.write_text(text + '[simulation.compute]\ndistribution = "lognormal"\ncv = 0.5\n', encoding="utf-8")

    rows = rows_of(silosim("simulate", file, "--json"))

    # The STAR has 900 rounds of these computing times, one region 450 of them.
    assert rows["one region"]["difference_s"] == pytest.approx(0, abs=1e-9)
    assert rows["one region"]["simulated_half_width_s"] > 0
    first, last = (rows["one region"][f"difference_{end}_round"] for end in ("first", "last"))
    assert (first % 2, last % 2) == (0, 1)


def test_a_run_of_one_region_learns_as_the_star_at_the_same_dates(run_file, silosim):
    star, region, hierarchical = read_run(run_file).overlays

    assert region.closed_forms.paper_s == pytest.approx(star.closed_forms.paper_s, rel=1e-12)
    assert region.history["round"].tolist() == star.history["round"].tolist() == [*range(0, 19, 2)]
    # Round 2 k of its file is round k of the STAR.
    both = np.arange(0, 10, 2)
    for name, tolerance in (("train_loss", 1e-5), ("test_loss", 1e-5), ("test_accuracy", 1e-2)):
        np.testing.assert_allclose(
            region.history[name][both], star.history[name][both // 2], rtol=tolerance, err_msg=name
        )
    np.testing.assert_allclose(region.wall_clock_s[both], star.wall_clock_s[both // 2], rtol=1e-9)
    # After a period all silos hold one model.
    assert hierarchical.history["consensus_distance"][[3, 6, 9]] == pytest.approx(0, abs=1e-6)
    assert hierarchical.history["consensus_distance"][1] > 1e-3
    assert NOTE in words(silosim("show", run_file))
    # Tables and figures count the rounds in which silos compute.
    assert hierarchical.computed_rounds.tolist() == [0, 1, 2, 2, 3, 4, 4, 5, 6, 6]
    assert star.computed_rounds.tolist() == star.history["round"].tolist()
    accuracy = float(region.history["test_accuracy"][4])
    row = region.first_row_at(accuracy)
    assert region.first_round_at(accuracy) == (row, region.wall_clock_s[row])


def test_the_page_counts_the_rounds_in_which_silos_compute(run_file):
    facts = run_facts(run_file)
    star, region, hierarchical = facts.overlays
    np.testing.assert_allclose(region.models, star.models, rtol=1e-12)
    busiest = int(np.argmax(hierarchical.models / facts.graph.link_capacity_bps))
    load_s = hierarchical.models[busiest] * WORK.model_bits / facts.graph.link_capacity_bps[busiest]
    assert load_s == pytest.approx(hierarchical.recorded.closed_forms.load_bound_s, rel=1e-9)

    page = training_charts([facts.record], facts.scenario)
    listed = re.findall(r"<td>(?:<[^>]*>)*hierarchical(?:<[^>]*>)*</td><td[^>]*>(\d+)</td>", page)
    assert listed == ["0", "1", "2", "2", "3", "4", "4", "5", "6", "6"]


def test_of_an_interrupted_simulation_the_cycle_time_is_that_of_rounds(run_file, overlay):
    with edited(run_file) as file:
        file["simulation/hierarchical"].attrs["cycle_time_s"] = np.nan
        file["simulation/hierarchical"].attrs["rounds"] = 50
    found = read_run(run_file).overlays[-1].simulation
    assert not found.is_whole
    assert found.cycle_time_s == pytest.approx(overlay.closed_forms.serialized_s, rel=0.05)


@pytest.mark.usefixtures("placeholder_figures")
def test_files_hold_whether_states_compute(run_file, silosim, overlay):
    recorded = read_run(run_file).overlays[-1]
    assert [state.computes for state in recorded.states] == [*overlay.computes]
    with h5py.File(run_file) as file:
        assert file["overlays/hierarchical/states/computes"][:].tolist() == [*overlay.computes]
        simulation = file["simulation/hierarchical"].attrs
        assert simulation["cycle_time_s"] == pytest.approx(overlay.closed_forms.serialized_s, rel=1e-9)
        assert simulation["rounds"] == 60
    again = rows_of(silosim("replay", run_file, "--access", "100 Mbps", "--json"))
    slow = connectivity(GRAPH.underlay, access=AccessLinks(up_bps=1e8, down_bps=1e8))
    forms = design_periodic("hierarchical", slow, WORK, cloud_every=2).closed_forms
    assert again["hierarchical"]["paper_s"] == pytest.approx(forms.paper_s, rel=1e-12)
    assert again["hierarchical"]["simulated_s"] == pytest.approx(forms.serialized_s, rel=1e-9)
    # Files from before there were such states lack the field.
    with edited(run_file) as file:
        del file["overlays/hierarchical/states/computes"]
    assert all(state.computes for state in read_run(run_file).overlays[-1].states)


def test_rounds_of_another_program_are_those_in_which_silos_compute(silosim, tmp_path):
    (tmp_path / "metrics.csv").write_text("round,loss\n0,3\n20,2\n150,1\n")
    kinds = ("--kind", "star", "--hub", "closeness", "--kind", "hierarchical", "--regions", 1)
    options = (*COMMAND[1:-2], *kinds, "--cloud-every", 1)
    path = tmp_path / "imported.h5"
    silosim("import-metrics", tmp_path / "metrics.csv", "--on", "gaia", *options, "-o", path).ok()

    star, region = read_run(path).overlays
    assert star.history["round"].tolist() == [0, 20, 150]
    assert region.history["round"].tolist() == [0, 40, 300]
    np.testing.assert_allclose(region.wall_clock_s, star.wall_clock_s, rtol=1e-9)
    assert region.simulation.rounds == star.simulation.rounds == 300
