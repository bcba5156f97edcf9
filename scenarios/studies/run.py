"""The whole path of a scenario: design, simulate, train, join."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from scenarios.config.compute_times import compute_times
from scenarios.config.error_context import in_stated_table, in_table, located
from scenarios.config.label_shares import partition_labels
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overlays import AnyOverlay, check_hubs, design_any
from scenarios.config.scenario import Scenario, task_line, workload_of
from scenarios.config.silo_places import silo_places
from scenarios.config.simulation import SimulationConfig
from scenarios.runfile.artifacts import (
    check_artifacts,
    check_resume,
    drop_checkpoints,
    publish_models,
)
from scenarios.runfile.checkpoint_folders import checkpoints_path
from scenarios.runfile.paths import check_new_run
from scenarios.runfile.writer import RunFile, RunHead
from scenarios.runtime.launcher import is_first
from scenarios.runtime.progress import heartbeat
from scenarios.simulation.runner import check_events, job_of, run_job
from scenarios.studies.train import check_checkpoints, logged_rows, notice_printer, take_part, train_overlay
from scenarios.trackers.following import followed
from scenarios.trackers.tensorboard import check_event_files, drop_event_files
from scenarios.trackers.tracker import MakeTracker, TrackedTraining
from scenarios.trackers.tracker_lookup import load_trackers
from simulator import Job
from topologies import (
    Connectivity,
    InputError,
    Overlay,
    PeriodicOverlay,
    Workload,
    make_schedule,
)
from topologies.arrays import BoolArray, FloatArray
from topologies.errors import Field
from topologies.schedule import round_consensus
from topologies.state import different_states
from training import (
    BUILT_IN_BACKEND,
    CheckedData,
    MixingPlan,
    Notice,
    TrainingConfig,
    TrainingJob,
    check_data,
    check_memory,
    check_mixing,
    load_backend,
    world,
)

LONG_ROUNDS = 1000
"""A training of so many rounds is told that it keeps no checkpoints."""
_MOST_ENTRIES = 2**27
"""Of all consensus matrices of a training: 1 GiB."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Plan:
    """A scenario with everything built that can fail before anything is written.

    Attributes
    ----------
    scenario : Scenario
    graph : Connectivity
    work : Workload
    overlays : tuple of Overlay, PeriodicOverlay or RandomOverlay
    jobs : tuple of Job
        Their simulations.
    trainings : tuple of TrainingJob
        None where nothing is trained.
    silo_places : ndarray, shape (silos, 2), optional
        Coordinates of the silos, if the training's partition needs them.
    """

    scenario: Scenario
    graph: Connectivity
    work: Workload
    overlays: tuple[AnyOverlay, ...]
    jobs: tuple[Job, ...]
    trainings: tuple[TrainingJob, ...]
    silo_places: FloatArray | None = None


