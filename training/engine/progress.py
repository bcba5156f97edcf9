"""How far a rank is, as whoever watches it hears: where nobody does, nothing happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class Stage(IntEnum):
    """What a rank does, and so what shows that it goes on."""

    HOST = 0
    """Work of the processor, such as imports, reading, checkpoints and steps there: it takes processor time."""
    DEVICE = 1
    """Work of a GPU: steps end. Its driver may take processor time for ever while it waits for a device that hangs."""
    WAITING = 2
    """It waits for other ranks, whose progress counts."""


class Progress:
    """Hears of a rank's steps and stages; this one tells nobody."""

    def step(self) -> None:
        """Hear that something is done: a local step, a piece of an evaluation, an exchange."""

    def check(self) -> None:
        """Raise a MachineError if whoever watches wants all ranks to end; asked again and again in waits."""

    @contextmanager
    def during(self, stage: Stage) -> Iterator[None]:  # noqa: ARG002
        """Hear that the rank is in another stage until the end."""
        yield
