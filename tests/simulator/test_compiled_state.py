"""The state in which a job begins in the compiled engine, by hand."""

import math

import numpy as np
import pytest

from simulator import Constant, Exponential, FlowArc, make_job
from simulator.compiled.heap import size
from simulator.compiled.state import GATED, NONE, OFF, make_network, make_queue, make_silos, make_window
from simulator.compiled.used_arcs import Wirings


def job(*, usage=(1.0, 0.5), slow_start_s=2.0, **how):
    """Silo 1 sends to 0 and 2, and both back; links 0 to 2 have 4, 2 and 1 bit/s, and link 3 has no limit."""
    arcs = [
        FlowArc(
            source=0,
            target=1,
            latency_s=0.25,
            links=(1, 0),
            slow_start_s=slow_start_s,
            slow_start_after_s=5.0,
        ),
        FlowArc(source=1, target=0, latency_s=0.5, links=(2, 1), usage=usage[::-1]),
        FlowArc(source=1, target=2, latency_s=0.75, links=(0,), tokens=0),
        FlowArc(source=2, target=1, latency_s=1.0, links=(3,)),
    ]
    how = {"compute": Constant(compute_s=[1.0, 2.0, 3.0]), "rounds": 7} | how
    return make_job(
        arcs, link_capacity_bps=[4.0, 2.0, 1.0, math.inf], message_bits=[4.0, 8.0, 0.0, 3.0], **how
    )


def test_a_network_that_changes_keeps_all_links_of_finite_capacity():
    network = make_network(job(changes=lambda: iter(())))
    arcs, hops, links = network.arcs, network.hops, network.links

    # Nothing stands for the route of a message without bits, nor for the link without limit.
    assert arcs["first"].tolist() == [0, 2, 4, 4]
    assert arcs["end"].tolist() == [2, 4, 4, 4]
    assert (hops["arc"].tolist(), hops["link"].tolist()) == ([0, 0, 1, 1], [0, 1, 1, 2])
    assert hops["usage"].tolist() == [1.0, 1.0, 1.0, 0.5]
    # Alone, arc 0 has 2 bit/s by link 1, and arc 1 has 2 bit/s by link 1 and by link 2, which half of its bits cross.
    assert arcs["alone_bps"].tolist() == [2.0, 2.0, math.inf, math.inf]
    assert arcs["alone_hop"].tolist()[:2] == [1, 2]
    assert arcs["bound_hop"].tolist() == [-1] * 4
    assert arcs["target"].tolist() == [1, 0, 2, 1]
    assert arcs["latency_s"].tolist() == [0.25, 0.5, 0.75, 1.0]
    assert arcs["bits"].tolist() == [4.0, 8.0, 0.0, 3.0]
    assert arcs["weight"].tolist() == [1.0] * 4
    assert arcs["slow"].tolist() == [1, 0, 0, 0]
    assert arcs["slow_s"].tolist() == [2.0, 0.0, 0.0, 0.0]
    assert arcs["after_s"].tolist() == [5.0, math.inf, math.inf, math.inf]
    assert arcs["open_until_s"].tolist() == [-math.inf] * 4
    # Of silo 1 the arc with a token comes first.
    assert arcs["out"].tolist() == [0, 1, 2, 3]
    assert links["capacity_bps"].tolist() == [4.0, 2.0, 1.0, math.inf]
    assert links["users"].tolist() == [1, 2, 1, 0]
    assert links["first"].tolist() == [0, 1, 3, 4]
    assert links["least_weight"].tolist() == [1.0, 1.0, 0.5, math.inf]
    assert network.seats["user"].tolist() == [0, 1, 2, 3]
    assert [size(heap) for heap in (network.ends, network.shares, network.levels)] == [0, 0, 0]
    assert [len(heap) for heap in (network.ends, network.shares, network.levels)] == [5, 5, 5]


@pytest.mark.parametrize(
    ("how", "clock"),
    [
        ({}, {"reference": NONE, "period": 1}),
        ({"changes": lambda: iter(())}, {"reference": OFF}),  # what changes is not looked at for repeats
        ({"compute": Exponential(mean_s=[1.0] * 3, seed=0)}, {"reference": OFF, "period": 0}),
        ({"queueing": "overlap"}, {"fifo": 0}),
        ({"slow_start_s": 0.0, "backward_share": 0.25}, {"forward": 0.75}),
        ({"rounds": 9}, {"rounds": 9}),
    ],
)
def test_the_clock_of_a_job(how, clock):
    found = make_network(job(**how)).clock[0]
    expected = {
        "now_s": 0.0,
        "base": 0,
        "rounds": 7,
        "fifo": 1,
        "planned": 0,
        "forward": 1.0,
        "longest_lag": 1,
        "latest": NONE,
        "change_s": math.inf,
        "saved_round": NONE,
        "next_round": 1,
        "stamp": 1,
    } | clock
    assert {name: found[name] for name in expected} == expected


def test_sums_of_weights_that_are_not_all_one_are_rounded_up():
    # Links that two arcs cross are not left out.
    plain, part = (make_network(job(usage=usage)).clock[0]["up"] for usage in ((1.0, 1.0), (0.75, 0.5)))
    assert plain == 1.0
    assert 1.0 < part < 1.0 + 1e-14


@pytest.mark.parametrize(("slow_start_s", "items"), [(2.0, 3 + 4), (0.0, 3)])
def test_all_silos_are_about_to_start_round_0(slow_start_s, items):
    silos = make_silos(job(slow_start_s=slow_start_s))
    assert silos.table["round"].tolist() == [-1] * 3
    assert silos.table["phase"].tolist() == [GATED] * 3
    assert silos.table["first"].tolist() == [0, 1, 3]
    assert silos.table["middle"].tolist() == [1, 2, 4]
    assert silos.table["end"].tolist() == [1, 3, 4]
    assert (size(silos.events), len(silos.events)) == (3, items + 1)
    assert silos.events["key"][:3].tolist() == [0.0] * 3


def test_a_window_in_which_nothing_has_happened():
    some = job()
    compute_s = some.compute.rows(0, 2)
    window = make_window(some, Wirings(some).rows(0, 2), compute_s)
    assert window.inbox["compute_s"].tolist() == compute_s.tolist()
    assert np.isnan(window.inbox["round_start_s"]).all()
    assert window.inbox["missing"].tolist() == [[1, 2, 1]] * 2
    assert not window.inbox["latest_s"].any()
    assert window.messages.shape == (2, 4)
    assert (window.messages["bound_link"] == -1).all()
    queue = make_queue(make_network(job(changes=lambda: iter(()))), 3)
    assert (queue.gap_bits.shape, queue.bound_s.shape) == ((3, 4), (3, 4))
