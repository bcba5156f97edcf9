"""DPASGD training over an overlay's consensus matrices, on MPI ranks."""

from training.backend import TrainingBackend, load_backend, parameter_count
from training.config import TrainingConfig
from training.history import HistoryRow
from training.job import MixingPlan, TrainingJob
from training.launch import World, world

__all__ = [
    "HistoryRow",
    "MixingPlan",
    "TrainingBackend",
    "TrainingConfig",
    "TrainingJob",
    "World",
    "load_backend",
    "parameter_count",
    "world",
]
