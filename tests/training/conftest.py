import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from topologies.arrays import BoolArray, FloatArray, IntArray
from training import HistoryRow, MixingPlan, TrainingConfig, TrainingJob
from training.data.datasets import Dataset, load_dataset
from training.dpasgd import train_rank
from training.engine.communicator import Communicator, SingleRank
from training.engine.initial_model import initial_model
from training.engine.rank_silos import RankSilos

# The helpers beside the tests, and those beside the tests of topologies.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "topologies"))


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
        local_steps: int | IntArray = 1,
        seed: int = 7,
        matrix: FloatArray | None = None,
        mixing: MixingPlan | None = None,
        silo_labels: tuple[str, ...] | None = None,
        taking_part: BoolArray | None = None,
        **settings: Any,
    ) -> TrainingJob:
        return TrainingJob(
            config=TrainingConfig(**{"model": "softmax", "rounds": rounds, "executor": "loop", **settings}),
            silos=silos,
            local_steps=local_steps,
            seed=seed,
            mixing=mixing or MixingPlan.constant(_ring(silos) if matrix is None else matrix, rounds),
            silo_labels=silo_labels,
            taking_part=taking_part,
        )

    return make


_IN_RANK_1 = """
import os
if os.environ.get("PMI_RANK") == "1":
    import training.optimization.schedules as schedules
    def step(settings, k, epoch):
        {work}
        return 0.1
    schedules.SCHEDULES["constant"] = step
"""


@pytest.fixture
def in_rank_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Let rank 1 of two processes run a statement in every round."""

    def work(statement: str) -> None:
        (tmp_path / "sitecustomize.py").write_text(_IN_RANK_1.format(work=statement))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path[1:]]))

    return work


@pytest.fixture
def make_rank_silos() -> Callable[..., RankSilos]:
    """Make the silos of one rank on the processor, by default of the job's own data."""

    def make(
        job: TrainingJob, dataset: Dataset | None = None, *, communicator: Communicator | None = None
    ) -> RankSilos:
        data = load_dataset(job.config.dataset) if dataset is None else dataset
        model = initial_model(job.config, data, seed=job.seed)
        return RankSilos(
            job, model, data, communicator=communicator or SingleRank(), device=torch.device("cpu")
        )

    return make


@pytest.fixture
def rows_of() -> Callable[..., list[HistoryRow]]:
    """Train in this process and give the rows; the consumer may leave at one."""

    def train(job: TrainingJob, *, stop_at: int | None = None) -> list[HistoryRow]:
        rows = []
        with closing(train_rank(job, SingleRank())) as reports:
            for report in reports:
                if isinstance(report, HistoryRow):
                    rows.append(report)
                    if report.round == stop_at:
                        break
        return rows

    return train


@pytest.fixture
def checkpointing(make_job: Callable[..., TrainingJob], tmp_path: Path) -> Callable[..., TrainingJob]:
    """Make jobs with checkpoints in one folder."""

    def make(*, every: int = 2, **settings: Any) -> TrainingJob:
        job = make_job(checkpoint_every=every, **{"learning_rate": 0.2, **settings})
        return replace(job, directory=tmp_path / "checkpoints")

    return make
