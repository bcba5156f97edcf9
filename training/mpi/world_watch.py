"""Watches on the ranks that a user's launcher started, one on each host: only ranks import this module."""

import fcntl
import os
import secrets
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
from mpi4py import MPI

from training.config import TrainingConfig
from training.engine.progress import Progress
from training.mpi.host_verdict import HUB, Host
from training.mpi.host_watch import END_S, Plan
from training.mpi.mpi_communicator import MpiCommunicator
from training.mpi.rank_progress import SharedProgress, SilentRanksError, empty_board

_SIOCGIFADDR = 0x8915
_PIDS = Path("/proc/self/ns/pid")


@contextmanager
def watched(config: TrainingConfig) -> Iterator[tuple[Progress, bool]]:
    """Let a process on each host watch its ranks while they train.

    Parameters
    ----------
    config : TrainingConfig
        Its `rank_timeout`; with 0, and on systems other than Linux, nobody watches.

    Yields
    ------
    Progress
        Of this rank. Its `step` and `check` raise `SilentRanksError` on ranks that are to end.
    bool
        Whether a host does not hear another one, so that its loss will not be noticed.

    Notes
    -----
    All ranks enter. The memory in which they say how far they are has no name, so that nothing is left of it. Ranks of
    one machine that do not see each other's processes, as in containers of their own, count as on several.
    """
    if not config.rank_timeout_s or not hasattr(os, "memfd_create"):
        yield Progress(), False
        return
    # A wait that frees the processor: other ranks may still be simulating, and what follows spins.
    MpiCommunicator().sum(np.zeros(1))
    world = MPI.COMM_WORLD
    hosts, own = _hosts()
    leads = world.rank == hosts[own].ranks[0]
    with ExitStack() as closing:
        board = hearing = -1
        if leads:
            board = os.memfd_create("silosim-ranks")
            closing.callback(os.close, board)
            os.truncate(board, len(empty_board(world.size)))
            if len(hosts) > 1:
                listener = closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                listener.bind(("", 0))
                hearing = listener.fileno()
        found = world.allgather((os.getpid(), board, _addresses(hearing) if leads else ()))
        process, descriptor, _ = found[hosts[own].ranks[0]]
        progress = SharedProgress(Path(f"/proc/{process}/fd/{descriptor}"), world.rank)
        token = world.bcast(secrets.token_hex(16))
        if leads:
            plan = Plan(
                hosts=hosts,
                own=own,
                limit_s=config.rank_timeout_s,
                stated=str(config.rank_timeout),
                board=board,
                socket=hearing,
                hub=found[hosts[HUB].ranks[0]][2],
                token=token,
            )
            # The others have said in this meeting that they have the memory, and who they are.
            world.Barrier()
            unheard = closing.enter_context(_process(plan))
        else:
            world.Barrier()
            unheard = False
        # Nobody trains, and no network is lost, before all that can hear each other have done so.
        is_unheard = bool(MpiCommunicator().sum(np.array([float(unheard)]))[0])
        try:
            yield progress, is_unheard
        finally:
            progress.ended()


def wait_for_the_end() -> None:
    """Let the rank that speaks end this one; return if it does not."""
    time.sleep(2 * END_S)


def _hosts() -> tuple[tuple[Host, ...], int]:
    """All hosts, that of rank 0 first, and the index of this rank's."""
    world = MPI.COMM_WORLD
    node = world.Split_type(MPI.COMM_TYPE_SHARED)
    first = node.bcast(world.rank)
    node.Free()
    places = world.allgather((first, _PIDS.stat().st_ino, socket.gethostname()))
    ranks: dict[tuple[int, int, str], list[int]] = {}
    for rank, place in enumerate(places):
        ranks.setdefault(place, []).append(rank)
    hosts = tuple(Host(name=place[2], ranks=tuple(members)) for place, members in ranks.items())
    return hosts, [*ranks].index(places[world.rank])


def _addresses(listener: int) -> tuple[tuple[str, int], ...]:
    """Addresses of this machine and the port of a socket; none where there is no socket."""
    if listener < 0:
        return ()
    with socket.socket(fileno=os.dup(listener)) as bound:
        port = bound.getsockname()[1]
        found = []
        for _, name in socket.if_nameindex():
            # Those that are down have none.
            with suppress(OSError):
                answer = fcntl.ioctl(bound, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                found.append(socket.inet_ntoa(answer[20:24]))
    return tuple((address, port) for address in found if not address.startswith("127."))


@contextmanager
def _process(plan: Plan) -> Iterator[bool]:
    """The watch of this host, which ends when this process does; gives whether it hears too few."""
    read, alive = os.pipe()
    watch = subprocess.Popen(
        [sys.executable, "-P", "-m", "training.mpi.host_watch", plan.to_json()],
        stdin=read,
        stdout=subprocess.PIPE,
        pass_fds=[plan.board, *([plan.socket] if plan.socket >= 0 else [])],
        start_new_session=True,
    )
    os.close(read)
    assert watch.stdout is not None
    with watch.stdout as met:
        unheard = met.read(1) != b"1"
    try:
        yield unheard
    except SilentRanksError:
        # It sees to the end of all ranks of this host, this one last.
        raise
    except BaseException:
        os.close(alive)
        raise
    os.close(alive)
    watch.wait()
