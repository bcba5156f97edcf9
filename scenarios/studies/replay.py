"""The same training run on another network: new wall-clock times, no training."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scenarios.config import parse_scenario
from scenarios.history import allocate_history, write_history
from scenarios.network import build_network
from scenarios.new_file import new_file
from scenarios.outputs import check_new
from scenarios.record import read_run
from scenarios.simulated import SimulationWriter, allocate, file_bytes
from scenarios.store import write_head, write_overlay
from scenarios.studies.simulation import job_of, run_job
from topologies import InputError, build_overlay


def replay(
    source: Path,
    path: Path,
    changes: Mapping[str, str | Mapping[str, str] | Sequence[str] | None],
    *,
    force: bool = False,
) -> None:
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

    Raises
    ------
    InputError
        If the source cannot be read, the new file cannot be written, or the network cannot be built or has another
        number of silos.

    Notes
    -----
    The arcs and consensus matrices are those of the run, not designed anew for the other network: the training
    rows belong to them. Synchronous DPASGD's updates do not depend on timing, so the rows stay valid. Underlay and
    workload come from the source, whatever has become of the files that it was made from.
    """
    check_new(path, force=force)
    if source.resolve() == path.resolve():
        raise InputError(f"{path} is the run itself; the replay needs another name.")
    record = read_run(source)
    scenario = parse_scenario(record.scenario, source=f"{source} (scenario)")
    network = record.network.changed(**changes)
    graph = build_network(network, None if changes.get("underlay") else record.underlay)
    if any(overlay.consensus is None for overlay in record.overlays):
        raise InputError(
            f"{source} has overlays that are drawn anew each round; only those that stay are replayed."
        )
    consensus = [overlay.consensus for overlay in record.overlays if overlay.consensus is not None]
    if any(len(matrix) != graph.silos for matrix in consensus):
        raise InputError(
            f"{graph.underlay.name} has {graph.silos} silos, but the run has {len(consensus[0])}."
        )
    there, here = record.silo_labels, graph.labels
    if there != here and sorted(there) == sorted(here):
        raise InputError(
            f"{source} numbers the silos of {graph.underlay.name} in another order than that of their labels, as files "
            "of older versions do; run its scenario again."
        )
    overlays = [
        build_overlay(
            kept.kind,
            graph,
            record.work,
            kept.arcs[:, :2].tolist(),
            hub=kept.hub,
            consensus=matrix,
            negative_weights=kept.negative_weights,
        )
        for kept, matrix in zip(record.overlays, consensus, strict=True)
    ]
    settings = scenario.simulation
    trained = scenario.training.rounds if scenario.training else 0
    rounds = max(settings.rounds, trained)
    jobs = [job_of(overlay, settings, rounds=rounds, seed=scenario.seed) for overlay in overlays]
    rows = max((len(kept.wall_clock_s) for kept in record.overlays), default=0)
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
        for kept, overlay, job in zip(record.overlays, overlays, jobs, strict=True):
            write_overlay(file, overlay, job, overlay.closed_forms)
            allocate(file, overlay.kind, job, messages=settings.messages)
            if kept.history:
                rows = len(kept.wall_clock_s)
                allocate_history(file, overlay.kind, rows=rows, silos=graph.silos)
        for kept, job in zip(record.overlays, jobs, strict=True):
            outcome = run_job(
                job,
                kept.kind,
                until_ci=settings.until_ci,
                least_rounds=trained,
                writer=SimulationWriter(file, kept.kind),
            )
            if kept.history:
                write_history(file, kept.kind, 0, kept.history, outcome.last_start_s)
