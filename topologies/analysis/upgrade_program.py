"""Integer program of the links to raise, over the circuits found so far."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from topologies.analysis.resources import EQUAL
from topologies.analysis.upgrade_terms import Circuit, UpgradeTerms
from topologies.arrays import BoolArray, FloatArray
from topologies.integer_program import solve_program

NODES = 5000
"""Most branch-and-bound nodes of a program: a count, no time, so that every machine finds the same sets."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Answer:
    """Answer of a program.

    Attributes
    ----------
    raised : ndarray of bool, shape (links,), or None
        None where the search gave up without a set, or there is none.
    bound : float
        No set has a smaller objective; infinite where there is no set.
    """

    raised: BoolArray | None
    bound: float


def needs(terms: UpgradeTerms) -> list[tuple[int, int]]:
    """Pairs of links of which the first helps only where the second is raised, too.

    Returns
    -------
    list of (int, int)
        Both ways round where two links only help together.

    Notes
    -----
    On each item of the first link the second has a term that is as large. Time O(terms * links of an item).
    """
    of_item: dict[int, dict[int, float]] = {}
    of_link: dict[int, list[int]] = {}
    for item, link, term_s in zip(
        terms.item.tolist(), terms.link.tolist(), terms.term_s.tolist(), strict=True
    ):
        known = of_item.setdefault(item, {})
        known[link] = max(term_s, known.get(link, 0.0))
        of_link.setdefault(link, []).append(item)
    found = []
    for link, items in sorted(of_link.items()):
        shortest = min(items, key=lambda item: len(of_item[item]))
        for other in sorted(of_item[shortest]):
            if other != link and all(
                of_item[item].get(other, 0.0) >= of_item[item][link] * (1 - EQUAL) for item in items
            ):
                found.append((link, other))
    return found


