"""The schedule of consensus matrices with their lags, and the job: everything that determines a training."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.checks import check_integer
from topologies.errors import Field, InputError
from topologies.state import State, different_states
from training.config import TrainingConfig
from training.step_plan import StepPlan

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MixingPlan:
    """The consensus matrix of each round, and the lags of its models; the simulator reads the same schedule.

    Parameters
    ----------
    matrices : FloatArray, shape (matrices, silos, silos)
        Matrices `A` whose rows sum to 1: silo ``i`` takes ``sum_j A[i, j] x_j``.
    index : IntArray, shape (rounds + longest_lag - 1,)
        ``matrices[index[k]]`` mixes round ``k``. Beyond the last round: what is sent in the last ones is for these.
    negative_weights : bool
        Whether entries may be below 0, as those of FDLA and MATCHA are.
    lags : IntArray, shape (matrices, silos, silos), optional
        In round ``k`` silo ``i`` takes the model that silo ``j`` sent in round ``k + 1 - lags[index[k], i, j]``, after
        its local steps of that round. Without lags, all are 1: that of the same round. Kept as 0 where a weight is 0,
        and as None where no lag is above 1.
    computes : BoolArray, shape (matrices,), optional
        Whether silos make their local steps in the rounds that a matrix mixes. Kept as None where they always do. In
        the other rounds they mix what they have, and the learning rate and the order of samples go on as if these
        rounds were not there.

    Raises
    ------
    InputError
        If a shape is wrong, a matrix has an entry that is not finite, one below 0 (beyond rounding, 1e-9) without
        `negative_weights`, or a row that does not sum to 1 within 1e-9, an index points outside, a lag of a weight is
        below 1, that of a silo's own model is not 1, or `computes` is true of no matrix.

    Notes
    -----
    Before round 0 nothing is sent. Until a model has been, its weight stays with the receiver's own: see
    `round_weights`.
    """

    matrices: FloatArray
    index: IntArray
    negative_weights: bool = False
    lags: IntArray | None = None
    computes: BoolArray | None = None
    _computed: IntArray | None = field(default=None, init=False, repr=False)

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
        if self.lags is not None:
            object.__setattr__(self, "lags", _checked_lags(np.asarray(self.lags), matrices))
        if self.computes is not None:
            computes = _checked_computes(np.asarray(self.computes), len(matrices))
            object.__setattr__(self, "computes", computes)
            if computes is not None:
                before = np.concatenate(([0], np.cumsum(computes[self.index])))
                object.__setattr__(self, "_computed", before)

    def __repr__(self) -> str:
        """Size, rounds and number of different matrices."""
        size = f"{self.matrices.shape[1]} silos, {self.rounds} rounds, matrices: {len(self.matrices)}"
        return f"<MixingPlan: {size}, longest lag {self.longest_lag}>"

    @property
    def longest_lag(self) -> int:
        """Largest lag of a weight; 1 without lags."""
        return 1 if self.lags is None else int(self.lags.max())

    @property
    def rounds(self) -> int:
        """Number of rounds that are mixed."""
        return self.index.size - self.longest_lag + 1

    def is_computing(self, round_index: int) -> bool:
        """Return whether silos make their local steps in a round."""
        return self.computes is None or bool(self.computes[self.index[round_index]])

    def computing_before(self, round_index: int) -> int:
        """Return in how many rounds before a round silos make their local steps."""
        return round_index if self._computed is None else int(self._computed[round_index])

    def round_weights(self, round_index: int) -> tuple[FloatArray, IntArray]:
        """Return weights and lags of a round, each of shape (silos, silos); lags are 0 where a weight is.

        Parameters
        ----------
        round_index : int
            The round ``k``.

        Notes
        -----
        Where a model would be of a round before 0, the receiver's own model has its weight: what is left of 1 by those
        that were sent. A silo that lacks all its models keeps its own as it is.
        """
        number = self.index[round_index]
        matrix = self.matrices[number]
        if self.lags is None:
            return matrix, (matrix != 0).astype(np.int64)
        lags = self.lags[number]
        unsent = lags > round_index + 1
        if not unsent.any():
            return matrix, lags
        matrix = np.where(unsent, 0.0, matrix)
        moved = np.flatnonzero(unsent.any(axis=1))
        matrix[moved, moved] = 0.0
        matrix[moved, moved] = 1.0 - matrix[moved].sum(axis=1)
        lags = np.where(unsent, 0, lags)
        lags[moved, moved] = matrix[moved, moved] != 0
        return matrix, lags

    @classmethod
    def constant(cls, matrix: FloatArray, rounds: int, *, negative_weights: bool = False) -> "MixingPlan":
        """Return the plan that mixes every round with the same matrix, shape (silos, silos)."""
        return cls(
            matrices=np.asarray(matrix)[np.newaxis],
            index=np.zeros(rounds, dtype=np.int64),
            negative_weights=negative_weights,
        )

    @classmethod
    def periodic(
        cls, states: Sequence[State], *, silos: int, rounds: int, negative_weights: bool = False
    ) -> "MixingPlan":
        """Return the plan of a periodic overlay: round ``k`` is in state ``k mod P``.

        Parameters
        ----------
        states : sequence of State
            Its `P` states; see `topologies.build_periodic`, which checks them. A silo without arcs in a state does not
            mix in its rounds. Where silos do not compute in a state, they make no local steps in its rounds.
        silos : int
            Number of silos.
        rounds : int
            Rounds of the training.
        negative_weights : bool
            As in `MixingPlan`.

        Notes
        -----
        Memory: a matrix of each different state that the training meets, and one of lags if a lag is above 1.
        """
        longest = max((int(state.lag.max(initial=1)) for state in states), default=1)
        state_of_round = np.arange(rounds + longest - 1) % max(1, len(states))
        met, number = different_states(states[: max(1, state_of_round.size)])
        index = number[state_of_round]
        lags = None
        if longest > 1:
            lags = np.ones((len(met), silos, silos), dtype=np.int64)
            for place, state in enumerate(met):
                lags[place, state.target, state.source] = state.lag
        plan = cls(
            matrices=np.stack([state.consensus(silos) for state in met]),
            index=index,
            negative_weights=negative_weights,
            lags=lags,
            computes=np.array([state.computes for state in met], dtype=np.bool_),
        )
        # An arc of weight 0 may have the longest lag of all.
        return replace(plan, index=index[: rounds + plan.longest_lag - 1])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrainingJob:
    """Everything that determines a training.

    Parameters
    ----------
    silos : int
        Number of silos, >= 1.
    local_steps : int or IntArray, shape (silos,)
        Mini-batch steps per round, >= 1 (`s` of the delay model), of all silos or of each.
    seed : int
        Seed of the partition, the initial model and every silo's data order, >= 0.
    mixing : MixingPlan
        One matrix per round, ``silos`` by ``silos``; with lags, also of the ``longest_lag - 1`` rounds after the last,
        so that the last checkpoint holds what further rounds need.
    silo_places : FloatArray, shape (silos, 2), optional
        Latitude and longitude of each silo in degrees, shifted as configured; only the ``geographic`` partition reads
        them.
    silo_labels : tuple of str, optional
        Names of the silos, for messages; without them silos are named by their index.
    taking_part : BoolArray, shape (rounds, silos), optional
        Which silos make their local steps in each round in which silos compute; all without it. The others mix what
        they have. Rows of further rounds do no harm.
    directory : pathlib.Path, optional
        Folder of checkpoints and exported models (``checkpoint_every`` and ``keep_models``), on a file system that all
        ranks share; without it there are none. A training resumes from the newest checkpoint there. See
        `training.checkpoints.checkpoint_manager`.

    Raises
    ------
    InputError
        If a value breaks its rule, the plan does not fit the silos and rounds, or buffers are exchanged with a
        matrix that has an entry below zero (beyond rounding, 1e-9).

    Attributes
    ----------
    steps : StepPlan
        Local steps of each silo in each round.
    """

    config: TrainingConfig
    silos: int
    local_steps: int | IntArray
    seed: int
    mixing: MixingPlan
    silo_places: FloatArray | None = None
    silo_labels: tuple[str, ...] | None = None
    taking_part: BoolArray | None = None
    directory: Path | None = None
    steps: StepPlan = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_integer("silos", self.silos, minimum=1)
        if np.ndim(self.local_steps) == 0:
            check_integer("local_steps", self.local_steps, minimum=1)
        object.__setattr__(self, "steps", self._step_plan())
        check_integer("seed", self.seed, minimum=0)
        size = self.mixing.matrices.shape[1]
        if size != self.silos:
            raise InputError(f"mixing matrices(silos={size}) must have as many rows as silos(={self.silos}).")
        planned, later = self.mixing.index.size, self.mixing.longest_lag - 1
        if planned != self.config.rounds + later:
            more = f" + longest lag(={later + 1}) - 1" if later else ""
            raise InputError(
                f"mixing index(rounds={planned}) must have rounds(={self.config.rounds}){more} entries."
            )
        if self.config.compression != "none":
            self._check_compressed_mixing()
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

    def __repr__(self) -> str:
        """Model, size and seed."""
        size = f"{self.silos} silos, {self.config.rounds} rounds, seed {self.seed}"
        return f"<TrainingJob: {self.config.model} on {self.config.dataset}, {size}>"

    def _check_compressed_mixing(self) -> None:
        """Raise an InputError for a plan whose models cannot be sent compressed."""
        if self.mixing.lags is not None:
            rule = f"must be 'none' with lags above 1, here up to {self.mixing.longest_lag}."
            raise InputError(rule, field=Field("compression", value=self.config.compression))
        used = self.mixing.matrices[np.unique(self.mixing.index)] != 0
        used |= np.eye(self.silos, dtype=bool)
        if self.config.compressed_gossip == "choco" and (used != used[:1]).any():
            rule = "must be 'error_feedback' where silos do not send to the same silos in all rounds."
            raise InputError(rule, field=Field("compressed_gossip", value="choco"))

    def _step_plan(self) -> StepPlan:
        """Local steps by silo and round."""
        steps = np.asarray(self.local_steps)
        if steps.ndim and steps.shape != (self.silos,):
            raise InputError(
                f"local_steps(shape={steps.shape}) must be one number, or one for each of {self.silos} silos."
            )
        plan = StepPlan(local_steps=np.broadcast_to(steps, self.silos), taking_part=self.taking_part)
        rounds = self.mixing.computing_before(min(self.config.rounds, self.mixing.rounds))
        if self.taking_part is not None and len(self.taking_part) < rounds:
            raise InputError(
                f"taking_part(rounds={len(self.taking_part)}) must have {rounds} rounds or more."
            )
        return plan


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


def _checked_lags(lags: IntArray, matrices: FloatArray) -> IntArray | None:
    """Return lags as `MixingPlan` keeps them."""
    if lags.shape != matrices.shape:
        raise InputError(
            f"mixing lags(shape={lags.shape}) must have the shape of the matrices, {matrices.shape}."
        )
    if not np.issubdtype(lags.dtype, np.integer):
        raise InputError(f"mixing lags must hold integers, not {lags.dtype}.")
    used = matrices != 0
    own = np.eye(matrices.shape[1], dtype=bool)
    for broken, rule in (
        (used & (lags < 1), "must be >= 1."),
        (used & own & (lags != 1), "must be 1: a silo mixes its own model as it is."),
    ):
        for number, row, column in np.argwhere(broken)[:1].tolist():
            raise InputError(
                f"of silo {column} {rule}",
                field=Field("lag", value=int(lags[number, row, column])),
                source=f"mixing matrix {number}, row {row}",
            )
    kept = np.where(used, lags, 0).astype(np.int64)
    return _read_only(kept) if kept.max(initial=1) > 1 else None


def _checked_computes(computes: BoolArray, matrices: int) -> BoolArray | None:
    """Return what tells where silos compute as `MixingPlan` keeps it."""
    if computes.shape != (matrices,) or computes.dtype != np.bool_:
        raise InputError(
            f"mixing computes(shape={computes.shape}, {computes.dtype}) must hold one bool for each of {matrices} "
            "matrices."
        )
    if not computes.any():
        raise InputError("mixing computes must be true of some matrix: no silo would learn.")
    return None if computes.all() else _read_only(computes)


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only view; the caller's array is unchanged."""
    view = array.view()
    view.flags.writeable = False
    return view
