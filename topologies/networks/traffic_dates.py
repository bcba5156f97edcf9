"""Dates of traffic matrices as files write them."""

import re
from datetime import UTC, datetime

from topologies.errors import InputError

_SNDLIB = re.compile(r"(\d{4})(\d{2})(\d{2})?(?:[-T](\d{2})(\d{2}))?")
_DATE = re.compile(r"\d{4}-\d{2}|\d{8}[-T]\d{4}")


def looks_like_date(text: str) -> bool:
    """Whether a text begins as a calendar date does, and so is no number of seconds."""
    return _DATE.match(text) is not None


def parse_date(text: str) -> tuple[float, bool]:
    """Seconds of a date since 1970, and whether it names its time zone.

    Parameters
    ----------
    text : str
        ISO 8601, such as ``2004-03-01T00:05``, or as SNDlib writes it: ``20040301-0005``, ``20040301`` or ``200403``.
        Without a time zone it is taken for UTC, which has no summer time.

    Raises
    ------
    InputError
        With the rule alone, if it is none.

    Examples
    --------
    >>> parse_date("20040301-0005")[0] - parse_date("2004-03-01T00:00")[0]
    300.0
    """
    try:
        if found := _SNDLIB.fullmatch(text):
            year, month, day, hour, minute = found.groups()
            date = datetime(
                int(year), int(month), int(day or 1), int(hour or 0), int(minute or 0), tzinfo=UTC
            )
            return date.timestamp(), False
        date = datetime.fromisoformat(text)
        has_zone = date.tzinfo is not None
        return (date if has_zone else date.replace(tzinfo=UTC)).timestamp(), has_zone
    except (ValueError, OverflowError):
        raise InputError("must be a date such as 2004-03-01T00:05 or 20040301-0005.") from None
