"""The one list of overlay designers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from topologies.connectivity import Connectivity
from topologies.designers.ring import ring
from topologies.designers.star import star
from topologies.designers.trees import mst
from topologies.errors import unknown_name
from topologies.overlay import Overlay
from topologies.workload import Workload


class Designer(Protocol):
    """Chooses the arcs of an overlay; deterministic."""

    def __call__(self, graph: Connectivity, work: Workload) -> Overlay:
        """Overlay for this network and workload."""


designers: Mapping[str, Designer] = MappingProxyType({"star": star, "mst": mst, "ring": ring})
"""Designers by the name that `design` takes."""


def design(kind: str, graph: Connectivity, work: Workload) -> Overlay:
    """Design an overlay.

    Parameters
    ----------
    kind : str
        One of `designers`.
    graph : Connectivity
    work : Workload

    Returns
    -------
    Overlay

    Raises
    ------
    InputError
        If the kind is unknown.

    Examples
    --------
    >>> from topologies import AccessLinks, Workload, connectivity, design, load_underlay
    >>> graph = connectivity(load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    >>> overlay = design("star", graph, Workload.preset("inaturalist", variant="published"))
    >>> f"{overlay.closed_forms.paper_s:.3f} s"
    '0.391 s'
    """
    if kind not in designers:
        raise unknown_name("overlay kind", kind, designers)
    return designers[kind](graph, work)
