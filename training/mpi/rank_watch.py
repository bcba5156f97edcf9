"""The launcher's watch on its ranks: one that is stopped or hangs ends the run instead of holding it up for ever."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from topologies.errors import MachineError, TrainingError
from training.engine.progress import Stage
from training.mpi.rank_progress import RankState, read_board
from training.processes import children, main_thread_s, process_name, process_state

PROXY = "hydra_pmi_proxy"
"""The process of MPICH's `mpiexec` on each machine, which starts the ranks there."""
LOOK_S = 0.5
"""Time between two looks; what passes beyond it while the launcher itself is held up is no rank's silence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What can be seen of a rank on its own machine.

    Attributes
    ----------
    state : RankState
        What it says of itself.
    thread_s : float
        Processor time of its main thread where that is progress, else 0.
    is_stopped : bool
        Whether a signal stopped it.
    """

    state: RankState
    thread_s: float
    is_stopped: bool

    @classmethod
    def of(cls, state: RankState) -> "Seen":
        """See a rank of this machine."""
        counts = state.stage == Stage.HOST and state.process
        return cls(
            state=state,
            thread_s=main_thread_s(state.process) if counts else 0.0,
            is_stopped=process_state(state.process) == "T",
        )


class Silences:
    """For how long each rank has made no progress."""

    def __init__(self) -> None:
        self._seen: dict[int, Seen] = {}
        self._silent_s: dict[int, float] = {}

    def look(self, seen: Mapping[int, Seen], passed_s: float) -> None:
        """Compare what is seen with the last look, which was so many seconds ago."""
        for rank, new in seen.items():
            old = self._seen.get(rank, new)
            is_silent = (new.state, new.thread_s) == (old.state, old.thread_s)
            self._silent_s[rank] = self._silent_s.get(rank, 0.0) + passed_s if is_silent else 0.0
        self._seen.update(seen)

    def longer_than(self, limit_s: float) -> set[int]:
        """Ranks that have made no progress for longer."""
        return {rank for rank, silent_s in self._silent_s.items() if silent_s > limit_s}


def to_blame(seen: Mapping[int, Seen], silent: Collection[int]) -> list[int]:
    """Of ranks that make no progress those that do not wait for others, or are stopped."""
    return [
        rank
        for rank, one in sorted(seen.items())
        if rank in silent and (one.state.stage != Stage.WAITING or one.is_stopped)
    ]


def blaming(seen: Mapping[int, Seen], blamed: Collection[int], stated: str) -> str:
    """The message that names ranks which hold all up, for the limit as the user wrote it."""
    named = " and ".join(_named(rank, seen[rank]) for rank in blamed)
    return f"{named} made no progress for longer than rank_timeout(={stated!r}); all ranks were ended."


def deadlocked(seen: Mapping[int, Seen], stated: str) -> str:
    """The message of ranks that all wait for each other."""
    named = ", ".join(f"rank {rank} on {one.state.host}" for rank, one in sorted(seen.items()))
    return (
        f"all ranks have waited for each other for longer than rank_timeout(={stated!r}), as where the network "
        f"between them is cut: {named}; all were ended."
    )


class RankWatch:
    """Finds ranks without progress.

    Parameters
    ----------
    board : Path
        See `training.mpi.rank_progress`.
    limit_s : float
        Longest time without progress, in seconds; 0 for any.
    stated : str
        The limit as the user wrote it.
    launcher : int
        The process that starts the ranks.
    clock : callable

    Notes
    -----
    A rank makes progress when a local step of its silos, a piece of an evaluation or an exchange is done; on the
    processor, and everywhere before the rounds and in checkpoints, also when its main thread takes processor time: so a
    slow import, a long step or a large file is progress, and a stopped process or a thread that waits for a device or a
    file makes none. A rank that waits for others is not to blame unless all of them wait. Code that computes in an
    endless loop on the processor is not told from slow code.
    """

    def __init__(
        self,
        board: Path,
        *,
        limit_s: float,
        stated: str,
        launcher: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._board, self._limit_s, self._stated, self._launcher = board, limit_s, stated, launcher
        self._clock, self._looked_s = clock, clock()
        self._silences = Silences()
        self._proxies: set[int] = set()
        self._lost = False

    def look(self) -> None:
        """Look at the ranks if `LOOK_S` has passed.

        Raises
        ------
        MachineError
            If a rank has made no progress for too long, or all wait for each other.
        TrainingError
            If a process that starts ranks for the launcher has ended before it.
        """
        now_s = self._clock()
        if (passed_s := now_s - self._looked_s) < LOOK_S:
            return
        self._looked_s = now_s
        self._look_at_proxies()
        if self._limit_s:
            self._look_at_ranks(min(passed_s, 2 * LOOK_S))

    def _look_at_proxies(self) -> None:
        """Without its proxies `mpiexec` waits for ever, and ranks go on that nobody would end."""
        there = {child for child in children(self._launcher) if process_name(child) == PROXY}
        gone, self._proxies = self._proxies - there, self._proxies | there
        # They end a moment before the launcher does.
        if gone and self._lost:
            raise TrainingError(
                f"mpiexec's {PROXY}, which starts the ranks, has ended before them: it was killed, as the system does "
                "when memory runs out."
            )
        self._lost = bool(gone)

    def _look_at_ranks(self, passed_s: float) -> None:
        """Compare what ranks have done with the last look."""
        seen = {rank: Seen.of(state) for rank, state in enumerate(read_board(self._board.read_bytes()))}
        self._silences.look(seen, passed_s)
        silent = self._silences.longer_than(self._limit_s)
        if blamed := to_blame(seen, silent):
            raise MachineError(blaming(seen, blamed, self._stated))
        if len(silent) == len(seen):
            raise MachineError(deadlocked(seen, self._stated))


def _named(rank: int, seen: Seen) -> str:
    """A rank with its host and process, for a message."""
    state = seen.state
    if not state.process:
        return f"rank {rank} has not started: it"
    stopped = ", which is stopped," if seen.is_stopped else ""
    return f"rank {rank} on {state.host} (process {state.process}){stopped}"
