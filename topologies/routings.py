"""Routings by name: what routes are the shortest by, and equal-cost multipath by flow or split."""

from collections.abc import Mapping
from functools import partial
from typing import Protocol

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import Field, InputError, unknown_name
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.multipath import multipath_routes
from topologies.routing import Routes, Routing, shortest_routes
from topologies.split_routes import split_routes
from topologies.underlay import Underlay

_LEAST = 1e-6
"""Least cost of a link of several routes, relative to the largest: far above the difference of equal costs."""


class Cost(Protocol):
    """Cost of each link of an underlay, which routes minimise the sum of."""

    def __call__(self, underlay: Underlay, core_bps: FloatArray) -> FloatArray:
        """Costs, finite and >= 0, shape (links,); those of links of capacity 0 do not count."""


def _distance(underlay: Underlay, core_bps: FloatArray) -> FloatArray:  # noqa: ARG001  (the protocol's)
    return underlay.length_km


def _hops(underlay: Underlay, core_bps: FloatArray) -> FloatArray:  # noqa: ARG001  (the protocol's)
    return np.ones(underlay.links)


def _latency(underlay: Underlay, core_bps: FloatArray) -> FloatArray:  # noqa: ARG001  (the protocol's)
    return S_PER_KM * underlay.length_km + S_PER_PATH


def _inverse_capacity(underlay: Underlay, core_bps: FloatArray) -> FloatArray:  # noqa: ARG001  (the protocol's)
    # Links without a limit cost nothing, as in OSPF where the reference is far below them.
    return np.divide(1e9, core_bps, out=np.zeros(len(core_bps)), where=core_bps > 0)


COSTS: Mapping[str, Cost] = {
    "distance": _distance,
    "hops": _hops,
    "latency": _latency,
    "inverse_capacity": _inverse_capacity,
}
"""Length; 1; the latency of a link with its constant 4 ms; 1 Gbps over the capacity, the cost of OSPF."""


def named_routing(
    name: str = "distance", multipath_seed: int | None = None, *, split_flows: bool = False
) -> Routing:
    """The routing by one of `COSTS`.

    Parameters
    ----------
    name : {"distance", "hops", "latency", "inverse_capacity"}
    multipath_seed : int, optional
        With one, flows spread over routes of equal cost, see `topologies.multipath.multipath_routes`; else each pair
        takes the first of them by the rule of `topologies.routing.shortest_routes`, the same there and back.
    split_flows : bool
        Whether flows are split over all routes of equal cost instead, see `topologies.split_routes.split_routes`.

    Raises
    ------
    InputError
        If there is no such cost, the seed is below 0, or flows are both split and spread.
    """
    if name not in COSTS:
        raise unknown_name("routing", name, COSTS)
    if multipath_seed is not None and multipath_seed < 0:
        raise InputError("must be >= 0.", field=Field("multipath_seed", value=multipath_seed))
    if split_flows and multipath_seed is not None:
        raise InputError(
            "must not be given beside ",
            Field("multipath_seed", value=multipath_seed),
            ".",
            field=Field("split_flows", value=split_flows),
        )
    if name == "distance" and multipath_seed is None and not split_flows:
        return shortest_routes
    return partial(_routes, name=name, multipath_seed=multipath_seed, split_flows=split_flows)


def routing_text(routing: Routing) -> str:
    """A routing of `named_routing` in a few words; empty of the default, and of others."""
    if not isinstance(routing, partial) or routing.func is not _routes:
        return ""
    name, seed = routing.keywords["name"], routing.keywords["multipath_seed"]
    spread = ", flows split" if routing.keywords["split_flows"] else ""
    spread += "" if seed is None else f", multipath seed {seed}"
    return f"routes by {name}{spread}"


def _routes(
    underlay: Underlay, core_bps: FloatArray, *, name: str, multipath_seed: int | None, split_flows: bool
) -> Routes:
    """The routes of a named routing."""
    cost = COSTS[name](underlay, core_bps)
    if multipath_seed is None and not split_flows:
        return shortest_routes(underlay, core_bps, weight=cost)
    cost = np.maximum(cost, _LEAST * (float(np.max(cost, initial=0.0)) or 1.0))
    is_down = np.asarray(core_bps) == 0
    cost = np.where(is_down, 2.0 * cost.sum() + 1.0, cost)
    return (
        split_routes(underlay, cost)
        if multipath_seed is None
        else multipath_routes(underlay, cost, multipath_seed)
    )
