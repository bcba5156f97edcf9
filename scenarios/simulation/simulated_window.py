"""Rounds of a run whose messages were not kept, simulated again."""

from collections import deque
from math import inf

import numpy as np

from scenarios.runfile.round_window import RoundWindow
from scenarios.simulation.blocks import Progress, simulate_blocks
from scenarios.simulation.runner import block_messages
from simulator import Block, Job
from simulator.block import all_messages
from simulator.world.counted_silos import away


def simulated_window(
    job: Job, rounds: range, *, engine: str, title: str | None = None
) -> tuple[RoundWindow, bool]:
    """Simulate a job from its beginning up to the end of some rounds, and keep these.

    Parameters
    ----------
    job : Job
    rounds : range
    engine : str
        The one that simulated the run, so that dates are the same to the last bit.
    title : str, optional
        In front of the progress bar.

    Returns
    -------
    window : RoundWindow
    is_before_end : bool
        Whether no silo had ended the job by the end of the window, or a round in which it would send more in a longer
        job, so that a longer job has the very same window.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, within a second.

    Notes
    -----
    Time O(messages up to these rounds), since a simulation has no short cut to a round. Memory: the blocks that may
    hold messages which are under way in these rounds.
    """
    kept: deque[Block] = deque()
    # First start of each of the last rounds, by those that are not away.
    first_s: deque[float] = deque(maxlen=job.longest_lag)
    end_s, is_before_end = inf, False

    def take(progress: Progress) -> bool:
        nonlocal end_s, is_before_end
        block = progress.block
        kept.append(block)
        if block.first_round <= rounds.start:
            row = min(rounds.start - block.first_round, block.rounds - 1)
            before_s = block.round_start_s[row].min()
            while len(kept) > 1 and _last_arrival_s(kept[0]) <= before_s:
                kept.popleft()
        end_row = rounds.stop - block.first_round
        if 0 <= end_row < len(block.round_start_s):
            end_s = float(block.round_start_s[end_row].max())
        is_away = away(job.absences, range(block.first_round, progress.rounds), job.silos)
        first_s.extend(np.where(is_away, inf, block.round_start_s[: block.rounds]).min(axis=1).tolist())
        # A message of a round of these blocks may have been sent so many rounds before.
        is_before_end = len(first_s) == job.longest_lag and first_s[0] >= end_s
        return is_before_end

    simulate_blocks(job, take, title=title, block_messages=block_messages(job), engine=engine)
    first = kept[0].first_round
    round_start_s = np.concatenate([block.round_start_s for block in kept])
    messages = all_messages(kept)
    window = RoundWindow.cut(
        rounds,
        kept[-1].first_round + kept[-1].rounds,
        lambda begin, stop: round_start_s[begin - first : stop - first],
        lambda begin, stop: messages.part(begin - first, stop - first),
        job.absences,
        earliest=first,
        longest_lag=job.longest_lag,
    )
    return window, is_before_end


def _last_arrival_s(block: Block) -> float:
    """When the last message of a block arrives; minus infinity where it has none."""
    return float(np.fmax.reduce(block.messages.arrival_s, axis=None, initial=-inf))
