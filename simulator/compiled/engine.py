"""The compiled engine: jobs that it can run, and their blocks of rounds."""

from simulator.block import Block
from simulator.job import Job
from simulator.statistics.steady_state import SteadyState


def supports(job: Job) -> bool:
    """Whether the compiled engine can run a job: a network that stays as it is."""
    return job.changes is None


class CompiledEngine:
    """A job under way, some rounds at a time.

    Parameters
    ----------
    job : Job
        One that it `supports`.
    block_rounds : int
        Rounds per block, >= 1.
    fast_forward : bool
        Whether rounds that are known to repeat are copied instead of simulated, with ``sharing="maxmin"``.

    Notes
    -----
    The same events as those of the SimPy engine, with dates that agree to a relative 1e-9, since messages
    of one instant come in another order. Memory holds the rounds of some blocks, and more only if
    silos drift farther apart than that.

    The first engine of an installation compiles for some seconds; what it compiled is kept.
    """

    def __init__(self, job: Job, block_rounds: int = 256, *, fast_forward: bool = True) -> None:
        # Here since numba takes long to import.
        from simulator.compiled.maxmin import MaxMin
        from simulator.compiled.recurrence import Equal
        from simulator.compiled.rows import blocks

        self._run = (
            Equal(job, block_rounds)
            if job.sharing == "equal"
            else MaxMin(job, 2 * block_rounds, fast_forward=fast_forward)
        )
        self._blocks = blocks(job, self._run.pieces(), block_rounds)

    def advance(self) -> Block | None:
        """The next block of rounds that all silos have ended; None after the last one."""
        return next(self._blocks, None)

    @property
    def steady(self) -> SteadyState | None:
        """How the job goes on for ever, once that is known."""
        return self._run.steady
