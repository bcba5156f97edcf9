"""The same training run on another network: new wall-clock times, no training."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scenarios.config.network import NetworkConfig, build_network, build_underlay
from scenarios.config.scenario import Scenario, parse_scenario
from scenarios.runfile.paths import check_new_run
from scenarios.runfile.reader import OverlayRecord, RunRecord, read_drawn, read_run
from scenarios.runfile.recorded_schedule import RecordedOverlay
from scenarios.runfile.writer import RunFile, RunHead
from scenarios.simulation.runner import job_of, run_job
from simulator import Job
from topologies import Connectivity, InputError, Overlay, build_overlay
from topologies.errors import Field


def replay(
    source: Path,
    path: Path,
    changes: Mapping[str, str | bool | Mapping[str, str] | Sequence[str] | None],
    *,
    force: bool = False,
    engine: str | None = None,
) -> tuple[str, ...]:
    """Write the file of a run as it would have gone on another network.

    Parameters
    ----------
    source : Path
        The file of a run or of a replay, complete or interrupted.
    path : Path
        The new file: the same overlays and training rows, other dates.
    changes : mapping
        Fields of `NetworkConfig` that differ from the source's; None for unchanged ones.
    force : bool
        Whether an existing file is replaced.
    engine : str, optional
        Instead of the scenario's; see `simulator.engines.choose_engine`.

    Returns
    -------
    tuple of str
        One line for each overlay that cannot be replayed, such as one with an arc that the network blocks, for settings
        of the run's network that the other one cannot have, and for overlays of which the file holds too few rounds.

    Raises
    ------
    InputError
        If the source cannot be read, the new file cannot be written, the network cannot be built or has another
        number of silos, or no overlay can be replayed.

    Notes
    -----
    The arcs and consensus matrices are those of the run, since the training rows belong to them; they are not designed
    again for the other network. Updates of synchronous DPASGD do not depend on timing, so the rows stay valid. Underlay
    and workload come from the source file, not from the files that it was made from.
    """
    check_new_run(path, force=force)
    if source.resolve() == path.resolve():
        raise InputError(f"{path} is the run itself; the replay needs another name.")
    record = read_run(source)
    scenario = parse_scenario(record.scenario, source=f"{source} (scenario)", recorded=True)
    if engine is not None:
        scenario = scenario.simulated_by(engine)
    for left_out in ("internal_only", "largest_component"):
        if changes.get(left_out) and not changes.get("underlay"):
            raise InputError("goes with another underlay.", field=Field(left_out, value=True))
    network, dropped = _changed(record.network, changes)
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
    overlays: list[Overlay | RecordedOverlay] = []
    jobs: list[Job] = []
    replayed: list[OverlayRecord] = []
    left: list[str] = []
    short: list[str] = []
    for recorded in record.overlays:
        try:
            overlay, job = _relocated(
                graph, source, record, scenario, recorded, rounds=rounds, trained=trained
            )
        except InputError as error:
            left.append(str(error))
            continue
        overlays.append(overlay)
        jobs.append(job)
        replayed.append(recorded)
    if not replayed:
        raise InputError(left[0] if left else f"{source} has no overlay to replay.")
    head = RunHead(
        scenario=record.scenario, network=network, seed=scenario.seed, graph=graph, work=record.work
    )
    rows = {recorded.kind: len(recorded.wall_clock_s) for recorded in replayed if recorded.history}
    simulations = [*zip(overlays, jobs, strict=True)]
    with RunFile.create(
        path,
        head,
        simulations,
        settings=settings,
        rows=rows,
        trained=trained,
        force=force,
    ) as file:
        for recorded, job in zip(replayed, jobs, strict=True):
            outcome = run_job(
                job,
                recorded.kind,
                until_ci=settings.until_ci,
                least_rounds=trained,
                engine=settings.engine,
                writer=file.simulation(recorded.kind),
            )
            file.record_schedule(recorded.kind, outcome.rounds)
            if recorded.history:
                file.write_history(recorded.kind, recorded.history, outcome.last_start_s)
            if outcome.rounds == job.rounds < rounds:
                short.append(
                    f"{recorded.kind}: {source} holds {job.rounds:,} rounds, so no more are replayed."
                )
    return (*dropped, *(f"not replayed: {rule}" for rule in left), *short)


def _changed(
    network: NetworkConfig, changes: Mapping[str, str | bool | Mapping[str, str] | Sequence[str] | None]
) -> tuple[NetworkConfig, tuple[str, ...]]:
    """The other network without the old one's rules of a routed core where it has measured pairs; what is left out."""
    changed = network.changed(**changes)
    if not changes.get("underlay"):
        return changed, ()
    # Tables, which were not published, do not take the other variant.
    if build_underlay(replace(changed, variant="corrected")).measured is None:
        return changed, ()
    plain = replace(changed, variant="corrected", bandwidth="hop_share", latency="per_path")
    if changes.get("core") is None:
        plain = replace(plain, core=None)
    dropped = [
        f"{name}(={value!r})"
        for name in ("variant", "core", "bandwidth", "latency")
        if (value := getattr(changed, name)) != getattr(plain, name)
    ]
    if not dropped:
        return plain, ()
    return plain, (
        f"left out, as the pairs of {plain.name} are measured: {', '.join(dropped)} of the run's network.",
    )


def _relocated(
    graph: Connectivity,
    source: Path,
    record: RunRecord,
    scenario: Scenario,
    recorded: OverlayRecord,
    *,
    rounds: int,
    trained: int,
) -> tuple[Overlay | RecordedOverlay, Job]:
    """One of a run's overlays on another network, and its simulation there."""
    arcs = recorded.arcs[:, :2].tolist()
    if recorded.consensus is None:
        drawn = read_drawn(source, recorded, graph, record.work)
        overlay: Overlay | RecordedOverlay = drawn
        if scenario.simulation.until_ci is not None:
            # The run has ended where its interval was narrow enough, and its file holds no rounds beyond.
            rounds = min(rounds, max(drawn.rounds, trained))
        for i, j in arcs:
            if not graph.may_send[i, j]:
                names = f"{graph.labels[i]} -> {graph.labels[j]}"
                raise InputError(f"{recorded.kind} has the arc {names}, which {graph.underlay.name} blocks.")
    else:
        overlay = build_overlay(
            recorded.kind,
            graph,
            record.work,
            arcs,
            hub=recorded.hub,
            consensus=recorded.consensus,
            negative_weights=recorded.negative_weights,
        )
    return overlay, job_of(overlay, scenario.simulation, rounds=rounds, seed=scenario.seed)
