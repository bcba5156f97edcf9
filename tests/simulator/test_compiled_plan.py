"""The compiled engine gives the dates of the SimPy engine when each round has arcs of its own."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import Absence, FlowArc, Lognormal, Pause, RoundPlan
from simulator.compiled.engine import CompiledEngine, unsupported
from simulator.compute_times import Constant
from simulator.job import make_job
from simulator.overlay_jobs import overlay_job
from simulator.simpy_engine.engine import SimpyEngine
from topologies import AccessLinks, Underlay, Workload, connectivity, design, design_random, load_underlay

TABLES = ("start_s", "last_bit_s", "arrival_s", "bound_link")


class Plan(RoundPlan):
    """Rounds with listed arcs, each sending for its own time."""

    def __init__(self, active):
        self._active = [np.array(arcs, dtype=np.int64) for arcs in active]

    @property
    def rounds(self):
        return len(self._active)

    def active(self, round_):
        return self._active[round_]

    def sending_s(self, round_):
        return 0.25 * (1 + (3 * self._active[round_] + round_) % 5)


def blocks_of(engine):
    found = []
    while (block := engine.advance()) is not None:
        found.append(block)
    return found


def assert_like_simpy(job, *, block_rounds, bound_link=False, repeats=False):
    assert not unsupported(job)
    slow = blocks_of(SimpyEngine(job, block_rounds=block_rounds))
    engine = CompiledEngine(job, block_rounds)
    fast = blocks_of(engine)
    assert [block.first_round for block in fast] == [block.first_round for block in slow]
    for one, other in zip(slow, fast, strict=True):
        np.testing.assert_allclose(other.round_start_s, one.round_start_s, rtol=1e-9, atol=0)
        for table in TABLES[: 3 + bound_link]:
            expected = getattr(one.messages, table)
            np.testing.assert_allclose(
                getattr(other.messages, table), expected, rtol=1e-9, atol=0, err_msg=table
            )
        unsent = np.isnan(one.messages.start_s)
        assert (other.messages.bound_link[unsent] == -1).all()
        np.testing.assert_allclose(other.link_bits, one.link_bits, rtol=1e-12)
        assert other.now_s == pytest.approx(one.now_s, rel=1e-9)
    assert repeats or engine.steady is None
    return fast


@st.composite
def jobs(draw):
    """Any arcs in any round, with ties, zero latencies and sizes, 0-token arcs and shared links."""
    silos, links = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    pair = st.tuples(st.integers(0, silos - 1), st.integers(0, silos - 1)).filter(
        lambda ends: len({*ends}) > 1
    )
    pairs = sorted(draw(st.sets(pair, min_size=1, max_size=12))) if silos > 1 else []
    arcs = [
        FlowArc(
            source=source,
            target=target,
            latency_s=draw(st.sampled_from([0.0, 0.25, 1.0]) | st.floats(0.0, 2.0)),
            links=tuple(draw(st.lists(st.integers(0, links - 1), unique=True, max_size=3))),
            tokens=draw(st.integers(0, 1)) if source < target else 1,
            rate_bps=draw(st.sampled_from([0.5, 1.0, 4.0])),
        )
        for source, target in pairs
    ]
    rounds = draw(st.integers(1, 25))
    which = st.lists(st.booleans(), min_size=len(arcs), max_size=len(arcs))
    kinds = draw(st.lists(which, min_size=1, max_size=4))
    order = draw(st.lists(st.integers(0, len(kinds) - 1), min_size=rounds, max_size=rounds))
    compute_s = draw(
        st.lists(st.sampled_from([0.125, 0.5, 1.0]) | st.floats(0.01, 2.0), min_size=silos, max_size=silos)
    )
    bits = st.sampled_from([0.0, 1.0, 3.0])
    drawn = Lognormal(mean_s=np.array(compute_s), cv=1.0, seed=draw(st.integers(0, 9)))
    return {
        "arcs": arcs,
        "link_capacity_bps": draw(
            st.lists(st.sampled_from([0.5, 1.0, 3.0, math.inf]), min_size=links, max_size=links)
        ),
        "message_bits": draw(bits | st.lists(bits, min_size=len(arcs), max_size=len(arcs))),
        "compute": draw(st.sampled_from([drawn, Constant(compute_s=np.array(compute_s))])),
        "rounds": rounds,
        "plan": Plan([np.flatnonzero(kinds[kind]) for kind in order]),
    }


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@given(
    values=jobs(),
    block_rounds=st.sampled_from([1, 2, 5, 64]),
    backward_share=st.sampled_from([0.0, 0.5]),
)
def test_random_plans_have_the_dates_of_simpy(values, block_rounds, backward_share, sharing, queueing):
    job = make_job(**values, sharing=sharing, queueing=queueing, backward_share=backward_share)
    assert_like_simpy(job, block_rounds=block_rounds)


def small_network():
    """Five places at random, with links and accesses of random capacities: no ties."""
    rng = np.random.default_rng(8)
    ends = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 3)]
    underlay = Underlay(
        name="small",
        variant="corrected",
        labels=("A", "B", "C", "D", "E"),
        latitude_deg=rng.uniform(40, 50, 5),
        longitude_deg=rng.uniform(0, 10, 5),
        ends=ends,
        length_km=rng.uniform(50, 500, 6),
        capacity_bps=rng.uniform(1e8, 1e9, 6),
    )
    up_bps, down_bps = 10 ** rng.uniform(7, 9, (2, 5))
    return connectivity(underlay, access=AccessLinks(up_bps=up_bps, down_bps=down_bps))


def gaia():
    up_bps, down_bps = 10 ** np.random.default_rng(5).uniform(7, 10, (2, 11))
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=up_bps, down_bps=down_bps))


WORK = Workload.preset("inaturalist")


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("kind", ["matcha", "matcha_plus", "random_ring"])
@pytest.mark.parametrize("network", [gaia, small_network])
def test_overlays_that_change_have_the_dates_of_simpy(network, kind, sharing, queueing):
    graph = network()
    drawn = Lognormal(mean_s=np.full(graph.silos, 0.3), cv=0.8, seed=2)
    for compute, block_rounds in ((None, 7), (drawn, 64), (drawn, 1)):
        job = overlay_job(
            design_random(kind, graph, WORK), 40, sharing=sharing, queueing=queueing, compute=compute, seed=11
        )
        fast = assert_like_simpy(job, block_rounds=block_rounds, bound_link=True)
        assert any(np.isnan(block.messages.start_s).any() for block in fast)
        if sharing == "maxmin":
            bound = np.concatenate([block.messages.bound_link for block in fast])
            assert len(np.unique(bound)) > 3


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("kind", ["ring", "star", "matcha"])
def test_rounds_without_the_absent_have_the_dates_of_simpy(kind, sharing):
    graph = gaia()
    events = [
        Absence(silo=2, first_round=3, rounds=4),
        Absence(silo=5, first_round=5, rounds=9),
        Pause(silo=1, first_round=2, duration_s=7.0),
    ]
    random = kind == "matcha"
    designed = design_random(kind, graph, WORK) if random else design(kind, graph, WORK)
    job = overlay_job(designed, 30, sharing=sharing, events=events, seed=1 if random else None)
    for block_rounds in (1, 8, 256):
        assert_like_simpy(job, block_rounds=block_rounds)


class FromRound(RoundPlan):
    """Two arcs, of which the second is awaited two rounds after its next one, and not before round 2."""

    rounds, period, longest_lag = 20, 1, 3

    def active(self, round_):
        return np.arange(2 if round_ >= 2 else 1)

    def lags(self, round_):
        return np.array([1, 3])[: len(self.active(round_))]

    def sending_s(self, round_):
        return np.array([0.5, 4.0])[: len(self.active(round_))]


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
def test_messages_that_no_round_sends_are_not_awaited(sharing, queueing):
    arcs = [
        FlowArc(source=i, target=1 - i, latency_s=0.25, links=(i,), rate_bps=rate_bps)
        for i, rate_bps in enumerate((2.0, 0.25))
    ]
    job = make_job(
        arcs,
        link_capacity_bps=[2.0, 0.25],
        message_bits=1.0,
        compute=Constant(compute_s=np.array([1.0, 0.5])),
        rounds=20,
        plan=FromRound(),
        sharing=sharing,
        queueing=queueing,
    )
    for block_rounds in (1, 3, 64):
        fast = assert_like_simpy(job, block_rounds=block_rounds, repeats=True)
        sent = np.concatenate([~np.isnan(block.messages.start_s) for block in fast])
        assert sent.tolist() == [[True, k >= 2] for k in range(20)]


@pytest.mark.parametrize(("queueing", "last_bit_s"), [("fifo", [11, 21, 31]), ("overlap", [14.5, 30.5, 31])])
def test_messages_of_rounds_that_are_far_apart_wait_for_each_other(queueing, last_bit_s):
    # One silo computes 1 s a round and sends 10 bits over 1 bit/s in rounds 0, 8 and 9; the other one listens.
    # Overlap: the first has 2 bits left at 9 s and 1.5 at 10 s, which take three times as long; then the second has
    # 8 and the third 8.5.
    job = make_job(
        [FlowArc(source=0, target=1, latency_s=0.0, links=(0,))],
        link_capacity_bps=[1.0],
        message_bits=10.0,
        compute=Constant(compute_s=np.array([1.0, 1.0])),
        rounds=10,
        plan=Plan([[0], *[[]] * 7, [0], [0]]),
        queueing=queueing,
    )
    for block_rounds in (1, 4, 64):
        fast = assert_like_simpy(job, block_rounds=block_rounds)
        dates_s = np.concatenate([block.messages.last_bit_s for block in fast])[:, 0]
        assert np.flatnonzero(~np.isnan(dates_s)).tolist() == [0, 8, 9]
        np.testing.assert_allclose(dates_s[[0, 8, 9]], last_bit_s, rtol=1e-12)
