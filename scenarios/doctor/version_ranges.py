"""Versions and the ranges that a distribution asks for, as in ``torch>=2.9`` or ``simpy<5,>=4.1``."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?")
_EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")
_VERSION = re.compile(r"\s*v?(\d+(?:\.\d+)*)(.*)")
_EARLY = re.compile(r"[._-]?(?:a|b|c|rc|alpha|beta|pre|preview|dev)[._-]?\d*", re.IGNORECASE)
_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(\S+?)(\.\*)?\s*")
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement:
    """A package that a distribution needs.

    Parameters
    ----------
    name : str
    ranges : str
        Such as ``>=4.1,<5``; empty for any version.
    extra : str
        The optional feature that needs it; empty for silosim itself.
    """

    name: str
    ranges: str
    extra: str = ""

    @property
    def asked(self) -> str:
        """What to give to pip."""
        return f"'{self.name}{self.ranges}'"


def normalized(name: str) -> str:
    """Return the name of a distribution as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_requirements(lines: Iterable[str]) -> list[Requirement]:
    """Return the requirements of a distribution's metadata; lines of another form are left out."""
    found = []
    for line in lines:
        if matched := _REQUIREMENT.fullmatch(line):
            name, ranges, marker = matched.groups()
            extra = _EXTRA.search(marker or "")
            clauses = sorted((part.strip() for part in ranges.split(",") if part.strip()), reverse=True)
            found.append(Requirement(name=name, ranges=",".join(clauses), extra=extra[1] if extra else ""))
    return found


def is_in(version: str, ranges: str) -> bool:
    """Return whether a version satisfies all clauses of a range.

    Parameters
    ----------
    version : str
        Such as ``2.9.1``, ``2.9.1+cu128`` or ``3.0rc1``, which comes before ``3.0``.
    ranges : str
        Clauses of ``>=``, ``<=``, ``>``, ``<``, ``==`` and ``!=`` between commas, the last two also as in ``==4.*``.

    Notes
    -----
    The few forms that silosim's own ranges have, of those in the packaging guide's version specifiers. A clause or
    version of another form counts as satisfied: it is no ground to call an installation wrong.

    Examples
    --------
    >>> is_in("4.10", ">=4.1,<5"), is_in("5.0rc1", "<5"), is_in("5", "<5")
    (True, True, False)
    """
    own = _key(version)
    for clause in ranges.split(","):
        matched = _CLAUSE.fullmatch(clause)
        limit = _key(matched[2]) if matched else None
        if not matched or not own or not limit:
            continue
        sign, text, series = matched.groups()
        first = _numbers(text)
        both = (_padded(own[0], len(first)), first) if series else (own, limit)
        if not _COMPARE[sign](*both):
            return False
    return True


_Key = tuple[tuple[int, ...], bool]


def _padded(numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    """The first numbers of a version, with the zeros that it leaves out."""
    return (numbers + (0,) * length)[:length]


def _numbers(version: str) -> tuple[int, ...]:
    """All numbers of a version without an ending."""
    matched = _VERSION.fullmatch(version)
    return tuple(map(int, matched[1].split("."))) if matched else ()


def _key(version: str) -> _Key | None:
    """What versions are ordered by: the numbers without zeros at the end, and whether it is no early release."""
    matched = _VERSION.fullmatch(version)
    if not matched:
        return None
    numbers = [*_numbers(version)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), _EARLY.match(matched[2]) is None
