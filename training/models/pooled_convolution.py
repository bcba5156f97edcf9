"""A convolution, max-pooling and ReLU as one layer, whose backward pass skips products with zero."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

if TYPE_CHECKING:
    from training.models.compiled.pooled_convolution_kernels import Floats

INPUTS = 32
"""Channels of the layer's input."""


class PooledConvolution(nn.Conv2d):
    """3 x 3 convolution of 32 channels without padding, 2 x 2 max-pooling and ReLU.

    Parameters
    ----------
    channels : int
        Channels of the output.

    Attributes
    ----------
    kernels : bool, default True
        Whether to use the compiled kernels where they can serve.

    Notes
    -----
    At most one of four outputs of the convolution has a gradient. PyTorch's backward pass multiplies with the zeros
    of the others too; the kernels leave them out, and take less than half of its time. They compute the same up to
    rounding, with sums in another order, by one thread. On a GPU, under `torch.func`'s transforms, and in other than
    single precision, the layers are PyTorch's.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(INPUTS, channels, kernel_size=3)
        self.kernels = True

    def forward(self, images: Tensor) -> Tensor:
        """Return the pooled activations, shape (n, channels, (height - 2) // 2, (width - 2) // 2)."""
        served = self.kernels and not torch.is_autocast_enabled("cpu")
        if not served or not all(map(_is_served, (images, *self.parameters()))):
            return nn.functional.relu(nn.functional.max_pool2d(super().forward(images), 2))
        return cast(Tensor, _Compiled.apply(images, self.weight, self.bias))  # type: ignore[no-untyped-call]


def _is_served(tensor: Tensor) -> bool:
    """Whether the kernels can read a tensor."""
    if tensor.device.type != "cpu" or tensor.dtype != torch.float32:
        return False
    try:
        tensor.data_ptr()
    except RuntimeError:  # one that a transform stacks or follows has no memory
        return False
    return True


class _Compiled(torch.autograd.Function):
    """The layer by kernels."""

    @staticmethod
    def forward(ctx: Any, images: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        from training.models.compiled.pooled_convolution_kernels import pool

        scores = nn.functional.conv2d(images, weight, bias)
        n, channels, height, width = scores.shape
        pooled = torch.empty(n, height // 2, width // 2, channels)
        codes = torch.empty(pooled.shape, dtype=torch.uint8)
        pool(_channels_last(scores), pooled.numpy(), codes.numpy())
        ctx.save_for_backward(images, weight, codes)
        return pooled.permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        from training.models.compiled.pooled_convolution_kernels import input_gradient, weight_gradient

        images, weight, places = ctx.saved_tensors
        gradient, codes, inputs = _channels_last(gradients[0]), places.numpy(), _channels_last(images)
        _n, _rows, columns, channels = gradient.shape
        at_inputs, at_weight, at_bias = (
            torch.zeros(shape) for shape in (inputs.shape, (channels, 3, 3, INPUTS), (channels,))
        )
        offsets, terms = (np.empty(4 * columns * channels, dtype=kind) for kind in (np.int32, np.float32))
        ends = np.empty(4 * columns, dtype=np.int64)
        weight_gradient(gradient, codes, inputs, at_weight.numpy(), at_bias.numpy(), offsets, terms)
        rows_first = weight.detach().permute(2, 0, 3, 1).contiguous().numpy()
        input_gradient(gradient, codes, rows_first, at_inputs.numpy(), offsets, terms, ends)
        return at_inputs.permute(0, 3, 1, 2), at_weight.permute(0, 3, 1, 2), at_bias


def _channels_last(images: Tensor) -> "Floats":
    """The images as an array of shape (n, height, width, channels), copied only if they do not lie so."""
    array: Floats = images.detach().permute(0, 2, 3, 1).contiguous().numpy()
    return array
