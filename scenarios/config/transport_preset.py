"""Presets of a transport protocol: what it does to transfers, in one word."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from topologies.errors import unknown_name


@dataclass(frozen=True, kw_only=True, slots=True)
class TransportPreset:
    """Options that one word stands for, as a scenario has them.

    Parameters
    ----------
    overhead : str
        Of the workload.
    acks, window : str
    slow_start : {"none", "first", "idle", "always"}
        Of the network.
    """

    overhead: str
    acks: str
    window: str
    slow_start: Literal["none", "first", "idle", "always"]


TRANSPORTS: Mapping[str, TransportPreset] = {
    # 3.2 to 3.4 MB were measured where Linux's limit of the sender's buffer, 4 MB, decides.
    "tcp": TransportPreset(overhead="tcp", acks="tcp", window="3.3 MB", slow_start="idle")
}


NO_TRANSPORT = "none"
"""As where no preset is named."""


def transport(name: str | None) -> TransportPreset | None:
    """The preset of a name; None without one.

    Raises
    ------
    InputError
        If there is no such preset.
    """
    if name is None or name == NO_TRANSPORT:
        return None
    if name not in TRANSPORTS:
        raise unknown_name("preset", name, (NO_TRANSPORT, *TRANSPORTS))
    return TRANSPORTS[name]
