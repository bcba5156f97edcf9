"""Network with `sharing="equal"`: every arc has its own constant rate."""

from collections.abc import Sequence

from simulator.clock import Clock
from simulator.silo import Deliver


class EqualNetwork:
    """Sends every message at the constant rate of its arc.

    Parameters
    ----------
    clock : Clock
    sending_s : sequence of float
        Time that a message of each arc takes to leave, in seconds.
    fifo : bool
        Whether an arc sends one message at a time.
    deliver : callable
        Called with ``(arc, round, date of the last bit's leaving)``.

    Notes
    -----
    What a message needs is known when it is handed over, so it costs no SimPy event at all.
    """

    __slots__ = ("_clock", "_deliver", "_fifo", "_free_s", "_sending_s")

    def __init__(self, clock: Clock, *, sending_s: Sequence[float], fifo: bool, deliver: Deliver) -> None:
        self._clock = clock
        self._sending_s = sending_s
        self._fifo = fifo
        self._deliver = deliver
        self._free_s = [0.0] * len(sending_s)

    def send(self, arc: int, k: int) -> None:
        """Send the message of round `k` on an arc."""
        start_s = self._clock.now
        if self._fifo and self._free_s[arc] > start_s:
            start_s = self._free_s[arc]
        self._free_s[arc] = last_bit_s = start_s + self._sending_s[arc]
        self._deliver(arc, k, last_bit_s)
