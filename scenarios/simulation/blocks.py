"""A simulation under way: block by block, with its progress shown, until it is long enough or interrupted."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from scenarios.config.quantities import format_s
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import deferred_interrupts
from simulator import Block, Job, SteadyState
from simulator.engines import make_engine
from topologies import InputError

_BLOCK_ROUNDS = 256


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Progress:
    """How far a simulation has come.

    Attributes
    ----------
    block : Block
        The last one.
    rounds : int
        Simulated rounds.
    steady : SteadyState or None
        What the engine has proven.
    messages : int
        Messages that have arrived.
    wall_s : float
        How long the simulation has taken.
    engine : {"simpy", "compiled"}
    """

    block: Block
    rounds: int
    steady: SteadyState | None
    messages: int
    wall_s: float
    engine: str

    def __str__(self) -> str:
        """Simulated time and speed, in few columns."""
        rounds_per_s, messages_per_s = self.rounds / self.wall_s, self.messages / self.wall_s
        speed = f"{_short(rounds_per_s)} rounds/s, {_short(messages_per_s)} msg/s"
        return f"at {format_s(self.block.now_s)}, {speed}"


def simulate_blocks(
    job: Job,
    take: Callable[[Progress], bool],
    *,
    title: str | None,
    block_messages: int,
    engine: str = "auto",
) -> Progress:
    """Simulate a job and hand over each block of rounds.

    Parameters
    ----------
    job : Job
    take : callable
        Takes the block of a `Progress`; returns whether the simulation is long enough.
    title : str or None
        In front of the progress bar; None for none.
    block_messages : int
        Messages of a block, about; it has 1 to 256 rounds.
    engine : str
        See `simulator.engines.choose_engine`.

    Returns
    -------
    Progress
        At the end.

    Raises
    ------
    InputError
        If the job has no round.
    KeyboardInterrupt
        After Ctrl-C, within a second; every complete block has been handed over.
    """
    block_rounds = min(_BLOCK_ROUNDS, max(1, block_messages // max(1, len(job.arcs))))
    running = make_engine(job, block_rounds=block_rounds, engine=engine)
    progress: Progress | None = None
    began_s, messages = time.perf_counter(), 0
    with bar(title, job.rounds) as advance, deferred_interrupts() as interrupted:
        while (block := running.advance()) is not None:
            messages += int(np.count_nonzero(~np.isnan(block.messages.arrival_s)))
            progress = Progress(
                block=block,
                rounds=block.first_round + block.rounds,
                steady=running.steady,
                messages=messages,
                wall_s=time.perf_counter() - began_s,
                engine=running.name,
            )
            is_enough = take(progress)
            advance(progress.rounds, str(progress))
            if interrupted():
                raise KeyboardInterrupt
            if is_enough:
                break
    if progress is None:
        raise InputError(f"rounds(={job.rounds}) must be >= 1.")
    return replace(progress, steady=running.steady)


def _short(rate: float) -> str:
    """Three digits, with k or M for thousands and millions."""
    rounded = float(f"{rate:.3g}")
    factor, prefix = next(((f, p) for f, p in ((1e6, "M"), (1e3, "k")) if rounded >= f), (1.0, ""))
    return f"{rounded / factor:.3g}{prefix}"
