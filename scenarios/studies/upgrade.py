"""Which links to buy: sets of links by price and cycle time, each confirmed by simulation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from scenarios.config.network import describe
from scenarios.config.quantities import digits, format_rate, format_s, in_unit, rounded_up
from scenarios.config.seed import check_seed
from scenarios.config.simulation import SimulationConfig
from scenarios.config.upgrade import UpgradeConfig
from scenarios.report.closed_forms import FORMS, form_fields
from scenarios.report.tables import Column, Table, cycle_time_columns
from scenarios.runtime.progress import bar
from scenarios.simulation.quick import QuickSimulation, quick_simulation, simulation_of
from scenarios.simulation.runner import job_of
from scenarios.studies.upgrade_text import (
    BUDGETS,
    Offer,
    Step,
    chosen_by,
    headline,
    notes,
    price_text,
    raised_how,
    some,
)
from topologies import InputError, Overlay, PeriodicOverlay
from topologies.analysis.link_prices import read_prices
from topologies.analysis.upgrade_links import upgrade_links, upgraded
from topologies.analysis.upgrade_sets import SAME, ProvenSet, UpgradeSearch
from topologies.analysis.upgrade_terms import PricedSet, UpgradeTerms
from topologies.errors import Field, first_names
from topologies.input_limits import MOST_SEARCHED_SILOS, check_count


def upgrade_table(
    overlay: Overlay | PeriodicOverlay,
    config: UpgradeConfig,
    simulation: SimulationConfig,
    *,
    rounds: int | None = None,
    seed: int,
    left_out: Sequence[str] = (),
) -> Table:
    """Sets of links to raise, from none up to the budget or to the wanted cycle time.

    Parameters
    ----------
    overlay : Overlay or PeriodicOverlay
        Its arcs, hub, weights and routes stay, or its states.
    config : UpgradeConfig
    simulation : SimulationConfig
        Its rounds do not count.
    rounds : int, optional
        Simulated rounds; by default as many as take a second or two.
    seed : int
        Of everything random.
    left_out : sequence of str
        What is said of what a scenario has and the study leaves out.

    Returns
    -------
    Table
        The network as it is, which all gains are over, then one row for each set that is the fastest for its price,
        the cheapest first: of price 0 where links that cost nothing help. The caption says what to buy.

    Raises
    ------
    InputError
        If there are more silos than `MOST_SEARCHED_SILOS`, the price list is wrong or has no price of a link that can
        be raised, all links have the capacity that they are to be raised to, the wanted cycle time cannot be reached,
        the overlay cannot be simulated, or it is a periodic one with rates of its own.
    """
    check_seed(seed)
    check_count(overlay.graph.silos, MOST_SEARCHED_SILOS, "silos")
    if rounds is not None or simulation != SimulationConfig(rounds=simulation.rounds):
        # What a user asks for must be possible; by default a simulation that is not is left out, with the reason.
        job_of(overlay, simulation, rounds=rounds or 1, seed=seed)
    offer = _offer(overlay, config)
    search = UpgradeSearch(offer.terms, offer.prices)
    wanted = None if config.wanted_s is None else _wanted(search, offer, config, config.wanted_s)
    sets = _sets(search, config, most=config.budget if wanted is None else wanted.found.price)
    more = search.faster(sets[-1].found.cycle_time_s)
    greedy = search.greedy(sets[-1].found.price)
    singles = [(offer.terms.links[link].name, value) for link, value in search.single()]
    steps = [_step(offer, proven, simulation, rounds=rounds, seed=seed) for proven in sets]
    rows = _rows(offer, steps)
    columns, unit = cycle_time_columns(rows, FORMS | {"simulated_s": "simulated"})

    def gain(seconds: float) -> str:
        return digits(in_unit(seconds, unit)) if seconds else "0"

    title = f"total\nprice\n({offer.currency})" if offer.currency else "total\nprice"
    return Table(
        caption="\n".join(
            (describe(overlay.graph, overlay.work), *headline(offer, config, steps, wanted=wanted, more=more))
        ),
        columns=(
            Column(key="links", title="links"),
            *([Column(key="total_price", title=title, show=price_text)] if config.prices is not None else []),
            *columns,
            Column(key="gain_s", title="gain", show=gain),
            Column(key="simulated_gain_s", title="simu-\nlated\ngain", show=gain),
            Column(key="change", title="raised", prose=True, least=16),
        ),
        rows=rows,
        notes=notes(
            offer, config, simulation, steps, rows, unit, greedy=greedy, singles=singles, left_out=left_out
        ),
        further={
            "kind": overlay.kind,
            "by": config.by,
            "raised_how": raised_how(config),
            "budget": config.budget,
            "wanted_s": config.wanted_s,
            "is_priced": offer.price_list is not None,
            "currency": offer.currency,
            "single_links": [
                {"link": name, "cycle_time_s": value, "gain_s": search.nothing.cycle_time_s - value}
                for name, value in singles
            ],
            "next_total_price": None if more is None else more.found.price,
            "greedy": [_plain(offer, step) for step in greedy],
            "without_price": list(offer.unpriced),
        },
        summaries=("change",),
    )


def _offer(overlay: Overlay | PeriodicOverlay, config: UpgradeConfig) -> Offer:
    """Links that can be bought, with their prices."""
    price_list = None if config.prices is None else read_prices(Path(config.prices), overlay.graph)
    links = upgrade_links(overlay, factor=config.factor, to_bps=config.to_bps)
    if not links:
        _check_capacity(overlay, config)
    price_of = {link: 1.0 if price_list is None else price_list.price(link) for link in links}
    for_sale = [link for link in links if price_of[link] is not None]
    if links and not for_sale:
        names = first_names(list(dict.fromkeys(link.name for link in links)))
        raise InputError(
            f"must price one or more of the links that the models of {overlay.kind} cross and that can be raised "
            f"{raised_how(config)}: {names}.",
            source=config.prices,
        )
    terms = UpgradeTerms.of(overlay, for_sale, config.by)
    matter = UpgradeTerms.of(overlay, links, config.by).links
    return Offer(
        terms=terms,
        prices=np.array([price_of[link] for link in terms.links], dtype=np.float64),
        price_list=price_list,
        unpriced=tuple(link.name for link in matter if price_of[link] is None),
    )


def _check_capacity(overlay: Overlay | PeriodicOverlay, config: UpgradeConfig) -> None:
    """Raise an error where links are to be raised to a capacity that all of them have."""
    links = upgrade_links(overlay)
    if config.to is None or not links:
        return
    least = min(links, key=lambda link: link.bps)
    raise InputError(
        f"must be > {format_rate(rounded_up(least.bps))}, the capacity of {least.name}: all links that the models of "
        f"{overlay.kind} cross have as much or more.",
        field=Field("to", value=config.to),
    )


def _wanted(search: UpgradeSearch, offer: Offer, config: UpgradeConfig, wanted_s: float) -> ProvenSet:
    """The cheapest set with the wanted cycle time."""
    cheapest = search.cheapest(wanted_s)
    if cheapest is None:
        least = format_s(rounded_up(search.everything.cycle_time_s))
        without_price = f"; not for sale without a price: {some(offer.unpriced)}" if offer.unpriced else ""
        with_all = f"with all links that can be bought raised {raised_how(config)}"
        raise InputError(
            f"must be >= {least} ({chosen_by(config)}): a round takes that "
            f"{with_all if offer.terms.links or offer.unpriced else 'whatever links are raised'}{without_price}.",
            field=Field("cycle_time", value=config.cycle_time),
        )
    return cheapest


def _sets(search: UpgradeSearch, config: UpgradeConfig, *, most: float | None) -> list[ProvenSet]:
    """The frontier up to a price, or to the wanted cycle time."""
    assert most is not None
    budget = min(most, search.everything.price)
    found: list[ProvenSet] = []
    with bar("sets of links", 1000) as advance:
        for proven in search.frontier(budget, step=0.0 if config.prices is None else budget / BUDGETS):
            found.append(proven)
            advance(round(1000 * proven.found.price / budget) if budget else 1000)
            if config.wanted_s is not None and proven.found.cycle_time_s <= config.wanted_s * (1 + SAME):
                break
    return found


def _step(
    offer: Offer, proven: ProvenSet, simulation: SimulationConfig, *, rounds: int | None, seed: int
) -> Step:
    """A set with the overlay on the network where it is raised, simulated."""
    links = tuple(offer.terms.links[k] for k in np.flatnonzero(proven.found.raised).tolist())
    overlay = upgraded(offer.terms.overlay, links) if links else offer.terms.overlay
    if rounds is None:
        simulated = quick_simulation(overlay, seed=seed, settings=simulation)
    else:
        title = f"{len(links)} links, "
        simulated = simulation_of(overlay, replace(simulation, rounds=rounds), seed=seed, title=title)
    return Step(proven=proven, links=links, overlay=overlay, simulated=simulated)


def _rows(offer: Offer, steps: Sequence[Step]) -> list[dict[str, object]]:
    """One row for each step."""
    # A CSV has no other place for the unit of its prices.
    unit = {} if offer.price_list is None else {"currency": offer.currency}
    rows: list[dict[str, object]] = []
    for place, step in enumerate(steps):
        first, above = steps[0], steps[max(0, place - 1)]
        names, before = step.names, above.names
        rows.append(
            {
                "links": len(step.links),
                "total_price": step.proven.found.price,
                **unit,
                "added_gbps": math.fsum(link.added_gbps for link in step.links),
                **form_fields(step.overlay.closed_forms),
                "gain_s": first.cycle_time_s - step.cycle_time_s,
                "bound_s": step.proven.bound,
                "is_proven": step.proven.is_proven,
                "simulated_s": step.simulated.cycle_time_s,
                "simulated_half_width_s": step.simulated.half_width_s,
                "simulated_is_exact": step.simulated.is_exact,
                "simulated_gain_s": _simulated_gain(first.simulated, step.simulated),
                "gains_nothing_simulated": place > 0 and _gains_nothing(above.simulated, step.simulated),
                "engine": step.simulated.engine,
                "raised": "; ".join(names),
                "change": _change(before if place else (), names),
            }
        )
    return rows


def _simulated_gain(first: QuickSimulation, simulated: QuickSimulation) -> float | None:
    """What a simulated cycle time is below the first one; 0 where that is a rounding error."""
    if first.cycle_time_s is None or simulated.cycle_time_s is None:
        return None
    before_s, after_s = first.cycle_time_s, simulated.cycle_time_s
    return 0.0 if math.isclose(before_s, after_s) else before_s - after_s


def _gains_nothing(above: QuickSimulation, simulated: QuickSimulation) -> bool:
    """Whether a simulation is no faster than the one above it, or not by more than their intervals."""
    gain = _simulated_gain(above, simulated)
    noise = math.hypot(above.half_width_s or 0.0, simulated.half_width_s or 0.0)
    return gain is not None and gain <= noise


def _change(before: Sequence[str], names: Sequence[str]) -> str:
    """Which links a set has beside another one, and which it lacks."""
    new = ", ".join(name for name in names if name not in before)
    lost = ", ".join(name for name in before if name not in names)
    return "; ".join(part for part in (new, f"without {lost}" if lost else "") if part) or "none"


def _plain(offer: Offer, found: PricedSet) -> Mapping[str, object]:
    """A set in JSON."""
    names = [offer.terms.links[k].name for k in np.flatnonzero(found.raised).tolist()]
    return {"links": names, "total_price": found.price, "cycle_time_s": found.cycle_time_s}
