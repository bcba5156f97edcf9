"""Randomized overlays, and the one schedule of them that a run follows."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.consensus import check_consensus, weight_pattern
from topologies.errors import InputError
from topologies.workload import Workload

SCHEDULE_STREAM = int.from_bytes(b"overlays")
"""Spawn key of the schedule's random stream, apart from all others of the same seed."""


class RandomOverlay(Protocol):
    """An overlay whose arcs differ from round to round: drawn at random, or by the number of the round."""

    @property
    def kind(self) -> str:
        """What it is called: the designer's name, unless the user gave another."""

    @property
    def graph(self) -> Connectivity:
        """Where the arcs lie."""

    @property
    def work(self) -> Workload:
        """What a round costs."""

    def draw(self, rng: np.random.Generator, round_: int, /) -> IntArray:
        """Draw the arcs of round ``round_``, from 0, as a code of the same shape in each round."""

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """Source and target of a choice's arcs, each of shape (arcs,), sorted by source, then target."""

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """Consensus matrix of a round with these arcs, shape (silos, silos), rows: who averages."""

    @property
    def negative_weights(self) -> bool:
        """Whether weights of a round may be below 0."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class NamedRandomOverlay:
    """A randomized overlay under another name, or with a seed of its own.

    Parameters
    ----------
    kind : str
        The name.
    base : RandomOverlay
    seed : int, optional
        Of its rounds, whatever seed a schedule is asked for.
    """

    kind: str
    base: RandomOverlay
    seed: int | None = None

    def __repr__(self) -> str:
        """Name and what it is the name of."""
        return f"<NamedRandomOverlay {self.kind}: {self.base!r}>"

    @property
    def graph(self) -> Connectivity:
        """See `RandomOverlay`."""
        return self.base.graph

    @property
    def work(self) -> Workload:
        """See `RandomOverlay`."""
        return self.base.work

    @property
    def negative_weights(self) -> bool:
        """See `RandomOverlay`."""
        return self.base.negative_weights

    def draw(self, rng: np.random.Generator, round_: int, /) -> IntArray:
        """See `RandomOverlay`."""
        return self.base.draw(rng, round_)

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """See `RandomOverlay`."""
        return self.base.arcs(choice)

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """See `RandomOverlay`."""
        return self.base.consensus(source, target)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Schedule:
    """The arcs of each round of a run; made by `make_schedule`.

    Attributes
    ----------
    choices : ndarray of int, shape (distinct, width)
        What `overlay` drew, each choice once, in the order of first use.
    index : ndarray of int, shape (rounds,)
        Row of `choices` that each round uses.
    """

    overlay: RandomOverlay
    seed: int
    choices: IntArray
    index: IntArray

    def __repr__(self) -> str:
        """Overlay, seed, number of rounds and of distinct choices."""
        size = f"{self.rounds} rounds, {len(self.choices)} distinct"
        return f"<Schedule of {self.overlay.kind}: {size}, seed {self.seed}>"

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.index)

    def arcs(self, round_: int) -> tuple[IntArray, IntArray]:
        """Source and target of the arcs of a round, each of shape (arcs,)."""
        return self.overlay.arcs(self.choices[self.index[round_]])

    def consensus(self, round_: int) -> FloatArray:
        """Consensus matrix of a round, shape (silos, silos); see `round_consensus`."""
        return round_consensus(self.overlay, self.choices[self.index[round_]])


def make_schedule(overlay: RandomOverlay, seed: int, rounds: int) -> Schedule:
    """Draw the overlays of all rounds.

    Parameters
    ----------
    seed : int
        At least 0. The same seed gives the same first rounds, however many follow.

    Raises
    ------
    InputError
        If `seed` or `rounds` is negative.

    Notes
    -----
    Choices are kept, not arcs: 1,000 rounds of MATCHA on a complete graph of 87 silos are 0.6 MB instead of 60.
    """
    if rounds < 0:
        raise InputError(f"rounds(={rounds}) must be >= 0.")
    draws = choices(overlay, seed)
    distinct: dict[bytes, tuple[int, IntArray]] = {}
    index = np.empty(rounds, dtype=np.int64)
    for k in range(rounds):
        choice = next(draws)
        index[k], _ = distinct.setdefault(choice.tobytes(), (len(distinct), choice))
    rows = [choice for _, choice in distinct.values()]
    table = np.array(rows, dtype=np.int64) if rows else np.empty((0, 0), dtype=np.int64)
    return Schedule(overlay=overlay, seed=seed, choices=table, index=index)


def round_consensus(overlay: RandomOverlay, choice: IntArray) -> FloatArray:
    """Consensus matrix of a round, checked.

    Parameters
    ----------
    choice : ndarray of int
        What `overlay` drew for the round.

    Returns
    -------
    ndarray, shape (silos, silos)

    Raises
    ------
    InputError
        If the overlay weighs a model that no arc of the round brings, or breaks another rule of `check_consensus`.
    """
    source, target = overlay.arcs(choice)
    matrix = overlay.consensus(source, target)
    pattern = weight_pattern(overlay.graph.silos, source, target)
    if matrix.shape != pattern.shape:
        raise InputError(f"{overlay.kind}: consensus has shape {matrix.shape}; it must be {pattern.shape}.")
    try:
        return check_consensus(
            matrix,
            columns=False,
            negative_weights=overlay.negative_weights,
            pattern=pattern,
            labels=overlay.graph.labels,
        )
    except InputError as error:
        raise error.located(overlay.kind) from None


def choices(overlay: RandomOverlay, seed: int) -> Iterator[IntArray]:
    """Draws of the overlay, one per round, without end."""
    if seed < 0:
        raise InputError(f"seed(={seed}) must be >= 0.")
    if isinstance(overlay, NamedRandomOverlay) and overlay.seed is not None:
        seed = overlay.seed
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SCHEDULE_STREAM,)))
    for round_ in itertools.count():
        yield overlay.draw(rng, round_)
