"""The parameters of all silos that one rank hosts, as one tensor."""

import copy

import torch
from torch import Tensor, nn

ALIGNMENT = 16


class Arena:
    """Models of one rank's silos; their parameters and gradients are rows of two matrices.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model of every silo; it is copied. It must have no buffers.
    silos : int
        Number of silos that the rank hosts; may be 0.
    before, after : int
        How many other ranks' rows of lower and of higher silos there must be room for.
    device : torch.device
        Where the tensors live.

    Attributes
    ----------
    parameters, gradients : torch.Tensor, shape (silos, stride)
        Row ``i`` is the model of the ``i``-th hosted silo, layer after layer.
    modules : tuple of torch.nn.Module
        One per hosted silo; its parameters and their gradients are views into a row.

    Notes
    -----
    The window of shape (before + silos + after, stride) holds the rows of lower silos, the rank's own and those of
    higher silos. In any round the rows in use are adjacent and in silo order, so mixing is one matrix product, in the
    same order of terms on any number of ranks, and rows are received where they are used. The product goes to a
    second buffer, as its input must stay whole, and is then copied back: swapping the buffers would save that copy
    (one pass over memory, small beside the product) but every parameter of every module would have to be bound anew.

    Rows are padded with zeros to whole cache lines (`ALIGNMENT` floats), so that a row's address has the same
    alignment in any row: vector code may round differently where it has not.
    """

    def __init__(
        self, model: nn.Module, *, silos: int, before: int, after: int, device: torch.device
    ) -> None:
        size = sum(parameter.numel() for parameter in model.parameters())
        stride = -(-size // ALIGNMENT) * ALIGNMENT
        self._before = before
        self._window = torch.zeros(before + silos + after, stride, device=device)
        self.parameters = self._window[before : before + silos]
        self.gradients = torch.zeros(silos, stride, device=device)
        self._mixed = torch.empty(silos, stride, device=device)
        self.modules = tuple(
            bind(model, row, gradient) for row, gradient in zip(self.parameters, self.gradients, strict=True)
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
        self.parameters.copy_(self._mixed)


def bind(model: nn.Module, row: Tensor, gradient: Tensor | None = None) -> nn.Module:
    """Return a copy of a model whose parameters are views into a row.

    Parameters
    ----------
    model : torch.nn.Module
        Gives structure and values.
    row : torch.Tensor, shape (stride,)
        Takes the values; at least as long as the model has parameters.
    gradient : torch.Tensor, shape (stride,), optional
        Where gradients add up; without it the copy needs none.

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
    return bound
