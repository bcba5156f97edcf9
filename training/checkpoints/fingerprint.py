"""What decides a training, so that it only goes on from a checkpoint of its own."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import UNSTATED, Field, InputError
from training.config import TrainingConfig
from training.data.datasets import Dataset
from training.job import MixingPlan, TrainingJob

FREE = frozenset(
    {
        "backend",
        "checkpoint_every",
        "data",
        "device",
        "executor",
        "gpu_aware_mpi",
        "log_every",
        "ranks",
        "rounds",
        "target_accuracy",
    }
)
"""Settings that may differ after a checkpoint; all others must stay, so that the curve is that of one run."""

_WEIGHT_STEP = 1e-9


def fingerprint(job: TrainingJob, *, rounds: int) -> dict[str, Any]:
    """Return what decided the models after some rounds, but for the data.

    Parameters
    ----------
    job : TrainingJob
        The training.
    rounds : int
        Rounds done.

    Returns
    -------
    dict
        Values that JSON can hold: settings that are not `FREE`, the other fields of the job, and digests of its arrays.
        Of the mixing plan only the matrices of the rounds done count, so that a training may be made longer.
    """
    settings = {name: value for name, value in asdict(job.config).items() if name not in FREE}
    return {
        **settings,
        "silos": job.silos,
        "local_steps": job.local_steps,
        "seed": job.seed,
        "silo_places": None if job.silo_places is None else _digest(job.silo_places),
        "mixing": mixing_digest(job.mixing, rounds),
    }


def mixing_digest(mixing: MixingPlan, rounds: int) -> str:
    """Return a digest of the matrices of the first rounds, in order.

    Notes
    -----
    Weights count to 1e-9: the solvers behind some matrices may differ in their last digits on another machine.
    """
    index = mixing.index[:rounds]
    whole = {
        m: _digest(np.rint(mixing.matrices[m] / _WEIGHT_STEP).astype(np.int64)) for m in np.unique(index)
    }
    return hashlib.sha256("".join(whole[m] for m in index).encode()).hexdigest()


def data_digest(dataset: Dataset) -> str:
    """Return a digest of all of a data set that decides its split, labels among it, and of its samples' shapes.

    Notes
    -----
    It reads no sample.
    """
    shapes = np.array([*dataset.train_inputs.shape, -1, *dataset.test_inputs.shape])
    split = [array for array in (dataset.train_groups, dataset.train_places) if array is not None]
    return hashlib.sha256(
        "".join(map(_digest, (shapes, dataset.train_labels, dataset.test_labels, *split))).encode()
    ).hexdigest()


def check_same(stored: Mapping[str, Any], own: Mapping[str, Any], *, checkpoint: str) -> None:
    """Raise InputError for the first value that differs from that of a checkpoint.

    Parameters
    ----------
    stored : mapping
        The checkpoint's `fingerprint`.
    own : mapping
        That of the training that is to go on from it.
    checkpoint : str
        Its name for the message.

    Raises
    ------
    InputError
        Naming the field and, where they are readable, both values.

    Notes
    -----
    A setting that the checkpoint does not know is younger than it. It then had its default, which leaves a training as
    it was before there was the setting.
    """
    known = {**{field.name: field.default for field in fields(TrainingConfig)}, **stored}
    for name, value in own.items():
        if known.get(name) != value:
            readable = not (isinstance(value, str) and len(value) == 64)
            rule = f"must be {known.get(name)!r}" if readable else "must be the same"
            field = Field(name, value=value if readable else UNSTATED)
            raise InputError(f"{rule} as in the checkpoint {checkpoint}.", field=field)


def _digest(array: FloatArray | np.ndarray[Any, Any]) -> str:
    """Return a digest of an array's shape, type and values."""
    digest = hashlib.sha256(f"{array.shape}{array.dtype.str}".encode())
    digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
