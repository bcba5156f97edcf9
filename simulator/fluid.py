"""Network with `sharing="maxmin"`: messages are flows that share every link direction max-min fairly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf

from simpy.events import NORMAL, Event, EventPriority

from simulator.clock import LATE, Clock
from simulator.maxmin import progressive_filling
from simulator.observer import OnRates
from simulator.reduction import limiting_links
from simulator.silo import Deliver

# Two dates of one instant that were computed in different ways differ by some units in the last place
# (2e-16) per rate change. A merge that is missed costs one more solve, a wrong one this fraction of the date.
_SAME_INSTANT = 1.0 + 1e-13


@dataclass(slots=True, eq=False)
class _Flow:
    """A message on the network: `left_bits` at date `since_s`, leaving at `rate_bps` until `end_s`."""

    arc: int
    k: int
    links: tuple[int, ...]
    left_bits: float
    since_s: float
    rate_bps: float = 0.0
    end_s: float = inf


class FluidNetwork:
    """Sends every message as a fluid flow at its max-min fair rate.

    Parameters
    ----------
    clock : Clock
    routes : sequence of tuple of int
        Links of each arc.
    capacity_bps : sequence of float
        Capacity of each link in bit/s.
    message_bits : sequence of float
        Size of a message of each arc.
    fifo : bool
        Whether an arc sends one message at a time.
    deliver : callable
        Called with ``(arc, round, date)`` when a message's last bit leaves.
    on_rates : callable, optional
        See `Observer`.

    Notes
    -----
    Starts and ends of one instant are collected; one event that SimPy puts after all others of that instant
    then shares the links anew, and only among the flows that are connected to a change through shared links.
    A flow whose rate stays the same keeps its end date, free of rounding. In a queue the next message of an
    arc takes over the rate of the one that left: the set of routes in use, and so every rate, is unchanged.
    """

    __slots__ = (
        "_active",
        "_alone_bps",
        "_bits",
        "_capacity_bps",
        "_changed",
        "_clock",
        "_deliver",
        "_ends",
        "_fifo",
        "_members",
        "_on_rates",
        "_queued",
        "_routes",
        "_serial",
        "_settling",
        "_timers_s",
    )

    def __init__(
        self,
        clock: Clock,
        *,
        routes: Sequence[Sequence[int]],
        capacity_bps: Sequence[float],
        message_bits: Sequence[float],
        fifo: bool,
        deliver: Deliver,
        on_rates: OnRates | None = None,
    ) -> None:
        self._clock = clock
        # A message of zero bits takes no time: its route is left empty.
        self._routes = limiting_links(
            [route if bits else () for route, bits in zip(routes, message_bits, strict=True)], capacity_bps
        )
        self._alone_bps = [min((capacity_bps[link] for link in route), default=inf) for route in self._routes]
        self._capacity_bps = capacity_bps
        self._bits = message_bits
        self._fifo = fifo
        self._deliver = deliver
        self._on_rates = on_rates
        # Dicts stand for sets that keep their order, so that no result depends on memory addresses.
        self._members: list[dict[_Flow, None]] = [{} for _ in capacity_bps]
        self._active: dict[_Flow, None] = {}
        self._queued = [-1] * len(self._routes)  # messages that wait behind the one on its way; -1: idle
        self._changed: dict[int, None] = {}
        self._settling = False
        self._ends: list[tuple[float, int, _Flow]] = []
        self._serial = 0
        self._timers_s = [inf]  # pending timers, the next one last

    def send(self, arc: int, k: int) -> None:
        """Send the message of round `k` on an arc."""
        links = self._routes[arc]
        if not links:
            self._deliver(arc, k, self._clock.now)
            return
        if self._fifo:
            self._queued[arc] += 1
            if self._queued[arc]:
                return
        now_s = self._clock.now
        flow = _Flow(arc, k, links, self._bits[arc], now_s)
        self._active[flow] = None
        alone = True
        for link in links:
            if self._members[link]:
                alone = False
            self._members[link][flow] = None
        if alone:
            flow.rate_bps = self._alone_bps[arc]
            self._schedule_end(flow)
            self._set_timer()
        else:
            self._changed.update(dict.fromkeys(links))
        if self._changed or self._on_rates:
            self._settle_late()

    def _settle_late(self) -> None:
        if not self._settling:
            self._settling = True
            self._call_at(self._clock.now, self._settle, LATE)

    def _call_at(
        self, date_s: float, call: Callable[[Event], None], priority: EventPriority = NORMAL
    ) -> None:
        event = Event(self._clock)
        event.callbacks = [call]
        self._clock.succeed_at(event, date_s, priority)

    def _settle(self, _: Event) -> None:
        """Share links anew between all flows that the changes of this instant can reach."""
        self._settling = False
        if self._end_due_flows():
            self._settle_late()  # once more, after whatever these ends set off at this instant
            return
        now_s = self._clock.now
        members, routes = self._reached()
        self._changed.clear()
        for flow, rate_bps in progressive_filling(members, routes, self._capacity_bps).items():
            if rate_bps != flow.rate_bps:
                flow.left_bits = max(0.0, flow.left_bits - flow.rate_bps * (now_s - flow.since_s))
                flow.since_s = now_s
                flow.rate_bps = rate_bps
                self._schedule_end(flow)
        self._set_timer()
        if self._on_rates is not None:
            self._on_rates(
                now_s, [flow.arc for flow in self._active], [flow.rate_bps for flow in self._active]
            )

    def _reached(self) -> tuple[dict[int, dict[_Flow, None]], dict[_Flow, tuple[int, ...]]]:
        """Links and flows that are connected to a changed link through shared links."""
        members = {link: self._members[link] for link in self._changed if self._members[link]}
        routes: dict[_Flow, tuple[int, ...]] = {}
        reached = list(members)
        for link in reached:  # grows on the way
            for flow in members[link]:
                if flow not in routes:
                    routes[flow] = flow.links
                    for other in flow.links:
                        if other not in members:
                            members[other] = self._members[other]
                            reached.append(other)
        return members, routes

    def _schedule_end(self, flow: _Flow) -> None:
        flow.end_s = flow.since_s + flow.left_bits / flow.rate_bps
        self._serial += 1
        heappush(self._ends, (flow.end_s, self._serial, flow))

    def _set_timer(self) -> None:
        """Look for ends when the next one is due; a timer of an end that moved finds nothing to do."""
        ends = self._ends
        while ends and ends[0][0] != ends[0][2].end_s:
            heappop(ends)
        if ends and ends[0][0] < self._timers_s[-1]:
            self._timers_s.append(ends[0][0])
            self._call_at(ends[0][0], self._on_timer)

    def _on_timer(self, _: Event) -> None:
        self._timers_s.pop()
        self._end_due_flows()
        if not self._settling:
            self._set_timer()

    def _end_due_flows(self) -> bool:
        """End the flows whose dates agree with now to float noise; tell whether there were any."""
        ends = self._ends
        due_s = self._clock.now * _SAME_INSTANT
        found = False
        while ends and ends[0][0] <= due_s:
            end_s, _, flow = heappop(ends)
            if end_s == flow.end_s:
                found = True
                self._end(flow)
        return found

    def _end(self, flow: _Flow) -> None:
        arc, k = flow.arc, flow.k
        if self._fifo and self._queued[arc]:
            self._queued[arc] -= 1
            flow.k += 1
            flow.left_bits = self._bits[arc]
            flow.since_s = self._clock.now
            self._schedule_end(flow)
        else:
            self._queued[arc] = -1
            flow.end_s = inf
            del self._active[flow]
            for link in flow.links:
                del self._members[link][flow]
                if self._members[link]:
                    self._changed[link] = None
            if self._changed or self._on_rates:
                self._settle_late()
        self._deliver(arc, k, self._clock.now)