def plan_run(scenario: Scenario, folder: Path | None = None) -> Plan:
    """Build network, workload and overlays of a scenario.

    Parameters
    ----------
    scenario : Scenario
    folder : Path, optional
        Folder of the trainings' checkpoints and models.

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
    check_hubs(scenario)
    with (
        in_table("network", NetworkConfig),
        heartbeat("network: routes of all pairs" if is_first() else None),
    ):
        graph = build_network(scenario.network)
    work = workload_of(scenario, graph)
    training, simulation, seed = scenario.training, scenario.simulation, scenario.seed
    rounds = max(simulation.rounds, 0 if training is None else training.rounds)
    # Quick checks first: a design may take minutes.
    with located("simulation.compute.trace"):
        compute_times(simulation.compute, graph, work, seed=seed, rounds=rounds)
    check_events(simulation, graph, rounds=rounds)
    places = None if training is None else silo_places(graph, training)
    checked: CheckedData | None = None
    if training is not None:
        with in_table("training", TrainingConfig):
            load_backend(training.backend, training.backend_options).check(training)
        # It reads all data; other processes start only after process 0 has checked them.
        if is_first():
            with in_stated_table("training", TrainingConfig):
                checked = check_data(
                    training, silos=graph.silos, seed=seed, silo_places=places, silo_labels=graph.labels
                )
    overlays: list[AnyOverlay] = []
    jobs: list[Job] = []
    trainings: list[TrainingJob] = []
    shares = partition_labels(graph, training, seed)
    for config in scenario.overlays.overlays:
        with heartbeat(f"{config.name}: design for {graph.silos:,} silos" if is_first() else None):
            overlay = design_any(
                config, graph, work, seed=seed, consensus=scenario.overlays.consensus, label_shares=shares
            )
        overlays.append(overlay)
        with in_table("simulation", SimulationConfig):
            jobs.append(job_of(overlay, simulation, rounds=rounds, seed=seed))
        if training is not None:
            with located(f"overlay {overlay.kind}"), in_table("training", TrainingConfig):
                job = TrainingJob(
                    config=training,
                    silos=graph.silos,
                    local_steps=work.local_steps,
                    seed=seed,
                    mixing=mixing_plan(overlay, training.rounds, seed),
                    silo_places=places,
                    silo_labels=graph.labels,
                    taking_part=_taking_part(work, training.rounds, graph.silos, seed),
                    directory=None if folder is None else folder / overlay.kind,
                )
                check_mixing(job)
            trainings.append(job)
    if checked is not None:
        check_memory(trainings, checked)
    return Plan(
        scenario=scenario,
        graph=graph,
        work=work,
        overlays=tuple(overlays),
        jobs=tuple(jobs),
        trainings=tuple(trainings),
        silo_places=places,
    )


def _taking_part(work: Workload, rounds: int, silos: int, seed: int) -> BoolArray | None:
    """Who makes local steps in which round, as in the simulation of the same seed; None where all do."""
    if work.participation is None:
        return None
    return work.participation.rows(0, rounds, silos=silos, seed=seed)


def mixing_plan(overlay: AnyOverlay, rounds: int, seed: int) -> MixingPlan:
    """Consensus matrices of a training's rounds; those of a randomized overlay follow the simulated schedule.

    Raises
    ------
    InputError
        If matrices, lags and rounds do not fit into memory.
    """
    if isinstance(overlay, Overlay):
        return MixingPlan.constant(overlay.consensus, rounds, negative_weights=overlay.negative_weights)
    if isinstance(overlay, PeriodicOverlay):
        return _periodic_plan(overlay, rounds)
    schedule = make_schedule(overlay, seed, rounds)
    silos, drawn = overlay.graph.silos, len(schedule.choices)
    if drawn * silos**2 > _MOST_ENTRIES:
        raise InputError(
            f"rounds(={rounds}) of {overlay.kind} draw {drawn} different matrices of {silos} silos; they must have "
            f"<= {_MOST_ENTRIES} entries in all."
        )
    return MixingPlan(
        matrices=np.stack([round_consensus(overlay, choice) for choice in schedule.choices]),
        index=schedule.index,
        negative_weights=overlay.negative_weights,
    )


def _periodic_plan(overlay: PeriodicOverlay, rounds: int) -> MixingPlan:
    """Consensus matrices and lags of a periodic overlay's rounds."""
    silos, longest = overlay.graph.silos, overlay.longest_lag
    planned = rounds + longest - 1
    if planned > _MOST_ENTRIES:
        raise InputError(
            f"rounds(={rounds}) and the longest lag(={longest}) of {overlay.kind} must be <= {_MOST_ENTRIES} in all."
        )
    states = len(different_states(overlay.states[:planned])[0])
    if states * silos**2 * (1 if longest == 1 else 2) > _MOST_ENTRIES:
        what = "matrices" if longest == 1 else "matrices and lags"
        raise InputError(
            f"rounds(={rounds}) of {overlay.kind} have {states} different states of {silos} silos; their {what} must "
            f"have <= {_MOST_ENTRIES} entries in all."
        )
    return MixingPlan.periodic(
        overlay.states, silos=silos, rounds=rounds, negative_weights=overlay.negative_weights
    )


def _is_long_without_checkpoints(training: TrainingConfig) -> bool:
    """Whether a training that could keep checkpoints keeps none, though an interruption would cost much."""
    is_built_in = training.backend == BUILT_IN_BACKEND
    return is_built_in and not training.checkpoint_every and training.rounds >= LONG_ROUNDS


def _nobody() -> None:
    """Call no other process."""


