"""Which arcs each silo uses in a round, as the silos and the network ask for them."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from simulator.job import Job
from simulator.rounds import RoundPlan


class Wiring(Protocol):
    """Arcs of each silo, by round."""

    def in_arcs(self, silo: int, k: int, /) -> int:
        """Number of in-arcs that gate the silo's start of round ``k + 1``."""

    def after_computing(self, silo: int, k: int, /) -> Sequence[tuple[int, int]]:
        """Messages that leave when the silo's computing of round `k` ends: ``(arc, round)``, see `RoundPlan.lags`."""

    def after_start(self, silo: int, k: int, /) -> Sequence[int]:
        """Out-arcs with 0 tokens."""

    def sending_s(self, arc: int, k: int, /) -> float:
        """Time in which an arc sends a message, in seconds; asked only where rates are constant."""


class FixedWiring:
    """The same arcs in all rounds."""

    __slots__ = ("_in_arcs", "_out_arcs", "_sending_s")

    def __init__(self, job: Job) -> None:
        self._in_arcs, self._out_arcs = _per_silo(job, range(len(job.arcs)))
        self._sending_s = job.sending_s

    def in_arcs(self, silo: int, _k: int, /) -> int:
        """See `Wiring`."""
        return self._in_arcs[silo]

    def after_computing(self, silo: int, k: int, /) -> Sequence[tuple[int, int]]:
        """See `Wiring`."""
        return [(arc, k) for arc in self._out_arcs[1][silo]]

    def after_start(self, silo: int, _k: int, /) -> Sequence[int]:
        """See `Wiring`."""
        return self._out_arcs[0][silo]

    def sending_s(self, arc: int, _k: int, /) -> float:
        """See `Wiring`."""
        return self._sending_s[arc]


class PlannedWiring:
    """The arcs of a plan: looked up once per round, and dropped when all silos have ended it.

    Parameters
    ----------
    job : Job
    plan : RoundPlan
    complete : callable
        Tells how many rounds all silos have ended.
    """

    __slots__ = ("_complete", "_job", "_plan", "_rounds", "_sent")

    def __init__(self, job: Job, plan: RoundPlan, complete: Callable[[], int]) -> None:
        self._job = job
        self._plan = plan
        self._complete = complete
        self._rounds: dict[int, _Round] = {}
        self._sent: dict[int, list[list[tuple[int, int]]]] = {}

    def in_arcs(self, silo: int, k: int, /) -> int:
        """See `Wiring`."""
        return self._round(k).in_arcs[silo]

    def after_computing(self, silo: int, k: int, /) -> Sequence[tuple[int, int]]:
        """See `Wiring`."""
        found = self._sent.get(k)
        if found is None:
            _drop(self._sent, self._complete())
            last = min(k + self._job.longest_lag, self._job.rounds)
            # A later round's message of an arc is sent after those of earlier ones.
            found = self._sent[k] = [[] for _ in range(self._job.silos)]
            for round_ in range(k, last):
                for arc in self._round(round_).sent.get(round_ + 1 - k, ()):
                    found[self._job.arcs[arc].source].append((arc, round_))
        return found[silo]

    def after_start(self, silo: int, k: int, /) -> Sequence[int]:
        """See `Wiring`."""
        return self._round(k).out_arcs[0][silo]

    def sending_s(self, arc: int, k: int, /) -> float:
        """See `Wiring`."""
        return self._round(k).sending_s[arc]

    def _round(self, k: int) -> "_Round":
        found = self._rounds.get(k)
        if found is None:
            _drop(self._rounds, self._complete())
            found = self._rounds[k] = _Round(self._job, self._plan, k)
        return found


def _drop(rounds: dict[int, Any], complete: int) -> None:
    """Forget the rounds that all silos have ended."""
    for ended in [other for other in rounds if other < complete]:
        del rounds[ended]


class _Round:
    """One round of a plan: the messages that are awaited at its end."""

    __slots__ = ("in_arcs", "out_arcs", "sending_s", "sent")

    def __init__(self, job: Job, plan: RoundPlan, k: int) -> None:
        active: list[int] = plan.active(k).tolist()
        self.in_arcs, self.out_arcs = _per_silo(job, active)
        self.sent: dict[int, list[int]] = {}
        """By their lag, the arcs with a token."""
        for arc, lag in zip(active, plan.lags(k).tolist(), strict=True):
            if job.arcs[arc].tokens:
                self.sent.setdefault(lag, []).append(arc)
        self.sending_s: dict[int, float] = {}
        if job.sharing.constant_rates:
            self.sending_s = dict(zip(active, plan.sending_s(k).tolist(), strict=True))


def _per_silo(job: Job, active: Sequence[int]) -> tuple[list[int], tuple[list[list[int]], list[list[int]]]]:
    """In-degrees, and out-arcs with 0 and with 1 token, of each silo."""
    in_arcs = [0] * job.silos
    out_arcs: tuple[list[list[int]], list[list[int]]] = (
        [[] for _ in range(job.silos)],
        [[] for _ in range(job.silos)],
    )
    for number in active:
        arc = job.arcs[number]
        in_arcs[arc.target] += 1
        out_arcs[arc.tokens][arc.source].append(number)
    return in_arcs, out_arcs
