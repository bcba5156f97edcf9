"""Whether trainings on a GPU have the curves of the processor: all executors, optimizers and ways to exchange."""

from typing import Any

import numpy as np
from training_cases import ring

from topologies.arrays import FloatArray
from topologies.errors import SilosimError
from training.config import TrainingConfig
from training.history import HistoryRow
from training.job import MixingPlan, TrainingJob
from training.mpi.launcher import run_ranks

SILOS, ROUNDS, RANKS = 5, 6, 2
LARGEST_DIFFERENCE = 0.02
"""Relative to how far a figure has come on the processor: sums in other orders part the curves a little each round."""

TRAININGS: dict[str, dict[str, Any]] = {
    "CNN, one of the executors": {"model": "cnn", "executor": "auto"},
    "CNN, CUDA graphs, Adam": {
        "model": "cnn",
        "executor": "graphs",
        "optimizer": "adam",
        "learning_rate": 0.001,
    },
    "CNN, models of earlier rounds": {"model": "cnn", "executor": "loop", "lag": 3},
    "FEMNIST CNN, stacked": {"model": "femnist_cnn", "executor": "vmap"},
    "ResNet-18, running statistics exchanged": {"model": "resnet18", "exchange_buffers": True},
}


def curve(settings: dict[str, Any], device: str, ranks: int) -> FloatArray:
    """Training loss and consensus distance, before the first and after the last round."""
    config = TrainingConfig(
        **{
            "learning_rate": 0.05,
            "batch_size": 16,
            "rounds": ROUNDS,
            "log_every": ROUNDS,
            "device": device,
            **{name: value for name, value in settings.items() if name != "lag"},
        }
    )
    lags = np.full((1, SILOS, SILOS), settings.get("lag", 1))
    lags[0][np.diag_indices(SILOS)] = 1
    planned = np.zeros(ROUNDS + lags.max() - 1, dtype=np.int64)
    mixing = MixingPlan(matrices=ring(SILOS)[None], index=planned, lags=lags)
    job = TrainingJob(config=config, silos=SILOS, local_steps=1, seed=1, mixing=mixing)
    rows = [row for row in run_ranks(job, ranks) if isinstance(row, HistoryRow)]
    return np.array([(row.train_loss, row.consensus_distance) for row in rows])


def curves(device: str = "cuda") -> bool:
    """Train on two ranks of one device, print how far its curves are from the processor's; whether all are near."""
    good = True
    for name, settings in TRAININGS.items():
        try:
            found = curve(settings, device, RANKS)
        except SilosimError as error:
            print(f"{name}: {error}", flush=True)
            good = False
            continue
        expected = curve({**settings, "executor": "loop"}, "cpu", 1)
        apart = float(np.max(np.abs(found - expected) / np.abs(expected[-1] - expected[0])))
        good &= apart <= LARGEST_DIFFERENCE
        print(
            f"{name}: {RANKS} ranks on the GPU and the processor differ by {apart:.1e} of how far loss and consensus "
            f"distance come in {ROUNDS} rounds (at most {LARGEST_DIFFERENCE})",
            flush=True,
        )
    return good
