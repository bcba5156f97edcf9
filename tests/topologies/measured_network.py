"""Networks in the ranges of one on which rounds were measured on real TCP; its exact capacities are not known."""

from dataclasses import replace

import numpy as np

from topologies import AccessLinks, Underlay, connectivity
from topologies.latency_rule import S_PER_KM

LINKS = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4], [1, 3]])
"""Of five routers."""


def measured_like(seed=0):
    """Five silos on five routers: six links of 20 to 100 Mbit/s and 2.6 to 17 ms, access links of 20 to 50 Mbit/s."""
    rng = np.random.default_rng(seed)
    access_bps = rng.uniform(20e6, 50e6, 5)
    underlay = Underlay(
        name="test",
        variant="corrected",
        labels=tuple("ABCDE"),
        latitude_deg=np.zeros(5),
        longitude_deg=np.zeros(5),
        ends=LINKS,
        length_km=rng.uniform(2.6e-3, 17e-3, 6) / S_PER_KM,
        capacity_bps=rng.uniform(20e6, 100e6, 6),
    )
    graph = connectivity(
        underlay, access=AccessLinks(up_bps=access_bps, down_bps=access_bps), bandwidth="bottleneck"
    )
    # Without the constant per path.
    return replace(graph, latency_s=S_PER_KM * graph.routes.distance_km)
