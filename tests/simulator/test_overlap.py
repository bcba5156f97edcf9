"""Messages that leave during the backward pass: by hand, by Eq. 3, and in both engines."""

from dataclasses import replace

import numpy as np
import pytest

from simulator import CapacityChange, FlowArc, Lognormal, simulate, simulate_flows
from topologies import AccessLinks, InputError, Workload, connectivity, design, design_random, load_underlay

ENGINES = pytest.mark.parametrize("engine", ["simpy", "compiled"])
QUEUEINGS = pytest.mark.parametrize("queueing", ["fifo", "overlap"])
TABLES = ("start_s", "last_bit_s", "arrival_s")


PAIR = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=(i,)) for i in (0, 1)]
"""Two silos that send to each other, each on a link of its own."""


def graph_of(network, access_bps):
    return connectivity(load_underlay(network), access=AccessLinks(up_bps=access_bps, down_bps=access_bps))


@ENGINES
@QUEUEINGS
@pytest.mark.parametrize("sharing", ["maxmin", "equal", "rtt_weighted"])
@pytest.mark.parametrize(
    ("bits", "cycle_time_s"),
    [
        (0.0, 1.25),  # nothing to send: computing and latency
        (0.5, 1.25),  # sent within the pass of 0.6 s
        (0.6, 1.25),  # just so
        (0.7, 1.35),  # 0.1 s longer
        (5.0, 5.65),  # transmission dominates: the pass is saved
    ],
)
def test_a_ring_on_its_own_links(engine, queueing, sharing, bits, cycle_time_s):
    ring = [FlowArc(source=i, target=(i + 1) % 3, latency_s=0.25, links=(i,), rate_bps=1.0) for i in range(3)]
    found = simulate_flows(
        ring,
        link_capacity_bps=[1.0] * 3,
        message_bits=bits,
        compute_s=[1.0] * 3,
        rounds=20,
        sharing=sharing,
        queueing=queueing,
        engine=engine,
        messages=True,
        backward_share=0.6,
    )

    assert found.cycle_time_s == pytest.approx(cycle_time_s, rel=1e-12)
    assert found.cycle_time_is_exact
    starts_s = found.round_start_s[:-1]
    assert found.messages.start_s == pytest.approx(starts_s + 0.4, rel=1e-12)
    assert found.messages.last_bit_s == pytest.approx(starts_s + max(1.0, 0.4 + bits), rel=1e-12)
    assert found.arrival_s == pytest.approx(found.messages.last_bit_s + 0.25, rel=1e-12)


@ENGINES
def test_a_link_that_an_early_message_shares(engine):
    """Two silos on one link, of which each has it for itself."""
    pair = [
        FlowArc(source=0, target=1, latency_s=0.5, links=(0,)),
        FlowArc(source=1, target=0, latency_s=0.5, links=(0,)),
    ]
    found = simulate_flows(
        pair,
        link_capacity_bps=[2.0],
        message_bits=[5.0, 1.0],
        compute_s=[8.0, 4.0],
        rounds=1,
        engine=engine,
        messages=True,
        backward_share=0.25,
    )
    # Silo 1 sends from 3 s on, alone, and holds its last bit until 4 s; silo 0 sends from 6 s on.
    assert found.messages.start_s[0].tolist() == [6.0, 3.0]
    assert found.messages.last_bit_s[0].tolist() == [8.5, 4.0]
    assert found.arrival_s[0].tolist() == [9.0, 4.5]
    assert found.round_start_s[1].tolist() == [8.0, 9.0]


def test_a_link_that_becomes_slower_during_the_pass():
    """Of 6 bits 2 have left by 3 s, when link 0 becomes slower; those on link 1 have, and wait for the end at 4 s."""
    slower = CapacityChange(date_s=3.0, link=0, capacity_bps=1.0)
    found = simulate_flows(
        PAIR,
        link_capacity_bps=[2.0, 6.0],
        message_bits=6.0,
        compute_s=[4.0, 4.0],
        rounds=1,
        messages=True,
        backward_share=0.5,
        changes=lambda: iter([slower]),
    )

    assert found.messages.last_bit_s[0].tolist() == [7.0, 4.0]
    assert found.arrival_s[0].tolist() == [7.5, 4.5]


