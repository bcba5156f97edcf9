"""Shares that are stated in percent or by a name."""

from collections.abc import Mapping

from topologies import InputError
from topologies.errors import Field
from topologies.quantities import parse_share


def named_share(field: str, text: str | None, named: Mapping[str, float], example: str) -> float:
    """A share that a text states; 0 without one.

    Parameters
    ----------
    field : str
        For error messages.
    text : str, optional
        One of the names, or percent.
    named : mapping from str to float
    example : str
        Of a share in percent.

    Raises
    ------
    InputError
        If the text is neither.
    """
    if text is None:
        return 0.0
    if text in named:
        return named[text]
    if "%" not in text:
        names = ", ".join(map(repr, named))
        raise InputError(f"must be {names} or a share such as {example!r}.", field=Field(field, value=text))
    return parse_share(field, text)
