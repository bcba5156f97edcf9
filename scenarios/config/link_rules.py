"""Half-duplex links, access links that silos share, fat pipes and acknowledgements, as a configuration states them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

from scenarios.config.access_links import up_down
from scenarios.config.named_shares import named_share
from simulator.world.names import Names
from topologies import Connectivity
from topologies.connectivity import NO_RULES
from topologies.errors import Field, InputError, unknown_name
from topologies.link_rules import LinkRules, SharedAccess

TCP_ACKS = 0.0184
"""Acknowledgements of TCP that go back, per bit of data: measured on Linux, which acknowledges every second segment."""
ALL_ACCESS, ALL_CORE = "access", "core"
_PLUS = re.compile(r"(?<!\s)\s++\+\s+")


def ack_share(text: str | None) -> float:
    """Bits of acknowledgements for each bit of a model.

    Parameters
    ----------
    text : str, optional
        ``"tcp"`` or a share such as ``"2 %"``; None: none go back.

    Raises
    ------
    InputError
        If the text is neither.
    """
    return named_share("acks", text, {"tcp": TCP_ACKS}, "2 %")


def with_rules_of(
    graph: Connectivity,
    *,
    half_duplex: Sequence[str],
    shared_access: Mapping[str, str],
    fat_pipes: Sequence[str],
    acks: str | None,
) -> Connectivity:
    """The network with the rules of links that a configuration states.

    Parameters
    ----------
    graph : Connectivity
    half_duplex : sequence of str
        ``"access"`` for all access links, ``"core"`` for all core links, labels of silos, or core links as
        ``"A - B"``.
    shared_access : mapping from str to str
        Silos that share an access link, as ``"A + B"``, with its capacity: ``"1 Gbps"``, or
        ``"100 Mbps up, 1 Gbps down"``.
    fat_pipes : sequence of str
        ``"core"``, or core links as ``"A - B"``.
    acks : str, optional
        See `ack_share`.

    Raises
    ------
    InputError
        If a name is that of no silo or link, or a text is wrong.
    """
    names = Names(graph)
    silos: dict[int, None] = {}
    core: dict[int, None] = {}
    for name in half_duplex:
        if name == ALL_ACCESS:
            silos |= dict.fromkeys(range(graph.silos))
        elif name in graph.labels:
            silos[graph.labels.index(name)] = None
        else:
            core |= dict.fromkeys(_core_links(names, "half_duplex", name))
    fat: dict[int, None] = {}
    for name in fat_pipes:
        links = _core_links(names, "fat_pipes", name)
        if not core.keys().isdisjoint(links):
            raise InputError("must not be half-duplex, too.", field=Field("fat_pipes", value=name))
        fat |= dict.fromkeys(links)
    rules = LinkRules(
        half_duplex=tuple(silos),
        half_duplex_core=tuple(core),
        shared_access=tuple(_shared_links(graph.labels, shared_access)),
        fat_pipes=tuple(fat),
        ack_share=ack_share(acks),
    )
    return graph if rules == NO_RULES else replace(graph, rules=rules)


def _core_links(names: Names, field: str, name: str) -> Sequence[int]:
    """Core links of a name."""
    if names.graph.is_measured:
        raise InputError(
            f"names a core link; the pairs of {names.graph.underlay.name} are measured.",
            field=Field(field, value=name),
        )
    if name == ALL_CORE:
        return range(len(names.graph.core_bps))
    try:
        return (names.core_link(name, field),)
    except InputError:
        underlay = names.graph.underlay
        known = [underlay.link_name(link) for link in range(underlay.links)]
        others = (ALL_ACCESS, ALL_CORE, *names.graph.labels) if field == "half_duplex" else (ALL_CORE,)
        raise unknown_name(field, name, (*others, *known)) from None


def _shared_links(labels: Sequence[str], stated: Mapping[str, str]) -> Iterator[SharedAccess]:
    """All shared access links; no silo is in two."""
    named: dict[int, str] = {}
    for key, text in stated.items():
        link = _shared(labels, key, text)
        for silo in link.silos:
            if named.setdefault(silo, key) != key:
                raise InputError(
                    f"must not name {labels[silo]} again, which is in {named[silo]!r}.",
                    field=Field("shared_access", key, value=text),
                )
        yield link


def _shared(labels: Sequence[str], key: str, text: str) -> SharedAccess:
    """A shared access link; labels may hold pluses."""
    found: list[int] = []
    start, longest = 0, max(map(len, labels))
    for plus in (*_PLUS.finditer(key), None):
        if plus is not None and plus.start() - start > longest + len(key) - len(key.lstrip()):
            break  # no label can begin here
        label = key[start : len(key) if plus is None else plus.start()].strip()
        if label in labels:
            found.append(labels.index(label))
            start = len(key) if plus is None else plus.end()
    if start < len(key):
        parts = [part.strip() for part in _PLUS.split(key[start:])]
        raise unknown_name("shared_access silo", next(part for part in parts if part not in labels), labels)
    if len(set(found)) < max(2, len(found)):
        raise InputError(
            "must name two or more different silos, as 'A + B'.",
            field=Field("shared_access", key, value=text),
        )
    bps = up_down(("shared_access", key), text)
    return SharedAccess(silos=tuple(found), up_bps=bps.get("up", inf), down_bps=bps.get("down", inf))
