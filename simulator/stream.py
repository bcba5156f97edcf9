"""A simulation as a stream of blocks of rounds, in memory that does not grow with the rounds."""

from collections.abc import Iterator

from simulator.block import Block
from simulator.engines import make_engine
from simulator.job import Job


def stream(job: Job, *, block_rounds: int | None = None, engine: str = "auto") -> Iterator[Block]:
    """Simulate a job and hand over its rounds as they are complete.

    Parameters
    ----------
    job : Job
        Made by `make_job` or `overlay_job`.
    block_rounds : int, optional
        Rounds in a block, >= 1; the last one may be shorter. By default 256, and less with many arcs.
    engine : {"auto", "simpy", "compiled"}
        See `simulate_flows`.

    Yields
    ------
    Block
        Consecutive rounds. The consumer may stop at any time.

    Raises
    ------
    InputError
        If a value is out of its range, or the compiled engine cannot simulate the job.

    Notes
    -----
    Memory is that of a few blocks, and of the rounds that silos are ahead of each other.
    """
    running = make_engine(job, block_rounds=block_rounds, engine=engine)
    while (block := running.advance()) is not None:
        yield block
