"""The model that every silo of a training starts from."""

from pathlib import Path
from typing import TYPE_CHECKING

from training.config import TrainingConfig
from training.data.datasets import Dataset
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

    Returns
    -------
    torch.nn.Module
        The model, as `build_model` returns it, with the initial weights if the settings name a file.

    Raises
    ------
    InputError
        If the model does not read such samples, cannot train on batches of this size, or the file of initial weights
        does not fit.
    """
    shape = dataset.train_inputs.shape[1:]
    model = build_model(config.model, input_shape=shape, classes=dataset.classes, seed=seed)
    check_batch_size(config.model, input_shape=shape, batch_size=config.batch_size)
    if not config.initial_weights:
        return model
    from training.models.weights import load_weights

    return load_weights(model, Path(config.initial_weights))
