"""One simulation, block by block: progress, file, and what came out."""

import time
from dataclasses import dataclass

import numpy as np

from scenarios.config.compute_times import compute_times
from scenarios.config.error_context import changed_errors
from scenarios.config.quantities import format_s, parse_share
from scenarios.config.simulation import SimulationConfig
from scenarios.runfile.simulated_rounds import SimulationWriter
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import polite_interrupts
from scenarios.simulation.round_starts import RoundStarts
from simulator import Block, Job, SteadyState, overlay_job
from simulator.statistics.confidence import Estimate, StopRule
from simulator.stream import make_engine
from simulator.world import checks
from simulator.world.counted_silos import Starts
from topologies import Connectivity, InputError, Overlay, RandomOverlay, Schedule
from topologies.arrays import FloatArray
from topologies.statistics import ConfidenceInterval

_MOST_DATES = 2**31
"""Round starts and arrivals that a file may hold: 16 GiB."""
_BLOCK_MESSAGES, _CHANGING_BLOCK_MESSAGES = 10_000, 500
"""Messages of a block, on a network that stays as it is and on one that changes: even where many share links, most
blocks take less than half a second, so that Ctrl-C loses little and the progress bar moves."""
_BLOCK_ROUNDS = 256


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Outcome:
    """What a simulation came to.

    Attributes
    ----------
    kind : str
        The overlay.
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
        What cycle times are taken from, of the rounds that start before a silo has ended the job.
    link_bits : ndarray of shape (links,)
        Bits that crossed each link direction.
    now_s : float
        Simulated time.
    messages : int
    wall_s : float
        How long the simulation took.
    counts_disturbed : bool
        Whether the cycle time is an estimate with max-min fair rates that rounds are part of which start after a silo
        has ended the job.
    """

    kind: str
    rounds: int
    steady: SteadyState
    estimate: Estimate | None
    last_start_s: FloatArray
    starts: Starts
    link_bits: FloatArray
    now_s: float
    messages: int
    wall_s: float
    counts_disturbed: bool = False

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
    """Accept the events of a simulation before there is an overlay.

    Parameters
    ----------
    config : SimulationConfig
    graph : Connectivity
    rounds : int
        Instead of the configuration's.

    Raises
    ------
    InputError
        If an event does not fit the network, the rounds or another event: it is named as in a scenario's file.
    """
    with changed_errors(lambda error: error.renamed(config.written)):
        checks.check_events(config.simulator_events(seed=0), graph, rounds=rounds)


def job_of(
    overlay: Overlay | RandomOverlay | Schedule, config: SimulationConfig, *, rounds: int, seed: int
) -> Job:
    """The job that a configuration describes.

    Parameters
    ----------
    overlay : Overlay, RandomOverlay or Schedule
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
        If something cannot be simulated, or the file would be too large.
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
            seed=None if isinstance(overlay, Overlay | Schedule) else seed,
            events=config.simulator_events(seed=seed),
        )
    _check_dates(design.kind, rounds, job.silos, len(job.arcs) * (4 if config.messages else 1))
    return job


def _check_dates(kind: str, rounds: int, silos: int, per_round: int = 0) -> None:
    """Accept rounds whose dates, of silos and of messages, fit into a file."""
    most = _MOST_DATES // (silos + per_round)
    if rounds > most:
        messages = f" and {per_round} dates of messages" if per_round else ""
        raise InputError(f"rounds(={rounds}) must be <= {most} for {kind}'s {silos} silos{messages} a round.")


def run_job(
    job: Job,
    kind: str,
    *,
    title: str = "",
    until_ci: str | None = None,
    least_rounds: int = 0,
    writer: SimulationWriter | None = None,
) -> Outcome:
    """Simulate a job and show how far it is.

    Parameters
    ----------
    job : Job
    kind : str
        Name of the overlay.
    title : str
        In front of it, in the progress bar.
    until_ci : str, optional
        See `SimulationConfig`; a cycle time that is known exactly is narrow enough.
    least_rounds : int
        Rounds that are simulated even so.
    writer : SimulationWriter, optional
        Takes the blocks.

    Returns
    -------
    Outcome

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, within a second; all rounds that were complete have been written.

    Notes
    -----
    Memory: some blocks, a head of the round starts, and two numbers for each round.

    Where `until_ci` ends a simulation shortly before the job's last round, silos that are ahead may have ended the job
    already; which of the counted rounds start later is then not known, and they count.
    """
    messages = _BLOCK_MESSAGES if job.changes is None else _CHANGING_BLOCK_MESSAGES
    block_rounds = min(_BLOCK_ROUNDS, max(1, messages // max(1, len(job.arcs))))
    engine = make_engine(job, block_rounds=block_rounds)
    rule = (
        None
        if until_ci is None
        else StopRule(parse_share("until_ci", until_ci), silos=job.silos, least=least_rounds)
    )
    starts = RoundStarts(job)
    last: Block | None = None
    began_s, messages = time.perf_counter(), 0
    with bar(f"{title}{kind}", job.rounds) as advance, polite_interrupts() as interrupted:
        try:
            while (block := engine.advance()) is not None:
                last = block
                starts.add(block)
                if writer is not None:
                    writer.add(block)
                messages += int(np.count_nonzero(~np.isnan(block.messages.arrival_s)))
                done, elapsed_s = block.first_round + block.rounds, time.perf_counter() - began_s
                advance(done, _note(block.now_s, done / elapsed_s, messages / elapsed_s))
                if interrupted():
                    raise KeyboardInterrupt
                narrow = rule is not None and (engine.steady is not None or rule.is_met(starts.so_far))
                if narrow and done > least_rounds:
                    break
        finally:
            if writer is not None:
                writer.flush()
    if last is None:
        raise InputError(f"rounds(={job.rounds}) must be >= 1.")
    steady, estimate = starts.settle(engine.steady)
    outcome = Outcome(
        kind=kind,
        rounds=last.first_round + last.rounds,
        steady=steady,
        estimate=estimate,
        last_start_s=starts.last_s,
        starts=starts.kept,
        link_bits=last.link_bits,
        now_s=last.now_s,
        messages=messages,
        wall_s=time.perf_counter() - began_s,
        counts_disturbed=starts.counts_disturbed and not steady.is_exact and job.sharing == "maxmin",
    )
    if writer is not None:
        writer.finish(steady, outcome.half_width_s)
    return outcome


def _note(now_s: float, rounds_per_s: float, messages_per_s: float) -> str:
    """Simulated time and speed, in few columns."""
    return f"at {format_s(now_s)}, {_short(rounds_per_s)} rounds/s, {_short(messages_per_s)} msg/s"


def _short(rate: float) -> str:
    """Three digits, with k or M for thousands and millions."""
    rounded = float(f"{rate:.3g}")
    factor, prefix = next(((f, p) for f, p in ((1e6, "M"), (1e3, "k")) if rounded >= f), (1.0, ""))
    return f"{rounded / factor:.3g}{prefix}"
