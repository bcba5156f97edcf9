"""Sets of links: against all subsets, the frontier, ties, price lists of any kind, and searches that give up."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import (
    AccessLinks,
    InputError,
    Overlay,
    Workload,
    build_overlay,
    connectivity,
    design,
    load_underlay,
)
from topologies.analysis import (
    UpgradeSearch,
    UpgradeTerms,
    link_upgrade,
    upgrade_links,
    upgrade_program,
    upgrade_sets,
    upgraded,
)
from topologies.analysis.upgrade_program import needs
from topologies.analysis.upgrade_sets import SAME, is_affordable
from topologies.analysis.upgrade_terms import FORMS

seeds = st.integers(0, 2**32 - 1)
MOST_LINKS = 5
# All subsets of the links are tried in each example.
FEWER = settings(max_examples=settings().max_examples // 2)


@dataclass(frozen=True)
class Subsets:
    """All subsets of an overlay's links with price and cycle time."""

    search: UpgradeSearch
    price: np.ndarray
    cycle_time_s: np.ndarray

    def fastest_s(self, budget):
        return self.cycle_time_s[self.price <= budget * (1 + 1e-12)].min()

    def cheapest(self, wanted_s):
        return self.price[self.cycle_time_s <= wanted_s].min()


def search_of(overlay, form="paper", prices=None, **raised):
    """A search in which each link costs 1, or only some links are for sale, at a price by name."""
    links = upgrade_links(overlay, **raised)
    for_sale = [link for link in links if prices is None or link.name in prices]
    terms = UpgradeTerms.of(overlay, for_sale, form)
    return UpgradeSearch(
        terms, np.array([1.0 if prices is None else prices[link.name] for link in terms.links])
    )


def names(search, found):
    return [search.terms.links[k].name for k in np.flatnonzero(found.raised)]


def random_subsets(case, seed):
    """The subsets of few links of a random network, with equal, few or many different prices."""
    rng = np.random.default_rng(seed)
    overlay, form = case.build(), FORMS[int(rng.integers(3))]
    raised = [{}, {"to_bps": 2e9}, {"factor": 5.0}][int(rng.integers(3))]
    offered = UpgradeTerms.of(overlay, upgrade_links(overlay, **raised), form).links
    kept = sorted(rng.permutation(len(offered))[:MOST_LINKS].tolist())
    terms = UpgradeTerms.of(overlay, [offered[k] for k in kept], form)
    count = len(terms.links)
    prices = [np.ones(count), rng.integers(0, 4, count).astype(float), rng.uniform(0.1, 5.0, count)]
    chosen = prices[int(rng.integers(3))]
    sets = [np.array(each, dtype=bool) for each in itertools.product([False, True], repeat=count)]
    return Subsets(
        UpgradeSearch(terms, chosen),
        np.array([chosen[each].sum() for each in sets]),
        np.array([terms.cycle_time_s(each) for each in sets]),
    )


@given(seed=seeds, ties=st.booleans())
def test_terms_give_the_cycle_times_of_the_raised_network(random_case, seed, ties):
    overlay = random_case(seed, ties=ties).build()
    rng = np.random.default_rng(seed)
    for form in FORMS:
        terms = UpgradeTerms.of(overlay, upgrade_links(overlay), form)
        raised = rng.random(len(terms.links)) < 0.5
        forms = upgraded(overlay, [terms.links[k] for k in np.flatnonzero(raised)]).closed_forms
        expected = {
            "paper": forms.paper_s,
            "serialized": forms.serialized_s,
            "load": max(forms.paper_s, forms.load_bound_s),
        }
        assert terms.cycle_time_s(raised) == pytest.approx(expected[form], rel=1e-12)
        # The links that are left out change nothing.
        whole = upgraded(overlay, upgrade_links(overlay)).closed_forms.paper_s
        if form == "paper":
            assert terms.cycle_time_s(np.ones(len(terms.links), dtype=bool)) == pytest.approx(
                whole, rel=1e-12
            )


