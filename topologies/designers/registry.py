"""Overlay designers by name: those of silosim, and those that other packages register as entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from topologies.designers.options import declared_options, keyword_options
from topologies.errors import InputError, MachineError, unknown_name

# The names of the designers are known without the modules that they need.
if TYPE_CHECKING:
    from topologies.connectivity import Connectivity
    from topologies.overlay import Overlay
    from topologies.schedule import RandomOverlay
    from topologies.workload import Workload

T = TypeVar("T")
O_co = TypeVar("O_co", covariant=True)
Designer: TypeAlias = "Callable[..., Overlay]"
RandomDesigner: TypeAlias = "Callable[..., RandomOverlay]"


class DesignerRegistry(Mapping[str, Callable[..., O_co]]):
    """Designers by name; one is imported when it is first taken.

    Parameters
    ----------
    group : str
        Group of entry points through which other packages register designers.
    own : mapping of str to str
        Those of silosim, as ``module:function``.

    Notes
    -----
    A designer is called with a `Connectivity`, a `Workload` and its options as keywords, which it declares by
    `topologies.designers.options.DesignerOption`. Taking one raises a `MachineError` where it cannot be imported, and
    an `InputError` where it is no function or where its name is registered twice.
    """

    def __init__(self, group: str, own: Mapping[str, str]) -> None:
        self.group = group
        self._own = {name: EntryPoint(name, value, group) for name, value in own.items()}

    def __getitem__(self, name: str) -> Callable[..., O_co]:
        """Import the designer of a name."""
        found = [entry for entry in self._entries() if entry.name == name]
        if not found:
            raise KeyError(name)
        if len(found) > 1:
            places = ", ".join(sorted(entry.value for entry in found))
            raise InputError(f"the designer {name} is registered more than once in {self.group}: {places}.")
        try:
            designer = found[0].load()
        except Exception as error:
            # The import of another package may raise anything; the other designers do without it.
            reason = f"cannot be imported: {type(error).__name__}: {error}"
            raise MachineError(f"the designer {name} ({found[0].value}) {reason}") from error
        if not callable(designer):
            raise InputError(f"the designer {name} ({found[0].value}) must be a function.")
        return cast(Callable[..., O_co], designer)

    def __iter__(self) -> Iterator[str]:
        """Names: silosim's, then those of other packages in alphabetical order."""
        return iter(dict.fromkeys(entry.name for entry in self._entries()))

    def __len__(self) -> int:
        """Number of names."""
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        """Whether there is a designer of this name; imports nothing."""
        return any(entry.name == name for entry in self._entries())

    def __repr__(self) -> str:
        """Names on one line."""
        return f"<designers {', '.join(self)}>"

    def _entries(self) -> list[EntryPoint]:
        return [*self._own.values(), *_registered(self.group, tuple(sys.path))]


@cache
def _registered(group: str, _path: tuple[str, ...]) -> list[EntryPoint]:
    """Entry points of a group by name; the files that list them are read once for each search path."""
    return sorted(set(entry_points(group=group)), key=lambda entry: (entry.name, entry.value))


DESIGNERS: Mapping[str, Designer] = DesignerRegistry(
    "silosim.designers",
    {
        "star": "topologies.designers.star:star",
        "mst": "topologies.designers.trees:mst",
        "delta_mbst": "topologies.designers.mbst:delta_mbst",
        "ring": "topologies.designers.ring:ring",
        "christofides": "topologies.designers.christofides:christofides",
        "underlay": "topologies.designers.underlay_overlay:underlay_overlay",
        "complete": "topologies.designers.complete:complete",
        "best": "topologies.designers.best_of_all:best_of_all",
    },
)
"""Designers of static overlays, by the name that `design` takes."""

RANDOM_DESIGNERS: Mapping[str, RandomDesigner] = DesignerRegistry(
    "silosim.random_designers",
    {
        "matcha": "topologies.designers.matcha:matcha",
        "matcha_plus": "topologies.designers.matcha:matcha_plus",
        "matcha_ring": "topologies.designers.matcha_over:matcha_ring",
        "matcha_delta_mbst": "topologies.designers.matcha_over:matcha_delta_mbst",
        "random_ring": "topologies.designers.random_ring:random_ring",
    },
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
        If the kind or an option is unknown, the kind is that of a randomized overlay, or no such overlay exists on this
        network.

    Examples
    --------
    >>> from topologies import AccessLinks, Workload, connectivity, design, load_underlay
    >>> graph = connectivity(load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    >>> overlay = design("star", graph, Workload.preset("inaturalist", variant="published"))
    >>> f"{overlay.closed_forms.paper_s:.3f} s"
    '0.391 s'
    """
    if kind not in DESIGNERS and kind in RANDOM_DESIGNERS:
        raise InputError(f"overlay kind(={kind!r}) is a randomized overlay: design_random designs it.")
    return _called(DESIGNERS, kind, options)(graph, work)


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
    if kind not in RANDOM_DESIGNERS and kind in DESIGNERS:
        raise InputError(f"overlay kind(={kind!r}) is a static overlay: design designs it.")
    return _called(RANDOM_DESIGNERS, kind, options)(graph, work)


def _called(table: Mapping[str, Callable[..., T]], kind: str, options: dict[str, Any]) -> Callable[..., T]:
    """The designer of a kind with its options, both checked."""
    if kind not in table:
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
