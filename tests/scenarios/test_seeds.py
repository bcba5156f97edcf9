"""`run --seeds`: a run for each seed, their table of means and their figure."""

import csv
import json

import numpy as np
import pytest
from scipy import stats

import silosim as package
from scenarios.config.scenario import parse_scenario
from scenarios.config.seeds import seeds_of, with_seed
from scenarios.report.seeds_table import seeds_table
from scenarios.runfile.reader import read_run
from topologies import InputError


def test_a_number_of_seeds_or_a_list():
    assert seeds_of("3", 10) == (10, 11, 12)
    assert seeds_of("1, 2,7", 10) == (1, 2, 7)
    assert seeds_of("7,", 10) == (7,)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("0", "must be >= 1 and <= 1000"),
        ("1001", "must be >= 1 and <= 1000"),
        ("x", "must be a number of seeds"),
        ("-1", "must be a number of seeds"),
        ("1,,2", "must be a number of seeds"),
        ("1,1", "must name each seed once"),
        ("", "must be a number of seeds"),
    ],
)
def test_others_are_refused(text, rule):
    with pytest.raises(InputError, match=rf"seeds\(=.*\) {rule}"):
        seeds_of(text, 0)


def test_a_scenario_with_another_seed_is_else_the_same(small_scenario):
    before = parse_scenario(small_scenario, source="small.toml")
    after = parse_scenario(with_seed(small_scenario, 9, source="small.toml"), source="small.toml")
    assert (before.seed, after.seed) == (3, 9)
    assert (before.network, before.workload, before.overlays) == (
        after.network,
        after.workload,
        after.overlays,
    )
    assert (before.simulation, before.training) == (after.simulation, after.training)


def test_a_single_run_has_no_interval(run_file):
    table = seeds_table({3: read_run(run_file)}, "", 0.3)
    row = table.rows[0]
    assert row["test_accuracy_mean"] == read_run(run_file).overlays[0].history["test_accuracy"][-1]
    assert row["test_accuracy_half_width"] is None
    assert (row["seeds"], row["reached"]) == (1, 1)


def test_a_mean_to_the_target_needs_all_runs(run_file):
    table = seeds_table({3: read_run(run_file)}, "", 0.999)
    assert table.rows[0]["reached"] == 0
    assert table.rows[0]["time_to_target_s_mean"] is None


@pytest.mark.slow
def test_each_file_is_that_of_its_seed_and_the_table_their_students_intervals(
    silosim, small_scenario, tmp_path
):
    study, out = tmp_path / "small.toml", tmp_path / "small.h5"
    text = small_scenario.replace("[training]", "[training]\nexecutor = 'loop'\ncheckpoint_every = 6")
    study.write_text(text)
    found = silosim("run", str(study), "-o", str(out), "--seeds", "3", "--json").ok()
    records = {seed: read_run(tmp_path / f"small-seed-{seed}.h5") for seed in (3, 4, 5)}
    silosim("run", str(study), "-o", str(tmp_path / "one.h5")).ok()
    alone = read_run(tmp_path / "one.h5")
    for ours, theirs in zip(records[3].overlays, alone.overlays, strict=True):
        for name, values in theirs.history.items():
            assert np.array_equal(ours.history[name], values), name
        assert np.array_equal(ours.wall_clock_s, theirs.wall_clock_s)

    accuracies = [record.overlays[0].history["test_accuracy"][-1] for record in records.values()]
    low, high = stats.t.interval(0.95, 2, loc=np.mean(accuracies), scale=stats.sem(accuracies))
    assert len(set(accuracies)) > 1
    (table,) = [json.loads(found.out)]
    row = table["rows"][0]
    assert row["test_accuracy_mean"] == pytest.approx(np.mean(accuracies), rel=1e-12)
    assert row["test_accuracy_half_width"] == pytest.approx((high - low) / 2, rel=1e-9)
    assert [run["test_accuracy"] for run in table["runs"] if run["overlay"] == "star"] == accuracies
    with (tmp_path / "small-seeds.csv").open(newline="") as file:
        star = next(csv.DictReader(file))
    assert float(star["test_accuracy_mean"]) == row["test_accuracy_mean"]
    assert (tmp_path / "small-seeds.png").stat().st_size > 10_000

    again = silosim("run", str(study), "-o", str(out), "--seeds", "3").failed(2)
    assert "small-seeds.csv" in again.err
    (tmp_path / "small-seed-4.h5").unlink()
    silosim("run", str(study), "-o", str(out), "--seeds", "3", "--resume").ok()
    table = package.run_seeds(study, out, [3, 4, 5], resume=True)
    assert table.rows[0]["test_accuracy_mean"] == row["test_accuracy_mean"]
    remade = read_run(tmp_path / "small-seed-4.h5").overlays[1].history["test_loss"]
    assert np.array_equal(remade, records[4].overlays[1].history["test_loss"])


def test_seeds_go_with_a_training(silosim, small_scenario, tmp_path):
    study = tmp_path / "small.toml"
    study.write_text(
        small_scenario.partition("[training]")[0].replace("[workload]", "[workload]\nmodel_size = '1 MB'")
    )
    result = silosim("run", str(study), "-o", str(tmp_path / "o.h5"), "--seeds", "2").failed(2)
    assert "seeds goes with a scenario that has [training]" in result.err


def test_so_many_seeds_at_most_and_each_once():
    assert seeds_of("1", 7) == (7,)
    assert seeds_of("1000", 0) == tuple(range(1000))
    assert seeds_of("0,", 5) == (0,)
    assert seeds_of("1000,0", 5) == (1000, 0)
    with pytest.raises(InputError, match=r"must name each seed once\.$"):
        seeds_of("1,2,1", 0)
    with pytest.raises(InputError, match=r"seed"):
        seeds_of(f"{2**63},", 0)
