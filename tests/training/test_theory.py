"""DPASGD against closed forms: quadratics with known optima, the rate of the spectral gap, and consensus.

A round is ``X <- A (X - eta G)``: the local steps come first, then the average (Marfoq et al. 2020, Eq. 2).
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from topologies import AccessLinks, connectivity, design, load_underlay, make_schedule
from topologies.consensus import consensus_matrix, spectral_gap
from topologies.designers.matcha import matcha
from topologies.weights import uniform
from training import MixingPlan
from training.data.datasets import Dataset
from training.dpasgd import train_round
from training.engine.communicator import SingleRank
from training.engine.metrics import Meter
from training.engine.rank_silos import RankSilos
from training.optimization.optimizers import Sgd

CPU = torch.device("cpu")
EPS = float(np.finfo(np.float32).eps)
CURVATURE = np.array([0.5, 1.0, 1.5, 2.0])
RATE = 0.04


class Quadratic(RankSilos):
    """Silos whose losses are ``1/2 sum_j q_j (x_j - c_ij)^2``, each with an optimum of its own."""

    def __init__(self, job, start, optimum):
        silos, size = start.shape
        data = Dataset(
            train_inputs=np.zeros((silos, 1), dtype=np.float32),
            train_labels=np.zeros(silos, dtype=np.int64),
            test_inputs=np.zeros((1, 1), dtype=np.float32),
            test_labels=np.zeros(1, dtype=np.int64),
            classes=2,
        )
        model = nn.Linear(1, size // 2)
        super().__init__(job, model, data, communicator=SingleRank(), device=CPU)
        self.size = size
        self.optimum = torch.from_numpy(optimum).float()
        self.curvature = torch.from_numpy(CURVATURE).float()
        self.sgd = Sgd(self.models.parameters, 0.0, 0.0)
        self.meter = Meter(
            model, data, silos=silos, communicator=SingleRank(), device=CPU, evaluate=1, seed=0
        )
        self.restart(start)

    def restart(self, start):
        self.models.parameters[:, : self.size] = torch.from_numpy(start).float()

    @property
    def rows(self):
        return self.models.parameters[:, : self.size].double().numpy().copy()

    @property
    def consensus_distance(self):
        return self.meter.measure(0, self)[0].consensus_distance

    def local_step(self, step, learning_rate, *, round_index):
        del step, round_index
        gradients = self.models.gradients.zero_()
        gradients[:, : self.size] = self.curvature * (self.models.parameters[:, : self.size] - self.optimum)
        self.sgd.step(self.models.parameters, gradients, learning_rate)


@pytest.fixture
def quadratic(make_job):
    """A quadratic on silos that mix with given matrices, and its job."""

    def make(mixing, start, optimum, **settings):
        job = make_job(
            silos=len(start),
            rounds=mixing.index.size,
            mixing=mixing,
            partition="iid",
            batch_size=1,
            **{"learning_rate": RATE, **settings},
        )
        return job, Quadratic(job, start, optimum)

    return make


def drawn(silos, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(silos, CURVATURE.size)), rng.normal(size=(silos, CURVATURE.size))


def fixed_point(matrix, optimum, local_steps=1):
    """Solve ``x = A ((1 - eta q)^s x + (1 - (1 - eta q)^s) c)`` in float64, one system per coordinate."""
    keep = (1 - RATE * CURVATURE) ** local_steps
    return np.column_stack(
        [
            np.linalg.solve(np.eye(len(matrix)) - k * matrix, (1 - k) * matrix @ c)
            for k, c in zip(keep, optimum.T, strict=True)
        ]
    )


def spread(rows):
    return rows - rows.mean(axis=0)


def matrix_of(name, graph, work):
    if name == "fdla":
        tree = design("mst", graph, work)
        return consensus_matrix("fdla", graph.silos, tree.source, tree.target)
    return design(name, graph, work).consensus


def plan_of(name, matrix, rounds):
    return MixingPlan.constant(matrix, rounds, negative_weights=name == "fdla")


def test_the_local_step_comes_before_the_average(quadratic):
    matrix = np.array([[0.5, 0.5], [0.25, 0.75]])
    start, optimum = drawn(2, seed=0)
    job, silos = quadratic(MixingPlan.constant(matrix, 1), start, optimum)
    train_round(job, silos, 0)
    gradient = CURVATURE * (start - optimum)
    np.testing.assert_allclose(silos.rows, matrix @ (start - RATE * gradient), rtol=0, atol=4 * EPS)
    assert np.abs(silos.rows - (matrix @ start - RATE * gradient)).max() > 1e-3


@pytest.mark.parametrize("name", ["ring", "mst", "fdla", "complete", "star"])
@pytest.mark.parametrize("local_steps", [1, 3])
def test_the_mean_moves_as_if_one_silo_had_all_data(quadratic, graph, work, name, local_steps):
    # Columns that sum to 1 keep the mean, and all curvatures are alike: mean(x) - mean(c) shrinks by 1 - eta q.
    matrix = matrix_of(name, graph, work)
    start, optimum = drawn(len(matrix), seed=1)
    job, silos = quadratic(plan_of(name, matrix, 40), start, optimum)
    job = replace(job, local_steps=local_steps)
    error = (start - optimum).mean(axis=0)
    for k in range(40):
        train_round(job, silos, k)
        expected = optimum.mean(axis=0) + (1 - RATE * CURVATURE) ** (local_steps * (k + 1)) * error
        np.testing.assert_allclose(silos.rows.mean(axis=0), expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize(("name", "first", "last"), [("ring", 40, 80), ("mst", 80, 110), ("fdla", 50, 80)])
def test_silos_settle_at_the_rate_of_the_spectral_gap(quadratic, graph, work, name, first, last):
    # x - x* is multiplied by (1 - eta q) A each round; without its mean, A's largest factor is 1 - gap.
    matrix = matrix_of(name, graph, work)
    start, optimum = drawn(len(matrix), seed=2)
    job, silos = quadratic(plan_of(name, matrix, last), start, optimum)
    target = spread(fixed_point(matrix, optimum))
    distances = [np.linalg.norm(spread(start) - target, axis=0)]
    for k in range(last):
        train_round(job, silos, k)
        distances.append(np.linalg.norm(spread(silos.rows) - target, axis=0))
    measured = (distances[last] / distances[first]) ** (1 / (last - first))
    expected = (1 - RATE * CURVATURE) * (1 - spectral_gap(matrix))
    np.testing.assert_allclose(measured, expected, rtol=1e-3)


@pytest.mark.parametrize("local_steps", [1, 4])
@pytest.mark.parametrize("name", ["ring", "mst", "fdla"])
def test_models_end_at_the_solution_of_the_linear_system(quadratic, graph, work, name, local_steps):
    matrix = matrix_of(name, graph, work)
    start, optimum = drawn(len(matrix), seed=3)
    rounds = 900 // local_steps
    job, silos = quadratic(plan_of(name, matrix, rounds), start, optimum)
    job = replace(job, local_steps=local_steps)
    for k in range(rounds):
        train_round(job, silos, k)
    target = fixed_point(matrix, optimum, local_steps)
    # Rounding of up to eps per round adds up to eps / (1 - rate) where the mean comes slowly.
    np.testing.assert_allclose(silos.rows, target, rtol=0, atol=EPS / (RATE * CURVATURE.min()))
    distance = np.sqrt((spread(target) ** 2).sum(axis=1).mean())
    assert distance > 0.05
    assert silos.consensus_distance == pytest.approx(distance, rel=1e-5)


@pytest.mark.parametrize("kind", ["complete", "star"])
def test_one_round_of_plain_averaging_is_consensus(quadratic, graph, work, kind):
    overlay = design(kind, graph, work)
    start, optimum = drawn(11, seed=4)
    job, silos = quadratic(MixingPlan.constant(overlay.consensus, 1), start, optimum)
    assert silos.consensus_distance > 1
    train_round(job, silos, 0)
    assert silos.consensus_distance < 4 * EPS


@pytest.mark.parametrize(("name", "first", "last"), [("ring", 60, 120), ("mst", 120, 180), ("fdla", 60, 100)])
def test_without_gradients_silos_agree_at_the_rate_of_the_spectral_gap(
    quadratic, graph, work, name, first, last
):
    rounds = 400
    matrix = matrix_of(name, graph, work)
    start, optimum = drawn(len(matrix), seed=5)
    job, silos = quadratic(plan_of(name, matrix, rounds), start, optimum, learning_rate=0.0)
    distances = [silos.consensus_distance]
    for k in range(rounds):
        train_round(job, silos, k)
        if k < last:
            distances.append(silos.consensus_distance)
    gap = spectral_gap(matrix)
    measured = (distances[last] / distances[first]) ** (1 / (last - first))
    assert measured == pytest.approx(1 - gap, rel=1e-3)
    # Every singular value but the first is below 1, so no round may part the silos, not even a first one.
    assert np.linalg.svd(matrix, compute_uv=False)[1] < 1
    assert np.all(np.diff(distances) < 0)
    # What is left is each round's rounding, shrunk since.
    assert silos.consensus_distance < EPS / gap
    # The mean, which these weights keep, drifts by half a unit in the last place a round, as rounded weights do not sum
    # to 1.
    drift = rounds * EPS / 2 * np.abs(start.mean(axis=0))
    assert np.all(np.abs(silos.rows.mean(axis=0) - start.mean(axis=0)) <= drift)


def test_weights_whose_columns_do_not_sum_to_one_agree_on_another_mean(quadratic):
    # The left eigenvector of the eigenvalue 1 is (1/3, 2/3): silo 1 counts twice.
    matrix = np.array([[0.5, 0.5], [0.25, 0.75]])
    start, optimum = drawn(2, seed=6)
    job, silos = quadratic(MixingPlan.constant(matrix, 60), start, optimum, learning_rate=0.0)
    for k in range(60):
        train_round(job, silos, k)
    expected = start[0] / 3 + 2 * start[1] / 3
    np.testing.assert_allclose(silos.rows, [expected, expected], rtol=0, atol=8 * EPS)


ROUNDS, RUNS = 5, 1500


@pytest.fixture(scope="module")
def small_matcha(work):
    """MATCHA on five silos of Gaia, whose few matchings can be counted."""
    five = connectivity(
        load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0, 2, 4, 6, 8]
    )
    return matcha(five, work, budget=0.5, edges=[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)])


def rounds_of(overlay):
    """All matrices that a round can have, and their probabilities; a round without any matching is drawn again."""
    p = overlay.probability
    choices = np.array(list(np.ndindex(*[2] * p.size)))[1:]
    chance = np.where(choices, p, 1 - p).prod(axis=1)
    return np.stack([overlay.consensus(*overlay.arcs(choice)) for choice in choices]), chance / chance.sum()


def test_matcha_states_the_contraction_of_its_rounds(small_matcha):
    matrices, chance = rounds_of(small_matcha)
    second_moment = np.einsum("m,mki,mkj->ij", chance, matrices, matrices)
    expected = np.linalg.eigvalsh(second_moment - uniform(5))[-1]
    assert small_matcha.spectral_norm == pytest.approx(expected, rel=1e-9)
    assert 0.3 < expected < 1


@pytest.mark.slow
def test_matcha_brings_silos_together_at_least_by_rho_per_round_on_average(small_matcha, quadratic):
    """``E ||X_k - mean||^2 <= rho^k ||X_0 - mean||^2``, with equality after one round from the worst start."""
    matrices, chance = rounds_of(small_matcha)
    rho = small_matcha.spectral_norm
    second_moment = np.einsum("m,mki,mkj->ij", chance, matrices, matrices)
    worst = np.linalg.eigh(second_moment - uniform(5))[1][:, -1]
    start = np.column_stack([worst, *spread(drawn(5, seed=7)[0]).T[:3]])
    start /= np.linalg.norm(start, axis=0)
    # Exactly, by E[X X^T] -> sum_m p_m W_m E[X X^T] W_m^T for each coordinate.
    moments = start.T[:, :, None] * start.T[:, None, :]
    exact = [np.ones(4)]
    for _ in range(ROUNDS):
        moments = np.einsum("m,mik,ckl,mjl->cij", chance, matrices, moments, matrices)
        exact.append(np.trace(moments, axis1=1, axis2=2))

    schedule = make_schedule(small_matcha, seed=8, rounds=ROUNDS * RUNS)
    drawn_matrices = np.stack([small_matcha.consensus(*small_matcha.arcs(c)) for c in schedule.choices])
    plan = MixingPlan(matrices=drawn_matrices, index=schedule.index, negative_weights=True)
    job, silos = quadratic(plan, start, start, learning_rate=0.0)
    found = np.empty((RUNS, ROUNDS, 4))
    for run in range(RUNS):
        silos.restart(start)
        for k in range(ROUNDS):
            train_round(job, silos, ROUNDS * run + k)
            found[run, k] = (spread(silos.rows) ** 2).sum(axis=0)
    mean, error = found.mean(axis=0), found.std(axis=0) / np.sqrt(RUNS)
    assert np.all(np.abs(mean - exact[1:]) <= 4 * error)
    bound = rho ** np.arange(1, ROUNDS + 1)[:, None]
    assert np.all(np.array(exact[1:]) <= bound * (1 + 1e-12))
    assert exact[1][0] == pytest.approx(rho, rel=1e-12)
    np.testing.assert_allclose(silos.rows.mean(axis=0), start.mean(axis=0), rtol=0, atol=2 * EPS)
