"""What is said of upgrades: what to buy, why, and how sure it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scenarios.config.network import idle_links
from scenarios.config.quantities import format_interval, format_rate, format_s, rounded_up
from scenarios.config.simulation import SimulationConfig
from scenarios.config.upgrade import UpgradeConfig
from scenarios.report.closed_forms import forms_note
from scenarios.report.engine_note import engine_note
from scenarios.report.tables import note_lines
from scenarios.simulation.quick import QuickSimulation
from scenarios.studies.explain import beyond_paper
from scenarios.studies.explain_periodic import beyond_paper_periodic
from topologies import Overlay, PeriodicOverlay
from topologies.analysis.link_prices import LinkPrices
from topologies.analysis.upgrade_links import TWICE, UpgradeLink
from topologies.analysis.upgrade_sets import SAME, ProvenSet, is_affordable
from topologies.analysis.upgrade_terms import PricedSet, UpgradeTerms
from topologies.arrays import FloatArray
from topologies.wrapping import listed, wrapped

BUDGETS = 20
"""With prices, budgets that are looked at: a frontier may have more sets than a table."""
_MOST_NAMES, _MOST_RAISED = 3, 8
"""Links that a note names, and those that the caption does; all are in the table."""
_BY = {"paper": "by paper", "serialized": "by serialized", "load": "by the larger of paper and load"}
_MUCH = 0.9
"""Part of the gain in closed form from which on the simulated one needs no remark."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Offer:
    """Links for sale that matter, with their prices, and the names of those without a price that would matter."""

    terms: UpgradeTerms
    prices: FloatArray
    price_list: LinkPrices | None
    unpriced: tuple[str, ...]

    @property
    def currency(self) -> str:
        """Of the prices; empty where none is known."""
        return "" if self.price_list is None else self.price_list.currency


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Step:
    """A set of links, the overlay on the network where they are raised, and its simulation."""

    proven: ProvenSet
    links: tuple[UpgradeLink, ...]
    overlay: Overlay | PeriodicOverlay
    simulated: QuickSimulation

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the links."""
        return tuple(link.name for link in self.links)

    @property
    def cycle_time_s(self) -> float:
        """Cycle time by the closed form that the set was chosen by."""
        return self.proven.found.cycle_time_s


def chosen_by(config: UpgradeConfig) -> str:
    """The closed form that sets are chosen by, of which one name stands for two."""
    return "paper or load" if config.by == "load" else config.by


def raised_how(config: UpgradeConfig) -> str:
    """``to twice their capacity``."""
    if config.to_bps is not None:
        return f"to {format_rate(config.to_bps)}"
    times = TWICE if config.factor is None else config.factor
    return f"to {'twice' if times == TWICE else f'{times:g} times'} their capacity"


def price_text(price: float) -> str:
    """An amount of money: to the hundredth, below 1 to three digits."""
    if price >= 1e12:
        return f"{price:.4g}"
    if price == int(price):
        return f"{price:,.0f}"
    return f"{price:,.2f}" if price >= 1 else f"{price:.3g}"


def _enough(price: float) -> float:
    """The least amount as `price_text` shows it that a price is within, so that a budget of it buys the set."""
    if 1 <= price < 1e12:
        return rounded_up(price, significant=3 + math.floor(math.log10(price)))
    return rounded_up(price, significant=3)


def headline(
    offer: Offer,
    config: UpgradeConfig,
    steps: Sequence[Step],
    *,
    wanted: ProvenSet | None,
    more: ProvenSet | None,
) -> list[str]:
    """What to buy and what that gains, in lines of 80 columns.

    Parameters
    ----------
    offer : Offer
    config : UpgradeConfig
    steps : sequence of Step
    wanted : ProvenSet or None
        The cheapest set with the wanted cycle time, if one is wanted.
    more : ProvenSet or None
        The cheapest set that is faster than the last step; None where there is none.

    Returns
    -------
    list of str
    """
    first, last = steps[0], steps[-1]
    kind, by = first.overlay.kind, chosen_by(config)
    priced = "" if offer.price_list is None else ", priced per added Gbps"
    sentences = [
        f"{kind}: links are raised {raised_how(config)}{priced}; arcs and routes stay. A round takes "
        f"{format_s(first.cycle_time_s)} ({by}){_simulated_time(first)}."
    ]
    if last.links:
        paid = "" if offer.price_list is None else f" for {_money(offer, last.proven.found.price)}"
        sentences.append(
            f"Raise {some(last.names, _MOST_RAISED)}{paid}: a round then takes {format_s(last.cycle_time_s)}, "
            f"{format_s(first.cycle_time_s - last.cycle_time_s)} less{_simulated_gain(first, last)}."
        )
    elif wanted is not None:
        sentences.append(f"This is no more than {config.cycle_time}: nothing need be raised.")
    if wanted is None:
        sentences += [_proof(offer, config, last), _end(offer, last, more)]
    elif last.links:
        sentences.append(_price_proof(offer, config, wanted))
    return [line for sentence in sentences if sentence for line in wrapped(sentence)]


def _simulated_time(step: Step) -> str:
    """The simulated cycle time, after that of a closed form."""
    simulated_s = step.simulated.cycle_time_s
    return "" if simulated_s is None else f", simulated {format_s(simulated_s)}"


def _simulated_gain(first: Step, last: Step) -> str:
    """The simulated cycle time, and what that is below the first one."""
    before_s, after_s = first.simulated.cycle_time_s, last.simulated.cycle_time_s
    if before_s is None or after_s is None:
        return ""
    change = "less" if after_s <= before_s else "more"
    return f"; simulated {format_s(after_s)}, {format_s(abs(before_s - after_s))} {change}"


def _money(offer: Offer, price: float) -> str:
    """A price with its currency."""
    return f"{price_text(price)} {offer.currency}".strip()


def _price_proof(offer: Offer, config: UpgradeConfig, wanted: ProvenSet) -> str:
    """How sure the set is the cheapest with the wanted cycle time; nothing where it costs nothing."""
    if not wanted.found.price:
        return ""

    def less(price: float) -> str:
        if offer.price_list is None:
            return f"of fewer than {_links(round(price))}"
        return f"for less than {_money(offer, price)}"

    reaches = f"comes to {config.cycle_time} ({chosen_by(config)})"
    if wanted.is_proven:
        return f"Proven: no set {less(wanted.found.price)} {reaches}."
    known = f"; none {less(wanted.bound)} does" if wanted.bound > 0 else ""
    return f"Not proven: no set {less(wanted.found.price)} that {reaches} was found{known}."


def _proof(offer: Offer, config: UpgradeConfig, last: Step) -> str:
    """How sure the set is the best for the budget; nothing where no link matters."""
    proven, by = last.proven, chosen_by(config)
    assert config.budget is not None
    if not len(offer.prices):
        return ""
    least = float(offer.prices.min())
    if not is_affordable(least, config.budget):
        cheapest = offer.terms.links[int(offer.prices.argmin())].name
        if offer.price_list is None:
            return "A budget of 0 links raises nothing."
        return (
            f"{_money(offer, config.budget)} buys no link that matters: the cheapest, {cheapest}, costs "
            f"{_money(offer, _enough(least))}."
        )
    what = (
        f"for at most {_money(offer, config.budget)}"
        if config.prices is not None
        else f"of at most {_links(int(config.budget))}"
    )
    if proven.is_proven:
        return f"Proven: no set {what} comes below {format_s(proven.found.cycle_time_s)} ({by})."
    return (
        f"Not proven: no set {what} comes below {format_s(proven.bound)} ({by}), and none below "
        f"{format_s(proven.found.cycle_time_s)} was found."
    )


def _end(offer: Offer, last: Step, more: ProvenSet | None) -> str:
    """What the next gain would cost, or that there is none."""
    if more is None:
        if not last.overlay.routes:
            return "One silo sends nothing: there is no link to raise."
        if not last.links:
            return "No link that can be bought holds anything up: raising all of them gains nothing."
        if offer.unpriced:
            return (
                "No other link with a price would gain anything more; --factor and --to raise links further."
            )
        further = "" if offer.price_list is None else ", at any price"
        return f"No other link would gain anything more{further}; --factor and --to raise links further."
    price = more.found.price
    least = "" if more.is_proven else " at most"
    cost = (
        f"has{least} {_links(round(price))}"
        if offer.price_list is None
        else f"costs{least} {_money(offer, _enough(price))}"
    )
    return f"The cheapest set that is faster {cost}."


def some(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return listed([*names[:most], f"{more} more"] if more > 0 else names)


def _links(count: int) -> str:
    """``3 links``."""
    return f"{count} link{'' if count == 1 else 's'}"


def notes(
    offer: Offer,
    config: UpgradeConfig,
    simulation: SimulationConfig,
    steps: Sequence[Step],
    rows: Sequence[Mapping[str, object]],
    unit: str,
    *,
    greedy: Sequence[PricedSet],
    singles: Sequence[tuple[str, float]],
    left_out: Sequence[str] = (),
) -> str:
    """Lines below the table of `scenarios.studies.upgrade.upgrade_table`."""
    graph = steps[0].overlay.graph
    sentences = (
        f"gain: what all links raised so far take off a round, {_BY[config.by]}, and simulated "
        f"({simulation.sharing}, {simulation.queueing}). raised: beside the links of the row above. Each link is "
        "raised once, a core link in both directions.",
        *_single_notes(steps, singles),
        *_greedy_note(offer, steps, greedy),
        *_simulation_notes(config, steps, rows),
        *_price_notes(offer, steps),
        *left_out,
        *graph.underlay.notes,
        *idle_links(graph),
        *engine_note((_links(len(step.links)), step.simulated.engine) for step in steps),
    )
    return f"{forms_note(unit, rows)}\n{note_lines(*sentences)}"


def _single_notes(steps: Sequence[Step], singles: Sequence[tuple[str, float]]) -> list[str]:
    """Which links gain most alone; or that none does, and which do together."""
    first = steps[0]
    if not singles:
        if len(steps) < 2:
            return []
        return [
            "No link gains anything alone, as others limit the same arc as much or another circuit or link is as slow; "
            f"{some(steps[1].names, _MOST_RAISED)}, for instance, must be raised together."
        ]
    named = [f"{name} {format_s(first.cycle_time_s - value)}" for name, value in singles]
    return [f"Alone, these take most off a round: {some(named)}. All others gain nothing alone."]


def _greedy_note(offer: Offer, steps: Sequence[Step], greedy: Sequence[PricedSet]) -> list[str]:
    """What is lost where the best link, or links that are needed together, are raised one after the other."""
    best_s, greedy_s = steps[-1].cycle_time_s, greedy[-1].cycle_time_s
    if len(steps) < 2 or greedy_s <= best_s * (1 + SAME):
        return []
    most = "most" if offer.price_list is None else "most for their price"
    return [
        f"Greedy, each time with the links that gain {most}, one comes to {format_s(greedy_s)} for as much."
    ]


def _simulation_notes(
    config: UpgradeConfig, steps: Sequence[Step], rows: Sequence[Mapping[str, object]]
) -> list[str]:
    """Where the simulation does not confirm the closed form."""
    why_not = dict.fromkeys(step.simulated.why_not for step in steps if step.simulated.why_not)
    said = [f"Not simulated: {why}." for why in why_not]
    estimated = [
        step.simulated for step in steps if step.simulated.cycle_time_s and not step.simulated.is_exact
    ]
    if estimated:
        known = [found.half_width_s for found in estimated if found.half_width_s is not None]
        wide = max(estimated, key=lambda found: found.half_width_s or 0.0)
        interval = (
            f"the widest 95 % interval is {format_interval(wide.cycle_time_s or 0.0, wide.half_width_s or 0.0)}"
            if len(known) == len(estimated)
            else "there are too few rounds for an interval"
        )
        said.append(f"~: estimated from the last rounds, which show no period; {interval}.")
    first, last, by = steps[0], steps[-1], chosen_by(config)
    idle = [
        _links(len(step.links))
        for step, row in zip(steps, rows, strict=True)
        if row["gains_nothing_simulated"]
    ]
    if idle:
        said.append(
            f"Simulated, {some(idle)} gain nothing over the row above: do not count on what {by} says of them."
        )
    before_s, after_s = first.simulated.cycle_time_s, last.simulated.cycle_time_s
    if before_s is not None and after_s is not None:
        gain_s = first.cycle_time_s - last.cycle_time_s
        if before_s - after_s < _MUCH * gain_s and (why := _beyond_paper(last.overlay)):
            said.append(f"Simulated, all of these links gain less than {by} says. {why}")
    if config.by != "load" and any(row["paper_below_load"] for row in rows):
        said.append(
            "--by load chooses links by the larger of paper and load, which is nearer to real links here."
        )
    return said


def _beyond_paper(overlay: Overlay | PeriodicOverlay) -> str:
    """What `paper` leaves out; empty where nothing."""
    if isinstance(overlay, PeriodicOverlay):
        return beyond_paper_periodic(overlay)
    return beyond_paper(overlay)


def _price_notes(offer: Offer, steps: Sequence[Step]) -> list[str]:
    """Where prices come from, which links have none, and that there may be more sets."""
    if offer.price_list is None:
        return []
    said = [
        "total price: of all links raised so far, the price per Gbps times the Gbps added to each; a core link's "
        "counts once, for both directions.",
        offer.price_list.note,
    ]
    if offer.unpriced:
        said.append(f"Without a price, and so not for sale: {some(offer.unpriced)}.")
    prices = [step.proven.found.price for step in steps]
    if any(0 < more - less <= prices[-1] / BUDGETS * (1 + SAME) for less, more in pairwise(prices)):
        said.append(
            "Of sets whose prices differ by less than a twentieth of the highest one, some may be left out."
        )
    return said
