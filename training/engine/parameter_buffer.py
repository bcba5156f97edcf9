"""The parameters and buffers of one rank's silos, as rows of tensors."""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn

from topologies.arrays import IntArray
from training.engine.compiled.mixing import sums_of, write_sums

ALIGNMENT = 32
"""Numbers of which rows are a multiple: two cache lines, and two registers of AVX-512."""

EVERYTHING = (slice(None),)


class ParameterBuffer:
    """Models of one rank's silos; their parameters, gradients and buffers are rows of matrices.

    Parameters
    ----------
    model : torch.nn.Module
        The initial model of every silo; it is copied.
    silos : int
        Number of silos of the rank; may be 0.
    before, after : int
        Rows of lower and of higher silos that other ranks send at most.
    kept : int
        Rows that are kept for later rounds at most.
    device : torch.device
        Where the tensors live.
    exchange_buffers : bool
        Whether floating-point buffers are exchanged and mixed like parameters. They stay in their silo otherwise, as
        in the paper.

    Attributes
    ----------
    parity : int
        Which of the two windows is the current one: 0, and the other one after every `mix`.
    gradients : torch.Tensor, shape (silos, stride)
        Row ``i`` belongs to the ``i``-th silo of the rank, layer after layer; the same for both windows.
    kept : torch.Tensor, shape (kept, width)
        Rows for later rounds, which `mix` leaves as they are.

    Notes
    -----
    A window of shape (before + silos + after, width) holds the rows of lower silos, the rank's own and those of
    higher silos. In any round the rows in use are adjacent and in silo order, and rows are received where they are
    used. The input of mixing must stay whole, so there are two windows: `mix` reads the current one and writes the own
    rows of the other, which is then the current one. Every module exists twice, bound to either window. `rows`,
    `parameters`, `modules` and, if they are exchanged, `buffers` therefore change with every `mix`: read the property
    anew. They alternate between two tensors each, whose places never change.

    On the processor mixing is a compiled kernel (`training.engine.compiled.mixing`), for dense matrices too. Per number
    it adds the terms one after the other, in silo order, and a weight of zero is no term: a sum
    does not depend on the rank's other silos, nor on the columns that are mixed at a time, nor on the
    processor. A library's dense product does not promise that: its kernel, and with it the order of its sums, depends
    on the processor and on the number of rows. Mixed rows then have the same bits for any number of ranks. Nothing is
    promised on a GPU, where mixing is PyTorch's dense product.

    Rows that are mixed in later rounds than the one they were sent in, with lags, are kept beside the windows.

    A diverged silo spreads NaN to those that mix its model, on a GPU to all silos of the ranks that receive it, since
    zero times NaN is NaN in a dense product. Either way the training ends within
    `training.dpasgd.DIVERGENCE_CHECK_ROUNDS` rounds and before its next logged row, and names the silo that diverged
    first.

    Rows are padded with zeros to a multiple of `ALIGNMENT` floats. So every row lies in cache lines in the same way,
    on which libraries' sums may depend, and mixing can write whole lines. And optimizers, which take all rows at once,
    come to no rest of numbers that PyTorch would take one by one, other than in registers: a silo's numbers go the same
    way whichever silos stand beside it.

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
        kept: int,
        exchange_buffers: bool,
    ) -> None:
        stride, buffer_stride = map(padded, numbers_of(model))
        width = stride + buffer_stride if exchange_buffers else stride
        self._own = slice(before, before + silos)
        size = before + silos + after
        # One tensor, so that mixing reads kept rows beside those of a window.
        self._all = torch.zeros(2 * size + kept, width, device=device)
        self._windows = (self._all[:size], self._all[size : 2 * size])
        self.kept = self._all[2 * size :]
        self._rows = tuple(window[self._own] for window in self._windows)
        self._parameters = tuple(rows[:, :stride] for rows in self._rows)
        own_buffers = torch.zeros(silos, buffer_stride, device=device)
        self._buffers = tuple(rows[:, stride:] if exchange_buffers else own_buffers for rows in self._rows)
        self.gradients = torch.zeros(silos, stride, device=device)
        first, second = (
            tuple(
                bind(model, row, gradient, buffers=buffers)
                for row, gradient, buffers in zip(parameters, self.gradients, buffers, strict=True)
            )
            for parameters, buffers in zip(self._parameters, self._buffers, strict=True)
        )
        for module, twin in zip(first, second, strict=True):
            share_counters(module, twin)
        self._modules = (first, second)
        self.parity = 0

    @property
    def rows(self) -> Tensor:
        """What is exchanged and mixed, shape (silos, width): parameters, followed by buffers if they are exchanged."""
        return self._rows[self.parity]

    @property
    def parameters(self) -> Tensor:
        """Row ``i`` is the model of the ``i``-th silo of the rank, layer after layer; shape (silos, stride)."""
        return self._parameters[self.parity]

    @property
    def buffers(self) -> Tensor:
        """Floating-point buffers, such as running statistics, shape (silos, buffer stride); maybe without columns."""
        return self._buffers[self.parity]

    @property
    def modules(self) -> tuple[nn.Module, ...]:
        """One per silo of the rank; its parameters, their gradients and its buffers are views into rows."""
        return self._modules[self.parity]

    def received(self, position: int) -> Tensor:
        """Return the row at a position relative to the rank's first own row: negative for lower silos."""
        return self._windows[self.parity][self._own.start + position]

    def number(self, position: int) -> int:
        """Return what `mix_scattered` calls the row at a position of the current window; see `received`."""
        return self.parity * len(self._windows[0]) + self._own.start + position

    def kept_number(self, place: int) -> int:
        """Return what `mix_scattered` calls a kept row."""
        return 2 * len(self._windows[0]) + place

    def mix(self, weights: Tensor, first: int, *, columns: Iterable[slice] = EVERYTHING) -> None:
        """Replace the own rows by weighted sums of the window's rows, ``X <- A X``.

        Parameters
        ----------
        weights : torch.Tensor, shape (silos, rows in use)
            The rank's rows of the consensus matrix, restricted to the rows in use.
        first : int
            Position of the first row in use, relative to the rank's first own row: ``0`` or negative.
        columns : iterable of slice
            Columns of the window, mixed in this order, each when the iterable yields it; together all of them.
        """
        current, mixed = self._windows[self.parity], self._windows[1 - self.parity][self._own]
        used = current[self._own.start + first :][: weights.shape[1]]
        if used.is_cuda:
            for piece in columns:
                torch.mm(weights, used[:, piece], out=mixed[:, piece])
        else:
            sums, source, target = sums_of(weights.numpy()), used.numpy(), mixed.numpy()
            for piece in columns:
                write_sums(sums, source, target, piece)
        self.parity = 1 - self.parity

    def mix_scattered(
        self, weights: Tensor, numbers: IntArray, columns: Iterable[slice] = EVERYTHING
    ) -> None:
        """Replace the own rows by weighted sums of rows of the window and of kept ones, wherever they are.

        Parameters
        ----------
        weights : torch.Tensor, shape (silos, rows in use)
            As in `mix`.
        numbers : IntArray, shape (rows in use,)
            The rows by `number` and `kept_number`, in the order in which they are added.
        columns : iterable of slice
            As in `mix`.

        Notes
        -----
        Where all rows are of the window, in silo order, the result has the bits of `mix`.
        """
        mixed = self._windows[1 - self.parity][self._own]
        if mixed.is_cuda:
            places = torch.from_numpy(numbers).to(mixed.device)
            for piece in columns:
                mix_gathered(weights, self._all[:, piece], places, mixed[:, piece])
        else:
            sums = sums_of(weights.numpy())
            sums = replace(sums, sources=numbers[sums.sources])
            source, target = self._all.numpy(), mixed.numpy()
            for piece in columns:
                write_sums(sums, source, target, piece)
        self.parity = 1 - self.parity


