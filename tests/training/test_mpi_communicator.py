"""The communicator, the start and the end of MPI on a library that notes its calls; `test_exchange` has real ranks."""

import importlib
import io
import os
import socket
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

from topologies.errors import InputError, MachineError, TrainingError
from training import TrainingConfig, World
from training.engine.progress import Progress, Stage
from training.mpi.backend import MpiBackend
from training.mpi.host_verdict import Host
from training.mpi.host_watch import END_S, Plan
from training.mpi.rank_progress import SharedProgress, SilentRanksError, Verdict, empty_board, read_board
from training.mpi_environment import FORWARDING_S, abort, start_mpi

COMMUNICATOR = "training.mpi.mpi_communicator"


class Library:
    """MPI's world from rank 1 of 3; messages arrive when they are waited for, one poll later."""

    SUM = "sum"

    def __init__(self):
        self.calls, self.values, self.initialized, self.finalized = [], {}, False, False
        self.name = "MPICH Version: 4.2"
        self.COMM_WORLD = self
        self.Request = self
        self.rank, self.size = 1, 3

    def Irecv(self, buffer, *, source, tag):
        return SimpleNamespace(polls=1, end=lambda: np.copyto(buffer, self.values[source, tag].pop(0)))

    def Isend(self, buffer, *, dest, tag):
        self.calls.append(("send", dest, tag, buffer.tolist()))
        return SimpleNamespace(polls=1, end=lambda: self.calls.append(("sent", dest, tag)))

    def Iprobe(self):
        self.calls.append(("progress",))

    def Iallreduce(self, values, total, *, op):
        assert op == "sum"
        return SimpleNamespace(polls=0, end=lambda: np.copyto(total, 3 * values))

    def Testall(self, requests):
        if any(request.polls for request in requests):
            for request in requests:
                request.polls -= 1
            return False
        for request in requests:
            request.end()
        return True

    def Is_initialized(self):
        return self.initialized

    def Is_finalized(self):
        return self.finalized

    def Init_thread(self):
        self.initialized = True

    def Barrier(self):
        self.calls.append(("barrier",))

    def Get_library_version(self):
        return self.name

    def Abort(self, status):
        self.calls.append(("abort", status))


@pytest.fixture
def mpi(monkeypatch):
    """MPI for what imports it from here on."""
    library, package = Library(), ModuleType("mpi4py")
    package.MPI, package.rc = library, SimpleNamespace(initialize=True, finalize=None)
    monkeypatch.setitem(sys.modules, "mpi4py", package)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", library)
    monkeypatch.delenv("OMPI_COMM_WORLD_SIZE", raising=False)
    return library


@pytest.fixture
def module(mpi, monkeypatch):
    """The communicator's module on that MPI; where it is not imported yet, for this test only."""
    if COMMUNICATOR not in sys.modules:
        monkeypatch.setitem(sys.modules, COMMUNICATOR, None)
        del sys.modules[COMMUNICATOR]
        # Its import also makes it an attribute of its package.
        monkeypatch.setattr("training.mpi.mpi_communicator", None, raising=False)
    module = importlib.import_module(COMMUNICATOR)
    monkeypatch.setattr(module, "MPI", mpi)
    return module


@pytest.fixture
def world_watch(mpi, module, monkeypatch):
    """The watch's module on that MPI, likewise."""
    assert module.MPI is mpi
    name = "training.mpi.world_watch"
    if name not in sys.modules:
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
        monkeypatch.setattr(name, None, raising=False)
    found = importlib.import_module(name)
    monkeypatch.setattr(found, "MPI", mpi)
    return found


def test_rows_go_to_their_ranks_and_arrive_piece_by_piece(module, mpi, monkeypatch):
    message, step, width = 8, 4, 11
    monkeypatch.setattr(module, "MESSAGE", message)
    monkeypatch.setattr(module, "STEP", step)
    row, first, second = torch.arange(width), torch.zeros(width), torch.zeros(width)
    mpi.values = {
        (0, 0): [np.full(message, 1), np.full(3, 2)],
        (2, 5): [np.full(message, 3), np.full(3, 4)],
    }
    ours = module.MpiCommunicator()

    arrived = []
    for columns in ours.exchange([(0, 2, row), (2, 2, row)], [(0, 0, first), (2, 5, second)], width):
        arrived.append(columns)
        place = columns.start // message
        assert first[columns].unique().tolist() == [1 + place]
        assert second[columns].unique().tolist() == [3 + place]
        assert ("sent", 0, 2) not in mpi.calls

    assert (ours.rank, ours.size) == (1, 3)
    assert arrived == [slice(0, 4), slice(4, 8), slice(8, 11)]
    sent = [call for call in mpi.calls if call[0] == "send"]
    assert [call[1:3] for call in sent] == [(0, 2), (2, 2), (0, 2), (2, 2)]
    assert sent[0][3] + sent[2][3] == sent[1][3] + sent[3][3] == list(range(width))
    # MPI is called after each piece, and everything has left in the end.
    assert mpi.calls.count(("progress",)) == len(arrived)
    assert mpi.calls[-4:] == [("sent", 0, 2), ("sent", 2, 2)] * 2


