"""One step of a user's model and loss before anything is designed: what does not fit shows here, in one line."""

import copy
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from topologies.entry_points import reason
from topologies.errors import Field, InputError, SilosimError
from training.config import TrainingConfig
from training.data.datasets import Dataset
from training.optimization.losses import own_loss
from training.own_code import refused

SAMPLES = 2
"""Of the trial's batch, or fewer where the training's batches are smaller."""

_TORCH = str(Path(torch.__file__).parent)
_DOES_NOT_FIT = re.compile(
    r"shape|size|dimension|channel|dtype|scalar type|same type|indices|index", re.IGNORECASE
)


def try_own(config: TrainingConfig, model: nn.Module, dataset: Dataset) -> None:
    """Make a step of a user's model or loss on the first samples; the model stays as it is.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model, on the CPU.
    dataset : Dataset
        The data that it will read.

    Raises
    ------
    InputError
        If the model does not read such samples, does not return scores of the classes, replaces a buffer, draws
        random numbers in evaluation or with ``vmap``, or if the loss does not return one number.

    Notes
    -----
    Costs two passes of two samples. An error of torch that speaks of shapes or types is about the model and the data;
    any other is the user's own, and passes.
    """
    try:
        copied = copy.deepcopy(model)
    except Exception as error:
        raise refused(
            "model", config.model, f"must be copied by copy.deepcopy, for each silo: {reason(error)}"
        ) from None
    shape = dataset.sample_shape
    size = min(SAMPLES, config.batch_size, len(dataset.train_labels))
    inputs = torch.from_numpy(np.asarray(dataset.train_inputs[np.arange(size)]))
    labels = torch.from_numpy(np.asarray(dataset.train_labels[:size]))
    with torch.random.fork_rng(devices=[]):
        with torch.no_grad(), _fitting("model", config.model, f"must read samples of shape {shape}"):
            _, drawn = _drawing(copied.eval(), inputs)
        if drawn:
            raise refused(
                "model",
                config.model,
                "must draw no random numbers in evaluation, as dropout(..., training=self.training) does not",
            )
        before = dict(copied.train().named_buffers())
        with _fitting("model", config.model, f"must read samples of shape {shape}"):
            scores, drawn = _drawing(copied, inputs)
        if drawn and config.executor in ("vmap", "graphs"):
            raise InputError(
                "must be auto or loop with a model that draws random numbers in training.",
                field=Field("executor", value=config.executor),
            )
        expected = (*labels.shape, dataset.classes)
        if not isinstance(scores, Tensor) or tuple(scores.shape) != expected:
            what = f"shape {tuple(scores.shape)}" if isinstance(scores, Tensor) else type(scores).__name__
            raise refused("model", config.model, f"must return scores of shape {expected}, not {what}")
        for key, buffer in copied.named_buffers():
            if buffer is not before.get(key):
                raise refused(
                    "model",
                    config.model,
                    f"must change the buffer {key} in place, as copy_ does, not replace it",
                )
        loss = own_loss(config.loss)
        if loss is None:
            return
        with _fitting("loss", config.loss, f"must take scores {expected} and labels {tuple(labels.shape)}"):
            value = loss(scores.flatten(0, -2), labels.flatten())
        if not isinstance(value, Tensor) or value.shape:
            what = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            raise refused("loss", config.loss, f"must return one number, a tensor of shape (), not {what}")
        if not value.requires_grad:
            raise refused(
                "loss", config.loss, "must be computed from the scores by torch, so that it has a gradient"
            )


def _drawing(model: nn.Module, inputs: Tensor) -> tuple[object, bool]:
    """Return a model's output, and whether it drew from torch's random state."""
    before = torch.random.get_rng_state()
    scores = model(inputs)
    return scores, not torch.equal(before, torch.random.get_rng_state())


@contextmanager
def _fitting(field: str, name: str, rule: str) -> Iterator[None]:
    """Turn an error of torch about shapes or types into an InputError with a rule."""
    try:
        yield
    except SilosimError:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raised = (place.line or "").startswith("raise")
        of_torch = place.filename.startswith(_TORCH) or (
            isinstance(error, RuntimeError | IndexError) and not raised
        )
        if of_torch and _DOES_NOT_FIT.search(str(error)):
            raise refused(field, name, f"{rule}: {reason(error)}") from None
        raise
