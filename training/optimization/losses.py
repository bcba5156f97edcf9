"""The loss of a batch: cross-entropy, or a function of the user's."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from training.own_code import check_takes, load_callable

if TYPE_CHECKING:
    from torch import Tensor

    Loss = Callable[[Tensor, Tensor], Tensor]
    """Mean over a batch, shape (), of scores (samples, classes) and labels (samples,); see `own_loss`."""


def own_loss(name: str) -> "Loss | None":
    """Return a user's loss, or None, which stands for cross-entropy.

    Parameters
    ----------
    name : str
        ``module:callable`` (`training.own_code`), or empty.

    Returns
    -------
    callable or None
        It gets scores, shape (samples, classes), and labels, shape (samples,), of a batch, and returns their mean loss.
        Of sequences each position is a sample; the label of one that is padding is `training.data.datasets.IGNORED`,
        which the loss leaves out.

    Raises
    ------
    InputError
        If there is no such callable, or it takes other arguments.
    TrainingError
        If its module fails.
    """
    if not name:
        return None
    loss: Loss = load_callable(name, field="loss")
    check_takes(loss, name, field="loss", given={"scores": None, "labels": None}, in_order=True)
    return loss
