"""A simulation as a stream of blocks of rounds, in memory that does not grow with the rounds."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Protocol

from simulator import input_checks as checks
from simulator.block import Block
from simulator.compiled.engine import CompiledEngine, supports
from simulator.job import Job
from simulator.observer import Observer
from simulator.simpy_engine.engine import EventEngine
from simulator.statistics.steady_state import SteadyState
from topologies.errors import InputError, MachineError

ENGINES = ("auto", "events", "compiled")

_BLOCK_ROUNDS = 256
_BLOCK_MESSAGES = 1 << 20
"""Messages in a block, some tens of megabytes."""

_MANY_MESSAGES, _MANY_ARCS = 20_000, 500
"""From here on, SimPy takes longer than it takes to load what is compiled: of many messages at once each takes long."""


class Engine(Protocol):
    """Simulates a job block by block."""

    @property
    def steady(self) -> SteadyState | None:
        """How the job goes on, once it is known to repeat."""

    def advance(self) -> Block | None:
        """Simulate the next block of complete rounds; None after the last one."""


def stream(job: Job, *, block_rounds: int | None = None, engine: str = "auto") -> Iterator[Block]:
    """Simulate a job and hand over its rounds as they are complete.

    Parameters
    ----------
    job : Job
        Made by `make_job` or `overlay_job`.
    block_rounds : int, optional
        Rounds in a block, >= 1; the last one may be shorter. As a default 256, and less with many arcs.
    engine : {"auto", "events", "compiled"}
        See `simulate_flows`.

    Yields
    ------
    Block
        Consecutive rounds. The consumer may stop at any time.

    Raises
    ------
    InputError
        If a value is out of its range, or the compiled engine cannot simulate the job.
    MachineError
        If the compiled engine is asked for, and numba is missing.

    Notes
    -----
    Memory is that of a few blocks, and of the rounds that silos are ahead of each other.
    """
    running = make_engine(job, block_rounds=block_rounds, engine=engine)
    while (block := running.advance()) is not None:
        yield block


def make_engine(
    job: Job, *, block_rounds: int | None = None, engine: str = "auto", observer: Observer | None = None
) -> Engine:
    """The engine that simulates a job, before its first round.

    Parameters
    ----------
    job : Job
    block_rounds : int, optional
    engine : {"auto", "events", "compiled"}
    observer : Observer, optional
        With its `on_rates`, ``engine="auto"`` means ``"events"``. Its `on_round` is called by that engine only.

    Returns
    -------
    Engine

    Raises
    ------
    InputError
        See `stream`.
    """
    checks.check_choice("engine", engine, ENGINES)
    if block_rounds is None:
        block_rounds = max(1, min(_BLOCK_ROUNDS, _BLOCK_MESSAGES // max(1, len(job.arcs))))
    checks.check_at_least(1, "block_rounds", block_rounds)
    watched = observer is not None and observer.on_rates is not None
    if engine == "compiled":
        if not supports(job):
            raise InputError("engine(='compiled') must be 'events' here: it knows no network that changes.")
        if watched:
            raise InputError("engine(='compiled') must be 'events' here: it knows no on_rates.")
        if find_spec("numba") is None:
            raise MachineError("engine(='compiled') needs numba, which is not installed.")
        return CompiledEngine(job, block_rounds)
    many = job.rounds * len(job.arcs) >= _MANY_MESSAGES or len(job.arcs) >= _MANY_ARCS
    if engine == "auto" and many and supports(job) and not watched and find_spec("numba") is not None:
        return CompiledEngine(job, block_rounds)
    return EventEngine(job, block_rounds=block_rounds, observer=observer)
