"""Optimizers that update all silos of a rank at once.

An optimizer sees the stacked parameters, shape (silos, parameters), and does one vector operation per term instead
of one per silo and layer. Its state is stacked the same way, one row per silo; rows never meet.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from topologies.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from torch import Tensor


class Optimizer(Protocol):
    """One local step of every silo of the rank.

    Attributes
    ----------
    steps : IntArray, shape (silos,)
        Steps that each silo made before; a training that goes on from a checkpoint sets them.
    """

    steps: IntArray

    @property
    def state(self) -> Mapping[str, "Tensor"]:
        """All else that `step` remembers, by name: tensors of shape (silos, parameters), changed in place."""

    def step(
        self,
        parameters: "Tensor",
        gradients: "Tensor",
        learning_rate: float,
        moving: BoolArray | None = None,
    ) -> None:
        """Update `parameters` in place from `gradients`, both of shape (silos, parameters), which may change, too.

        Parameters
        ----------
        moving : BoolArray, shape (silos,), optional
            Silos that make a step; parameters and state of the others stay. All without it, which needs that all have
            made the same number of steps.
        """


def _parts(
    moving: BoolArray | None, parameters: "Tensor", gradients: "Tensor", weight_decay: float
) -> Iterator[tuple[slice, "Tensor", "Tensor"]]:
    """Rows that are updated together, all at once or those that move one by one, their parameters and gradients.

    Weight decay is in the gradients then.
    """
    rows = (
        [slice(None)] if moving is None else [slice(row, row + 1) for row in np.flatnonzero(moving).tolist()]
    )
    for each in rows:
        x, g = parameters[each], gradients[each]
        if weight_decay:
            g.add_(x, alpha=weight_decay)
        yield each, x, g


class Sgd:
    """Stochastic gradient descent with momentum and weight decay, as ``torch.optim.SGD``.

    Parameters
    ----------
    parameters : torch.Tensor, shape (silos, parameters)
        The tensor that will be updated; only its shape and place count here.
    momentum : float
        Factor of the running sum of gradients, ``0 <= momentum < 1``.
    weight_decay : float
        Factor of the parameters that is added to the gradients, >= 0: ``weight_decay / 2 |x|^2`` is minimized, too.
    """

    def __init__(self, parameters: "Tensor", momentum: float, weight_decay: float) -> None:
        self.steps = np.zeros(len(parameters), dtype=np.int64)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.velocity = parameters.new_zeros(parameters.shape) if momentum else None

    @property
    def state(self) -> Mapping[str, "Tensor"]:
        """The running sums of gradients, if there is momentum."""
        return {} if self.velocity is None else {"velocity": self.velocity}

    def step(
        self,
        parameters: "Tensor",
        gradients: "Tensor",
        learning_rate: float,
        moving: BoolArray | None = None,
    ) -> None:
        """Apply ``g <- g + weight_decay x``, ``v <- momentum v + g`` and ``x <- x - rate v``."""
        for rows, x, g in _parts(moving, parameters, gradients, self.weight_decay):
            self.steps[rows] += 1
            if self.velocity is not None:
                g = self.velocity[rows].mul_(self.momentum).add_(g)
            x.add_(g, alpha=-learning_rate)


class Adam:
    """Adam with ``beta = (0.9, 0.999)`` and ``eps = 1e-8``, as ``torch.optim.Adam``.

    Parameters
    ----------
    parameters : torch.Tensor, shape (silos, parameters)
        The tensor that will be updated; only its shape and place count here.
    weight_decay : float
        As of `Sgd`: the moments are those of the gradients with it, unlike AdamW's.

    References
    ----------
    D. P. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, Algorithm 1.
    """

    BETA1, BETA2, EPS = 0.9, 0.999, 1e-8

    def __init__(self, parameters: "Tensor", weight_decay: float) -> None:
        self.steps = np.zeros(len(parameters), dtype=np.int64)
        self.weight_decay = weight_decay
        self.mean = parameters.new_zeros(parameters.shape)
        self.square = parameters.new_zeros(parameters.shape)

    @property
    def state(self) -> Mapping[str, "Tensor"]:
        """Running means of gradients and of their squares."""
        return {"mean": self.mean, "square": self.square}

    def step(
        self,
        parameters: "Tensor",
        gradients: "Tensor",
        learning_rate: float,
        moving: BoolArray | None = None,
    ) -> None:
        """Apply one bias-corrected step."""
        for rows, x, g in _parts(moving, parameters, gradients, self.weight_decay):
            self.steps[rows] += 1
            steps = int(self.steps[rows].max(initial=1))
            mean, square = self.mean[rows], self.square[rows]
            mean.lerp_(g, 1 - self.BETA1)
            square.mul_(self.BETA2).addcmul_(g, g, value=1 - self.BETA2)
            root = square.sqrt().div_(math.sqrt(1 - self.BETA2**steps)).add_(self.EPS)
            x.addcdiv_(mean, root, value=-learning_rate / (1 - self.BETA1**steps))


OPTIMIZERS: Mapping[str, Callable[["Tensor", float, float], Optimizer]] = {
    "sgd": Sgd,
    "adam": lambda parameters, _momentum, weight_decay: Adam(parameters, weight_decay),
}
"""Makes the optimizer of parameters, momentum and weight decay."""
