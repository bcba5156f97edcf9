"""Optimizers that update all silos of a rank at once.

An optimizer sees the stacked parameters, shape (silos, parameters), and does one vector operation per term instead
of one per silo and layer. Its state is stacked the same way, one row per silo; rows never meet.
"""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class Optimizer(Protocol):
    """One local step of every silo of the rank.

    Attributes
    ----------
    steps : int
        Steps made before; a training that goes on from a checkpoint sets it.
    """

    steps: int

    @property
    def state(self) -> Mapping[str, "Tensor"]:
        """All else that `step` remembers, by name: tensors of shape (silos, parameters), changed in place."""

    def step(self, parameters: "Tensor", gradients: "Tensor", learning_rate: float) -> None:
        """Update `parameters` in place from `gradients`, both of shape (silos, parameters), which may change, too."""


class Sgd:
    """Stochastic gradient descent with momentum and weight decay, as ``torch.optim.SGD``.

    Parameters
    ----------
    parameters : torch.Tensor, shape (silos, parameters)
        The tensor that will be updated; only its shape and place count here.
    momentum : float
        Factor of the running sum of gradients, ``0 <= momentum < 1``.
    weight_decay : float, default 0
        Factor of the parameters that is added to the gradients, >= 0: ``weight_decay / 2 |x|^2`` is minimized, too.
    """

    def __init__(self, parameters: "Tensor", momentum: float, weight_decay: float = 0.0) -> None:
        self.steps = 0
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.velocity = parameters.new_zeros(parameters.shape) if momentum else None

    @property
    def state(self) -> Mapping[str, "Tensor"]:
        """The running sums of gradients, if there is momentum."""
        return {} if self.velocity is None else {"velocity": self.velocity}

    def step(self, parameters: "Tensor", gradients: "Tensor", learning_rate: float) -> None:
        """Apply ``g <- g + weight_decay x``, ``v <- momentum v + g`` and ``x <- x - rate v``."""
        self.steps += 1
        if self.weight_decay:
            gradients.add_(parameters, alpha=self.weight_decay)
        if self.velocity is not None:
            gradients = self.velocity.mul_(self.momentum).add_(gradients)
        parameters.add_(gradients, alpha=-learning_rate)


class Adam:
    """Adam with ``beta = (0.9, 0.999)`` and ``eps = 1e-8``, as ``torch.optim.Adam``.

    Parameters
    ----------
    parameters : torch.Tensor, shape (silos, parameters)
        The tensor that will be updated; only its shape and place count here.
    weight_decay : float, default 0
        As of `Sgd`: the moments are those of the gradients with it, unlike AdamW's.

    References
    ----------
    D. P. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, Algorithm 1.
    """

    BETA1, BETA2, EPS = 0.9, 0.999, 1e-8

    def __init__(self, parameters: "Tensor", weight_decay: float = 0.0) -> None:
        self.steps = 0
        self.weight_decay = weight_decay
        self.mean = parameters.new_zeros(parameters.shape)
        self.square = parameters.new_zeros(parameters.shape)

    @property
    def state(self) -> Mapping[str, "Tensor"]:
        """Running means of gradients and of their squares."""
        return {"mean": self.mean, "square": self.square}

    def step(self, parameters: "Tensor", gradients: "Tensor", learning_rate: float) -> None:
        """Apply one bias-corrected step."""
        self.steps += 1
        if self.weight_decay:
            gradients.add_(parameters, alpha=self.weight_decay)
        self.mean.lerp_(gradients, 1 - self.BETA1)
        self.square.mul_(self.BETA2).addcmul_(gradients, gradients, value=1 - self.BETA2)
        root = self.square.sqrt().div_(math.sqrt(1 - self.BETA2**self.steps)).add_(self.EPS)
        parameters.addcdiv_(self.mean, root, value=-learning_rate / (1 - self.BETA1**self.steps))


OPTIMIZERS: Mapping[str, Callable[["Tensor", float, float], Optimizer]] = {
    "sgd": Sgd,
    "adam": lambda parameters, _momentum, weight_decay: Adam(parameters, weight_decay),
}
"""Makes the optimizer of parameters, momentum and weight decay."""
