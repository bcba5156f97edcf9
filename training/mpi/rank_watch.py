"""The launcher's watch on its ranks: one that is stopped or hangs ends the run instead of holding it up for ever."""

import time
from collections.abc import Callable
from pathlib import Path

from topologies.errors import MachineError, TrainingError
from training.engine.progress import Stage
from training.mpi.rank_progress import RankState, read_board
from training.processes import children, main_thread_s, process_name, process_state

PROXY = "hydra_pmi_proxy"
"""The process of MPICH's `mpiexec` on each machine, which starts the ranks there."""
LOOK_S = 0.5
"""Time between two looks; what passes beyond it while the launcher itself is held up is no rank's silence."""


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
        self._evidence: list[tuple[float, ...]] = []
        self._silent_s: list[float] = []
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
        states = read_board(self._board.read_bytes())
        evidence = [_evidence(state) for state in states]
        before = self._evidence or evidence
        silent_s = self._silent_s or [0.0] * len(states)
        self._silent_s = [
            0.0 if new != old else silence_s + passed_s
            for new, old, silence_s in zip(evidence, before, silent_s, strict=True)
        ]
        self._evidence = evidence
        silent = [rank for rank, silence_s in enumerate(self._silent_s) if silence_s > self._limit_s]
        to_blame = [
            rank for rank in silent if states[rank].stage != Stage.WAITING or _is_stopped(states[rank])
        ]
        if to_blame:
            named = " and ".join(_named(rank, states[rank]) for rank in to_blame)
            raise MachineError(
                f"{named} made no progress for longer than rank_timeout(={self._stated!r}); all ranks were ended."
            )
        if len(silent) == len(states):
            named = ", ".join(f"rank {rank} on {state.host}" for rank, state in enumerate(states))
            raise MachineError(
                f"all ranks have waited for each other for longer than rank_timeout(={self._stated!r}), as where the "
                f"network between them is cut: {named}; all were ended."
            )


def _evidence(state: RankState) -> tuple[float, ...]:
    """What changes where a rank makes progress."""
    thread_s = main_thread_s(state.process) if state.stage == Stage.HOST and state.process else 0.0
    return (state.process, state.steps, state.stage, thread_s)


def _is_stopped(state: RankState) -> bool:
    """Whether a signal stopped a rank's process, as far as this machine shows it."""
    return process_state(state.process) == "T"


def _named(rank: int, state: RankState) -> str:
    """A rank with its host and process, for a message."""
    if not state.process:
        return f"rank {rank} has not started: it"
    stopped = ", which is stopped," if _is_stopped(state) else ""
    return f"rank {rank} on {state.host} (process {state.process}){stopped}"
