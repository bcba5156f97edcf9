"""DPASGD training over an overlay's consensus matrices, on MPI ranks."""

from training.backend import SizedBackend, TrainingBackend, exchanged_numbers, load_backend, message_bits
from training.config import BUILT_IN_BACKEND, TrainingConfig
from training.engine.data_checks import CheckedData, check_data
from training.history import HistoryRow
from training.job import MixingPlan, TrainingJob
from training.memory.memory_budget import check_memory
from training.mpi_environment import World, world
from training.notice import Notice

__all__ = [
    "BUILT_IN_BACKEND",
    "CheckedData",
    "HistoryRow",
    "MixingPlan",
    "Notice",
    "SizedBackend",
    "TrainingBackend",
    "TrainingConfig",
    "TrainingJob",
    "World",
    "check_data",
    "check_memory",
    "exchanged_numbers",
    "load_backend",
    "message_bits",
    "world",
]
