"""Trainings whose silos mix models of earlier rounds, against the recurrence in float64, and on any ranks."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from periodic_cases import lagged_states
from thread_ranks import ThreadRanks

from topologies import InputError, build_periodic, design, state_of
from topologies.periodic.hierarchical import hierarchical
from training import HistoryRow, MixingPlan, load_backend
from training.checkpoints.fingerprint import mixing_digest
from training.checkpoints.folder import checkpoint_rounds
from training.dpasgd import train_rank, train_round
from training.engine.exchange import silo_blocks
from training.engine.lagged_mixing import (
    exchanged_rows,
    kept_rows,
    lagged_weights,
    mixed_rows,
    passing_rows,
    uses_of,
)
from training.mpi.job_file import read_job, write_job

SILOS = 5
EPS = float(np.finfo(np.float32).eps)


def ring_states(*, lags=(3, 1, 2, 4, 1)):
    """Two states on five silos: a ring with lags, and one arc of a lag beside three isolated silos."""
    silos = np.arange(SILOS)
    return (
        state_of(silos, (silos + 1) % SILOS, [0.5, 0.25, 0.5, 0.4, 0.3], np.array(lags)),
        state_of([0], [3], [0.5], [2]),
    )


def dense_states():
    """Two states in which silos mix three others or four, one silo's models in rounds of any lag."""
    sources, targets = np.divmod(np.arange(SILOS**2), SILOS)
    whole = sources != targets
    half = whole & ((sources + 2 * targets) % 4 != 0)
    lag = (2 * sources + targets) % 4 + 1
    return tuple(
        state_of(sources[arcs], targets[arcs], 0.13 + 0.01 * targets[arcs], lag[arcs])
        for arcs in (whole, half)
    )


def pausing_states():
    """Those of the ring, between them two in which silos only mix, the first of all with a lag."""
    silos = np.arange(SILOS)
    back = state_of(silos, (silos - 1) % SILOS, np.full(SILOS, 0.4), np.full(SILOS, 2), computes=False)
    star = state_of([1, 2, 3, 4], [0, 0, 0, 0], np.full(4, 0.2), computes=False)
    return (back, ring_states()[0], star, ring_states()[1])


DENSE = pytest.mark.parametrize(
    "states", [ring_states(), dense_states(), pausing_states()], ids=["ring", "dense", "pausing"]
)


def plan_of(states, rounds, silos=SILOS):
    return MixingPlan.periodic(states, silos=silos, rounds=rounds)


def recurrence(states, step, start, rounds):
    """All models after each round, by the definition: shape (rounds + 1, silos, size)."""
    found, sent = [start], []
    for k in range(rounds):
        state = states[k % len(states)]
        sent.append(step(found[-1]) if state.computes else found[-1])
        mixed = sent[k].copy()
        for j, i, lag, weight in zip(state.source, state.target, state.lag, state.weight, strict=True):
            if k + 1 - lag >= 0:
                mixed[i] += weight * (sent[k + 1 - lag][j] - sent[k][i])
        found.append(mixed)
    return np.array(found)


class Linear:
    """Steps towards an optimum of each silo: ``x <- keep x + (1 - keep) c``."""

    def __init__(self, silos, seed):
        rng = np.random.default_rng(seed)
        self.keep = 1 - 0.25 * np.array([0.5, 1.0, 1.5, 2.0])
        self.start, self.optimum = rng.normal(size=(2, silos, 4))

    def __call__(self, rows):
        return self.keep * rows + (1 - self.keep) * self.optimum

    def limit(self, states):
        """Models after the last round of a period, once rounds repeat: a linear system over silos and states."""
        silos, period = len(self.start), len(states)
        found = []
        for keep, optimum in zip(self.keep, self.optimum.T, strict=True):
            matrix, right = np.eye(silos * period), np.zeros(silos * period)
            for s, state in enumerate(states):
                # The round of state s starts from the models x(s) and ends with x(s + 1).
                weights = state.consensus(silos)
                for i, j in np.argwhere(weights != 0).tolist():
                    arc = (state.source == j) & (state.target == i)
                    lag = int(state.lag[arc][0]) if i != j else 1
                    row = (s + 1) % period * silos + i
                    matrix[row, (s + 1 - lag) % period * silos + j] -= weights[i, j] * keep
                    right[row] += weights[i, j] * (1 - keep) * optimum[j]
            found.append(np.linalg.solve(matrix, right)[:silos])
        return np.array(found).T


