"""Upgrades of periodic overlays against networks built anew, all subsets of links, and finite differences."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from periodic_cases import lagged_states

from topologies import (
    PERIODIC_DESIGNERS,
    AccessLinks,
    InputError,
    Workload,
    build_overlay,
    build_periodic,
    connectivity,
    design,
    design_periodic,
    load_underlay,
    state_of,
)
from topologies.analysis import UpgradeSearch, UpgradeTerms, upgrade_links, upgraded
from topologies.analysis.upgrade_sets import SAME
from topologies.analysis.upgrade_terms import FORMS

seeds = st.integers(0, 2**32 - 1)
# The search of best_periodic takes long, and its states are as those of `overlays`.
KINDS = [kind for kind in PERIODIC_DESIGNERS if kind != "best_periodic"]


def form_s(overlay, form):
    forms = overlay.closed_forms
    return {
        "paper": forms.paper_s,
        "serialized": forms.serialized_s,
        "load": max(forms.paper_s, forms.load_bound_s),
    }[form]


def names(search, found):
    return [search.terms.links[k].name for k in np.flatnonzero(found.raised)]


@st.composite
def overlays(draw, make_underlay):
    """A periodic overlay on a line of up to four routers, some at one place, with capacities that often tie."""
    silos = draw(st.integers(2, 4))
    some = st.sampled_from([1e7, 2e7, 5e7])
    links = [(i, i + 1, draw(st.sampled_from([0.0, 500.0]))) for i in range(silos - 1)]
    capacity = [draw(some) for _ in range(silos * 2)]
    graph = connectivity(
        make_underlay(silos, links),
        access=AccessLinks(up_bps=np.array(capacity[:silos]), down_bps=np.array(capacity[silos:])),
        core=draw(some),
        bandwidth=draw(st.sampled_from(["hop_share", "bottleneck"])),
    )
    work = Workload(model_bits=1e6, compute_s=draw(st.sampled_from([0.0, 0.01, 0.2])))
    states = draw(lagged_states(silos, most_states=3, most_lag=4))
    return build_periodic("turns", graph, work, states)


@settings(max_examples=12)
@given(data=st.data(), seed=seeds)
def test_terms_give_the_cycle_times_of_the_raised_network(make_underlay, data, seed):
    overlay = data.draw(overlays(make_underlay))
    rng = np.random.default_rng(seed)
    for form in FORMS:
        terms = UpgradeTerms.of(overlay, upgrade_links(overlay), form)
        for raised in (np.zeros(len(terms.links), dtype=bool), rng.random(len(terms.links)) < 0.5):
            found = upgraded(overlay, [terms.links[k] for k in np.flatnonzero(raised)])
            value, circuit = terms.critical(raised)
            assert value == pytest.approx(form_s(found, form), rel=1e-12)
            # The circuit that is named is as slow as that, whatever queue or load it is.
            total_s = circuit.fixed_s + math.fsum(terms.times_s(raised)[list(circuit.items)])
            assert total_s / circuit.tokens == pytest.approx(value, rel=1e-12)
            assert len(set(circuit.items)) == len(circuit.items)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_kinds_on_a_published_network(kind, form):
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    overlay = design_periodic(kind, graph, Workload.preset("inaturalist"))
    links = upgrade_links(overlay, factor=3.0)
    terms = UpgradeTerms.of(overlay, links, form)
    none, every = (np.full(len(terms.links), each) for each in (False, True))

    assert terms.cycle_time_s(none) == pytest.approx(form_s(overlay, form), rel=1e-12)
    assert terms.cycle_time_s(every) == pytest.approx(form_s(upgraded(overlay, links), form), rel=1e-12)


@settings(max_examples=8)
@given(data=st.data(), seed=seeds)
def test_sets_are_the_best_of_all_subsets(make_underlay, data, seed):
    overlay = data.draw(overlays(make_underlay))
    rng = np.random.default_rng(seed)
    form = FORMS[int(rng.integers(3))]
    offered = UpgradeTerms.of(overlay, upgrade_links(overlay), form).links
    kept = sorted(rng.permutation(len(offered))[:4].tolist())
    terms = UpgradeTerms.of(overlay, [offered[k] for k in kept], form)
    count = len(terms.links)
    prices = [np.ones(count), rng.integers(0, 4, count).astype(float)][int(rng.integers(2))]
    search = UpgradeSearch(terms, prices)
    sets = [np.array(each, dtype=bool) for each in itertools.product([False, True], repeat=count)]
    # By the network itself, built with each set anew.
    value_s = np.array(
        [form_s(upgraded(overlay, [terms.links[k] for k in np.flatnonzero(each)]), form) for each in sets]
    )
    price = np.array([prices[each].sum() for each in sets])
    for budget in rng.choice(price, 2):
        proven = search.fastest(budget)
        assert proven.is_proven
        assert proven.found.price <= budget * (1 + 1e-12)
        assert proven.found.cycle_time_s == pytest.approx(
            value_s[price <= budget + 1e-12].min(), rel=2 * SAME
        )
    for wanted_s in rng.choice(value_s, 2):
        cheapest = search.cheapest(wanted_s * (1 + 1e-9))
        assert cheapest.is_proven
        assert cheapest.found.price == pytest.approx(price[value_s <= wanted_s * (1 + 2e-9)].min(), abs=1e-5)


@pytest.mark.parametrize("kind", ["base", "one_peer_exponential", "multigraph"])
def test_the_derivative_is_that_of_the_critical_circuit(kind):
    rng = np.random.default_rng(3)
    graph = connectivity(
        load_underlay("gaia"),
        access=AccessLinks(up_bps=rng.uniform(0.5e9, 2e9, 11), down_bps=rng.uniform(0.5e9, 2e9, 11)),
    )
    overlay = design_periodic(kind, graph, Workload.preset("femnist"))
    step = 1e-6
    terms = UpgradeTerms.of(overlay, upgrade_links(overlay, factor=1 + step), "paper")
    nothing = np.zeros(len(terms.links), dtype=bool)
    value, circuit = terms.critical(nothing)
    by_link = np.zeros(len(terms.links))
    for item in circuit.items:
        (link,) = terms.binding(item, nothing)
        # A transmission of M / c: its derivative by the relative change of c is minus itself.
        by_link[link] -= terms.times_s(nothing)[item] / circuit.tokens
    used = np.flatnonzero(by_link)
    assert len(used) >= 3
    for link in used.tolist():
        after_s = upgraded(overlay, [terms.links[link]]).closed_forms.paper_s
        assert (after_s - value) / step == pytest.approx(by_link[link], rel=1e-4)


def test_one_state_is_the_static_overlay():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    work = Workload.preset("femnist")
    tree = design("mst", graph, work)
    state = state_of(tree.source, tree.target, np.full(tree.arcs, 0.1))
    for form in FORMS:
        searches = []
        for overlay in (tree, build_periodic("mst", graph, work, [state])):
            terms = UpgradeTerms.of(overlay, upgrade_links(overlay), form)
            searches.append(UpgradeSearch(terms, np.ones(len(terms.links))))
        static, periodic = searches
        assert [link.name for link in static.terms.links] == [link.name for link in periodic.terms.links]
        for budget in (1, 3):
            one, other = static.fastest(budget), periodic.fastest(budget)
            assert names(static, one.found) == names(periodic, other.found)
            assert one.found.cycle_time_s == pytest.approx(other.found.cycle_time_s, rel=1e-12)


def test_models_that_queue_between_states_are_a_circuit(make_underlay):
    """One arc in both states: its uplink sends a model each round, though none waits for the other."""
    graph = connectivity(
        make_underlay(2, [(0, 1, 0.0)]),
        access=AccessLinks(up_bps=np.array([1e6, 1e9]), down_bps=np.array([1e9, 1e9])),
        core=1e9,
    )
    work = Workload(model_bits=1e6, compute_s=0.01)
    one, two = np.array([0, 1]), np.array([1, 0])
    states = [
        state_of(one, two, np.full(2, 0.5), np.array([4, 4])),
        state_of(one, two, np.full(2, 0.5), np.array([4, 4])),
    ]
    overlay = build_periodic("turns", graph, work, states)
    # By serialized a model leaves each second, one per round.
    assert overlay.closed_forms.serialized_s == pytest.approx(1.0)
    assert overlay.closed_forms.paper_s < 0.5
    terms = UpgradeTerms.of(overlay, upgrade_links(overlay), "serialized")
    search = UpgradeSearch(terms, np.ones(len(terms.links)))
    assert names(search, search.fastest(1).found) == ["r0 uplink"]
    assert search.fastest(1).found.cycle_time_s == pytest.approx(0.5)


def test_a_circuit_through_queues_of_several_silos_is_shortened_as_well():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    overlay = design_periodic("base", graph, Workload.preset("inaturalist"))
    links, forms = upgrade_links(overlay), overlay.closed_forms
    terms = UpgradeTerms.of(overlay, links, "serialized")
    _, circuit = terms.critical(np.zeros(len(terms.links), dtype=bool))
    ends = {(int(terms.limits.source[item]), int(terms.limits.target[item])) for item in circuit.items}
    proven = UpgradeSearch(terms, np.ones(len(terms.links))).fastest(1)

    # Neither a circuit without queues nor one connection alone is as slow.
    assert forms.serialized_s > 1.1 * forms.paper_s
    assert len(ends) > 1
    assert proven.is_proven
    alone_s = [upgraded(overlay, [link]).closed_forms.serialized_s for link in links]
    assert proven.found.cycle_time_s == pytest.approx(min(alone_s), rel=1e-6)


def test_an_overlay_with_rates_of_its_own_is_refused(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    work, one, two = Workload(model_bits=1e6, compute_s=0.01), np.array([0, 1]), np.array([1, 0])
    states = [state_of(one, two, np.full(2, 0.5))]
    overlay = build_periodic("own", graph, work, states, rates=[np.full(2, 12345.0)])

    with pytest.raises(InputError, match=r"^own: has rates of its own, not those of Eq. 3"):
        upgrade_links(overlay)
    static = build_overlay("pair", graph, work, [(0, 1), (1, 0)])
    assert len(upgrade_links(static)) == len(upgrade_links(build_periodic("same", graph, work, states))) == 5
