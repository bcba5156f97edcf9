"""The model that every silo of a training starts from."""

from typing import TYPE_CHECKING

from training.config import TrainingConfig
from training.datasets import Dataset
from training.models import build_model, check_batch_size

if TYPE_CHECKING:
    from torch import nn


def initial_model(config: TrainingConfig, dataset: Dataset, *, seed: int) -> "nn.Module":
    """Build the configured model for the samples of a data set.

    Parameters
    ----------
    config : TrainingConfig
        Names the model and says how large its batches are.
    dataset : Dataset
        The data that it will read.
    seed : int
        The run's seed.

    Returns
    -------
    torch.nn.Module
        The model, as `build_model` returns it.

    Raises
    ------
    InputError
        If the model does not read such samples, or cannot train on batches of this size.
    """
    shape = dataset.train_inputs.shape[1:]
    model = build_model(config.model, input_shape=shape, classes=dataset.classes, seed=seed)
    check_batch_size(config.model, input_shape=shape, batch_size=config.batch_size)
    return model