def run_scenario(
    scenario: Scenario,
    text: str,
    path: Path,
    *,
    force: bool,
    resume: bool,
    source: str | None = None,
    call_others: Callable[[], None] = _nobody,
    trackers: Sequence[str | MakeTracker] = (),
) -> None:
    """Design, simulate and train every overlay, and write the file of the run.

    Parameters
    ----------
    scenario : Scenario
    text : str
        Its TOML text, which is written into the file.
    path : Path
        The HDF5 file.
    force : bool
        Whether an existing file, and the checkpoints of an interrupted run, are replaced.
    resume : bool
        Whether an interrupted run continues from its checkpoints. Design, simulation and the rounds of training after
        the last checkpoint are repeated with the same results.
    source : str, optional
        The scenario's file, for error messages.
    call_others : callable
        Called once before the first training, after all checks; see `scenarios.runtime.launcher`.
    trackers : sequence of str or callable
        Which get the rows of all trainings as they come: see `scenarios.trackers.tracker_lookup.load_trackers`. The
        file does not depend on them.

    Raises
    ------
    InputError
        If the scenario cannot be built, the file cannot be written, or the checkpoints are those of another run.
    MachineError
        If the machine cannot start the ranks, or has less memory than they will take.
    TrainingError
        If a rank or a tracker fails, or a training ends without the row of its last round, whatever its exit status;
        the finished rounds stay in ``<path>.partial``, checkpoints in ``<path>.checkpoints``.

    Notes
    -----
    Under ``mpiexec`` or ``srun`` every process calls this; only rank 0 simulates and writes.
    """
    place = world()
    made: dict[str, MakeTracker] = {}
    if place is None or place.rank == 0:
        if resume:
            with located(source):
                check_resume(scenario.training)
        check_artifacts(path, scenario.training, force=force, resume=resume)
        check_new_run(path, force=force, resume=resume)
        if trackers and scenario.training is None:
            raise InputError("goes with a scenario that has [training].", field=Field("tracker"))
        made = load_trackers(trackers, folder=None if source is None else Path(source).parent)
        check_event_files(path, made, force=force, resume=resume)
    with located(source):
        plan = plan_run(scenario, checkpoints_path(path))
    if place is not None and place.rank > 0:
        take_part(plan.trainings, [overlay.kind for overlay in plan.overlays])
        return
    settings, training, show = scenario.simulation, scenario.training, notice_printer()
    if line := task_line(text):
        show(Notice(line))
    if training is not None and _is_long_without_checkpoints(training):
        show(
            Notice(
                f"training.checkpoint_every(=0): nothing continues these {training.rounds} rounds if they are cut"
            )
        )
    if resume:
        with located(source):
            check_checkpoints(path, plan.trainings, show)
    head = RunHead(
        scenario=text,
        network=scenario.network,
        seed=scenario.seed,
        graph=plan.graph,
        work=plan.work,
    )
    simulations = [*zip(plan.overlays, plan.jobs, strict=True)]
    trained = 0 if training is None else training.rounds
    rows = {} if training is None else {overlay.kind: logged_rows(training) for overlay in plan.overlays}
    with RunFile.create(
        path,
        head,
        simulations,
        settings=settings,
        rows=rows,
        trained=trained,
        force=force,
        resume=resume,
    ) as file:
        if not resume:
            drop_checkpoints(path)
            drop_event_files(path, made)
        if training is not None:
            call_others()
        for number, (overlay, job) in enumerate(simulations):
            outcome = run_job(
                job,
                overlay.kind,
                until_ci=settings.until_ci,
                least_rounds=trained,
                engine=settings.engine,
                writer=file.simulation(overlay.kind),
            )
            file.record_schedule(overlay.kind, outcome.rounds)
            if training is not None:
                history = file.training(overlay.kind, outcome.last_start_s)
                facts = TrackedTraining(
                    name=scenario.name,
                    overlay=overlay.kind,
                    seed=scenario.seed,
                    silos=plan.graph.labels,
                    config=training,
                    scenario=text,
                    path=path,
                    silo_start_s=partial(file.silo_start_s, overlay.kind),
                )
                with followed(made, facts, outcome.last_start_s, show) as follow:
                    train_overlay(
                        overlay.kind, plan.trainings[number], history, show, follow, detailed=number == 0
                    )
        publish_models(path, [overlay.kind for overlay in plan.overlays])
    drop_checkpoints(path)
