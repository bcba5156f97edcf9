"""A training job as a file for the ranks to read."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from training.config import TrainingConfig
from training.job import MixingPlan, TrainingJob


def write_job(path: Path, job: TrainingJob) -> None:
    """Write a job to an ``.npz`` file; arrays are exact."""
    settings = {
        "config": asdict(job.config),
        "silos": job.silos,
        "local_steps": np.asarray(job.local_steps).tolist(),
        "seed": job.seed,
        "negative_weights": job.mixing.negative_weights,
        "silo_labels": job.silo_labels,
        "directory": None if job.directory is None else str(job.directory.absolute()),
    }
    places = np.empty((0, 2)) if job.silo_places is None else job.silo_places
    np.savez(
        path,
        settings=json.dumps(settings),
        matrices=job.mixing.matrices,
        index=job.mixing.index,
        lags=np.empty(0, dtype=np.int64) if job.mixing.lags is None else job.mixing.lags,
        computes=np.empty(0, dtype=np.bool_) if job.mixing.computes is None else job.mixing.computes,
        silo_places=places,
        taking_part=np.empty((0, 0), dtype=np.bool_) if job.taking_part is None else job.taking_part,
    )


def read_job(path: Path) -> TrainingJob:
    """Return the job that `write_job` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        settings = json.loads(str(stored["settings"]))
        mixing = MixingPlan(
            matrices=stored["matrices"],
            index=stored["index"],
            negative_weights=settings["negative_weights"],
            lags=stored["lags"] if stored["lags"].size else None,
            computes=stored["computes"] if stored["computes"].size else None,
        )
        places, taking_part = stored["silo_places"], stored["taking_part"]
    return TrainingJob(
        config=TrainingConfig(**settings["config"]),
        silos=settings["silos"],
        local_steps=settings["local_steps"]
        if isinstance(settings["local_steps"], int)
        else np.array(settings["local_steps"]),
        seed=settings["seed"],
        mixing=mixing,
        silo_places=places if len(places) else None,
        silo_labels=None if settings["silo_labels"] is None else tuple(settings["silo_labels"]),
        taking_part=taking_part if taking_part.size else None,
        directory=None if settings["directory"] is None else Path(settings["directory"]),
    )
