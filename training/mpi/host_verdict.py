"""What one host's watch knows of the ranks of all hosts, and when it says that all are to end."""

from collections.abc import Mapping
from dataclasses import dataclass

from training.mpi.rank_progress import NOBODY, Verdict
from training.mpi.rank_watch import Seen, Silences, blaming, deadlocked, to_blame

HUB = 0
"""The host of rank 0: it hears all others and decides."""
HEARD_S = 5.0
"""A host that said nothing for longer is not heard: what its ranks do is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """One machine and its ranks.

    Attributes
    ----------
    name : str
    ranks : tuple of int
        In ascending order.
    """

    name: str
    ranks: tuple[int, ...]


class HostVerdict:
    """Judges all ranks on the hub, and a host's own ranks where the hub is not heard.

    Parameters
    ----------
    hosts : tuple of Host
        That of rank 0 first.
    own : int
        Index of this one.
    limit_s : float
        Longest time without progress, in seconds, > 0.
    stated : str
        The limit as the user wrote it.

    Notes
    -----
    A rank is judged as `training.mpi.rank_watch.RankWatch` does, from what its own host sees of it. A host of which
    nothing is heard is to blame only once all ranks that are heard wait, so that messages which get lost while ranks
    work end no run. Of a host that was never heard nothing is concluded: its network may let no such messages through.
    """

    def __init__(self, hosts: tuple[Host, ...], own: int, *, limit_s: float, stated: str) -> None:
        self._hosts, self._own, self._limit_s, self._stated = hosts, own, limit_s, stated
        self._heard_s = min(HEARD_S, limit_s / 2)
        self._silences = Silences()
        self._seen: dict[int, Seen] = {}
        self._unheard_s: dict[int, float] = {}

    def hear(self, host: int, seen: Mapping[int, Seen]) -> None:
        """Take what a host says that it sees of its ranks; the hub says nothing of them to others."""
        self._unheard_s[host] = 0.0
        self._seen.update(seen)

    @property
    def has_met(self) -> bool:
        """Whether the hub has heard all hosts, or another host the hub."""
        return self._unheard_s.keys() >= ({*range(len(self._hosts))} if self._own == HUB else {HUB})

    def look(self, passed_s: float) -> Verdict | None:
        """Judge, so many seconds after the last look; None where the run is to go on or another host decides."""
        self._silences.look(self._seen, passed_s)
        self._unheard_s = {host: unheard_s + passed_s for host, unheard_s in self._unheard_s.items()}
        heard = {host for host, unheard_s in self._unheard_s.items() if unheard_s <= self._heard_s}
        if self._own != HUB and HUB in heard:
            return None
        seen = {
            rank: self._seen[rank] for host in heard for rank in self._hosts[host].ranks if rank in self._seen
        }
        silent = self._silences.longer_than(self._limit_s)
        blamed = to_blame(seen, silent)
        # One that is about to be to blame will not speak.
        doubtful = to_blame(seen, self._silences.longer_than(self._limit_s - self._heard_s))
        speaker = min(seen.keys() - set(doubtful), default=NOBODY)
        if blamed:
            return Verdict(message=blaming(seen, blamed, self._stated), speaker=speaker)
        if not seen.keys() <= silent:
            return None
        if lost := [host for host, unheard_s in self._unheard_s.items() if unheard_s > self._limit_s]:
            return Verdict(message=self._losing(lost), speaker=speaker)
        if len(seen) == sum(len(host.ranks) for host in self._hosts):
            return Verdict(message=deadlocked(seen, self._stated), speaker=speaker)
        return None

    def _losing(self, lost: list[int]) -> str:
        """The message of hosts that are no longer heard."""
        named = ", ".join(
            f"rank {rank} on {self._hosts[host].name}"
            for host in sorted(lost)
            for rank in self._hosts[host].ranks
        )
        return (
            f"nothing was heard for longer than rank_timeout(={self._stated!r}) of {named}, as where a host is lost or "
            "the network to it is cut; all ranks were ended."
        )
