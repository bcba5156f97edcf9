"""2-opt and Or-opt moves on directed tours, and perturbations of them."""

import itertools
import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.designers.compiled.move_limits import LONGEST_REVERSAL, LONGEST_SEGMENT

NEIGHBOURS = 9
"""Moves join a node with one of so many nearest ones."""
HEAT = 0.2
"""First temperature of the restarts, in mean arc costs."""
KICK_NODES = 100
"""A restart exchanges two neighbouring segments within this many nodes."""


def prepared(costs: FloatArray) -> tuple[FloatArray, IntArray, bool, float]:
    """What a search needs: costs without missing arcs, each of which costs more than any tour without it.

    Returns
    -------
    cost : ndarray, shape (n, n)
        Zero on the diagonal.
    near : ndarray of int, shape (n, NEIGHBOURS) or less
        The nearest nodes of each node, in either direction.
    symmetric : bool
    noise : float
        Rounding of the costs.
    """
    nodes = len(costs)
    filled = np.array(costs, dtype=np.float64, order="C")
    np.fill_diagonal(filled, 0.0)
    finite = np.isfinite(filled)
    largest = float(filled[finite].max()) or 1.0
    filled[~finite] = nodes * largest
    either = np.minimum(filled, filled.T)
    np.fill_diagonal(either, np.inf)
    near = np.argsort(either, axis=1, kind="stable")[:, : min(NEIGHBOURS, nodes - 1)]
    return filled, near, bool(np.array_equal(filled, filled.T)), 1e-12 * largest


