"""The trainings that `training_speed` and `gpu_training` time, as ours and as a plain loop."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from plain_training import PlainTraining, plain_model

from topologies.arrays import FloatArray
from training.config import TrainingConfig
from training.data.datasets import Dataset, load_dataset
from training.engine.communicator import Communicator
from training.engine.rank_silos import RankSilos
from training.job import MixingPlan, TrainingJob
from training.models import build_model

CPU = torch.device("cpu")


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A training to be timed.

    Parameters
    ----------
    model : str
        Model of every silo.
    shape : tuple of int
        Shape of a sample.
    classes, silos, batch_size : int
        Numbers of them.
    rounds : int
        Rounds between two readings of the clock.
    least : float
        How many times as fast as the plain loop it must be.
    """

    model: str
    shape: tuple[int, ...]
    classes: int
    silos: int
    batch_size: int
    rounds: int = 1
    least: float = 1.0


CASES = {
    "softmax on digits": Case(
        model="softmax", shape=(1, 8, 8), classes=10, silos=22, batch_size=16, rounds=30, least=3.0
    ),
    "CNN on digits": Case(model="cnn", shape=(1, 8, 8), classes=10, silos=22, batch_size=16, rounds=10),
    "FEMNIST CNN": Case(
        model="femnist_cnn", shape=(1, 28, 28), classes=62, silos=22, batch_size=16, rounds=5, least=2.5
    ),
    "Shakespeare GRU": Case(model="char_gru", shape=(200,), classes=100, silos=4, batch_size=4),
    "Sentiment140 LSTM": Case(model="bilstm", shape=(25, 100), classes=2, silos=4, batch_size=8),
    "iNaturalist ResNet-18": Case(model="resnet18", shape=(3, 64, 64), classes=80, silos=4, batch_size=4),
    "full ResNet-50": Case(model="resnet50", shape=(3, 64, 64), classes=8142, silos=2, batch_size=4),
}


@lru_cache(maxsize=1)
def dataset_of(case: Case) -> Dataset:
    """Digits, or random numbers of the task's shapes: 64 samples per silo."""
    if case.model == "softmax":
        return load_dataset("digits")
    rng = np.random.default_rng(0)
    samples = 64 * case.silos
    if case.model == "char_gru":
        inputs = labels = rng.integers(case.classes, size=(samples, *case.shape))
    else:
        inputs = rng.standard_normal((samples, *case.shape), dtype=np.float32)
        labels = rng.integers(case.classes, size=samples)
    return Dataset(
        train_inputs=inputs,
        train_labels=labels,
        test_inputs=inputs[:1],
        test_labels=labels[:1],
        classes=case.classes,
    )


def ring(silos: int) -> FloatArray:
    """Every silo averages with its successor."""
    return (np.eye(silos) + np.roll(np.eye(silos), 1, axis=1)) / 2


def job_of(case: Case, **settings: Any) -> TrainingJob:
    """The case as a training on a ring, one local step per round."""
    rounds = 10**6
    config = TrainingConfig(
        model=case.model,
        batch_size=case.batch_size,
        learning_rate=0.01,
        partition="iid",
        rounds=rounds,
        **settings,
    )
    mixing = MixingPlan.constant(ring(case.silos), rounds)
    return TrainingJob(config=config, silos=case.silos, local_steps=1, seed=1, mixing=mixing)


def rank_silos_of(
    case: Case, job: TrainingJob, communicator: Communicator, device: torch.device = CPU
) -> RankSilos:
    """The silos of this rank."""
    dataset = dataset_of(case)
    model = build_model(case.model, input_shape=case.shape, classes=case.classes, seed=1).to(device)
    return RankSilos(job, model, dataset, communicator=communicator, device=device)


def plain_of(case: Case, device: torch.device = CPU) -> PlainTraining:
    """The same training as a plain loop."""
    dataset = dataset_of(case)
    parts = np.array_split(np.arange(len(dataset.train_labels)), case.silos)
    data = [
        (torch.from_numpy(dataset.train_inputs[part]), torch.from_numpy(dataset.train_labels[part]))
        for part in parts
    ]
    model = plain_model(case.model, case.shape, case.classes)
    return PlainTraining(
        model, data, ring(case.silos), batch_size=case.batch_size, learning_rate=0.01, device=device
    )
