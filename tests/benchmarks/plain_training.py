"""DPASGD as research code usually writes it: a list of models, one optimizer and data loader each, and Python loops."""

import copy
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from topologies.arrays import FloatArray
from training.data.datasets import IGNORED
from training.models import build_model


def plain_model(name: str, shape: tuple[int, ...], classes: int) -> nn.Module:
    """The task's model; the FEMNIST CNN in the order in which the paper names its layers."""
    if name != "femnist_cnn":
        return build_model(name, input_shape=shape, classes=classes, seed=1)
    channels, height, width = shape
    return nn.Sequential(
        nn.Conv2d(channels, 32, kernel_size=3),
        nn.ReLU(),
        nn.Conv2d(32, 64, kernel_size=3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * ((height - 4) // 2) * ((width - 4) // 2), 128),
        nn.ReLU(),
        nn.Linear(128, classes),
    )


def batches(samples: "Dataset[tuple[Tensor, ...]]", batch_size: int) -> Iterator[Sequence[Tensor]]:
    """Shuffled batches for ever; an incomplete last one is left out where a complete one exists."""
    loader = DataLoader(
        samples,
        batch_size=batch_size,
        shuffle=True,
        drop_last=len(samples) >= batch_size,  # type: ignore[arg-type]
    )
    while True:
        yield from loader


class PlainTraining:
    """All silos in one process, one after the other.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model of every silo.
    data : sequence of (inputs, labels)
        The samples of each silo.
    matrix : FloatArray, shape (silos, silos)
        The consensus matrix.
    batch_size, learning_rate, momentum
        As in a training's settings.
    device : torch.device
        Where it computes.
    """

    def __init__(
        self,
        model: nn.Module,
        data: Sequence[tuple[Tensor, Tensor]],
        matrix: FloatArray,
        *,
        batch_size: int,
        learning_rate: float,
        momentum: float = 0.0,
        device: torch.device | None = None,
    ) -> None:
        self.device = device or torch.device("cpu")
        self.matrix = matrix
        self.models = [copy.deepcopy(model).to(self.device) for _ in data]
        self.optimizers = [
            torch.optim.SGD(own.parameters(), lr=learning_rate, momentum=momentum) for own in self.models
        ]
        self.batches = [batches(TensorDataset(*samples), batch_size) for samples in data]
        self.loss = nn.CrossEntropyLoss(ignore_index=IGNORED)

    def steps(self, count: int) -> list[float]:
        """Make local steps in every silo; return the last losses."""
        losses = []
        for model, optimizer, loader in zip(self.models, self.optimizers, self.batches, strict=True):
            model.train()
            for _ in range(count):
                inputs, labels = next(loader)
                inputs, labels = inputs.to(self.device), labels.to(self.device)
                optimizer.zero_grad()
                scores = model(inputs)
                loss = self.loss(scores.flatten(0, -2), labels.flatten())
                value = loss.item()
                loss.backward()
                optimizer.step()
            losses.append(value)
        return losses

    def mix(self) -> None:
        """Replace every model by the weighted average of its neighbours' and its own."""
        states = [copy.deepcopy(model.state_dict()) for model in self.models]
        for i, model in enumerate(self.models):
            mixed = model.state_dict()
            neighbours = [j for j, weight in enumerate(self.matrix[i]) if weight != 0]
            for name, value in mixed.items():
                if value.is_floating_point():
                    mixed[name] = sum(float(self.matrix[i, j]) * states[j][name] for j in neighbours)
            model.load_state_dict(mixed)

    def round(self, local_steps: int = 1) -> None:
        """Local steps, then mixing."""
        self.steps(local_steps)
        self.mix()
