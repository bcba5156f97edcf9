"""Drawings that are recorded as text: how one is compared, and how all are recorded anew.

python tests/scenarios/recorded_drawings.py [NAME ...]
"""

import difflib
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

from folded_text import NUMBER

FOLDER = Path(__file__).parent / "drawings"
_AGAIN = (
    "If it is meant to change, look at it and record it anew: python tests/scenarios/recorded_drawings.py "
)


def difference(found: str, name: str) -> str:
    """What differs from the record of a name, with the way to record it anew; empty where nothing does."""
    recorded = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    lines = found.splitlines()
    if len(lines) == len(recorded) and all(map(is_same, lines, recorded)):
        return ""
    shown = difflib.unified_diff(recorded, lines, f"{name}, recorded", f"{name}, drawn", lineterm="", n=1)
    return "\n".join([*shown, "", _AGAIN + name])


def is_same(line: str, recorded: str) -> bool:
    """Whether two lines are the same but for the last digits of numbers, in which processors may differ."""
    if line == recorded:
        return True
    if NUMBER.sub("N", line) != NUMBER.sub("N", recorded):
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(recorded), strict=True)
    return all(_are_near(*pair) for pair in pairs)


def _are_near(one: str, other: str) -> bool:
    """Whether two numbers differ by no more than one in the last digit that is written."""
    a, b = Decimal(one), Decimal(other)
    if a == a.to_integral() and b == b.to_integral() and max(abs(a), abs(b)) < 10_000:
        return a == b
    exponents = [value.as_tuple().exponent for value in (a, b)]
    return abs(a - b) <= Decimal(1).scaleb(max(map(int, exponents)))


def all_drawings() -> Mapping[str, Callable[[], str]]:
    """All that is recorded, by name."""
    from drawn_figures import FIGURES
    from drawn_pages import PAGES

    return FIGURES | PAGES


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "topologies")]
    drawings = all_drawings()
    for drawing in sys.argv[1:] or drawings:
        (FOLDER / f"{drawing}.txt").write_text(drawings[drawing](), encoding="utf-8")
