"""Processes of this machine as an executor that can be ended at once, whatever they compute."""

import ctypes
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import Any, TypeVar

from scenarios.runtime.signals import held_interrupts
from topologies import MachineError
from topologies.quick_imports import quick_imports

T = TypeVar("T")
_END_S = 5.0
_PR_SET_PDEATHSIG = 1


class Processes(Executor):
    """Processes that compute calls, each with a pipe of its own.

    Parameters
    ----------
    workers : int
        At most so many processes; each is started when there is a call for it.
    begin : callable
        Each process calls it first.

    Notes
    -----
    The executor of the standard library waits for the calls under way before it ends, and may wait for ever where its
    processes were killed; this one has `kill`. A call whose process has ended raises `BrokenExecutor`, and `submit` a
    `MachineError` where the system starts no more.

    Processes are started anew, not forked: a fork inherits locks of threads that it does not have. They do not hear
    Ctrl-C, which is for the program that started them, and end when that program is killed (Linux).
    """

    def __init__(self, workers: int, begin: Callable[[], None]) -> None:
        self._workers, self._begin = workers, begin
        self._context = multiprocessing.get_context("spawn")
        self._threads = ThreadPoolExecutor(workers)
        self._processes: list[SpawnProcess] = []
        self._pipes: list[Connection] = []
        self._idle: SimpleQueue[Connection] = SimpleQueue()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """See `concurrent.futures.Executor`."""
        if len(self._processes) < self._workers:
            self._start()
        return self._threads.submit(self._call, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Compute what was submitted, and end all processes; without `wait` they are ended by `kill` alone."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            for pipe in self._pipes:
                pipe.close()
            for process in self._processes:
                process.join(_END_S)
            self.kill()

    def kill(self) -> None:
        """End all processes now; calls under way raise `BrokenExecutor`, those that have not begun are cancelled."""
        with held_interrupts():
            self._threads.shutdown(wait=False, cancel_futures=True)
            for process in self._processes:
                process.kill()
            for process in self._processes:
                process.join()

    def _start(self) -> None:
        """Start one more process, wholly: one that Ctrl-C cut in two would say so, and `kill` would not know of it."""
        with held_interrupts():
            self._start_one()

    def _start_one(self) -> None:
        # The first start of this tracker lets the thread hear Ctrl-C again.
        resource_tracker.ensure_running()
        here, there = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(there, self._begin), daemon=True)
        # A new process inherits what its thread does not hear.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
            self._processes.append(process)
        except OSError as error:
            here.close()
            raise MachineError(f"a worker process cannot be started: {error.strerror}.") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            there.close()
        self._pipes.append(here)
        self._idle.put(here)

    def _call(self, function: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
        """Let an idle process compute a call; there is one for each thread."""
        pipe = self._idle.get()
        try:
            pipe.send((function, args, kwargs))
            result, error = pipe.recv()
        except (EOFError, OSError):
            raise BrokenExecutor("a worker process ended") from None
        finally:
            self._idle.put(pipe)
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]


def _serve(pipe: Connection, begin: Callable[[], None]) -> None:
    """Compute the calls that come through a pipe until its other end is closed; the main function of a process."""
    if not _ends_with_parent():
        return
    with quick_imports():
        begin()
    # The pipe is closed when the program has no more calls, or was killed.
    with suppress(EOFError, BrokenPipeError):
        while True:
            function, args, kwargs = pipe.recv()
            result = error = None
            try:
                result = function(*args, **kwargs)
            except Exception as raised:
                error = raised
            pipe.send((result, error))


def _ends_with_parent() -> bool:
    """Let the system kill this process when its parent ends, as compiled code may not look; whether that lives."""
    with suppress(AttributeError, OSError):  # elsewhere than on Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = multiprocessing.parent_process()
    return parent is None or parent.is_alive()
