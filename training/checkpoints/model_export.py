"""The best and the last average model of a training, as state dicts that plain PyTorch loads."""

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING

from topologies.errors import MachineError
from topologies.regular_files import regular
from training.checkpoints.folder import write_whole
from training.history import HistoryRow

if TYPE_CHECKING:
    from torch import Tensor, nn

BEST, LAST = "best", "last"
MODEL_FILES = tuple(f"{name}{ending}" for name in (BEST, LAST) for ending in (".pt", ".json"))


def state_dict(model: "nn.Module", counters: "nn.Module | None") -> "dict[str, Tensor]":
    """Return a copy of a model's state dict, on the CPU.

    Parameters
    ----------
    model : torch.nn.Module
        The average model.
    counters : torch.nn.Module, optional
        A silo's model, whose integer buffers (counters of its batches) are taken: an average has none.

    Returns
    -------
    dict of str to torch.Tensor
        With the model's own keys; no tensor shares its memory.
    """
    state = dict(model.state_dict())
    if counters is not None:
        silo = counters.state_dict()
        state |= {key: silo[key] for key, value in state.items() if not value.is_floating_point()}
    # A view would be saved with its whole base tensor.
    return {key: value.detach().cpu().clone() for key, value in state.items()}


def is_better(row: HistoryRow, best: HistoryRow | None) -> bool:
    """Tell whether a row's model replaces the best one so far: a higher test accuracy, or the same and a lower loss.

    Parameters
    ----------
    row : HistoryRow
        The later row.
    best : HistoryRow or None
        That of the best model so far.

    Returns
    -------
    bool
        False on a tie, and where a number is NaN.
    """
    if math.isnan(row.test_accuracy) or math.isnan(row.test_loss):
        return False
    if best is None:
        return True
    return (row.test_accuracy, -row.test_loss) > (best.test_accuracy, -best.test_loss)


def write_model(folder: Path, name: str, state: "dict[str, Tensor]", row: HistoryRow) -> None:
    """Write a model and, beside it, the row of the history that it belongs to.

    Parameters
    ----------
    folder : pathlib.Path
        Target.
    name : str
        `BEST` or `LAST`: ``<name>.pt`` holds the state dict, ``<name>.json`` the row.
    row : HistoryRow
        Its metrics.
    """
    import torch

    data = io.BytesIO()
    torch.save(state, data)
    write_whole(folder / f"{name}.pt", data.getbuffer())
    write_whole(folder / f"{name}.json", (row.to_json() + "\n").encode())


def read_row(folder: Path, name: str) -> HistoryRow | None:
    """Return the row of a model that was written; None if there is none."""
    path = folder / f"{name}.json"
    try:
        return HistoryRow.from_json(regular(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MachineError(f"{path} cannot be read: {error.strerror}.") from None
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        # Python's own words of these are no help.
        is_odd = isinstance(error, RecursionError) or "integer string" in str(error)
        reason = "it is no JSON of usual depth and numbers" if is_odd else error
        raise MachineError(f"{path} cannot be read: {reason}.") from None


def model_files(folder: Path) -> list[Path]:
    """Return the files of the models in a folder."""
    return [folder / name for name in MODEL_FILES if (folder / name).exists()]
