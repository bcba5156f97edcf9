"""Links and silos by name."""

from collections.abc import Callable
from operator import index

from topologies import Connectivity
from topologies.errors import InputError, unknown_name


def directions_of(graph: Connectivity) -> Callable[[str | int | None, str], tuple[int, ...]]:
    """How to find link directions by name.

    Parameters
    ----------
    graph : Connectivity

    Returns
    -------
    callable
        Gives the link directions of a name: both of a core link for ``"A - B"``, one for ``"A -> B"``, ``"A uplink"``
        and ``"A downlink"``, parallel links with their number as in ``"A - B #2"`` and ``"A -> B #2"``; of a number:
        that link direction; of None: all directions of core links. Where the bandwidth is measured, ``"A - B"`` and
        ``"A -> B"`` are the links of silo pairs. An InputError for a name or number that is none calls it as the
        second argument says, and so does one for None where there is no core.
    """
    directions = len(graph.link_capacity_bps)
    known = _pair_names(graph) if graph.is_measured else _core_names(graph)
    for direction in range(graph.first_uplink, directions):
        known[graph.link_name(direction)] = (direction,)

    def find(name: str | int | None, field: str) -> tuple[int, ...]:
        if name is None:
            if graph.is_measured:
                raise _no_core(field, "must be given")
            return tuple(range(graph.first_uplink))
        if isinstance(name, str):
            if name not in known:
                raise unknown_name(field, name, known)
            return known[name]
        return (_number(field, name, directions),)

    return find


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


def _no_core(field: str, rule: str) -> InputError:
    """Error for an event on core links where each measured pair is a link of its own."""
    return InputError(
        f"{field} {rule}: the bandwidth of silo pairs is measured, so that there are no core links."
    )


def core_link_of(graph: Connectivity, name: str | int, field: str) -> int:
    """Number of a core link.

    Parameters
    ----------
    graph : Connectivity
    name : str or int
        ``"A - B"`` in either order, with ``" #2"`` among parallel links, or a number.
    field : str
        What messages call it.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If there is no such link, or none at all.
    """
    if graph.is_measured:
        raise _no_core(f"{field}(={name!r})", "must name a core link")
    if not isinstance(name, str):
        return _number(field, name, graph.underlay.links)
    known: dict[str, int] = {}
    for link in range(graph.underlay.links):
        (a, b), _, number = _ends(graph, link)
        known[f"{a} - {b}{number}"] = link
        known.setdefault(f"{b} - {a}{number}", link)
    if name not in known:
        raise unknown_name(field, name, known)
    return known[name]


def silo_of(graph: Connectivity, name: str | int, field: str) -> int:
    """Number of a silo.

    Parameters
    ----------
    graph : Connectivity
    name : str or int
        Its label or its number.
    field : str
        What messages call it.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If there is no such silo.
    """
    if not isinstance(name, str):
        return _number(field, name, graph.silos)
    if name not in graph.labels:
        raise unknown_name(field, name, graph.labels)
    return graph.labels.index(name)


def _ends(graph: Connectivity, link: int) -> tuple[tuple[str, str], tuple[int, int], str]:
    """Labels of a core link's ends, its two directions, and its number among parallel links, as in its name."""
    underlay = graph.underlay
    a, b = (underlay.labels[end] for end in underlay.ends[link].tolist())
    number = underlay.link_name(link).removeprefix(f"{a} - {b}")
    return (a, b), (2 * link, 2 * link + 1), number


def _number(what: str, value: int, count: int) -> int:
    try:
        number = index(value)
    except TypeError:
        raise InputError(f"{what}(={value!r}) must be a name or a number.") from None
    if not 0 <= number < count:
        raise InputError(f"{what}(={number}) must be >= 0 and < {count}.")
    return number