@pytest.mark.parametrize("gpu_aware", [False, True])
def test_an_mpi_for_gpus_gets_the_rows_themselves(module, mpi, monkeypatch, gpu_aware):
    asked = []
    monkeypatch.setattr(module, "Staging", lambda *, gpu_aware: asked.append(gpu_aware))
    module.MpiCommunicator(gpu_aware=gpu_aware)
    module.MpiCommunicator()

    assert asked == [gpu_aware, False]
    assert mpi.calls == []


def test_a_sum_is_over_all_processes(module, mpi):
    assert mpi.size == 3
    values = np.arange(6.0).reshape(2, 3).T

    assert module.MpiCommunicator().sum(values).tolist() == (3 * values).tolist()


def test_a_wait_polls_then_yields_the_core_then_pauses_for_a_tenth_of_it(module, monkeypatch):
    assert (module.EAGER_S, module.SPIN_S) == (1e-4, 1e-3)
    # Powers of two near these, so that dates are met exactly.
    eager, spin = 2**-13, 2**-10
    monkeypatch.setattr(module, "EAGER_S", eager)
    monkeypatch.setattr(module, "SPIN_S", spin)
    # Dates of the polls since the wait began, and what is done before the next one.
    polls = {
        eager / 2: None,
        eager: "yield",
        spin - eager: "yield",
        spin: spin / 10,
        5 * spin: spin / 2,
        16 * spin: 0.001,
        7.0: 0.001,
    }
    dates, done = iter([64.0, *(64.0 + waited for waited in polls)]), []
    monkeypatch.setattr(
        module,
        "time",
        SimpleNamespace(perf_counter=dates.__next__, sleep=lambda pause_s: done.append(pause_s)),
    )
    monkeypatch.setattr(module, "os", SimpleNamespace(sched_yield=lambda: done.append("yield")))
    requests = [SimpleNamespace(polls=len(polls), end=lambda: done.append("end"))]

    module._wait(requests, lambda: done.append("check"))

    # Whether all are to end is asked where there is time for it.
    expected = [
        each
        for step in filter(None, polls.values())
        for each in ([step] if step == "yield" else ["check", step])
    ]
    assert done == [
        step if isinstance(step, str) else pytest.approx(step, rel=1e-6) for step in [*expected, "end"]
    ]


def test_a_wait_ends_by_what_its_check_raises(module):
    def check():
        raise Ended

    with pytest.raises(Ended):
        module._wait([SimpleNamespace(polls=10**9)], check)