@pytest.fixture
def lagged_rows(make_job, tmp_path):
    """Train on ranks that are threads and give the rows; with a folder, from its checkpoint on."""

    def train(ranks=1, *, rounds=9, states=None, stop_at=None, every=0, job=None, **settings):
        given = {"learning_rate": 0.3, "local_steps": 2, **settings}
        job = job or make_job(
            silos=SILOS,
            rounds=rounds,
            mixing=plan_of(states or ring_states(), rounds),
            checkpoint_every=every,
            **given,
        )
        if every:
            job = replace(job, directory=tmp_path / "checkpoints")

        def one(communicator):
            rows = []
            with closing(train_rank(job, communicator)) as reports:
                for report in reports:
                    if isinstance(report, HistoryRow):
                        rows.append(report)
                        if report.round == stop_at:
                            break
            return rows

        return ThreadRanks(ranks).run(one)[0]

    return train


@pytest.fixture
def linear(make_job, make_rank_silos):
    """Silos of a job whose local steps are those of `Linear`, and their models after each round."""

    def train(states, problem, rounds):
        silos = len(problem.start)
        job = make_job(silos=silos, rounds=rounds, mixing=plan_of(states, rounds, silos), learning_rate=0.0)
        trained = make_rank_silos(job)
        size = problem.start.shape[1]
        keep, optimum = (torch.from_numpy(a).float() for a in (problem.keep, problem.optimum))
        trained.models.parameters[:, :size] = torch.from_numpy(problem.start).float()

        def local_step(_step, _learning_rate, *, round_index):
            del round_index
            rows = trained.models.parameters[:, :size]
            rows.copy_(keep * rows + (1 - keep) * optimum)

        trained.local_step = local_step
        found = []
        for k in range(rounds):
            train_round(job, trained, k)
            found.append(trained.models.parameters[:, :size].double().numpy().copy())
        return np.array(found)

    return train


@DENSE
def test_each_round_mixes_what_the_recurrence_says(linear, states):
    problem = Linear(SILOS, seed=1)
    expected = recurrence(states, problem, problem.start, 12)[1:]
    found = linear(states, problem, 12)
    np.testing.assert_allclose(found, expected, rtol=0, atol=16 * EPS)
    # Without lags the first rounds already differ.
    plain = [replace(state, lag=np.ones_like(state.lag)) for state in states]
    assert np.abs(found - recurrence(plain, problem, problem.start, 12)[1:]).max(axis=(1, 2)).min() > 1e-3


