"""The parameters and buffers of all silos that one rank hosts, as rows of tensors."""

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn

ALIGNMENT = 16


class Arena:
    """Models of one rank's silos; their parameters, gradients and buffers are rows of matrices.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model of every silo; it is copied.
    silos : int
        Number of silos that the rank hosts; may be 0.
    before, after : int
        How many other ranks' rows of lower and of higher silos there must be room for.
    device : torch.device
        Where the tensors live.
    exchange_buffers : bool, default False
        Whether floating-point buffers are exchanged and mixed like parameters. They stay in their silo otherwise, as
        in the paper.

    Attributes
    ----------
    parameters, gradients : torch.Tensor, shape (silos, stride)
        Row ``i`` is the model of the ``i``-th hosted silo, layer after layer.
    buffers : torch.Tensor, shape (silos, buffer stride)
        The floating-point buffers, such as batch norm's running statistics; no columns for a model without.
    rows : torch.Tensor, shape (silos, width)
        What is exchanged and mixed: the parameters, followed by the buffers if they are exchanged.
    modules : tuple of torch.nn.Module
        One per hosted silo; its parameters, their gradients and its buffers are views into rows.

    Notes
    -----
    The window of shape (before + silos + after, width) holds the rows of lower silos, the rank's own and those of
    higher silos. In any round the rows in use are adjacent and in silo order, so mixing is one matrix product, in the
    same order of terms on any number of ranks, and rows are received where they are used. The product goes to a
    second buffer, as its input must stay whole, and is then copied back: swapping the buffers would save that copy
    (one pass over memory, small beside the product) but every parameter of every module would have to be bound anew.

    Rows are padded with zeros to whole cache lines (`ALIGNMENT` floats), so that a row's address has the same
    alignment in any row: vector code may round differently where it has not.

    Batch norm normalizes a training batch with the batch's own mean and variance; its running statistics only matter
    when a model is evaluated. Without an exchange every silo has those of its own data, with it they are mixed like
    parameters. The average model is evaluated with their mean over silos in both cases. A mean of variances is not
    the variance of the pooled data: it lacks the variance of the silos' means, so that the average model of
    heterogeneous silos is evaluated with too small a variance. Weights below zero can even mix positive variances
    into a negative one, whose square root is not a number: exchange buffers only with matrices that have none.
    Whole-number buffers (counters) always stay in their silo.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        silos: int,
        before: int,
        after: int,
        device: torch.device,
        exchange_buffers: bool = False,
    ) -> None:
        stride = padded(sum(parameter.numel() for parameter in model.parameters()))
        buffer_stride = padded(sum(buffer.numel() for _owner, _name, buffer in float_buffers(model)))
        width = stride + buffer_stride if exchange_buffers else stride
        self._before = before
        self._window = torch.zeros(before + silos + after, width, device=device)
        self.rows = self._window[before : before + silos]
        self.parameters = self.rows[:, :stride]
        self.buffers = (
            self.rows[:, stride:] if exchange_buffers else torch.zeros(silos, buffer_stride, device=device)
        )
        self.gradients = torch.zeros(silos, stride, device=device)
        self._mixed = torch.empty(silos, width, device=device)
        self.modules = tuple(
            bind(model, row, gradient, buffers=buffers)
            for row, gradient, buffers in zip(self.parameters, self.gradients, self.buffers, strict=True)
        )

    def received(self, position: int) -> Tensor:
        """Return the row at a position relative to the rank's first own row: negative for lower silos."""
        return self._window[self._before + position]

    def mix(self, weights: Tensor, first: int) -> None:
        """Replace the own rows by weighted sums of the window's rows, ``X <- A X``.

        Parameters
        ----------
        weights : torch.Tensor, shape (silos, columns)
            The rank's rows of the consensus matrix, restricted to the rows in use.
        first : int
            Position of the first row in use, relative to the rank's first own row: ``0`` or negative.
        """
        start = self._before + first
        torch.mm(weights, self._window[start : start + weights.shape[1]], out=self._mixed)
        self.rows.copy_(self._mixed)


def padded(size: int) -> int:
    """Return the length of a row for `size` numbers: whole cache lines."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def float_buffers(model: nn.Module) -> Iterator[tuple[nn.Module, str, Tensor]]:
    """Iterate over the floating-point buffers of a model, in the order of its state dict.

    Parameters
    ----------
    model : torch.nn.Module
        The model.

    Yields
    ------
    owner : torch.nn.Module
        The part of the model that holds the buffer.
    name : str
        The buffer's name in its owner.
    buffer : torch.Tensor
        Its value.
    """
    for owner in model.modules():
        for name, buffer in owner.named_buffers(recurse=False):
            if buffer.is_floating_point():
                yield owner, name, buffer


def bind(
    model: nn.Module, row: Tensor, gradient: Tensor | None = None, *, buffers: Tensor | None = None
) -> nn.Module:
    """Return a copy of a model whose parameters are views into a row.

    Parameters
    ----------
    model : torch.nn.Module
        Gives structure and values.
    row : torch.Tensor, shape (stride,)
        Takes the values; at least as long as the model has parameters.
    gradient : torch.Tensor, shape (stride,), optional
        Where gradients add up; without it the copy needs none.
    buffers : torch.Tensor, shape (buffer stride,), optional
        Takes the values of the floating-point buffers, which become views into it; without it they are the copy's
        own.

    Returns
    -------
    torch.nn.Module
        The copy.
    """
    bound = copy.deepcopy(model)
    offset = 0
    for parameter in bound.parameters():
        piece = slice(offset, offset + parameter.numel())
        row[piece] = parameter.detach().flatten()
        parameter.data = row[piece].view_as(parameter)
        parameter.requires_grad_(gradient is not None)
        if gradient is not None:
            parameter.grad = gradient[piece].view_as(parameter)
        offset = piece.stop
    if buffers is not None:
        offset = 0
        for owner, name, buffer in list(float_buffers(bound)):
            piece = slice(offset, offset + buffer.numel())
            buffers[piece] = buffer.flatten()
            setattr(owner, name, buffers[piece].view_as(buffer))
            offset = piece.stop
    return bound
