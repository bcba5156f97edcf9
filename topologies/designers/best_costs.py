"""Costs of an arc in the searches of `best`: delay, transmission time, core links that it crosses."""

import numpy as np

from topologies.arrays import FloatArray
from topologies.connectivity import Connectivity
from topologies.delays import leaving, pair_added_s, pair_rates, transmissions, under_way
from topologies.workload import Workload

CRITERIA = {"paper": (False, False), "serialized": (True, False), "all": (True, True)}
"""By criterion: whether transmission times bound `tau` too, and whether the loads of core links do."""


class Crossings:
    """Core link directions of each arc, and the time that one model keeps each busy; routes are looked up once.

    A measured pair's own link carries one arc, whose transmission time bounds it already. Where flows are split,
    searches count models on `links` whole, which bounds loads from above; `shares` has their parts.
    """

    def __init__(self, graph: Connectivity, work: Workload) -> None:
        self.busy_s: FloatArray = transmissions(work.model_bits, np.repeat(graph.core_bps, 2))
        self._graph = graph
        self._links: dict[tuple[int, int], tuple[int, ...]] = {}

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """Core link directions of an arc."""
        arc = (source, target)
        if arc not in self._links:
            self._links[arc] = self._graph.core_route(source, target)
        return self._links[arc]

    def shares(self, source: int, target: int) -> tuple[float, ...]:
        """Share of a model of an arc on each of its `links`."""
        links = self.links(source, target)
        graph, router = self._graph, self._graph.router
        own = graph.routes.shares(int(router[source]), int(router[target])) if graph.routes.splits else ()
        return own or (1.0,) * len(links)


class ArcCosts:
    """Terms of Eq. 3 of every silo pair, as nested lists for a search in plain Python.

    Slow start counts as for arcs that are alone at both ends: with more of them it takes less time.
    """

    def __init__(self, graph: Connectivity, work: Workload) -> None:
        compute_s = work.round_compute_s(graph.silos)
        up = transmissions(work.model_bits, graph.up_bps)
        down = transmissions(work.model_bits, graph.down_bps)
        row_s, share = compute_s[:, np.newaxis], work.backward_share
        core = under_way(row_s, transmissions(work.model_bits, graph.between_bps), share)
        fixed = leaving(row_s, share) + graph.latency_s
        if graph.slow_start is not None:
            fixed = fixed + pair_added_s(graph, work, pair_rates(graph))
        sending = np.maximum(core, np.maximum.outer(up, down))
        single: FloatArray = fixed + sending
        self.closeness: FloatArray = np.minimum(single, single.T)
        np.fill_diagonal(self.closeness, np.inf)
        self.slowest_s = float(single.max(initial=0.0, where=np.isfinite(single)))
        self.compute_s = float(compute_s.max())
        self.up, self.down, self.core = up.tolist(), down.tolist(), core.tolist()
        self.fixed, self.single, self.sending = fixed.tolist(), single.tolist(), sending.tolist()
