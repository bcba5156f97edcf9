"""The whole path of a scenario: design, simulate, train, join."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scenarios.config import Scenario
from scenarios.designed import design_any, forms_of
from scenarios.history import HistoryWriter, allocate_history
from scenarios.interrupts import check_interrupts
from scenarios.network import build_network, build_workload
from scenarios.new_file import new_file
from scenarios.outputs import check_new
from scenarios.places import silo_places
from scenarios.progress import bar
from scenarios.simulated import SimulationWriter, allocate, file_bytes
from scenarios.store import write_head, write_overlay
from scenarios.studies.simulation import job_of, run_job
from simulator import Job
from topologies import Connectivity, InputError, Overlay, RandomOverlay, Workload, make_schedule
from topologies.arrays import FloatArray
from training import (
    HistoryRow,
    MixingPlan,
    TrainingConfig,
    TrainingJob,
    load_backend,
    parameter_count,
    world,
)

BITS_PER_PARAMETER = 32
_MOST_ENTRIES = 2**27
"""Of all consensus matrices of a training: 1 GiB."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Plan:
    """A scenario with everything built that can be wrong before anything is written.

    Attributes
    ----------
    scenario : Scenario
    graph : Connectivity
    work : Workload
    overlays : tuple of Overlay or RandomOverlay
    jobs : tuple of Job
        Their simulations.
    mixing : tuple of MixingPlan
        Their trainings; none where nothing is trained.
    silo_places : ndarray, shape (silos, 2), optional
        Where the silos are for the training's partition, if it asks.
    """

    scenario: Scenario
    graph: Connectivity
    work: Workload
    overlays: tuple[Overlay | RandomOverlay, ...]
    jobs: tuple[Job, ...]
    mixing: tuple[MixingPlan, ...]
    silo_places: FloatArray | None = None


def plan_run(scenario: Scenario) -> Plan:
    """Build network, workload and overlays of a scenario.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If anything in the scenario cannot be built.
    MachineError
        If the machine lacks what the training needs.
    """
    graph = build_network(scenario.network)
    work = build_workload(scenario.workload, scenario.network.variant, trained_bits(scenario.training))
    overlays = tuple(design_any(kind, graph, work) for kind in scenario.overlays.kinds)
    training, seed = scenario.training, scenario.seed
    rounds = max(scenario.simulation.rounds, 0 if training is None else training.rounds)
    jobs = tuple(job_of(overlay, scenario.simulation, rounds=rounds, seed=seed) for overlay in overlays)
    mixing: tuple[MixingPlan, ...] = ()
    places = None if training is None else silo_places(graph, training)
    if training is not None:
        load_backend(training.backend).check(training)
        mixing = tuple(mixing_plan(overlay, training.rounds, seed) for overlay in overlays)
    return Plan(
        scenario=scenario,
        graph=graph,
        work=work,
        overlays=overlays,
        jobs=jobs,
        mixing=mixing,
        silo_places=places,
    )


def mixing_plan(overlay: Overlay | RandomOverlay, rounds: int, seed: int) -> MixingPlan:
    """Consensus matrices of a training's rounds; those of a random overlay follow the schedule that is simulated.

    Raises
    ------
    InputError
        If the drawn matrices do not fit into memory.
    """
    if isinstance(overlay, Overlay):
        return MixingPlan.constant(overlay.consensus, rounds)
    schedule = make_schedule(overlay, seed, rounds)
    silos, drawn = overlay.graph.silos, len(schedule.choices)
    if drawn * silos**2 > _MOST_ENTRIES:
        raise InputError(
            f"rounds(={rounds}) of {overlay.kind} draw {drawn} different matrices of {silos} silos; they must have "
            f"<= {_MOST_ENTRIES} entries in all."
        )
    return MixingPlan(
        matrices=np.stack([overlay.consensus(*overlay.arcs(choice)) for choice in schedule.choices]),
        index=schedule.index,
    )


def trained_bits(training: TrainingConfig | None) -> float | None:
    """Size of the trained model on the wire: 32 bits for each parameter."""
    return None if training is None else float(BITS_PER_PARAMETER * parameter_count(training))


def logged_rows(training: TrainingConfig | None) -> int:
    """Rows that a training reports: round 0, every `log_every` rounds, and the last."""
    return 0 if training is None else -(-training.rounds // training.log_every) + 1


def _nobody() -> None:
    """Call no other process."""


def run_scenario(
    scenario: Scenario,
    text: str,
    path: Path,
    *,
    force: bool = False,
    source: str | None = None,
    call_others: Callable[[], None] = _nobody,
) -> None:
    """Design, simulate and train every overlay, and write the file of the run.

    Parameters
    ----------
    scenario : Scenario
    text : str
        Its TOML text, kept in the file.
    path : Path
        The HDF5 file.
    force : bool
        Whether an existing file is replaced.
    source : str, optional
        The scenario's file, for error messages.
    call_others : callable
        Called once before the first training, when nothing can be wrong any more; see `scenarios.processes`.

    Raises
    ------
    InputError
        If the scenario cannot be built or the file cannot be written.
    MachineError
        If the machine cannot start the ranks.
    TrainingError
        If a rank fails; the finished rounds stay in ``<path>.partial``.

    Notes
    -----
    Under ``mpiexec`` or ``srun`` every process calls this; only rank 0 simulates and writes.
    """
    place = world()
    if place is None or place.rank == 0:
        check_new(path, force=force)
    try:
        plan = plan_run(scenario)
    except InputError as error:
        raise InputError(str(error), source=source) from None
    if place is not None and place.rank > 0:
        for mixing in plan.mixing:
            for _ in _training_rows(plan, mixing):
                pass
        return
    settings, training = scenario.simulation, scenario.training
    rows = logged_rows(training)
    size_bytes = file_bytes(plan.jobs, messages=settings.messages, rows=rows)
    with new_file(path, size_bytes=size_bytes, force=force) as file:
        write_head(
            file,
            scenario=text,
            network=scenario.network,
            seed=scenario.seed,
            graph=plan.graph,
            work=plan.work,
        )
        for overlay, job in zip(plan.overlays, plan.jobs, strict=True):
            write_overlay(file, overlay, job, forms_of(overlay, scenario.seed))
            allocate(file, overlay.kind, job, messages=settings.messages)
            if training is not None:
                allocate_history(file, overlay.kind, rows=rows, silos=plan.graph.silos)
        if training is not None:
            call_others()
        for number, (overlay, job) in enumerate(zip(plan.overlays, plan.jobs, strict=True)):
            outcome = run_job(
                job,
                overlay.kind,
                until_ci=settings.until_ci,
                least_rounds=0 if training is None else training.rounds,
                writer=SimulationWriter(file, overlay.kind),
            )
            if training is None:
                continue
            history = HistoryWriter(file, overlay.kind, outcome.last_start_s)
            try:
                with bar(f"train {overlay.kind}", training.rounds) as advance:
                    for row in _training_rows(plan, plan.mixing[number]):
                        history.add(row)
                        advance(row.round, f"test accuracy {row.test_accuracy:.3f}")
                        check_interrupts()
            finally:
                history.flush()


def _training_rows(plan: Plan, mixing: MixingPlan) -> Iterator[HistoryRow]:
    """History rows of one overlay's training, while it runs; none where nothing is trained."""
    training = plan.scenario.training
    if training is None:
        return iter(())
    job = TrainingJob(
        config=training,
        silos=plan.graph.silos,
        local_steps=plan.work.local_steps,
        seed=plan.scenario.seed,
        mixing=mixing,
        silo_places=plan.silo_places,
    )
    return load_backend(training.backend).train(job)