def test_a_copy_with_other_times_does_not_keep_the_cycle_times_that_were_computed(random_case):
    overlay = random_case(0).build()
    terms = UpgradeTerms.of(overlay, upgrade_links(overlay), "paper")
    nothing = np.zeros(len(terms.links), dtype=bool)
    before_s = terms.cycle_time_s(nothing)

    slower = replace(terms, fixed_s=terms.fixed_s + 1.0)
    assert slower.cycle_time_s(nothing) == pytest.approx(before_s + 1.0, rel=1e-12)


@given(seed=seeds, ties=st.booleans())
@FEWER
def test_the_fastest_set_is_that_of_all_subsets(random_case, seed, ties):
    subsets = random_subsets(random_case(seed, ties=ties), seed)
    for budget in np.random.default_rng(seed).choice(subsets.price, 3):
        proven = subsets.search.fastest(budget)
        optimum = subsets.fastest_s(budget)

        assert proven.is_proven
        assert proven.found.cycle_time_s == pytest.approx(optimum, rel=2 * SAME)
        assert proven.found.price <= budget * (1 + 1e-12)
        # No set that is as fast is cheaper.
        assert proven.found.price <= subsets.cheapest(optimum * (1 + 1e-9)) + 1e-5
        for step in subsets.search.greedy(budget):
            assert step.price <= budget * (1 + 1e-12)
            assert step.cycle_time_s >= proven.bound * (1 - SAME)


@given(seed=seeds, ties=st.booleans())
@FEWER
def test_the_cheapest_set_is_that_of_all_subsets(random_case, seed, ties):
    subsets = random_subsets(random_case(seed, ties=ties), seed)
    for wanted_s in np.random.default_rng(seed).choice(subsets.cycle_time_s, 3):
        proven = subsets.search.cheapest(wanted_s)

        assert proven.is_proven
        assert proven.found.cycle_time_s <= wanted_s * (1 + 2 * SAME)
        assert (
            subsets.cheapest(wanted_s * (1 + 3 * SAME)) - 1e-5
            <= proven.found.price
            <= subsets.cheapest(wanted_s * (1 + 1e-12)) + 1e-5
        )
    assert (
        subsets.search.cheapest(subsets.cycle_time_s.min() * 0.999) is None or not subsets.cycle_time_s.min()
    )


@given(seed=seeds, ties=st.booleans())
@FEWER
def test_the_frontier_is_that_of_all_subsets(random_case, seed, ties):
    subsets = random_subsets(random_case(seed, ties=ties), seed)
    # First the network as it is, then sets of links that cost nothing, if these help.
    expected = [(0.0, subsets.search.nothing.cycle_time_s)]
    for price, value in sorted(zip(subsets.price.tolist(), subsets.cycle_time_s.tolist(), strict=True)):
        if value < expected[-1][1] * (1 - 3 * SAME):
            expected.append((price, value))
    found = [
        (step.found.price, step.found.cycle_time_s) for step in subsets.search.frontier(subsets.price.max())
    ]

    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected, rtol=3 * SAME, atol=1e-5 * (1 + subsets.price.max()))


def test_of_one_link_every_one_is_tried(random_case):
    for seed in range(12):
        search = search_of(random_case(seed, ties=seed % 2 == 0).build(), FORMS[seed % 3])
        alone = []
        for link in range(len(search.terms.links)):
            raised = np.arange(len(search.terms.links)) == link
            alone.append((search.terms.cycle_time_s(raised), link))
        gaining = [
            (value, link)
            for value, link in sorted(alone)
            if value < search.nothing.cycle_time_s * (1 - 1e-12)
        ]

        assert [(value, link) for link, value in search.single()] == gaining
        best = gaining[0][0] if gaining else search.nothing.cycle_time_s
        assert search.fastest(1).found.cycle_time_s == pytest.approx(best, rel=SAME)


def ring_of(make_underlay, silos, **access):
    graph = connectivity(
        make_underlay(silos, [(k, (k + 1) % silos, 0.0) for k in range(silos)]), access=AccessLinks(**access)
    )
    arcs = [(k, (k + 1) % silos) for k in range(silos)]
    return build_overlay("ring", graph, Workload(model_bits=1e7, compute_s=0.0), arcs)


