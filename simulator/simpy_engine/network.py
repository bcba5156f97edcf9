"""What the SimPy engine and the network of a sharing model expect of each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from simulator.job import Job
from simulator.observer import OnRates
from simulator.simpy_engine.clock import Clock
from simulator.simpy_engine.repeat import State

Deliver = Callable[[int, int, float, float, float, int], None]
"""Told of a message when its last bit leaves, or before: ``(arc, round, start, last bit, arrival, bound link)``, with
dates in seconds; the link is -1 where none bounds the rate."""

CrossedOtherwise = Callable[[int, int, Mapping[int, float]], None]
"""Told of the bits on each link of a message that did not take its arc's first route: ``(arc, round, bits)``, before
its last bit leaves."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class NetworkSetup:
    """What a sharing model makes its network from.

    Parameters
    ----------
    job : Job
        Arcs, routes, capacities, message sizes and queueing.
    clock : Clock
        Current date, and events to come.
    deliver : Deliver
        To be called once for each message that is sent.
    sending_s : callable
        Time in which the message of ``(arc, round)`` leaves at its arc's constant rate, in seconds. Only a model with
        `constant_rates` may call it: with another one it raises an InputError.
    on_rates : callable, optional
        See `simulator.Observer`.
    crossed_otherwise : CrossedOtherwise
    """

    job: Job
    clock: Clock
    deliver: Deliver
    sending_s: Callable[[int, int], float]
    on_rates: OnRates | None
    crossed_otherwise: CrossedOtherwise

    @property
    def latency_s(self) -> list[float]:
        """From the last bit's leaving to the arrival, of each arc."""
        return [float(arc.latency_s) for arc in self.job.arcs]


class Network(Protocol):
    """Takes messages, and delivers each when it has left."""

    def send(self, arc: int, k: int, /) -> None:
        """Send the message of round `k` on an arc; with ``queueing="fifo"`` after the earlier ones of the arc."""


@runtime_checkable
class RepeatableNetwork(Network, Protocol):
    """A network that describes its state, so that a repeat of the whole job can be proven."""

    def state(self, k: int, now_s: float, /) -> State:
        """All that decides what follows, seen from round `k` and this date; equal states have equal futures."""


class ChangeableNetwork(Network, Protocol):
    """A network whose capacities, routes and background traffic change while messages are under way."""

    def end_due(self) -> None:
        """End the messages that are due at this instant, before it brings a change."""

    def set_capacity(self, link: int, capacity_bps: float) -> None:
        """Change a link's capacity from now on."""

    def set_route(
        self, arc: int, links: Sequence[int], latency_s: float, usage: Mapping[int, float], hops: int
    ) -> None:
        """Change an arc's links, latency, `unequal_usage` and number of hops from now on; see `FlowArc`."""

    def set_flow(self, number: int, links: Sequence[int], peak_bps: float) -> None:
        """Start or change background traffic on some links, at most so fast; 0 ends it."""
