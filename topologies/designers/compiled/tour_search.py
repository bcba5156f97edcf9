"""The moves of `topologies.designers.tour_search`, compiled."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from topologies.arrays import BoolArray, FloatArray
from topologies.designers.compiled.local_search import HELD, TOUCHED, Nodes, improve, perturb, tour_length
from topologies.designers.tour_search import HEAT, KICK_NODES, prepared


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CompiledTourSearch:
    """2-opt and Or-opt on fixed costs: the tours that `topologies.designers.tour_search.TourSearch` finds."""

    cost: FloatArray
    near: Nodes
    symmetric: bool
    noise: float

    @classmethod
    def of(cls, costs: FloatArray, *, noise: float | None = None) -> Self:
        """As of `TourSearch`."""
        cost, near, symmetric, rounding = prepared(costs)
        return cls(
            cost=cost,
            near=near.astype(np.uint32),
            symmetric=symmetric,
            noise=rounding if noise is None else noise,
        )

    def length(self, tour: list[int]) -> float:
        """Cost of the tour."""
        return tour_length(self.cost, np.array(tour, dtype=np.uint32))

    def improved(self, tour: list[int]) -> list[int]:
        """The tour after moves around all nodes, and again around those at changed arcs."""
        nodes = len(tour)
        found, place, queue, waiting, held = _state(tour)
        queue[:nodes], queue[-1] = found, nodes
        improve(self.cost, self.near, self.symmetric, self.noise, found, place, queue, waiting, held)
        improved: list[int] = found.tolist()
        return improved

    def perturbed(self, tour: list[int], restarts: int, seed: int) -> list[int]:
        """Best tour after a number of exchanges of two segments, each followed by moves around it."""
        nodes = len(tour)
        found, place, queue, waiting, held = _state(tour)
        best, old = found.copy(), found.copy()
        perturb(
            self.cost, self.near, self.symmetric, self.noise, found, place, queue, waiting, held, best, old,
            *_draws(restarts, seed), HEAT * self.length(tour) / nodes, min(KICK_NODES, nodes),
        )  # fmt: skip
        shortest: list[int] = best.tolist()
        return shortest


@lru_cache(maxsize=8)
def _draws(restarts: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Where each restart exchanges two segments, shape (restarts, 4), and the logarithm of its luck."""
    draws = np.random.default_rng(seed).random((restarts, 5))
    # By the C library: numpy's own logarithm differs from it in the last bit on some processors.
    log_luck = np.array([math.log(1 - luck) for luck in draws[:, 0].tolist()], dtype=np.float64)
    return draws[:, 1:].copy(), log_luck


def _state(tour: list[int]) -> tuple[Nodes, Nodes, Nodes, BoolArray, Nodes]:
    """A tour with the place of each node in it, an empty queue with whether each node waits in it, and a buffer."""
    nodes, order = len(tour), np.array(tour, dtype=np.uint32)
    # A node waits once, but those beside an exchange may be queued twice when it begins.
    queue = np.zeros(nodes + TOUCHED + 1, dtype=np.uint32)
    place, held = np.argsort(order).astype(np.uint32), np.empty(HELD, dtype=np.uint32)
    return order, place, queue, np.zeros(nodes, dtype=bool), held
