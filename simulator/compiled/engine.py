"""The compiled engine: jobs that it can simulate, and their blocks of rounds."""

from simulator.block import Block
from simulator.job import Job
from simulator.statistics.steady_state import SteadyState


def unsupported(job: Job) -> str:
    """Why the compiled engine cannot simulate a job; empty if it can."""
    if job.changes is not None and not job.positive_capacities:
        return "it simulates no network that changes"
    if job.changes is not None and job.sharing.weights is not None:
        return "it simulates no network that changes with weights of its arcs"
    if job.sharing.compiled is None:
        return f"it does not know sharing {job.sharing.name!r}"
    return ""


class CompiledEngine:
    """Simulates a job some rounds at a time, in code compiled by numba.

    Parameters
    ----------
    job : Job
        One that is not `unsupported`.
    block_rounds : int
        Rounds per block, >= 1.
    fast_forward : bool
        Whether rounds that are known to repeat are copied instead of simulated, with max-min fair rates.

    Notes
    -----
    The same events as those of the SimPy engine, with dates that agree to a relative 1e-9, since messages
    of one instant come in another order. Memory holds the rounds of some blocks, and more only if
    silos drift farther apart than that.

    The first engine of an installation compiles for some seconds; what it compiled is kept.
    """

    name = "compiled"

    def __init__(self, job: Job, block_rounds: int, *, fast_forward: bool = True) -> None:
        # Here since numba takes long to import.
        from simulator.compiled.max_min_run import MaxMinRun
        from simulator.compiled.recurrence import RecurrenceRun
        from simulator.compiled.rows import blocks

        self._run = (
            RecurrenceRun(job, block_rounds)
            if job.sharing.compiled == "equal"
            else MaxMinRun(job, min(2 * block_rounds, _all_rounds(job)), fast_forward=fast_forward)
        )
        self._blocks = blocks(job, self._run.pieces(), block_rounds)

    def advance(self) -> Block | None:
        """The next block of rounds that all silos have ended; None after the last one."""
        return next(self._blocks, None)

    @property
    def steady(self) -> SteadyState | None:
        """How the job goes on, once it is known to repeat."""
        return self._run.steady


def _all_rounds(job: Job) -> int:
    """Rows of a window in which every round of a job has room, whatever lags reach beyond its end."""
    return job.rounds + job.longest_lag + 1
