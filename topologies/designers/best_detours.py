"""Search over circles of silos with mutually exclusive detours."""

import itertools
import math
from typing import Any

import numpy as np

from topologies.arrays import FloatArray
from topologies.connectivity import Connectivity
from topologies.workload import Workload

Path = tuple[int, ...]

COLD = 0.0005
"""Last temperature of the annealing, in cycle times."""
UNSCALED_SILOS = 100
"""More silos than this are annealed at lower temperatures."""
NEAR = 12
"""A silo is moved next to one of this many silos that are near it."""


def detour_search(
    graph: Connectivity,
    work: Workload,
    tour: list[int],
    *,
    steps: int,
    seed: int,
    warmth: float,
    serialized: bool = False,
) -> list[tuple[int, int]]:
    """Arcs of a circle with detours whose cycle time is at most the tour's.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    tour : list of int
        At least 4 silos in a circle of pairs that can talk: the structure to begin with.
    steps : int
        Moves tried.
    seed : int
    warmth : float
        First temperature of the annealing, in cycle times; lower for more than `UNSCALED_SILOS` silos.
    serialized : bool
        Whether an arc's transmission time bounds `tau` too, as in the `serialized` closed form.

    Returns
    -------
    list of (int, int)

    Notes
    -----
    The structure is a circle of core silos; between two consecutive ones there are parallel paths ("options"), empty
    (the direct arc) or through other silos. Every circuit runs once round the core and takes one option per place,
    so that `tau` is the zero of ``f(tau) = sum over places of max over options of (delay - tau * arcs)``, which
    falls in `tau`; a place with `n` options gives its first silo out-degree `n` and its last one in-degree `n`. A
    structure beats `tau` exactly if ``f(tau) < 0``, and a move changes few places, so a step costs O(options of
    the places touched). Simulated annealing on `f` at the best `tau` so far.
    """
    circle = _Circle(graph, work, tour, serialized)
    circle.lower()
    ranks = np.argsort(circle.closeness, axis=1, kind="stable")[:, :NEAR]
    near = [[y for y in row if np.isfinite(circle.closeness[x, y])] for x, row in enumerate(ranks.tolist())]
    best = circle.arcs()
    ratio = math.log(COLD / warmth)
    # `f` is a sum over the core, so that the noise of a temperature grows with the number of silos.
    scale = min(1.0, UNSCALED_SILOS / graph.silos)
    rng = np.random.default_rng(seed)
    for start in range(0, steps, 1000):
        draws = rng.random((min(1000, steps - start), 6)).tolist()
        heat = scale * warmth * circle.tau * math.exp(ratio * start / steps)
        for draw in draws:
            if circle.step(near, heat, draw) and circle.excess < -1e-9 * circle.tau:
                circle.lower()
                best = circle.arcs()
    return best


