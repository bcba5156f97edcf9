"""Removal of links that can never limit a rate."""

from collections.abc import Mapping, Sequence
from math import inf


def limiting_links(
    routes: Sequence[Sequence[int]],
    capacity_bps: Sequence[float],
    usage: Sequence[Mapping[int, float]] | None = None,
) -> list[tuple[int, ...]]:
    """Routes without the links that can never limit a rate.

    Parameters
    ----------
    routes : sequence of sequence of int
        Links of each arc.
    capacity_bps : sequence of float
        Capacity of each link in bit/s.
    usage : sequence of mapping from int to float, optional
        Of each arc, the links that carry not 1, but so many bits for each bit of a message.

    Returns
    -------
    list of tuple of int
        The routes, in order, without links of infinite capacity and without those that other links protect.

    Notes
    -----
    A link is protected if every arc that crosses it also crosses one of some other links whose capacities add
    up to at most its own: whatever passes these fits. (Where the usage of the two links differs, the capacity counts
    with the largest ratio of their usage.) A core link behind slower access links is the
    usual case, and so is an access link behind a slower core link. The links that remain admit the same rates,
    however many messages an arc has on the network, and so have the same max-min fair allocation.

    Links are tried from the fastest to the slowest, each with the slowest remaining link of every
    arc as protection, then with any single one; a link that was removed protects no other. This takes
    O(S * (r + log S)) time with S the sum of the route lengths and r the longest route.
    """
    users: dict[int, list[int]] = {}
    for arc, route in enumerate(routes):
        for link in route:
            users.setdefault(link, []).append(arc)
    remaining = [set(route) for route in routes]

    def at_most_bps(link: int, other: int, arcs: Sequence[int]) -> float:
        """What these arcs put on a link, at most, as their messages cross another one."""
        if usage is None:
            return capacity_bps[other]
        ratio = max(usage[arc].get(link, 1.0) / usage[arc].get(other, 1.0) for arc in arcs)
        return capacity_bps[other] * ratio

    for link in sorted(users, key=lambda link: (-capacity_bps[link], link)):
        others = [remaining[arc] - {link} for arc in users[link]]
        behind: dict[int, list[int]] = {}
        for arc, left in zip(users[link], others, strict=True):
            slowest = min(left, key=lambda other: (capacity_bps[other], other), default=link)
            behind.setdefault(slowest, []).append(arc)
        common = set.intersection(*others)
        if (
            capacity_bps[link] == inf
            or (
                link not in behind
                and sum(at_most_bps(link, other, arcs) for other, arcs in behind.items())
                <= capacity_bps[link]
            )
            or any(at_most_bps(link, other, users[link]) <= capacity_bps[link] for other in common)
        ):
            for arc in users[link]:
                remaining[arc].discard(link)
    return [
        tuple(link for link in route if link in left) for route, left in zip(routes, remaining, strict=True)
    ]
