"""Overlay designers by name: those of silosim, and those that other packages register as entry points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from topologies.designers.options import declared_options, keyword_options
from topologies.entry_points import all_names, find_entry, load_entry, named
from topologies.errors import InputError, unknown_name

# The names of the designers are known without the modules that they need.
if TYPE_CHECKING:
    from topologies.connectivity import Connectivity
    from topologies.overlay import Overlay
    from topologies.periodic_overlay import PeriodicOverlay
    from topologies.schedule import RandomOverlay
    from topologies.workload import Workload

T = TypeVar("T")
O_co = TypeVar("O_co", covariant=True)
Designer: TypeAlias = "Callable[..., Overlay]"
PeriodicDesigner: TypeAlias = "Callable[..., PeriodicOverlay]"
RandomDesigner: TypeAlias = "Callable[..., RandomOverlay]"


RESERVED_KINDS = ("kinds", "consensus", "options", "entries")
"""Names that no designer can have: keys of scenarios, where the table of a designer's options would stand."""


class DesignerRegistry(Mapping[str, Callable[..., O_co]]):
    """Designers by name; one is imported when it is first taken.

    Parameters
    ----------
    group : str
        Group of entry points through which other packages register designers.
    own : mapping of str to str
        Those of silosim, as ``module:function``.
    beside : sequence of str
        Groups of the other registries: commands and scenarios take the names of all.
    reserved : collection of str
        Names of silosim in the other registries, which other packages cannot take.

    Notes
    -----
    A designer is called with a `Connectivity`, a `Workload` and its options as keywords, which it declares by
    `topologies.designers.options.DesignerOption`. Taking one raises a `MachineError` where it cannot be imported, and
    an `InputError` where it is no function, is called as one of `RESERVED_KINDS`, or where other packages register its
    name twice. Silosim's own designers
    keep their names, whatever other packages register.
    """

    def __init__(
        self, group: str, own: Mapping[str, str], *, beside: Sequence[str], reserved: Collection[str]
    ) -> None:
        self.group = group
        self._own = {name: EntryPoint(name, value, group) for name, value in own.items()}
        self._beside, self._reserved = beside, reserved

    def __getitem__(self, name: str) -> Callable[..., O_co]:
        """Import the designer of a name."""
        if name in self._reserved:
            raise KeyError(name)
        entry = find_entry(self.group, name, "designer", own=self._own.values(), beside=self._beside)
        if entry is None:
            raise KeyError(name)
        if name in RESERVED_KINDS:
            raise InputError(
                f"{named(entry, 'designer')} must have another name: {name} is a key of [overlays] in scenarios."
            )
        designer = load_entry(entry, "designer")
        if not callable(designer):
            raise InputError(f"{named(entry, 'designer')} must be a function.")
        return cast(Callable[..., O_co], designer)

    def __iter__(self) -> Iterator[str]:
        """Names: silosim's, then those of other packages in alphabetical order."""
        return (name for name in all_names(self._own, self.group) if name not in self._reserved)

    def __len__(self) -> int:
        """Number of names."""
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        """Whether there is a designer of this name; imports nothing."""
        return isinstance(name, str) and (
            name in self._own or (name not in self._reserved and name in tuple(self))
        )

    def __repr__(self) -> str:
        """Names on one line."""
        return f"<designers {', '.join(self)}>"


GROUP, PERIODIC_GROUP, RANDOM_GROUP = (
    "silosim.designers",
    "silosim.periodic_designers",
    "silosim.random_designers",
)

_OWN: Mapping[str, str] = {
    "star": "topologies.designers.star:star",
    "mst": "topologies.designers.trees:mst",
    "delta_mbst": "topologies.designers.mbst:delta_mbst",
    "ring": "topologies.designers.ring:ring",
    "christofides": "topologies.designers.christofides:christofides",
    "underlay": "topologies.designers.underlay_overlay:underlay_overlay",
    "complete": "topologies.designers.complete:complete",
    "exponential": "topologies.designers.exponential:exponential",
    "equi_static": "topologies.designers.equi_static:equi_static",
    "stl_fw": "topologies.designers.stl_fw:stl_fw",
    "best": "simulator.designers.best:best",
}
_PERIODIC_OWN: Mapping[str, str] = {
    "one_peer_exponential": "topologies.designers.one_peer_exponential:one_peer_exponential",
    "base": "topologies.designers.base_graph:base_graph",
    "multigraph": "topologies.designers.multigraph:multigraph",
    "hierarchical": "topologies.designers.hierarchical:hierarchical",
    "best_periodic": "simulator.designers.best_periodic:best_periodic",
}
_RANDOM_OWN: Mapping[str, str] = {
    "matcha": "topologies.designers.matcha:matcha",
    "matcha_plus": "topologies.designers.matcha:matcha_plus",
    "matcha_ring": "topologies.designers.matcha_over:matcha_ring",
    "matcha_delta_mbst": "topologies.designers.matcha_over:matcha_delta_mbst",
    "random_ring": "topologies.designers.random_ring:random_ring",
    "equi_dyn": "topologies.designers.equi_dyn:equi_dyn",
    "epidemic": "topologies.designers.epidemic:epidemic",
}