@ENGINES
def test_a_hub_sends_when_it_has_all_models(engine):
    arcs = [
        FlowArc(source=1, target=0, latency_s=0.0, links=(0,)),
        FlowArc(source=0, target=1, latency_s=0.0, links=(1,), tokens=0),
    ]
    found = simulate_flows(
        arcs,
        link_capacity_bps=[1.0, 1.0],
        message_bits=3.0,
        compute_s=[4.0, 4.0],
        rounds=5,
        engine=engine,
        messages=True,
        backward_share=0.5,
    )

    # There and back: sent from 2 s to 5 s, and from 5 s to 8 s, with nothing hidden.
    assert found.messages.start_s[0].tolist() == [2.0, 5.0]
    assert found.arrival_s[0].tolist() == [5.0, 8.0]
    assert found.cycle_time_s == pytest.approx(8.0, rel=1e-12)


@QUEUEINGS
@pytest.mark.parametrize("sharing", ["maxmin", "rtt_weighted"])
@pytest.mark.parametrize(("kind", "access_bps"), [("ring", 1e10), ("mst", 1e9), ("star", 1e9)])
def test_both_engines_have_the_same_dates_and_periods_on_a_network(kind, access_bps, sharing, queueing):
    work = replace(Workload.preset("inaturalist", local_steps=2), overlap=2 / 3)
    overlay = design(kind, graph_of("gaia", access_bps), work)
    slow, fast = (
        simulate(overlay, 60, sharing=sharing, queueing=queueing, engine=engine, messages=True)
        for engine in ("simpy", "compiled")
    )

    np.testing.assert_allclose(fast.round_start_s, slow.round_start_s, rtol=1e-9, atol=0)
    for name in TABLES:
        np.testing.assert_allclose(getattr(fast.messages, name), getattr(slow.messages, name), rtol=1e-9)
    assert fast.steady.period_rounds == slow.steady.period_rounds
    assert fast.cycle_time_s == pytest.approx(slow.cycle_time_s, rel=1e-9)


@pytest.mark.parametrize("network", ["gaia", "geant"])
@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
def test_with_constant_rates_the_simulation_is_the_closed_form(network, kind):
    work = replace(Workload.preset("inaturalist"), overlap=2 / 3)
    overlay = design(kind, graph_of(network, 1e10), work)

    assert simulate(overlay, 50, sharing="equal", queueing="overlap").cycle_time_s == pytest.approx(
        overlay.closed_forms.paper_s, rel=1e-9
    )


@ENGINES
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_each_round_hides_its_share_of_random_computing_times(engine, sharing):
    work = replace(Workload.preset("inaturalist", local_steps=3), overlap=0.6)
    overlay = design("ring", graph_of("gaia", 1e10), work)
    compute = Lognormal(mean_s=work.round_compute_s(11), cv=0.5, seed=1)
    found = simulate(overlay, 40, sharing=sharing, compute=compute, engine=engine, messages=True)
    starts_s, compute_s = found.round_start_s[:-1], compute.rows(0, 40)
    leaves_s, computed_s = starts_s + 0.8 * compute_s, starts_s + compute_s

    source = overlay.source
    assert (found.messages.start_s >= leaves_s[:, source] * (1 - 1e-12)).all()
    assert found.messages.start_s[0] == pytest.approx(leaves_s[0, source], rel=1e-12)
    assert (found.messages.last_bit_s >= computed_s[:, source] * (1 - 1e-12)).all()
    assert (np.diff(found.round_start_s, axis=0) >= compute_s * (1 - 1e-9)).all()


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_random_overlays_have_the_same_dates_in_both_engines(sharing):
    overlay = design_random(
        "random_ring", graph_of("gaia", 1e9), replace(Workload.preset("inaturalist"), overlap=0.6)
    )
    slow, fast = (
        simulate(overlay, 30, seed=3, sharing=sharing, engine=engine) for engine in ("simpy", "compiled")
    )

    np.testing.assert_allclose(fast.round_start_s, slow.round_start_s, rtol=1e-9, atol=0)


@pytest.mark.parametrize("backward_share", [-0.1, 1.0, float("nan")])
def test_a_share_that_is_none_is_refused(backward_share):
    with pytest.raises(InputError, match="backward_share"):
        simulate_flows(
            PAIR,
            link_capacity_bps=[1.0, 1.0],
            message_bits=1.0,
            compute_s=[1.0, 1.0],
            rounds=1,
            backward_share=backward_share,
        )
