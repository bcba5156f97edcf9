"""Load that traffic matrices put on the links of a routed core."""

from itertools import chain

import numpy as np
from scipy.sparse import csr_array

from topologies.arrays import FloatArray
from topologies.connectivity import Connectivity
from topologies.errors import InputError, unknown_name
from topologies.networks.traffic_matrices import TrafficMatrices


def link_loads(matrices: TrafficMatrices, graph: Connectivity) -> FloatArray:
    """Load on each core link direction by date, if each demand takes the network's own route from router to router.

    Parameters
    ----------
    matrices : TrafficMatrices
        Of the underlay's routers, whether silos are attached to them or not.
    graph : Connectivity

    Returns
    -------
    ndarray of shape (dates, 2 * core links), in bit/s

    Raises
    ------
    InputError
        If a name is no router's, or the bandwidth is measured, so that there is no core.

    Notes
    -----
    The sum over the routes of all demands, that of each date is the sum of demands times hops. Demands end at the
    routers: they cross no access link. Time O(pairs * hops + dates * pairs * hops).
    """
    if graph.is_measured:
        raise InputError(
            "must be routed over core links: the bandwidth of silo pairs is measured, so that there are none."
        )
    number_of = {label: number for number, label in enumerate(graph.underlay.labels)}
    for label, place in zip(matrices.labels, matrices.places, strict=True):
        if label not in number_of:
            raise unknown_name(place, label, graph.underlay.labels)
    router = [number_of[label] for label in matrices.labels]
    ends = [
        (router[i], router[j])
        for i, j in zip(matrices.source.tolist(), matrices.target.tolist(), strict=True)
    ]
    routes = [graph.routes.links(*pair) for pair in ends]
    first = np.cumsum([0, *map(len, routes)])
    links = np.array([link for route in routes for link in route], dtype=np.int64)
    share = np.ones(len(links))
    if graph.routes.splits:
        parts = (
            graph.routes.shares(*pair) or (1.0,) * len(route)
            for pair, route in zip(ends, routes, strict=True)
        )
        share = np.fromiter(chain.from_iterable(parts), np.float64)
    crosses = csr_array((share, links, first), shape=(len(routes), graph.first_uplink))
    return np.asarray((crosses.T @ matrices.demand_bps.T).T)
