import numpy as np
import pytest
import torch

from training.data.datasets import IGNORED, Dataset, load_dataset
from training.data.evaluated import evaluated, share_of
from training.engine.communicator import SingleRank
from training.engine.initial_model import initial_model
from training.engine.metrics import Meter


def test_a_share_of_those_that_count_is_drawn_without_replacement_in_order():
    counted = np.arange(100) % 4 > 0  # 75 samples
    chosen = evaluated(counted, 0.2, np.random.default_rng(0))
    assert len(chosen) == 15
    assert (np.diff(chosen) > 0).all()
    assert counted[chosen].all()
    assert evaluated(counted, 1.0, np.random.default_rng(0)) is None
    assert len(evaluated(counted, 1e-9, np.random.default_rng(0))) == 1
    assert sorted(evaluated(counted, 1 - 1e-9, np.random.default_rng(0))) == np.flatnonzero(counted).tolist()


@pytest.mark.parametrize(
    ("evaluate", "samples", "share"),
    [(0.1, 50, 0.1), (1.0, 50, 1.0), (20.0, 50, 0.4), (50.0, 50, 1.0), (1e9, 50, 1.0), (2.0, 0, 1.0)],
)
def test_a_number_of_samples_is_a_share_of_them(evaluate, samples, share):
    assert share_of(evaluate, samples) == share


@pytest.mark.parametrize("objective", ["silos", "samples"])
def test_a_row_weighs_silos_by_all_of_their_samples(make_job, make_rank_silos, objective):
    """Mean losses on the chosen samples of each silo, by hand, weighted as those of all samples would be."""
    job = make_job(silos=3, dirichlet_alpha=0.2, objective=objective, evaluate=0.1)
    rank_silos, data = make_rank_silos(job), load_dataset("digits")
    model = initial_model(job.config, data, seed=job.seed)
    options = {"objective": objective, "evaluate": 0.1, "seed": job.seed}
    meter = Meter(model, data, silos=3, communicator=SingleRank(), device=torch.device("cpu"), **options)
    row, _ = meter.measure(0, rank_silos)
    again, _ = meter.measure(0, rank_silos)
    assert row == again
    sizes, means, correct = [], [], []
    for silo, shard in enumerate(rank_silos.shards):
        chosen = meter._chosen[silo]
        assert len(chosen) == max(1, round(0.1 * len(shard.labels)))
        with torch.no_grad():
            scores = model(shard.inputs[chosen]).double()
        sizes.append(len(shard.labels))
        means.append(float(torch.nn.functional.cross_entropy(scores, shard.labels[chosen])))
        correct.append(float((scores.argmax(dim=1) == shard.labels[chosen]).double().mean()))
    assert len(set(sizes)) == 3
    assert row.silo_loss == pytest.approx(means, rel=1e-5)
    assert row.silo_accuracy == pytest.approx(correct, rel=1e-12)
    weights = np.array(sizes) / sum(sizes)
    assert row.train_loss == pytest.approx(weights @ means, rel=1e-5)
    assert row.train_accuracy == pytest.approx(weights @ correct, rel=1e-12)
    expected = weights @ means if objective == "samples" else np.mean(means)
    assert row.objective == pytest.approx(expected, rel=1e-5)
    # A tenth of the test samples, rounded: accuracies are multiples of its inverse.
    tested = round(0.1 * len(data.test_labels))
    assert row.test_accuracy * tested == pytest.approx(round(row.test_accuracy * tested), abs=1e-9)


def test_as_many_samples_as_there_are_give_the_same_rows(make_job, rows_of):
    reference = rows_of(make_job(rounds=2))
    assert rows_of(make_job(rounds=2, evaluate=10.0**6)) == reference
    few = rows_of(make_job(rounds=2, evaluate=100.0))
    assert few == rows_of(make_job(rounds=2, evaluate=100.0))
    assert few != reference
    # What is evaluated does not change what is trained.
    assert [row.consensus_distance for row in few] == [row.consensus_distance for row in reference]


def test_only_tests_whose_label_counts_are_drawn(make_job, make_rank_silos):
    """Of thirty tests two have a label that is no padding; half of these is one."""
    labels = np.full(30, IGNORED)
    labels[[4, 17]] = 1
    inputs = np.random.default_rng(0).normal(size=(30, 1, 2, 2)).astype(np.float32)
    data = Dataset(
        train_inputs=inputs,
        train_labels=np.arange(30) % 2,
        test_inputs=inputs,
        test_labels=labels,
        classes=2,
    )
    job = make_job(silos=2, partition="iid", evaluate=0.5)
    rank_silos, model = make_rank_silos(job, data), initial_model(job.config, data, seed=0)
    losses = torch.nn.functional.cross_entropy(
        model(torch.from_numpy(inputs[[4, 17]])), torch.tensor([1, 1]), reduction="none"
    ).tolist()
    # The average of the silos' models is this one.
    rank_silos.models.parameters[:, :10] = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    found = set()
    for seed in range(6):
        meter = Meter(
            model,
            data,
            silos=2,
            communicator=SingleRank(),
            device=torch.device("cpu"),
            evaluate=0.5,
            seed=seed,
        )
        found.add(round(meter.measure(0, rank_silos)[0].test_loss, 5))
    assert sorted(found) == pytest.approx(sorted(losses), abs=1e-5)
