"""What the keys of a scenario mean, as the docstrings of their dataclasses say it."""

import inspect
import re
from collections.abc import Iterator

_HEAD = re.compile(r"(\w+(?:, \w+)*) : (.+)")
_SEE = re.compile(r"(?:, one of `\w+\.[^`]+`(?=[,.])|[;,] see `[^`]+`|(?<=\. )See `[^`]+`\.|^See `[^`]+`\.)")
_CODE = re.compile(r"``([^`]+)``|`([^`]+)`")
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")
MOST_LETTERS = 220
"""Sentences after the first are left out from here on: a docstring may say more than a key's comment has room for."""


def key_texts(owner: type) -> dict[str, str]:
    """Return a sentence or two on each key of a table.

    Parameters
    ----------
    owner : type
        A dataclass with a numpydoc section of its parameters.

    Returns
    -------
    dict from str to str
        By key, as scenarios write it: without the underscore behind a name that is a word of Python's.

    Examples
    --------
    >>> from scenarios.config.network import WorkloadConfig
    >>> key_texts(WorkloadConfig)["local_steps"]
    'Local steps in a round.'
    """
    return {name.rstrip("_"): _short(text) for names, text in _parameters(owner) for name in names if text}


def _parameters(owner: type) -> Iterator[tuple[list[str], str]]:
    """Names and description of each entry of the section of parameters."""
    _, _, section = (inspect.getdoc(owner) or "").partition("Parameters\n----------\n")
    names: list[str] = []
    lines: list[str] = []
    for line in section.splitlines():
        if line.startswith("-----"):
            # The line before was the head of the next section.
            break
        head = _HEAD.fullmatch(line)
        if head:
            yield names, " ".join(lines)
            names, lines = head[1].split(", "), []
        elif line.startswith(" "):
            lines.append(line.strip())
    yield names, " ".join(lines)


def _short(text: str) -> str:
    """Plain sentences: without marks of code, and without what points to the code."""
    plain = _CODE.sub(lambda found: found[1] or found[2], _SEE.sub("", text)).strip()
    kept = ""
    for sentence in _SENTENCE.split(plain):
        if kept and len(kept) + len(sentence) >= MOST_LETTERS:
            break
        kept = f"{kept} {sentence}".strip()
    return kept
