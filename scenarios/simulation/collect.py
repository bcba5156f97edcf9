"""A simulation with all its round starts and messages, shown as it goes on, and ended when it is sure enough."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenarios.config.quantities import format_s
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import polite_interrupts
from simulator import Block, Job, SteadyState, Timeline
from simulator.block import Messages
from simulator.engines import make_engine
from simulator.statistics.confidence import StopRule
from simulator.statistics.steady_state import has_period, steady_state
from simulator.world.counted_silos import Starts
from topologies.arrays import IntArray

FEWEST_ROUNDS = 100
"""Of a job that ends by itself: less shows too little of how it starts."""
_BLOCK_MESSAGES = 20_000
_BLOCK_ROUNDS = 256


def collect(
    job: Job,
    silos: IntArray,
    *,
    title: str,
    until: float | None = None,
    messages: bool = False,
    engine: str = "auto",
) -> Timeline:
    """Simulate a job.

    Parameters
    ----------
    job : Job
    silos : ndarray of int, shape (n,)
        Silos whose mean round start the stop rule follows; see `scenarios.simulation.cycle_time.settle`.
    title : str
        In front of the progress bar.
    until : float, optional
        Half width of the confidence interval, as a fraction of the cycle time, at which it ends. A job that is known to
        repeat ends after its first whole period.
    messages : bool
        Whether to keep what happened to every message.
    engine : str
        See `simulator.engines.choose_engine`.

    Returns
    -------
    Timeline

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, within a second.

    Notes
    -----
    Memory O(rounds * arcs): a number for each message, or four with `messages`, and twice that while they are joined.
    """
    block_rounds = min(_BLOCK_ROUNDS, max(1, _BLOCK_MESSAGES // max(1, len(job.arcs))))
    running = make_engine(job, block_rounds=block_rounds, engine=engine)
    rule = None if until is None else StopRule(until, silos=job.silos)
    names = [field.name for field in fields(Messages)] if messages else ["arrival_s"]
    kept: dict[str, list[NDArray[Any]]] = {name: [] for name in ("round_start_s", *names)}
    last: Block | None = None
    starts: Starts | None = None
    with bar(title, job.rounds) as advance, polite_interrupts() as interrupted:
        while (block := running.advance()) is not None:
            last = block
            kept["round_start_s"].append(block.round_start_s)
            for name in names:
                kept[name].append(getattr(block.messages, name))
            done = block.first_round + block.rounds
            advance(done, f"at {format_s(block.now_s)}")
            if interrupted():
                raise KeyboardInterrupt
            if rule is not None:
                more = Starts.of(block.round_start_s, job.absences, silos=silos)
                starts = more if starts is None else starts.joined(more)
                if _shows_period(running.steady, done) or rule.is_met(starts):
                    break
    assert last is not None, "a job has a round or more"
    start_s = np.concatenate(kept["round_start_s"])
    # Messages of the last round are left out where its end was not waited for.
    record = {name: np.concatenate(kept.pop(name))[: len(start_s) - 1] for name in names}
    return Timeline(
        round_start_s=start_s,
        arrival_s=record["arrival_s"],
        link_bits=last.link_bits,
        steady=steady_state(job, running.steady, start_s)[0],
        engine=running.name,
        messages=Messages(**record) if messages else None,
        absences=job.absences,
    )


def _shows_period(steady: SteadyState | None, rounds: int) -> bool:
    """Whether a job is known to repeat, and so many rounds hold a whole period."""
    # One round less: of the last block before the job's end, the round that follows is not there yet.
    return steady is not None and rounds > FEWEST_ROUNDS and has_period(steady, rounds - 1)
