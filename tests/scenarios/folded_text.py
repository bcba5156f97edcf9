"""Long descriptions made short: numbers with five digits, sums of many of them, and lines that are alike."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

NUMBER = re.compile(r"(?<![\w#.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
_SHOWN = 6
"""Numbers that are written one by one; of more there are the count, the ends and the sums."""
_ALIKE = 10
"""Lines of one kind that are written one by one; of more the first, the last, and the sums of all numbers."""


def number(value: float, least: float = 1e-12) -> str:
    """Five digits; what is smaller than `least` is a rounding error."""
    return "0" if abs(value) < least else f"{value:.5g}"


def numbers(values: Any) -> str:
    """All of a few numbers; of many the count, the first, the last, the sum, and the sum weighted by their places."""
    flat = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan).ravel()
    there = np.where(np.isfinite(flat), flat, 0.0)
    least = min(1e-6, 1e-7 * np.abs(there).max(initial=0.0))
    if len(flat) <= _SHOWN:
        return ",".join(number(value, least) for value in flat)
    sums = [there.sum(), (there * (1 + np.arange(len(flat)) % 7)).sum()]
    ends = [number(value, least) for value in (flat[0], flat[-1])]
    summed = [number(value, least * len(flat)) for value in sums]
    gaps = int((~np.isfinite(flat)).sum())
    return f"{len(flat)}:{'..'.join(ends)} sum {' '.join(summed)}{f' gaps {gaps}' if gaps else ''}"


def folded(lines: list[str]) -> list[str]:
    """Lines of which, below one other line, many with the same first word are summed up."""
    if not lines:
        return []
    depth = min(map(_depth, lines))
    starts = [place for place, line in enumerate(lines) if _depth(line) == depth]
    blocks = [lines[start:stop] for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True)]
    made = lines[: starts[0]]
    for _, group in groupby(blocks, key=lambda block: block[0].split()[0]):
        made += _group(list(group))
    return made


def _group(blocks: list[list[str]]) -> Iterator[str]:
    shown = blocks if len(blocks) <= _ALIKE else [blocks[0], blocks[-1]]
    for block in shown:
        yield block[0]
        yield from folded(block[1:])
    if len(shown) < len(blocks):
        known = [float(found) for block in blocks for line in block for found in NUMBER.findall(line)]
        letters = sum(len(NUMBER.sub("", line)) for block in blocks for line in block)
        yield f"{' ' * _depth(blocks[0][0])}{len(blocks)} in all, numbers {numbers(known)}, {letters} letters"


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
