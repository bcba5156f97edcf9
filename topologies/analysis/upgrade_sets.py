"""Which links to raise: the fastest set for a price, the cheapest for a cycle time, and the frontier of the two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from topologies.analysis.upgrade_greedy import greedy_steps, limiting_groups
from topologies.analysis.upgrade_program import Answer, UpgradeProgram
from topologies.analysis.upgrade_terms import Circuit, PricedSet, UpgradeTerms, total_price
from topologies.arrays import BoolArray, FloatArray
from topologies.howard import RELATIVE_NOISE

SAME = 1e-6
"""Relative difference below which two cycle times count as equal: the accuracy of the integer programs."""
PROGRAMS = 60
"""Most integer programs for one answer, each with the circuits of those before."""
_MORE = 8
"""Most circuits that are looked for after each program."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ProvenSet:
    """Links to raise, with the proof that no others are better.

    Attributes
    ----------
    found : PricedSet
    bound : float
        No affordable set has a smaller cycle time (of `UpgradeSearch.fastest`), or none that is as fast as wanted has a
        lower price (of `cheapest`), up to `SAME`.
    is_proven : bool
        Whether the set reaches this bound, so that it is optimal.
    """

    found: PricedSet
    bound: float
    is_proven: bool


class UpgradeSearch:
    """Finds sets of links, and remembers circuits and sets from one question to the next.

    Parameters
    ----------
    terms : UpgradeTerms
    prices : ndarray, shape (links,)
        Of each link, finite and >= 0.

    Notes
    -----
    The cycle time is the largest mean over all circuits, of which there are too many to list. So an integer program of
    some circuits finds the best set by these, whose objective is a bound; the cycle time of that set brings its
    critical circuit, and the program is solved again with it, until the bound is reached (cutting planes, as of
    Dantzig, Fulkerson, Johnson 1954). Where it is not within `PROGRAMS` programs, the best set that was seen and the
    bound are the answer; among those seen are all of `greedy_steps`. Of sets that are as fast the cheapest is taken, of
    these one of the fewest links, and of these the one whose links come first. Counts limit the search, not time, so
    that each machine with the same HiGHS finds the same sets. Time: a few integer programs for each answer, exponential
    in the number of links at worst; on networks of 87 silos and for budgets of 10 links, tenths of a second each.
    """

    def __init__(self, terms: UpgradeTerms, prices: FloatArray) -> None:
        self.terms = terms
        self.prices = prices
        self._one_price = bool(len(prices)) and bool((prices == prices[0]).all())
        self._program = UpgradeProgram(terms, prices)
        self._circuits: dict[Circuit, None] = {}
        self._cheapest: dict[float, ProvenSet] = {}
        self._seen: list[PricedSet] = []
        self.nothing = self._see(np.zeros(len(prices), dtype=np.bool_))
        self.everything = self._see(np.ones(len(prices), dtype=np.bool_))

    def greedy(self, budget: float) -> list[PricedSet]:
        """Steps of `greedy_steps`, which the search then knows of."""
        steps = greedy_steps(self.terms, self.prices, budget)
        self._seen += steps
        return steps

    def single(self) -> list[tuple[int, float]]:
        """Every link that lowers the cycle time alone, with the cycle time that it comes to, the fastest first.

        Returns
        -------
        list of (int, float)
            Index in `UpgradeTerms.links`, and seconds; equal ones in the order of the links.

        Notes
        -----
        Links that are not the only ones to limit some item of the critical circuit leave it, and so the cycle time, as
        it is: that is known without trying them. Time O(length of the critical circuit) cycle times.
        """
        nothing = self.nothing.raised
        groups = limiting_groups(self.terms, self.terms.critical(nothing)[1], nothing)
        found = []
        for (link,) in (group for group in groups if len(group) == 1):
            raised = nothing.copy()
            raised[link] = True
            value = self.terms.cycle_time_s(raised)
            if value < self.nothing.cycle_time_s * (1 - RELATIVE_NOISE):
                found.append((link, value))
        return sorted(found, key=lambda each: (each[1], each[0]))

    def fastest(self, budget: float) -> ProvenSet:
        """Set with the smallest cycle time that costs at most so much; see the notes of the class."""
        best, bound_s = self._fastest_seen(budget), self.everything.cycle_time_s
        too_slow: list[BoolArray] = []
        for _ in range(PROGRAMS):
            if best.cycle_time_s <= bound_s * (1 + SAME):
                break
            known = len(self._circuits)
            answer = self._ask("cycle_time", budget, best.cycle_time_s, too_slow=too_slow)
            if answer.raised is not None:
                self._see(answer.raised)
                best = self._fastest_seen(budget)
                if len(self._circuits) == known:
                    # Sets within it are slower still, and no better than the best.
                    too_slow.append(answer.raised)
            bound_s = max(bound_s, min(answer.bound, best.cycle_time_s))
        if best.cycle_time_s > bound_s * (1 + SAME):
            self.greedy(budget)
            best = self._fastest_seen(budget)
        is_proven = best.cycle_time_s <= bound_s * (1 + SAME)
        limit_s = best.cycle_time_s * (1 + SAME)
        found = self._first(self._cheaper(best, limit_s), limit_s)
        return ProvenSet(found=found, bound=found.cycle_time_s if is_proven else bound_s, is_proven=is_proven)

    def cheapest(self, wanted_s: float) -> ProvenSet | None:
        """Set with the lowest price that has at most such a cycle time; None where no set has."""
        if self.everything.cycle_time_s > wanted_s * (1 + RELATIVE_NOISE):
            return None
        if wanted_s not in self._cheapest:
            answer = self._find_cheapest(wanted_s)
            if not answer.is_proven:
                return answer  # asked again, there may be a better one: more has been seen by then
            self._cheapest[wanted_s] = answer
        return self._cheapest[wanted_s]

    def faster(self, than_s: float) -> ProvenSet | None:
        """Cheapest set whose cycle time is smaller by more than 2 `SAME`; None where there is none, as for 0 s."""
        return self.cheapest(than_s * (1 - 2 * SAME)) if than_s > 0 else None

    def _find_cheapest(self, wanted_s: float) -> ProvenSet:
        """Answer of `cheapest`, where there is one."""
        tolerance = SAME * self.prices.max(initial=0.0)
        best, least = self._least("price", wanted_s, np.inf)
        if best is None or best.price > least + tolerance:
            self.greedy(np.inf)
            best = min(
                (known for known in self._seen if known.cycle_time_s <= wanted_s * (1 + RELATIVE_NOISE)),
                key=lambda known: known.price,
            )
            best = self._cheaper(best, wanted_s)
        is_proven = best.price <= least + tolerance
        found = self._first(best, wanted_s)
        return ProvenSet(found=found, bound=found.price if is_proven else least, is_proven=is_proven)

    def frontier(self, budget: float, *, step: float = 0.0) -> Iterator[ProvenSet]:
        """Sets none of which is as slow and as dear as another, from the cheapest up to a budget.

        Parameters
        ----------
        budget : float
        step : float
            Least difference of two budgets that are looked at; 0 for all sets.

        Yields
        ------
        ProvenSet
            The first one raises nothing: the network as it is. The next one has the price 0, too, if links that cost
            nothing help.
        """
        asked, last = 0.0, self.fastest(0.0)
        if last.found.cycle_time_s < self.nothing.cycle_time_s * (1 - SAME):
            yield ProvenSet(found=self.nothing, bound=self.nothing.cycle_time_s, is_proven=True)
        else:
            last = replace(last, found=self.nothing)
        yield last
        while asked < budget and (after := self.faster(last.found.cycle_time_s)):
            price = after.found.price
            if after.is_proven and price > budget * (1 + RELATIVE_NOISE):
                return
            least = self.prices[self.prices > 0].min(initial=np.inf) if price <= asked else 0.0
            asked = min(budget, max(price, asked + max(step, least)))
            found = self.fastest(asked)
            if found.found.cycle_time_s < last.found.cycle_time_s * (1 - SAME):
                yield (last := found)

    def _see(self, raised: BoolArray) -> PricedSet:
        """Learn the cycle time of a set, its critical circuit, and that of some larger sets."""
        value, circuit = self.terms.critical(raised)
        found = PricedSet(raised=raised, price=total_price(self.prices, raised), cycle_time_s=value)
        self._seen.append(found)
        more = raised.copy()
        for _ in range(_MORE):
            self._circuits[circuit] = None
            raisable = np.isin(self.terms.item, circuit.items)
            if more[self.terms.link[raisable]].all():
                break
            more[self.terms.link[raisable]] = True
            circuit = self.terms.critical(more)[1]
        return found

    def _ask(
        self,
        objective: Literal["cycle_time", "price", "order"],
        most_price: float,
        unit_s: float,
        *,
        most_s: float = np.inf,
        too_slow: Sequence[BoolArray],
    ) -> Answer:
        """Answer of the program with a set that is affordable to the last digit."""
        too_dear: list[BoolArray] = []
        while True:
            answer = self._program.solve(
                self._circuits,
                objective,
                most_price=most_price,
                unit_s=unit_s,
                most_s=most_s,
                too_dear=too_dear,
                too_slow=too_slow,
            )
            if answer.raised is None or is_affordable(total_price(self.prices, answer.raised), most_price):
                return answer
            too_dear.append(answer.raised)

    def _least(
        self, objective: Literal["price", "order"], limit_s: float, most_price: float
    ) -> tuple[PricedSet | None, float]:
        """Best set that is as fast as that, if one was found, and a bound of its objective."""
        bound = 0.0
        too_slow: list[BoolArray] = []
        for _ in range(PROGRAMS):
            known = len(self._circuits)
            answer = self._ask(objective, most_price, limit_s, most_s=limit_s, too_slow=too_slow)
            bound = max(bound, answer.bound)
            if answer.raised is None:
                break
            found = self._see(answer.raised)
            if found.cycle_time_s <= limit_s * (1 + SAME):
                return found, bound
            if len(self._circuits) == known:
                too_slow.append(answer.raised)
        return None, bound

    def _fastest_seen(self, budget: float) -> PricedSet:
        """Fastest set that was seen and is affordable; of several that are as fast the cheapest."""
        affordable = [known for known in self._seen if is_affordable(known.price, budget)]
        return min(affordable, key=lambda known: (known.cycle_time_s, known.price))

    def _cheaper(self, best: PricedSet, limit_s: float) -> PricedSet:
        """The cheapest set that is as fast as that; `_first` finds it where all links have one price."""
        found = None if self._one_price else self._least("price", limit_s, best.price)[0]
        return found or best

    def _first(self, best: PricedSet, limit_s: float) -> PricedSet:
        """Of sets that are as fast as that and no dearer one of the fewest links, of these the one that comes first."""
        return self._least("order", limit_s, best.price)[0] or best


def is_affordable(price: float, budget: float) -> bool:
    """Whether a price is within a budget, up to rounding."""
    return price <= budget * (1 + RELATIVE_NOISE)
