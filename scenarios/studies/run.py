"""The whole path of a scenario: design, simulate, train, join."""

from dataclasses import dataclass
from pathlib import Path

from scenarios.config import Scenario
from scenarios.network import build_network, build_workload
from scenarios.progress import bar
from scenarios.store import HistoryWriter, new_file, write_head, write_overlay, write_timeline
from scenarios.studies.simulation import simulate_with_progress
from topologies import Connectivity, Overlay, Workload, design
from training import MixingPlan, TrainingConfig, TrainingJob, load_backend, parameter_count, world

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
    """
    graph = build_network(scenario.network)
    work = build_workload(scenario.workload, scenario.network.variant, trained_bits(scenario.training))
    overlays = tuple(design(kind, graph, work) for kind in scenario.overlays.kinds)
    trained_rounds = scenario.training.rounds if scenario.training else 0
    return Plan(
        scenario=scenario,
        graph=graph,
        work=work,
        overlays=overlays,
        rounds=max(scenario.simulation.rounds, trained_rounds),
    )


def trained_bits(training: TrainingConfig | None) -> float | None:
    """Size of the trained model on the wire: 32 bits for each parameter."""
    return None if training is None else float(BITS_PER_PARAMETER * parameter_count(training))


def run_scenario(scenario: Scenario, text: str, path: Path, *, force: bool = False) -> None:
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
    plan = plan_run(scenario)
    place = world()
    if place is not None and place.rank > 0:
        for overlay in plan.overlays:
            for _ in _training_rows(plan, overlay):
                pass
        return
    with new_file(path, force=force) as file:
        write_head(
            file, scenario=text, network_changes="{}", seed=scenario.seed, graph=plan.graph, work=plan.work
        )
        for overlay in plan.overlays:
            write_overlay(file, overlay)
        for overlay in plan.overlays:
            settings = scenario.simulation
            timeline = simulate_with_progress(overlay, settings, rounds=plan.rounds)
            write_timeline(file, overlay.kind, timeline, sharing=settings.sharing, queueing=settings.queueing)
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


def _training_rows(plan: Plan, overlay: Overlay):  # type: ignore[no-untyped-def]
    """History rows of one overlay's training, while it runs."""
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