class _Circle:
    """Core, options and their costs at the present `tau`; changes are journalled so that they can be undone."""

    def __init__(self, graph: Connectivity, work: Workload, tour: list[int], serialized: bool) -> None:
        silos = graph.silos
        compute_s = work.round_compute_s(silos)
        bits = work.model_bits
        self.serialized = serialized
        self.floor = float(compute_s.max())
        self.up = (bits / graph.up_bps).tolist()
        self.down = (bits / graph.down_bps).tolist()
        core = np.full((silos, silos), np.inf)
        np.divide(bits, graph.available_bps, out=core, where=graph.available_bps > 0)
        fixed = compute_s[:, np.newaxis] + graph.latency_s
        sending = np.maximum(core, np.maximum.outer(bits / graph.up_bps, bits / graph.down_bps))
        single: FloatArray = fixed + sending
        self.closeness = np.minimum(single, single.T)
        np.fill_diagonal(self.closeness, np.inf)
        self.core, self.fixed, self.single = core.tolist(), fixed.tolist(), single.tolist()
        self.sending = sending.tolist()
        self.after = [-1] * silos
        self.before = [-1] * silos
        for i, j in zip(tour, tour[1:] + tour[:1], strict=True):
            self.after[i], self.before[j] = j, i
        self.options: list[tuple[Path, ...]] = [((),)] * silos
        self.place = [-1] * silos  # the core silo whose options hold this one
        self.size = silos  # of the core
        self.tau = float(single.max(initial=0.0, where=np.isfinite(single)))
        self.cost = [0.0] * silos
        self.excess = 0.0
        self.journal: list[tuple[list[Any], int, Any]] = []

    def _put(self, values: list[Any], index: int, value: Any) -> None:
        """Change an entry; `undo` changes it back."""
        self.journal.append((values, index, values[index]))
        values[index] = value

    def _worst(self, p: int) -> tuple[float, int]:
        """Largest excess over `tau` of an option at the place behind `p`, and its number of arcs."""
        q, options, tau = self.after[p], self.options[p], self.tau
        up, down = len(options) * self.up[p], len(options) * self.down[q]
        worst, arcs = -math.inf, 1
        for path in options:
            if path:
                x, y = path[0], path[-1]
                total = self.fixed[p][x] + max(up, self.down[x], self.core[p][x])
                total += self.fixed[y][q] + max(self.up[y], down, self.core[y][q])
                for z in path[1:]:
                    total += self.single[x][z]
                    x = z
            else:
                total = self.fixed[p][q] + max(up, down, self.core[p][q])
            total -= tau * (len(path) + 1)
            if total > worst:
                worst, arcs = total, len(path) + 1
        return worst, arcs

    def _longest_sending(self, p: int) -> float:
        """Longest transmission time of the arcs at the place behind `p`."""
        q, options = self.after[p], self.options[p]
        up, down = len(options) * self.up[p], len(options) * self.down[q]
        longest = 0.0
        for path in options:
            x, y = (path[0], path[-1]) if path else (q, p)
            ends = (self.core[p][x], self.core[y][q], up, down)
            longest = max(longest, *ends, *(self.sending[a][b] for a, b in itertools.pairwise(path)))
        return longest

    def lower(self) -> None:
        """Set `tau` to the structure's own cycle time (Newton's method, exact after finitely many steps)."""
        while True:
            hubs = [p for p, q in enumerate(self.after) if q >= 0]
            worst = {p: self._worst(p) for p in hubs}
            for p, (cost, _) in worst.items():
                self.cost[p] = cost
            self.excess = math.fsum(cost for cost, _ in worst.values())
            floor = (
                max(self.floor, *(self._longest_sending(p) for p in hubs)) if self.serialized else self.floor
            )
            tau = max(floor, self.tau + self.excess / sum(arcs for _, arcs in worst.values()))
            if abs(tau - self.tau) <= 1e-13 * self.tau:
                return
            self.tau = tau

    def arcs(self) -> list[tuple[int, int]]:
        """All arcs of the structure."""
        return [
            arc
            for p, q in enumerate(self.after)
            if q >= 0
            for path in self.options[p]
            for arc in zip((p, *path), (*path, q), strict=True)
        ]

    def step(self, near: list[list[int]], heat: float, draw: list[float]) -> bool:
        """Move one silo next to a near one; whether the change was kept."""
        x = int(draw[0] * len(near))
        y = near[x][int(draw[1] * len(near[x]))]
        self.journal.clear()
        touched: set[int] = set()
        size = self.size
        if draw[2] < 0.05:
            done = self._relocate(x, y, touched)
        else:
            done = self._remove(x, draw[3] < 0.5, touched) and self._insert(x, y, draw[4], touched)
        if done and self.serialized:
            done = all(self._longest_sending(p) <= self.tau for p in touched if self.after[p] >= 0)
        if done:
            new = {p: self._worst(p)[0] for p in touched if self.after[p] >= 0}
            change = sum(new.values()) - sum(self.cost[p] for p in touched)
            if change <= 0 or change < -heat * math.log(1 - draw[5]):
                for p in touched:
                    self.cost[p] = new.get(p, 0.0)
                self.excess += change
                return True
        for values, index, value in reversed(self.journal):
            values[index] = value
        self.size = size
        return False

    def _set_options(self, p: int, options: tuple[Path, ...]) -> None:
        """Give the place behind `p` other options."""
        self._put(self.options, p, options)
        for path in options:
            for x in path:
                if self.place[x] != p:
                    self._put(self.place, x, p)

    def _remove(self, x: int, direct: bool, touched: set[int]) -> bool:
        """Take a silo out."""
        p = self.place[x]
        if p >= 0:
            options = []
            for path in self.options[p]:
                if x in path:
                    path = tuple(z for z in path if z != x)
                    if not path and len(self.options[p]) > 1 and (not direct or () in self.options[p]):
                        continue
                options.append(path)
            self._set_options(p, tuple(options))
            self._put(self.place, x, -1)
            touched.add(p)
            return True
        p, q = self.before[x], self.after[x]
        if self.size <= 2:
            return False
        if self.options[x] != ((),):
            if self.options[p] != ((),):
                return False
            self._set_options(p, self.options[x])
            self._put(self.options, x, ((),))
        self._put(self.after, p, q)
        self._put(self.before, q, p)
        self._put(self.after, x, -1)
        self._put(self.before, x, -1)
        touched.update((p, x))
        self.size -= 1
        return True

    def _insert(self, x: int, y: int, how: float, touched: set[int]) -> bool:
        """Put a removed silo next to `y`: in its path, in the core, or as an option of its own."""
        p = self.place[y]
        if p >= 0:
            touched.add(p)
            options = list(self.options[p])
            if how < 0.6:
                k = next(k for k, path in enumerate(options) if y in path)
                at = options[k].index(y) + (how < 0.3)
                options[k] = (*options[k][:at], x, *options[k][at:])
            else:
                options.append((x,))
            self._set_options(p, tuple(options))
            return True
        p = y if how < 0.5 else self.before[y]
        touched.add(p)
        how = 2 * how % 1
        if how < 0.5:
            kept = self.options[p]
            if how < 0.2 and kept != ((),):
                k = int(how * 5 * len(kept))
                longer = (x, *kept[k]) if p == y else (*kept[k], x)
                self._set_options(p, (*kept[:k], longer, *kept[k + 1 :]))
                return True
            self._set_options(p, (*kept, (x,)))
            return True
        q = self.after[p]
        self._put(self.after, p, x)
        self._put(self.before, x, p)
        self._put(self.after, x, q)
        self._put(self.before, q, x)
        self.size += 1
        touched.add(x)
        if how < 0.75 and self.options[p] != ((),):
            self._set_options(x, self.options[p])
            self._put(self.options, p, ((),))
        return True

    def _relocate(self, x: int, y: int, touched: set[int]) -> bool:
        """Move all detours behind `x` to the place behind `y`."""
        p = x if self.place[x] < 0 else self.place[x]
        q = y if self.place[y] < 0 else self.place[y]
        if p == q or self.options[p] == ((),) or self.options[q] != ((),):
            return False
        self._set_options(q, self.options[p])
        self._put(self.options, p, ((),))
        touched.update((p, q))
        return True