def mix_gathered(weights: Tensor, rows: Tensor, places: Tensor, out: Tensor) -> None:
    """Write weighted sums of the rows at some places, which are copied side by side first: for a GPU.

    Parameters
    ----------
    weights : torch.Tensor, shape (sums, places)
        The weights.
    rows : torch.Tensor, shape (rows, columns)
        What is summed.
    places : torch.Tensor of int64, shape (places,)
        Rows, in the order of the weights.
    out : torch.Tensor, shape (sums, columns)
        Takes the sums.
    """
    torch.mm(weights, rows.index_select(0, places), out=out)


def padded(size: int) -> int:
    """Return the length of a row for `size` numbers."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def float_buffers(model: nn.Module) -> Iterator[tuple[nn.Module, str, Tensor]]:
    """Iterate over the floating-point buffers of a model, in the order of its state dict.

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


def numbers_of(model: nn.Module) -> tuple[int, int]:
    """Return how many numbers a model's parameters have, and how many its floating-point buffers."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return parameters, sum(buffer.numel() for _owner, _name, buffer in float_buffers(model))


def share_counters(module: nn.Module, twin: nn.Module) -> None:
    """Give a second copy of a model the whole-number buffers of the first: what one counts, both have counted.

    Parameters
    ----------
    module, twin : torch.nn.Module
        Two copies of a model; the second is changed.
    """
    for owner, other in zip(module.modules(), twin.modules(), strict=True):
        for name, buffer in owner.named_buffers(recurse=False):
            if not buffer.is_floating_point():
                setattr(other, name, buffer)


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
