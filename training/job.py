"""What to train: the user's settings, the schedule of consensus matrices, and both as one job."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError
from training.checks import check_integer, check_number
from training.datasets import DATASETS, DataOptions
from training.models import MODELS
from training.optimizers import OPTIMIZERS
from training.partitions import PARTITIONS
from training.registry import lookup
from training.schedules import SCHEDULES

Scalar = TypeVar("Scalar", bound=np.generic)

DEVICES = {"auto": "a GPU where there is one", "cpu": "the processor", "cuda": "a GPU, or an error"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingConfig:
    """Settings of a training run, as a scenario's ``[training]`` table states them.

    Parameters
    ----------
    backend : str
        Name of a training backend; ``mpi`` is the built-in one.
    ranks : int
        Processes that the backend starts, >= 1. More than silos are not started. Results do not depend on it.
        Without effect under ``mpiexec`` or ``srun``: then the launcher's number counts.
    dataset, model, partition : str
        Names in `training.datasets`, `training.models`, `training.partitions`.
    data : str
        Folder of the user's data, read on every rank; empty for the data set's default.
    skip_bad : bool
        Leave bad samples out and count them, instead of stopping at the first.
    dirichlet_alpha : float
        Concentration of the ``dirichlet`` partition, > 0; smaller is more heterogeneous.
    shift_west_deg : float, optional
        Degrees by which the ``geographic`` partition moves the silos to the west before it looks for the closest one;
        None for the paper's rule: 90 for European networks, 0 for all others.
    optimizer : str
        ``sgd`` or ``adam``; the state stays in its silo, only models are mixed.
    learning_rate : float
        Rate of round 0, >= 0.
    momentum : float
        Momentum of ``sgd``, ``0 <= momentum < 1``.
    learning_rate_schedule : str
        ``constant`` or ``inverse_sqrt`` (of the round).
    rounds : int
        Rounds, >= 1.
    batch_size : int
        Samples per local step and silo, >= 1.
    log_every : int
        Rounds between two rows of the history, >= 1.
    target_accuracy : float
        Test accuracy whose first round reports ask for, in (0, 1]; training itself does not stop there.
    device : str
        ``cpu``, ``cuda`` or ``auto``.

    Raises
    ------
    InputError
        If a value breaks its rule; the message names field, value and rule.
    """

    backend: str = "mpi"
    ranks: int = 2
    dataset: str = "digits"
    data: str = ""
    skip_bad: bool = False
    model: str = "cnn"
    partition: str = "dirichlet"
    dirichlet_alpha: float = 0.5
    shift_west_deg: float | None = None
    optimizer: str = "sgd"
    learning_rate: float = 0.1
    momentum: float = 0.0
    learning_rate_schedule: str = "constant"
    rounds: int = 150
    batch_size: int = 16
    log_every: int = 1
    target_accuracy: float = 0.9
    device: str = "cpu"

    @property
    def data_options(self) -> DataOptions:
        """Where the data are and how they are read."""
        return DataOptions(data=self.data, skip_bad=self.skip_bad)

    def __post_init__(self) -> None:
        for field, table in _TABLES.items():
            lookup(table, getattr(self, field), field=field)
        if not isinstance(self.data, str):
            raise InputError(f"data(={self.data!r}) must be the path of a folder.")
        if not isinstance(self.skip_bad, bool):
            raise InputError(f"skip_bad(={self.skip_bad!r}) must be true or false.")
        for field in ("ranks", "rounds", "batch_size", "log_every"):
            check_integer(field, getattr(self, field), minimum=1)
        if check_number("dirichlet_alpha", self.dirichlet_alpha) <= 0:
            raise InputError(f"dirichlet_alpha(={self.dirichlet_alpha}) must be > 0.")
        if self.shift_west_deg is not None:
            check_number("shift_west_deg", self.shift_west_deg)
        if check_number("learning_rate", self.learning_rate) < 0:
            raise InputError(f"learning_rate(={self.learning_rate}) must be >= 0.")
        if not 0 <= check_number("momentum", self.momentum) < 1:
            raise InputError(f"momentum(={self.momentum}) must be >= 0 and < 1.")
        if self.momentum and self.optimizer != "sgd":
            raise InputError(f"momentum(={self.momentum}) must be 0 with optimizer {self.optimizer}.")
        if not 0 < check_number("target_accuracy", self.target_accuracy) <= 1:
            raise InputError(f"target_accuracy(={self.target_accuracy}) must be > 0 and <= 1.")


_TABLES = {
    "dataset": DATASETS,
    "model": MODELS,
    "partition": PARTITIONS,
    "optimizer": OPTIMIZERS,
    "learning_rate_schedule": SCHEDULES,
    "device": DEVICES,
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MixingPlan:
    """Which consensus matrix mixes which round; the simulator reads the same schedule.

    Parameters
    ----------
    matrices : FloatArray, shape (matrices, silos, silos)
        Matrices `A` whose rows sum to 1: silo ``i`` takes ``sum_j A[i, j] x_j``. Entries may be negative.
    index : IntArray, shape (rounds,)
        ``matrices[index[k]]`` mixes round ``k``.

    Raises
    ------
    InputError
        If a shape is wrong, a matrix has a non-finite entry or a row that does not sum to 1 within 1e-9, or an index
        points outside.
    """

    matrices: FloatArray
    index: IntArray

    def __post_init__(self) -> None:
        matrices = _read_only(np.asarray(self.matrices, dtype=np.float64))
        index = np.asarray(self.index)
        if matrices.ndim != 3 or 0 in matrices.shape or matrices.shape[1] != matrices.shape[2]:
            raise InputError(f"mixing matrices(shape={matrices.shape}) must have shape (m, silos, silos).")
        if index.ndim != 1 or not np.issubdtype(index.dtype, np.integer):
            raise InputError(f"mixing index(shape={index.shape}) must hold one integer per round.")
        if index.size and (index.min() < 0 or index.max() >= len(matrices)):
            raise InputError(
                f"mixing index(={index.min()}..{index.max()}) must lie in 0..{len(matrices) - 1}."
            )
        sums = matrices.sum(axis=2)
        bad = np.argwhere(~(np.abs(sums - 1) <= 1e-9))
        if bad.size:
            m, row = bad[0]
            raise InputError(f"mixing matrix {m}, row {row}: its sum(={sums[m, row]}) must be 1 within 1e-9.")
        object.__setattr__(self, "matrices", matrices)
        object.__setattr__(self, "index", _read_only(index.astype(np.int64)))

    @classmethod
    def constant(cls, matrix: FloatArray, rounds: int) -> "MixingPlan":
        """Return the plan that mixes every round with the same matrix, shape (silos, silos)."""
        return cls(matrices=np.asarray(matrix)[np.newaxis], index=np.zeros(rounds, dtype=np.int64))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrainingJob:
    """Everything that decides a training run.

    Parameters
    ----------
    config : TrainingConfig
        The user's settings.
    silos : int
        Number of silos, >= 1.
    local_steps : int
        Mini-batch steps per round and silo, >= 1 (`s` of the delay model).
    seed : int
        Seed of the partition, the initial model and every silo's data order, >= 0.
    mixing : MixingPlan
        One matrix per round, ``silos`` by ``silos``.
    silo_places : FloatArray, shape (silos, 2), optional
        Latitude and longitude of each silo in degrees, moved as the configuration says; only the ``geographic``
        partition reads them.

    Raises
    ------
    InputError
        If a value breaks its rule or the plan does not fit the silos and rounds.
    """

    config: TrainingConfig
    silos: int
    local_steps: int
    seed: int
    mixing: MixingPlan
    silo_places: FloatArray | None = None

    def __post_init__(self) -> None:
        check_integer("silos", self.silos, minimum=1)
        check_integer("local_steps", self.local_steps, minimum=1)
        check_integer("seed", self.seed, minimum=0)
        size = self.mixing.matrices.shape[1]
        if size != self.silos:
            raise InputError(f"mixing matrices(silos={size}) must have as many rows as silos(={self.silos}).")
        planned = self.mixing.index.size
        if planned != self.config.rounds:
            raise InputError(
                f"mixing index(rounds={planned}) must have rounds(={self.config.rounds}) entries."
            )
        if self.silo_places is not None:
            places = _read_only(np.asarray(self.silo_places, dtype=np.float64))
            if places.shape != (self.silos, 2):
                raise InputError(
                    f"silo_places(shape={places.shape}) must have one latitude and longitude for each of "
                    f"silos(={self.silos})."
                )
            object.__setattr__(self, "silo_places", places)


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a view that cannot be written; the caller's array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view
