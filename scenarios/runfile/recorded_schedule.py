"""The rounds of a randomized overlay, with arcs and weights, in the HDF5 file of a run: it alone tells what was run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import h5py
import numpy as np

from scenarios.runfile.atomic import reports_full_disk
from topologies import Connectivity, InputError, Schedule, Workload
from topologies.arrays import FloatArray, IntArray
from topologies.schedule import round_consensus


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RecordedOverlay:
    """A randomized overlay whose rounds were drawn before (a `topologies.RandomOverlay`).

    Parameters
    ----------
    kind : str
    graph : Connectivity
        Where the arcs lie.
    work : Workload
    choice : ndarray of int, shape (rounds,)
        Which of the different rounds each round is.
    ends : sequence of ndarray of int, each of shape (arcs, 2)
        Source and target of each arc of a different round, sorted.
    weights : sequence of ndarray, each of shape (arcs,)
        Weight that the target of each arc gives the source's model.
    own_weight : ndarray, shape (different rounds, silos)
        Weight that each silo gives its own model.
    negative_weights : bool
        Whether some weights may be below 0.
    """

    kind: str
    graph: Connectivity
    work: Workload
    choice: IntArray
    ends: Sequence[IntArray]
    weights: Sequence[FloatArray]
    own_weight: FloatArray
    negative_weights: bool
    _of_arcs: Mapping[bytes, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the different rounds by their arcs."""
        object.__setattr__(self, "_of_arcs", {ends.tobytes(): row for row, ends in enumerate(self.ends)})

    def __repr__(self) -> str:
        """Name, network and number of rounds."""
        return f"<RecordedOverlay {self.kind} on {self.graph.underlay.name}: {len(self.choice)} rounds>"

    def draw(self, rng: np.random.Generator, round_: int, /) -> IntArray:  # noqa: ARG002  (nothing is random)
        """See `topologies.RandomOverlay`.

        Raises
        ------
        InputError
            If the round is not recorded.
        """
        if round_ >= len(self.choice):
            raise InputError(
                f"{self.kind}: round {round_ + 1} is not in the file, which holds {len(self.choice)}."
            )
        return self.choice[round_ : round_ + 1]

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """See `topologies.RandomOverlay`."""
        source, target = self.ends[int(choice[0])].T
        return source, target

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """See `topologies.RandomOverlay`."""
        row = self._of_arcs[np.column_stack((source, target)).tobytes()]
        matrix = np.diag(self.own_weight[row])
        matrix[target, source] = self.weights[row]
        return matrix


@reports_full_disk
def write_schedule(group: h5py.Group, schedule: Schedule) -> None:
    """Write the rounds of a randomized overlay.

    Parameters
    ----------
    group : h5py.Group
        Of the overlay; gets a group ``rounds``.
    schedule : Schedule

    Notes
    -----
    Time O(different rounds x silos^2), as each one's consensus matrix is made and checked.
    """
    overlay = schedule.overlay
    ends, weights, first = [], [], [0]
    own_weight = np.empty((len(schedule.choices), overlay.graph.silos))
    for row, choice in enumerate(schedule.choices):
        source, target = overlay.arcs(choice)
        matrix = round_consensus(overlay, choice)
        own_weight[row] = np.diag(matrix)
        weights.append(matrix[target, source])
        ends.append(np.column_stack((source, target)))
        first.append(first[-1] + len(source))
    rounds = group.create_group("rounds")
    rounds["choice"] = schedule.index
    rounds["first_arc"] = np.array(first, dtype=np.int64)
    rounds["ends"] = np.concatenate(ends or [np.empty((0, 2), dtype=np.int64)]).astype(np.int32)
    rounds["weight"] = np.concatenate(weights or [np.empty(0)])
    rounds["own_weight"] = own_weight
    rounds.attrs["negative_weights"] = overlay.negative_weights


def read_schedule(group: h5py.Group, kind: str, graph: Connectivity, work: Workload) -> RecordedOverlay:
    """Read the rounds of a randomized overlay.

    Parameters
    ----------
    group : h5py.Group
        Of the overlay.
    kind : str
    graph : Connectivity
        Where its arcs are to lie.
    work : Workload

    Returns
    -------
    RecordedOverlay

    Raises
    ------
    InputError
        If the file does not hold them.
    """
    if "rounds" not in group:
        raise InputError(
            f"{kind}: the file does not hold its rounds, as files of older versions; run its scenario again."
        )
    rounds = group["rounds"]
    first, ends, weights = rounds["first_arc"][:], rounds["ends"][:].astype(np.int64), rounds["weight"][:]
    return RecordedOverlay(
        kind=kind,
        graph=graph,
        work=work,
        choice=rounds["choice"][:],
        ends=np.split(ends, first[1:-1]),
        weights=np.split(weights, first[1:-1]),
        own_weight=rounds["own_weight"][:],
        negative_weights=bool(rounds.attrs["negative_weights"]),
    )
