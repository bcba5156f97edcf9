"""The rounds of a randomized overlay, with arcs and weights, in the HDF5 file of a run: it alone tells what was run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from scenarios.runfile.atomic import reports_full_disk
from scenarios.runfile.names import write_arc_names
from scenarios.runfile.simulated_rounds import make_dataset
from scenarios.runtime.signals import check_interrupts
from topologies import Connectivity, InputError, Schedule, Workload
from topologies.arrays import FloatArray, IntArray
from topologies.schedule import round_consensus

_PIECE_BYTES = 2**22
"""Of weights that are in memory at once."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RecordedOverlay:
    """A randomized overlay whose rounds were drawn before (a `topologies.RandomOverlay`).

    Parameters
    ----------
    kind : str
    graph : Connectivity
        Where the arcs lie.
    work : Workload
    ends : ndarray of int, shape (arcs, 2)
        Source and target of every arc that a round may have, sorted.
    choice : ndarray of int, shape (rounds,)
        Which of the different rounds each round is.
    active : ndarray of uint8, shape (different rounds, bytes)
        Which arcs a round has: the bits of its bytes, the highest first.
    weight : ndarray, shape (arcs,) or (different rounds, arcs)
        Weight that the target of each arc gives the source's model, in every round or in this one.
    own_weight : ndarray, shape (different rounds, silos)
        Weight that each silo gives its own model.
    negative_weights : bool
        Whether some weights may be below 0.
    """

    kind: str
    graph: Connectivity
    work: Workload
    ends: IntArray
    choice: IntArray
    active: NDArray[np.uint8]
    weight: FloatArray
    own_weight: FloatArray
    negative_weights: bool
    _of_arcs: Mapping[bytes, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the different rounds by their arcs."""
        object.__setattr__(self, "_of_arcs", {bits.tobytes(): row for row, bits in enumerate(self.active)})

    def __repr__(self) -> str:
        """Name, network and number of rounds."""
        return f"<RecordedOverlay {self.kind} on {self.graph.underlay.name}: {self.rounds} rounds>"

    @property
    def rounds(self) -> int:
        """Recorded rounds."""
        return len(self.choice)

    def draw(self, rng: np.random.Generator, round_: int, /) -> IntArray:  # noqa: ARG002  (nothing is random)
        """See `topologies.RandomOverlay`.

        Raises
        ------
        InputError
            If the round is not recorded.
        """
        if round_ >= self.rounds:
            raise InputError(
                f"{self.kind}: round {round_ + 1} is not in the file, which holds {self.rounds}."
            )
        return self.choice[round_ : round_ + 1]

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """See `topologies.RandomOverlay`."""
        bits = np.unpackbits(self.active[int(choice[0])], count=len(self.ends))
        source, target = self.ends[bits.astype(np.bool_)].T
        return source, target

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """See `topologies.RandomOverlay`."""
        silos = self.graph.silos
        places = np.searchsorted(self.ends @ (silos, 1), source * silos + target)
        row = self._of_arcs[_packed(places, len(self.ends)).tobytes()]
        matrix = np.diag(self.own_weight[row])
        matrix[target, source] = (self.weight if self.weight.ndim == 1 else self.weight[row])[places]
        return matrix


class ScheduleWriter:
    """Writes the rounds of a randomized overlay; everything is allocated at its full size.

    Parameters
    ----------
    file : h5py.File
    name : str
        Group of the overlay; gets a group ``rounds``.
    schedule : Schedule
    rounds : int
        How many of its rounds are written now.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, within a second.
    MachineError
        If the disk is full.

    Notes
    -----
    Rounds that are written later change numbers in place only, so that the file can be opened whenever the process is
    killed; see `scenarios.runfile.simulated_rounds.allocate`. Where an arc has the same weight in all rounds that are
    written now, as those of MATCHA have, one weight is kept for each arc instead of one for each arc and round; a later
    round with another weight is then not written, nor any after it.

    Time O(different rounds x silos^2), as each one's consensus matrix is made and checked. Memory O(rounds).
    """

    def __init__(self, file: h5py.File, name: str, schedule: Schedule, *, rounds: int) -> None:
        overlay, silos = schedule.overlay, schedule.overlay.graph.silos
        used = np.zeros((silos, silos), dtype=np.bool_)
        for choice in schedule.choices:
            used[overlay.arcs(choice)] = True
        ends = np.argwhere(used)
        self._file, self._schedule = file, schedule
        self._number = np.full((silos, silos), -1, dtype=np.int64)
        self._number[*ends.T] = np.arange(len(ends))
        self._weight = np.full(len(ends), np.nan)
        self._rounds = 0
        self._group = file.create_group(f"{name}/rounds")
        _allocate(file, self._group, ends, schedule)
        self.write(rounds)
        if self._rounds < min(rounds, schedule.rounds):
            _allocate_weights(file, self._group, (schedule.rounds, len(ends)))
            self._rounds = 0
            self.write(rounds)
        elif "weight" not in self._group:
            _allocate_weights(file, self._group, (len(ends),))
            self._finish()

    def write(self, rounds: int) -> None:
        """Write the rounds up to this number that are not written yet."""
        last = min(rounds, self._schedule.rounds)
        silos, arcs = len(self._number), len(self._weight)
        step = max(1, _PIECE_BYTES // (8 * (silos + arcs)))
        while self._rounds < last:
            check_interrupts()
            count = min(step, last - self._rounds)
            if self._write_piece(count) < count:
                break
        self._finish()

    def _write_piece(self, count: int) -> int:
        """Write some rounds; how many, as there may be one with other weights than those before it."""
        silos, arcs = len(self._number), len(self._weight)
        by_round = self._by_round
        own_weight, weight = np.empty((count, silos)), np.full((count if by_round else 0, arcs), np.nan)
        active = np.empty((count, -(-arcs // 8)), dtype=np.uint8)
        places: dict[int, int] = {}
        index = self._schedule.index[self._rounds : self._rounds + count].tolist()
        for place, choice in enumerate(index):
            if (known := places.setdefault(choice, place)) < place:
                own_weight[place], active[place] = own_weight[known], active[known]
                weight[place : place + 1] = weight[known : known + 1]
                continue
            source, target = self._schedule.overlay.arcs(self._schedule.choices[choice])
            matrix = round_consensus(self._schedule.overlay, self._schedule.choices[choice])
            numbers, given = self._number[source, target], matrix[target, source]
            if by_round:
                weight[place, numbers] = given
            else:
                before = self._weight[numbers]
                if not (np.isnan(before) | (before == given)).all():
                    count = place
                    break
                self._weight[numbers] = given
            own_weight[place], active[place] = np.diag(matrix), _packed(numbers, arcs)
        piece: dict[str, NDArray[Any]] = {"own_weight": own_weight[:count], "active": active[:count]}
        if by_round:
            piece["weight"] = weight[:count]
        _write(self._file, self._group, self._rounds, piece)
        self._rounds += count
        return count

    @property
    def _by_round(self) -> bool:
        """Whether the file has a weight for each arc in each round."""
        return "weight" in self._group and self._group["weight"].ndim == 2

    def _finish(self) -> None:
        """Say how many rounds there are, after them."""
        if "weight" in self._group and not self._by_round:
            _write(self._file, self._group, 0, {"weight": self._weight})
        _write_count(self._file, self._group, self._rounds)


def _packed(numbers: IntArray, arcs: int) -> NDArray[np.uint8]:
    """Bits of these arcs."""
    bits = np.zeros(arcs, dtype=np.bool_)
    bits[numbers] = True
    return np.packbits(bits)


@reports_full_disk
def _allocate(_file: h5py.File, group: h5py.Group, ends: IntArray, schedule: Schedule) -> None:
    """Allocate all but the weights of arcs."""
    group.attrs.update(rounds=0, negative_weights=schedule.overlay.negative_weights)
    group["ends"] = ends.astype(np.int32)
    write_arc_names(group, schedule.overlay.graph, ends)
    make_dataset(group, "active", (schedule.rounds, -(-len(ends) // 8)), np.uint8, 0)
    make_dataset(group, "own_weight", (schedule.rounds, schedule.overlay.graph.silos), np.float64, np.nan)


@reports_full_disk
def _allocate_weights(_file: h5py.File, group: h5py.Group, shape: tuple[int, ...]) -> None:
    """Allocate the weights of arcs, of all rounds or by round."""
    make_dataset(group, "weight", shape, np.float64, np.nan)


@reports_full_disk
def _write(_file: h5py.File, group: h5py.Group, first: int, values: Mapping[str, NDArray[Any]]) -> None:
    """Write a piece of some data sets."""
    for name, piece in values.items():
        group[name][first : first + len(piece)] = piece


@reports_full_disk
def _write_count(file: h5py.File, group: h5py.Group, rounds: int) -> None:
    """Write the number of rounds, which are flushed before it."""
    file.flush()
    group.attrs.modify("rounds", rounds)
    file.flush()


def read_schedule(
    group: h5py.Group, kind: str, graph: Connectivity, work: Workload, *, most: int | None = None
) -> RecordedOverlay:
    """Read the rounds of a randomized overlay.

    Parameters
    ----------
    group : h5py.Group
        Of the overlay.
    kind : str
    graph : Connectivity
        Where its arcs are to lie.
    work : Workload
    most : int, optional
        Rounds to read, by default all.

    Returns
    -------
    RecordedOverlay

    Raises
    ------
    InputError
        If the file does not hold them.
    """
    rounds = group.get("rounds", {})
    if "active" not in rounds:
        raise InputError(
            f"{kind}: the file does not hold its rounds, as files of older versions; run its scenario again."
        )
    there = int(rounds.attrs["rounds"])
    count = there if most is None else min(there, most)
    active = rounds["active"][:count]
    rows: dict[bytes, int] = {}
    choice = np.array([rows.setdefault(bits.tobytes(), len(rows)) for bits in active], dtype=np.int64)
    _, first = np.unique(choice, return_index=True)
    weight = rounds["weight"]
    return RecordedOverlay(
        kind=kind,
        graph=graph,
        work=work,
        ends=rounds["ends"][:].astype(np.int64),
        choice=choice,
        active=active[first],
        weight=weight[:] if weight.ndim == 1 else weight[first],
        own_weight=rounds["own_weight"][first] if count else np.empty((0, graph.silos)),
        negative_weights=bool(rounds.attrs["negative_weights"]),
    )
