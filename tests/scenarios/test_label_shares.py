"""Overlays by the labels of a scenario's partition."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from scenarios.config import label_shares as module
from scenarios.config.label_shares import PartitionLabels
from scenarios.config.network import build_network
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any
from scenarios.config.scenario import parse_scenario, workload_of
from scenarios.config.study import parse_study
from scenarios.runfile.reader import read_run
from scenarios.simulation.experiment import load_experiment
from scenarios.studies.label_divergence import divergences_bits
from scenarios.studies.partition import divide
from scenarios.studies.run import plan_run
from scenarios.studies.study import study_points
from scenarios.studies.study_points import compute_points
from topologies import DESIGNERS, InputError, design
from topologies.designers.options import declared_options, label_shares_option
from training import Dataset, TrainingConfig

BASE = """
seed = 4

[network]
underlay = "gaia"
access = "1 Gbps"

[workload]
preset = "femnist"

[overlays]
kinds = ["ring", "stl_fw"]
stl_fw = { k = 3 }
"""
TRAINING = """
[training]
dataset = "digits"
partition = "dirichlet"
dirichlet_alpha = 0.2
rounds = 3
"""


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(BASE + TRAINING, encoding="utf-8")
    return file


def setting(text=BASE + TRAINING):
    found = parse_scenario(text, source="x.toml")
    graph = build_network(found.network)
    return found, graph, workload_of(found, graph)


def by_python(*, seed=4, alpha=0.2, k=3):
    """The overlay by the counts that `silosim partition` has."""
    found, graph, work = setting()
    counts = divide(graph, replace(found.training, dirichlet_alpha=alpha), seed).label_counts
    return design("stl_fw", graph, work, k=k, proportions=counts / counts.sum(axis=1, keepdims=True))


def is_same(one, other):
    arrays = ((getattr(each, name) for each in (one, other)) for name in ("source", "target", "consensus"))
    return all(np.array_equal(*pair) for pair in arrays)


def rows_of(result):
    return {row["overlay"]: row for row in json.loads(result.ok().out)["rows"]}


def test_shares_are_those_of_the_printed_partition(silosim, scenario):
    found, graph, _ = setting()
    shares = PartitionLabels(graph=graph, training=found.training, seed=4)()
    printed = json.loads(silosim("partition", scenario, "--json").ok().out)

    assert shares.shape == (11, 10)
    assert shares.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert [row["labels"] for row in printed["silos"]] == np.count_nonzero(shares, axis=1).tolist()
    samples = np.array([row["samples"] for row in printed["silos"]])
    assert shares * samples[:, np.newaxis] == pytest.approx(divide(graph, found.training, 4).label_counts)
    assert np.array(printed["divergence_bits"]) == pytest.approx(divergences_bits(shares), abs=1e-12)


def test_design_of_a_scenario_is_that_from_python(scenario):
    expected = by_python()
    experiment = load_experiment(scenario)

    assert is_same(experiment.design(experiment.overlays[1]), expected)
    assert not is_same(expected, by_python(seed=5))
    assert not is_same(expected, by_python(alpha=5.0))
    entries = BASE.partition("[overlays]")[0] + '[[overlays]]\nkind = "stl_fw"\nk = 2\nname = "two"\n'
    scenario.write_text(entries + TRAINING, encoding="utf-8")
    experiment = load_experiment(scenario)
    assert is_same(experiment.design(experiment.overlays[0]), by_python(k=2))


def test_a_run_has_the_same_overlay():
    found, _, _ = setting()

    assert is_same(plan_run(found).overlays[1], by_python())


@pytest.mark.slow
@pytest.mark.usefixtures("placeholder_figures")
def test_commands_take_a_scenario_and_its_partition(silosim, scenario, tmp_path):
    overlay = by_python()
    expected = overlay.closed_forms.paper_s

    assert rows_of(silosim("design", scenario, "--kind", "stl_fw", "--json"))["stl_fw"]["paper_s"] == expected
    assert rows_of(silosim("simulate", scenario, "--rounds", 20, "--json")).keys() == {"ring", "stl_fw"}
    validated = rows_of(silosim("validate", scenario, "--kind", "stl_fw", "--rounds", 100, "--json"))
    assert validated["stl_fw"]["paper_s"] == expected
    swept = silosim(
        *("sweep", scenario, "--kind", "stl_fw", "--access", "1 Gbps", "--rounds", 20),
        *("--json", "-o", tmp_path / "sweep"),
    )
    assert rows_of(swept)["stl_fw"]["paper_s"] == expected
    explained = json.loads(silosim("explain", scenario, "--kind", "stl_fw", "--json").ok().out)["rows"]
    critical = overlay.critical_circuit
    assert len(explained) == len(critical)
    assert sum(row["delay_s"] for row in explained) / len(critical) == pytest.approx(expected, rel=1e-12)


def test_a_command_of_one_overlay_asks_which_of_a_scenario(silosim, scenario):
    error = silosim("explain", scenario).failed(2).err

    assert (
        error
        == "silosim: error: explain takes one overlay; --kind names it: ring, stl_fw, or another kind.\n"
    )
    scenario.write_text((BASE + TRAINING).replace('"ring", ', ""), encoding="utf-8")
    assert silosim("explain", scenario).ok().out.splitlines()[3].startswith("stl_fw:")
    for command in ("design", "explain"):
        error = silosim(command, scenario, "--access", "1 Gbps").failed(2).err
        assert "--access goes with the name of a network" in error
    error = silosim("sweep", scenario, "--access", "1 Gbps", "--published").failed(2).err
    assert "--published goes with the name of a network" in error


def test_design_says_that_a_scenario_simulates_otherwise(silosim, scenario):
    said = "silosim simulate takes"
    assert said not in " ".join(silosim("design", scenario, "--kind", "ring").ok().out.split())

    scenario.write_text(f'{BASE}[simulation]\nsharing = "equal"\n', encoding="utf-8")
    assert said in " ".join(silosim("design", scenario, "--kind", "ring").ok().out.split())


def test_another_seed_is_another_partition_and_the_file_says_which(silosim, scenario, tmp_path):
    path = tmp_path / "run.h5"
    silosim("simulate", scenario, "--seed", 5, "--rounds", 20, "-o", path).ok()
    recorded = read_run(path)

    _, overlay = recorded.overlays
    expected = by_python(seed=5)
    assert np.array_equal(overlay.consensus, expected.consensus)
    scenario.write_text(recorded.scenario, encoding="utf-8")
    again = load_experiment(scenario)
    assert is_same(again.design(again.overlays[1]), expected)


def test_data_are_read_once_for_all_overlays_and_not_where_none_asks(scenario, monkeypatch):
    read = []
    load = module.load_dataset
    monkeypatch.setattr(module, "load_dataset", lambda *given: read.append(given) or load(*given))
    experiment = load_experiment(scenario)

    experiment.design(experiment.overlays[0])
    assert read == []
    for _ in range(2):
        experiment.design(experiment.overlays[1])
    assert len(read) == 1


def study(grid, folder, base=BASE + TRAINING):
    return parse_study(f"{base}\n[study.grid]\n{grid}", source="study.toml", folder=folder)


def test_a_study_over_partitions_and_seeds_designs_each(tmp_path, monkeypatch):
    points = study_points(
        study('"training.dirichlet_alpha" = [0.2, 5.0]\nseed = [4, 5]\nnetwork.access = ["1 Gbps"]', tmp_path)
    )
    read = []
    load = module.load_dataset
    monkeypatch.setattr(module, "load_dataset", lambda *given: read.append(given) or load(*given))
    results = compute_points(points, simulate=False, compiled=False)

    assert len(read) == 4
    assert len({point.identity for point in points}) == 4
    for result in results:
        ring, stl_fw = result.rows
        expected = by_python(seed=stl_fw["seed"], alpha=stl_fw["training_dirichlet_alpha"])
        assert (ring["error"], stl_fw["error"]) == ("", "")
        assert (stl_fw["arcs"], stl_fw["paper_s"]) == (expected.arcs, expected.closed_forms.paper_s)
    assert len({rows.rows[1]["spectral_gap"] for rows in results}) == 4


def test_a_study_that_varies_links_counts_labels_once(tmp_path, monkeypatch):
    points = study_points(study('"network.access" = ["1 Gbps", "100 Mbps", "10 Gbps"]', tmp_path))
    read = []
    load = module.load_dataset
    monkeypatch.setattr(module, "load_dataset", lambda *given: read.append(given) or load(*given))

    assert all(
        row["error"] == ""
        for each in compute_points(points, simulate=False, compiled=False)
        for row in each.rows
    )
    assert len(read) == 1


@pytest.mark.parametrize(
    ("grid", "base", "message"),
    [
        ("seed = [1]", BASE.replace('"stl_fw"', '"mst"').replace("stl_fw = { k = 3 }", ""), None),
        (
            "seed = [1]",
            BASE.replace(', "stl_fw"', "").replace("stl_fw = { k = 3 }", "") + TRAINING,
            "study.toml: training goes with silosim run or train = true in [study], unless an overlay takes the",
        ),
        (
            '"training.dirichlet_alpha" = [1.0]',
            BASE.replace(', "stl_fw"', "").replace("stl_fw = { k = 3 }", ""),
            "study.grid.training.dirichlet_alpha changes nothing that a study without train = true computes",
        ),
        ('"training.rounds" = [1]', BASE + TRAINING, "study.grid.training.rounds changes nothing"),
        ('"training.dirichlet_alpha" = [0.0]', BASE + TRAINING, "dirichlet_alpha(=0.0) must be > 0"),
    ],
)
def test_what_a_study_takes_of_a_training(tmp_path, grid, base, message):
    if message is None:
        assert len(study_points(study(grid, tmp_path, base))) == 1
        return
    with pytest.raises(InputError) as error:
        study_points(study(grid, tmp_path, base))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_study_of_missing_data_ends_before_a_point_is_computed(silosim, tmp_path):
    file = tmp_path / "study.toml"
    training = TRAINING.replace('dataset = "digits"', 'dataset = "femnist"\ndata = "nowhere"\nmodel = "cnn"')
    file.write_text(f"{BASE}{training}[study.grid]\nseed = [1, 2]\n", encoding="utf-8")
    result = silosim("study", file, "-o", tmp_path / "table.csv", "--workers", 1).failed(2)

    assert result.err.count("\n") == 1
    assert str(file) in result.err
    assert "nowhere" in result.err
    assert not (tmp_path / "table.csv").exists()


def test_a_study_is_a_table(silosim, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(f"{BASE}{TRAINING}[study.grid]\ntraining.dirichlet_alpha = [0.2]\n", encoding="utf-8")
    silosim("study", file, "-o", tmp_path / "table.csv", "--workers", 1).ok()
    _, row = csv.DictReader((tmp_path / "table.csv").read_text().splitlines())

    assert (row["overlay"], row["training_dirichlet_alpha"]) == ("stl_fw", "0.2")
    assert float(row["paper_s"]) == by_python().closed_forms.paper_s


def test_without_a_partition_it_is_one_line(silosim, scenario):
    scenario.write_text(BASE, encoding="utf-8")

    for command in ("design", "simulate", "validate"):
        error = silosim(command, scenario).failed(2).err
        assert error.count("\n") == 1
        assert "stl_fw needs a partition of data" in error
        assert "[training] with dataset and partition" in error


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.linspace(0, 1, 22), "x.toml: training.dataset(='digits') has no classes as labels, whose shares"),
        (
            np.full((22, 2), -100),
            "x.toml: training.partition(='iid') gives silo 'California' no label, by which",
        ),
    ],
)
def test_data_without_labels_are_one_line(monkeypatch, labels, message):
    _, graph, _ = setting()
    inputs = np.zeros((22, 1))
    data = Dataset(
        train_inputs=inputs, train_labels=labels, test_inputs=inputs, test_labels=labels, classes=3
    )
    monkeypatch.setattr(module, "load_dataset", lambda *_: data)
    shares = PartitionLabels(graph=graph, training=TrainingConfig(partition="iid"), seed=0, source="x.toml")

    with pytest.raises(InputError) as error:
        shares()
    assert str(error.value).startswith(message)


def test_labels_of_sequences_count_at_each_position(monkeypatch):
    _, graph, _ = setting()
    labels = np.array([[0, 1, 2], [2, -100, -100]] * 11)
    inputs = np.zeros(labels.shape)
    data = Dataset(
        train_inputs=inputs, train_labels=labels, test_inputs=inputs, test_labels=labels, classes=4
    )
    monkeypatch.setattr(module, "load_dataset", lambda *_: data)
    parts = [np.array([2 * silo, 2 * silo + 1]) for silo in range(11)]
    monkeypatch.setattr(module, "split_dataset", lambda *_, **__: parts)

    shares = PartitionLabels(graph=graph, training=TrainingConfig(partition="iid"), seed=0)()
    assert shares.tolist() == [[0.25, 0.25, 0.5, 0.0]] * 11


OTHERS = """
from topologies import build_overlay
from topologies.designers.options import LabelShares

def by_labels(graph, work, *, mine: LabelShares = None):
    order = list(range(graph.silos)) if mine is None else mine[:, 0].argsort().tolist()
    return build_overlay("by_labels", graph, work, list(zip(order, order[1:] + order[:1], strict=True)))
"""


def test_designers_of_other_packages_ask_for_labels_too(install_package):
    install_package("others", "[silosim.designers]\nby_labels = by_labels:by_labels\n", {"by_labels": OTHERS})
    found, graph, work = setting()
    config = OverlayConfig(kind="by_labels")
    shares = PartitionLabels(graph=graph, training=found.training, seed=4)
    order = shares()[:, 0].argsort().tolist()

    given = design_any(config, graph, work, label_shares=shares, seed=0)
    assert {*zip(given.source.tolist(), given.target.tolist(), strict=True)} == {
        *zip(order, order[1:] + order[:1], strict=True)
    }
    plain = design_any(config, graph, work, seed=0)
    assert plain.target.tolist() == [*range(1, 11), 0]
    assert config.takes_label_shares
    assert not OverlayConfig(kind="ring").takes_label_shares
    assert label_shares_option(DESIGNERS["by_labels"]) == "mine"
    assert declared_options(DESIGNERS["by_labels"]) == {}
