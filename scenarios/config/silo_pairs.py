"""Pairs of silos as texts: ``A - B`` for both directions, ``A -> B`` for one."""

import re
from collections.abc import Sequence

from topologies import InputError
from topologies.errors import Field, unknown_name

ARROW = re.compile(r"(?<=\S)\s+(->?)\s+(?=\S)")
"""Between the silos of a pair."""


def silo_pairs(field: str, labels: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Ordered silo pairs of a text; the labels, too, may hold arrows.

    Parameters
    ----------
    field : str
        Where the text is, for error messages.
    labels : sequence of str
        Of all silos.

    Raises
    ------
    InputError
        If the text names no two different silos, or does in several ways.
    """
    splits = [(text[: m.start()].strip(), m[1], text[m.end() :].strip()) for m in ARROW.finditer(text)]
    known = [split for split in splits if split[0] in labels and split[2] in labels]
    if len(known) > 1:
        raise InputError(
            f"must name two silos in one way, not in {len(known)}.", field=Field(field, value=text)
        )
    if not known:
        ends = (splits[0][0], splits[0][2])
        raise unknown_name(f"{field} silo", next(end for end in ends if end not in labels), labels)
    ((source, arrow, target),) = known
    if source == target:
        raise InputError("must name two different silos.", field=Field(field, value=text))
    i, j = labels.index(source), labels.index(target)
    return [(i, j)] if arrow == "->" else [(i, j), (j, i)]
