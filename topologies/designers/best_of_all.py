"""`best` with the overlays of the other static designers as candidates."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from topologies.connectivity import Connectivity
from topologies.designers.best import best
from topologies.designers.christofides import christofides
from topologies.designers.complete import complete
from topologies.designers.mbst import delta_mbst
from topologies.designers.ring import ring
from topologies.designers.star import star
from topologies.designers.trees import mst
from topologies.designers.underlay_overlay import underlay_overlay
from topologies.errors import InputError
from topologies.overlay import Overlay
from topologies.sizes import MANY_SILOS
from topologies.workload import Workload

CANDIDATES: Mapping[str, Callable[[Connectivity, Workload], Overlay]] = MappingProxyType(
    {
        "star": star,
        "mst": mst,
        "delta_mbst": delta_mbst,
        "ring": ring,
        "christofides": christofides,
        "underlay": underlay_overlay,
        "complete": complete,
    }
)
"""Those of silosim; designers of other packages are left out, so that a result does not depend on what is installed."""


def designed_candidates(graph: Connectivity, work: Workload) -> list[Overlay]:
    """The overlay of every designer in `CANDIDATES` that exists on a network; see `best_of_all`."""
    candidates = []
    for kind, designer in CANDIDATES.items():
        if kind in ("complete", "christofides") and graph.silos > MANY_SILOS:
            continue
        try:
            candidates.append(designer(graph, work))
        except InputError:
            continue
    return candidates


def best_of_all(
    graph: Connectivity,
    work: Workload,
    *,
    criterion: str = "paper",
    iterations: int,
    seed: int,
    progress: Callable[[float], None] | None = None,
) -> Overlay:
    """`best` with the overlay of every designer in `CANDIDATES` as a candidate.

    Those that do not exist on this network are left out, and above `MANY_SILOS` silos two more: ``complete``, which is
    never faster than a candidate with fewer arcs, since it has that one's circuits at delays at least as large, and
    ``christofides``, which takes O(silos^3) time. So the result is never worse than any candidate's, except that
    above `MANY_SILOS` silos nothing is promised about ``christofides``.
    """
    return best(
        graph,
        work,
        candidates=designed_candidates(graph, work),
        criterion=criterion,
        iterations=iterations,
        seed=seed,
        progress=progress,
    )