@settings(max_examples=15, deadline=None)
@given(states=lagged_states(4), seed=st.integers(0, 99))
def test_any_states_mix_what_the_recurrence_says(states, seed):
    rng = np.random.default_rng(seed)
    start = rng.normal(size=(4, 3))
    plan, rounds = plan_of(states, 10, silos=4), 10
    expected = recurrence(states, lambda rows: rows + 1, start, rounds)
    sent, rows = [], start
    for k in range(rounds):
        sent.append(rows + 1)
        mixed = lagged_weights(plan, k, range(4))
        values = np.array([sent[k + 1 - lag][silo] for silo, lag in mixed.pairs.tolist()])
        rows = mixed.weights @ values
        np.testing.assert_allclose(rows, expected[k + 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("states", [ring_states()[:1], ring_states()], ids=["static", "two states"])
def test_models_end_at_the_solution_of_the_linear_system(linear, states):
    problem = Linear(SILOS, seed=2)
    rounds = 300 * len(states)
    found = linear(states, problem, rounds)[-1]
    exact = problem.limit(states)
    by_rounds = recurrence(states, problem, problem.start, rounds)[-1]
    np.testing.assert_allclose(by_rounds, exact, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found, exact, rtol=0, atol=EPS / (1 - problem.keep.max()) * 4)
    assert np.abs(exact - exact.mean(axis=0)).max() > 0.05


def test_lags_do_not_move_the_limit_of_a_static_overlay():
    # At the limit a model of any round is the same.
    problem = Linear(SILOS, seed=3)
    lagged, plain = ring_states()[:1], ring_states(lags=(1,) * 5)[:1]
    np.testing.assert_allclose(problem.limit(lagged), problem.limit(plain), rtol=0, atol=1e-12)


def test_before_round_0_the_weight_stays_with_the_own_model():
    plan = plan_of(ring_states()[:1], 4)
    first, lags = plan.round_weights(0)
    np.testing.assert_array_equal(lags.nonzero(), first.nonzero())
    # Arcs 1 -> 2 and 4 -> 0 have a lag of 1; silos 1, 3 and 4 hear of nobody yet and keep their model exactly.
    np.testing.assert_array_equal(first[[1, 3, 4]], np.eye(SILOS)[[1, 3, 4]])
    np.testing.assert_allclose(first[0], [0.7, 0, 0, 0, 0.3])
    np.testing.assert_allclose(first[2], [0, 0.25, 0.75, 0, 0])
    for k in range(3):
        assert not np.array_equal(plan.round_weights(k)[0], plan.matrices[0])
    np.testing.assert_array_equal(plan.round_weights(3)[0], plan.matrices[0])
    np.testing.assert_array_equal(plan.round_weights(3)[1], plan.lags[0])


def test_an_isolated_silo_keeps_its_model_to_the_last_bit(linear):
    problem = Linear(SILOS, seed=4)
    problem.keep[:] = 1.0  # local steps change nothing
    found = linear(ring_states()[1:], problem, 4)
    for k in range(4):
        np.testing.assert_array_equal(found[k][[0, 1, 2, 4]], problem.start.astype(np.float32)[[0, 1, 2, 4]])


def test_one_state_without_lags_is_the_static_overlay(make_job, rows_of, graph, work):
    ring = design("ring", graph, work)
    weight = ring.consensus[ring.target, ring.source]
    overlay = build_periodic("ring", graph, work, [state_of(ring.source, ring.target, weight)])
    silos, given = graph.silos, {"learning_rate": 0.3, "local_steps": 2}
    static = make_job(silos=silos, rounds=4, matrix=ring.consensus, **given)
    periodic = make_job(silos=silos, rounds=4, mixing=plan_of(overlay.states, 4, silos), **given)
    np.testing.assert_array_equal(overlay.consensus(3), periodic.mixing.matrices[0])
    assert rows_of(periodic) == rows_of(static)


def test_lags_of_1_are_no_lags(make_job, rows_of):
    states = ring_states(lags=(1,) * 5)[:1]
    plan = plan_of(states, 5)
    assert plan.lags is None
    assert plan.longest_lag == 1
    again = MixingPlan(matrices=plan.matrices, index=plan.index, lags=np.ones((1, SILOS, SILOS), dtype=int))
    assert again.lags is None
    assert rows_of(make_job(silos=SILOS, rounds=5, mixing=again)) == rows_of(
        make_job(silos=SILOS, rounds=5, matrix=states[0].consensus(SILOS))
    )


def test_mixing_rows_wherever_they_lie_has_the_bits_of_mixing_them_side_by_side(make_job, rows_of):
    # The second matrix, which is never met, has a lag: so the first is mixed by the code for lags.
    matrix = dense_states()[0].consensus(SILOS)
    lags = np.ones((2, SILOS, SILOS), dtype=int)
    lags[1][~np.eye(SILOS, dtype=bool)] = 2
    plan = MixingPlan(
        matrices=np.stack([matrix, np.full((SILOS, SILOS), 1 / SILOS)]),
        index=np.zeros(6, dtype=int),
        lags=lags,
    )
    assert (plan.longest_lag, plan.rounds) == (2, 5)
    given = {"silos": SILOS, "rounds": 5, "learning_rate": 0.3}
    assert rows_of(make_job(mixing=plan, **given)) == rows_of(make_job(matrix=matrix, **given))


ONE_RANK = {}
"""Rows of a single rank, by the identity of the states: trained once for all numbers of ranks."""


@DENSE
@pytest.mark.parametrize("ranks", [2, 3, 6])
def test_any_number_of_ranks_gives_the_same_bits(lagged_rows, states, ranks):
    if id(states) not in ONE_RANK:
        ONE_RANK[id(states)] = lagged_rows(states=states)
    assert lagged_rows(ranks, states=states) == ONE_RANK[id(states)]


def test_hierarchical_trainings_have_the_same_bits_on_any_ranks_and_go_on_from_any_round(lagged_rows):
    states = hierarchical(np.array([0, 0, 1, 1, 1]), np.array([1, 2]), 1, 2)
    reference = lagged_rows(states=states, rounds=10)
    assert lagged_rows(2, states=states, rounds=10) == reference
    for ranks, stop_at in ((3, 3), (1, 5), (2, 8), (5, None)):
        rows = lagged_rows(ranks, states=states, rounds=10, every=1, stop_at=stop_at)
        assert rows == reference[: (10 if stop_at is None else stop_at) + 1]


@pytest.mark.parametrize("ranks", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_a_training_whose_silos_compute_in_some_states_goes_on_from_any_round(lagged_rows, ranks):
    given = {"states": pausing_states(), "optimizer": "adam", "learning_rate_schedule": "inverse_sqrt"}
    given |= {"learning_rate": 0.01, "rounds": 11}
    reference = lagged_rows(**given)
    for stop_at in (0, 3, 5, 6):
        assert lagged_rows(ranks, every=1, stop_at=stop_at, **given) == reference[: stop_at + 1]
    assert lagged_rows(ranks, every=1, **given) == reference


def test_without_computing_there_is_no_step(make_job, make_rank_silos):
    plan = plan_of(pausing_states(), 10)
    job = make_job(silos=SILOS, rounds=10, mixing=plan, local_steps=3, learning_rate_schedule="inverse_sqrt")
    silos, steps = make_rank_silos(job), []
    silos.local_step = lambda step, rate, *, round_index: steps.append((step, rate, round_index))
    for k in range(10):
        train_round(job, silos, k)
    rates = [job.config.learning_rate / np.sqrt(number + 1) for number in range(5)]
    assert steps == [(n, rates[n // 3], 1 + 2 * (n // 3)) for n in range(15)]
    assert [plan.computing_before(k) for k in range(11)] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]


def test_states_without_computing_travel_to_the_ranks_and_tell_trainings_apart(make_job, tmp_path):
    plan = plan_of(pausing_states(), 4)
    job = make_job(silos=SILOS, rounds=4, mixing=plan)
    write_job(tmp_path / "job.npz", job)
    again = read_job(tmp_path / "job.npz").mixing
    assert again.computes.tolist() == plan.computes.tolist() == [False, True, False, True]
    everywhere = replace(plan, computes=np.ones(4, dtype=bool))
    assert everywhere.computes is None
    assert mixing_digest(again, 4) == mixing_digest(plan, 4) != mixing_digest(everywhere, 4)
    for wrong, rule in ((np.zeros(4, dtype=bool), "true of some matrix"), ([True], "one bool for each of 4")):
        with pytest.raises(InputError, match=rule):
            replace(plan, computes=wrong)


def test_after_a_round_of_one_region_all_hold_the_plain_average(linear):
    problem = Linear(SILOS, seed=5)
    states = hierarchical(np.zeros(SILOS, dtype=np.int64), np.array([2]), 2, 1)
    found, rows = linear(states, problem, 12), problem.start
    for k in range(1, 12, 2):
        rows = np.tile(problem(rows).mean(axis=0), (SILOS, 1))
        np.testing.assert_allclose(found[k], rows, rtol=0, atol=16 * EPS)
        np.testing.assert_array_equal(found[k], np.tile(found[k][2], (SILOS, 1)))


def test_after_a_period_of_some_regions_all_hold_one_model(linear):
    problem = Linear(SILOS, seed=6)
    states = hierarchical(np.array([0, 0, 1, 1, 1]), np.array([1, 2]), 1, 2)
    assert len(states) == 6
    found, rows = linear(states, problem, 12), problem.start
    for period in range(2):
        rows = problem(rows)
        rows = np.repeat([rows[:2].mean(axis=0), rows[2:].mean(axis=0)], [2, 3], axis=0)
        np.testing.assert_allclose(found[6 * period + 1], rows, rtol=0, atol=16 * EPS)
        rows = np.tile(problem(rows).mean(axis=0), (SILOS, 1))
        np.testing.assert_allclose(found[6 * period + 5], rows, rtol=0, atol=16 * EPS)
        np.testing.assert_array_equal(found[6 * period + 5], np.tile(found[6 * period + 5][1], (SILOS, 1)))


def test_executors_agree(lagged_rows):
    loop, vmap = lagged_rows(), lagged_rows(executor="vmap")
    assert [row.silo_loss for row in vmap] == [pytest.approx(row.silo_loss, rel=1e-4) for row in loop]


@pytest.mark.parametrize("executor", ["loop", pytest.param("vmap", marks=pytest.mark.slow)])
def test_a_training_goes_on_from_any_round(lagged_rows, tmp_path, executor):
    reference = lagged_rows(executor=executor)
    for stop_at in (0, 4, 5):
        rows = lagged_rows(executor=executor, every=1, stop_at=stop_at)
        assert rows == reference[: stop_at + 1]
    assert lagged_rows(executor=executor, every=1) == reference
    assert checkpoint_rounds(tmp_path / "checkpoints") == [8, 9]


@pytest.mark.parametrize(
    "states",
    [
        pytest.param(ring_states(), marks=pytest.mark.slow),
        pytest.param(dense_states(), marks=pytest.mark.slow),
        pausing_states(),
    ],
    ids=["ring", "dense", "pausing"],
)
def test_other_ranks_go_on_and_with_more_rounds(lagged_rows, states):
    reference = lagged_rows(rounds=14, states=states)
    for ranks, rounds, stop_at in ((2, 9, 3), (3, 9, 6), (1, 9, None), (5, 14, 11), (2, 14, None)):
        rows = lagged_rows(ranks, rounds=rounds, states=states, every=1, stop_at=stop_at)
        assert rows == reference[: (rounds if stop_at is None else stop_at) + 1]


def test_other_lags_are_another_training(lagged_rows):
    lagged_rows(every=3, stop_at=6)
    with pytest.raises(InputError, match="mixing must be the same as in the checkpoint"):
        lagged_rows(every=3, states=ring_states(lags=(3, 1, 1, 4, 1)))


def test_what_a_checkpoint_keeps_is_for_the_rounds_that_were_planned(make_job, lagged_rows):
    plan = plan_of(ring_states(), 12)
    assert plan.index.tolist() == [0, 1] * 7 + [0]
    job = make_job(silos=SILOS, rounds=12, mixing=plan, checkpoint_every=6)

    def from_round(first):
        index = np.where(np.arange(15) >= first, 0, plan.index)
        return replace(job, mixing=replace(plan, index=index))

    lagged_rows(job=job, every=6, stop_at=7)
    # The longest lag is 4: rounds 6, 7 and 8 mix models of rounds before 6.
    for first in (6, 7):
        with pytest.raises(InputError, match="mixing must be the same as in the checkpoint"):
            lagged_rows(job=from_round(first), every=6)
    assert lagged_rows(job=from_round(9), every=6) == lagged_rows(job=replace(from_round(9), directory=None))


def brute_needs(plan, own, k):
    """Silo and round of the rows that a rank's silos mix in a round."""
    matrix, lags = plan.round_weights(k)
    return {
        (j, k + 1 - lags[i, j])
        for i in own
        for j in np.flatnonzero(matrix[i]).tolist()
        if k + 1 - lags[i, j] >= 0
    }


@settings(max_examples=40, deadline=None)
@given(states=lagged_states(4), ranks=st.integers(1, 4), rounds=st.integers(1, 9))
def test_there_is_room_for_the_rows_that_later_rounds_mix(states, ranks, rounds):
    plan = plan_of(states, rounds, silos=4)
    for own in silo_blocks(4, ranks):
        needs = [brute_needs(plan, own, k) for k in range(len(plan.index))]
        kept, passing = [], []
        for k in range(rounds):
            later = set().union(*needs[k + 1 :])
            kept.append(
                len({sent for sent in needs[k] if sent[1] < k} | {sent for sent in later if sent[1] <= k})
            )
            passing.append([silo for silo, sent in needs[k] - later if sent == k and silo not in own])
        if plan.lags is None:
            assert kept_rows(plan, own) == 0 == max(kept)
            continue
        assert kept_rows(plan, own) == max(kept)
        assert passing_rows(plan, own) == (
            max(sum(silo < own.start for silo in silos) for silos in passing),
            max(sum(silo >= own.stop for silo in silos) for silos in passing),
        )


def test_rows_that_a_rank_receives_and_keeps_by_hand():
    """Silo 0 mixes 4; silo 1 mixes 0 with a lag of 3, 2 silo 1, 3 silo 2 with 2, 4 silo 3 with 4."""
    static = plan_of(ring_states()[:1], 8)
    for own, received, kept in ((range(2), 1, 1), (range(2, 5), 1, 2), (range(4, 5), 1, 1), (range(5), 0, 3)):
        assert [found.tolist() for found in exchanged_rows(static, own)] == [[received], [kept]]
    # In every second round silo 3 mixes silo 0 with a lag of 2, and nobody another one.
    plan = plan_of(ring_states(), 8)
    received, kept = exchanged_rows(plan, range(2, 5))
    windows = uses_of(plan)
    assert windows.lags.tolist() == [1, 2, 3, 4]
    # Models of even rounds: 1 -> 2 by the ring in this round, 0 -> 3 a round later by the other state.
    assert [received[number] for number in windows.number[:4]] == [2, 0, 2, 0]
    # Of odd ones those with an even lag are mixed by the ring: 2 -> 3 and 3 -> 4. Of even ones 0 is kept.
    assert [kept[number] for number in windows.number[:4]] == [1, 2, 1, 2]
    assert [len(rows) for rows in (mixed_rows(plan, range(2, 5)), mixed_rows(static, range(2, 5)))] == [5, 4]
    # From round 3 on: three own ones, 1 of this round, 2 and 3 of earlier ones.
    assert mixed_rows(static, range(2, 5)).tolist() == [4, 5, 5, 6]


def test_a_row_travels_once_to_each_rank_that_mixes_it(make_job, make_rank_silos):
    rounds, ranks = 8, ThreadRanks(3)
    job = make_job(silos=SILOS, rounds=rounds, mixing=plan_of(ring_states(), rounds))

    def mix_all(communicator):
        silos = make_rank_silos(job, communicator=communicator)
        kept = []
        for k in range(rounds):
            silos.mix(k)
            kept.append(len(silos.exchange.kept))
        return kept, len(silos.models.kept)

    results = ranks.run(mix_all)
    blocks = silo_blocks(SILOS, 3)
    host = {silo: rank for rank, block in enumerate(blocks) for silo in block}
    needed = {
        (rank, silo, sent)
        for rank, own in enumerate(blocks)
        for k in range(len(job.mixing.index))
        for silo, sent in brute_needs(job.mixing, own, k)
        if host[silo] != rank and sent < rounds
    }
    assert sorted(ranks.sent) == sorted((host[silo], rank, silo) for rank, silo, _ in needed)
    for (kept, room), own in zip(results, blocks, strict=True):
        assert max(kept) <= room == kept_rows(job.mixing, own)


def test_a_job_file_keeps_lags(make_job, tmp_path):
    job = make_job(silos=SILOS, rounds=6, mixing=plan_of(ring_states(), 6))
    write_job(tmp_path / "job.npz", job)
    read = read_job(tmp_path / "job.npz").mixing
    np.testing.assert_array_equal(read.lags, job.mixing.lags)
    np.testing.assert_array_equal(read.index, np.arange(9) % 2)


@pytest.mark.parametrize(
    ("lags", "message"),
    [
        (
            np.ones((2, 2, 2), dtype=int),
            "mixing lags(shape=(2, 2, 2)) must have the shape of the matrices, (1, 2, 2).",
        ),
        (np.ones((1, 2, 2)), "mixing lags must hold integers, not float64."),
        (
            np.array([[[1, 0], [1, 1]]]),
            "mixing matrix 0, row 0: lag(=0) of silo 1 must be >= 1.",
        ),
        (
            np.array([[[1, 3], [1, 2]]]),
            "mixing matrix 0, row 1: lag(=2) of silo 1 must be 1: a silo mixes its own model as it is.",
        ),
    ],
)
def test_wrong_lags_are_named(lags, message):
    with pytest.raises(InputError) as caught:
        MixingPlan(matrices=np.full((1, 2, 2), 0.5), index=np.zeros(2, dtype=int), lags=lags)
    assert str(caught.value) == message


def test_a_plan_must_say_what_follows_the_last_round(make_job):
    plan = plan_of(ring_states(), 6)
    with pytest.raises(
        InputError, match=r"rounds=8\) must have rounds\(=6\) \+ longest lag\(=4\) - 1 entries"
    ):
        make_job(silos=SILOS, rounds=6, mixing=replace(plan, index=plan.index[:-1]))


def test_an_arc_without_weight_moves_no_model():
    light = state_of([0, 1], [1, 0], [0.0, 0.5], [7, 2])
    plan = plan_of([light], 5, silos=2)
    assert (plan.longest_lag, plan.index.size) == (2, 6)
    assert plan.lags[0].tolist() == [[1, 2], [0, 1]]


@pytest.mark.slow
def test_mpi_ranks_give_the_same_bits_and_go_on(make_job, lagged_rows, tmp_path):
    given = {"silos": SILOS, "rounds": 9, "local_steps": 2, "learning_rate": 0.3}
    job = make_job(mixing=plan_of(ring_states(), 9), checkpoint_every=4, **given)
    job = replace(job, directory=tmp_path / "mpi")
    reference = lagged_rows()
    rows = []
    with closing(load_backend("mpi").train(replace(job, config=replace(job.config, ranks=3)))) as reports:
        for report in reports:
            if isinstance(report, HistoryRow):
                rows.append(report)
                if report.round == 6:
                    break
    assert rows == reference[:7]
    reports = load_backend("mpi").train(replace(job, config=replace(job.config, ranks=1)))
    assert [report for report in reports if isinstance(report, HistoryRow)] == reference
