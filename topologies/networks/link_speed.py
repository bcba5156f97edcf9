"""The Internet Topology Zoo's LinkSpeed with LinkSpeedUnits."""

import math
import re
from collections.abc import Sequence

from topologies.errors import InputError, quoted
from topologies.networks.field_names import Attributes, finite_number, stated_text

_BPS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_UNITS = re.compile("([KMGTkmgt])(?:bps|(?i:bit)/s|b/s)?")
"""The Zoo's, and with what they stand for; ``MB/s`` would be bytes."""
_SHOWN = 3


def link_speed_bps(link: Attributes) -> float | None:
    """Capacity that a link states as a number and a unit.

    Parameters
    ----------
    link : mapping
        Its attributes, such as ``LinkSpeed "10"`` and ``LinkSpeedUnits "G"``.

    Returns
    -------
    float or None
        In bit/s; None where there is none, or no positive number with one of the units K, M, G and T (or ``Gbps`` and
        so on): the Zoo has ranges (``0.5-2.5``), bounds (``<10``) and other texts.
    """
    units = stated_text(link, "LinkSpeedUnits")
    known = _UNITS.fullmatch(units.strip()) if isinstance(units, str) else None
    factor = None if known is None else _BPS[known[1].upper()]
    try:
        speed = finite_number("LinkSpeed", stated_text(link, "LinkSpeed"))
    except InputError:
        return None
    bps = speed * (factor or 0.0)
    return bps if 0 < bps < math.inf else None


def speeds_note(ignored: Sequence[Attributes]) -> list[str]:
    """One sentence on links whose speed is not read.

    Parameters
    ----------
    ignored : sequence of mapping
        Links with a ``LinkSpeed`` that `link_speed_bps` reads no number from, and no other capacity.

    Returns
    -------
    list of str
        Empty where there are none.
    """
    if not ignored:
        return []
    texts = sorted({_text(link) for link in ignored})
    shown = ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")
    links = f"{len(ignored)} link{'s' if len(ignored) > 1 else ''}"
    return [f"the LinkSpeed of {links} is no number with K, M, G or T and is not read: {shown}."]


def _text(link: Attributes) -> str:
    """A speed as it stands in the file."""
    speed, units = stated_text(link, "LinkSpeed"), stated_text(link, "LinkSpeedUnits")
    return quoted(f"{speed} {units}" if units is not None else f"{speed}")
