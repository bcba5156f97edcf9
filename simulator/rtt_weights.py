"""Weights of arcs in sharing by round-trip time: the longer a route takes, the smaller a message's part of a link."""

from collections.abc import Mapping, Sequence

from simulator.job import Job

REFERENCE_BITS = 8 * 20537.0
"""S of the formula, 20,537 bytes that a link takes time for: SimGrid's `network/weight-S` in its model LV08, fitted to
packet simulations of TCP (P. Velho, L. Schnorr, H. Casanova, A. Legrand, "Flow-level network models: have we reached
the limits?", INRIA RR-7821, 2011). In its model CM02 it is 0."""

LEAST_PENALTY_S = 1e-9
"""In which light travels 30 cm."""


def route_penalty_s(
    latency_s: float,
    links: Sequence[int],
    usage: Mapping[int, float],
    link_capacity_bps: Sequence[float],
    reference_bits: float = REFERENCE_BITS,
) -> float:
    """The inverse of the weight of messages on a route: what stands for their round-trip time.

    Parameters
    ----------
    latency_s : float
        Of the whole route.
    links : sequence of int
        Link directions of the route.
    usage : mapping from int to float
        Of those that carry only some bits of a message, their share.
    link_capacity_bps : sequence of float
        Of all link directions.
    reference_bits : float
        S, >= 0.

    Returns
    -------
    float
        In seconds. Links of infinite capacity add their latency alone, and so do those of capacity 0, on which all
        messages stand still whatever their weights.
    """
    return latency_s + sum(
        reference_bits * usage.get(link, 1.0) / link_capacity_bps[link]
        for link in links
        if link_capacity_bps[link]
    )


def rtt_weight(penalty_s: float) -> float:
    """The weight to a penalty in seconds, in 1/s.

    Below `LEAST_PENALTY_S` it is that of `LEAST_PENALTY_S`, so that sums of weights keep their digits. Where the
    penalty is 0 it is 1, as in SimGrid for routes without latency; with S > 0 no link of such a route has a finite
    capacity, and its messages share nothing.
    """
    return 1.0 / max(penalty_s, LEAST_PENALTY_S) if penalty_s else 1.0


def rtt_weights(job: Job, reference_bits: float = REFERENCE_BITS) -> list[float]:
    """Weights of all arcs of a job, at the capacities and on the routes that it starts with.

    Parameters
    ----------
    job : Job
    reference_bits : float
        S, >= 0.

    Returns
    -------
    list of float
        Of each arc, in 1/s.

    Notes
    -----
    ``1 / sum over the links of the route (latency + S / capacity)``, the weight of a flow in SimGrid's models CM02 and
    LV08 (`network/weight-S` in its manual, section "Configuring SimGrid"). O(sum of the route lengths).
    """
    return [
        rtt_weight(
            route_penalty_s(
                arc.latency_s,
                arc.links[: arc.route_length],
                arc.unequal_usage,
                job.link_capacity_bps,
                reference_bits,
            )
        )
        for arc in job.arcs
    ]
