"""States of the compiled engine by hand: that in which a job begins, and those that repeat."""

import math

import numpy as np
import pytest

from simulator import Constant, Exponential, FlowArc, make_job
from simulator.compiled.heap import put, size
from simulator.compiled.repeats import is_repeat
from simulator.compiled.state import (
    COMPUTING,
    GATED,
    NONE,
    OFF,
    WAITING,
    make_network,
    make_queue,
    make_silos,
    make_window,
)
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


def state(k, now_s, *, base, head):
    """Silo 0 in round `k`, silo 1 one behind, silo 2 one ahead; arc 0 holds two messages back, arc 1 sends three."""
    some = job()
    network, silos = make_network(some), make_silos(some)
    queue = make_queue(network, 4)
    window = make_window(some, Wirings(some).rows(0, 6), some.compute.rows(0, 6))
    clock, arcs = network.clock, network.arcs
    clock["now_s"], clock["base"], clock["reference"], clock["latest"] = now_s, base, k, k + 1
    clock["period"], clock["next_round"] = 4, 8
    silos.table["round"] = [k, k - 1, k + 1]
    silos.table["phase"] = [COMPUTING, WAITING, GATED]
    for silo, due_s in enumerate((2.0, 7.0, 1.5)):
        put(silos.events, silo, now_s + due_s)
    arcs["slow"] = [1, 1, 1, 0]
    arcs["after_s"] = 5.0
    arcs[0]["held"], arcs[0]["held_round"] = 2, k - 1
    window.messages["start_s"][k - 1 - base, 0] = now_s + 0.5
    window.messages["start_s"][k - base, 0] = now_s + 0.75
    arcs[1]["count"], arcs[1]["queued"], arcs[1]["head_round"], arcs[1]["head"] = 3, 1, k - 1, head
    arcs[1]["rate_bps"], arcs[1]["left_bits"], arcs[1]["since_s"] = 0.5, 6.0, now_s - 2.0
    queue.gap_bits[(head + 1) % 4, 1], queue.gap_bits[(head + 2) % 4, 1] = 1.5, 2.5
    arcs[2]["open_until_s"] = now_s + 3.0
    rows = slice(k - 1 - base, k + 2 - base)
    window.inbox["missing"][rows] = [[9, 1, 9], [2, 3, 9], [4, 5, 6]]
    window.inbox["latest_s"][rows] = now_s + np.array([[9.0, 0.25, 9.0], [-1.0, 0.5, 9.0], [4.0, 0.0, 8.0]])
    return network, silos, queue, window


STATE = [
    *[(0, 0), (COMPUTING, 0), (2.0, "s")],  # each silo: round, phase, when it is due
    *[(-1, 0), (WAITING, 0), (0.0, "s")],
    *[(1, 0), (GATED, 0), (1.5, "s")],
    *[
        (0, 0),
        (2, 0),
        (0, 0),
        (-1, 0),
        (0.5, "s"),
        (0.75, "s"),
    ],  # messages on arc 0; held back, the first, until when
    *[(4, 0), (0, 0), (0, 0), (-1, 0), (0.5, "bit/s"), (5.0, "bit"), (1.5, "bit"), (2.5, "bit")],
    *[(0, 0), (0, 0), (0, 0), (3.0, "s")],  # arc 2 is open
    (0, 0),
    (1, 0),  # the last round of which something was delivered
    *[
        (2, 0),
        (0.0, "s"),
        (4, 0),
        (4.0, "s"),
    ],  # the messages that each silo misses in its rounds from its own on
    *[(1, 0), (0.25, "s"), (3, 0), (0.5, "s"), (5, 0), (0.0, "s")],
    *[(6, 0), (8.0, "s")],
]


def saved_state():
    saved = np.full(60, np.nan)
    found = state(8, 64.0, base=6, head=5)
    assert not is_repeat(*found, saved)
    return saved, found[0].clock


def later_state(saved, *, k=12, now_s=96.0, saved_round=8, next_round=16):
    found = state(k, now_s, base=k - 3, head=7)
    clock = found[0].clock
    clock["saved_s"], clock["saved_round"], clock["next_round"] = 64.0, saved_round, next_round
    return is_repeat(*found, saved), clock[0]


def test_a_state_is_what_silos_and_messages_do_next():
    saved, clock = saved_state()
    assert saved[: len(STATE)].tolist() == [value for value, _ in STATE]
    assert np.isnan(saved[len(STATE) :]).all()
    assert (clock["saved_s"][0], clock["saved_round"][0], clock["next_round"][0]) == (64.0, 8, 16)
    assert clock["reference"][0] == NONE


def test_a_state_repeats_where_all_of_it_differs_by_rounding_at_most():
    # The period is 32 s; dates of 96 s are rounded by 2e-15 of that, and of bits what is sent meanwhile.
    noise_s = 96.0 * 2e-15
    least = {0: 0.0, "s": 32e-12 + noise_s, "bit/s": 0.5e-12, "bit": 8e-12 + 0.5 * noise_s}
    saved, _ = saved_state()
    found = state(12, 96.0, base=9, head=7)
    clock = found[0].clock[0]
    clock["saved_s"], clock["saved_round"], clock["next_round"] = 64.0, 8, 16
    for place, (_, unit) in enumerate(STATE):
        for sign in (1.0, -1.0):
            near, far = saved.copy(), saved.copy()
            near[place] += sign * 0.998 * least[unit]
            far[place] += sign * (1.002 * least[unit] or 1.0)
            for other, repeats in ((saved, True), (near, True), (far, False)):
                clock["reference"] = 12
                assert is_repeat(*found, other) is repeats, place


@pytest.mark.parametrize(
    ("how", "repeats", "saved_round", "next_round"),
    [
        ({}, True, 8, 16),
        ({"k": 16, "next_round": 32}, True, 8, 32),
        ({"saved_round": 0}, True, 0, 16),
        ({"k": 13, "saved_round": 1}, True, 1, 16),
        ({"k": 13}, False, 8, 16),  # the job has other arcs in the rounds that follow
        ({"k": 15, "saved_round": NONE}, False, NONE, 16),  # nothing is saved yet
        ({"k": 15, "saved_round": NONE, "next_round": 15}, False, 15, 30),
        ({"k": 14, "next_round": 13}, False, 14, 28),
    ],
)
def test_states_are_compared_a_period_apart_and_saved_where_as_many_rounds_again_are_over(
    how, repeats, saved_round, next_round
):
    found, clock = later_state(saved_state()[0], **how)
    assert found is repeats
    assert (clock["saved_round"], clock["next_round"], clock["reference"]) == (saved_round, next_round, NONE)
    assert clock["saved_s"] == (96.0 if saved_round > 8 else 64.0)


@pytest.mark.parametrize(
    ("arc", "value", "starts_slowly"),
    [("after_s", -1.0, 1), ("open_until_s", 63.0, 1), ("open_until_s", math.inf, 0)],
)
def test_of_an_arc_that_is_open_for_ever_or_not_at_all_no_date_is_in_the_state(arc, value, starts_slowly):
    saved, found = np.full(60, np.nan), state(8, 64.0, base=6, head=5)
    found[0].arcs[2][arc] = value
    assert not is_repeat(*found, saved)
    values = [value for value, _ in STATE]
    assert saved[: len(STATE) - 1].tolist() == [*values[:25], starts_slowly, *values[27:]]
