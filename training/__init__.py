"""DPASGD training over an overlay's consensus matrices, on MPI ranks."""

from typing import TYPE_CHECKING

from topologies.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from training.backend import (
        CompressingBackend,
        LaggedBackend,
        SizedBackend,
        StatesBackend,
        TrainingBackend,
        UnevenBackend,
        check_mixing,
        compressed_share,
        exchanged_numbers,
        load_backend,
        message_bits,
    )
    from training.checkpoints.folder import check_resumable, checkpoint_path, checkpoint_rounds, history_path
    from training.checkpoints.model_export import model_files
    from training.config import BUILT_IN_BACKEND, TrainingConfig
    from training.data.batches import BatchStream
    from training.data.datasets import (
        DATASETS,
        DataOptions,
        Dataset,
        DatasetReader,
        dataset_reader,
        held_out,
        load_dataset,
    )
    from training.data.partitions import PARTITIONS, split_dataset
    from training.engine.data_checks import CheckedData, check_data
    from training.history import HistoryRow
    from training.job import MixingPlan, TrainingJob
    from training.memory.memory_budget import check_memory
    from training.models import ModelSpec
    from training.mpi.early_exit import reject_early_exit
    from training.mpi.mpi_communicator import MpiCommunicator
    from training.mpi.trial import LauncherTrial, try_launcher
    from training.mpi_environment import World, mpiexec_path, world
    from training.notice import Notice
    from training.own_code import own_files

__all__ = [
    "BUILT_IN_BACKEND",
    "DATASETS",
    "PARTITIONS",
    "BatchStream",
    "CheckedData",
    "CompressingBackend",
    "DataOptions",
    "Dataset",
    "DatasetReader",
    "HistoryRow",
    "LaggedBackend",
    "LauncherTrial",
    "MixingPlan",
    "ModelSpec",
    "MpiCommunicator",
    "Notice",
    "SizedBackend",
    "StatesBackend",
    "TrainingBackend",
    "TrainingConfig",
    "TrainingJob",
    "UnevenBackend",
    "World",
    "check_data",
    "check_memory",
    "check_mixing",
    "check_resumable",
    "checkpoint_path",
    "checkpoint_rounds",
    "compressed_share",
    "dataset_reader",
    "exchanged_numbers",
    "held_out",
    "history_path",
    "load_backend",
    "load_dataset",
    "message_bits",
    "model_files",
    "mpiexec_path",
    "own_files",
    "reject_early_exit",
    "split_dataset",
    "try_launcher",
    "world",
]

__getattr__, __dir__ = lazy_exports(__name__)
