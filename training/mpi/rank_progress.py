"""Memory in which ranks say how far they are, and the launcher reads it: a file that all of them map."""

import mmap
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from training.engine.progress import Progress, Stage

_SLOT = struct.Struct("<qqq104s")
"""Process, steps, stage and host of one rank."""


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
    path.write_bytes(bytes(_SLOT.size * ranks))


def read_board(board: bytes) -> list[RankState]:
    """What each rank last said."""
    return [
        RankState(process=process, steps=steps, stage=Stage(stage), host=host.rstrip(b"\0").decode())
        for process, steps, stage, host in _SLOT.iter_unpack(board)
    ]


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
        self._steps, self._stage = 0, Stage.HOST
        host = socket.gethostname().encode()[:104]
        _SLOT.pack_into(self._memory, self._place, os.getpid(), 0, Stage.HOST, host)

    def step(self) -> None:
        """Write that one more thing is done."""
        self._steps += 1
        struct.pack_into("<q", self._memory, self._place + 8, self._steps)

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
