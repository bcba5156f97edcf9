"""A silo as a SimPy process: compute, send, wait for its in-arcs, start the next round."""

from collections.abc import Callable, Generator, Sequence

from simpy.events import Event

from simulator.clock import Clock

Send = Callable[[int, int], None]
"""Hands the network a message: ``(arc, round)``."""

Deliver = Callable[[int, int, float], None]
"""Hears from the network of a message's last bit leaving: ``(arc, round, date in seconds)``."""


class Silo:
    """One silo and the messages that it waits for.

    Parameters
    ----------
    clock : Clock
    compute_s : float
        Computing time per round, in seconds.
    in_arcs : int
        Number of arcs that it hears.
    after_computing, after_start : sequence of int
        Out-arcs with 1 token, and with 0 tokens.
    """

    __slots__ = (
        "_after_computing",
        "_after_start",
        "_clock",
        "_compute_s",
        "_gate",
        "_in_arcs",
        "_inbox",
        "_round",
    )

    def __init__(
        self,
        clock: Clock,
        *,
        compute_s: float,
        in_arcs: int,
        after_computing: Sequence[int],
        after_start: Sequence[int],
    ) -> None:
        self._clock = clock
        self._compute_s = compute_s
        self._in_arcs = in_arcs
        self._after_computing = after_computing
        self._after_start = after_start
        # Round -> messages still missing and the latest arrival so far; senders may be rounds ahead.
        self._inbox: dict[int, tuple[int, float]] = {}
        self._gate: Event | None = None
        self._round = 0

    def run(self, rounds: int, send: Send, started: Callable[[int], None]) -> Generator[Event, None, None]:
        """Live through all rounds; `started` is told each one and `send` gets ``(arc, round)``."""
        clock = self._clock
        started(0)
        for k in range(rounds):
            yield clock.timeout(self._compute_s)
            for arc in self._after_computing:
                send(arc, k)
            if self._in_arcs:
                self._round = k
                missing, latest_s = self._inbox.get(k, (self._in_arcs, 0.0))
                if missing or latest_s > clock.now:
                    self._gate = Event(clock)
                    if not missing:
                        clock.succeed_at(self._gate, latest_s)
                    yield self._gate
                    self._gate = None
                del self._inbox[k]
            started(k + 1)
            for arc in self._after_start:
                send(arc, k)

    def receive(self, k: int, arrival_s: float) -> None:
        """Learn when the message of round `k` of one in-arc arrives; the date may lie ahead."""
        missing, latest_s = self._inbox.get(k, (self._in_arcs, 0.0))
        if arrival_s > latest_s:
            latest_s = arrival_s
        missing -= 1
        self._inbox[k] = (missing, latest_s)
        if not missing and self._gate is not None and self._round == k:
            self._clock.succeed_at(self._gate, latest_s)
