"""The two lists of overlay designers: overlays that stay, and overlays that are drawn anew each round."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from topologies.connectivity import Connectivity
from topologies.designers.best import best
from topologies.designers.christofides import christofides
from topologies.designers.matcha import matcha, matcha_plus
from topologies.designers.mbst import delta_mbst
from topologies.designers.random_ring import random_ring
from topologies.designers.ring import ring
from topologies.designers.simple import complete, underlay_overlay
from topologies.designers.star import star
from topologies.designers.trees import mst
from topologies.errors import InputError, unknown_name
from topologies.overlay import Overlay
from topologies.schedule import RandomOverlay
from topologies.sizes import MANY_SILOS
from topologies.workload import Workload

T = TypeVar("T")
Designer = Callable[..., Overlay]
RandomDesigner = Callable[..., RandomOverlay]


def _over(static: Designer, kind: str) -> RandomDesigner:
    """MATCHA on the edges of a static overlay."""

    def designer(graph: Connectivity, work: Workload, *, budget: float = 0.5) -> RandomOverlay:
        overlay = static(graph, work)
        edges = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
        return matcha(graph, work, budget=budget, edges=edges, kind=kind)

    return designer


def best_of_all(
    graph: Connectivity, work: Workload, *, criterion: str = "paper", iterations: int = 200_000, seed: int = 0
) -> Overlay:
    """`best` with the overlay of every other designer in `DESIGNERS` as a candidate.

    Those that do not exist on this network are left out, and above `MANY_SILOS` silos two more: ``complete``, which is
    never faster than a candidate with fewer arcs, since it has that one's circuits at delays at least as large, and
    ``christofides``, which takes O(silos^3) time. So the result is never worse than any other designer's, except that
    above `MANY_SILOS` silos nothing is promised about ``christofides``.
    """
    candidates = []
    for kind, designer in _SIMPLE.items():
        if kind in ("complete", "christofides") and graph.silos > MANY_SILOS:
            continue
        try:
            candidates.append(designer(graph, work))
        except InputError:
            continue
    return best(graph, work, candidates=candidates, criterion=criterion, iterations=iterations, seed=seed)


_SIMPLE: Mapping[str, Designer] = MappingProxyType(
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

DESIGNERS: Mapping[str, Designer] = MappingProxyType({**_SIMPLE, "best": best_of_all})
"""Designers of overlays that stay, by the name that `design` takes."""

RANDOM_DESIGNERS: Mapping[str, RandomDesigner] = MappingProxyType(
    {
        "matcha": matcha,
        "matcha_plus": matcha_plus,
        "matcha_ring": _over(ring, "matcha_ring"),
        "matcha_delta_mbst": _over(delta_mbst, "matcha_delta_mbst"),
        "random_ring": random_ring,
    }
)
"""Designers of overlays that are drawn anew each round, by the name that `design_random` takes."""


def design(kind: str, graph: Connectivity, work: Workload, **options: Any) -> Overlay:
    """Design an overlay.

    Parameters
    ----------
    kind : str
        One of `DESIGNERS`.
    graph : Connectivity
    work : Workload
    **options
        Of the designer, for instance ``hub`` of the star.

    Returns
    -------
    Overlay

    Raises
    ------
    InputError
        If the kind or an option is unknown, or no such overlay exists on this network.

    Examples
    --------
    >>> from topologies import AccessLinks, Workload, connectivity, design, load_underlay
    >>> graph = connectivity(load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    >>> overlay = design("star", graph, Workload.preset("inaturalist", variant="published"))
    >>> f"{overlay.closed_forms.paper_s:.3f} s"
    '0.391 s'
    """
    return _called(DESIGNERS, kind, options)(graph, work)


def design_random(kind: str, graph: Connectivity, work: Workload, **options: Any) -> RandomOverlay:
    """Design an overlay that is drawn anew each round.

    Parameters
    ----------
    kind : str
        One of `RANDOM_DESIGNERS`.
    graph : Connectivity
    work : Workload
    **options
        Of the designer, for instance ``budget`` of MATCHA.

    Returns
    -------
    RandomOverlay

    Raises
    ------
    InputError
        As `design`.
    """
    return _called(RANDOM_DESIGNERS, kind, options)(graph, work)


def _called(table: Mapping[str, Callable[..., T]], kind: str, options: dict[str, Any]) -> Callable[..., T]:
    """The designer of a kind with its options, both checked."""
    if kind not in table:
        raise unknown_name("overlay kind", kind, table)
    known = [
        name for name, p in inspect.signature(table[kind]).parameters.items() if p.kind is p.KEYWORD_ONLY
    ]
    for option in options:
        if option not in known:
            raise (
                unknown_name(f"option of {kind}", option, known)
                if known
                else InputError(f"{kind} has no options.")
            )
    return partial(table[kind], **options)
