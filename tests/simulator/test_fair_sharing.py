"""Rates that are kept up to date are those of filling all links anew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import FlowArc, SharingModel, max_min_rates
from simulator.compiled.fair_sharing import _FRESH, begin, leave, update_rates
from simulator.compiled.heap import size
from simulator.compiled.state import make_network, make_queue, make_window
from simulator.compiled.used_arcs import Wirings
from simulator.compute_times import Constant
from simulator.job import make_job
from simulator.simpy_engine.fluid import FluidNetwork


def job_on(routes, capacity_bps, queueing="fifo", weights=None):
    """A circle of silos; arc `n` takes route `n` and has weight `n`."""
    silos = len(routes)
    weighted = SharingModel(
        name="weighted", network=FluidNetwork, compiled="maxmin", weights=lambda _: weights
    )
    return make_job(
        [
            FlowArc(source=n, target=(n + 1) % silos, latency_s=0.0, links=tuple(route))
            for n, route in enumerate(routes)
        ],
        link_capacity_bps=capacity_bps,
        message_bits=1.0,
        compute=Constant(compute_s=np.ones(silos)),
        rounds=1,
        queueing=queueing,
        sharing="maxmin" if weights is None else weighted,
    )


class Messages:
    """Messages that come and go as told."""

    def __init__(self, job):
        self.network = make_network(job)
        self.most = 8
        self.queue = make_queue(self.network, self.most)
        self.messages = make_window(job, Wirings(job).rows(0, 1), np.zeros((5_000, job.silos))).messages
        self.capacity_bps = job.link_capacity_bps
        self.next_round = [0] * len(job.arcs)

    def toggle(self, arc):
        """One more on an idle arc; one less on another."""
        if self.network.arcs[arc]["count"]:
            leave(self.network, self.queue, self.messages, arc)
        else:
            self.add(arc)

    def add(self, arc):
        """One more."""
        if self.network.arcs[arc]["first"] == self.network.arcs[arc]["end"]:
            return
        begin(self.network, self.queue, self.messages, arc, self.next_round[arc])
        self.next_round[arc] += 1

    def settle(self):
        update_rates(self.network)
        self.network.clock["now_s"] += 0.001

    def check(self):
        arcs, links = self.network.arcs, self.network.hops["link"]
        busy = np.repeat(np.arange(len(arcs)), arcs["count"])
        expected = max_min_rates(
            [links[arcs["first"][n] : arcs["end"][n]].tolist() for n in busy],
            self.capacity_bps,
            arcs["weight"][busy],
        )
        # What heavy messages leave of a link to a light one is a small difference of large numbers.
        rtol = 3e-12 + 1e-14 * (arcs["weight"].max() / arcs["weight"].min() - 1.0)
        np.testing.assert_allclose(arcs["rate_bps"][busy], expected, rtol=rtol, atol=0)
        assert not arcs["active"].any()
        assert not self.network.links["active"].any()
        assert not self.network.links["active_weight"].any()
        return busy, expected

    def check_tables(self):
        """What is kept of each link and arc is what the rates of the messages say."""
        arcs, hops, seats, links, clock, ends, _, levels = self.network
        is_used = arcs["count"][hops["arc"]] > 0
        used, seat = hops[is_used], seats[hops["place"][is_used]]
        assert (seat["hop"] == np.flatnonzero(is_used)).all()
        assert (np.bincount(used["link"], minlength=len(links)) == links["members"]).all()
        assert (seat["level_bps"] == arcs["level_bps"][used["arc"]]).all()
        np.testing.assert_allclose(
            seat["weight"], (arcs["weight"] * arcs["count"])[used["arc"]] * used["usage"], rtol=1e-13
        )
        load_bps = np.bincount(used["link"], seat["level_bps"] * seat["weight"], len(links))
        most_bps = links["capacity_bps"].max(initial=0.0)
        np.testing.assert_allclose(links["load_bps"] * (links["members"] > 0), load_bps, atol=1e-9 * most_bps)
        busy = arcs[arcs["count"] > 0]
        bound = hops["link"][busy["bound_hop"]]
        assert (arcs["bound_hop"][arcs["count"] == 0] == -1).all()
        assert (hops["arc"][busy["bound_hop"]] == np.flatnonzero(arcs["count"])).all()
        assert (np.bincount(bound, minlength=len(links)) == links["bound"]).all()
        assert (links["level_bps"][bound] == busy["level_bps"]).all()
        np.testing.assert_allclose(load_bps[bound], links["capacity_bps"][bound], rtol=1e-9)
        assert (size(levels), clock["open"][0]) == (0, 0)
        assert ((ends["place"][:-1] >= 0) == (arcs["count"] > 0)).all()
        if clock["fifo"][0]:  # Of several on an arc, `toggle` may take one that has bits left.
            end_s = busy["since_s"] + busy["left_bits"] / busy["rate_bps"]
            np.testing.assert_allclose(busy["end_s"], end_s, rtol=1e-12)
            assert (ends["key"][:-1][arcs["count"] > 0] <= busy["end_s"]).all()


@st.composite
def systems(draw):
    """Routes and capacities with ties, and which messages come or go at each instant."""
    links, arcs = draw(st.integers(1, 8)), draw(st.integers(2, 14))
    capacity = st.sampled_from([0.5, 1.0, 2.0, 3.0, 1e6]) | st.floats(0.1, 10.0)
    routes = st.lists(st.integers(0, links - 1), unique=True, max_size=links)
    return (
        draw(st.lists(routes, min_size=arcs, max_size=arcs)),
        draw(st.lists(capacity, min_size=links, max_size=links)),
        draw(st.lists(st.lists(st.integers(0, arcs - 1), min_size=1, max_size=4), min_size=1, max_size=40)),
    )


@given(systems())
def test_rates_after_every_instant(system):
    routes, capacity_bps, instants = system
    messages = Messages(job_on(routes, capacity_bps))
    for instant in instants:
        for arc in instant:
            messages.toggle(arc)
        messages.settle()
        messages.check()
        messages.check_tables()


@given(systems(), st.randoms(use_true_random=False))
def test_rates_with_several_messages_on_an_arc(system, random):
    routes, capacity_bps, instants = system
    messages = Messages(job_on(routes, capacity_bps, queueing="overlap"))
    for instant in instants:
        for arc in instant:
            few = messages.network.arcs[arc]["count"] < messages.most
            if few and random.random() < 0.6:
                messages.add(arc)
            else:
                messages.toggle(arc)
        messages.settle()
        messages.check()
        messages.check_tables()


def drawn_weights(data, count):
    """Of messages, some of them equal."""
    return data.draw(
        st.lists(st.sampled_from([1.0, 2.0, 0.1]) | st.floats(0.1, 100.0), min_size=count, max_size=count)
    )


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(systems(), st.data())
def test_weighted_rates_after_every_instant(queueing, system, data):
    routes, capacity_bps, instants = system
    messages = Messages(job_on(routes, capacity_bps, queueing, drawn_weights(data, len(routes))))
    for instant in instants:
        for arc in instant:
            more = queueing == "overlap" and messages.network.arcs[arc]["count"] < messages.most
            if more and data.draw(st.booleans()):
                messages.add(arc)
            else:
                messages.toggle(arc)
        messages.settle()
        messages.check()
        messages.check_tables()


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@given(systems(), st.data())
def test_equal_weights_give_the_bits_of_none(queueing, system, data):
    """Those of a power of two, which scales levels without rounding."""
    routes, capacity_bps, instants = system
    weight = data.draw(st.sampled_from([0.25, 8.0]))
    plain, weighted = (
        Messages(job_on(routes, capacity_bps, queueing, weights))
        for weights in (None, [weight] * len(routes))
    )
    for instant in instants:
        for messages in (plain, weighted):
            for arc in instant:
                messages.toggle(arc)
            messages.settle()
        for name in ("rate_bps", "end_s", "bound_hop"):
            assert weighted.network.arcs[name].tolist() == plain.network.arcs[name].tolist()


@pytest.mark.parametrize("spread", [10.0, 1e4])
def test_weighted_rates_stay_right_over_thousands_of_instants(spread):
    # Weights as far apart as those of a route within a rack and one around the world.
    rng = np.random.default_rng(6)
    routes = [rng.choice(25, size=rng.integers(1, 6), replace=False).tolist() for _ in range(60)]
    weights = spread ** rng.uniform(0, 1, 60)
    messages = Messages(job_on(routes, rng.uniform(0.1, 3.0, 25).tolist(), weights=weights))
    for instant in range(3_000):
        for arc in rng.integers(0, 60, size=rng.integers(1, 4)):
            messages.toggle(int(arc))
        messages.settle()
        if instant % 8 == 0:
            messages.check()


@pytest.mark.parametrize("capacities_bps", [(1.0,), (1.0, 3.0), (0.1, 0.3, 0.7), None])
def test_rates_stay_right_over_thousands_of_instants(capacities_bps):
    # Loads of links are kept up to date meanwhile, and summed up anew only now and then.
    rng = np.random.default_rng(5)
    routes = [rng.choice(25, size=rng.integers(1, 6), replace=False).tolist() for _ in range(60)]
    capacity_bps = rng.uniform(0.1, 3.0, 25) if capacities_bps is None else rng.choice(capacities_bps, 25)
    messages = Messages(job_on(routes, capacity_bps.tolist()))
    for instant in range(4_000):
        for arc in rng.integers(0, 60, size=rng.integers(1, 4)):
            messages.toggle(int(arc))
        messages.settle()
        if instant % 8 == 0:
            messages.check()
    messages.check_tables()
    assert messages.network.clock["stamp"][0] > 3_000


@pytest.mark.parametrize("weights", [None, [1.0, 4.0, 0.5, 2.0]])
def test_loads_that_drifted_are_summed_anew(weights):
    messages = Messages(job_on([[0, 1], [0], [1, 2], [2]], [4.0, 3.0, 2.0], "overlap", weights))
    for arc in (0, 0, 1, 2, 3):
        messages.add(arc)
    messages.settle()
    messages.check_tables()
    # Far more than rounding, so that it would be seen in the rates.
    messages.network.links["load_bps"] *= [0.5, 2.0, 1.25]
    messages.network.clock["stamp"] = 7 * _FRESH
    messages.add(1)
    messages.settle()
    messages.check()
    messages.check_tables()


def test_equal_rates_stay_one_number():
    # Each of nine arcs crosses one of three links and one of three others: all get a third of 1, again and again.
    routes = [[i, 3 + j] for i in range(3) for j in range(3)]
    messages = Messages(job_on(routes, [1.0] * 6))
    for arc in range(9):
        messages.toggle(arc)
        messages.settle()
    rng = np.random.default_rng(1)
    for _ in range(200):
        gone = rng.choice(9, size=rng.integers(1, 9), replace=False).tolist()
        for arc in gone:
            messages.toggle(arc)
            messages.settle()
            messages.check()
        for arc in gone[::-1]:
            messages.toggle(arc)
            messages.settle()
        assert set(messages.network.arcs["rate_bps"].tolist()) == {1 / 3}


def test_only_what_a_change_can_reach_is_sought():
    # A third message on link 0 does not matter for those of link 1, though arc 1 crosses both: it is slower.
    messages = Messages(job_on([[0], [0, 1], [1], [0]], [9.0, 1.0]))
    for arc in range(3):
        messages.toggle(arc)
    messages.settle()
    assert messages.check()[1].tolist() == [8.5, 0.5, 0.5]
    messages.toggle(3)
    messages.settle()
    assert messages.check()[1].tolist() == [4.25, 0.5, 0.5, 4.25]
    stamps = messages.network.arcs["stamp"]
    assert stamps[1] == stamps[2] < stamps[0] == stamps[3]