def test_equal_access_links_are_bought_in_pairs_by_hand(make_underlay):
    # Five arcs of 100 ms and 4 ms of latency: each pair takes 50 ms off one arc, 10 ms off the mean.
    search = search_of(ring_of(make_underlay, 5, up_bps=1e8, down_bps=1e8))
    found = [(step.found.price, round(step.found.cycle_time_s, 9)) for step in search.frontier(7)]

    assert found == [(0, 0.104), (2, 0.094), (4, 0.084), (6, 0.074)]
    assert search.single() == []
    # Of pairs that gain as much, the one whose links come first.
    assert names(search, search.fastest(3).found) == ["r0 uplink", "r1 downlink"]
    assert {(0, 6), (6, 0)} <= set(needs(search.terms))


def test_by_load_all_equal_access_links_are_needed_at_once(make_underlay):
    # Every link is busy for 100 ms, whatever others can do; the mean over the ring is 104 ms.
    search = search_of(ring_of(make_underlay, 5, up_bps=1e8, down_bps=1e8), "load")
    found = [(step.found.price, round(step.found.cycle_time_s, 9)) for step in search.frontier(10)]

    assert found == [(0, 0.104), (2, 0.1), (10, 0.054)]
    assert search.cheapest(0.0999).found.price == 10
    assert [step.price for step in search.greedy(10)] == [0, 2, 10]


def test_the_shortest_time_of_all_is_bought_at_once_and_what_is_shorter_by_rounding_only(make_underlay):
    search = search_of(ring_of(make_underlay, 5, up_bps=1e8, down_bps=1e8), "load")
    least_s = search.everything.cycle_time_s

    assert search.cheapest(least_s).found.price == 10
    assert search.cheapest(least_s / (1 + 0.5e-12)).found.price == 10
    assert search.cheapest(least_s / (1 + 2e-12)) is None
    # At the other end nothing is bought.
    assert search.cheapest(search.nothing.cycle_time_s).found.price == 0


def test_a_price_is_within_a_budget_up_to_rounding():
    assert is_affordable(3.0, 3.0)
    assert is_affordable(3.0 * (1 + 0.5e-12), 3.0)
    assert not is_affordable(3.0 * (1 + 2e-12), 3.0)
    assert is_affordable(0.0, 0.0)
    assert not is_affordable(5e-324, 0.0)
    assert is_affordable(1e300, np.inf)


def test_two_circuits_that_are_as_slow_are_raised_together(make_underlay):
    # Silo 1 exchanges models with both others, as slowly. One of its round trips alone gains nothing.
    graph = connectivity(
        make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)]),
        access=AccessLinks(up_bps=np.array([1e8, 1e10, 1e8]), down_bps=1e9),
        bandwidth="bottleneck",
    )
    work = Workload(model_bits=1e7, compute_s=0.0)
    overlay = build_overlay("line", graph, work, [(0, 1), (1, 0), (1, 2), (2, 1)])
    search = search_of(overlay)
    together = link_upgrade(overlay)

    assert search.single() == []
    assert names(search, search.cheapest(search.nothing.cycle_time_s * 0.99).found) == [
        "r0 uplink",
        "r2 uplink",
    ]
    # 104 and 14 ms for the way and back, in two rounds; 54 and 14 with twice the capacity; 24 and 14 by the downlink.
    assert together.links == ("r0 uplink", "r2 uplink")
    taken = (search.nothing.cycle_time_s, together.doubled_s, together.unlimited_s)
    assert taken == pytest.approx((0.059, 0.034, 0.019))
    assert [step.price for step in search.greedy(2)] == [0, 2]


