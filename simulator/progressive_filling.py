"""Max-min fair rates of flows that share links, with or without weights and usage, by progressive filling."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import inf, isinf
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from simulator.input_checks import check_capacities, check_routes, check_weights
from simulator.tolerances import EQUAL_RATE
from topologies.arrays import FloatArray

Flow = TypeVar("Flow", bound=Hashable)


def max_min_rates(
    routes: Sequence[Sequence[int]],
    link_capacity_bps: ArrayLike,
    weight: ArrayLike | None = None,
    usage: Sequence[Mapping[int, float]] | None = None,
) -> FloatArray:
    """Share links between flows in the max-min fair way.

    An allocation is max-min fair if no rate can grow without shrinking a rate that is not larger; with weights, without
    shrinking a rate whose level, rate / weight, is not larger.

    Parameters
    ----------
    routes : sequence of sequences of int
        The links that each flow occupies, all at once; a flow may occupy none.
    link_capacity_bps : array_like of shape (links,)
        Capacity of each link in bit/s; infinity is allowed.
    weight : array_like of shape (flows,), optional
        Of each flow, finite and > 0, in any unit: only ratios count. By default all are equal.
    usage : sequence of mapping from int to float, optional
        Of each flow, the links that carry not 1, but so many bits for each of its own, finite and > 0.

    Returns
    -------
    ndarray of shape (flows,)
        Rate of each flow in bit/s; infinite for a flow that crosses no link of finite capacity.

    Raises
    ------
    InputError
        If a capacity is not > 0, a route names a link that does not exist or the same link twice, or weights are not
        one finite number > 0 for each flow.

    Examples
    --------
    Two flows share link 0, and the second also crosses the slower link 1:

    >>> max_min_rates([[0], [0, 1]], [10.0, 2.0]).tolist()
    [8.0, 2.0]

    Three times the weight gets three times the rate on a link that bounds both:

    >>> max_min_rates([[0], [0]], [8.0], weight=[1.0, 3.0]).tolist()
    [2.0, 6.0]

    A flow that takes half of each of its bits over another link than the other half gets twice the rate:

    >>> max_min_rates([[0, 1]], [3.0, 3.0], usage=[{0: 0.5, 1: 0.5}]).tolist()
    [6.0]

    Notes
    -----
    Progressive filling [1]_: all rates grow together, in proportion to the weights, until a link is full; the flows
    that cross it are frozen, and the others go on. An allocation is max-min fair if and only if every flow crosses a
    bottleneck: a full link on which no flow is faster, or has a higher level with weights. This holds whatever the
    usage is: the rates on a link are added up with it, and nothing else changes.

    With S the sum of the route lengths and L the number of links in use this takes O(S log L) time and
    O(S) memory: a link's fair share never falls while flows are frozen elsewhere, so a heap with lazy updates
    finds the bottlenecks in order. Shares that agree to 1e-12 are one share, so that flows that should be
    equally fast get the same number. With weights, each look at a link takes O(flows on it).

    References
    ----------
    .. [1] D. Bertsekas and R. Gallager, *Data Networks*, 2nd ed., Prentice Hall, 1992, section 6.5.2.
    """
    capacity_bps = check_capacities(link_capacity_bps)
    finite = {
        flow: tuple(link for link in route if not isinf(capacity_bps[link]))
        for flow, route in enumerate(check_routes(routes, len(capacity_bps)))
    }
    members: dict[int, list[int]] = {}
    for flow, route in finite.items():
        for link in route:
            members.setdefault(link, []).append(flow)
    weights = None if weight is None else dict(enumerate(check_weights("weight", weight, len(finite))))
    shares = progressive_filling(
        members, finite, capacity_bps, weights, None if usage is None else dict(enumerate(usage))
    )
    return np.array([shares[flow][0] if flow in shares else inf for flow in finite], dtype=np.float64)


def progressive_filling(
    members: Mapping[int, Collection[Flow]],
    routes: Mapping[Flow, Sequence[int]],
    capacity_bps: Sequence[float],
    weight: Mapping[Flow, float] | None = None,
    usage: Mapping[Flow, Mapping[int, float]] | None = None,
) -> dict[Flow, tuple[float, int]]:
    """Share links between flows in the max-min fair way; `max_min_rates` without checks.

    Parameters
    ----------
    members : mapping of int to collection
        The flows on each link; a link without flows must not be in it.
    routes : mapping of flow to sequence of int
        The inverse: the links of each flow, each of them in `members` and of finite capacity.
    capacity_bps : sequence of float
        Capacity of every link, indexed by the keys of `members`.
    weight : mapping of flow to float, optional
        Of every flow in `routes`, > 0. Without it all weights are 1, with the same numbers to the last bit.
    usage : mapping of flow to mapping of int to float, optional
        Of every flow in `routes`: the links that carry not 1, but so many bits for each of its own.

    Returns
    -------
    dict
        Of every flow that crosses a link: its rate in bit/s, and the link that is its bottleneck.
    """
    left_bps = {link: capacity_bps[link] for link in members}
    unfrozen = {link: len(flows) for link, flows in members.items()}
    shares: dict[Flow, tuple[float, int]] = {}

    def growing(link: int) -> float:
        """Weight of the flows on a link that are not frozen; summed anew, as small ones stay of large ones."""
        if weight is None and usage is None:
            return unfrozen[link]
        return sum(
            (1.0 if weight is None else weight[flow]) * (1.0 if usage is None else usage[flow].get(link, 1.0))
            for flow in members[link]
            if flow not in shares
        )

    heap = [(left_bps[link] / growing(link), link) for link in unfrozen]
    heapify(heap)
    level_bps = 0.0
    while heap:
        share_bps, link = heappop(heap)
        if not unfrozen[link]:
            continue
        current_bps = left_bps[link] / growing(link)
        if current_bps > share_bps:
            heappush(heap, (current_bps, link))
            continue
        if share_bps > level_bps * EQUAL_RATE:
            level_bps = share_bps
        for flow in members[link]:
            if flow not in shares:
                rate_bps = level_bps if weight is None else level_bps * weight[flow]
                shares[flow] = (rate_bps, link)
                used = None if usage is None else usage[flow]
                for crossed in routes[flow]:
                    left_bps[crossed] -= rate_bps * used.get(crossed, 1.0) if used else rate_bps
                    unfrozen[crossed] -= 1
    return shares
