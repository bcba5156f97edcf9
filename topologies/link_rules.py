"""Rules of single links: half-duplex, shared by several silos, shared by nobody; and acknowledgements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

from topologies.arrays import FloatArray, IntArray
from topologies.errors import Field, InputError
from topologies.underlay import Underlay


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedAccess:
    """A link between some silos and the rest of the network, in series with the access link of each.

    Parameters
    ----------
    silos : tuple of int
        Two or more. Models from one of them to another do not cross the link.
    up_bps, down_bps : float
        Its capacity from these silos, and to them; infinity means no limit.

    Raises
    ------
    InputError
        If there are fewer than two silos, one comes twice, or a capacity is not > 0.
    """

    silos: tuple[int, ...]
    up_bps: float
    down_bps: float

    def __post_init__(self) -> None:
        if len(set(self.silos)) < max(2, len(self.silos)):
            raise InputError(
                "must be two or more different ones.", field=Field("silos", value=list(self.silos))
            )
        for name in ("up_bps", "down_bps"):
            if not getattr(self, name) > 0:
                raise InputError("must be > 0.", field=Field(name, value=getattr(self, name)))


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkRules:
    """What differs from full-duplex links that all models share, each in its direction; by default nothing does.

    Parameters
    ----------
    half_duplex : tuple of int
        Silos whose access link carries one direction at a time: the shares of time that uplink and downlink are in use
        add up to 1 at most.
    half_duplex_core : tuple of int
        Core links that do.
    shared_access : tuple of SharedAccess
        Links that several silos share, beside the access link of each. No silo is in two of them.
    fat_pipes : tuple of int
        Core links that models do not share: each direction gives every model its whole capacity, as SimGrid's fat pipes
        do. More streams of a transfer have no more of it.
    ack_share : float
        Bits of acknowledgements that go back for each bit of a model, on the route from its target to its source,
        ``0 <= ack_share < 1``.

    Raises
    ------
    InputError
        If a silo is in two shared links, a fat pipe is half-duplex, or the share is out of its range.

    Notes
    -----
    Eq. 3 of the paper knows access links by their direction and degree alone, so that it has no place for these rules;
    `load` and the simulation follow them.
    """

    half_duplex: tuple[int, ...] = ()
    half_duplex_core: tuple[int, ...] = ()
    shared_access: tuple[SharedAccess, ...] = ()
    fat_pipes: tuple[int, ...] = ()
    ack_share: float = 0.0

    def __post_init__(self) -> None:
        grouped = [silo for link in self.shared_access for silo in link.silos]
        for silo in grouped:
            if grouped.count(silo) > 1:
                raise InputError(
                    "must be in one shared access link, not in several.", field=Field("silo", value=silo)
                )
        both = set(self.half_duplex_core) & set(self.fat_pipes)
        if both:
            raise InputError("must not be half-duplex, too.", field=Field("fat pipe", value=min(both)))
        if not 0 <= self.ack_share < 1:
            raise InputError("must be >= 0 and < 1.", field=Field("ack_share", value=self.ack_share))

    @property
    def are_plain_links(self) -> bool:
        """Whether all links are full-duplex, of one silo, and shared by the models on them."""
        return not (self.half_duplex or self.half_duplex_core or self.shared_access or self.fat_pipes)

    def check_plain_links(self, what: str) -> None:
        """Raise an InputError unless `are_plain_links`: `what` knows no others."""
        if not self.are_plain_links:
            raise InputError(
                f"{what} knows no half-duplex links, access links that silos share, or fat pipes; by paper it leaves "
                "them out of account."
            )

    @property
    def change_usage(self) -> bool:
        """Whether a model puts bits on more than the links of its route."""
        return bool(self.half_duplex or self.half_duplex_core or self.shared_access or self.ack_share)

    def renumbered(self, order: IntArray) -> "LinkRules":
        """The same where silo `i` was called ``order[i]``."""
        number = {old: new for new, old in enumerate(order.tolist())}
        return replace(
            self,
            half_duplex=tuple(number[silo] for silo in self.half_duplex),
            shared_access=tuple(
                replace(link, silos=tuple(number[silo] for silo in link.silos)) for link in self.shared_access
            ),
        )


class SharedLink(NamedTuple):
    """A capacity that several link directions share.

    Attributes
    ----------
    name : str
    capacity_bps : float
    usage : mapping from int to float
        Of each of these directions: what its bits count for.
    silos : frozenset of int
        Models from one of these silos to another do not count.
    """

    name: str
    capacity_bps: float
    usage: Mapping[int, float]
    silos: frozenset[int] = frozenset()


def shared_links(
    rules: LinkRules,
    underlay: Underlay,
    labels: Sequence[str],
    first_uplink: int,
    core_bps: FloatArray,
    up_bps: FloatArray,
    down_bps: FloatArray,
) -> Iterator[SharedLink]:
    """Capacities that link directions share by the rules, of core links first.

    Parameters
    ----------
    labels : sequence of str
        Of the silos.
    first_uplink : int
        See `topologies.connectivity.Connectivity`.
    core_bps : ndarray, shape (links,)
    up_bps, down_bps : ndarray, shape (silos,)

    Notes
    -----
    Where a half-duplex link is faster in one direction, the bits of the slower one count more, in proportion: they take
    more of its time. A link without a limit in a direction is never busy with it, and nothing is shared.
    """
    silos = len(labels)
    for link in rules.half_duplex_core:
        name = f"half-duplex {underlay.link_name(link)}"
        yield SharedLink(name, float(core_bps[link]), {2 * link: 1.0, 2 * link + 1: 1.0})
    for silo in rules.half_duplex:
        up, down = float(up_bps[silo]), float(down_bps[silo])
        if isfinite(up) and isfinite(down):
            most = max(up, down)
            ends = {first_uplink + silo: most / up, first_uplink + silos + silo: most / down}
            yield SharedLink(f"half-duplex {labels[silo]}", most, ends)
    for shared in rules.shared_access:
        names = " + ".join(labels[silo] for silo in shared.silos)
        inside = frozenset(shared.silos)
        for way, first, bps in (
            ("uplink", first_uplink, shared.up_bps),
            ("downlink", first_uplink + silos, shared.down_bps),
        ):
            if isfinite(bps):
                usage = {first + silo: 1.0 for silo in shared.silos}
                yield SharedLink(f"{names} {way}", float(bps), usage, inside)
