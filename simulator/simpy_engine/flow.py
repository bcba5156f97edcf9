"""A message under way on the network."""

from collections.abc import Mapping, Sequence
from math import inf


class Flow:
    """A message on the network: `left_bits` at date `since_s`, leaving at `rate_bps` until `end_s`.

    Parameters
    ----------
    arc, k : int
        Its arc and its round.
    links : tuple of int
        Links that can limit its rate.
    bits : float
    now_s : float

    Attributes
    ----------
    bottleneck : int
        The link that bounds its rate since `_bound_since_s`; earlier ones did for `_bound_s` seconds.
    """

    __slots__ = (
        "_bound_s",
        "_bound_since_s",
        "_crossed_bits",
        "_uncrossed_bits",
        "arc",
        "bottleneck",
        "end_s",
        "k",
        "left_bits",
        "links",
        "rate_bps",
        "since_s",
        "start_s",
    )

    def __init__(self, arc: int, k: int, links: tuple[int, ...], bits: float, now_s: float) -> None:
        self.arc = arc
        self.links = links
        self.rate_bps = 0.0
        self.end_s = inf
        self.bottleneck = -1
        self.restart(k, bits, now_s)

    def restart(self, k: int, bits: float, now_s: float) -> None:
        """Become the next message of the arc, at the same rate."""
        self.k = k
        self.left_bits = self._uncrossed_bits = bits
        self.start_s = self.since_s = self._bound_since_s = now_s
        self._bound_s: dict[int, float] | None = None
        self._crossed_bits: dict[int, float] | None = None

    def advance(self, now_s: float) -> None:
        """Subtract the bits that have left until now."""
        if now_s > self.since_s:  # a rate that was infinite for no time sent nothing
            self.left_bits = max(0.0, self.left_bits - self.rate_bps * (now_s - self.since_s))
            self.since_s = now_s

    def bind(self, bottleneck: int, now_s: float) -> None:
        """Note that from now on another link bounds the rate."""
        self._count(now_s)
        self.bottleneck = bottleneck
        self._bound_since_s = now_s

    def longest_bound(self, now_s: float) -> int:
        """The link that bounded the rate for the longest time; of equals, the one with the smallest number."""
        if self._bound_s is None:
            return self.bottleneck
        self._count(now_s)
        longest_s = max(self._bound_s.values())
        return min(link for link, duration_s in self._bound_s.items() if duration_s == longest_s)

    def cross(self, route: Sequence[int], usage: Mapping[int, float]) -> dict[int, float]:
        """Count the bits since the last call as sent over a route; return all that the message sent, by link."""
        if self._crossed_bits is None:
            self._crossed_bits = {}
        for link in route:
            sent_bits = (self._uncrossed_bits - self.left_bits) * usage.get(link, 1.0)
            self._crossed_bits[link] = self._crossed_bits.get(link, 0.0) + sent_bits
        self._uncrossed_bits = self.left_bits
        return self._crossed_bits

    def _count(self, now_s: float) -> None:
        if self.bottleneck >= 0 and now_s > self._bound_since_s:
            if self._bound_s is None:
                self._bound_s = {}
            bound_s = self._bound_s.get(self.bottleneck, 0.0)
            self._bound_s[self.bottleneck] = bound_s + now_s - self._bound_since_s
