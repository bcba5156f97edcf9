"""DPASGD training over an overlay's consensus matrices, on MPI ranks."""

from typing import TYPE_CHECKING

from topologies.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from training.backend import SizedBackend, TrainingBackend, exchanged_numbers, load_backend, message_bits
    from training.config import TrainingConfig
    from training.engine.data_checks import CheckedData, check_data
    from training.history import HistoryRow
    from training.job import MixingPlan, TrainingJob
    from training.memory.foresight import foresee_memory
    from training.mpi_environment import World, world
    from training.notice import Notice

__all__ = [
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
    "exchanged_numbers",
    "foresee_memory",
    "load_backend",
    "message_bits",
    "world",
]

__getattr__, __dir__ = lazy_exports(__name__)
