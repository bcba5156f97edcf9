"""Rounds of a run on the command line."""

import re

from topologies import InputError
from topologies.errors import Field

_ROUNDS = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")


def round_range(text: str) -> slice:
    """Rounds of a text such as ``0-99``, the last one included.

    Raises
    ------
    InputError
        If it is another text.
    """
    found = _ROUNDS.fullmatch(text.strip())
    first, last = (0, -1) if found is None else (int(found[1]), int(found[2] or found[1]))
    if last < first:
        raise InputError(
            "must be FIRST-LAST, such as 0-99, or the number of a round.", field=Field("rounds", value=text)
        )
    return slice(first, last + 1)
