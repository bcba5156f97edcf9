"""Sentences about upgrades: what to buy, how sure it is, and what the next gain would cost."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.simulation import SimulationConfig
from scenarios.config.upgrade import UpgradeConfig
from scenarios.simulation.quick import QuickSimulation
from scenarios.studies.upgrade import _plain, _rows, _sets, _step, _wanted
from scenarios.studies.upgrade_text import (
    Offer,
    _beyond_paper,
    _end,
    _enough,
    _greedy_note,
    _price_proof,
    _proof,
    _simulation_notes,
    _single_notes,
    headline,
    price_text,
    raised_how,
    some,
)
from topologies import InputError, PeriodicOverlay
from topologies.analysis.upgrade_sets import ProvenSet
from topologies.analysis.upgrade_terms import PricedSet


def offer_of(prices=(), currency=None, unpriced=()):
    """Links a, b and so on for sale; with a price list where there is a currency, which may be empty."""
    names = [SimpleNamespace(name=name) for name in "abcdefgh"[: len(prices)]]
    return SimpleNamespace(
        terms=SimpleNamespace(links=names),
        prices=np.array(prices, dtype=np.float64),
        price_list=None if currency is None else object(),
        currency=currency or "",
        unpriced=tuple(unpriced),
    )


def proven(price=0.0, cycle_time_s=1.0, bound=0.0, is_proven=True):
    found = PricedSet(raised=np.zeros(0, dtype=bool), price=price, cycle_time_s=cycle_time_s)
    return ProvenSet(found=found, bound=bound, is_proven=is_proven)


def step(cycle_time_s, names=(), *, simulated=None, of=None, routes=((0,),), **found):
    if isinstance(simulated, float) or simulated is None:
        simulated = QuickSimulation(cycle_time_s=simulated, half_width_s=0.0, is_exact=True)
    return SimpleNamespace(
        proven=of or proven(cycle_time_s=cycle_time_s, **found),
        names=tuple(names),
        links=tuple(names),
        cycle_time_s=cycle_time_s,
        overlay=SimpleNamespace(kind="ring", routes=routes),
        simulated=simulated,
    )


def said(lines):
    assert max(map(len, lines)) <= 80
    return " ".join(lines)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({}, "to twice their capacity"),
        ({"factor": 2.0}, "to twice their capacity"),
        ({"factor": 3.0}, "to 3 times their capacity"),
        ({"factor": 1.5}, "to 1.5 times their capacity"),
        ({"to": "2 Gbps"}, "to 2 Gbps"),
    ],
)
def test_how_links_are_raised(config, text):
    assert raised_how(UpgradeConfig(budget=1, **config)) == text


@pytest.mark.parametrize(
    ("price", "text"), [(1e12, "1e+12"), (999_999_999_999.5, "999,999,999,999.50"), (0.9994, "0.999")]
)
def test_prices_from_a_million_millions_on_have_an_exponent(price, text):
    assert price_text(price) == text


@pytest.mark.parametrize(
    ("price", "enough"), [(0.050123, 0.0502), (1.001, 1.01), (17.004, 17.01), (123456.789, 123456.79)]
)
def test_what_is_enough_is_the_next_amount_that_is_shown(price, enough):
    assert _enough(price) == pytest.approx(enough, rel=1e-14)


@pytest.mark.parametrize(
    ("names", "most", "text"),
    [
        ("", 3, ""),
        ("abc", 3, "a, b and c"),
        ("abcd", 3, "a, b, c and 1 more"),
        ("abcdefgh", 8, "a, b, c, d, e, f, g and h"),
        ("abcde", 2, "a, b and 3 more"),
    ],
)
def test_the_first_names_and_how_many_more(names, most, text):
    assert some(list(names), most) == text
    if most == 3:
        assert some(list(names)) == text


def test_what_to_buy_by_hand():
    steps = [step(3.0, simulated=3.5), step(2.0, "ab", simulated=2.5, price=2.0)]
    text = said(headline(offer_of((1, 1)), UpgradeConfig(budget=2), steps, wanted=None, more=None))
    assert text == (
        "ring: links are raised to twice their capacity; arcs and routes stay. A round takes 3.000 s (paper or load), "
        "simulated 3.500 s. Raise a and b: a round then takes 2.000 s, 1.000 s less; simulated 2.500 s, 1.000 s less. "
        "Proven: no set of at most 2 links comes below 2.000 s (paper or load). No other link would gain anything "
        "more; --factor and --to raise links further."
    )


@pytest.mark.parametrize(
    ("before_s", "after_s", "text"),
    [
        (3.5, 3.0, "; simulated 3.000 s, 500.0 ms less."),
        (3.0, 3.0, "; simulated 3.000 s, 0 s less."),
        (3.0, 3.5, "; simulated 3.500 s, 500.0 ms more."),
        (None, 3.0, "s less."),
        (3.0, None, "s less."),
    ],
)
def test_the_simulated_gain_may_be_a_loss_or_unknown(before_s, after_s, text):
    steps = [step(3.0, simulated=before_s), step(2.0, "a", simulated=after_s)]
    lines = headline(offer_of((1,)), UpgradeConfig(budget=1), steps, wanted=None, more=None)
    whole = said(lines)
    assert text in whole
    assert whole.count("simulated") == (before_s is not None) + (None not in (before_s, after_s))


def test_many_links_are_named_up_to_the_eighth():
    steps = [step(3.0), step(2.0, "abcdefghij", price=10.0)]
    text = said(headline(offer_of((1,) * 8), UpgradeConfig(budget=10), steps, wanted=None, more=None))
    assert "Raise a, b, c, d, e, f, g, h and 2 more: a round then" in text


def test_with_prices_the_caption_says_what_is_paid():
    offer, config = offer_of((1, 3), "EUR"), UpgradeConfig(budget=4, prices="p.csv", by="paper", factor=3)
    steps = [step(3.0), step(2.0, "ab", price=4.0)]
    text = said(headline(offer, config, steps, wanted=None, more=None))
    assert "raised to 3 times their capacity, priced per added Gbps; arcs" in text
    assert "A round takes 3.000 s (paper). Raise a and b for 4 EUR: a round" in text
    assert "Proven: no set for at most 4 EUR comes below 2.000 s (paper). No other link" in text
    assert text.endswith("gain anything more, at any price; --factor and --to raise links further.")


def test_a_wanted_cycle_time_has_one_proof_and_no_outlook():
    config, wanted = UpgradeConfig(cycle_time="2 s"), proven(price=2.0, bound=2.0)
    there = said(headline(offer_of((1, 1)), config, [step(1.9)], wanted=wanted, more=None))
    assert there.endswith("(paper or load). This is no more than 2 s: nothing need be raised.")
    bought = [step(3.0), step(2.0, "ab", of=wanted)]
    text = said(headline(offer_of((1, 1)), config, bought, wanted=wanted, more=proven(3.0)))
    assert text.endswith(
        "2.000 s, 1.000 s less. Proven: no set of fewer than 2 links comes to 2 s (paper or load)."
    )


@pytest.mark.parametrize(
    ("currency", "wanted", "text"),
    [
        (None, proven(2.0), "Proven: no set of fewer than 2 links comes to 1 s (paper)."),
        (None, proven(1.0), "Proven: no set of fewer than 1 link comes to 1 s (paper)."),
        ("EUR", proven(2.5), "Proven: no set for less than 2.50 EUR comes to 1 s (paper)."),
        ("", proven(0.5), "Proven: no set for less than 0.5 comes to 1 s (paper)."),
        ("EUR", proven(0.0), ""),
        (
            None,
            proven(3.0, bound=2.0, is_proven=False),
            "Not proven: no set of fewer than 3 links that comes to 1 s (paper) was found; none of fewer than 2 links "
            "does.",
        ),
        (
            "EUR",
            proven(3.0, bound=0.25, is_proven=False),
            "Not proven: no set for less than 3 EUR that comes to 1 s (paper) was found; none for less than 0.25 EUR "
            "does.",
        ),
        (
            "EUR",
            proven(3.0, bound=0.0, is_proven=False),
            "Not proven: no set for less than 3 EUR that comes to 1 s (paper) was found.",
        ),
    ],
)
def test_how_sure_the_cheapest_set_is(currency, wanted, text):
    config = UpgradeConfig(cycle_time="1 s", by="paper", prices=None if currency is None else "p.csv")
    assert _price_proof(offer_of((1,), currency), config, wanted) == text


@pytest.mark.parametrize(
    ("prices", "currency", "budget", "found", "text"),
    [
        ((1, 1), None, 0, {}, "A budget of 0 links raises nothing."),
        ((), None, 1, {}, ""),
        ((), "EUR", 1, {}, ""),
        (
            (1, 1),
            None,
            1,
            {},
            "Proven: no set of at most 1 link comes below 2.000 s (paper or load).",
        ),
        (
            (5, 2.001, 3),
            "EUR",
            2,
            {},
            "2 EUR buys no link that matters: the cheapest, b, costs 2.01 EUR.",
        ),
        # A budget of the price is enough, and one of 0 for what costs nothing.
        ((5, 2, 3), "EUR", 2, {}, "Proven: no set for at most 2 EUR comes below 2.000 s (paper or load)."),
        ((0, 2), "EUR", 0, {}, "Proven: no set for at most 0 EUR comes below 2.000 s (paper or load)."),
        (
            (1, 1),
            None,
            2,
            {"is_proven": False, "bound": 1.5},
            "Not proven: no set of at most 2 links comes below 1.500 s (paper or load), and none below 2.000 s was "
            "found.",
        ),
    ],
)
def test_how_sure_the_fastest_set_is(prices, currency, budget, found, text):
    config = UpgradeConfig(budget=budget, prices=None if currency is None else "p.csv")
    assert _proof(offer_of(prices, currency), config, step(2.0, **found)) == text


@pytest.mark.parametrize(
    ("currency", "more", "text"),
    [
        (None, proven(1.0), "The cheapest set that is faster has 1 link."),
        (None, proven(3.0), "The cheapest set that is faster has 3 links."),
        (None, proven(3.0, is_proven=False), "The cheapest set that is faster has at most 3 links."),
        ("EUR", proven(1000.1234), "The cheapest set that is faster costs 1,000.13 EUR."),
        ("EUR", proven(10.0, is_proven=False), "The cheapest set that is faster costs at most 10 EUR."),
    ],
)
def test_what_the_next_gain_costs(currency, more, text):
    assert _end(offer_of((1,), currency), step(2.0, "a"), more) == text


@pytest.mark.parametrize(
    ("currency", "unpriced", "last", "text"),
    [
        (None, "", step(2.0, routes=()), "One silo sends nothing: there is no link to raise."),
        ("EUR", "c", step(2.0), "No link that can be bought holds anything up: raising all of them gains"),
        (None, "", step(2.0, "a"), "No other link would gain anything more; --factor and --to raise links"),
        (
            "EUR",
            "",
            step(2.0, "a"),
            "No other link would gain anything more, at any price; --factor and --to",
        ),
        (
            "EUR",
            "c",
            step(2.0, "a"),
            "No other link with a price would gain anything more; --factor and --to",
        ),
    ],
)
def test_why_no_link_gains_more(currency, unpriced, last, text):
    assert _end(offer_of((1,), currency, unpriced), last, None).startswith(text)


def test_links_that_gain_alone_are_named_with_their_gains():
    assert _single_notes([step(3.0), step(1.0, "a")], [("a", 1.0), ("b", 2.5)]) == [
        "Alone, these take most off a round: a 2.000 s and b 500.0 ms. All others gain nothing alone."
    ]
    assert _single_notes([step(3.0)], [("a", 1.0)])[0].startswith("Alone, these take most off a round: a 2")
    assert _single_notes([step(3.0)], []) == []
    assert _single_notes([step(3.0), step(2.0, "ab")], [])[0].endswith(
        "; a and b, for instance, must be raised together."
    )
    (together,) = _single_notes([step(3.0), step(2.0, "ab"), step(1.0, "abc")], [])
    assert together.startswith("No link gains anything alone")
    assert together.endswith("; a and b, for instance, must be raised together.")


ROW = {"gains_nothing_simulated": False, "paper_below_load": False}


@pytest.fixture
def beyond(monkeypatch):
    monkeypatch.setattr("scenarios.studies.upgrade_text.beyond_paper", lambda _: "What paper leaves out.")


@pytest.mark.usefixtures("beyond")
@pytest.mark.parametrize(
    ("simulated_s", "is_less"),
    # Of the closed form's gain of 2 s nine tenths need no remark.
    [
        ((4.0, 2.0), False),
        ((4.0, 2.125), False),
        ((4.0, 2.25), True),
        ((4.0, 4.5), True),
        ((2.0, 0.0625), False),
        ((1.8, 0.0), False),
    ],
)
def test_a_simulated_gain_far_below_that_of_the_closed_form_is_said(simulated_s, is_less):
    steps = [step(time_s, simulated=each) for time_s, each in zip((3.0, 1.0), simulated_s, strict=True)]
    notes = _simulation_notes(UpgradeConfig(budget=1, by="paper"), steps, [ROW, ROW])
    less = "Simulated, all of these links gain less than paper says. What paper leaves out."
    assert notes == ([less] if is_less else [])


def test_where_paper_leaves_nothing_out_a_smaller_gain_has_no_reason(monkeypatch):
    monkeypatch.setattr("scenarios.studies.upgrade_text.beyond_paper", lambda _: "")
    steps = [step(3.0, simulated=3.0), step(1.0, simulated=3.0)]
    assert _simulation_notes(UpgradeConfig(budget=1), steps, [ROW, ROW]) == []


@pytest.mark.usefixtures("beyond")
@pytest.mark.parametrize("unknown", [(0,), (2,), (0, 1, 2)])
def test_an_overlay_that_was_not_simulated_has_its_reason_once_and_no_gain(unknown):
    steps = [step(time_s, simulated=3.0) for time_s in (3.0, 2.0, 1.0)]
    for place in unknown:
        steps[place].simulated = QuickSimulation(why_not="it is too long")
    assert _simulation_notes(UpgradeConfig(budget=2), steps, [ROW] * 3) == ["Not simulated: it is too long."]


@pytest.mark.parametrize(("by", "is_told"), [("paper", True), ("serialized", True), ("load", False)])
def test_the_larger_of_paper_and_load_is_advised_where_paper_is_below_load(by, is_told):
    steps, rows = [step(3.0), step(2.0)], [ROW, ROW | {"paper_below_load": True}]
    advice = "--by load chooses links by the larger of paper and load, which is nearer to real links here."
    assert _simulation_notes(UpgradeConfig(budget=1, by=by), steps, rows) == [advice] * is_told
    assert _simulation_notes(UpgradeConfig(budget=1, by=by), steps, [ROW, ROW]) == []


def test_sets_that_gain_nothing_in_the_simulation_are_named_by_their_links():
    steps = [step(3.0), step(2.0, "a"), step(1.0, "abc")]
    rows = [ROW, ROW | {"gains_nothing_simulated": True}, ROW | {"gains_nothing_simulated": True}]
    assert _simulation_notes(UpgradeConfig(budget=3), steps, rows) == [
        "Simulated, 1 link and 3 links gain nothing over the row above: do not count on what paper or load says of "
        "them."
    ]


def test_an_interval_of_no_width_is_said_as_such():
    sure = QuickSimulation(cycle_time_s=2.0, half_width_s=0.0)
    assert _simulation_notes(UpgradeConfig(budget=1), [step(2.0, simulated=sure)], [ROW]) == [
        "~: estimated from the last rounds, which show no period; the widest 95 % interval is 2.000 s +- 0 s."
    ]


@pytest.mark.parametrize(("greedy_s", "is_told"), [(1 + 5e-7, False), (1 + 2e-6, True), (0.9, False)])
def test_what_greedy_choices_lose_is_more_than_rounding(greedy_s, is_told):
    steps, greedy = [step(3.0), step(1.0)], [step(3.0), step(greedy_s)]
    assert len(_greedy_note(offer_of((1,)), steps, greedy)) == is_told


def test_what_paper_leaves_out_is_that_of_the_kind_of_overlay(monkeypatch):
    words = "scenarios.studies.upgrade_text"
    monkeypatch.setattr(f"{words}.beyond_paper", lambda _: "static")
    monkeypatch.setattr(f"{words}.beyond_paper_periodic", lambda _: "periodic")
    assert _beyond_paper(step(1.0).overlay) == "static"
    assert _beyond_paper(object.__new__(PeriodicOverlay)) == "periodic"


class Search:
    """Sets of prices 0, 10 and so on up to 40, each faster by a second from 9 s on; what was asked for."""

    def __init__(self):
        self.everything = SimpleNamespace(price=40.0, cycle_time_s=5.0)
        self.asked = []

    def frontier(self, budget, *, step):
        self.asked.append((budget, step))
        yield from (proven(10.0 * k, 9.0 - k) for k in range(5) if 10.0 * k <= budget)

    def cheapest(self, wanted_s):
        self.asked.append(wanted_s)
        return proven(10.0, 8.0) if wanted_s >= 5.0 else None


@pytest.mark.parametrize(
    ("config", "most", "asked", "prices"),
    [
        ({"budget": 25}, 25.0, (25.0, 0.0), [0, 10, 20]),
        ({"budget": 90, "prices": "p.csv"}, 90.0, (40.0, 2.0), [0, 10, 20, 30, 40]),
        ({"budget": 0, "prices": "p.csv"}, 0.0, (0.0, 0.0), [0]),
        # Up to the first set that is as fast as wanted.
        ({"cycle_time": "7.5 s"}, 30.0, (30.0, 0.0), [0, 10, 20]),
        ({"cycle_time": "7 s"}, 30.0, (30.0, 0.0), [0, 10, 20]),
        ({"cycle_time": "7.00001 s"}, 30.0, (30.0, 0.0), [0, 10, 20]),
        ({"cycle_time": "6.999999 s"}, 30.0, (30.0, 0.0), [0, 10, 20]),
        ({"cycle_time": "6.99 s"}, 30.0, (30.0, 0.0), [0, 10, 20, 30]),
    ],
)
def test_sets_go_up_to_the_budget_or_to_the_wanted_cycle_time(config, most, asked, prices):
    search = Search()
    found = _sets(search, UpgradeConfig(**config), most=most)
    assert search.asked == [asked]
    assert [each.found.price for each in found] == prices


@pytest.mark.parametrize(
    ("prices", "unpriced", "message"),
    [
        (
            (1,),
            "",
            r"5\.000 s \(paper\): a round takes that with all links that can be bought raised to twice their",
        ),
        (
            (),
            "b",
            r"with all links that can be bought raised to twice their capacity; not for sale without a price: b\.",
        ),
        ((), "", r"must be >= 5\.000 s \(paper\): a round takes that whatever links are raised\.$"),
    ],
)
def test_a_cycle_time_that_no_links_come_to_is_refused(prices, unpriced, message):
    config = UpgradeConfig(cycle_time="4 s", by="paper")
    with pytest.raises(InputError, match=message):
        _wanted(Search(), offer_of(prices, None, unpriced), config, 4.0)
    assert _wanted(Search(), offer_of(prices, None, unpriced), config, 5.0).found.price == 10.0


def test_rows_of_steps_gain_over_the_first_and_change_over_the_one_above():
    def made(cycle_time_s, names, simulated_s, half_width_s, price):
        links = [SimpleNamespace(name=name, added_gbps=0.5) for name in names]
        forms = {"paper_s": cycle_time_s, "serialized_s": cycle_time_s, "load_bound_s": 0.5}
        simulated = QuickSimulation(
            cycle_time_s=simulated_s, half_width_s=half_width_s, is_exact=half_width_s == 0.0, engine="simpy"
        )
        return SimpleNamespace(
            proven=proven(price, cycle_time_s, cycle_time_s - 0.5, is_proven=False),
            links=links,
            names=tuple(names),
            cycle_time_s=cycle_time_s,
            overlay=SimpleNamespace(closed_forms=SimpleNamespace(**forms)),
            simulated=simulated,
        )

    steps = [made(4.0, "", 5.0, 0.0, 0.0), made(3.0, "ab", 4.0, 0.25, 1.0), made(2.0, "bc", 3.875, 0.25, 2.0)]
    first, second, third = _rows(offer_of((1, 1, 1), "EUR"), steps)
    assert [row["gain_s"] for row in (first, second, third)] == [0.0, 1.0, 2.0]
    assert [row["simulated_gain_s"] for row in (first, second, third)] == [0.0, 1.0, 1.125]
    assert [row["gains_nothing_simulated"] for row in (first, second, third)] == [False, False, True]
    assert [row["added_gbps"] for row in (first, second, third)] == [0.0, 1.0, 1.0]
    assert [row["raised"] for row in (first, second, third)] == ["", "a; b", "b; c"]
    assert [row["change"] for row in (first, second, third)] == ["none", "a, b", "c; without a"]
    assert (second["links"], second["total_price"], second["currency"]) == (2, 1.0, "EUR")
    assert (second["bound_s"], second["is_proven"], second["paper_s"]) == (2.5, False, 3.0)
    assert (second["simulated_s"], second["simulated_half_width_s"], second["simulated_is_exact"]) == (
        4.0,
        0.25,
        False,
    )
    assert (first["simulated_is_exact"], first["engine"]) == (True, "simpy")
    assert "currency" not in _rows(offer_of((1,)), steps[:1])[0]


def test_a_set_in_json_has_the_names_of_its_links():
    found = PricedSet(raised=np.array([True, False, True]), price=3.0, cycle_time_s=2.0)
    assert _plain(offer_of((1, 1, 1)), found) == {
        "links": ["a", "c"],
        "total_price": 3.0,
        "cycle_time_s": 2.0,
    }


def test_a_step_is_simulated_for_seconds_or_for_the_rounds_that_are_asked_for(monkeypatch):
    module = "scenarios.studies.upgrade"
    monkeypatch.setattr(f"{module}.upgraded", lambda overlay, links: (overlay, [link.name for link in links]))
    monkeypatch.setattr(
        f"{module}.quick_simulation", lambda overlay, *, seed, settings: (settings.sharing, overlay, seed)
    )
    monkeypatch.setattr(
        f"{module}.simulation_of",
        lambda overlay, settings, *, seed, title: (settings.rounds, overlay, seed, title),
    )
    offer = offer_of((1, 1, 1))
    offer.terms.overlay = "ring"
    settings = SimulationConfig(rounds=30, sharing="equal")

    def made(raised, rounds):
        found = PricedSet(raised=np.array(raised), price=1.0, cycle_time_s=2.0)
        own = ProvenSet(found=found, bound=2.0, is_proven=True)
        return _step(offer, own, settings, rounds=rounds, seed=7)

    raised = made([True, False, True], None)
    assert (raised.names, raised.cycle_time_s) == (("a", "c"), 2.0)
    assert raised.simulated == ("equal", ("ring", ["a", "c"]), 7)
    assert made([False] * 3, None).overlay == "ring"
    assert made([True, False, True], 50).simulated == (50, ("ring", ["a", "c"]), 7, "2 links, ")


def test_a_price_list_has_the_currency():
    config = {"terms": None, "prices": np.zeros(0), "unpriced": ()}
    assert Offer(price_list=None, **config).currency == ""
    assert Offer(price_list=SimpleNamespace(currency="EUR"), **config).currency == "EUR"


@pytest.mark.parametrize(
    ("config", "most", "steps"),
    [
        ({"budget": 25}, 25.0, [0, 400, 800]),
        ({"budget": 40}, 90.0, [0, 250, 500, 750, 1000]),
        ({"budget": 0}, 0.0, [1000]),
    ],
)
def test_the_bar_shows_the_part_of_the_budget(monkeypatch, config, most, steps):
    shown = []

    @contextmanager
    def bar(title, length):
        assert (title, length) == ("sets of links", 1000)
        yield shown.append

    monkeypatch.setattr("scenarios.studies.upgrade.bar", bar)
    _sets(Search(), UpgradeConfig(**config), most=most)
    assert shown == steps
