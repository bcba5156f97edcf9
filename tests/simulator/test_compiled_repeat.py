"""A repeat of the whole state is found, means what it says, and spares the simulation of later rounds."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simulator import FlowArc, Lognormal, simulate
from simulator.compiled import max_min_run
from simulator.compiled.engine import CompiledEngine
from simulator.compiled.extrapolation import Period
from simulator.compiled.recurrence import _is_repeat
from simulator.compute_times import Constant
from simulator.job import make_job
from simulator.overlay_jobs import overlay_job
from topologies import AccessLinks, Workload, connectivity, design, load_underlay

TABLES = ("start_s", "last_bit_s", "arrival_s", "bound_link")


def run(job, *, block_rounds=64, fast_forward=True):
    engine = CompiledEngine(job, block_rounds, fast_forward=fast_forward)
    blocks = []
    while (block := engine.advance()) is not None:
        blocks.append(block)
    tables = {name: np.concatenate([getattr(block.messages, name) for block in blocks]) for name in TABLES}
    tables["round_start_s"] = np.concatenate([block.round_start_s for block in blocks])
    return tables, blocks, engine.steady


def network_job(name, kind, access_bps, rounds, queueing="fifo", sharing="maxmin"):
    graph = connectivity(
        load_underlay(name, variant="published"), access=AccessLinks(up_bps=access_bps, down_bps=access_bps)
    )
    work = Workload.preset("inaturalist", variant="published")
    return overlay_job(design(kind, graph, work), rounds, queueing=queueing, sharing=sharing)


def ring_job(rounds, *, compute, capacity_bps, bits=1.0, sharing="maxmin"):
    """Three silos, each sending to the next, and all messages over one link."""
    arcs = [
        FlowArc(source=i, target=(i + 1) % 3, latency_s=0.1, links=(0, 1 + i), rate_bps=1.0) for i in range(3)
    ]
    return make_job(
        arcs,
        link_capacity_bps=capacity_bps,
        message_bits=bits,
        compute=compute,
        rounds=rounds,
        sharing=sharing,
    )


@pytest.mark.parametrize(
    ("name", "kind", "access_bps", "period_rounds", "transient_rounds"),
    [
        ("geant", "ring", 1e10, 40, 0),
        ("ebone", "ring", 1e10, 87, 0),
        ("geant", "mst", 1e10, 1, 24),
        ("geant", "mst", 1e8, 2, 1058),
        ("ebone", "star", 1e10, 1, 1),
    ],
)
@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
def test_rounds_that_repeat_are_those_of_the_full_simulation(
    name, kind, access_bps, period_rounds, transient_rounds, queueing
):
    job = network_job(name, kind, access_bps, 2_600 if transient_rounds > 1000 else 700, queueing)
    full, _, _ = run(job, fast_forward=False)
    copied, _, steady = run(job)

    assert (steady.period_rounds, steady.transient_rounds) == (period_rounds, transient_rounds)
    assert steady.is_exact
    assert steady.cycle_time_s == steady.period_s / steady.period_rounds
    for table, expected in full.items():
        np.testing.assert_allclose(copied[table], expected, rtol=1e-9, atol=0, err_msg=table)
    # The same number for all silos, and for no shorter period, as long as no silo has ended the job.
    start_s = full["round_start_s"][transient_rounds:-100]
    growth_s = start_s[period_rounds:] - start_s[:-period_rounds]
    np.testing.assert_allclose(growth_s, steady.period_s, rtol=1e-9)
    if transient_rounds:
        before_s = full["round_start_s"][[transient_rounds - 1, transient_rounds - 1 + period_rounds]]
        assert np.abs(np.diff(before_s, axis=0) - steady.period_s).max() > 1e-9 * steady.period_s


def test_the_last_rounds_are_faster_where_links_fall_free():
    # No message of a later round takes its part of a link from the last ones.
    copied, _, steady = run(network_job("geant", "mst", 1e8, 2_600))
    growth_s = np.diff(copied["round_start_s"][:: steady.period_rounds], axis=0)
    np.testing.assert_allclose(growth_s[600:-20], steady.period_s, rtol=1e-9)
    assert growth_s[-1].min() < steady.period_s * 0.99


@pytest.mark.parametrize("block_rounds", [1, 7, 100, 5_000])
def test_blocks_have_the_asked_length_whatever_is_copied(block_rounds):
    job = network_job("geant", "ring", 1e10, 1_003)
    reference, _, _ = run(job, block_rounds=256, fast_forward=False)
    tables, blocks, _ = run(job, block_rounds=block_rounds)

    lengths = [block.rounds for block in blocks]
    assert lengths[:-1] == [block_rounds] * (1_003 // block_rounds - (1_003 % block_rounds == 0))
    assert sum(lengths) == 1_003
    assert [block.first_round for block in blocks] == np.cumsum([0, *lengths[:-1]]).tolist()
    assert [len(block.round_start_s) for block in blocks] == [*lengths[:-1], lengths[-1] + 1]
    for table, expected in reference.items():
        np.testing.assert_allclose(tables[table], expected, rtol=1e-9, err_msg=table)
    starts_s = tables["round_start_s"]
    for block in blocks:
        assert block.now_s == starts_s[block.first_round + block.rounds].max()
    per_round_bits = blocks[-1].link_bits / 1_003
    np.testing.assert_allclose(blocks[0].link_bits, per_round_bits * lengths[0], rtol=1e-12)


@pytest.mark.parametrize("spare", [0, -1])
def test_a_period_that_memory_does_not_hold_is_simulated(monkeypatch, spare):
    # For each of its rounds: a start of each silo; of each arc a start, a last bit, an arrival and a link.
    job = network_job("geant", "ring", 1e10, 300)
    made = []

    def period(*arguments):
        made.append(Period(*arguments))
        return made[-1]

    monkeypatch.setattr(max_min_run, "Period", period)
    monkeypatch.setattr(max_min_run, "_PERIOD", 40 * (40 + 4 * len(job.arcs)) + spare)
    copied, _, steady = run(job)
    simulated, _, _ = run(job, fast_forward=False)

    assert steady.period_rounds == 40
    assert len(made) == (spare == 0)
    for table, expected in simulated.items():
        np.testing.assert_allclose(copied[table], expected, rtol=1e-9, err_msg=table)


def test_rounds_that_repeat_are_copied_unless_all_are_asked_for(monkeypatch):
    job = ring_job(200, compute=Constant(compute_s=[0.5, 1.0, 0.75]), capacity_bps=[1.0, 3, 3, 3])
    copied = []
    monkeypatch.setattr(
        Period, "copies", lambda self, *at, copies=Period.copies: copied.append(at) or copies(self, *at)
    )
    for how, copies in (({"fast_forward": False}, 0), ({}, 1), ({"fast_forward": True}, 2)):
        list(iter(CompiledEngine(job, 16, **how).advance, None))
        assert len(copied) == copies


def test_few_rounds_prove_nothing():
    assert run(network_job("ebone", "ring", 1e10, 80))[2] is None
    assert run(network_job("geant", "mst", 1e8, 1_000))[2] is None


def test_drawn_computing_times_never_repeat():
    values_s = [0.5, 1.0, 0.75]
    for sharing in ("maxmin", "equal"):
        drawn = ring_job(
            400,
            compute=Lognormal(mean_s=values_s, cv=0.3, seed=5),
            capacity_bps=[1.0, 3, 3, 3],
            sharing=sharing,
        )
        assert run(drawn)[2] is None
        constant = ring_job(
            400, compute=Constant(compute_s=np.array(values_s)), capacity_bps=[1.0, 3, 3, 3], sharing=sharing
        )
        assert run(constant)[2] is not None


def test_a_slow_link_sets_the_pace():
    # Two rounds are under way on the circuit, so its 2.375 s allow 1.1875 s per round; the link needs 2 s.
    arcs = [
        FlowArc(source=0, target=1, latency_s=0.0, links=()),
        FlowArc(source=1, target=0, latency_s=0.0, links=(0,)),
    ]
    job = make_job(
        arcs,
        link_capacity_bps=[0.5],
        message_bits=1.0,
        compute=Constant(compute_s=np.array([0.25, 0.125])),
        rounds=300,
    )
    _, _, steady = run(job)
    assert (steady.period_rounds, steady.period_s) == (1, pytest.approx(2.0, rel=1e-12))


@given(
    compute_s=st.lists(st.sampled_from([0.25, 0.5, 1.0]) | st.floats(0.05, 1.0), min_size=3, max_size=3),
    capacity_bps=st.lists(st.sampled_from([1.0, 3.0]) | st.floats(0.2, 20.0), min_size=4, max_size=4),
    rounds=st.integers(1, 400),
    block_rounds=st.sampled_from([1, 16, 100]),
)
def test_copied_rounds_equal_simulated_ones_on_random_rings(compute_s, capacity_bps, rounds, block_rounds):
    job = ring_job(rounds, compute=Constant(compute_s=np.array(compute_s)), capacity_bps=capacity_bps)
    full, _, _ = run(job, fast_forward=False)
    # Some max-min jobs have a period that is unstable: copied rounds keep it, while in simulated ones the noise of
    # floats grows round by round. These can only be compared where a disturbance does not grow.
    disturbed_s = Constant(compute_s=np.array(compute_s) * (1 + 1e-13))
    disturbed, _, _ = run(
        ring_job(rounds, compute=disturbed_s, capacity_bps=capacity_bps), fast_forward=False
    )
    assume(np.allclose(disturbed["round_start_s"], full["round_start_s"], rtol=1e-11, atol=0))
    copied, _, _ = run(job, block_rounds=block_rounds)
    for table in ("round_start_s", "start_s", "last_bit_s", "arrival_s"):
        np.testing.assert_allclose(copied[table], full[table], rtol=1e-9, atol=0, err_msg=table)


def test_an_unstable_period_is_kept():
    # 613 / 120 s in 4 rounds, on exact arithmetic for ever; in simulated rounds floats drift away from it.
    compute = Constant(compute_s=np.array([0.25, 0.5, 0.25]))
    tables, _, steady = run(ring_job(2_000, compute=compute, capacity_bps=[3.0, 3, 1, 3]), block_rounds=16)
    assert (steady.period_rounds, steady.period_s) == (4, pytest.approx(613 / 120, rel=1e-11))
    start_s = tables["round_start_s"][steady.transient_rounds :]
    np.testing.assert_allclose(start_s[4:] - start_s[:-4], 613 / 120, rtol=1e-9)


@pytest.mark.parametrize("rounds", [340, 342])
@pytest.mark.parametrize(
    ("capacity_bps", "latency_s", "compute_s", "period_rounds"),
    [(1.75, (0.75, 1.0, 0.0), (0.25, 1.0, 0.25), 11), (0.5, (1.0, 0.75, 0.0), (0.75, 0.75, 0.25), 19)],
)
def test_several_messages_under_way_on_an_arc_stay_apart_in_copied_rounds(
    capacity_bps, latency_s, compute_s, period_rounds, rounds
):
    job = make_job(
        [FlowArc(source=i, target=(i + 1) % 3, latency_s=latency_s[i], links=(i,)) for i in range(3)],
        link_capacity_bps=[capacity_bps, 50.0, 50.0],
        message_bits=4.0,
        compute=Constant(compute_s=np.array(compute_s)),
        rounds=rounds,
        queueing="overlap",
    )
    full, _, _ = run(job, block_rounds=16, fast_forward=False)
    copied, _, steady = run(job, block_rounds=16)
    assert steady.period_rounds == period_rounds
    assert (full["start_s"][1:, 0] < full["last_bit_s"][:-1, 0]).any()
    for table, expected in full.items():
        np.testing.assert_allclose(copied[table], expected, rtol=1e-9, atol=0, err_msg=table)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize(("kind", "access_bps"), [("ring", 1e10), ("mst", 1e8), ("star", 1e9)])
def test_equal_sharing_has_the_steady_state_of_the_recurrence(kind, access_bps, queueing):
    job = network_job("geant", kind, access_bps, 400, queueing, sharing="equal")
    tables, _, steady = run(job)
    period, first = steady.period_rounds, steady.transient_rounds
    start_s = tables["round_start_s"]
    np.testing.assert_allclose(start_s[first + period :] - start_s[first:-period], steady.period_s, rtol=1e-9)
    graph = connectivity(
        load_underlay("geant", variant="published"),
        access=AccessLinks(up_bps=access_bps, down_bps=access_bps),
    )
    forms = design(kind, graph, Workload.preset("inaturalist", variant="published")).closed_forms
    expected_s = forms.serialized_s if queueing == "fifo" else forms.paper_s
    assert steady.cycle_time_s == pytest.approx(expected_s, rel=1e-9)


def test_a_second_run_gives_the_same_numbers():
    job = network_job("geant", "mst", 1e8, 200)
    first, second = run(job)[0], run(job, block_rounds=3)[0]
    for table, values in first.items():
        assert np.array_equal(values, second[table]), table


def test_the_engine_is_one_of_those_that_simulate_knows():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    ring = design("ring", graph, Workload.preset("inaturalist"))
    slow, fast = (simulate(ring, 300, engine=engine) for engine in ("simpy", "compiled"))
    assert fast.cycle_time_s == pytest.approx(slow.cycle_time_s, rel=1e-9)
    assert fast.cycle_time_is_exact


@pytest.mark.parametrize(
    ("late", "repeats"), [(0.0, True), (0.9e-9, True), (1.1e-9, False), (-1.1e-9, False)]
)
def test_dates_repeat_within_a_billionth_of_the_period(late, repeats):
    starts_s, free_s, period_s = np.array([[0.0, 0.5]]), np.array([0.75]), 64.0
    saved_s = np.concatenate((starts_s.ravel(), free_s))
    for date in (1, 2):
        later_s = saved_s + period_s
        later_s[date] += late * period_s
        assert _is_repeat(later_s[np.newaxis, :2], later_s[2:], saved_s, True) is repeats


@pytest.mark.parametrize("fifo", [True, False])
@pytest.mark.parametrize(
    ("changed", "repeats"),
    [(None, (True, True)), ("newest", (False, False)), ("older", (False, False)), ("arc", (False, True))],
)
def test_all_round_starts_that_lags_look_back_at_must_repeat_and_in_a_queue_the_arcs(fifo, changed, repeats):
    """Three rounds of two silos and three arcs, five seconds later: all but one date are shifted alike."""
    starts_s = np.array([[0.0, 0.5], [2.0, 2.25], [4.0, 4.5]])
    free_s = np.array([4.75, 5.0, 5.5])
    saved_s = np.concatenate((starts_s[::-1].ravel(), free_s))
    later_s, later_free_s = starts_s + 5.0, free_s + 5.0
    if changed == "arc":
        later_free_s[2] += 0.25
    elif changed is not None:
        later_s[{"newest": 2, "older": 1}[changed], 1] += 0.25

    assert _is_repeat(later_s, later_free_s, saved_s, fifo) is repeats[not fifo]
