"""The model that every silo of a training starts from."""

from pathlib import Path
from typing import TYPE_CHECKING

from training.config import TrainingConfig
from training.data.datasets import Dataset
from training.models import build_model, check_batch_size
from training.own_code import is_own, own_code

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
        does not fit; for the user's own code as `training.engine.own_trial.try_own`.
    TrainingError
        If the user's own code fails.
    """
    shape = dataset.sample_shape
    model = build_model(config.model, input_shape=shape, classes=dataset.classes, seed=seed)
    check_batch_size(config.model, input_shape=shape, batch_size=config.batch_size)
    if dataset.input_parts:
        from training.engine.several_inputs import Unpacking

        model.register_forward_pre_hook(Unpacking(parts=dataset.input_parts))
    if is_own(config.model) or config.loss:
        from training.engine.own_trial import try_own

        with own_code(model=config.model, loss=config.loss):
            try_own(config, model, dataset)
    if not config.initial_weights:
        return model
    from training.models.weights import load_weights

    return load_weights(model, Path(config.initial_weights))
