"""A module that a user's code has built: what it must be to be trained here."""

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from training.own_code import refused


def trainable(built: object, name: str) -> nn.Module:
    """Return a user's model in training mode, checked.

    Parameters
    ----------
    built : object
        What the user's callable returned.
    name : str
        ``module:callable``, for messages.

    Raises
    ------
    InputError
        If it is no module, has no parameters, lazy ones, frozen ones, or tensors of another type than the rows of
        `training.engine.parameter_buffer`, which hold float32.
    """
    if not isinstance(built, nn.Module):
        raise refused("model", name, f"must return a torch.nn.Module, not {type(built).__name__}")
    # As `ParameterBuffer` counts them: a parameter that several layers share is there once.
    parameters, buffers = dict(built.named_parameters()), dict(built.named_buffers())
    if not parameters:
        raise refused("model", name, "must return a module with parameters")
    for key, value in {**parameters, **buffers}.items():
        if is_lazy(value):
            raise refused("model", name, f"must state the sizes of its layers: {key} is lazy")
        floating = value.is_floating_point() or value.is_complex() or key in parameters
        if floating and value.dtype != torch.float32:
            raise refused(
                "model", name, f"must hold float32: {key} is {str(value.dtype).removeprefix('torch.')}"
            )
        if value.device.type != "cpu":
            raise refused(
                "model",
                name,
                f"must be built on the processor, from where silos' copies are made: {key} is not",
            )
    frozen = next((key for key, value in parameters.items() if not value.requires_grad), None)
    if frozen is not None:
        raise refused(
            "model", name, f"must train all its parameters: {frozen} is frozen; a buffer can hold its values"
        )
    return built.train()
