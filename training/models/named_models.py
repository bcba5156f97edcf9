"""Models by name.

torch is imported where a model is built: it takes seconds, and most commands need only the names.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, cast

from topologies.errors import InputError, quoted
from training.lookup import lookup_registered
from training.own_code import call_own, check_name, is_own, load_own, own_code
from training.random_streams import Purpose, stream

if TYPE_CHECKING:
    from torch import nn

GROUP = "silosim.models"
"""Group of the entry points of models."""

Builder = Callable[[tuple[int, ...], int], "nn.Module"]
"""Returns a new model for the shape of a sample and a number of classes; may draw from torch's global random state."""

IMAGE = ("channels", "height", "width")
TOKENS = ("length",)
SEQUENCE = ("length", "features")


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """How a model is built, and what it reads.

    Parameters
    ----------
    reads : tuple of tuple of str
        Axes of one sample, for each kind of sample that the model reads; empty if the builder checks the shape.
    norm_stride : int
        By what height and width are divided, rounded up, where the last batch norm sees an image; 0 without one.
    vectorizes : bool
        Whether `torch.func.vmap` works on it; torch has no batching rule for recurrent layers.
    """

    build: Builder
    reads: tuple[tuple[str, ...], ...] = ()
    norm_stride: int = 0
    vectorizes: bool = True


def _built_in(module: str, builder: str, **options: int) -> Builder:
    """A builder in a module of this package, which is imported when the model is built."""

    def build(input_shape: tuple[int, ...], classes: int) -> "nn.Module":
        function = getattr(import_module(f"training.models.{module}"), builder)
        return cast("nn.Module", function(input_shape, classes, **options))

    return build


MODELS: Mapping[str, ModelSpec] = {
    "bilstm": ModelSpec(build=_built_in("recurrent", "bilstm"), reads=(SEQUENCE,), vectorizes=False),
    "char_gru": ModelSpec(build=_built_in("recurrent", "char_gru"), reads=(TOKENS,), vectorizes=False),
    "cnn": ModelSpec(build=_built_in("feedforward", "cnn"), reads=(IMAGE,)),
    "femnist_cnn": ModelSpec(build=_built_in("feedforward", "femnist_cnn"), reads=(IMAGE,)),
    "resnet18": ModelSpec(build=_built_in("resnet", "resnet", layers=18), reads=(IMAGE,), norm_stride=32),
    "resnet50": ModelSpec(build=_built_in("resnet", "resnet", layers=50), reads=(IMAGE,), norm_stride=32),
    "softmax": ModelSpec(build=_built_in("feedforward", "softmax"), reads=(IMAGE, SEQUENCE)),
}


def model_spec(name: str) -> ModelSpec:
    """Return a model by name.

    Parameters
    ----------
    name : str
        One of `MODELS`, the name of an entry point in `GROUP`, which is a `ModelSpec` or a `Builder`, or
        ``module:callable``: code of the user's that runs when the model is built (`training.own_code`).

    Raises
    ------
    InputError
        If there is none of that name, two packages register it, or it is neither a `ModelSpec` nor a function.
    MachineError
        If it cannot be imported.
    """
    if is_own(name):
        check_name(name, field="model")
        return ModelSpec(build=partial(_build_own, name))
    otherwise = "file.py:name or module:name of your own"
    found = lookup_registered(MODELS, name, group=GROUP, field="model", otherwise=otherwise)
    if isinstance(found, ModelSpec):
        return found
    if not callable(found):
        raise InputError(
            f"model(={name!r}): its entry point must be a ModelSpec or a function, not {quoted(found)}."
        )
    return ModelSpec(build=cast(Builder, found))


def may_draw(name: str) -> bool:
    """Return whether a model's passes may draw from torch's random state in training, as dropout does: not ours."""
    return name not in MODELS


def _build_own(name: str, input_shape: tuple[int, ...], classes: int) -> "nn.Module":
    """Call the user's callable, with `input_shape` and `classes` where it takes them, or build the user's spec."""
    from training.models.own_model import trainable

    with own_code(model=name):
        found = load_own(name, field="model")
        if isinstance(found, ModelSpec):
            built: object = found.build(input_shape, classes)
        else:
            built = call_own(name, field="model", offered={"input_shape": input_shape, "classes": classes})
    return trainable(built, name)


def build_model(name: str, *, input_shape: tuple[int, ...], classes: int, seed: int) -> "nn.Module":
    """Build a model with its initial values, drawn from the run's seed.

    Parameters
    ----------
    name : str
        As in `model_spec`.
    input_shape : tuple of int
        Shape of one sample: (channels, height, width) of an image, (length,) of a text of whole-number tokens below
        `classes`, (length, features) of a sequence of vectors. Of samples with several inputs a tuple of their shapes.
    seed : int
        The run's seed; every silo starts from the same model, whatever the number of ranks.

    Returns
    -------
    torch.nn.Module
        The model on the CPU in float32, in training mode; torch's global random state is as before. It maps a batch
        of n samples to scores of shape (n, classes), and ``char_gru`` to (n, length, classes).

    Raises
    ------
    InputError
        If the name is unknown or the model does not read samples of this shape.

    Notes
    -----
    `torch.func.functional_call` works on all of them. `torch.func.vmap` over stacked parameters (and, for the
    ResNets, stacked buffers) works on those with `ModelSpec.vectorizes`.
    """
    import torch

    spec = model_spec(name)
    if spec.reads and any(isinstance(part, tuple) for part in input_shape):
        raise InputError(f"model(={name!r}) must read samples with one input, not {len(input_shape)}.")
    if spec.reads and len(input_shape) not in map(len, spec.reads):
        shapes = " or ".join(f"({', '.join(axes)})" for axes in spec.reads)
        raise InputError(f"model(={name!r}) must read samples of shape {shapes}, not {tuple(input_shape)}.")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(stream(seed, Purpose.INITIAL_MODEL).integers(2**62)))
        return spec.build(input_shape, classes)


def check_batch_size(name: str, *, input_shape: tuple[int, ...], batch_size: int) -> None:
    """Check that a model can train on batches of a size: batch norm needs two values per channel.

    Parameters
    ----------
    name : str
        As in `model_spec`.
    input_shape : tuple of int
        Shape of one sample that the model reads.
    batch_size : int
        Samples per batch, >= 1.

    Raises
    ------
    InputError
        If one sample is too small to be a batch.
    """
    stride = model_spec(name).norm_stride
    if stride and batch_size * math.prod(math.ceil(side / stride) for side in input_shape[1:]) < 2:
        raise InputError(
            f"batch_size(={batch_size}) must be >= 2 for model {name} and images of"
            f" {' x '.join(map(str, input_shape[1:]))} pixels: batch norm needs two values per channel."
        )
