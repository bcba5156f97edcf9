"""The underlay: routers and the full-duplex core links between them, or measured pairs."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topologies.arrays import FloatArray, IntArray
from topologies.digraph import components
from topologies.errors import InputError, quoted
from topologies.measured_pairs import MeasuredPairs
from topologies.site_values import SiteValues
from topologies.stated_routes import StatedRoutes

Variant = Literal["corrected", "published"]
_MOST_COMPONENTS = 8
"""That a message names."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Underlay:
    """A connected network of routers and full-duplex core links, or of sites with measured pairs.

    Parameters
    ----------
    name : str
        What tables and figures call it.
    variant : {"corrected", "published"}
        Whether the lengths are true ones or those behind published tables.
    labels : tuple of str, (routers,)
        Unique names of the routers.
    latitude_deg, longitude_deg : array of float, (routers,)
        WGS84 degrees in [-90, 90] and [-180, 180]; both NaN where the place is unknown.
    ends : array of int, (links, 2)
        The two routers of every link. Parallel links are kept; a route takes the shortest one.
    length_km : array of float, (links,)
        Finite and >= 0; links within a city may have length zero.
    capacity_bps : array of float, (links,)
        Capacity of each direction, > 0; NaN where none is stated.
    published_index : array of int, (routers,), optional
        Place of every router in the published tables' file, each once: the tables break ties by it, and their hub is
        the first. It orders ties where the variant is "published".
    measured : MeasuredPairs, optional
        In place of a routed core: there are no links then, and each pair of sites that can talk is a link of its own.
    sites : SiteValues, optional
        Access capacities and computing times that the file states.
    stated_routes : StatedRoutes, optional
        Routes of pairs of routers that are known; every routing leaves them as they are, see
        `topologies.explicit_routes.with_stated`.
    notes : tuple of str
        One sentence for each thing about the file that its reader should know, for instance what was left out.

    Raises
    ------
    InputError
        If a value breaks one of these rules, or if there are fewer than two routers, a self-loop, a router
        that no route reaches, links or routes beside measured pairs, or no link between two routers of a stated route.

    Notes
    -----
    Arrays are copied and made read-only. Checking takes O(routers + links) time.

    Routers and links keep the order in which they are given: whatever a caller has per router or silo keeps its place.
    `load_underlay` gives the order of `in_label_order`. Routes and designs break ties by `rank`, not by index.
    """

    name: str
    variant: Variant
    labels: tuple[str, ...]
    latitude_deg: FloatArray
    longitude_deg: FloatArray
    ends: IntArray
    length_km: FloatArray
    capacity_bps: FloatArray
    published_index: IntArray | None = None
    measured: MeasuredPairs | None = None
    sites: SiteValues | None = None
    stated_routes: StatedRoutes | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Freeze the arrays and check every rule above."""
        if self.variant not in ("corrected", "published"):
            raise InputError(f"variant(={quoted(self.variant)}) must be 'corrected' or 'published'.")
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "notes", tuple(self.notes))
        per_router, per_link = (self.routers,), (len(self.ends),)
        if self.published_index is not None:
            index = _array("published_index", self.published_index, np.int64, per_router)
            if len(np.unique(index)) < self.routers:
                raise InputError("published_index must hold a number for each router, each once.")
            object.__setattr__(self, "published_index", index)
        for field, value, dtype, shape in (
            ("latitude_deg", self.latitude_deg, np.float64, per_router),
            ("longitude_deg", self.longitude_deg, np.float64, per_router),
            ("ends", self.ends, np.int64, (*per_link, 2)),
            ("length_km", self.length_km, np.float64, per_link),
            ("capacity_bps", self.capacity_bps, np.float64, per_link),
        ):
            object.__setattr__(self, field, _array(field, value, dtype, shape))
        _check_routers(self)
        _check_links(self)
        _check_connected(self)
        _check_stated_routes(self)
        if self.sites is not None and len(self.sites.up_bps) != self.routers:
            raise InputError(f"sites must have a value for each of {self.routers} routers.")

    def __repr__(self) -> str:
        """Name, variant and size."""
        if self.measured is not None:
            return f"<Underlay {self.name}: {self.routers} sites, {len(self.measured.pairs)} measured pairs>"
        return f"<Underlay {self.name} ({self.variant}): {self.routers} routers, {self.links} links>"

    @property
    def routers(self) -> int:
        """Number of routers."""
        return len(self.labels)

    @property
    def links(self) -> int:
        """Number of links, each counted once for both directions."""
        return len(self.ends)

    def in_label_order(self) -> "Underlay":
        """The same network in its canonical order.

        Returns
        -------
        Underlay
            Routers by label, in plain string order. Each link from the earlier of its ends to the later one; links
            by their ends, parallel ones the shortest first, then the fastest, those without a capacity last.

        Notes
        -----
        O(n log n) for n routers and links.
        """
        order = label_order(self.labels)
        ends = np.sort(np.argsort(order)[self.ends], axis=1)
        links = np.lexsort((-self.capacity_bps, self.length_km, ends[:, 1], ends[:, 0]))
        return replace(
            self,
            labels=tuple(self.labels[router] for router in order.tolist()),
            latitude_deg=self.latitude_deg[order],
            longitude_deg=self.longitude_deg[order],
            ends=ends[links],
            length_km=self.length_km[links],
            capacity_bps=self.capacity_bps[links],
            published_index=None if self.published_index is None else self.published_index[order],
            measured=None if self.measured is None else self.measured.of(order),
            sites=None if self.sites is None else self.sites.of(order),
            stated_routes=None if self.stated_routes is None else self.stated_routes.of(order),
        )

    @property
    def rank(self) -> IntArray:
        """Place of every router in the order by which ties fall, shape (routers,).

        The order of the labels; where the variant is "published" and `published_index` is stated, that one.
        """
        if self.variant == "published" and self.published_index is not None:
            return np.argsort(np.argsort(self.published_index))
        return np.argsort(label_order(self.labels))

    def link_name(self, link: int) -> str:
        """Name of a link by the labels of its ends.

        Parameters
        ----------
        link : int
            Index of the link.

        Returns
        -------
        str
            For instance ``DE - FR``; parallel links are numbered in their order, ``DE - FR #2``.

        Notes
        -----
        O(links).
        """
        source, target = self.ends[link]
        name = f"{self.labels[source]} - {self.labels[target]}"
        parallel = np.flatnonzero((np.sort(self.ends) == np.sort(self.ends[link])).all(axis=1))
        if len(parallel) == 1:
            return name
        return f"{name} #{np.searchsorted(parallel, link % self.links) + 1}"


def label_order(labels: Sequence[str]) -> IntArray:
    """Indices of labels in plain string order, shape (labels,); equal ones stay in the order given."""
    return np.array(sorted(range(len(labels)), key=labels.__getitem__), dtype=np.int64)


def _array(field: str, value: ArrayLike, dtype: type, shape: tuple[int, ...]) -> NDArray[Any]:
    """A read-only copy of `value`, checked to hold numbers in the given shape."""
    try:
        array = np.array(value)
    except ValueError:
        raise InputError(f"{field} must be a regular array.") from None
    kinds, what = ("iu", "integers") if dtype is np.int64 else ("iuf", "numbers")
    if array.size and array.dtype.kind not in kinds:
        raise InputError(f"{field} must hold {what}, not {array.dtype}.")
    if array.shape != shape:
        raise InputError(f"{field} has the shape {array.shape}, must have {shape}.")
    array = array.astype(dtype)
    array.flags.writeable = False
    return array


def _check_routers(underlay: Underlay) -> None:
    """Check the number of routers, their labels and their coordinates."""
    if underlay.routers < 2:
        raise InputError(f"routers(={underlay.routers}) must be >= 2.")
    seen: dict[str, int] = {}
    for router, label in enumerate(underlay.labels):
        check_label(router, label)
        if label in seen:
            raise InputError(f"label(={quoted(label)}) of routers {seen[label]} and {router} must be unique.")
        seen[label] = router
    for field, values, limit in (
        ("latitude_deg", underlay.latitude_deg, 90),
        ("longitude_deg", underlay.longitude_deg, 180),
    ):
        for router in _where(np.abs(values) > limit):
            label = quoted(underlay.labels[router])
            raise InputError(f"router {label}: {field}(={values[router]}) must be in [-{limit}, {limit}].")
    for router in _where(np.isnan(underlay.latitude_deg) != np.isnan(underlay.longitude_deg)):
        label = quoted(underlay.labels[router])
        raise InputError(f"router {label} must have both a latitude and a longitude, or neither.")


def check_label(router: int, label: object) -> None:
    """Raise an error for a label that tables, figures and HDF5 cannot hold.

    Parameters
    ----------
    router : int
        Its index, for the message.
    label : object

    Raises
    ------
    InputError
        If it is no text, blank, or holds line breaks, NUL or lone surrogates.
    """
    if not isinstance(label, str) or not label.strip():
        raise InputError(f"label(={quoted(label)}) of router {router} must be a text that is not blank.")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in label):
        raise InputError(f"label(={quoted(label)}) of router {router} must hold no control characters.")


def _check_links(underlay: Underlay) -> None:
    """Check ends, lengths and capacities."""
    ends = underlay.ends
    for link in _where(((ends < 0) | (ends >= underlay.routers)).any(axis=1)):
        raise InputError(f"link {link}: ends(={ends[link].tolist()}) must be in [0, {underlay.routers}).")
    for link in _where(ends[:, 0] == ends[:, 1]):
        label = quoted(underlay.labels[ends[link, 0]])
        raise InputError(f"link {link} is a self-loop of {label}, must join two routers.")
    for link in _where(~(np.isfinite(underlay.length_km) & (underlay.length_km >= 0))):
        name, value = quoted(underlay.link_name(link)), underlay.length_km[link]
        raise InputError(f"link {link} ({name}): length_km(={value}) must be finite and >= 0.")
    capacity = underlay.capacity_bps
    for link in _where(np.isinf(capacity) | (capacity <= 0)):
        name, value = quoted(underlay.link_name(link)), capacity[link]
        raise InputError(f"link {link} ({name}): capacity_bps(={value}) must be finite and > 0.")


def _where(bad: ArrayLike) -> Sequence[int]:
    """Indices that break a rule, as plain integers."""
    indices: list[int] = np.flatnonzero(bad).tolist()
    return indices


def _check_connected(underlay: Underlay) -> None:
    """Check that every router reaches every other one."""
    if underlay.measured is not None:
        if underlay.links:
            raise InputError(f"links(={underlay.links}) must be none where pairs are measured.")
        underlay.measured.check_labels(underlay.labels)
    arcs = underlay.ends if underlay.measured is None else underlay.measured.pairs
    count, component = components(underlay.routers, *arcs.T, strong=underlay.measured is not None)
    if count == 1:
        return
    connected = "connected" if underlay.measured is None else "strongly connected by measured pairs"
    raise InputError(f"{disconnected(connected, underlay.labels, component)}.")


def _check_stated_routes(underlay: Underlay) -> None:
    """Check that stated routes follow links."""
    if underlay.stated_routes is None:
        return
    if underlay.measured is not None:
        raise InputError("stated routes go with a routed core; the pairs are measured.")
    linked = set(map(tuple, np.concatenate((underlay.ends, underlay.ends[:, ::-1])).tolist()))
    for path in underlay.stated_routes.paths:
        for hop in pairwise(path):
            if hop not in linked:
                raise InputError(
                    f"the stated route {quoted(path)} must follow links; there is none {quoted(hop)}."
                )


def disconnected(connected: str, labels: Sequence[str], component: IntArray) -> str:
    """The rule that a graph of several components breaks.

    Parameters
    ----------
    connected : str
        What it must be.
    labels : sequence of str
    component : array of int, (labels,)
        Of each router, from 0 on.

    Returns
    -------
    str
        With the size of each component, the largest first, and one router of it; of many the largest ones.
    """
    _, first, sizes = np.unique(component, return_index=True, return_counts=True)
    largest_first = np.lexsort((first, -sizes)).tolist()
    named = [f"{sizes[c]} with {quoted(labels[first[c]])}" for c in largest_first[:_MOST_COMPONENTS]]
    more = [f"{len(sizes) - _MOST_COMPONENTS} more"] if len(sizes) > _MOST_COMPONENTS else []
    return f"the graph must be {connected}, has {len(sizes)} components: {', '.join([*named, *more])}"
