"""MATCHA on the edges of a static overlay."""

from topologies.connectivity import Connectivity
from topologies.designers.matcha import DEFAULT_BUDGET, Budget, Matcha, matcha
from topologies.designers.mbst import delta_mbst
from topologies.designers.ring import ring
from topologies.overlay import Overlay
from topologies.workload import Workload


def matcha_ring(graph: Connectivity, work: Workload, *, budget: Budget = DEFAULT_BUDGET) -> Matcha:
    """MATCHA on the edges of `ring`."""
    return _matcha_over(ring(graph, work), kind="matcha_ring", budget=budget)


def matcha_delta_mbst(graph: Connectivity, work: Workload, *, budget: Budget = DEFAULT_BUDGET) -> Matcha:
    """MATCHA on the edges of `delta_mbst`."""
    return _matcha_over(delta_mbst(graph, work), kind="matcha_delta_mbst", budget=budget)


def _matcha_over(overlay: Overlay, *, kind: str, budget: float) -> Matcha:
    edges = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    return matcha(overlay.graph, overlay.work, budget=budget, edges=edges, kind=kind)
