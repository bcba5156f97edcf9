"""What an executor is, and what all of them share."""

import textwrap
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

import torch
from torch import Tensor, nn

from training.engine.parameter_buffer import Arena

LONGEST_CAUSE = 160
"""Characters of a library's error message that a user is shown."""


class Executor(Protocol):
    """Computes one mini-batch gradient in every hosted silo."""

    @property
    def name(self) -> str:
        """Its name in `training.config.EXECUTORS`."""

    def gradients(self, step: int) -> Tensor:
        """Fill the rows of the arena's gradients, and update the buffers, as every silo's module would.

        Parameters
        ----------
        step : int
            Local steps that each silo has made before; it decides the batches.

        Returns
        -------
        torch.Tensor, shape (silos,)
            Mean cross-entropy of each silo's batch. A silo whose batch is padding has loss and gradient zero.
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
        Autocast to bfloat16, or none. Casts are not kept: a parameter is read once per forward pass, and what a CUDA
        graph has captured must not depend on earlier casts.
    """
    if precision == "bf16":
        return torch.autocast(device.type, dtype=torch.bfloat16, cache_enabled=False)
    return nullcontext()


def laid_out(inputs: Tensor, precision: str) -> Tensor:
    """Return a batch as convolutions read it fastest: images on a GPU with their channels last where they are bfloat16.

    Notes
    -----
    Tensor cores read channels last. Weights lie in the arena with their channels first, the same on every rank's
    device, so that cuDNN brings them into the order of the images in every pass; under autocast they are cast in every
    pass anyway. In single precision without TF32 there are no tensor cores, and images stay as they are.
    """
    if precision == "bf16" and inputs.is_cuda and inputs.dim() == 4:
        return inputs.to(memory_format=torch.channels_last)
    return inputs


def write_gradients(loss: Tensor, module: nn.Module) -> None:
    """Write the gradient of a loss to where the module's parameters have theirs.

    Parameters
    ----------
    loss : torch.Tensor, shape ()
        Depends on all parameters.
    module : torch.nn.Module
        One of the arena's.

    Notes
    -----
    `loss.backward()` would add to what is there: zeros, which had to be written and read again.
    """
    parameters = list(module.parameters())
    found = torch.autograd.grad(loss, parameters)
    torch._foreach_copy_([parameter.grad for parameter in parameters if parameter.grad is not None], found)


def descend(loss: Tensor, module: nn.Module, learning_rate: float) -> None:
    """Make a step of plain gradient descent.

    Parameters
    ----------
    loss : torch.Tensor, shape ()
        Depends on all parameters.
    module : torch.nn.Module
        Its parameters are changed.
    learning_rate : float
        Length of the step, in gradients.

    Notes
    -----
    The same as `write_gradients` and an optimizer's step, without a copy of the gradient; up to rounding, as vector
    code may take the last numbers of a parameter one by one.
    """
    parameters: list[Tensor] = list(module.parameters())
    found = torch.autograd.grad(loss, parameters)
    with torch.no_grad():
        torch._foreach_add_(parameters, found, alpha=-learning_rate)


@contextmanager
def unchanged(arena: Arena) -> Iterator[None]:
    """Let executors be tried: buffers are as before afterwards, and gradients zero.

    Parameters
    ----------
    arena : Arena
        Its parameters are not changed by an executor.
    """
    kept = [(buffer, buffer.clone()) for module in arena.modules for buffer in module.buffers()]
    try:
        yield
    finally:
        if arena.gradients.is_cuda:
            # What an error has cut off may still run on other streams, and write.
            torch.cuda.synchronize(arena.gradients.device)
        for buffer, value in kept:
            buffer.copy_(value)
        arena.gradients.zero_()


def cause_of(error: BaseException) -> str:
    """Return what went wrong first, in one line.

    Parameters
    ----------
    error : BaseException
        The last of a chain of errors: a capture that fails raises another one when it ends, which says nothing.

    Returns
    -------
    str
        The first line of the first error's message, cut to `LONGEST_CAUSE`, or the error's name if it says nothing.
    """
    while isinstance(error.__context__, RuntimeError):
        error = error.__context__
    line = str(error).strip().partition("\n")[0]
    return textwrap.shorten(line, LONGEST_CAUSE, placeholder=" ...") or type(error).__name__
