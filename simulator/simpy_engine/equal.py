"""Sharing model `equal`: every arc has its own constant rate."""

from simulator.sharing import SharingModel
from simulator.simpy_engine.network import NetworkSetup
from simulator.simpy_engine.repeat import State


class EqualNetwork:
    """Sends every message at the constant rate of its arc.

    Parameters
    ----------
    setup : NetworkSetup

    Notes
    -----
    All dates of a message are known when it is handed over, so it costs no SimPy event.
    """

    __slots__ = ("_clock", "_deliver", "_fifo", "_free_s", "_latency_s", "_sending_s")

    def __init__(self, setup: NetworkSetup) -> None:
        self._clock = setup.clock
        self._sending_s = setup.sending_s
        self._latency_s = setup.latency_s
        self._fifo = setup.job.fifo
        self._deliver = setup.deliver
        self._free_s = [0.0] * len(self._latency_s)

    def send(self, arc: int, k: int) -> None:
        """Send the message of round `k` on an arc."""
        start_s = self._clock.now
        if self._fifo and self._free_s[arc] > start_s:
            start_s = self._free_s[arc]
        self._free_s[arc] = last_bit_s = start_s + self._sending_s(arc, k)
        self._deliver(arc, k, start_s, last_bit_s, last_bit_s + self._latency_s[arc], -1)

    def state(self, _k: int, now_s: float) -> State:
        """For how long each arc is taken, with ``queueing="fifo"``; see `RepeatableNetwork`."""
        left_s = [max(free_s - now_s, 0.0) for free_s in self._free_s] if self._fifo else []
        return State([], left_s, [])


EQUAL = SharingModel(name="equal", network=EqualNetwork, compiled="equal", constant_rates=True)
