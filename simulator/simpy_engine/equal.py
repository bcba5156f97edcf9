"""Network with `sharing="equal"`: every arc has its own constant rate."""

from collections.abc import Callable, Sequence

from simulator.simpy_engine.clock import Clock

Deliver = Callable[[int, int, float, float, float, int], None]
"""Hears from a network of a message whose last bit leaves: ``(arc, round, start, last bit, arrival, bound link)``,
dates in seconds."""


class EqualNetwork:
    """Sends every message at the constant rate of its arc.

    Parameters
    ----------
    clock : Clock
    sending_s : callable
        Time that the message of ``(arc, round)`` takes to leave, in seconds.
    latency_s : sequence of float
        From the last bit's leaving to the arrival, of each arc.
    fifo : bool
        Whether an arc sends one message at a time.
    deliver : Deliver

    Notes
    -----
    What a message needs is known when it is handed over, so it costs no SimPy event at all.
    """

    __slots__ = ("_clock", "_deliver", "_fifo", "_free_s", "_latency_s", "_sending_s")

    def __init__(
        self,
        clock: Clock,
        *,
        sending_s: Callable[[int, int], float],
        latency_s: Sequence[float],
        fifo: bool,
        deliver: Deliver,
    ) -> None:
        self._clock = clock
        self._sending_s = sending_s
        self._latency_s = latency_s
        self._fifo = fifo
        self._deliver = deliver
        self._free_s = [0.0] * len(latency_s)

    def send(self, arc: int, k: int) -> None:
        """Send the message of round `k` on an arc."""
        start_s = self._clock.now
        if self._fifo and self._free_s[arc] > start_s:
            start_s = self._free_s[arc]
        self._free_s[arc] = last_bit_s = start_s + self._sending_s(arc, k)
        self._deliver(arc, k, start_s, last_bit_s, last_bit_s + self._latency_s[arc], -1)
