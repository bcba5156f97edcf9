"""Search over circles of silos with mutually exclusive detours."""

import math

import numpy as np

from topologies.connectivity import Connectivity
from topologies.designers.best_circle import TIE, Circle
from topologies.workload import Workload

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
    temperature: float,
    criterion: str = "paper",
) -> list[tuple[int, int]]:
    """Arcs of a circle with detours whose cycle time is at most the tour's.

    Parameters
    ----------
    tour : list of int
        At least 4 silos in a circle of pairs that can talk: the structure to begin with.
    steps : int
        Moves tried.
    temperature : float
        First temperature of the annealing, in cycle times; lower for more than `UNSCALED_SILOS` silos.
    criterion : {"paper", "serialized", "all"}
        The closed form that counts, as for `best`.

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
    the places touched, and the core links that they cross under ``all``). Simulated annealing on `f` at the best
    `tau` so far; an arc that needs `tau` or longer for one model, and each crossing of a core link that it has no time
    for, adds a penalty where the criterion asks for them, so that a structure is better exactly if it has none and
    ``f(tau) < 0``.
    """
    circle = _MovingCircle(graph, work, tour, criterion)
    circle.start()
    ranks = np.argsort(circle.closeness, axis=1, kind="stable")[:, :NEAR]
    near = [[y for y in row if np.isfinite(circle.closeness[x, y])] for x, row in enumerate(ranks.tolist())]
    best = circle.arcs()
    ratio = math.log(COLD / temperature)
    # `f` is a sum over the core, so that the noise of a temperature grows with the number of silos.
    scale = min(1.0, UNSCALED_SILOS / graph.silos)
    rng = np.random.default_rng(seed)
    for start in range(0, steps, 1000):
        draws = rng.random((min(1000, steps - start), 6)).tolist()
        heat = scale * temperature * circle.tau * math.exp(ratio * start / steps)
        for draw in draws:
            if circle.step(near, heat, draw) and circle.violations == 0 and circle.excess < -TIE * circle.tau:
                circle.lower()
                best = circle.arcs()
    return best


class _MovingCircle(Circle):
    """A circle that moves one silo, or one place's detours, at a time."""

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
        if done and self._accept(touched, -heat * math.log(1 - draw[5])):
            return True
        for values, index, value in reversed(self.journal):
            values[index] = value
        self.size = size
        return False

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
        if self.options[p] == ((),) or self.options[q] != ((),):
            return False
        self._set_options(q, self.options[p])
        self._put(self.options, p, ((),))
        touched.update((p, q))
        return True
