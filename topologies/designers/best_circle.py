"""Circles of silos with mutually exclusive detours: what they cost at a given cycle time."""

import itertools
import math
import sys
from collections.abc import Iterator
from typing import Any

from topologies.connectivity import Connectivity
from topologies.designers.best_costs import CRITERIA, ArcCosts, Crossings
from topologies.workload import Workload

Path = tuple[int, ...]

PENALTY = 0.1
"""Penalty of a late arc, or of one crossing too many, in the annealing, in cycle times."""
TIE = 1e-9
"""Relative difference below which cycle times are equal."""


class Circle:
    """Core, options and their costs at the present `tau`; changes are journalled so that they can be undone."""

    def __init__(self, graph: Connectivity, work: Workload, tour: list[int], criterion: str) -> None:
        silos = graph.silos
        self.serialized, self.shared = CRITERIA[criterion]
        costs = ArcCosts(graph, work)
        self.closeness, self.floor = costs.closeness, costs.compute_s
        self.up, self.down, self.core = costs.up, costs.down, costs.core
        self.fixed, self.single, self.sending = costs.fixed, costs.single, costs.sending
        self.crossings = Crossings(graph, work)
        self.after = [-1] * silos
        self.before = [-1] * silos
        for i, j in zip(tour, tour[1:] + tour[:1], strict=True):
            self.after[i], self.before[j] = j, i
        self.options: list[tuple[Path, ...]] = [((),)] * silos
        self.place = [-1] * silos  # the core silo whose options hold this one
        self.size = silos  # of the core
        self.tau = costs.slowest_s
        self.cost = [0.0] * silos
        self.late = [0] * silos  # arcs that take `tau` or longer for one model, by place
        self.crossed: list[tuple[int, ...]] = [()] * silos  # core links of a place's arcs
        self.load = [0] * len(self.crossings.busy_s)
        self.spare = [0] * len(self.load)  # models that a link can carry in less than `tau`
        self.excess: float  # both are set by `lower`
        self.violations: int
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

    def _sendings(self, p: int) -> Iterator[float]:
        """Transmission times of the arcs at the place behind `p`."""
        q, options = self.after[p], self.options[p]
        up, down = len(options) * self.up[p], len(options) * self.down[q]
        for path in options:
            if path:
                x, y = path[0], path[-1]
                yield max(up, self.down[x], self.core[p][x])
                yield max(self.up[y], down, self.core[y][q])
                for a, b in itertools.pairwise(path):
                    yield self.sending[a][b]
            else:
                yield max(up, down, self.core[p][q])

    def _late_arcs(self, p: int) -> int:
        """Arcs at the place behind `p` that cannot finish a model in less than `tau`."""
        if not self.serialized or self.after[p] < 0:
            return 0
        below = self.tau * (1 - TIE)
        return sum([time >= below for time in self._sendings(p)])

    def _links(self, p: int) -> tuple[int, ...]:
        """Core links that the arcs at the place behind `p` cross, once for each arc."""
        if not self.shared or self.after[p] < 0:
            return ()
        return tuple([link for arc in self._place_arcs(p) for link in self.crossings.links(*arc)])

    def _shift(self, links: tuple[int, ...], step: int) -> int:
        """Add or remove crossings; returns the growth of those too many."""
        more, load, spare = 0, self.load, self.spare
        for link in links:
            before = load[link]
            after = load[link] = before + step
            if before > spare[link] or after > spare[link]:
                more += step
        return more

    def start(self) -> None:
        """Count the crossings of the given structure, and set `tau`."""
        for p in range(len(self.after)):
            self.crossed[p] = self._links(p)
            self._shift(self.crossed[p], 1)
        self.lower()

    def lower(self) -> None:
        """Set `tau` to the structure's own cycle time (Newton's method, exact after finitely many steps)."""
        hubs = [p for p, q in enumerate(self.after) if q >= 0]
        floor = self.floor
        if self.serialized:
            floor = max(floor, *(time for p in hubs for time in self._sendings(p)))
        if self.shared:
            floor = max(
                floor,
                max(
                    (n * s for n, s in zip(self.load, self.crossings.busy_s.tolist(), strict=True)),
                    default=0.0,
                ),
            )
        while True:
            worst = {p: self._worst(p) for p in hubs}
            for p, (cost, _) in worst.items():
                self.cost[p] = cost
            self.excess = math.fsum(cost for cost, _ in worst.values())
            tau = max(floor, self.tau + self.excess / sum(arcs for _, arcs in worst.values()))
            if abs(tau - self.tau) <= 1e-13 * self.tau:
                break
            self.tau = tau
        for p in hubs:
            self.late[p] = self._late_arcs(p)
        self.violations = sum(self.late[p] for p in hubs)
        if self.shared:
            below = self.tau * (1 - TIE)
            self.spare = [
                math.ceil(below / s) - 1 if s > 0 else sys.maxsize for s in self.crossings.busy_s.tolist()
            ]
            self.violations += sum(max(0, n - m) for n, m in zip(self.load, self.spare, strict=True))

    def arcs(self) -> list[tuple[int, int]]:
        """All arcs of the structure."""
        return [arc for p, q in enumerate(self.after) if q >= 0 for arc in self._place_arcs(p)]

    def _place_arcs(self, p: int) -> Iterator[tuple[int, int]]:
        """Arcs at the place behind `p`."""
        for path in self.options[p]:
            yield from itertools.pairwise((p, *path, self.after[p]))

    def _accept(self, touched: set[int], allowance: float) -> bool:
        """Keep the change of these places if it raises the energy by less than the allowance."""
        places = [*touched]
        cost = [self._worst(p)[0] if self.after[p] >= 0 else 0.0 for p in places]
        change = sum(cost) - sum([self.cost[p] for p in places])
        late = [self._late_arcs(p) for p in places]
        violations = sum(late) - sum([self.late[p] for p in places])
        rerouted: list[tuple[int, tuple[int, ...]]] = []
        for p in places:
            links, before = self._links(p), self.crossed[p]
            if links != before:  # many changes leave a place's arcs as they were
                violations += self._shift(before, -1) + self._shift(links, 1)
                rerouted.append((p, links))
        energy = change + PENALTY * self.tau * violations
        if energy <= 0 or energy < allowance:
            for p, own_cost, own_late in zip(places, cost, late, strict=True):
                self.cost[p], self.late[p] = own_cost, own_late
            for p, links in rerouted:
                self.crossed[p] = links
            self.excess += change
            self.violations += violations
            return True
        for p, links in rerouted:
            self._shift(links, -1)
            self._shift(self.crossed[p], 1)
        return False

    def _set_options(self, p: int, options: tuple[Path, ...]) -> None:
        """Give the place behind `p` other options."""
        self._put(self.options, p, options)
        for path in options:
            for x in path:
                if self.place[x] != p:
                    self._put(self.place, x, p)
