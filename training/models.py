"""Models by name.

torch is imported where a model is built: it takes seconds, and most commands need only the names.
"""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from training.registry import lookup
from training.streams import Purpose, stream

if TYPE_CHECKING:
    from torch import nn

Builder = Callable[[tuple[int, ...], int], "nn.Module"]


def softmax(input_shape: tuple[int, ...], classes: int) -> "nn.Module":
    """Return softmax regression: one linear layer (650 parameters for 8 x 8 pixels and 10 classes)."""
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(input_shape), classes))


def cnn(input_shape: tuple[int, ...], classes: int) -> "nn.Module":
    """Return a small convolutional network (21,546 parameters for 8 x 8 pixels and 10 classes).

    Parameters
    ----------
    input_shape : tuple of int
        (channels, height, width).
    classes : int
        Number of outputs.

    Returns
    -------
    torch.nn.Module
        3 x 3 convolution to 16 channels, 3 x 3 convolution with stride 2 to 32 channels, a layer of 32 units and the
        output layer, with ReLU in between. No buffers and no dropout.
    """
    from torch import nn

    channels, height, width = input_shape
    return nn.Sequential(
        nn.Conv2d(channels, 16, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, kernel_size=3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * math.ceil(height / 2) * math.ceil(width / 2), 32),
        nn.ReLU(),
        nn.Linear(32, classes),
    )


MODELS: Mapping[str, Builder] = {"cnn": cnn, "softmax": softmax}


def build_model(name: str, *, input_shape: tuple[int, ...], classes: int, seed: int) -> "nn.Module":
    """Build a model with torch's own initial values, drawn from the run's seed.

    Parameters
    ----------
    name : str
        ``cnn`` or ``softmax``.
    input_shape : tuple of int
        Shape of one sample.
    classes : int
        Number of classes.
    seed : int
        The run's seed; every silo starts from the same model.

    Returns
    -------
    torch.nn.Module
        The model on the CPU in float32; torch's global random state is as before.

    Raises
    ------
    InputError
        If the name is unknown.
    """
    import torch

    build = lookup(MODELS, name, field="model")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(stream(seed, Purpose.INITIAL_MODEL).integers(2**62)))
        return build(input_shape, classes)
