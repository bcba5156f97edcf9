"""Fingerprint of a training, so that it resumes from its own checkpoints only."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import UNSTATED, Field, InputError
from training.config import TrainingConfig
from training.data.datasets import Dataset
from training.job import MixingPlan, TrainingJob
from training.own_code import code_identity, is_own

CHANGEABLE = frozenset(
    {
        "backend",
        "checkpoint_every",
        "data",
        "device",
        "executor",
        "gpu_aware_mpi",
        "log_every",
        "rank_timeout",
        "ranks",
        "rounds",
        "target_accuracy",
    }
)
"""Settings that may change at a checkpoint; all others must stay, so that the curve is that of one run."""

_WEIGHT_STEP = 1e-9


def fingerprint(job: TrainingJob, *, rounds: int) -> dict[str, Any]:
    """Return all that determines the models after some rounds, except the data.

    Parameters
    ----------
    rounds : int
        Rounds done.

    Returns
    -------
    dict
        JSON values: settings that are not `CHANGEABLE`, with a digest of files of the user's code and
        partition; the other fields of
        the job, and digests of its arrays. Of the mixing plan only the matrices of the rounds done count, so that a
        training may be extended.
    """
    settings = {name: value for name, value in asdict(job.config).items() if name not in CHANGEABLE}
    own = {
        name: code_identity(settings[name]) for name in ("dataset", "model", "loss") if is_own(settings[name])
    }
    if job.config.learning_rate_schedule == "cosine":
        settings["rounds"] = job.config.rounds  # they decide its rates from the first round on
    return {
        **settings,
        **own,
        "silos": job.silos,
        "local_steps": np.asarray(job.local_steps).tolist(),
        "taking_part": _participation_digest(job, rounds),
        "seed": job.seed,
        "silo_places": None if job.silo_places is None else _digest(job.silo_places),
        "mixing": mixing_digest(job.mixing, rounds),
    }


def _participation_digest(job: TrainingJob, rounds: int) -> str | None:
    """Return a digest of who makes local steps in the first rounds; None where all do."""
    if job.taking_part is None:
        return None
    return _digest(job.taking_part[: job.mixing.computing_before(rounds)])


def mixing_digest(mixing: MixingPlan, rounds: int) -> str:
    """Return a digest of the matrices of the first rounds, in order, with their lags, and where silos do not compute.

    Notes
    -----
    Weights count to 1e-9: the solvers behind some matrices may differ in their last digits on another machine. With
    lags, further matrices count as far as they mix models of the first rounds, which a checkpoint holds.
    """
    index = mixing.index[: rounds + mixing.longest_lag - 1]
    whole = {
        m: _digest(np.rint(mixing.matrices[m] / _WEIGHT_STEP).astype(np.int64))
        + ("" if mixing.lags is None else _digest(mixing.lags[m]))
        + ("" if mixing.computes is None else str(bool(mixing.computes[m])))
        for m in np.unique(index)
    }
    return hashlib.sha256("".join(whole[m] for m in index).encode()).hexdigest()


def data_digest(dataset: Dataset) -> str:
    """Return a digest of a data set's labels, groups, places and shapes; it reads no sample."""
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
        That of the training that would resume.
    checkpoint : str
        Its path, for the message.

    Raises
    ------
    InputError
        It names the field and, unless they are digests, both values.

    Notes
    -----
    A setting that the checkpoint lacks is newer than it and had its default, which changes nothing.
    """
    known = {**asdict(TrainingConfig()), **stored}
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