DESIGNERS: Mapping[str, Designer] = DesignerRegistry(
    GROUP, _OWN, beside=(PERIODIC_GROUP, RANDOM_GROUP), reserved={**_PERIODIC_OWN, **_RANDOM_OWN}
)
"""Designers of static overlays, by the name that `design` takes."""

PERIODIC_DESIGNERS: Mapping[str, PeriodicDesigner] = DesignerRegistry(
    PERIODIC_GROUP, _PERIODIC_OWN, beside=(GROUP, RANDOM_GROUP), reserved={**_OWN, **_RANDOM_OWN}
)
"""Designers of periodic overlays, by the name that `design_periodic` takes."""

RANDOM_DESIGNERS: Mapping[str, RandomDesigner] = DesignerRegistry(
    RANDOM_GROUP, _RANDOM_OWN, beside=(GROUP, PERIODIC_GROUP), reserved={**_OWN, **_PERIODIC_OWN}
)
"""Designers of randomized overlays, by the name that `design_random` takes."""


def design(kind: str, graph: Connectivity, work: Workload, **options: Any) -> Overlay:
    """Design a static overlay.

    Parameters
    ----------
    kind : str
        One of `DESIGNERS`.
    **options
        Of the designer, for instance ``hub`` of the star.

    Raises
    ------
    InputError
        If the kind or an option is unknown, the kind is that of a periodic or randomized overlay, or no such overlay
        exists on this network.

    Examples
    --------
    >>> from topologies import AccessLinks, Workload, connectivity, design, load_underlay
    >>> graph = connectivity(load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    >>> overlay = design("star", graph, Workload.preset("inaturalist", variant="published"))
    >>> f"{overlay.closed_forms.paper_s:.3f} s"
    '0.391 s'
    """
    return _called(DESIGNERS, kind, options)(graph, work)


def design_periodic(kind: str, graph: Connectivity, work: Workload, **options: Any) -> PeriodicOverlay:
    """Design a periodic overlay, whose arcs are those of its states, one after the other.

    Parameters
    ----------
    kind : str
        One of `PERIODIC_DESIGNERS`.
    **options
        Of the designer, for instance ``k`` of the Base graph.

    Raises
    ------
    InputError
        As `design`.
    """
    return _called(PERIODIC_DESIGNERS, kind, options)(graph, work)


def design_random(kind: str, graph: Connectivity, work: Workload, **options: Any) -> RandomOverlay:
    """Design a randomized overlay, whose arcs are drawn in each round.

    Parameters
    ----------
    kind : str
        One of `RANDOM_DESIGNERS`.
    **options
        Of the designer, for instance ``budget`` of MATCHA.

    Raises
    ------
    InputError
        As `design`.
    """
    return _called(RANDOM_DESIGNERS, kind, options)(graph, work)


def _called(table: Mapping[str, Callable[..., T]], kind: str, options: dict[str, Any]) -> Callable[..., T]:
    """The designer of a kind with its options, both checked."""
    if kind not in table:
        for other, what, function in (
            (DESIGNERS, "static", "design"),
            (PERIODIC_DESIGNERS, "periodic", "design_periodic"),
            (RANDOM_DESIGNERS, "randomized", "design_random"),
        ):
            if kind in other:
                raise InputError(f"overlay kind(={kind!r}) is a {what} overlay: {function} designs it.")
        raise unknown_name("overlay kind", kind, table)
    designer = table[kind]
    known, declared = keyword_options(designer), declared_options(designer)
    for name, value in options.items():
        if name not in known:
            raise (
                unknown_name(f"option of {kind}", name, known)
                if known
                else InputError(f"{kind} has no options.")
            )
        if name in declared:
            declared[name].check(value)
    return partial(designer, **options)
