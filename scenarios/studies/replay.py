"""The same training run on another network: new wall-clock times, no training."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from scenarios.config import parse_scenario
from scenarios.network import build_network
from scenarios.outputs import check_new
from scenarios.record import read_run
from scenarios.store import allocate, new_file, write_head, write_history, write_overlay, write_timeline
from scenarios.studies.simulation import simulate_with_progress
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
    if any(len(overlay.consensus) != graph.silos for overlay in record.overlays):
        raise InputError(
            f"{graph.underlay.name} has {graph.silos} silos, but the run has {len(record.overlays[0].consensus)}."
        )
    overlays = [
        build_overlay(
            kept.kind, graph, record.work, kept.arcs[:, :2].tolist(), hub=kept.hub, consensus=kept.consensus
        )
        for kept in record.overlays
    ]
    settings = scenario.simulation
    rounds = max(settings.rounds, scenario.training.rounds if scenario.training else 0)
    with new_file(path, force=force) as file:
        write_head(
            file,
            scenario=record.scenario,
            network=json.dumps(asdict(network)),
            seed=scenario.seed,
            graph=graph,
            work=record.work,
        )
        for kept, overlay in zip(record.overlays, overlays, strict=True):
            write_overlay(file, overlay)
            allocate(
                file,
                overlay,
                rounds=rounds,
                rows=len(kept.wall_clock_s),
                sharing=settings.sharing,
                queueing=settings.queueing,
            )
        for kept, overlay in zip(record.overlays, overlays, strict=True):
            timeline = simulate_with_progress(overlay, settings, rounds=rounds)
            write_timeline(file, overlay.kind, timeline)
            if kept.history:
                write_history(file, overlay.kind, 0, kept.history, timeline.round_start_s)
