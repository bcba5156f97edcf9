"""The whole path of a scenario: design, simulate, train, join."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from scenarios.config import Scenario
from scenarios.network import build_network, build_workload
from scenarios.outputs import check_new
from scenarios.progress import bar
from scenarios.store import HistoryWriter, allocate, new_file, write_head, write_overlay, write_timeline
from scenarios.studies.simulation import check_size, simulate_with_progress
from topologies import Connectivity, InputError, Overlay, Workload, design
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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Plan:
    """A scenario with everything built that can be wrong before anything is written.

    Attributes
    ----------
    scenario : Scenario
    graph : Connectivity
    work : Workload
    overlays : tuple of Overlay
    rounds : int
        Rounds to simulate.
    """

    scenario: Scenario
    graph: Connectivity
    work: Workload
    overlays: tuple[Overlay, ...]
    rounds: int


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
    overlays = tuple(design(kind, graph, work) for kind in scenario.overlays.kinds)
    trained_rounds = scenario.training.rounds if scenario.training else 0
    rounds = max(scenario.simulation.rounds, trained_rounds)
    for overlay in overlays:
        check_size(overlay, rounds)
    if scenario.training is not None:
        load_backend(scenario.training.backend).check(scenario.training)
    return Plan(scenario=scenario, graph=graph, work=work, overlays=overlays, rounds=rounds)


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
        for overlay in plan.overlays:
            for _ in _training_rows(plan, overlay):
                pass
        return
    with new_file(path, force=force) as file:
        write_head(
            file,
            scenario=text,
            network=json.dumps(asdict(scenario.network)),
            seed=scenario.seed,
            graph=plan.graph,
            work=plan.work,
        )
        settings = scenario.simulation
        for overlay in plan.overlays:
            write_overlay(file, overlay)
            allocate(
                file,
                overlay,
                rounds=plan.rounds,
                rows=logged_rows(scenario.training),
                sharing=settings.sharing,
                queueing=settings.queueing,
            )
        if scenario.training is not None:
            call_others()
        for overlay in plan.overlays:
            timeline = simulate_with_progress(overlay, settings, rounds=plan.rounds)
            write_timeline(file, overlay.kind, timeline)
            if scenario.training is None:
                continue
            history = HistoryWriter(file, overlay.kind, timeline.round_start_s)
            try:
                with bar(f"train {overlay.kind}", scenario.training.rounds) as advance:
                    for row in _training_rows(plan, overlay):
                        history.add(row)
                        advance(row.round, f"test accuracy {row.test_accuracy:.3f}")
            finally:
                history.flush()


def _training_rows(plan: Plan, overlay: Overlay) -> Iterator[HistoryRow]:
    """History rows of one overlay's training, while it runs; none where nothing is trained."""
    training = plan.scenario.training
    if training is None:
        return iter(())
    job = TrainingJob(
        config=training,
        silos=plan.graph.silos,
        local_steps=plan.work.local_steps,
        seed=plan.scenario.seed,
        mixing=MixingPlan.constant(overlay.consensus, training.rounds),
    )
    return load_backend(training.backend).train(job)
