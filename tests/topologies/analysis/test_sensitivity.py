"""Sensitivities against finite differences of rebuilt networks, and as a subgradient."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, Workload, build_overlay, connectivity, design, load_underlay
from topologies.analysis import Resources, sensitivities

INATURALIST = Workload.preset("inaturalist", variant="published")
seeds = st.integers(0, 2**32 - 1)
STEP = 1e-5


def assert_derivatives(derivative, values, tau_of, tau, some=None) -> None:
    """``value * derivative`` of each entry against the central difference at a relative step."""
    for index in range(len(values)) if some is None else some:
        taus = []
        for factor in (1 + STEP, 1 - STEP):
            changed = np.array(values)
            changed[index] *= factor
            taus.append(tau_of(changed))
        numeric = (taus[0] - taus[1]) / (2 * STEP)
        assert values[index] * derivative[index] == pytest.approx(numeric, rel=1e-6, abs=1e-9 * tau)


def tau(overlay) -> float:
    return overlay.proof.cycle_time_s


@given(seed=seeds)
@settings(max_examples=settings().max_examples // 2)
def test_finite_differences_on_random_networks(random_case, seed):
    case = random_case(seed)
    overlay = case.build()
    found, work = sensitivities(overlay), case.work

    def model(bits):
        return replace(work, model_bits=bits[0])

    def computing(seconds):
        return replace(work, compute_s=seconds)

    def check(derivative, values, change):
        assert_derivatives(
            derivative, values, lambda new: tau(case.with_(**change(new)).build()), tau(overlay)
        )

    check(found.up_s_per_bps, case.up_bps, lambda new: {"up_bps": new})
    check(found.down_s_per_bps, case.down_bps, lambda new: {"down_bps": new})
    check(found.core_s_per_bps, case.underlay.capacity_bps, lambda new: {"core_bps": new})
    check(found.compute_s_per_s, work.compute_s, lambda new: {"work": computing(new)})
    check([found.model_s_per_bit], [work.model_bits], lambda new: {"work": model(new)})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
@pytest.mark.parametrize("name", ["gaia", "geant", "ebone"])
@pytest.mark.parametrize("access_bps", [1e9, 1e10])
def test_finite_differences_on_real_networks(name, kind, access_bps):
    rng = np.random.default_rng(7)
    underlay = load_underlay(name)
    underlay = replace(underlay, capacity_bps=1e9 * rng.uniform(0.5, 1.5, underlay.links))
    up, down = access_bps * rng.uniform(0.5, 1.5, (2, underlay.routers))
    compute_s = 0.0254 * rng.uniform(0.5, 1.5, underlay.routers)
    work = Workload(model_bits=INATURALIST.model_bits, compute_s=compute_s)

    def network(up=up, down=down, core=underlay.capacity_bps):
        changed = replace(underlay, capacity_bps=core)
        return connectivity(changed, access=AccessLinks(up_bps=up, down_bps=down), core="stated")

    overlay = design(kind, network(), work)
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))

    def tau_on(graph, work=work):
        return tau(build_overlay(kind, graph, work, arcs, hub=overlay.hub))

    found = sensitivities(overlay)

    def some(derivative):
        """The first few entries that matter, and the first that do not."""
        return [*np.flatnonzero(derivative)[:4].tolist(), *np.flatnonzero(derivative == 0)[:2].tolist()]

    def check(derivative, values, tau_of):
        assert_derivatives(derivative, values, tau_of, tau(overlay), some(derivative))

    check(found.up_s_per_bps, up, lambda new: tau_on(network(up=new)))
    check(found.down_s_per_bps, down, lambda new: tau_on(network(down=new)))
    check(found.core_s_per_bps, underlay.capacity_bps, lambda new: tau_on(network(core=new)))
    check(
        found.compute_s_per_s,
        compute_s,
        lambda new: tau_on(overlay.graph, Workload(model_bits=work.model_bits, compute_s=new)),
    )

    def with_latency(new):
        latency_s = overlay.graph.latency_s.copy()
        latency_s[overlay.source, overlay.target] = new
        return tau_on(replace(overlay.graph, latency_s=latency_s))

    check(found.latency_s_per_s, overlay.latency_s, with_latency)


@pytest.mark.parametrize("rule", ["per_path", "per_link"])
@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
def test_the_latency_constant(rule, kind):
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e10, down_bps=1e10), latency=rule)
    overlay = design(kind, graph, INATURALIST)
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    constants = graph.routes.hops if rule == "per_link" else 1 - np.eye(graph.silos)

    def tau_with(more_s):
        longer = replace(graph, latency_s=graph.latency_s + more_s * constants)
        return tau(build_overlay(kind, longer, INATURALIST, arcs, hub=overlay.hub))

    numeric = (tau_with(1e-8) - tau_with(-1e-8)) / 2e-8
    assert sensitivities(overlay).latency_constant_s_per_s == pytest.approx(numeric, rel=1e-6)


@given(seed=seeds, ties=st.booleans())
def test_no_change_of_any_size_gains_more_than_promised(random_case, seed, ties):
    # Convexity in latencies, computing times and inverse capacities; ties are kinks, and the bound holds there too.
    case = random_case(seed, ties=ties)
    overlay, found = case.build(), sensitivities(case.build())
    rng = np.random.default_rng(seed)

    def vary(values):
        return np.asarray(values) * rng.choice([0.5, 0.9, 1.0, 1.0, 1.1, 2.0], np.shape(values))

    up, down, core = vary(case.up_bps), vary(case.down_bps), vary(case.underlay.capacity_bps)
    compute_s = vary(case.work.compute_s)
    work = replace(case.work, compute_s=compute_s)
    changed = case.with_(up_bps=up, down_bps=down, core_bps=core, work=work).build()

    def promised(derivative, old, new):
        finite = np.isfinite(old)
        old, new, derivative = old[finite], new[finite], derivative[finite]
        return float(np.sum(-(old**2) * derivative * (1 / new - 1 / old)))

    bound = tau(overlay) + float(found.compute_s_per_s @ (compute_s - case.work.compute_s))
    bound += promised(found.up_s_per_bps, case.up_bps, up)
    bound += promised(found.down_s_per_bps, case.down_bps, down)
    bound += promised(found.core_s_per_bps, case.underlay.capacity_bps, core)
    assert tau(changed) >= bound - 1e-12 * max(1.0, abs(bound))


@given(seed=seeds, ties=st.booleans())
def test_the_parts_add_up_to_the_cycle_time(random_case, seed, ties):
    overlay = random_case(seed, ties=ties).build()
    found, work = sensitivities(overlay), overlay.work

    fixed_s = found.latency_s_per_s @ overlay.latency_s + found.compute_s_per_s @ work.compute_s
    assert fixed_s + work.model_bits * found.model_s_per_bit == pytest.approx(tau(overlay), rel=1e-9)


@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
@pytest.mark.parametrize("access_bps", [1e8, 1e10])
def test_capacities_carry_all_transmission(published_graph, kind, access_bps):
    overlay = design(kind, published_graph("geant", access_bps), INATURALIST)
    found, graph = sensitivities(overlay), overlay.graph

    carried = found.up_s_per_bps @ graph.up_bps + found.down_s_per_bps @ graph.down_bps
    carried += found.core_s_per_bps @ graph.core_bps
    assert -carried == pytest.approx(overlay.work.model_bits * found.model_s_per_bit, rel=1e-12)


def test_two_silos_by_hand(make_underlay):
    # Silo 0's uplink of 0.1 Gbps limits 0 -> 1, the core link of 0.5 Gbps limits 1 -> 0.
    up = np.array([1e8, 1e9])
    graph = connectivity(
        make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=up, down_bps=1e9), core=5e8
    )
    found = sensitivities(
        build_overlay("pair", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 0)])
    )

    assert found.up_s_per_bps == pytest.approx([-1e7 / 1e16 / 2, 0.0])
    assert found.down_s_per_bps.tolist() == [0.0, 0.0]
    assert found.core_s_per_bps == pytest.approx([-1e7 / 2.5e17 / 2])
    assert found.latency_s_per_s.tolist() == [0.5, 0.5]
    assert found.latency_constant_s_per_s == pytest.approx(1.0)
    assert found.compute_s_per_s.tolist() == [0.5, 0.5]
    assert found.model_s_per_bit == pytest.approx((1e-8 + 2e-9) / 2)


def test_a_silo_that_only_computes(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    work = Workload(model_bits=1e6, compute_s=np.array([9.0, 0.1]), local_steps=4)
    found = sensitivities(build_overlay("pair", graph, work, [(0, 1), (1, 0)]))

    assert found.compute_s_per_s.tolist() == [4.0, 0.0]
    assert found.model_s_per_bit == 0
    assert found.latency_constant_s_per_s == 0
    assert not np.any([found.up_s_per_bps, found.down_s_per_bps, found.latency_s_per_s])


@given(seed=seeds, ties=st.booleans())
def test_resources_give_the_same_cycle_time(random_case, seed, ties):
    case = random_case(seed, ties=ties)
    rng = np.random.default_rng(seed)
    up, down = 1e9 * rng.random((2, len(case.up_bps)))
    core = 1e9 * rng.random(case.underlay.links)
    resources = Resources.of(case.build())

    assert resources.cycle_time().cycle_time_s == tau(case.build())
    changed = replace(resources, up_bps=up, down_bps=down, core_bps=core).cycle_time().cycle_time_s
    assert changed == pytest.approx(
        tau(case.with_(up_bps=up, down_bps=down, core_bps=core).build()), rel=1e-12
    )
