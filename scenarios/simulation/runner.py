"""One simulation: the job that a configuration describes, run into a file, and its outcome."""

from dataclasses import dataclass

from scenarios.config.compute_times import compute_times
from scenarios.config.error_context import changed_errors
from scenarios.config.overlays import AnyOverlay
from scenarios.config.simulation import SimulationConfig
from scenarios.runfile.simulated_rounds import SimulationWriter
from scenarios.simulation.blocks import Progress, simulate_blocks
from scenarios.simulation.round_starts import RoundStarts
from simulator import Job, SteadyState, overlay_job
from simulator.computing_rounds import computing_before
from simulator.engines import choose_engine
from simulator.statistics.confidence import Estimate, StopRule
from simulator.world import checks
from simulator.world.counted_silos import Starts
from topologies import Connectivity, InputError, Overlay, PeriodicOverlay, Schedule, Workload
from topologies.arrays import FloatArray
from topologies.quantities import parse_share
from topologies.statistics import ConfidenceInterval

_MOST_DATES = 2**31
"""Round starts and arrivals that a file may hold: 16 GiB."""
_BLOCK_MESSAGES, _CHANGING_BLOCK_MESSAGES = 10_000, 500
"""Messages of a block, on a network that does not change and on one that does: even where many share links, most
blocks take less than half a second, so that Ctrl-C loses little and the progress bar moves."""
_LOOK_ROUNDS = 16
"""Rounds of a block where a proof of the cycle time ends the simulation: most jobs repeat within a few dozen."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Outcome:
    """Outcome of a simulation.

    Attributes
    ----------
    kind : str
        The overlay.
    engine : {"simpy", "compiled"}
    rounds : int
        Simulated rounds.
    steady : SteadyState
        Its cycle time is the mean of `interval` where there is one.
    estimate : Estimate or None
        The cycle time with its interval and rounds; None where it is exact.
    last_start_s : ndarray of shape (n,)
        When the last silo starts each round; `n` is ``rounds + 1``, or `rounds` where the simulation was stopped before
        the end of the job.
    starts : Starts
        Round starts that cycle times are taken from: of the rounds that start before a silo has ended the job.
    link_bits : ndarray of shape (links,)
        Bits that crossed each link direction.
    now_s : float
        Simulated time.
    messages : int
    wall_s : float
        How long the simulation took.
    counts_disturbed : bool
        Whether the cycle time is an estimate, with max-min fair rates, over rounds of which some start after a silo has
        ended the job.
    """

    kind: str
    engine: str
    rounds: int
    steady: SteadyState
    estimate: Estimate | None
    last_start_s: FloatArray
    starts: Starts
    link_bits: FloatArray
    now_s: float
    messages: int
    wall_s: float
    counts_disturbed: bool

    @property
    def interval(self) -> ConfidenceInterval | None:
        """Of the cycle time; None where that is exact, or where there are too few rounds."""
        return None if self.estimate is None else self.estimate.interval

    @property
    def half_width_s(self) -> float | None:
        """Half width of the interval; 0 where the cycle time is exact, None where it is unknown."""
        if self.steady.is_exact:
            return 0.0
        return None if self.interval is None else self.interval.half_width


def check_events(config: SimulationConfig, graph: Connectivity, *, rounds: int) -> None:
    """Check the events around a job, before any overlay is designed.

    Parameters
    ----------
    config : SimulationConfig
    graph : Connectivity
    rounds : int
        Instead of the configuration's.

    Raises
    ------
    InputError
        If an event does not fit the network, the rounds or another event; it is named as in the scenario's file.
    """
    with changed_errors(lambda error: error.renamed(config.written)):
        checks.check_events(config.simulator_events(seed=0), graph, rounds=rounds)


def check_simulation(
    config: SimulationConfig, graph: Connectivity, work: Workload, *, seed: int, rounds: int
) -> None:
    """Check computing times and events, before any overlay is designed; see `check_events`.

    Raises
    ------
    InputError
        Also if computing times do not fit the silos or the rounds.
    """
    compute_times(config.compute, graph, work, seed=seed, rounds=rounds)
    check_events(config, graph, rounds=rounds)


def job_of(overlay: AnyOverlay | Schedule, config: SimulationConfig, *, rounds: int, seed: int) -> Job:
    """The job that a configuration describes.

    Parameters
    ----------
    overlay : Overlay, PeriodicOverlay, RandomOverlay or Schedule
    config : SimulationConfig
    rounds : int
        Instead of the configuration's.
    seed : int
        Of everything random.

    Returns
    -------
    Job

    Raises
    ------
    InputError
        If something cannot be simulated, by the configuration's engine in particular, or the file would be too large.
    """
    design = overlay.overlay if isinstance(overlay, Schedule) else overlay
    _check_dates(design.kind, rounds, design.graph.silos)  # before a schedule of so many rounds is drawn
    with changed_errors(lambda error: error.renamed(config.written)):
        job = overlay_job(
            overlay,
            rounds,
            sharing=config.sharing,
            queueing=config.queueing,
            compute=compute_times(config.compute, design.graph, design.work, seed=seed, rounds=rounds),
            seed=None if isinstance(overlay, Overlay | PeriodicOverlay | Schedule) else seed,
            events=config.simulator_events(seed=seed),
        )
    choose_engine(job, config.engine)
    _check_dates(design.kind, rounds, job.silos, len(job.arcs) * (4 if config.messages else 1))
    return job


def _check_dates(kind: str, rounds: int, silos: int, per_round: int = 0) -> None:
    """Raise InputError if the dates of silos and messages would not fit into a file."""
    most = _MOST_DATES // (silos + per_round)
    if rounds > most:
        messages = f" and {per_round} dates of messages" if per_round else ""
        raise InputError(f"rounds(={rounds}) must be <= {most} for {kind}'s {silos} silos{messages} a round.")


def block_messages(job: Job) -> int:
    """Messages of a block of a job."""
    return _BLOCK_MESSAGES if job.changes is None else _CHANGING_BLOCK_MESSAGES


def run_job(
    job: Job,
    kind: str,
    *,
    title: str | None = "",
    until_ci: str | None = None,
    least_rounds: int = 0,
    engine: str = "auto",
    writer: SimulationWriter | None = None,
    cycle_time_only: bool = False,
) -> Outcome:
    """Simulate a job.

    Parameters
    ----------
    job : Job
    kind : str
        Name of the overlay.
    title : str or None
        In front of it, in the progress bar; None for no bar, as of many jobs each would hide the others'.
    until_ci : str, optional
        See `SimulationConfig`; a cycle time that is known exactly is narrow enough.
    least_rounds : int
        Rounds that are simulated in any case.
    engine : str
        See `simulator.engines.choose_engine`.
    writer : SimulationWriter, optional
        Takes the blocks.
    cycle_time_only : bool
        Whether no more than the cycle time, its precision and the number of rounds is looked at. SimPy then ends with
        the block that proves the cycle time, which further rounds would not change: all else in the outcome is of the
        rounds so far. The compiled engine copies rounds that repeat.

    Returns
    -------
    Outcome

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, within a second; all rounds that were complete have been written.

    Notes
    -----
    Memory: some blocks, the first round starts, and two numbers for each round.

    Where `until_ci` ends a simulation shortly before the job's last round, silos that are ahead may have ended the job
    already; rounds that start after that are then not known as such, and count.
    """
    rule = (
        None
        if until_ci is None
        else StopRule(
            parse_share("until_ci", until_ci),
            silos=job.silos,
            least=computing_before(job.computes, least_rounds),
        )
    )
    starts = RoundStarts(job)
    ends_early = cycle_time_only and rule is None and writer is None and choose_engine(job, engine) == "simpy"
    most_messages = block_messages(job)
    if ends_early:
        most_messages = min(most_messages, _LOOK_ROUNDS * len(job.arcs))

    def take(progress: Progress) -> bool:
        starts.add(progress.block)
        if writer is not None:
            writer.add(progress.block)
        if ends_early:
            return progress.steady is not None
        is_narrow = rule is not None and (progress.steady is not None or rule.is_met(starts.so_far))
        return is_narrow and progress.rounds > least_rounds

    try:
        end = simulate_blocks(
            job,
            take,
            title=None if title is None else f"{title}{kind}",
            block_messages=most_messages,
            engine=engine,
        )
    finally:
        if writer is not None:
            writer.flush()
    steady, estimate = starts.steady_state(end.steady)
    outcome = Outcome(
        kind=kind,
        engine=end.engine,
        rounds=job.rounds if ends_early else end.rounds,
        steady=steady,
        estimate=estimate,
        last_start_s=starts.last_s,
        starts=starts.counted,
        link_bits=end.block.link_bits,
        now_s=end.block.now_s,
        messages=end.messages,
        wall_s=end.wall_s,
        counts_disturbed=starts.counts_disturbed and not steady.is_exact and not job.sharing.constant_rates,
    )
    if writer is not None:
        writer.finish(steady, outcome.half_width_s)
    return outcome
