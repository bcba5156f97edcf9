"""Memory in which ranks say how far they are, and whoever watches them answers: a file that all of them map."""

import mmap
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from topologies.errors import MachineError
from training.engine.progress import Progress, Stage

_SLOT = struct.Struct("<qqq104s")
"""Process, steps, stage and host of one rank."""
_VERDICT = struct.Struct("<qq4080s")
"""After all slots: whether there is a verdict, who speaks, and the message."""
NOBODY = -1
"""In place of the rank that speaks, where none can."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Why all ranks are to end.

    Attributes
    ----------
    message : str
        One line.
    speaker : int
        The rank that says so; `NOBODY` if none can.
    """

    message: str
    speaker: int


class SilentRanksError(MachineError):
    """Ranks make no progress, and all are to end.

    Parameters
    ----------
    verdict : Verdict
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.speaker = verdict.speaker


@dataclass(frozen=True, kw_only=True, slots=True)
class RankState:
    """What a rank last said of itself.

    Attributes
    ----------
    process : int
        0 before it has begun.
    steps : int
        So many things were done.
    stage : Stage
    host : str
        Name of its machine.
    """

    process: int
    steps: int
    stage: Stage
    host: str


def make_board(path: Path, ranks: int) -> None:
    """Make the file in which so many ranks say how far they are."""
    path.write_bytes(empty_board(ranks))


def empty_board(ranks: int) -> bytes:
    """Bytes of the file before any of so many ranks has begun."""
    return bytes(_SLOT.size * ranks + _VERDICT.size)


def read_board(board: bytes) -> list[RankState]:
    """What each rank last said."""
    slots = board[: -_VERDICT.size]
    return [
        RankState(process=process, steps=steps, stage=Stage(stage), host=host.rstrip(b"\0").decode())
        for process, steps, stage, host in _SLOT.iter_unpack(slots)
    ]


def write_verdict(board: mmap.mmap, verdict: Verdict) -> None:
    """Tell all ranks that map the file to end."""
    text = verdict.message.encode()[:4080]
    _VERDICT.pack_into(board, len(board) - _VERDICT.size, 0, verdict.speaker, text)
    # Last, as ranks read the rest once they see it.
    board[len(board) - _VERDICT.size] = 1


class SharedProgress(Progress):
    """Writes a rank's progress into the file, without any thread: 0.3 µs for a step, 3 µs for a stage.

    Parameters
    ----------
    path : Path
        Made by `make_board`.
    rank : int
    """

    def __init__(self, path: Path, rank: int) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)
        self._place = _SLOT.size * rank
        self._verdict = len(self._memory) - _VERDICT.size
        self._steps, self._stage = 0, Stage.HOST
        host = socket.gethostname().encode()[:104]
        _SLOT.pack_into(self._memory, self._place, os.getpid(), 0, Stage.HOST, host)

    def step(self) -> None:
        """Write that one more thing is done."""
        self._steps += 1
        struct.pack_into("<q", self._memory, self._place + 8, self._steps)
        self.check()

    def check(self) -> None:
        """Raise SilentRanksError if whoever watches has said so."""
        if self._memory[self._verdict]:
            _, speaker, text = _VERDICT.unpack_from(self._memory, self._verdict)
            message = text.rstrip(b"\0").decode(errors="ignore")
            raise SilentRanksError(Verdict(message=message, speaker=speaker))

    def ended(self) -> None:
        """Write that only waiting is left."""
        struct.pack_into("<q", self._memory, self._place + 16, Stage.WAITING)

    @contextmanager
    def during(self, stage: Stage) -> Iterator[None]:
        """Write another stage until the end."""
        before, self._stage = self._stage, stage
        struct.pack_into("<q", self._memory, self._place + 16, stage)
        try:
            yield
        finally:
            self._stage = before
            struct.pack_into("<q", self._memory, self._place + 16, before)
