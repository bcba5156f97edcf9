"""The arc of an overlay as the simulator sees it."""

from dataclasses import dataclass
from math import inf, isfinite

from topologies.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowArc:
    """An arc along which its source sends one message per round to its target.

    Parameters
    ----------
    source, target : int
        Silos.
    latency_s : float
        Time from the message's last bit leaving to its arrival, in seconds.
    links : tuple of int
        Link directions that a message occupies, all at once; empty if source and target are at one site.
    tokens : {1, 0}
        1: the message of round `k` leaves when the source's computing of round `k` ends, and the target waits
        for it before it starts round ``k + 1``. 0: it leaves when the source starts round ``k + 1``, and
        gates the target's start of the same round ``k + 1``, as from the hub of a STAR to the other silos.
    rate_bps : float
        Rate in bit/s of messages with a sharing model of constant rates, such as ``"equal"``; other models ignore it.

    Raises
    ------
    InputError
        If source and target are one silo, the latency is negative or not finite, or tokens is not 0 or 1.
    """

    source: int
    target: int
    latency_s: float
    links: tuple[int, ...]
    tokens: int = 1
    rate_bps: float = inf

    def __post_init__(self) -> None:
        name = f"arc {self.source} -> {self.target}"
        if self.source == self.target:
            raise InputError(f"target(={self.target}) must differ from source.", source=name)
        if not (isfinite(self.latency_s) and self.latency_s >= 0):
            raise InputError(f"latency_s(={self.latency_s}) must be finite and >= 0.", source=name)
        if self.tokens not in (0, 1):
            raise InputError(f"tokens(={self.tokens}) must be 0 or 1.", source=name)
