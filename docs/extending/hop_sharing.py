"""Sharing weighted by 1 / links of the route, as where every link drops packets: a sharing model of its own."""

from simulator import SharingModel
from simulator.simpy_engine.fluid import FluidNetwork


def weighted_filling(members, routes, capacity_bps, weight):
    """Raise all rates in proportion to the weight of their arc until a link is full; freeze its flows; go on."""
    left_bps = {link: capacity_bps[link] for link in members}
    shares = {}
    while len(shares) < len(routes):
        growing = {
            link: sum(weight[flow.arc] for flow in flows if flow not in shares)
            for link, flows in members.items()
        }
        level, full = min((left_bps[link] / total, link) for link, total in growing.items() if total)
        for flow in members[full]:
            if flow not in shares:
                shares[flow] = (level * weight[flow.arc], full)
                for link in routes[flow]:
                    left_bps[link] -= level * weight[flow.arc]
    return shares


def weights(job):
    """Return the weight of each arc."""
    return [1 / max(len(route), 1) for route in job.routes]


def network(setup):
    """Return the network of a job: its messages are fluid flows that share links by `weighted_filling`."""
    weight = weights(setup.job)
    return FluidNetwork(setup, share=lambda *flows: weighted_filling(*flows, weight))


HOP_WEIGHTED = SharingModel(name="hop_weighted", network=network)
