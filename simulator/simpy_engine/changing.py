"""Network of fluid flows whose capacities and routes change while messages are under way."""

from collections.abc import Mapping, Sequence
from math import inf

from simulator.simpy_engine.flow import Flow
from simulator.simpy_engine.fluid import FluidNetwork
from simulator.simpy_engine.network import NetworkSetup

OTHERS = -1
"""In place of an arc where a flow is not a message."""


class ChangingNetwork(FluidNetwork):
    """A network that can change; see `ChangeableNetwork`.

    Parameters
    ----------
    setup : NetworkSetup
    weight : sequence of float, optional
        As of `FluidNetwork`; the last one is that of background traffic, whose arc is `OTHERS`.

    Notes
    -----
    Any link may come to limit a rate, so that none is left out. All changes of one instant cost one solution of the
    rates.
    """

    __slots__ = ("_crossed_otherwise", "_full_routes", "_hops", "_others", "_peak_links", "_rerouted")

    def __init__(self, setup: NetworkSetup, *, weight: Sequence[float] | None = None) -> None:
        super().__init__(setup, weight=weight, reduce=False)
        self._crossed_otherwise = setup.crossed_otherwise
        self._full_routes = list(setup.job.routes)
        self._hops = [arc.route_length for arc in setup.job.arcs]
        self._rerouted: set[int] = set()
        self._others: dict[int, Flow] = {}
        # The peak rate of a flow of others is the capacity of a link of its own.
        self._peak_links: dict[int, int] = {}

    def end_due(self) -> None:
        """End the messages that are due at this instant, before it brings a change."""
        self._end_due_flows()

    def set_capacity(self, link: int, capacity_bps: float) -> None:
        """Change a link's capacity from now on; messages on it keep the bits that they have sent.

        Parameters
        ----------
        link : int
            A link direction whose capacity was finite at the start.
        capacity_bps : float
            In bit/s, finite and >= 0; at 0 messages stand still.
        """
        self._capacity_bps[link] = capacity_bps
        if self._members[link]:
            self._changed[link] = None
            self._share_late()

    def set_route(
        self, arc: int, links: Sequence[int], latency_s: float, usage: Mapping[int, float], hops: int
    ) -> None:
        """Send an arc's messages over other links from now on; those under way keep the bits that they have sent.

        Parameters
        ----------
        arc : int
        links : sequence of int
            Link directions, each once.
        latency_s : float
            From the last bit's leaving to the arrival, for all messages that have not left yet.
        usage : mapping from int to float
            As `simulator.arc.FlowArc.unequal_usage`.
        hops : int
            How many of the links are the route.
        """
        now_s = self._clock.now
        old_route, self._full_routes[arc] = self._full_routes[arc], tuple(links)
        old_usage = self._used(arc)
        if usage and self._usage is None:
            self._usage = [{}] * (len(self._routes) + 1)
        if self._usage is not None:
            self._usage[arc] = usage
        self._hops[arc] = hops
        self._latency_s[arc] = latency_s
        self._rerouted.add(arc)
        self._routes[arc] = self._finite(links) if self._bits[arc] else ()
        for flow in [flow for flow in self._active if flow.arc == arc]:
            flow.advance(now_s)
            flow.cross(old_route, old_usage)
            for link in flow.links:
                del self._members[link][flow]
            for link in self._routes[arc]:
                self._members[link][flow] = None
            self._changed.update(dict.fromkeys((*flow.links, *self._routes[arc])))
            unlimited = not flow.links
            flow.links = self._routes[arc]
            if not flow.links:
                flow.bind(-1, now_s)
                flow.rate_bps = inf
                self._schedule_end(flow)
            elif unlimited:
                flow.rate_bps, flow.end_s = 0.0, inf
            self._share_late()

    def set_flow(self, number: int, links: Sequence[int], peak_bps: float) -> None:
        """Start or change background traffic, which shares links with the messages.

        Parameters
        ----------
        number : int
            Of the flow; one that exists takes the new values.
        links : sequence of int
            Link directions, each once.
        peak_bps : float
            The most that it takes, in bit/s, finite; 0: it stops.
        """
        old = self._others.pop(number, None)
        if old is not None:
            for link in old.links:
                del self._members[link][old]
            self._changed.update(dict.fromkeys(old.links))
        if peak_bps:
            peak_link = self._peak_links.setdefault(number, len(self._members))
            if peak_link == len(self._members):
                self._members.append({})
                self._capacity_bps.append(peak_bps)
            self._capacity_bps[peak_link] = peak_bps
            new = Flow(OTHERS, 0, (*self._finite(links), peak_link), inf, self._clock.now)
            for link in new.links:
                self._members[link][new] = None
            self._changed.update(dict.fromkeys(new.links))
            self._others[number] = new
        if self._changed:
            self._share_late()

    def send(self, arc: int, k: int) -> None:
        """Send the message of round `k` on an arc."""
        if arc in self._rerouted and not self._routes[arc]:
            used, bits = self._used(arc), self._bits[arc]
            crossed_bits = {link: bits * used.get(link, 1.0) for link in self._full_routes[arc]}
            self._crossed_otherwise(arc, k, crossed_bits)
        super().send(arc, k)

    def _used(self, arc: int) -> Mapping[int, float]:
        return {} if self._usage is None else self._usage[arc]

    def _schedule_end(self, flow: Flow) -> None:
        if flow.arc != OTHERS:
            super()._schedule_end(flow)

    def _end(self, flow: Flow) -> None:
        if flow.arc in self._rerouted:
            flow.left_bits = 0.0
            crossed_bits = flow.cross(self._full_routes[flow.arc], self._used(flow.arc))
            self._crossed_otherwise(flow.arc, flow.k, crossed_bits)
        super()._end(flow)
