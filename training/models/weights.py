"""Weights from a file."""

import copy
from pathlib import Path

import torch
from torch import Tensor, nn

from topologies.errors import InputError
from topologies.regular_files import regular

COUNTER = "num_batches_tracked"


def load_weights(model: nn.Module, path: Path) -> nn.Module:
    """Return a copy of a model with the weights of a file, such as torchvision's pretrained ones.

    Parameters
    ----------
    model : torch.nn.Module
        Gives the structure; it stays as it is.
    path : Path
        A state dict that `torch.save` wrote; only tensors are read from it, never code.

    Returns
    -------
    torch.nn.Module
        The copy. Every tensor comes from the file, with one exception: if the file's final layer is for another
        number of classes, then the whole final layer keeps the model's own values.

    Raises
    ------
    InputError
        If the file is missing, holds no state dict, or does not fit the model: the first tensor that is missing,
        unknown, of another shape or not finite is named.

    Notes
    -----
    Files from before torch 0.4.1 lack batch norm's counters; they then start at 0. The counters have no effect on
    the outputs.
    """
    own = model.state_dict()
    stored = {name: torch.zeros_like(value) for name, value in own.items() if name.endswith(COUNTER)}
    stored |= _read(path)
    for name in _replaced(model, stored):
        stored[name] = own[name]
    for name, value in own.items():
        if name not in stored:
            raise InputError(f"weights(={path}) must have the model's tensors, {name} is missing.")
        if stored[name].shape != value.shape:
            raise InputError(
                f"weights(={path}): {name}(shape={tuple(stored[name].shape)}) must have"
                f" the model's shape {tuple(value.shape)}."
            )
        if not torch.isfinite(stored[name]).all():
            raise InputError(f"weights(={path}): {name} must hold finite numbers.")
    unknown = [name for name in stored if name not in own]
    if unknown:
        raise InputError(f"weights(={path}) must have the model's tensors only, {unknown[0]} is unknown.")
    loaded = copy.deepcopy(model)
    loaded.load_state_dict(stored)
    return loaded


def _read(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file by name."""
    try:
        content = torch.load(regular(path), map_location="cpu", weights_only=True)
    except OSError as error:
        raise InputError(f"weights(={path}) must be a readable file: {error.strerror}.") from error
    except Exception as error:  # a file of another kind, or a damaged one, fails torch in every way there is
        raise InputError(f"weights(={path}) must be a state dict that torch.save wrote.") from error
    if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
        raise InputError(f"weights(={path}) must be a state dict: names and tensors, nothing else.")
    return dict(content)


def _replaced(model: nn.Module, stored: dict[str, Tensor]) -> tuple[str, ...]:
    """Return the tensors of the final layer if the file's are for another number of classes."""
    linear = [(name, module) for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    if not linear:
        return ()
    name, final = linear[-1]
    weight, bias = stored.get(f"{name}.weight"), stored.get(f"{name}.bias")
    if weight is None or weight.dim() != 2 or (bias is None) != (final.bias is None):
        return ()
    classes, features = weight.shape
    fits = features == final.in_features and (bias is None or bias.shape == (classes,))
    if not fits or classes == final.out_features:
        return ()
    return (f"{name}.weight",) if bias is None else (f"{name}.weight", f"{name}.bias")
