"""The arc of an overlay as the simulator sees it."""

from collections.abc import Sequence
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
        Link directions that a message occupies, all at once; empty if source and target are at one site. Those of its
        route come first.
    usage : tuple of float
        Of each of these, the bits that cross it for each bit of the message, > 0: on the way back the share of
        acknowledgements, for instance. Empty: 1 on all.
    hops : int, optional
        How many of `links`, from the first on, are the route. The others only limit the rate, and do not count in
        the weights of `simulator.rtt_weights`. By default all are.
    tokens : {1, 0}
        1: the message of round `k` leaves when the source's computing of round `k` ends, or in the backward pass at its
        end (see `simulator.job.Job`), and the target waits for it before it starts round ``k + 1``. 0: it leaves when
        the source starts round ``k + 1``, and gates the target's start of the same round ``k + 1``, as from the hub of
        a STAR to the other silos.
    rate_bps : float
        Rate in bit/s of messages with a sharing model of constant rates, such as ``"equal"``; other models ignore it.
    slow_start_s : float
        How much later than without slow start a message takes its links, in seconds: the first one, and each that is
        sent after the arc has been idle for longer than `slow_start_after_s`.
    slow_start_after_s : float
        In seconds, from a message's last bit on; infinity: only the first message starts slowly; negative infinity:
        each does.

    Raises
    ------
    InputError
        If source and target are one silo, the latency or slow start is negative or not finite, tokens is not 0 or 1,
        `usage` is neither empty nor one finite number > 0 for each link, or there are not so many `hops`.
    """

    source: int
    target: int
    latency_s: float
    links: tuple[int, ...]
    tokens: int = 1
    rate_bps: float = inf
    usage: tuple[float, ...] = ()
    hops: int | None = None
    slow_start_s: float = 0.0
    slow_start_after_s: float = inf

    def __post_init__(self) -> None:
        name = f"arc {self.source} -> {self.target}"
        if self.source == self.target:
            raise InputError(f"target(={self.target}) must differ from source.", source=name)
        if not (isfinite(self.latency_s) and self.latency_s >= 0):
            raise InputError(f"latency_s(={self.latency_s}) must be finite and >= 0.", source=name)
        if not (isfinite(self.slow_start_s) and self.slow_start_s >= 0):
            raise InputError(f"slow_start_s(={self.slow_start_s}) must be finite and >= 0.", source=name)
        if not (self.slow_start_after_s >= 0 or self.slow_start_after_s == -inf):
            raise InputError(
                f"slow_start_after_s(={self.slow_start_after_s}) must be >= 0 or -inf.", source=name
            )
        if self.tokens not in (0, 1):
            raise InputError(f"tokens(={self.tokens}) must be 0 or 1.", source=name)
        if self.usage and len(self.usage) != len(self.links):
            raise InputError(f"usage(of {len(self.usage)} numbers) must hold {len(self.links)}.", source=name)
        if not 0 <= self.route_length <= len(self.links):
            raise InputError(f"hops(={self.hops}) must be >= 0 and <= {len(self.links)}.", source=name)
        for bits in self.usage:
            if not (isfinite(bits) and bits > 0):
                raise InputError(f"usage(={bits}) must be finite and > 0.", source=name)

    @property
    def route_length(self) -> int:
        """Number of links of the route: `hops`, or all."""
        return len(self.links) if self.hops is None else self.hops

    @property
    def unequal_usage(self) -> dict[int, float]:
        """The `usage` of those links on which it is not 1."""
        return unequal(self.links, self.usage) if self.usage else {}


def unequal(links: Sequence[int], usage: Sequence[float]) -> dict[int, float]:
    """Those of some links whose usage is not 1, with it."""
    return {link: bits for link, bits in zip(links, usage, strict=True) if bits != 1.0}
