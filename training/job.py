"""The schedule of consensus matrices, and the job: everything that determines a training."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import FloatArray, IntArray
from topologies.checks import check_integer
from topologies.errors import InputError
from training.config import TrainingConfig

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MixingPlan:
    """The consensus matrix of each round; the simulator reads the same schedule.

    Parameters
    ----------
    matrices : FloatArray, shape (matrices, silos, silos)
        Matrices `A` whose rows sum to 1: silo ``i`` takes ``sum_j A[i, j] x_j``.
    index : IntArray, shape (rounds,)
        ``matrices[index[k]]`` mixes round ``k``.
    negative_weights : bool
        Whether entries may be below 0, as those of FDLA and MATCHA are.

    Raises
    ------
    InputError
        If a shape is wrong, a matrix has an entry that is not finite, one below 0 (beyond rounding, 1e-9) without
        `negative_weights`, or a row that does not sum to 1 within 1e-9, or an index points outside.
    """

    matrices: FloatArray
    index: IntArray
    negative_weights: bool = False

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
        below = np.argwhere((matrices < -1e-9) & (not self.negative_weights))
        for m, row, column in below.tolist():
            raise InputError(
                f"mixing matrix {m}, row {row}: its weight(={matrices[m, row, column]}) of silo {column} must be >= 0, "
                "or negative_weights=True be given."
            )
        object.__setattr__(self, "matrices", matrices)
        object.__setattr__(self, "index", _read_only(index.astype(np.int64)))

    @classmethod
    def constant(cls, matrix: FloatArray, rounds: int, *, negative_weights: bool = False) -> "MixingPlan":
        """Return the plan that mixes every round with the same matrix, shape (silos, silos)."""
        return cls(
            matrices=np.asarray(matrix)[np.newaxis],
            index=np.zeros(rounds, dtype=np.int64),
            negative_weights=negative_weights,
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrainingJob:
    """Everything that determines a training.

    Parameters
    ----------
    silos : int
        Number of silos, >= 1.
    local_steps : int
        Mini-batch steps per round and silo, >= 1 (`s` of the delay model).
    seed : int
        Seed of the partition, the initial model and every silo's data order, >= 0.
    mixing : MixingPlan
        One matrix per round, ``silos`` by ``silos``.
    silo_places : FloatArray, shape (silos, 2), optional
        Latitude and longitude of each silo in degrees, shifted as configured; only the ``geographic`` partition reads
        them.
    silo_labels : tuple of str, optional
        Names of the silos, for messages; without them silos are named by their index.
    directory : pathlib.Path, optional
        Folder of checkpoints and exported models (``checkpoint_every`` and ``keep_models``), on a file system that all
        ranks share; without it there are none. A training resumes from the newest checkpoint there. See
        `training.checkpoints.checkpoint_manager`.

    Raises
    ------
    InputError
        If a value breaks its rule, the plan does not fit the silos and rounds, or buffers are exchanged with a
        matrix that has an entry below zero (beyond rounding, 1e-9).
    """

    config: TrainingConfig
    silos: int
    local_steps: int
    seed: int
    mixing: MixingPlan
    silo_places: FloatArray | None = None
    silo_labels: tuple[str, ...] | None = None
    directory: Path | None = None

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
        negative = np.argwhere(self.mixing.matrices < -1e-9)
        if self.config.exchange_buffers and negative.size:
            m, row, column = negative[0]
            weight = self.mixing.matrices[m, row, column]
            raise InputError(
                f"mixing matrix {m}, row {row}: its weight(={weight}) must be >= 0 with exchange_buffers = true."
            )
        if self.silo_places is not None:
            places = _read_only(np.asarray(self.silo_places, dtype=np.float64))
            if places.shape != (self.silos, 2):
                raise InputError(
                    f"silo_places(shape={places.shape}) must have one latitude and longitude for each of "
                    f"silos(={self.silos})."
                )
            object.__setattr__(self, "silo_places", places)
        if self.silo_labels is not None:
            if len(self.silo_labels) != self.silos:
                raise InputError(
                    f"silo_labels(of {len(self.silo_labels)}) must name each of silos(={self.silos})."
                )
            object.__setattr__(self, "silo_labels", tuple(self.silo_labels))


def silo_name(silo: int, labels: Sequence[str] | None) -> str:
    """Return a silo's name in messages.

    Parameters
    ----------
    labels : sequence of str, optional
        Names of all silos.

    Examples
    --------
    >>> silo_name(1, None), silo_name(1, ("Oslo", "Paris"))
    ('silo 1', 'Paris (silo 1)')
    """
    return f"silo {silo}" if labels is None else f"{labels[silo]} (silo {silo})"


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only view; the caller's array is unchanged."""
    view = array.view()
    view.flags.writeable = False
    return view
