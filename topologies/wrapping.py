"""Sentences broken into lines, and lists within them."""

import textwrap
from collections.abc import Sequence

WIDTH = 80
"""Columns of a line of text below or above a table."""


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
        A last line of one word takes two words more from the line before it, so that no number stands alone. Words
        with hyphens stay whole.

    Examples
    --------
    >>> wrapped("1 Gbps is assumed on 22", 22)
    ['1 Gbps is', 'assumed on 22']
    """
    lines = textwrap.wrap(text, width, break_on_hyphens=False)
    if len(lines) < 2 or " " in lines[-1]:
        return lines
    words = lines[-2].split(" ")
    last = " ".join((*words[-2:], lines[-1]))
    return [*lines[:-2], " ".join(words[:-2]), last] if len(words) > 2 and len(last) <= width else lines


def listed(names: Sequence[str]) -> str:
    """Names joined by commas and "and".

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
