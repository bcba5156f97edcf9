"""DPASGD training over an overlay's consensus matrices, on MPI ranks."""

from training.backend import TrainingBackend, exchanged_numbers, load_backend
from training.config import TrainingConfig
from training.data_check import check_data
from training.history import HistoryRow
from training.job import MixingPlan, TrainingJob
from training.launch import World, world
from training.notice import Notice

__all__ = [
    "HistoryRow",
    "MixingPlan",
    "Notice",
    "TrainingBackend",
    "TrainingConfig",
    "TrainingJob",
    "World",
    "check_data",
    "exchanged_numbers",
    "load_backend",
    "world",
]
