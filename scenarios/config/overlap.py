"""In which part of the last local step of a round the model leaves already."""

from scenarios.config.named_shares import named_share

BACKWARD = 2 / 3
"""Share of the backward pass in a step: it costs twice the forward pass, a product of matrices by the inputs of each
layer and one by its weights where that has one."""


def overlap_share(text: str | None) -> float:
    """Share of a local step in which the layers become ready and leave.

    Parameters
    ----------
    text : str, optional
        ``"backward"`` or a share of the step such as ``"50 %"``; None: the model leaves after computing.

    Raises
    ------
    InputError
        If the text is none of these.
    """
    return named_share("overlap", text, {"backward": BACKWARD}, "50 %")


def overlap_text(share: float) -> str | None:
    """What `overlap_share` makes a share of; None of 0."""
    if share == BACKWARD:
        return "backward"
    return f"{100 * share:.15g} %" if share else None
