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
        that link direction; of None: all directions of core links. An InputError for a name or number that is none
        calls it as the second argument says.
    """
    core = 2 * graph.underlay.links
    known: dict[str, tuple[int, ...]] = {}
    for link in range(graph.underlay.links):
        (a, b), both, number = _ends(graph, link)
        known[f"{a} - {b}{number}"] = both
        known.setdefault(f"{b} - {a}{number}", both)
        known[f"{a} -> {b}{number}"] = both[:1]
        known[f"{b} -> {a}{number}"] = both[1:]
    for direction in range(core, core + 2 * graph.silos):
        known[graph.link_name(direction)] = (direction,)

    def find(name: str | int | None, field: str) -> tuple[int, ...]:
        if name is None:
            return tuple(range(core))
        if isinstance(name, str):
            if name not in known:
                raise unknown_name(field, name, known)
            return known[name]
        return (_number(field, name, core + 2 * graph.silos),)

    return find


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
        If there is no such link.
    """
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
