"""Routes that are stated for some pairs of routers; all other pairs take those of a routing."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topologies.arrays import IntArray, freeze
from topologies.errors import InputError, quoted


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StatedRoutes:
    """Routes of ordered pairs of routers, by the routers that they pass; `stated_routes` makes one of a list.

    Parameters
    ----------
    routers : array of int, (total number of routers,)
        Routers of all routes, one route after the other, each with its two ends.
    first : array of int, (routes + 1,)
        Where each route begins in `routers`, then where the last one ends.

    Raises
    ------
    InputError
        If a route has fewer than two routers or one of them twice, or a pair has two routes.
    """

    routers: IntArray
    first: IntArray

    def __post_init__(self) -> None:
        """Freeze the arrays and check the rules."""
        for name in ("routers", "first"):
            values = np.array(getattr(self, name), dtype=np.int64)
            freeze(values)
            object.__setattr__(self, name, values)
        pairs = set()
        for path in self.paths:
            if len(path) < 2 or len(set(path)) < len(path):
                raise InputError(f"the route {quoted(path)} must pass two routers or more, each once.")
            if (path[0], path[-1]) in pairs:
                raise InputError(f"the pair {quoted((path[0], path[-1]))} must have one route.")
            pairs.add((path[0], path[-1]))

    def __repr__(self) -> str:
        """Number of routes."""
        return f"<StatedRoutes of {len(self)} pairs>"

    def __len__(self) -> int:
        """Number of routes."""
        return len(self.first) - 1

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """Routers of each route."""
        routers, first = self.routers.tolist(), self.first.tolist()
        return tuple(tuple(routers[i:j]) for i, j in pairwise(first))

    def of(self, order: IntArray) -> "StatedRoutes":
        """The same routes where router ``order[k]`` has the number `k`, for each router once."""
        return StatedRoutes(routers=np.argsort(order)[self.routers], first=self.first)


def stated_routes(paths: Sequence[Sequence[int]]) -> StatedRoutes:
    """Routes of a list of them.

    Parameters
    ----------
    paths : sequence of sequence of int
        Indices of the routers of each route, from its source to its target.

    Raises
    ------
    InputError
        As `StatedRoutes`.
    """
    return StatedRoutes(
        routers=np.array([router for path in paths for router in path], dtype=np.int64),
        first=np.cumsum([0, *map(len, paths)]),
    )
