"""What headers and encryption add to a model on the wire."""

from collections.abc import Mapping

from topologies import InputError
from topologies.errors import Field
from topologies.quantities import parse_share

_TCP = 1500 / 1448
"""Ethernet's MTU over what IPv4 and TCP with time stamps leave of it: 20 and 32 bytes of headers."""
_TLS = (2**14 + 22) / 2**14
"""TLS 1.3: a header of 5 bytes, a type of 1 and a tag of 16 for each record of 16 KiB (RFC 8446, section 5.2)."""
FACTORS: Mapping[str, float] = {"tcp": _TCP, "tls": _TCP * _TLS}


def overhead_factor(text: str | None) -> float:
    """By how much a model grows on the wire.

    Parameters
    ----------
    text : str, optional
        ``"tcp"``, ``"tls"`` (over TCP) or a share of the model such as ``"5 %"``; None: nothing is added.

    Raises
    ------
    InputError
        If the text is none of these.
    """
    if text is None:
        return 1.0
    if text in FACTORS:
        return FACTORS[text]
    if "%" not in text:
        raise InputError(
            "must be 'tcp', 'tls' or a share such as '5 %'.", field=Field("overhead", value=text)
        )
    return 1.0 + parse_share("overhead", text)