class UpgradeProgram:
    """Sets of links that are best by some circuits: a relaxation, since all circuits count.

    Parameters
    ----------
    terms : UpgradeTerms
    prices : ndarray, shape (links,)
        Of each link, >= 0.

    Notes
    -----
    With ``x`` in {0, 1} for each link, ``t`` for each item and `tau`: ``tokens * tau >= fixed + sum of t`` for each
    circuit, and for each item with terms ``a >= b >= ...`` over its floor ``f``, of the links ``x_a, x_b, ...``

        t >= f,  t >= a - (a - f) x_a,  t >= b - (b - f) x_b, ...,  t >= a - (a - b) x_a - (b - ...) x_b - ...

    which say the same of whole ``x``; the last one is the mixing inequality of Günlük and Pochet (2001), which makes
    the relaxation tighter. Of two links that only help together one variable is left, see `needs`. Solved by HiGHS.
    """

    def __init__(self, terms: UpgradeTerms, prices: FloatArray) -> None:
        self._terms = terms
        self._prices = prices
        count = len(terms.links)
        pairs = set(needs(terms))
        group = list(range(count))
        for link, other in sorted(pairs):
            if other < link and (other, link) in pairs:
                group[link] = group[other]
        _, self._group = np.unique(np.array(group, dtype=np.int64), return_inverse=True)
        self._size = int(self._group.max(initial=-1)) + 1
        self._first = {
            (a, b) for link, other in pairs if (a := int(self._group[link])) != (b := int(self._group[other]))
        }

    def solve(
        self,
        circuits: Collection[Circuit],
        objective: Literal["cycle_time", "price", "order"],
        *,
        most_price: float,
        unit_s: float,
        most_s: float = np.inf,
        too_dear: Sequence[BoolArray] = (),
        too_slow: Sequence[BoolArray] = (),
    ) -> Answer:
        """Best set of a price and a cycle time that are at most so high.

        Parameters
        ----------
        circuits : collection of Circuit
        objective : {"cycle_time", "price", "order"}
            The last: as few links as can be, and of these, those that come first.
        most_price, most_s : float
        unit_s : float
            A cycle time as large as the one that is sought: the solver's tolerances are a millionth of it.
        too_dear, too_slow : sequence of ndarray of bool, shape (links,)
            Sets that the tolerances would allow: no set with all links of the former, or none but links of the latter.
        """
        unit_s = unit_s or 1.0
        items = sorted({item for circuit in circuits for item in circuit.items})
        place = {item: 1 + k for k, item in enumerate(items)}
        first_x = 1 + len(items)
        columns = first_x + self._size
        rows: list[dict[int, float]] = []
        least: list[float] = []
        for circuit in circuits:
            rows.append({0: float(circuit.tokens)} | {place[item]: -1.0 for item in circuit.items})
            least.append(circuit.fixed_s / unit_s)
        for item in items:
            for row, bound in self._item_rows(item, place[item], first_x, unit_s):
                rows.append(row)
                least.append(bound)
        for a, b in sorted(self._first):
            rows.append({first_x + b: 1.0, first_x + a: -1.0})
            least.append(0.0)
        for raised in too_dear:
            groups = np.unique(self._group[raised]).tolist()
            rows.append({first_x + g: -1.0 for g in groups})
            least.append(1.0 - len(groups))
        for raised in too_slow:
            rows.append({first_x + g: 1.0 for g in np.unique(self._group[~raised]).tolist()})
            least.append(1.0)
        prices = np.bincount(self._group, self._prices, self._size)
        unit_price = prices.max(initial=0.0) or 1.0
        if np.isfinite(most_price):
            rows.append({first_x + g: -float(p) / unit_price for g, p in enumerate(prices.tolist())})
            least.append(-most_price / unit_price)
        low, high = np.zeros(columns), np.full(columns, np.inf)
        low[1:first_x] = self._terms.floor_s[items] / unit_s
        high[0] = most_s / unit_s
        high[first_x:] = prices <= most_price
        cost = np.zeros(columns)
        if objective == "cycle_time":
            cost[0] = 1.0
        elif objective == "price":
            cost[first_x:] = prices / unit_price
        else:
            members = np.bincount(self._group, minlength=self._size)
            cost[first_x:] = members + np.arange(self._size) / max(1, self._size) ** 2
        whole = np.zeros(columns)
        whole[first_x:] = 1
        rule = (_matrix(rows, columns), np.array(least), np.inf)
        result = solve_program(
            cost, [rule], integrality=whole, low=low, high=high, nodes=NODES, mip_rel_gap=0.0
        )
        scale = {"cycle_time": unit_s, "price": unit_price, "order": 1.0}[objective]
        if result.status == 2:
            return Answer(raised=None, bound=np.inf)
        bound = -np.inf if result.mip_dual_bound is None else float(result.mip_dual_bound) * scale
        if result.x is None:
            return Answer(raised=None, bound=bound)
        return Answer(raised=(result.x[first_x:] > 0.5)[self._group], bound=bound)

    def _item_rows(
        self, item: int, column: int, first_x: int, unit_s: float
    ) -> list[tuple[dict[int, float], float]]:
        """Rows of an item, and what each is at least."""
        terms = self._terms
        first, last = np.searchsorted(terms.item, (item, item + 1))
        floor = float(terms.floor_s[item]) / unit_s
        heights = (terms.term_s[first:last] / unit_s).tolist()
        places = (first_x + self._group[terms.link[first:last]]).tolist()
        # A group's largest term on the item is that of all of it.
        largest: dict[int, float] = {}
        for place, height in zip(places, heights, strict=True):
            largest.setdefault(place, height)
        rows = [({column: 1.0, place: height - floor}, height) for place, height in largest.items()]
        if len(largest) > 1:
            steps = [*largest.values(), floor]
            mixed = {place: steps[k] - steps[k + 1] for k, place in enumerate(largest)}
            rows.append(({column: 1.0} | mixed, steps[0]))
        return rows


def _matrix(rows: Sequence[dict[int, float]], columns: int) -> csr_array:
    """Sparse matrix of rows given by column."""
    starts = np.cumsum([0, *map(len, rows)])
    places = np.array([column for row in rows for column in row], dtype=np.int64)
    values = np.array([value for row in rows for value in row.values()], dtype=np.float64)
    return csr_array((values, places, starts), shape=(len(rows), columns))
