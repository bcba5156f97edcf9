"""A whole timeline of a job: all round starts and messages, of as many rounds as its cycle time needs."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenarios.simulation.blocks import Progress, simulate_blocks
from simulator import Job, SteadyState, Timeline
from simulator.block import Messages
from simulator.statistics.confidence import StopRule
from simulator.statistics.steady_state import has_period, steady_state
from simulator.world.counted_silos import Starts
from topologies.arrays import IntArray

FEWEST_ROUNDS = 100
"""Of a simulation that ends by itself: fewer show too little of the transient."""
_BLOCK_MESSAGES = 20_000


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
        Silos whose mean round start the stop rule follows; see `scenarios.simulation.cycle_time`.
    title : str
        In front of the progress bar.
    until : float, optional
        Half width of the confidence interval, as a fraction of the cycle time, at which it ends. A job that is known to
        repeat ends after its first whole period.
    messages : bool
        Whether to keep start, last bit, arrival and binding link of every message.
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
    rule = None if until is None else StopRule(until, silos=job.silos)
    names = [field.name for field in fields(Messages)] if messages else ["arrival_s"]
    pieces: dict[str, list[NDArray[Any]]] = {name: [] for name in ("round_start_s", *names)}
    starts: Starts | None = None

    def take(progress: Progress) -> bool:
        nonlocal starts
        block = progress.block
        pieces["round_start_s"].append(block.round_start_s)
        for name in names:
            pieces[name].append(getattr(block.messages, name))
        if rule is None:
            return False
        more = Starts.of(block.round_start_s, job.absences, silos=silos)
        starts = more if starts is None else starts.joined(more)
        computing = starts.computing(job.computes, job.regular_from)
        return _shows_period(progress.steady, progress.rounds) or rule.is_met(computing)

    end = simulate_blocks(job, take, title=title, block_messages=_BLOCK_MESSAGES, engine=engine)
    start_s = np.concatenate(pieces["round_start_s"])
    # Messages of the last round are left out where its end was not waited for.
    record = {name: np.concatenate(pieces.pop(name))[: len(start_s) - 1] for name in names}
    return Timeline(
        round_start_s=start_s,
        arrival_s=record["arrival_s"],
        link_bits=end.block.link_bits,
        steady=steady_state(job, end.steady, start_s)[0],
        engine=end.engine,
        messages=Messages(**record) if messages else None,
        absences=job.absences,
        computes=job.computes,
        regular_from=job.regular_from,
    )


def _shows_period(steady: SteadyState | None, rounds: int) -> bool:
    """Whether a job is known to repeat, and so many rounds hold a whole period."""
    # One round less: of the last block before the job's end, the round that follows is not there yet.
    return steady is not None and rounds > FEWEST_ROUNDS and has_period(steady, rounds - 1)
