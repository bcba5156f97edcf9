"""The executor protocol, and functions that all executors share."""

import textwrap
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

import torch
from torch import Tensor, nn

from training.data.shards import Steps
from training.engine.parameter_buffer import ParameterBuffer

LONGEST_CAUSE = 160
"""Characters of a library's error message in a notice."""


class Executor(Protocol):
    """Computes one mini-batch gradient in every silo of the rank."""

    @property
    def name(self) -> str:
        """Its name in `training.config.EXECUTORS`."""

    def gradients(self, step: Steps) -> Tensor:
        """Fill the rows of the parameter buffer's gradients, and update the buffers, as every silo's module would.

        Parameters
        ----------
        step : int or IntArray, shape (silos,)
            Local steps that each silo has made before; it decides the batches. Where it is `NO_STEP` the silo makes
            none: its gradient and loss mean nothing, and its buffers stay.

        Returns
        -------
        torch.Tensor, shape (silos,)
            Mean loss of each silo's batch. A silo whose batch is padding has loss and gradient zero.
        """


def precise(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Return the context of a forward pass.

    Parameters
    ----------
    precision : str
        One of `training.config.PRECISIONS`.
    device : torch.device
        Where it is computed.

    Returns
    -------
    context manager
        Autocast to bfloat16, or none. Casts are not cached: a parameter is read once per forward pass, and what a CUDA
        graph has captured must not depend on earlier casts.
    """
    if precision == "bf16":
        return torch.autocast(device.type, dtype=torch.bfloat16, cache_enabled=False)
    return nullcontext()


def with_fast_layout(inputs: Tensor, precision: str) -> Tensor:
    """Return a batch in the layout that convolutions read fastest: bfloat16 images on a GPU have channels last.

    Notes
    -----
    Tensor cores read channels last. Weights lie in the parameter buffer with their channels first, as on every rank's
    device, so cuDNN reorders them in every pass; under autocast they are cast in every pass anyway. In single precision
    without TF32 there are no tensor cores, and images stay as they are.
    """
    if precision == "bf16" and inputs.is_cuda and inputs.dim() == 4:
        return inputs.to(memory_format=torch.channels_last)
    return inputs


def write_gradients(loss: Tensor, module: nn.Module) -> None:
    """Write the gradient of a loss into the gradients of a module's parameters.

    Parameters
    ----------
    loss : torch.Tensor, shape ()
        Of a batch.
    module : torch.nn.Module
        A module of the parameter buffer.

    Notes
    -----
    `loss.backward()` would add to zeros, which would have to be written and read. A parameter that the loss does not
    depend on has gradient zero.
    """
    parameters = list(module.parameters())
    found = torch.autograd.grad(loss, parameters, materialize_grads=True)
    torch._foreach_copy_([parameter.grad for parameter in parameters if parameter.grad is not None], found)


def descend(loss: Tensor, module: nn.Module, learning_rate: float) -> None:
    """Make a step of plain gradient descent.

    Parameters
    ----------
    loss : torch.Tensor, shape ()
        Of a batch.
    module : torch.nn.Module
        Its parameters are changed.
    learning_rate : float
        Factor of the gradient.

    Notes
    -----
    The same as `write_gradients` and an optimizer's step, without a copy of the gradient; up to rounding, as vector
    code may take the last numbers of a parameter one by one.
    """
    parameters: list[Tensor] = list(module.parameters())
    found = torch.autograd.grad(loss, parameters, materialize_grads=True)
    with torch.no_grad():
        torch._foreach_add_(parameters, found, alpha=-learning_rate)


@contextmanager
def unchanged(models: ParameterBuffer) -> Iterator[None]:
    """Restore buffers and clear gradients after a trial of executors, which change no parameters."""
    before = [(buffer, buffer.clone()) for module in models.modules for buffer in module.buffers()]
    try:
        yield
    finally:
        if models.gradients.is_cuda:
            # After an error, kernels on other streams may still write.
            torch.cuda.synchronize(models.gradients.device)
        for buffer, value in before:
            buffer.copy_(value)
        models.gradients.zero_()


def cause_of(error: BaseException) -> str:
    """Return the first cause of an error in one line of at most `LONGEST_CAUSE` characters.

    Parameters
    ----------
    error : BaseException
        The last of a chain: a capture that fails raises another error when it ends, which names no cause.
    """
    while isinstance(error.__context__, RuntimeError):
        error = error.__context__
    line = str(error).strip().partition("\n")[0]
    return textwrap.shorten(line, LONGEST_CAUSE, placeholder=" ...") or type(error).__name__
