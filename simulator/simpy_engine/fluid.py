"""Network of messages as fluid flows, whose rates follow from the flows that share links with them."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import heappop, heappush
from math import inf, isfinite

from simpy.events import NORMAL, Event, EventPriority

from simulator.progressive_filling import progressive_filling
from simulator.reduction import limiting_links
from simulator.simpy_engine.clock import LATE
from simulator.simpy_engine.flow import Flow
from simulator.simpy_engine.network import NetworkSetup
from simulator.simpy_engine.repeat import State
from simulator.tolerances import SAME_INSTANT
from topologies.errors import Field, InputError

Share = Callable[
    [Mapping[int, Collection[Flow]], Mapping[Flow, Sequence[int]], Sequence[float]],
    Mapping[Flow, tuple[float, int]],
]
"""Rates of flows, from the flows on each link, the links of each flow and the capacity of every link: of each flow its
rate in bit/s and the link that bounds it. As `progressive_filling`."""


class FluidNetwork:
    """Sends every message as a fluid flow.

    Parameters
    ----------
    setup : NetworkSetup
    share : callable, optional
        Shares the links; max-min fair by default. It gets the flows that are connected to a change through shared
        links, all of which cross a link. A flow alone on its links has their smallest capacity without it.
    weight : sequence of float, optional
        Of max-min fair sharing: of the messages of each arc, > 0. It is looked at anew each time that links are shared.
        By default all are equal.
    reduce : bool
        Whether to leave out links that can never limit a rate, and not only those of infinite capacity.

    Raises
    ------
    InputError
        If `share` is given for a job with unequal usage of links, of which it is not told.

    Notes
    -----
    Starts and ends of one instant are collected; one event that SimPy puts after all others of that instant
    then shares the links among the flows that are connected to a change through shared links.
    A flow whose rate stays the same keeps its end date, free of rounding. In a queue the next message of an
    arc takes over the rate of the one that left: the set of routes in use, and so every rate, is unchanged.
    """

    __slots__ = (
        "_active",
        "_bits",
        "_capacity_bps",
        "_changed",
        "_clock",
        "_deliver",
        "_ends",
        "_fifo",
        "_latency_s",
        "_members",
        "_on_rates",
        "_queued",
        "_routes",
        "_serial",
        "_share",
        "_sharing_due",
        "_timers_s",
        "_usage",
        "_weight",
    )

    def __init__(
        self,
        setup: NetworkSetup,
        *,
        share: Share | None = None,
        weight: Sequence[float] | None = None,
        reduce: bool = True,
    ) -> None:
        job = setup.job
        if share is not None and job.usage is not None:
            raise InputError(
                "must be a model that knows of acknowledgements, shared capacities and split flows, such as 'maxmin'.",
                field=Field("sharing", value=job.sharing.name),
            )
        self._clock = setup.clock
        # A message of zero bits takes no time: its route is left empty.
        occupied = [route if bits else () for route, bits in zip(job.routes, job.message_bits, strict=True)]
        self._capacity_bps = list(job.link_capacity_bps)
        if reduce:
            self._routes = limiting_links(occupied, job.link_capacity_bps, job.usage)
        else:
            self._routes = [self._finite(route) for route in occupied]
        self._bits = job.message_bits
        self._latency_s = setup.latency_s
        self._fifo = job.fifo
        self._deliver = setup.deliver
        self._on_rates = setup.on_rates
        self._share = share or self._max_min
        self._weight = weight
        # The last one is that of background traffic, which its arc of -1 finds.
        self._usage: list[Mapping[int, float]] | None = None if job.usage is None else [*job.usage, {}]
        # Dicts stand for sets that keep their order, so that no result depends on memory addresses.
        self._members: list[dict[Flow, None]] = [{} for _ in job.link_capacity_bps]
        self._active: dict[Flow, None] = {}
        # Rounds of the messages that wait behind the one under way; None: idle.
        self._queued: list[deque[int] | None] = [None] * len(self._routes)
        self._changed: dict[int, None] = {}
        self._sharing_due = False
        self._ends: list[tuple[float, int, Flow]] = []
        self._serial = 0
        self._timers_s = [inf]  # pending timers, the next one last

    def send(self, arc: int, k: int) -> None:
        """Send the message of round `k` on an arc."""
        links = self._routes[arc]
        now_s = self._clock.now
        if not links:
            self._leave(arc, k, now_s, -1)
            return
        if self._fifo:
            queue = self._queued[arc]
            if queue is not None:
                queue.append(k)
                return
            self._queued[arc] = deque()
        flow = Flow(arc, k, links, self._bits[arc], now_s)
        self._active[flow] = None
        alone = True
        for link in links:
            members = self._members[link]
            if members:
                alone = False
            members[flow] = None
        if alone:
            flow.rate_bps, flow.bottleneck = self._alone(arc)
            self._schedule_end(flow)
            self._set_timer()
        else:
            for link in links:
                self._changed[link] = None
        if self._changed or self._on_rates:
            self._share_late()

    def state(self, k: int, now_s: float) -> State:
        """The messages under way, how much of each is left, and those that wait."""
        numbers: list[int] = []
        shares = []
        for flow in sorted(self._active, key=lambda flow: (flow.arc, flow.k)):
            left_bits = flow.left_bits - flow.rate_bps * (now_s - flow.since_s)
            shares.append(left_bits / self._bits[flow.arc])
            waiting = self._queued[flow.arc] or ()
            numbers += (flow.arc, flow.k - k, len(waiting), *(other - k for other in waiting))
        return State(numbers, [], shares)

    def _alone(self, arc: int) -> tuple[float, int]:
        """Rate of a message with nothing else on its links, and the link that bounds it."""
        if self._usage is None:
            return min((self._capacity_bps[link], link) for link in self._routes[arc])
        used = self._usage[arc]
        return min((self._capacity_bps[link] / used.get(link, 1.0), link) for link in self._routes[arc])

    def _max_min(
        self,
        members: Mapping[int, Collection[Flow]],
        routes: Mapping[Flow, Sequence[int]],
        capacity_bps: Sequence[float],
    ) -> Mapping[Flow, tuple[float, int]]:
        """Rates by `progressive_filling`."""
        weight, usage = self._weight, self._usage
        return progressive_filling(
            members,
            routes,
            capacity_bps,
            None if weight is None else {flow: weight[flow.arc] for flow in routes},
            None if usage is None else {flow: usage[flow.arc] for flow in routes},
        )

    def _leave(self, arc: int, k: int, start_s: float, bound_link: int) -> None:
        now_s = self._clock.now
        self._deliver(arc, k, start_s, now_s, now_s + self._latency_s[arc], bound_link)

    def _finite(self, route: Sequence[int]) -> tuple[int, ...]:
        return tuple(link for link in route if isfinite(self._capacity_bps[link]))

    def _share_late(self) -> None:
        if not self._sharing_due:
            self._sharing_due = True
            self._call_at(self._clock.now, self._share_links, LATE)

    def _call_at(
        self, date_s: float, call: Callable[[Event], None], priority: EventPriority = NORMAL
    ) -> None:
        event = Event(self._clock)
        event.callbacks = [call]
        self._clock.succeed_at(event, date_s, priority)

    def _share_links(self, _: Event) -> None:
        """Share links between all flows that the changes of this instant can reach."""
        self._sharing_due = False
        if self._end_due_flows():
            self._share_late()  # again, after all that these ends cause at this instant
            return
        now_s = self._clock.now
        members, routes = self._reached()
        self._changed.clear()
        for flow, (rate_bps, link) in self._share(members, routes, self._capacity_bps).items():
            if link != flow.bottleneck:
                flow.bind(link, now_s)
            if rate_bps != flow.rate_bps:
                flow.advance(now_s)
                flow.rate_bps = rate_bps
                self._schedule_end(flow)
        self._set_timer()
        if self._on_rates is not None:
            self._on_rates(
                now_s, [flow.arc for flow in self._active], [flow.rate_bps for flow in self._active]
            )

    def _reached(self) -> tuple[dict[int, dict[Flow, None]], dict[Flow, tuple[int, ...]]]:
        """Links and flows that are connected to a changed link through shared links."""
        members = {link: self._members[link] for link in self._changed if self._members[link]}
        routes: dict[Flow, tuple[int, ...]] = {}
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

    def _schedule_end(self, flow: Flow) -> None:
        if not flow.rate_bps:
            flow.end_s = inf
            return
        flow.end_s = flow.since_s + flow.left_bits / flow.rate_bps
        self._serial += 1
        heappush(self._ends, (flow.end_s, self._serial, flow))

    def _set_timer(self) -> None:
        """Set a timer for the next end; that of an end that has moved will find nothing due."""
        ends = self._ends
        while ends and ends[0][0] != ends[0][2].end_s:
            heappop(ends)
        if ends and ends[0][0] < self._timers_s[-1]:
            self._timers_s.append(ends[0][0])
            self._call_at(ends[0][0], self._on_timer)

    def _on_timer(self, _: Event) -> None:
        self._timers_s.pop()
        self._end_due_flows()
        if not self._sharing_due:
            self._set_timer()

    def _end_due_flows(self) -> bool:
        """End the flows whose dates are now, up to rounding, and return whether there were any."""
        ends = self._ends
        due_s = self._clock.now * SAME_INSTANT
        found = False
        while ends and ends[0][0] <= due_s:
            end_s, _, flow = heappop(ends)
            if end_s == flow.end_s:
                found = True
                self._end(flow)
        return found

    def _end(self, flow: Flow) -> None:
        arc, k, start_s, now_s = flow.arc, flow.k, flow.start_s, self._clock.now
        bound_link = flow.longest_bound(now_s)
        queue = self._queued[arc]
        if queue:
            flow.restart(queue.popleft(), self._bits[arc], now_s)
            self._schedule_end(flow)
        else:
            self._queued[arc] = None
            flow.end_s = inf
            del self._active[flow]
            for link in flow.links:
                members = self._members[link]
                del members[flow]
                if members:
                    self._changed[link] = None
            if self._changed or self._on_rates:
                self._share_late()
        self._leave(arc, k, start_s, bound_link)
