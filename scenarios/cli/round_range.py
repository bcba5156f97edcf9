"""Rounds of a run on the command line."""

import re

from topologies import InputError
from topologies.errors import Field

_ROUNDS = re.compile(r"(\d{1,18})(?:(-)(\d{1,18})?)?")


def round_range(text: str) -> slice:
    """Rounds of a text such as ``0-99``, the last one included, or ``90-``, which goes on to the end.

    Raises
    ------
    InputError
        If it is another text.
    """
    found = _ROUNDS.fullmatch(text.strip())
    if found is not None:
        first, is_range, last = int(found[1]), found[2], found[3]
        if is_range and last is None:
            return slice(first, None)
        if int(last or first) >= first:
            return slice(first, int(last or first) + 1)
    raise InputError(
        "must be FIRST-LAST, such as 0-99, FIRST-, or the number of a round.",
        field=Field("rounds", value=text),
    )
