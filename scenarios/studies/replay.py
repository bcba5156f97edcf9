"""The same training run on another network: new wall-clock times, no training."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scenarios.config.network import build_network
from scenarios.config.overlays import forms_of
from scenarios.config.scenario import Scenario, parse_scenario
from scenarios.runfile.atomic import new_file
from scenarios.runfile.paths import check_new
from scenarios.runfile.reader import OverlayRecord, RunRecord, read_run
from scenarios.runfile.simulated_rounds import SimulationWriter, allocate, file_bytes
from scenarios.runfile.training_rows import allocate_history, write_history
from scenarios.runfile.writer import write_head, write_overlay
from scenarios.simulation.runner import job_of, run_job
from scenarios.studies.redrawn import Moved, redraw
from simulator import Job
from topologies import Connectivity, InputError, Overlay, build_overlay


def replay(
    source: Path,
    path: Path,
    changes: Mapping[str, str | Mapping[str, str] | Sequence[str] | None],
    *,
    force: bool = False,
) -> tuple[str, ...]:
    """Write the file of a run as it would have gone on another network.

    Parameters
    ----------
    source : Path
        The file of a run or of a replay, complete or cut short.
    path : Path
        The new file: the same overlays and training rows, other dates.
    changes : mapping
        Fields of `NetworkConfig` that differ from the source's; None for those that stay.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    tuple of str
        One line for each overlay that cannot be replayed, such as one with an arc that the network blocks; the others
        are.

    Raises
    ------
    InputError
        If the source cannot be read, the new file cannot be written, the network cannot be built or has another
        number of silos, or no overlay can be replayed.

    Notes
    -----
    The arcs and consensus matrices are those of the run, not designed anew for the other network: the training
    rows belong to them. Arcs of randomized overlays are drawn again, from the run's seed; see `redraw`.
    Synchronous DPASGD's updates do not depend on timing, so the rows stay valid. Underlay and workload come from the
    source, whatever has become of the files that it was made from.
    """
    check_new(path, force=force)
    if source.resolve() == path.resolve():
        raise InputError(f"{path} is the run itself; the replay needs another name.")
    record = read_run(source)
    scenario = parse_scenario(record.scenario, source=f"{source} (scenario)", recorded=True)
    network = record.network.changed(**changes)
    graph = build_network(network, None if changes.get("underlay") else record.underlay)
    silos = len(record.network.silo_at or record.underlay.labels)
    if silos != graph.silos:
        raise InputError(f"{graph.underlay.name} has {graph.silos} silos, but the run has {silos}.")
    there, here = record.silo_labels, graph.labels
    if there != here and sorted(there) == sorted(here):
        raise InputError(
            f"{source} numbers the silos of {graph.underlay.name} in another order than that of their labels, as files "
            "of older versions do; run its scenario again."
        )
    settings = scenario.simulation
    trained = scenario.training.rounds if scenario.training else 0
    rounds = max(settings.rounds, trained)
    overlays: list[Overlay | Moved] = []
    jobs: list[Job] = []
    replayed: list[OverlayRecord] = []
    left: list[str] = []
    for kept in record.overlays:
        try:
            overlay, job = _on(graph, source, record, scenario, kept, rounds=rounds)
        except InputError as error:
            left.append(str(error))
            continue
        overlays.append(overlay)
        jobs.append(job)
        replayed.append(kept)
    if not replayed:
        raise InputError(left[0] if left else f"{source} has no overlay to replay.")
    rows = max(len(kept.wall_clock_s) for kept in replayed)
    size_bytes = file_bytes(jobs, messages=settings.messages, rows=rows)
    with new_file(path, size_bytes=size_bytes, force=force) as file:
        write_head(
            file,
            scenario=record.scenario,
            network=network,
            seed=scenario.seed,
            graph=graph,
            work=record.work,
        )
        for kept, overlay, job in zip(replayed, overlays, jobs, strict=True):
            write_overlay(file, overlay, job, forms_of(overlay, scenario.seed))
            allocate(file, overlay.kind, job, messages=settings.messages)
            if kept.history:
                rows = len(kept.wall_clock_s)
                allocate_history(file, overlay.kind, rows=rows, silos=graph.silos)
        for kept, job in zip(replayed, jobs, strict=True):
            outcome = run_job(
                job,
                kept.kind,
                until_ci=settings.until_ci,
                least_rounds=trained,
                writer=SimulationWriter(file, kept.kind),
            )
            if kept.history:
                write_history(file, kept.kind, 0, kept.history, outcome.last_start_s)
    return tuple(f"not replayed: {rule}" for rule in left)


def _on(
    graph: Connectivity,
    source: Path,
    record: RunRecord,
    scenario: Scenario,
    kept: OverlayRecord,
    *,
    rounds: int,
) -> tuple[Overlay | Moved, Job]:
    """One of a run's overlays on another network, and its simulation there."""
    if kept.consensus is None:
        return redraw(source, record, scenario, kept, graph, rounds=rounds)
    arcs = kept.arcs[:, :2].tolist()
    overlay = build_overlay(
        kept.kind,
        graph,
        record.work,
        arcs,
        hub=kept.hub,
        consensus=kept.consensus,
        negative_weights=kept.negative_weights,
    )
    return overlay, job_of(overlay, scenario.simulation, rounds=rounds, seed=scenario.seed)