def test_greedy_is_not_always_the_best(make_underlay):
    """Both sets cost 2; the link that is best for its price is in none of them."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        overlay = ring_of(
            make_underlay, 6, up_bps=rng.uniform(1e8, 4e8, 6), down_bps=rng.uniform(1e8, 4e8, 6)
        )
        search = search_of(overlay)
        greedy_s, best = search.greedy(3)[-1].cycle_time_s, search.fastest(3)
        assert best.is_proven
        assert best.found.cycle_time_s <= greedy_s * (1 + 1e-12)
        found.append(best.found.cycle_time_s < greedy_s * (1 - 1e-3))
    assert any(found)


def test_prices_decide(make_underlay):
    # Two arcs of 100 ms each; the uplink of the first costs 5, that of the second 1.
    overlay = ring_of(make_underlay, 3, up_bps=np.array([1e8, 1e8, 1e9]), down_bps=1e9)
    search = search_of(overlay, prices={"r0 uplink": 5.0, "r1 uplink": 1.0})

    assert names(search, search.fastest(4.9).found) == ["r1 uplink"]
    assert [step.found.price for step in search.frontier(100)] == [0, 1, 6]
    assert search.fastest(5.9999).found.price == 1


def test_a_price_is_sought_once(make_underlay, monkeypatch):
    # Arcs of 104, 104, 54 and 14 ms. r1 and r2 take (50 + 25) / 4 ms off a round, r0 and r1 (50 + 50) / 4: to 44 ms.
    overlay = ring_of(make_underlay, 4, up_bps=np.array([1e8, 1e8, 2e8, 1e9]), down_bps=1e9)
    search = search_of(overlay, prices={"r0 uplink": 5.0, "r1 uplink": 1.0, "r2 uplink": 2.0})
    asked, solve = [], upgrade_program.UpgradeProgram.solve

    def counted(program, circuits, objective, **limits):
        asked.append((objective, limits["most_price"]))
        return solve(program, circuits, objective, **limits)

    monkeypatch.setattr(upgrade_program.UpgradeProgram, "solve", counted)
    cheapest = search.cheapest(0.045)

    assert cheapest is not None
    assert names(search, cheapest.found) == ["r0 uplink", "r1 uplink"]
    assert (cheapest.found.price, cheapest.is_proven) == (6, True)
    # Then only the order of sets of this price is, and nothing where the same is asked again.
    assert {limit for objective, limit in asked if objective == "price"} == {np.inf}
    assert {limit for objective, limit in asked if objective == "order"} == {6}
    count = len(asked)
    assert search.cheapest(0.045) is cheapest
    assert len(asked) == count


def test_links_that_cost_nothing_are_bought_without_money(make_underlay):
    overlay = ring_of(make_underlay, 3, up_bps=np.array([1e8, 1e8, 1e9]), down_bps=1e9)
    search = search_of(overlay, prices={"r0 uplink": 0.0, "r1 uplink": 1.0})

    assert names(search, search.fastest(0).found) == ["r0 uplink"]
    # Three arcs of 100, 100 and 10 ms with 4 ms of latency each; a free uplink takes 50 ms off one of them.
    steps = [(names(search, step.found), step.found.price) for step in search.frontier(1)]
    times = [step.found.cycle_time_s for step in search.frontier(1)]
    assert steps == [([], 0), (["r0 uplink"], 0), (["r0 uplink", "r1 uplink"], 1)]
    assert times == pytest.approx([0.222 / 3, 0.172 / 3, 0.122 / 3])


def test_a_budget_is_kept_to_the_last_digit(make_underlay):
    # The solver's own tolerance is a millionth of the largest price.
    overlay = ring_of(make_underlay, 3, up_bps=np.array([1e8, 1e8, 1e9]), down_bps=1e9)
    search = search_of(overlay, prices={"r0 uplink": 1e7, "r1 uplink": 1e7 - 0.5})

    assert search.fastest(2e7 - 0.6).found.price == 1e7 - 0.5
    assert search.fastest(2e7 - 0.5).found.price == 2e7 - 0.5
    assert search_of(overlay, prices={"r0 uplink": 0.1, "r1 uplink": 0.2}).fastest(0.3).found.raised.all()


def test_a_budget_of_nothing_and_overlays_without_links(make_underlay):
    ring = search_of(ring_of(make_underlay, 3, up_bps=1e8, down_bps=1e8))
    assert [step.found.price for step in ring.frontier(0)] == [0]

    graph = connectivity(
        make_underlay(2, [(0, 1, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0]
    )
    one = search_of(build_overlay("one", graph, Workload(model_bits=1e6, compute_s=0.1), []), "load")
    (only,) = one.frontier(5)
    assert (only.found.cycle_time_s, only.is_proven, one.single()) == (0.1, True, [])


def test_a_star_hands_models_on_in_the_same_round(make_underlay):
    # Around the hub 0: up and down in one round. The uplink and the downlink of the hub carry two models each.
    graph = connectivity(
        make_underlay(3, [(0, 1, 0.0), (0, 2, 0.0)]),
        access=AccessLinks(up_bps=1e8, down_bps=1e8),
        bandwidth="bottleneck",
    )
    work = Workload(model_bits=1e7, compute_s=0.02)
    star = build_overlay("star", graph, work, [(0, 1), (1, 0), (0, 2), (2, 0)], hub=0)
    search = search_of(star)
    found = [(step.found.price, round(step.found.cycle_time_s, 9)) for step in search.frontier(9)]

    assert found == [(0, 0.428), (1, 0.328), (2, 0.228)]
    assert names(search, search.fastest(9).found) == ["r0 uplink", "r0 downlink"]


@pytest.mark.parametrize("give_up", [{"PROGRAMS": 0}, {"NODES": 0}])
def test_a_search_that_gives_up_says_so_and_is_still_right(make_underlay, monkeypatch, give_up):
    ((name, value),) = give_up.items()
    monkeypatch.setattr(upgrade_sets if name == "PROGRAMS" else upgrade_program, name, value)
    rng = np.random.default_rng(5)
    overlay = ring_of(make_underlay, 6, up_bps=rng.uniform(1e8, 4e8, 6), down_bps=rng.uniform(1e8, 4e8, 6))
    search = search_of(overlay)
    monkeypatch.undo()
    exact = search_of(overlay).fastest(4)
    monkeypatch.setattr(upgrade_sets if name == "PROGRAMS" else upgrade_program, name, value)
    found = search.fastest(4)
    steps = list(search.frontier(6))

    assert found.bound <= exact.found.cycle_time_s * (1 + SAME)
    assert found.found.cycle_time_s >= exact.found.cycle_time_s * (1 - SAME)
    assert found.is_proven == (found.found.cycle_time_s <= found.bound * (1 + SAME))
    assert found.found.price <= 4
    times = [step.found.cycle_time_s for step in steps]
    assert times == sorted(times, reverse=True)
    cheapest = search.cheapest(found.found.cycle_time_s)
    assert cheapest.found.cycle_time_s <= found.found.cycle_time_s * (1 + SAME)
    assert cheapest.bound <= cheapest.found.price


def test_without_programs_nothing_is_proven(make_underlay, monkeypatch):
    monkeypatch.setattr(upgrade_sets, "PROGRAMS", 0)
    search = search_of(ring_of(make_underlay, 5, up_bps=1e8, down_bps=1e8))
    found = search.fastest(4)

    assert not found.is_proven
    assert (found.found.price, found.bound) == (4, pytest.approx(search.everything.cycle_time_s))


def geant(access_bps, kind="ring"):
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=access_bps, down_bps=access_bps))
    return design(kind, graph, Workload.preset("inaturalist"))


def test_the_ring_of_geant():
    search = search_of(geant(1e10), "load")
    first, second = search.frontier(3)

    # Two links of 155 Mbps carry one model each way; each is busy for 359 Mbit / 155 Mbps.
    assert first.found.cycle_time_s == pytest.approx(358_961_664 / 155e6, rel=1e-12)
    assert names(search, second.found) == ["core link BG - MK", "core link HR - ME"]
    assert second.found.cycle_time_s == pytest.approx(358_961_664 / 310e6, rel=1e-12)
    assert second.is_proven


def test_the_same_sets_whatever_was_asked_before():
    overlay = geant(1e8, "mst")
    fresh = [search_of(overlay).fastest(budget).found for budget in (2, 4)]
    search = search_of(overlay)
    list(search.frontier(5))

    for budget, one in zip((2, 4), fresh, strict=True):
        np.testing.assert_array_equal(search.fastest(budget).found.raised, one.raised)


def test_an_unknown_form_is_named(make_underlay):
    overlay: Overlay = ring_of(make_underlay, 3, up_bps=1e8, down_bps=1e8)

    with pytest.raises(InputError, match=r"^form\(='best'\) must be one of load, paper, serialized"):
        UpgradeTerms.of(overlay, (), "best")
