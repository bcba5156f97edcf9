"""A silo as a SimPy process: compute, send, wait for its in-arcs, start the next round."""

from collections.abc import Callable, Generator, Iterator
from math import inf

from simpy.events import Event

from simulator.simpy_engine.clock import Clock
from simulator.simpy_engine.repeat import State
from simulator.simpy_engine.wiring import Wiring

Send = Callable[[int, int], None]
"""Hands the network a message: ``(arc, round)``."""

Started = Callable[[int, int, float], None]
"""Told that a silo starts a round: ``(silo, round, date in seconds)``."""


class Silo:
    """One silo and the messages that it waits for.

    Parameters
    ----------
    clock : Clock
    number : int
    compute_s : iterator of float
        Computing times of its rounds one after the other, in seconds.
    wiring : Wiring
    backward_share : float
        See `simulator.job.Job`.

    Attributes
    ----------
    computed_s : float
        When the computing of its round ends, or has ended.
    round : int
        The round that it is in; the number of rounds once it has ended the last one.
    """

    __slots__ = (
        "_clock",
        "_compute_s",
        "_forward",
        "_gate",
        "_in_backward",
        "_inbox",
        "_number",
        "_until_s",
        "_wiring",
        "computed_s",
        "round",
    )

    def __init__(
        self,
        clock: Clock,
        number: int,
        *,
        compute_s: Iterator[float],
        wiring: Wiring,
        backward_share: float,
    ) -> None:
        self._clock = clock
        self._number = number
        self._compute_s = compute_s
        self._wiring = wiring
        # Round -> messages still missing and the latest arrival so far; senders may be rounds ahead.
        self._inbox: dict[int, tuple[int, float]] = {}
        self._gate: Event | None = None
        self._in_backward = False
        self._until_s = 0.0  # when computing ends, or all messages are in; infinite while some are missing
        self._forward = 1.0 - backward_share
        self.computed_s = 0.0
        self.round = 0

    def run(self, rounds: int, send: Send, started: Started) -> Generator[Event, None, None]:
        """Go through all rounds: `started` is called at the start of each, `send` for each message."""
        clock, number, wiring = self._clock, self._number, self._wiring
        started(number, 0, clock.now)
        for k in range(rounds):
            duration_s = next(self._compute_s)
            self.computed_s = self._until_s = clock.now + duration_s
            yield clock.timeout(self._forward * duration_s)
            for arc, round_ in wiring.after_computing(number, k):
                send(arc, round_)
            if self._forward < 1.0 and clock.now < self.computed_s:
                computed = Event(clock)
                clock.succeed_at(computed, self.computed_s)
                self._in_backward = True
                yield computed
                self._in_backward = False
            in_arcs = wiring.in_arcs(number, k)
            if in_arcs:
                missing, latest_s = self._inbox.get(k, (in_arcs, 0.0))
                if missing or latest_s > clock.now:
                    self._gate = Event(clock)
                    self._until_s = inf if missing else latest_s
                    if not missing:
                        clock.succeed_at(self._gate, latest_s)
                    yield self._gate
                    self._gate = None
                del self._inbox[k]
            self.round = k + 1
            started(number, k + 1, clock.now)
            for arc in wiring.after_start(number, k):
                send(arc, k)

    def receive(self, k: int, arrival_s: float) -> None:
        """Note when the message of round `k` of one in-arc arrives; the date may lie ahead."""
        missing, latest_s = self._inbox.get(k) or (self._wiring.in_arcs(self._number, k), 0.0)
        if arrival_s > latest_s:
            latest_s = arrival_s
        missing -= 1
        self._inbox[k] = (missing, latest_s)
        if not missing and self._gate is not None and self.round == k:
            self._until_s = latest_s
            self._clock.succeed_at(self._gate, latest_s)

    def state(self, k: int, now_s: float) -> State:
        """Its phase, and the messages that it has for this and later rounds."""
        waits = self._until_s == inf
        numbers = [self.round - k, waits + 2 * (self._gate is None) + 4 * self._in_backward]
        times_s = [0.0 if waits else self._until_s - now_s]
        for round_, (missing, latest_s) in sorted(self._inbox.items()):
            numbers += (round_ - k, missing)
            times_s.append(max(0.0, latest_s - now_s))
        return State(numbers, times_s, [])
