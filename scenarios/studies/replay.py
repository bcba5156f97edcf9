"""The same training run on another network: new wall-clock times, no training."""

from pathlib import Path

from scenarios.config.replay_changes import ReplayChanges
from scenarios.runfile.paths import check_new_run
from scenarios.runfile.writer import RunFile, RunHead
from scenarios.studies.relocation import RecordedRun
from topologies import InputError


def replay(run: RecordedRun, path: Path, changes: ReplayChanges, *, force: bool) -> tuple[str, ...]:
    """Write the file of a run as it would have gone on another network, or with other messages, times or events.

    Parameters
    ----------
    run : RecordedRun
        Of a run or of a replay, complete or interrupted.
    path : Path
        The new file: the same overlays and training rows, other dates. Its scenario states what was replayed.
    changes : ReplayChanges
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    tuple of str
        One line for each overlay that cannot be replayed, such as one with an arc that the network blocks, for settings
        of the run's network that the other one cannot have, and for overlays of which the file holds too few rounds.

    Raises
    ------
    InputError
        If the new file cannot be written, a change would alter the learning or breaks a
        rule, the network cannot be built or has another number of silos, or no overlay can be replayed.

    Notes
    -----
    As `scenarios.studies.relocation.relocate`. Underlay and workload come from the source file, not from the files that
    it was made from.
    """
    check_new_run(path, force=force)
    if run.path.resolve() == path.resolve():
        raise InputError(f"{path} is the run itself; the replay needs another name.")
    there = run.relocated(changes)
    run.goal(there.scenario)  # a target that no row can have is an error
    there.check_some()
    head = RunHead(
        scenario=there.text,
        network=there.scenario.network,
        seed=there.scenario.seed,
        graph=there.graph,
        work=there.work,
        is_replay=True,
    )
    rows = {
        moved.kind: len(moved.recorded.wall_clock_s) for moved in there.overlays if moved.recorded.history
    }
    short: list[str] = []
    with RunFile.create(
        path,
        head,
        [(moved.overlay, moved.job) for moved in there.overlays],
        settings=there.scenario.simulation,
        rows=rows,
        trained=run.trained,
        force=force,
    ) as file:
        for moved in there.overlays:
            outcome = there.simulate(moved, writer=file.simulation(moved.kind))
            file.record_schedule(moved.kind, outcome.rounds)
            if moved.recorded.history:
                file.write_history(moved.kind, moved.recorded.history, outcome.last_start_s)
            short += there.short(moved, outcome)
    return (*there.notes, *there.not_replayed, *short)
