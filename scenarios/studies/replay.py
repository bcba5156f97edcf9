"""The same training run on another network: new wall-clock times, no training."""

import json
from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np

from scenarios.config import parse_scenario
from scenarios.network import build_network, build_workload
from scenarios.record import read_run
from scenarios.store import new_file, write_head, write_overlay, write_replay, write_timeline
from scenarios.studies.run import trained_bits
from scenarios.studies.simulation import simulate_with_progress
from topologies import InputError, build_overlay


def replay(
    source: Path, path: Path, changes: Mapping[str, str | Mapping[str, str] | None], *, force: bool = False
) -> None:
    """Write the file of a run as it would have gone on another network.

    Parameters
    ----------
    source : Path
        The file of a run, or of a replay.
    path : Path
        The new file: the same overlays and training rows, other dates.
    changes : mapping
        Fields of `NetworkConfig` that differ; None for those that stay.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the source is no finished run, or the network cannot be built or has another number of silos.

    Notes
    -----
    The arcs and consensus matrices are those of the run, not designed anew for the other network: the training
    rows belong to them. Synchronous DPASGD's updates do not depend on timing, so the rows stay valid.
    """
    if source.resolve() == path.resolve():
        raise InputError(f"{path} is the run itself; the replay needs another name.")
    record = read_run(source)
    scenario = parse_scenario(record.scenario, source=f"{source} (scenario)")
    merged = json.loads(record.network_changes) | {
        key: value for key, value in changes.items() if value is not None
    }
    graph = build_network(scenario.network.changed(**merged))
    work = build_workload(scenario.workload, scenario.network.variant, trained_bits(scenario.training))
    if any(len(overlay.consensus) != graph.silos for overlay in record.overlays):
        raise InputError(
            f"{graph.underlay.name} has {graph.silos} silos, but the run has {len(record.overlays[0].consensus)}."
        )
    settings = scenario.simulation
    with h5py.File(source, "r") as old, new_file(path, force=force) as file:
        write_head(
            file,
            scenario=record.scenario,
            network_changes=json.dumps(merged),
            seed=scenario.seed,
            graph=graph,
            work=work,
        )
        for kept in record.overlays:
            overlay = build_overlay(
                kept.kind, graph, work, kept.arcs[:, :2].tolist(), hub=kept.hub, consensus=kept.consensus
            )
            write_overlay(file, overlay)
            rounds = kept.history["round"].astype(np.int64).tolist() if kept.history else []
            timeline = simulate_with_progress(overlay, settings, rounds=max([settings.rounds, *rounds]))
            write_timeline(file, overlay.kind, timeline, sharing=settings.sharing, queueing=settings.queueing)
            if rounds:
                old.copy(f"training/{kept.kind}", file.require_group("training"))
                write_replay(file, kept.kind, rounds, timeline.round_start_s)
