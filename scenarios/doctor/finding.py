"""What a check found, and what to do."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Status = Literal["ok", "warning", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line of `silosim doctor`.

    Parameters
    ----------
    check : str
        What was looked at: ``python``, ``mpi``, ...
    status : {"ok", "warning", "error"}
        ``warning``: something that a user may want does not work; ``error``: something that silosim needs.
    text : str
        What was found.
    action : str
        What to do; empty if nothing.
    details : mapping
        For JSON: versions, paths, sizes; names end in their units.
    """

    check: str
    status: Status
    text: str
    action: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return asdict(self)


def one_line(error: BaseException) -> str:
    """Text of an error on one line, with its type where the text alone says little."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}{f': {lines[0]}' if lines else ''}"
