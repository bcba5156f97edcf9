"""Messages that start slowly: held back before the network gets them."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from math import inf, isfinite
from typing import cast

from simpy.events import Event

from simulator.simpy_engine.clock import Clock
from simulator.simpy_engine.network import Deliver, Network, NetworkSetup, RepeatableNetwork
from simulator.simpy_engine.repeat import State
from simulator.tolerances import SAME_INSTANT


class SlowStarts:
    """Hands messages to a network, those that start slowly by as much later.

    Parameters
    ----------
    setup : NetworkSetup
    make : callable
        Makes the network of messages whose connections are open.

    Attributes
    ----------
    network : Network

    Notes
    -----
    A message that starts slowly holds its arc from when it is sent, but takes its links `FlowArc.slow_start_s` later.
    With ``queueing="fifo"`` messages wait here until the one before has left; otherwise those behind one that is held
    back are held back as long, since they are on its connection. Where the network changes meanwhile the time stays.
    """

    __slots__ = ("_arcs", "_clock", "_fifo", "network")

    def __init__(self, setup: NetworkSetup, make: Callable[[NetworkSetup], Network]) -> None:
        self._clock = setup.clock
        self._fifo = setup.job.fifo
        self._arcs = [
            _Connection(arc.slow_start_s, arc.slow_start_after_s) if arc.slow_start_s > 0 else None
            for arc in setup.job.arcs
        ]
        self.network = make(replace(setup, deliver=self._told(setup.deliver)))

    def send(self, arc: int, k: int) -> None:
        """Send the message of round `k` on an arc."""
        connection, now_s = self._arcs[arc], self._clock.now
        if connection is None:
            self.network.send(arc, k)
        elif self._fifo and (connection.under_way or connection.held):
            connection.waiting.append(k)
        elif connection.starts_slowly(now_s):
            self._hold(connection, arc, k, now_s + connection.slow_start_s)
        elif connection.held:
            self._hold(connection, arc, k, connection.held_until_s)
        else:
            self._pass(connection, arc, k)

    def state(self, k: int, now_s: float) -> State:
        """Of the network, and which connections are open until when; see `RepeatableNetwork`."""
        numbers, times_s, shares = cast(RepeatableNetwork, self.network).state(k, now_s)
        for connection in self._arcs:
            if connection is not None:
                more, later_s = connection.state(k, now_s)
                numbers, times_s = numbers + more, times_s + later_s
        return State(numbers, times_s, shares)

    def _told(self, deliver: Deliver) -> Deliver:
        """Learns of each message that leaves, at once or ahead."""

        def told(
            arc: int, k: int, start_s: float, last_bit_s: float, arrival_s: float, bound_link: int
        ) -> None:
            deliver(arc, k, start_s, last_bit_s, arrival_s, bound_link)
            connection = self._arcs[arc]
            if connection is None:
                return
            if last_bit_s > self._clock.now:
                connection.leaving_s.append(last_bit_s)
                self._at(last_bit_s, lambda: self._left_later(connection, arc))
            else:
                self._left(connection, arc)

        return told

    def _pass(self, connection: "_Connection", arc: int, k: int) -> None:
        connection.under_way += 1
        self.network.send(arc, k)

    def _hold(self, connection: "_Connection", arc: int, k: int, until_s: float) -> None:
        connection.held.append((k, until_s))
        connection.held_until_s = until_s
        self._at(until_s, lambda: self._pass(connection, arc, connection.held.popleft()[0]))

    def _left_later(self, connection: "_Connection", arc: int) -> None:
        connection.leaving_s.popleft()
        self._left(connection, arc)

    def _left(self, connection: "_Connection", arc: int) -> None:
        connection.under_way -= 1
        connection.open_until_s = self._clock.now + connection.after_s
        if connection.waiting and not connection.under_way and not connection.held:
            self.send(arc, connection.waiting.popleft())

    def _at(self, date_s: float, call: Callable[[], None]) -> None:
        clock: Clock = self._clock
        event = Event(clock)
        event.callbacks = [lambda _: call()]
        clock.succeed_at(event, date_s)


class _Connection:
    """An arc: since when it idles, and its messages that are held back or wait."""

    __slots__ = (
        "after_s",
        "held",
        "held_until_s",
        "leaving_s",
        "open_until_s",
        "slow_start_s",
        "under_way",
        "waiting",
    )

    def __init__(self, slow_start_s: float, after_s: float) -> None:
        self.slow_start_s = slow_start_s
        self.after_s = after_s
        self.open_until_s = -inf  # when nothing is under way, until when a message needs no slow start
        self.under_way = 0
        self.held: deque[tuple[int, float]] = deque()  # rounds, and when they take their links
        self.held_until_s = -inf
        self.waiting: deque[int] = deque()
        self.leaving_s: deque[float] = deque()  # when messages under way leave, where that is known

    def starts_slowly(self, now_s: float) -> bool:
        """Whether a message that is sent now does."""
        idles = not self.under_way and not self.held
        return self.after_s < 0 or (idles and now_s > self.open_until_s * SAME_INSTANT)

    def state(self, k: int, now_s: float) -> tuple[list[int], list[float]]:
        """What decides its future, as of `State`."""
        starts_slowly = self.starts_slowly(now_s)
        rounds = [*(round_ for round_, _ in self.held), *self.waiting]
        numbers = [self.under_way, len(self.held), starts_slowly, *(round_ - k for round_ in rounds)]
        times_s = [date_s - now_s for date_s in (*(until_s for _, until_s in self.held), *self.leaving_s)]
        # With messages under way it is set anew when they leave.
        left_s = 0.0 if self.under_way or starts_slowly else self.open_until_s - now_s
        return numbers, [*times_s, left_s if isfinite(left_s) else 0.0]
