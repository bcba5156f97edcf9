from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from topologies.arrays import FloatArray
from training import MixingPlan, TrainingConfig, TrainingJob


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Small tensors: torch's threads would only wait for each other, long on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _ring(silos: int) -> FloatArray:
    """Every silo averages with its successor on a directed ring; doubly stochastic."""
    return np.eye(1) if silos == 1 else (np.eye(silos) + np.roll(np.eye(silos), 1, axis=1)) / 2


@pytest.fixture
def ring() -> Callable[[int], FloatArray]:
    return _ring


@pytest.fixture
def make_job() -> Callable[..., TrainingJob]:
    def make(
        *,
        silos: int = 4,
        rounds: int = 3,
        local_steps: int = 1,
        seed: int = 7,
        matrix: FloatArray | None = None,
        mixing: MixingPlan | None = None,
        **settings: Any,
    ) -> TrainingJob:
        return TrainingJob(
            config=TrainingConfig(**{"model": "softmax", "rounds": rounds, **settings}),
            silos=silos,
            local_steps=local_steps,
            seed=seed,
            mixing=mixing or MixingPlan.constant(_ring(silos) if matrix is None else matrix, rounds),
        )

    return make


@pytest.fixture
def processes_naming() -> Callable[[Path], list[int]]:
    """Find the processes whose command line names a path (Linux)."""

    def find(path: Path) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    command = (entry / "cmdline").read_bytes()
                except OSError:  # it ended in the meantime
                    continue
                if str(path).encode() in command:
                    found.append(int(entry.name))
        return found

    return find
