"""Links and silos by name."""

from operator import index

from topologies import Connectivity
from topologies.errors import Field, InputError, unknown_name

_NO_CORE = "the bandwidth of silo pairs is measured, so that there are no core links."


class Names:
    """Links and silos of a network by name.

    Parameters
    ----------
    graph : Connectivity

    Notes
    -----
    An unknown name is an InputError about the field that the caller names.
    """

    __slots__ = ("_core_links", "_directions", "graph")

    def __init__(self, graph: Connectivity) -> None:
        self.graph = graph
        self._core_links: dict[str, int] = {}
        self._directions: dict[str, tuple[int, ...]] = {}

    def directions(self, name: str | int | None, field: str = "link") -> tuple[int, ...]:
        """Link directions of a name.

        Parameters
        ----------
        name : str, int or None
            ``"A - B"`` for both directions of a core link, ``"A -> B"`` for one, ``"A uplink"`` and ``"A downlink"``;
            parallel links with their number, as in ``"A - B #2"`` and ``"A -> B #2"``. Where the bandwidth is measured,
            ``"A - B"`` and ``"A -> B"`` are the links of silo pairs. A number is that link direction, None all
            directions of core links.
        field : str
            The field that holds the name.

        Raises
        ------
        InputError
            If there is no such link, or None where there are no core links.
        """
        graph = self.graph
        if name is None:
            if graph.is_measured:
                raise InputError(f"must be given: {_NO_CORE}", field=Field(field))
            return tuple(range(graph.first_uplink))
        if not isinstance(name, str):
            return (_number(field, name, graph.first_window),)
        if not self._directions:
            self._directions = _pair_names(graph) if graph.is_measured else _core_names(graph)
            for direction in range(graph.first_uplink, graph.first_window):
                self._directions[graph.link_name(direction)] = (direction,)
        if name not in self._directions:
            raise unknown_name(field, name, self._directions)
        return self._directions[name]

    def core_link(self, name: str | int, field: str = "link") -> int:
        """Number of a core link.

        Parameters
        ----------
        name : str or int
            ``"A - B"`` in either order, with ``" #2"`` among parallel links, or a number.
        field : str
            The field that holds the name.

        Raises
        ------
        InputError
            If there is no such link, or none at all.
        """
        graph = self.graph
        if graph.is_measured:
            raise InputError(f"must name a core link: {_NO_CORE}", field=Field(field, value=name))
        if not isinstance(name, str):
            return _number(field, name, graph.underlay.links)
        if not self._core_links:
            for link in range(graph.underlay.links):
                (a, b), _, number = _ends(graph, link)
                self._core_links[f"{a} - {b}{number}"] = link
                self._core_links.setdefault(f"{b} - {a}{number}", link)
        if name not in self._core_links:
            raise unknown_name(field, name, self._core_links)
        return self._core_links[name]

    def silo(self, name: str | int, field: str = "silo") -> int:
        """Number of a silo.

        Parameters
        ----------
        name : str or int
            Its label or its number.
        field : str
            The field that holds the name.

        Raises
        ------
        InputError
            If there is no such silo.
        """
        if not isinstance(name, str):
            return _number(field, name, self.graph.silos)
        if name not in self.graph.labels:
            raise unknown_name(field, name, self.graph.labels)
        return self.graph.labels.index(name)


def _core_names(graph: Connectivity) -> dict[str, tuple[int, ...]]:
    """Directions of core links by name."""
    known: dict[str, tuple[int, ...]] = {}
    for link in range(graph.underlay.links):
        (a, b), both, number = _ends(graph, link)
        known[f"{a} - {b}{number}"] = both
        known.setdefault(f"{b} - {a}{number}", both)
        known[f"{a} -> {b}{number}"] = both[:1]
        known[f"{b} -> {a}{number}"] = both[1:]
    return known


def _pair_names(graph: Connectivity) -> dict[str, tuple[int, ...]]:
    """Links of measured silo pairs by name."""
    known: dict[str, tuple[int, ...]] = {}
    for link, (i, j) in enumerate(graph.measured_pairs.tolist()):
        a, b = graph.labels[i], graph.labels[j]
        known[f"{a} -> {b}"] = (link,)
        both = (*known.get(f"{a} - {b}", ()), link)
        known[f"{a} - {b}"] = known[f"{b} - {a}"] = both
    return known


def _ends(graph: Connectivity, link: int) -> tuple[tuple[str, str], tuple[int, int], str]:
    """Labels of a core link's ends, its two directions, and its number among parallel links, as in its name."""
    underlay = graph.underlay
    a, b = (underlay.labels[end] for end in underlay.ends[link].tolist())
    number = underlay.link_name(link).removeprefix(f"{a} - {b}")
    return (a, b), (2 * link, 2 * link + 1), number


def _number(field: str, value: int, count: int) -> int:
    try:
        number = index(value)
    except TypeError:
        raise InputError("must be a name or a number.", field=Field(field, value=value)) from None
    if not 0 <= number < count:
        raise InputError(f"must be >= 0 and < {count}.", field=Field(field, value=number))
    return number
