"""Sentences broken into lines, and lists within them."""

import re
import textwrap
from collections.abc import Sequence

WIDTH = 80
"""Columns of a line of text below or above a table."""
NO_BREAK = "\u00a0"
"""A space that no line is broken at."""
_UNIT = re.compile(r"(?<=\d) (?=(s|ms|µs|ns|min|h|d|[kMGT]?bps|[kMGT]?bit|[kMGT]?B|km|times)\b|%)")


def unbroken(text: str) -> str:
    """Return a text whose numbers stay on one line with their units."""
    return _UNIT.sub(NO_BREAK, text)


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """Break one sentence or paragraph into lines.

    Parameters
    ----------
    text : str
        Without line breaks.
    width : int, default 80
        Columns; only a longer word is broken.

    Returns
    -------
    list of str
        A last line of one word takes two words more from the line before it, so that no number stands alone. Numbers
        stay with their units, what `NO_BREAK` joins, which becomes a space, and words with hyphens.

    Examples
    --------
    >>> wrapped("1 Gbps is assumed on 22", 22)
    ['1 Gbps is', 'assumed on 22']
    >>> wrapped("a round of 10 ms", 13)
    ['a round of', '10 ms']
    """
    lines = textwrap.wrap(unbroken(text), width, break_on_hyphens=False)
    if len(lines) > 1 and " " not in lines[-1]:
        words = lines[-2].split(" ")
        last = " ".join((*words[-2:], lines[-1]))
        if len(words) > 2 and len(last) <= width:
            lines[-2:] = [" ".join(words[:-2]), last]
    return [line.replace(NO_BREAK, " ") for line in lines]


def listed(names: Sequence[str]) -> str:
    """Names joined by commas and "and".

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
