"""Softmax regression and the small convolutional networks."""

import math

import torch
from torch import Tensor, nn

from topologies.errors import InputError
from training.models.pooled_convolution import PooledConvolution


class WideLinear(nn.Linear):
    """Linear layer with far more inputs than the batch has samples."""

    def forward(self, features: Tensor) -> Tensor:
        """Return the outputs for features, shape (n, inputs)."""
        # In this order libraries read the weights as they lie in memory. With few samples, such as 16, that is most of
        # the work, and takes half the time.
        return torch.addmm(self.bias[:, None], self.weight, features.T).T


class ChannelsLast(nn.Sequential):
    """Layers that see an image's channels last in memory, as convolutions with many of them read it fastest."""

    def forward(self, images: Tensor) -> Tensor:
        """Return the last layer's output for images, shape (n, channels, height, width)."""
        # Not `to(memory_format=...)`, which fails under `torch.func.vmap`, nor `contiguous()`, which leaves the strides
        # of a single channel as they are: convolutions go by them.
        last = images.permute(0, 2, 3, 1).clone(memory_format=torch.contiguous_format).permute(0, 3, 1, 2)
        scores: Tensor = super().forward(last)  # type: ignore[no-untyped-call]
        return scores


def softmax(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    """Return softmax regression: one linear layer (650 parameters for 8 x 8 pixels and 10 classes)."""
    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(input_shape), classes))


def cnn(input_shape: tuple[int, ...], classes: int) -> nn.Module:
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


def femnist_cnn(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    """Return the network of FEMNIST (1,206,590 parameters for 28 x 28 pixels and 62 classes).

    Parameters
    ----------
    input_shape : tuple of int
        (channels, height, width), at least 6 x 6 pixels.
    classes : int
        Number of outputs.

    Returns
    -------
    torch.nn.Module
        3 x 3 convolutions to 32 and to 64 channels without padding, 2 x 2 max-pooling, a layer of 128 units and the
        output layer, with ReLU in between. No buffers and no dropout.

    Raises
    ------
    InputError
        If the image is too small.

    Notes
    -----
    The paper says "two convolutional layers, max-pooling, two dense layers" and gives 1,207 thousand parameters,
    but no widths. The widths are those of its published code, which reads three equal channels (1,207,166 parameters)
    and has dropout. LEAF's own network (5 x 5 convolutions, a layer of 2,048 units) has more than five times as many.
    State-dict keys: 0 and 2 are the convolutions (the second with pooling and ReLU), 4 and 6 the linear layers.
    """
    channels, height, width = input_shape
    if min(height, width) < 6:
        raise InputError(f"image(={height} x {width}) must be at least 6 x 6 pixels for model femnist_cnn.")
    return ChannelsLast(
        nn.Conv2d(channels, 32, kernel_size=3),
        nn.ReLU(inplace=True),
        PooledConvolution(64),
        nn.Flatten(),
        WideLinear(64 * ((height - 4) // 2) * ((width - 4) // 2), 128),
        nn.ReLU(),
        nn.Linear(128, classes),
    )