@pytest.fixture
def unwatched(monkeypatch):
    """Nobody watches the ranks; gives the waits for the end that another rank is to make."""
    waits, stub = [], ModuleType("training.mpi.world_watch")
    stub.watched = lambda _config: nullcontext((Progress(), False))
    stub.wait_for_the_end = lambda: waits.append("waited")
    monkeypatch.setitem(sys.modules, "training.mpi.world_watch", stub)
    return waits


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (InputError("bad"), None, ""),
        (TrainingError("diverged"), None, ""),
        (MachineError("too small."), 3, "rank 1: too small.\n"),
        (ValueError("boom"), 1, "rank 1 failed:\nTraceback (most recent call last):\n"),
    ],
)
@pytest.mark.usefixtures("unwatched")
def test_an_error_of_one_process_alone_ends_all_of_them(
    module, mpi, monkeypatch, make_job, capsys, raised, status, said
):
    def train(job, communicator, _progress):
        assert isinstance(communicator, module.MpiCommunicator)
        yield job.config.rounds
        raise raised

    def end(status):
        raise Ended(status)

    monkeypatch.setattr("training.mpi.backend.world", lambda: World(rank=1, size=3))
    monkeypatch.setattr("training.mpi.backend.abort", end)
    monkeypatch.setattr("training.dpasgd.train_rank", train)
    reports = MpiBackend().train(make_job(silos=3, rounds=5))

    assert next(reports) == 5
    assert mpi.initialized
    with pytest.raises(type(raised) if status is None else Ended) as ended:
        next(reports)

    assert status is None or ended.value.args == (status,)
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("rank", "speaker", "is_raised", "said", "waits"),
    [
        (0, 0, True, "", []),  # the program has files to close, and says it
        (1, 1, False, "silosim: error: rank 0 hangs.\n", []),
        (0, 1, False, "", ["waited"]),
        (1, 0, False, "", ["waited"]),
        (1, -1, False, "", ["waited"]),
    ],
)
def test_of_ranks_that_are_to_end_one_says_why(
    monkeypatch, make_job, capsys, unwatched, rank, speaker, is_raised, said, waits
):
    def train(_job, _communicator, _progress):
        raise SilentRanksError(Verdict(message="rank 0 hangs.", speaker=speaker))
        yield

    def end(status):
        raise Ended(status)

    monkeypatch.setattr("training.mpi.backend.world", lambda: World(rank=rank, size=3))
    monkeypatch.setattr("training.mpi.backend.abort", end)
    monkeypatch.setattr("training.dpasgd.train_rank", train)
    with pytest.raises(SilentRanksError if is_raised else Ended) as ended:
        next(MpiBackend().train(make_job(silos=3)))

    assert is_raised or ended.value.args == (3,)
    assert (capsys.readouterr().err, unwatched) == (said, waits)


@pytest.mark.usefixtures("unwatched")
def test_a_world_of_another_size_trains_nothing(module, mpi, monkeypatch, make_job):
    assert module.MpiCommunicator().size == mpi.size
    monkeypatch.setattr("training.mpi.backend.world", lambda: World(rank=1, size=2))

    with pytest.raises(MachineError, match="the launcher started 2 processes but MPI sees 3:"):
        next(MpiBackend().train(make_job(silos=3)))


class Ended(BaseException):
    """What ends the process."""


@pytest.mark.parametrize(
    ("initialized", "finalized", "aborted"),
    [(False, False, False), (True, False, True), (True, True, False)],
)
def test_abort_ends_the_job_while_mpi_runs_and_else_the_process(
    mpi, monkeypatch, initialized, finalized, aborted
):
    slept = []

    def leave(status):
        raise Ended(status)

    monkeypatch.setattr("training.mpi_environment.time.sleep", slept.append)
    monkeypatch.setattr(os, "_exit", leave)
    mpi.initialized, mpi.finalized = initialized, finalized

    with pytest.raises(Ended) as ended:
        abort(3)

    assert ended.value.args == (3,)
    assert slept == [FORWARDING_S]
    assert mpi.calls == ([("abort", 3)] if aborted else [])


def test_mpi_is_started_once_and_ends_with_the_process(mpi):
    rc = sys.modules["mpi4py"].rc
    start_mpi(started=3)
    assert mpi.initialized
    # Not by its import, so that the library can be checked before.
    assert (rc.initialize, rc.finalize) == (False, True)
    mpi.Init_thread = lambda: pytest.fail("started again")
    start_mpi(started=3)


@pytest.mark.parametrize("own", [False, True])
def test_the_launcher_of_open_mpi_starts_its_own_library_only(mpi, monkeypatch, own):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    if own:
        mpi.name = "Open MPI v5.0.3, package: x"
        start_mpi(started=4)
        assert mpi.initialized
        return
    with pytest.raises(MachineError) as error:
        start_mpi(started=4)
    assert str(error.value) == (
        "Open MPI's launcher started 4 processes but mpi4py uses MPICH: mpiexec belongs to another MPI; "
        f"use {Path(sys.executable).parent / 'mpiexec'}"
    )
    assert not mpi.initialized


def test_no_mpi_library_is_one_line(mpi, monkeypatch):
    assert not mpi.initialized
    empty = ModuleType("mpi4py")
    empty.rc = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "mpi4py", empty)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI")

    with pytest.raises(
        MachineError, match=r"^mpi4py finds no MPI library: .*; install one with: pip install mpich$"
    ):
        start_mpi(started=1)


