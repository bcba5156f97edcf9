"""FedAvg and plain SGD are DPASGD with weights 1/N and with one silo."""

import numpy as np
import pytest
import torch
from torch import nn

from topologies import design
from topologies.weights import uniform
from training.data.batches import BatchStream
from training.data.datasets import load_dataset
from training.data.partitions import split_dataset
from training.dpasgd import train_round
from training.engine.initial_model import initial_model

EPS = float(np.finfo(np.float32).eps)


def vector(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach()


class PlainSilos:
    """Local steps of each silo with torch's own optimizers."""

    def __init__(self, job, data, make_optimizer):
        parts = split_dataset(
            job.config.partition, data, silos=job.silos, alpha=job.config.dirichlet_alpha, seed=job.seed
        )
        self.samples = [
            (torch.from_numpy(data.train_inputs[part]), torch.from_numpy(data.train_labels[part]))
            for part in parts
        ]
        self.batches = [
            BatchStream(size=part.size, batch_size=job.config.batch_size, seed=job.seed, silo=silo)
            for silo, part in enumerate(parts)
        ]
        self.models = [initial_model(job.config, data, seed=job.seed) for _ in parts]
        self.optimizers = [make_optimizer(model.parameters()) for model in self.models]

    def local_step(self, silo, step):
        inputs, labels = self.samples[silo]
        batch = torch.from_numpy(self.batches[silo].batch(step))
        self.optimizers[silo].zero_grad()
        nn.functional.cross_entropy(self.models[silo](inputs[batch]), labels[batch]).backward()
        self.optimizers[silo].step()


def test_a_star_takes_the_plain_average_whoever_is_the_hub(graph, work):
    # With weights 1/N the hub returns the mean of all models, its own among them.
    for hub in (None, 0, "Tokyo"):
        star = design("star", graph, work, hub=hub)
        np.testing.assert_array_equal(star.consensus, np.full((11, 11), 1 / 11))
    complete = design("complete", graph, work)
    np.testing.assert_allclose(complete.consensus, uniform(11), rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", ["star", "complete"])
def test_star_and_complete_graph_are_federated_averaging(make_job, make_rank_silos, graph, work, kind):
    """McMahan et al. 2017, Algorithm 1 with all clients: one global model, s local steps, then the mean."""
    overlay = design(kind, graph, work)
    job = make_job(silos=11, rounds=6, local_steps=3, matrix=overlay.consensus, learning_rate=0.3)
    data = load_dataset("digits")
    rank_silos, initial = make_rank_silos(job, data), initial_model(job.config, data, seed=job.seed)
    clients = PlainSilos(job, data, lambda parameters: torch.optim.SGD(parameters, lr=0.3))
    server = vector(initial)
    for k in range(6):
        train_round(job, rank_silos, k)
        for silo, model in enumerate(clients.models):
            nn.utils.vector_to_parameters(server.clone(), model.parameters())
            for step in range(3 * k, 3 * k + 3):
                clients.local_step(silo, step)
        before, server = server, torch.stack([vector(m).double() for m in clients.models]).mean(dim=0).float()
        rows = rank_silos.models.parameters[:, : server.numel()]
        # Silos differ from each other by rounding alone, and so does each from the server.
        torch.testing.assert_close(rows, server.expand_as(rows), rtol=8 * EPS, atol=8 * EPS)
        assert (server - before).abs().max() > 0.01


@pytest.mark.parametrize(
    ("settings", "make_optimizer"),
    [
        ({"learning_rate": 0.1}, lambda p: torch.optim.SGD(p, lr=0.1)),
        ({"learning_rate": 0.05, "momentum": 0.9}, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
        ({"learning_rate": 0.01, "optimizer": "adam"}, lambda p: torch.optim.Adam(p, lr=0.01)),
    ],
)
def test_one_silo_is_plain_training(make_job, make_rank_silos, settings, make_optimizer):
    job = make_job(silos=1, rounds=5, local_steps=4, matrix=np.eye(1), model="cnn", **settings)
    data = load_dataset("digits")
    rank_silos, initial = make_rank_silos(job, data), initial_model(job.config, data, seed=job.seed)
    alone = PlainSilos(job, data, make_optimizer)
    for k in range(5):
        train_round(job, rank_silos, k)
        for step in range(4 * k, 4 * k + 4):
            alone.local_step(0, step)
        expected = vector(alone.models[0])
        torch.testing.assert_close(
            rank_silos.models.parameters[0, : expected.numel()], expected, rtol=1e-5, atol=20 * EPS
        )
    assert (expected - vector(initial)).abs().max() > 0.05
