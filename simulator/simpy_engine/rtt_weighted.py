"""Sharing model `rtt_weighted`: messages share a link in inverse proportion to the time that their routes take."""

from collections.abc import Mapping, Sequence
from functools import partial

from simulator.rtt_weights import REFERENCE_BITS, route_penalty_s, rtt_weight, rtt_weights
from simulator.sharing import SharingModel
from simulator.simpy_engine.changing import ChangingNetwork
from simulator.simpy_engine.fluid import FluidNetwork
from simulator.simpy_engine.network import NetworkSetup


class ChangingRttNetwork(ChangingNetwork):
    """A network that shares links by round-trip time and can change; see `ChangeableNetwork`.

    Parameters
    ----------
    setup : NetworkSetup
    reference_bits : float
        S of `rtt_weights`.

    Notes
    -----
    A new route or capacity changes the weights of the arcs concerned at once, also those of messages under way, as
    SimGrid's `set_bandwidth` and `set_latency` do. Nothing says how long the routes of background traffic are: it
    weighs as a message whose penalty is the mean of all arcs at the start.
    """

    __slots__ = ("_reference_bits", "_weights")

    def __init__(self, setup: NetworkSetup, reference_bits: float = REFERENCE_BITS) -> None:
        # The weight of background traffic comes last, which its arc of -1 finds.
        self._weights = [1.0] * (len(setup.job.arcs) + 1)
        super().__init__(setup, weight=self._weights)
        self._reference_bits = reference_bits
        self._weigh(range(len(setup.job.arcs)))
        trips_s = [self._penalty_s(arc) for arc in range(len(setup.job.arcs))]
        self._weights[-1] = rtt_weight(sum(trips_s) / len(trips_s))

    def set_capacity(self, link: int, capacity_bps: float) -> None:
        """See `ChangingNetwork`; the weights of all arcs over the link follow."""
        super().set_capacity(link, capacity_bps)
        self._weigh([arc for arc, route in enumerate(self._full_routes) if link in route])

    def set_route(
        self, arc: int, links: Sequence[int], latency_s: float, usage: Mapping[int, float], hops: int
    ) -> None:
        """See `ChangingNetwork`; the weight of the arc follows."""
        super().set_route(arc, links, latency_s, usage, hops)
        self._weigh([arc])

    def _weigh(self, arcs: Sequence[int]) -> None:
        for arc in arcs:
            self._weights[arc] = rtt_weight(self._penalty_s(arc))

    def _penalty_s(self, arc: int) -> float:
        return route_penalty_s(
            self._latency_s[arc],
            self._full_routes[arc][: self._hops[arc]],
            self._used(arc),
            self._capacity_bps,
            self._reference_bits,
        )


def _network(reference_bits: float, setup: NetworkSetup) -> FluidNetwork:
    if setup.job.changes is None:
        return FluidNetwork(setup, weight=rtt_weights(setup.job, reference_bits))
    return ChangingRttNetwork(setup, reference_bits)


def rtt_weighted(name: str, reference_bits: float) -> SharingModel:
    """A model of sharing by round-trip time.

    Parameters
    ----------
    name : str
    reference_bits : float
        S of `rtt_weights`, >= 0.
    """
    return SharingModel(
        name=name,
        network=partial(_network, reference_bits),
        compiled="maxmin",
        weights=partial(rtt_weights, reference_bits=reference_bits),
        can_change=True,
    )


RTT_WEIGHTED = rtt_weighted("rtt_weighted", REFERENCE_BITS)