def test_an_mpi_library_that_does_not_load_is_one_line(mpi, monkeypatch):
    """mpi4py's own text has two."""

    class Unloadable(ModuleType):
        def __getattr__(self, name):
            if name == "MPI":
                raise RuntimeError("cannot load MPI library\nlibmpi.so: cannot open shared object file\n")
            raise AttributeError(name)

    assert not mpi.initialized
    unloadable = Unloadable("mpi4py")
    unloadable.rc = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "mpi4py", unloadable)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI")
    with pytest.raises(MachineError) as caught:
        start_mpi(started=1)
    assert str(caught.value) == (
        "mpi4py finds no MPI library: cannot load MPI library; libmpi.so: cannot open shared object file; "
        "install one with: pip install mpich"
    )


def test_addresses_are_those_of_other_machines_with_the_port_of_the_socket(world_watch, monkeypatch):
    named = {"lo": "127.0.0.1", "eth0": "10.1.2.3", "eth1": None, "a-name-of-17-chars": "192.168.0.7"}

    def ioctl(_socket, request, given):
        # A request holds 15 letters of a name, and an answer the address from byte 20 on.
        assert (request, len(given), given[15:]) == (0x8915, 256, bytes(241))
        (address,) = (
            address for name, address in named.items() if name.encode()[:15] == given[:15].rstrip(b"\0")
        )
        if address is None:
            raise OSError
        return bytes(20) + socket.inet_aton(address) + bytes(232)

    monkeypatch.setattr(world_watch.fcntl, "ioctl", ioctl)
    monkeypatch.setattr(world_watch.socket, "if_nameindex", lambda: list(enumerate(named)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        expected = (("10.1.2.3", port), ("192.168.0.7", port))
        assert world_watch._addresses(listener.fileno()) == expected
        # The socket stays open; its number is 0 in a program without an input.
        assert listener.getsockname()[1] == port
        number, dup = listener.fileno(), os.dup
        monkeypatch.setattr(world_watch.os, "dup", lambda given: dup(number if given == 0 else given))
        assert world_watch._addresses(0) == expected
    assert world_watch._addresses(-1) == ()


def test_hosts_are_in_the_order_of_their_first_ranks(world_watch, mpi):
    # Ranks 0 and 2 share memory; rank 1 has a machine alone, and ranks 3 and 4 are in containers of their own.
    places = [(0, 7, "a"), (1, 7, "b"), (0, 7, "a"), (3, 8, "c"), (3, 9, "c")]
    mpi.COMM_TYPE_SHARED, mpi.allgather = "shared", lambda _own: places
    for rank, expected in enumerate((0, 1, 0, 2, 3)):
        mpi.rank = rank
        mpi.Split_type = {"shared": SimpleNamespace(bcast=lambda own: own, Free=lambda: None)}.get
        hosts, own = world_watch._hosts()
        assert [(host.name, host.ranks) for host in hosts] == [
            ("a", (0, 2)),
            ("b", (1,)),
            ("c", (3,)),
            ("c", (4,)),
        ]
        assert own == expected


TWO_HOSTS = (Host(name="a", ranks=(0, 2)), Host(name="b", ranks=(1,)))


@pytest.fixture
def watching(world_watch, mpi, monkeypatch):
    """Enter the watch as a rank of some hosts, whose process is none; gives what the process is told."""

    def enter(rank, hosts, found, *, unheard=False):
        plans, mpi.rank = [], rank

        @contextmanager
        def process(plan):
            plans.append(plan)
            yield unheard
            plans.append([state.stage for state in read_board(os.pread(plan.board, 1 << 16, 0))])

        own = next(place for place, host in enumerate(hosts) if rank in host.ranks)
        mpi.allgather = lambda said: [said if each is None else each for each in found]
        mpi.bcast = lambda _token: "token"
        monkeypatch.setattr(world_watch, "_hosts", lambda: (hosts, own))
        monkeypatch.setattr(world_watch, "_addresses", lambda number: (("10.0.0.7", number),))
        monkeypatch.setattr(world_watch, "_process", process)
        return world_watch.watched(TrainingConfig(rank_timeout="90 s")), plans

    return enter


def test_the_first_rank_of_a_host_starts_its_watch_with_what_that_must_know(watching, mpi):
    for rank, hub, own, unheard in ((0, None, 0, True), (1, (5, 6, (("10.0.0.1", 9),)), 1, False)):
        others = (7, -1, ())
        entered, plans = watching(
            rank, TWO_HOSTS, [hub, None if rank == 1 else others, others], unheard=unheard
        )
        mpi.calls.clear()
        with entered as (progress, is_unheard):
            (plan,) = plans
            progress.step()
            states = read_board(os.pread(plan.board, 1 << 16, 0))
            with socket.socket(fileno=os.dup(plan.socket)) as listener:
                assert listener.type == socket.SOCK_DGRAM
                assert listener.getsockname()[1] >= 1024  # any that is free
        assert is_unheard is unheard
        assert [(state.process, state.steps) for state in states] == [
            (os.getpid(), 1) if each == rank else (0, 0) for each in range(3)
        ]
        assert (plan.hosts, plan.own, plan.token) == (TWO_HOSTS, own, "token")
        assert (plan.limit_s, plan.stated) == (90.0, "90 s")
        assert plan.hub == (hub[2] if hub else (("10.0.0.7", plan.socket),))
        # Who is done only waits for the others; they have met once, and nothing stays open.
        assert plans[1][rank] == Stage.WAITING
        assert mpi.calls == [("barrier",)]
        for number in (plan.board, plan.socket):
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(number)


def test_the_watch_of_one_host_needs_no_socket(watching):
    entered, plans = watching(0, (Host(name="a", ranks=(0, 1, 2)),), [None, (7, -1, ()), (8, -1, ())])
    with entered as (_, is_unheard):
        assert not is_unheard
    assert plans[0].socket == -1


def test_the_other_ranks_of_a_host_write_into_the_memory_of_its_first(watching, mpi):
    board = os.memfd_create("board")
    os.truncate(board, len(empty_board(3)))
    entered, plans = watching(2, TWO_HOSTS, [(os.getpid(), board, ()), (7, -1, ()), None])
    with entered as (progress, is_unheard):
        progress.step()
        assert not is_unheard
    states = read_board(os.pread(board, 1 << 16, 0))
    os.close(board)
    assert [state.steps for state in states] == [0, 0, 1]
    assert states[2].stage == Stage.WAITING
    assert (plans, mpi.calls) == ([], [("barrier",)])


def test_without_a_limit_ranks_meet_nobody(world_watch, mpi):
    with world_watch.watched(TrainingConfig(rank_timeout=0)) as (progress, is_unheard):
        assert not isinstance(progress, SharedProgress)
        assert is_unheard is False
    assert mpi.calls == []


def test_who_waits_for_its_end_gives_the_one_that_speaks_twice_its_time(world_watch, monkeypatch):
    slept = []
    monkeypatch.setattr(world_watch.time, "sleep", slept.append)
    world_watch.wait_for_the_end()
    assert slept == [2 * END_S]


@pytest.mark.parametrize(("number", "passed"), [(-1, [5]), (0, [5, 0]), (6, [5, 6])])
@pytest.mark.parametrize(
    ("raised", "closed", "waited"),
    [(None, True, True), (ValueError, True, False), (SilentRanksError, False, False)],
)
def test_the_watch_of_a_host_ends_with_its_rank_unless_it_is_to_end_that(
    world_watch, monkeypatch, number, passed, raised, closed, waited
):
    plan = Plan(
        hosts=TWO_HOSTS, own=0, limit_s=90.0, stated="90 s", board=5, socket=number, hub=(), token="token"
    )
    started, alive, ends, pipe = {}, [], [], os.pipe()

    def popen(command, **options):
        started.update(options, command=command)
        alive.append(os.dup(options["stdin"]))
        return SimpleNamespace(
            stdout=io.BytesIO(b"1 and more" if raised else b""), wait=lambda: ends.append("waited")
        )

    monkeypatch.setattr(world_watch.subprocess, "Popen", popen)
    monkeypatch.setattr(world_watch.os, "pipe", lambda: pipe)
    verdict = Verdict(message="rank 0 hangs.", speaker=0)
    error = raised and (raised(verdict) if raised is SilentRanksError else raised("boom"))
    with pytest.raises(raised) if raised else nullcontext(), world_watch._process(plan) as unheard:
        assert unheard is (raised is None)
        if error:
            raise error

    os.set_blocking(alive[0], False)
    # It reads the end of its input once nobody can write there.
    with nullcontext() if closed else pytest.raises(BlockingIOError):
        assert os.read(alive[0], 1) == b""
    os.close(alive[0])
    if not closed:
        os.close(pipe[1])
    assert ends == ["waited"] * waited
    assert started["pass_fds"] == passed
    # Ctrl-C reaches the ranks, not what watches them.
    assert started["start_new_session"] is True
    assert Plan.from_json(started["command"][-1]) == plan