@dataclass(frozen=True, kw_only=True, slots=True)
class TourSearch:
    """2-opt and Or-opt on fixed costs; tours are lists of nodes, changed in place by the private methods.

    `topologies.designers.compiled.tour_search.CompiledTourSearch` does the same faster.
    """

    cost: list[list[float]]
    near: list[list[int]]
    symmetric: bool
    noise: float

    @classmethod
    def of(cls, costs: FloatArray, *, noise: float | None = None) -> Self:
        """Prepare the costs, see `prepared`; moves that gain no more than `noise` are none."""
        cost, near, symmetric, rounding = prepared(costs)
        return cls(
            cost=cost.tolist(),
            near=near.tolist(),
            symmetric=symmetric,
            noise=rounding if noise is None else noise,
        )

    def length(self, tour: list[int]) -> float:
        """Cost of the tour."""
        # Not by `sum`, which rounds otherwise from Python 3.12 on.
        total = 0.0
        for i, j in zip(tour, tour[1:] + tour[:1], strict=True):
            total += self.cost[i][j]
        return total

    def improved(self, tour: list[int]) -> list[int]:
        """The tour after moves around all nodes, and again around those at changed arcs."""
        tour = list(tour)
        self._improve(tour, _positions(tour), list(tour))
        return tour

    def perturbed(self, tour: list[int], restarts: int, seed: int) -> list[int]:
        """Best tour after a number of exchanges of two segments, each followed by moves around it."""
        tour, nodes, cost = list(tour), len(tour), self.cost
        pos = _positions(tour)
        heat = HEAT * self.length(tour) / nodes
        best, excess = tour[:], 0.0  # of the present tour over the best
        reach = min(KICK_NODES, nodes)
        draws = np.random.default_rng(seed).random((restarts, 5)).tolist()
        for step, (luck, place, *cuts) in enumerate(draws):
            first = int(place * (nodes - reach + 1))
            x, y, z = sorted(first + int(cut * reach) for cut in cuts)
            if x == y or y == z:
                continue
            old, old_pos = tour[:], pos[:]
            tour[x:z] = tour[y:z] + tour[x:y]
            for k in range(x, z):
                pos[tour[k]] = k
            ends = [old[k] for cut in (x, y, z) for k in (cut - 1, cut)]
            a, b, c, d, e, f = ends
            change = cost[a][d] + cost[e][b] + cost[c][f] - cost[a][b] - cost[c][d] - cost[e][f]
            change += self._improve(tour, pos, ends)
            if change > self.noise - heat * (1 - step / restarts) * math.log(1 - luck):
                tour, pos = old, old_pos
                continue
            excess += change
            if excess < -self.noise:
                best, excess = tour[:], 0.0
        return best

    def _improve(self, tour: list[int], pos: list[int], queue: list[int]) -> float:
        """Apply improving moves around the queued nodes until none is left; the total change of cost."""
        total = 0.0
        waiting = set(queue)
        while queue:
            node = queue.pop()
            waiting.discard(node)
            while (move := self._move(tour, pos, node)) is not None:
                change, touched = move
                total += change
                for other in touched:
                    if other not in waiting:
                        waiting.add(other)
                        queue.append(other)
        return total

    def _move(self, tour: list[int], pos: list[int], a: int) -> tuple[float, tuple[int, ...]] | None:
        """Apply the first improving move around node `a`: its change of cost and the nodes at changed arcs."""
        return self._two_opt(tour, pos, a) or self._or_opt(tour, pos, a)

    def _two_opt(self, tour: list[int], pos: list[int], a: int) -> tuple[float, tuple[int, ...]] | None:
        """Reverse a part of the tour so that `a` gets a near neighbour."""
        nodes, cost, limit = len(tour), self.cost, -self.noise
        row, i = cost[a], pos[a]
        for shift, beside in ((0, row[tour[i + 1 - nodes]]), (-1, cost[tour[i - 1]][a])):
            for c in self.near[a]:
                if self.symmetric and row[c] >= beside:
                    break
                j = pos[c]
                low, high = (i + shift, j + shift) if i < j else (j + shift, i + shift)
                p, q, r, s = tour[low], tour[low + 1], tour[high], tour[high + 1 - nodes]
                change = cost[p][r] + cost[q][s] - cost[p][q] - cost[r][s]
                if not self.symmetric:
                    if high - low > LONGEST_REVERSAL:
                        continue
                    change += self._reversal(tour[low + 1 : high + 1])
                if change < limit:
                    _reverse(tour, pos, low + 1, high)
                    return change, (p, q, r, s)
        return None

    def _or_opt(self, tour: list[int], pos: list[int], a: int) -> tuple[float, tuple[int, ...]] | None:
        """Move a short segment that `a` ends next to a near neighbour, perhaps reversed."""
        nodes, cost, limit = len(tour), self.cost, -self.noise
        i = pos[a]
        for size in range(1, LONGEST_SEGMENT + 1):
            for start in (i, i - size + 1) if size > 1 else (i,):
                stop = start + size
                if start < 0 or stop > nodes:
                    continue
                head, tail = tour[start], tour[stop - 1]
                p, q = tour[start - 1], tour[stop - nodes]
                gain = cost[p][head] + cost[tail][q] - cost[p][q]
                if gain <= self.noise:
                    continue
                turned = 0.0 if self.symmetric else self._reversal(tour[start:stop])
                for c in self.near[a]:
                    if self.symmetric and cost[a][c] >= gain:
                        break
                    j = pos[c]
                    if start <= j < stop:
                        continue
                    for x, y in ((c, tour[j + 1 - nodes]), (tour[j - 1], c)):
                        if x == p or y == q:
                            continue
                        gap = cost[x][y] + gain
                        if cost[x][head] + cost[tail][y] - gap < limit:
                            change, flip = cost[x][head] + cost[tail][y] - gap, False
                        elif cost[x][tail] + cost[head][y] + turned - gap < limit:
                            change, flip = cost[x][tail] + cost[head][y] + turned - gap, True
                        else:
                            continue
                        _shift(tour, pos, start, stop, pos[x], flip)
                        return change, (p, q, x, y, head, tail)
        return None

    def _reversal(self, path: list[int]) -> float:
        """Change of a path's cost when it is reversed."""
        cost, total = self.cost, 0.0
        for i, j in itertools.pairwise(path):
            total += cost[j][i] - cost[i][j]
        return total


def _reverse(tour: list[int], pos: list[int], low: int, high: int) -> None:
    """Reverse positions `low` to `high`."""
    tour[low : high + 1] = tour[low : high + 1][::-1]
    for k in range(low, high + 1):
        pos[tour[k]] = k


def _positions(tour: list[int]) -> list[int]:
    """Place of every node in the tour."""
    pos = [0] * len(tour)
    for k, node in enumerate(tour):
        pos[node] = k
    return pos


def _shift(tour: list[int], pos: list[int], start: int, stop: int, after: int, flip: bool) -> None:
    """Move positions `start` to `stop - 1` behind position `after`."""
    segment = tour[start:stop]
    if flip:
        segment.reverse()
    if after >= stop:
        tour[start : after + 1] = tour[stop : after + 1] + segment
        changed = range(start, after + 1)
    else:
        tour[after + 1 : stop] = segment + tour[after + 1 : start]
        changed = range(after + 1, stop)
    for k in changed:
        pos[tour[k]] = k
