"""Trainings whose silos send compressed models: against recurrences in float64, published rates, and on any ranks."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch
from thread_ranks import ThreadRanks

from topologies import InputError
from training import HistoryRow, MixingPlan, TrainingConfig, check_mixing, load_backend
from training.compression import compressor_of
from training.data.datasets import load_dataset
from training.dpasgd import train_rank
from training.engine.data_checks import job_parts
from training.engine.initial_model import initial_model
from training.memory.memory_plan import activations_of, plan_memory
from training.random_streams import Purpose, stream

GOSSIPS = ("choco", "error_feedback")
COMPRESSED = (
    {"compression": "top_k", "compression_ratio": 0.1},
    {"compression": "random_k", "compression_ratio": 0.1},
    {"compression": "qsgd", "quantization_levels": 4},
    {"compression": "sign"},
)
EVERY = pytest.mark.parametrize("settings", COMPRESSED, ids=lambda each: each["compression"])


def neighbours(silos):
    """Thirds for itself and both neighbours on an undirected ring: symmetric, doubly stochastic."""
    return (np.eye(silos) + np.roll(np.eye(silos), 1, axis=1) + np.roll(np.eye(silos), -1, axis=1)) / 3


def scatter(rank_silos, seed=0, size=1.0):
    """Set the models to random ones; what their receivers know stays as it is."""
    rows, numbers = rank_silos.models.parameters, 650
    draws = np.random.default_rng(seed).standard_normal((len(rows), numbers)) * size
    rows[:, :numbers] = torch.from_numpy(draws).float()


def recurrence(job, rows, known, steps, rounds):
    """Models after each round by the published algorithms, in float64 but for what compressors make of a row."""
    compressor, matrix = compressor_of(job.config), job.mixing.matrices[0]
    feedback = job.config.compressed_gossip == "error_feedback"
    x, p, e, found = rows.copy(), known.copy(), np.zeros_like(rows), []

    def compress(i, k, row):
        draws = stream(job.seed, Purpose.COMPRESSION, i, k)
        return compressor.compress(torch.from_numpy(row).float(), draws).double().numpy()

    for k in range(rounds):
        x = steps(x)
        for i in range(len(x)):
            if feedback:
                p[i] = compress(i, k, x[i] + e[i])
                e[i] = x[i] + e[i] - p[i]
            else:
                p[i] += compress(i, k, x[i] - p[i])
        x = x + job.config.consensus_step * (matrix @ p - p)
        found.append(x)
    return np.array(found)


@EVERY
@pytest.mark.parametrize("gossip", GOSSIPS)
def test_models_follow_the_published_algorithm(make_job, make_rank_silos, gossip, settings):
    """CHOCO-SGD, Algorithm 2, and DeepSqueeze, Algorithm 1, on quadratics ``|x - b_i|^2 / 2`` with rate 0.1."""
    job = make_job(rounds=6, compressed_gossip=gossip, consensus_step=0.2, **settings)
    silos = make_rank_silos(job)
    known = silos.models.parameters[:, :650].double().numpy().copy()
    scatter(silos)
    start = silos.models.parameters[:, :650].double().numpy().copy()
    optimum = np.random.default_rng(5).standard_normal(start.shape)
    expected = recurrence(job, start, known, lambda x: x - 0.1 * (x - optimum), 6)
    for k in range(6):
        rows = silos.models.parameters[:, :650]
        rows -= 0.1 * (rows - torch.from_numpy(optimum).float())
        silos.mix(k)
        np.testing.assert_allclose(silos.models.parameters[:, :650], expected[k], rtol=0, atol=2e-5)
        assert not silos.models.parameters[:, 650:].any()


@EVERY
@pytest.mark.parametrize("gossip", GOSSIPS)
@pytest.mark.parametrize("matrix", ["directed", "symmetric"])
def test_the_mean_model_is_that_without_compression(
    make_job, make_rank_silos, ring, gossip, settings, matrix
):
    """On ``|x - b_i|^2 / 2`` the mean makes the steps of gradient descent, whatever messages leave out."""
    weights = ring(5) if matrix == "directed" else neighbours(5)
    job = make_job(silos=5, rounds=30, matrix=weights, compressed_gossip=gossip, **settings)
    silos = make_rank_silos(job)
    scatter(silos)
    optimum = torch.from_numpy(np.random.default_rng(5).standard_normal((5, 650))).float()
    mean, target = silos.models.parameters[:, :650].double().mean(dim=0), optimum.double().mean(dim=0)
    for k in range(30):
        rows = silos.models.parameters[:, :650]
        rows -= 0.1 * (rows - optimum)
        silos.mix(k)
        mean = mean - 0.1 * (mean - target)
        found = silos.models.parameters[:, :650].double().mean(dim=0)
        np.testing.assert_allclose(found, mean, rtol=0, atol=1e-5)


@pytest.mark.parametrize("ratio", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("kind", ["top_k", "random_k"])
def test_choco_gossip_contracts_at_the_published_rate(make_job, make_rank_silos, kind, ratio):
    """``E e_t <= (1 - rho^2 delta / 82)^t e_0`` with the step of Theorem 2 of Koloskova et al., ICML 2019."""
    matrix = neighbours(4)
    values = np.linalg.eigvalsh(matrix)
    rho, beta, delta = 1 - max(abs(values[0]), values[-2]), 1 - values[0], ratio
    step = rho**2 * delta / (16 * rho + rho**2 + 4 * beta**2 + 2 * rho * beta**2 - 8 * rho * delta)
    job = make_job(
        rounds=100, matrix=matrix, compression=kind, compression_ratio=ratio, consensus_step=float(step)
    )
    silos = make_rank_silos(job)
    scatter(silos)
    silos.exchange.state["known"].copy_(silos.models.parameters)  # all of the error is between the silos
    mean = silos.models.parameters.mean(dim=0)

    def error():
        known = silos.exchange.state["known"]
        return float(
            ((silos.models.parameters - mean) ** 2).sum() + ((silos.models.parameters - known) ** 2).sum()
        )

    first, spread = error(), float(((silos.models.parameters - mean) ** 2).sum())
    assert first == spread
    for k in range(100):
        silos.mix(k)
        if k in (9, 99):
            assert error() <= (1 - rho**2 * delta / 82) ** (k + 1) * first
            last, spread = spread, float(((silos.models.parameters - mean) ** 2).sum())
            assert spread < last


def test_consensus_is_as_close_as_the_learning_rate_is_small(make_job, make_rank_silos):
    """The distance to the mean is of the order of the rate (Theorem 4 there)."""
    distance = {}
    optimum = torch.from_numpy(np.random.default_rng(5).standard_normal((4, 650))).float()
    job = make_job(rounds=200, matrix=neighbours(4), compression="top_k", compression_ratio=0.2)
    for rate in (0.01, 0.001):
        silos = make_rank_silos(job)
        for k in range(200):
            rows = silos.models.parameters[:, :650]
            rows -= rate * (rows - optimum)
            silos.mix(k)
        rows = silos.models.parameters
        distance[rate] = float((rows - rows.mean(dim=0)).norm())
    assert 5 < distance[0.01] / distance[0.001] < 15


@pytest.mark.parametrize("kind", ["top_k", "random_k"])
@pytest.mark.parametrize("gossip", GOSSIPS)
def test_with_all_numbers_models_are_mixed_as_without_compression(
    make_job, make_rank_silos, ring, kind, gossip
):
    job = make_job(compression=kind, compression_ratio=1.0, compressed_gossip=gossip)
    silos = make_rank_silos(job)
    scatter(silos)
    expected = ring(4) @ silos.models.parameters.double().numpy()
    silos.mix(0)
    np.testing.assert_allclose(silos.models.parameters, expected, rtol=0, atol=1e-6)


def trained(job, ranks):
    """Rows of rank 0 with so many ranks."""

    def one(communicator):
        with closing(train_rank(job, communicator)) as reports:
            return [report for report in reports if isinstance(report, HistoryRow)]

    return ThreadRanks(ranks).run(one)[0]


@EVERY
@pytest.mark.parametrize("gossip", GOSSIPS)
def test_no_number_depends_on_the_ranks(make_job, gossip, settings):
    job = make_job(silos=5, rounds=3, compressed_gossip=gossip, learning_rate=0.3, **settings)
    rows = trained(job, 1)
    assert rows[-1].train_loss < rows[0].train_loss
    for ranks in (2, 3, 5):
        assert trained(job, ranks) == rows


def test_silos_draw_messages_of_their_own(make_job, make_rank_silos):
    job = make_job(rounds=2, compression="random_k", compression_ratio=0.1)
    silos = make_rank_silos(job)
    before = silos.exchange.state["known"].clone()
    scatter(silos)
    silos.mix(0)
    changed = silos.exchange.state["known"] != before
    assert changed.sum(dim=1).tolist() == [65] * 4
    assert len({tuple(row.nonzero().flatten().tolist()) for row in changed}) == 4


@pytest.mark.parametrize("gossip", GOSSIPS)
@pytest.mark.parametrize("kind", ["top_k", "random_k", "qsgd", "sign"])
def test_a_training_goes_on_from_its_checkpoint(rows_of, checkpointing, make_job, gossip, kind):
    settings = {"rounds": 6, "compression": kind, "compressed_gossip": gossip}
    whole = rows_of(make_job(learning_rate=0.2, **settings))
    rows_of(checkpointing(**settings), stop_at=5)
    assert rows_of(checkpointing(**settings)) == whole


def test_other_ranks_go_on_from_a_checkpoint(make_job, checkpointing):
    settings = {"rounds": 6, "compression": "random_k"}
    whole = trained(make_job(learning_rate=0.2, **settings), 1)
    trained(checkpointing(**{**settings, "rounds": 4}), 3)
    assert trained(checkpointing(**settings), 2) == whole


def test_a_checkpoint_is_of_the_same_compression(rows_of, checkpointing):
    rows_of(checkpointing(rounds=6, compression="top_k"), stop_at=5)
    with pytest.raises(InputError, match="compression"):
        rows_of(checkpointing(rounds=6))


@pytest.mark.parametrize("gossip", GOSSIPS)
def test_compression_takes_the_memory_that_is_planned(make_job, make_rank_silos, gossip):
    job = make_job(compression="sign", compressed_gossip=gossip)
    data = load_dataset("digits")
    silos = make_rank_silos(job, data)
    model = initial_model(job.config, data, seed=job.seed)
    activations = activations_of(job.config, model, data, gpu=False)
    plan = plan_memory(job, model, data, job_parts(job, data), activations, rank=0, ranks=1, gpu=False)
    held = silos.models.rows.untyped_storage().nbytes()
    if gossip == "error_feedback":
        held += silos.exchange.state["left_out"].nbytes
    assert plan.models == held


def changing(rounds=4):
    """Two silos of three talk, others in every second round."""
    pair = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
    matrices = np.stack([pair, pair[::-1, ::-1]])
    return MixingPlan(matrices=matrices, index=np.arange(rounds) % 2)


def test_differences_need_the_same_neighbours_in_all_rounds(make_job):
    with pytest.raises(InputError, match=r"compressed_gossip\(='choco'\) must be 'error_feedback'"):
        make_job(silos=3, rounds=4, mixing=changing(), compression="sign")


def test_neighbours_may_change_with_error_feedback(make_job):
    job = make_job(
        silos=3,
        rounds=4,
        mixing=changing(),
        compression="sign",
        compressed_gossip="error_feedback",
        learning_rate=0.1,
    )
    assert trained(job, 1) == trained(job, 2)


def test_weights_may_change_between_the_same_neighbours(make_job):
    matrices = np.stack([neighbours(4), np.eye(4) / 2 + neighbours(4) / 2])
    mixing = MixingPlan(matrices=matrices, index=np.array([0, 1, 0]))
    assert make_job(mixing=mixing, compression="sign").config.compressed_gossip == "choco"


def test_a_silo_without_a_weight_for_itself_has_the_same_neighbours(make_job):
    matrices = np.stack([neighbours(4), 1.5 * neighbours(4) - 0.5 * np.eye(4)])
    assert not matrices[1].diagonal().any()
    mixing = MixingPlan(matrices=matrices, index=np.array([0, 1, 0]))
    assert make_job(mixing=mixing, compression="sign").config.compressed_gossip == "choco"


def test_the_last_of_three_matrices_counts_too(make_job):
    matrices = np.stack([neighbours(4), neighbours(4), np.full((4, 4), 1 / 4)])
    mixing = MixingPlan(matrices=matrices, index=np.array([0, 1, 2]))
    with pytest.raises(InputError, match=r"compressed_gossip\(='choco'\) must be 'error_feedback'"):
        make_job(mixing=mixing, compression="sign")


def test_matrices_that_no_round_mixes_do_not_count(make_job):
    mixing = replace(changing(), index=np.zeros(4, dtype=np.int64))
    assert make_job(silos=3, rounds=4, mixing=mixing, compression="sign")


def test_models_with_lags_are_not_compressed(make_job):
    lags = np.ones((1, 4, 4), dtype=np.int64)
    lags[0, 0, 1] = 2
    mixing = MixingPlan(matrices=neighbours(4)[None], index=np.zeros(4, dtype=np.int64), lags=lags)
    with pytest.raises(
        InputError, match=r"compression\(='sign'\) must be 'none' with lags above 1, here up to 2"
    ):
        make_job(mixing=mixing, compression="sign")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"compression": "zip"}, r"compression\(='zip'\) must be one of none, qsgd, random_k, sign, top_k"),
        ({"compression": "sign", "compressed_gossip": "chocolate"}, "must be one of choco, error_feedback"),
        ({"compression": "top_k", "compression_ratio": 0}, r"compression_ratio\(=0\) must be > 0 and <= 1."),
        (
            {"compression": "top_k", "compression_ratio": 1.5},
            r"compression_ratio\(=1.5\) must be > 0 and <= 1.",
        ),
        ({"compression": "qsgd", "quantization_levels": 0}, r"quantization_levels\(=0\) must be"),
        ({"compression": "qsgd", "quantization_levels": 2**20 + 1}, "must be <= 1048576."),
        ({"compression": "sign", "consensus_step": -0.1}, r"consensus_step\(=-0.1\) must be >= 0 and <= 1."),
        ({"compression": "sign", "consensus_step": 1.01}, r"consensus_step\(=1.01\) must be >= 0 and <= 1."),
        (
            {"compression": "sign", "exchange_buffers": True},
            "exchange_buffers.* must be false with compression",
        ),
        ({"compression": "sign", "compression_ratio": 0.1}, "goes with compression = 'top_k' or 'random_k'."),
        ({"compression_ratio": 0.1}, "goes with compression = 'top_k' or 'random_k'."),
        ({"compression": "top_k", "quantization_levels": 4}, "goes with compression = 'qsgd'."),
        ({"consensus_step": 0.5}, "goes with compression = 'qsgd' or 'random_k' or 'sign' or 'top_k'."),
        ({"compressed_gossip": "error_feedback"}, "goes with compression = 'qsgd' or 'random_k' or 'sign'"),
    ],
)
def test_settings_that_do_not_go_together(settings, message):
    with pytest.raises(InputError, match=message):
        TrainingConfig(**settings)


def test_the_same_training_without_compression():
    config = TrainingConfig(compression="top_k", compression_ratio=0.3, consensus_step=0.1, rounds=9)
    assert config.uncompressed == TrainingConfig(rounds=9)


def test_messages_have_the_size_that_the_compressor_says():
    """The digits' softmax has 650 numbers, places of 10 bits."""
    backend = load_backend("mpi")
    assert backend.message_bits(TrainingConfig(model="softmax")) == 32 * 650
    few = TrainingConfig(model="softmax", compression="top_k", compression_ratio=0.02)
    assert backend.message_bits(few) == 13 * (32 + 10)
    assert backend.message_bits(TrainingConfig(model="softmax", compression="sign")) == 650 + 2 * 32


def test_a_backend_that_cannot_compress_is_refused(make_job, monkeypatch):
    class Plain:
        def check(self, config): ...
        def train(self, job): ...

    monkeypatch.setattr("training.backend.load_backend", lambda *_: Plain())
    with pytest.raises(
        InputError, match=r"backend\(='mpi'\) must send compressed models: compression is sign."
    ):
        check_mixing(make_job(compression="sign"))
