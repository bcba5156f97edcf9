"""Links raised one after the other, at each step those with the best gain per price."""

import math

import numpy as np

from topologies.analysis.upgrade_terms import Circuit, PricedSet, UpgradeTerms, total_price
from topologies.arrays import BoolArray, FloatArray
from topologies.howard import RELATIVE_NOISE


def greedy_steps(terms: UpgradeTerms, prices: FloatArray, budget: float) -> list[PricedSet]:
    """Sets of links, each with some more than the one before, until nothing affordable lowers the cycle time.

    Parameters
    ----------
    terms : UpgradeTerms
    prices : ndarray, shape (links,)
        Of each link, >= 0.
    budget : float
        Most that all may cost.

    Returns
    -------
    list of PricedSet
        The first one raises nothing.

    Notes
    -----
    A link alone gains nothing where others limit the same arc as much, or where another circuit is as slow. So a step
    begins with the links that limit one arc of the critical circuit, and as long as the cycle time stays, takes in the
    cheapest such links of the next critical circuit. Time O(length of the critical circuit) cycle times for each step
    and circuit that is as slow.
    """
    nothing = np.zeros(len(terms.links), dtype=np.bool_)
    value, circuit = terms.critical(nothing)
    steps = [PricedSet(raised=nothing, price=0.0, cycle_time_s=value)]
    while True:
        now = steps[-1]
        best: tuple[float, float, float] | None = None
        for start in limiting_groups(terms, circuit, now.raised):
            found = _lowered(terms, prices, budget, now, start)
            if found is None:
                continue
            step, at = found
            gain, price = now.cycle_time_s - step.cycle_time_s, step.price - now.price
            rank = (gain / price if price > 0 else math.inf, gain, -price)
            if best is None or rank > best:
                best, chosen, next_circuit = rank, step, at
        if best is None:
            return steps
        steps.append(chosen)
        circuit = next_circuit


def limiting_groups(terms: UpgradeTerms, circuit: Circuit, raised: BoolArray) -> list[tuple[int, ...]]:
    """Links that limit each item of a circuit; each group once, in the order of the links."""
    return sorted({group for item in circuit.items if (group := terms.binding(item, raised))})


def _lowered(
    terms: UpgradeTerms, prices: FloatArray, budget: float, now: PricedSet, start: tuple[int, ...]
) -> tuple[PricedSet, Circuit] | None:
    """The step that raises some links, and as many more as it takes; None where that is too dear, or is no help."""
    raised, group = now.raised.copy(), start
    while True:
        raised[list(group)] = True
        price = total_price(prices, raised)
        if price > budget * (1 + RELATIVE_NOISE):
            return None
        value, circuit = terms.critical(raised)
        if value < now.cycle_time_s * (1 - RELATIVE_NOISE):
            return PricedSet(raised=raised, price=price, cycle_time_s=value), circuit
        groups = limiting_groups(terms, circuit, raised)
        if not groups:
            return None
        group = min(groups, key=lambda links: math.fsum(prices[list(links)].tolist()))
