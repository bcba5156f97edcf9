"""The watch on the ranks of one host that a user's launcher started: ``python -m training.mpi.host_watch PLAN``.

A process of its own, so that neither a stopped rank nor code that holds Python's lock stops it.
"""

import json
import mmap
import os
import select
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from training.engine.progress import Stage
from training.mpi.host_verdict import HUB, Host, HostVerdict
from training.mpi.rank_progress import NOBODY, RankState, Verdict, read_board, write_verdict
from training.mpi.rank_watch import LOOK_S, Seen
from training.processes import end_processes, start_of

END_S = 10.0
"""Time for the rank that speaks to end all, before what is left on this host is killed."""
MEETING_S = 5.0
"""Time for hosts to hear each other at the start, longer than their watches take to start."""
FORWARDING_S = 0.5
"""Time for a launcher to forward a line."""
_LONGEST = 65507
"""Bytes of a datagram, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What a host's watch is told.

    Attributes
    ----------
    hosts : tuple of Host
    own : int
        Index of this one.
    limit_s : float
    stated : str
        See `HostVerdict`.
    board : int
        Descriptor of the memory in which the ranks of this host say how far they are.
    socket : int
        Descriptor of a bound UDP socket; -1 where there is one host.
    hub : tuple of (str, int)
        Addresses and ports at which the hub may hear this host.
    token : str
        Of this training: datagrams without it are none of ours.
    """

    hosts: tuple[Host, ...]
    own: int
    limit_s: float
    stated: str
    board: int
    socket: int
    hub: tuple[tuple[str, int], ...]
    token: str

    def to_json(self) -> str:
        """Return the plan as one argument."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        """Return the plan that `to_json` wrote."""
        stated: dict[str, Any] = json.loads(text)
        hosts = tuple(Host(name=host["name"], ranks=tuple(host["ranks"])) for host in stated.pop("hosts"))
        hub = tuple((address, port) for address, port in stated.pop("hub"))
        return cls(hosts=hosts, hub=hub, **stated)


class HostWatch:
    """Looks at this host's ranks, talks to the hub, and ends the ranks after a verdict.

    Parameters
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._board = mmap.mmap(plan.board, 0)
        self._socket = socket.socket(fileno=plan.socket) if plan.socket >= 0 else None
        if self._socket is not None:
            # A datagram that `select` has seen may be dropped.
            self._socket.setblocking(False)
        self._ranks = plan.hosts[plan.own].ranks
        self._judge = HostVerdict(plan.hosts, plan.own, limit_s=plan.limit_s, stated=plan.stated)
        self._starts = {seen.state.process: start_of(seen.state.process) for seen in self._see().values()}
        self._verdict: Verdict | None = None
        self._ends_s = 0.0

    def run(self, alive: int, met: int) -> None:
        """Watch until the pipe of the rank that started this closes; after a verdict until all ranks have ended.

        Parameters
        ----------
        alive : int
            Descriptor of that pipe.
        met : int
            Descriptor that takes a byte before ranks train: ``b"1"`` once this host has heard those that it is to hear,
            ``b"0"`` where it has not within `MEETING_S`. From then on silence says something.
        """
        places: list[int | socket.socket] = [alive, *([] if self._socket is None else [self._socket])]
        began_s = looked_s = time.monotonic()
        is_told = False
        self._look(0.0)
        while True:
            if not is_told and (self._judge.has_met or time.monotonic() - began_s > MEETING_S):
                with suppress(BrokenPipeError):  # of a rank that has ended meanwhile
                    os.write(met, b"1" if self._judge.has_met else b"0")
                is_told = True
            left_s = looked_s + LOOK_S - time.monotonic()
            ready, _, _ = select.select(places, [], [], max(0.0, left_s))
            if alive in ready:
                break
            if self._socket in ready:
                self._hear()
            if (now_s := time.monotonic()) - looked_s >= LOOK_S:
                # Time in which this process was held up, as a whole job is suspended, is no rank's silence.
                self._look(min(now_s - looked_s, 2 * LOOK_S))
                looked_s = now_s
            if self._verdict is not None and now_s > self._ends_s:
                break
        if self._socket is not None:
            self._socket.close()
        if self._verdict is not None:
            self._end(self._verdict)

    def _look(self, passed_s: float) -> None:
        """Look at the ranks of this host, and say to the hub what is seen."""
        seen = self._see()
        self._judge.hear(self._plan.own, seen)
        if self._plan.own != HUB:
            report = {"host": self._plan.own, "seen": {rank: _told(one) for rank, one in seen.items()}}
            for place in self._plan.hub:
                self._send(report, place)
        if self._verdict is None and (verdict := self._judge.look(passed_s)) is not None:
            self._decide(verdict)

    def _see(self) -> dict[int, Seen]:
        """See this host's ranks."""
        states = read_board(self._board[:])
        return {rank: Seen.of(states[rank]) for rank in self._ranks}

    def _decide(self, verdict: Verdict) -> None:
        """Tell this host's ranks; others hear of it when they ask."""
        self._verdict = verdict
        self._ends_s = time.monotonic() + (0.0 if verdict.speaker == NOBODY else END_S)
        write_verdict(self._board, verdict)

    def _hear(self) -> None:
        """Take a datagram: a host's report, which the hub answers, or that answer."""
        assert self._socket is not None
        try:
            data, place = self._socket.recvfrom(_LONGEST)
            said = json.loads(data)
            if said["token"] != self._plan.token:
                return
        except (OSError, ValueError, TypeError, KeyError):
            return  # of somebody else, or that a datagram of ours has found nobody
        if self._plan.own == HUB:
            self._judge.hear(said["host"], {int(rank): _seen(told) for rank, told in said["seen"].items()})
            self._send({"verdict": None if self._verdict is None else asdict(self._verdict)}, place)
        else:
            self._judge.hear(HUB, {})
            if said["verdict"] is not None and self._verdict is None:
                self._decide(Verdict(**said["verdict"]))

    def _send(self, said: Mapping[str, object], place: tuple[str, int]) -> None:
        """Send a datagram; what cannot be sent is as lost as what does not arrive."""
        assert self._socket is not None
        try:
            self._socket.sendto(json.dumps({"token": self._plan.token, **said}).encode(), place)
        except OSError:
            return

    def _end(self, verdict: Verdict) -> None:
        """Kill the ranks of this host that are still there, stopped ones too."""
        left = [process for process, start in self._starts.items() if start and start_of(process) == start]
        # The one that was to speak has not, or there is none.
        if left and (verdict.speaker in self._ranks or (verdict.speaker == NOBODY and self._plan.own == HUB)):
            print(f"silosim: error: {verdict.message}", file=sys.stderr, flush=True)
            time.sleep(FORWARDING_S)
        end_processes(left)


def _told(seen: Seen) -> list[object]:
    """What is seen of a rank, as JSON."""
    state = seen.state
    return [state.process, state.steps, int(state.stage), state.host, seen.thread_s, seen.is_stopped]


def _seen(told: list[Any]) -> Seen:
    """What `_told` was given."""
    process, steps, stage, host, thread_s, is_stopped = told
    state = RankState(process=process, steps=steps, stage=Stage(stage), host=host)
    return Seen(state=state, thread_s=thread_s, is_stopped=is_stopped)


if __name__ == "__main__":
    HostWatch(Plan.from_json(sys.argv[1])).run(sys.stdin.fileno(), sys.stdout.fileno())
