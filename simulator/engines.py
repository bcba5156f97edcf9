"""The two engines behind one interface, and the choice between them."""

from typing import Protocol

from simulator import input_checks as checks
from simulator.block import Block
from simulator.compiled.engine import CompiledEngine, unsupported
from simulator.job import Job
from simulator.observer import Observer
from simulator.simpy_engine.engine import SimpyEngine
from simulator.statistics.steady_state import SteadyState
from topologies.errors import Field, InputError

_BLOCK_ROUNDS = 256
_BLOCK_MESSAGES = 1 << 20
"""Messages in a block, some tens of megabytes."""

_MANY_MESSAGES, _MANY_ARCS = 20_000, 500
"""From here on, SimPy takes longer than it takes to load what is compiled: of many messages at once each takes long."""


class Engine(Protocol):
    """Simulates a job block by block."""

    @property
    def name(self) -> str:
        """Its name in `choose_engine`."""

    @property
    def steady(self) -> SteadyState | None:
        """How the job goes on, once it is known to repeat."""

    def advance(self) -> Block | None:
        """Simulate the next block of complete rounds; None after the last one."""


def choose_engine(job: Job, engine: str = "auto", *, observer: Observer | None = None) -> str:
    """Return the name of the engine that simulates a job.

    Parameters
    ----------
    job : Job
    engine : {"auto", "simpy", "compiled"}
        ``"auto"``: the compiled one for 20,000 messages or 500 arcs and more, if it can simulate the job.
    observer : Observer, optional
        The compiled engine calls no `on_rates`.

    Returns
    -------
    {"simpy", "compiled"}

    Raises
    ------
    InputError
        If there is no such engine, or the compiled one is asked for and cannot simulate the job.
    """
    checks.check_choice("engine", engine, checks.ENGINES)
    reason = unsupported(job)
    if not reason and observer is not None and observer.on_rates is not None:
        reason = "it calls no on_rates"
    if engine == "compiled" and reason:
        raise InputError(f"must be 'auto' or 'simpy' here: {reason}.", field=Field("engine", value=engine))
    if engine == "auto":
        many = job.rounds * len(job.arcs) >= _MANY_MESSAGES or len(job.arcs) >= _MANY_ARCS
        return "compiled" if many and not reason else "simpy"
    return engine


def make_engine(
    job: Job, *, block_rounds: int | None = None, engine: str = "auto", observer: Observer | None = None
) -> Engine:
    """Return the engine that simulates a job, before its first round.

    Parameters
    ----------
    job : Job
    block_rounds : int, optional
        Rounds in a block, >= 1; the last one may be shorter. By default 256, and less with many arcs.
    engine : {"auto", "simpy", "compiled"}
        See `choose_engine`.
    observer : Observer, optional
        Its `on_round` is called by the SimPy engine only.

    Raises
    ------
    InputError
        If `block_rounds` is below 1; see `choose_engine`.
    """
    chosen = choose_engine(job, engine, observer=observer)
    if block_rounds is None:
        block_rounds = max(1, min(_BLOCK_ROUNDS, _BLOCK_MESSAGES // max(1, len(job.arcs))))
    checks.check_at_least(1, "block_rounds", block_rounds)
    if chosen == "compiled":
        return CompiledEngine(job, block_rounds)
    return SimpyEngine(job, block_rounds=block_rounds, observer=observer)
