"""Gradients made smaller where they are large, those of each silo on their own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

SMALL = 1e-6
"""Added to a norm before it divides, as torch has it."""


def clip_norms(gradients: "Tensor", largest: float) -> None:
    """Scale each silo's gradient to a norm of at most `largest`, as ``torch.nn.utils.clip_grad_norm_``.

    Parameters
    ----------
    gradients : torch.Tensor, shape (silos, parameters)
        Changed in place: each row is multiplied by ``min(1, largest / (|g| + 1e-6))``, where ``|g|`` is the Euclidean
        norm of the row, which is that of all parameters of the silo.

    Notes
    -----
    Row by row: how a library sums the rows of one tensor may depend on their number, which is the rank's.
    """
    for row in gradients:
        row.mul_((largest / (row.norm() + SMALL)).clamp(max=1.0))


def clip_values(gradients: "Tensor", largest: float) -> None:
    """Move every number into ``[-largest, largest]``, in place, as ``torch.nn.utils.clip_grad_value_``."""
    gradients.clamp_(-largest, largest)
