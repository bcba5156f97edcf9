"""Import of another program's training: its metrics joined with the simulation of overlays."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from scenarios.config.scenario import ImportedConfig
from scenarios.config.toml import scenario_text, toml_value
from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import ForeignHistory, read_history
from scenarios.metrics_import.readers import read_rows
from scenarios.runfile.writer import RunFile
from scenarios.simulation.experiment import Experiment
from scenarios.simulation.runner import run_job
from simulator.computing_rounds import nth_computing
from topologies import InputError, PeriodicOverlay

LEAST_ROUNDS = 200
"""Simulated rounds of an import, more where the metrics are of more."""


def import_file(
    experiment: Experiment,
    file: Path,
    path: Path,
    *,
    names: ColumnNames,
    local_steps: int | None,
    shift: int | None = None,
    percent: bool,
    target_accuracy: float | None = None,
    run: str | None = None,
    force: bool,
) -> ForeignHistory:
    """Read a file of metrics and write that of a run.

    Parameters
    ----------
    experiment : Experiment
        Network, workload and overlays.
    file : Path
        As `scenarios.metrics_import.readers.read_rows` takes it.
    path : Path
        The HDF5 file.
    names : ColumnNames
    local_steps, shift, percent
        As `scenarios.metrics_import.history.read_history` takes them.
    target_accuracy : float, optional
        Test accuracy whose first round tables and figures show.
    run : str, optional
        As `scenarios.metrics_import.readers.read_rows` takes it.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    ForeignHistory

    Raises
    ------
    InputError
        If the metrics cannot be read or have no test accuracy to compare with the target; or as `import_run`.
    """
    imported = ImportedConfig(file=str(file), target_accuracy=target_accuracy)
    foreign = read_history(
        read_rows(file, run),
        names,
        experiment.graph.labels,
        source=str(file),
        local_steps=local_steps,
        shift=shift,
        percent=percent,
    )
    if target_accuracy is not None and "test_accuracy" not in foreign.columns.metrics:
        raise InputError(
            f"target_accuracy(={target_accuracy}) needs a test accuracy; --accuracy names its column."
        )
    import_run(experiment, foreign, imported, path, force=force)
    return foreign


def import_run(
    experiment: Experiment,
    foreign: ForeignHistory,
    imported: ImportedConfig,
    path: Path,
    *,
    force: bool,
) -> None:
    """Write the file of a run whose training comes from another program.

    Parameters
    ----------
    experiment : Experiment
        Network, workload and overlays.
    foreign : ForeignHistory
        The rows of every overlay.
    imported : ImportedConfig
        Source of the rows, after which the run is named, and target accuracy.
    path : Path
        The HDF5 file.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If an overlay cannot be designed or simulated, or the file cannot be written.

    Notes
    -----
    The scenario in the file simulates at least up to the last imported round, without a stop by a confidence interval,
    so that a replay has a time for each row as well. Rounds of another program are those in which silos compute; the
    file counts all.
    """
    rounds = max(experiment.simulation.rounds, foreign.last_round)
    _simulating(experiment, rounds, imported).check()
    overlays = [experiment.design(config) for config in experiment.overlays]
    periodic = [overlay.computes for overlay in overlays if isinstance(overlay, PeriodicOverlay)]
    rounds = max([rounds, *(nth_computing(computes, foreign.last_round) for computes in periodic)])
    whole = _simulating(experiment, rounds, imported)
    simulations = whole.simulations(overlays)
    rows = {overlay.kind: len(foreign.history["round"]) for overlay, _ in simulations}
    with RunFile.create(
        path,
        whole.head(),
        simulations,
        settings=whole.simulation,
        rows=rows,
        force=force,
    ) as file:
        for overlay, job in simulations:
            outcome = run_job(
                job, overlay.kind, engine=whole.simulation.engine, writer=file.simulation(overlay.kind)
            )
            numbers = [nth_computing(job.computes, round_) for round_ in foreign.history["round"].tolist()]
            file.write_history(overlay.kind, {**foreign.history, "round": numbers}, outcome.last_start_s)


def _simulating(experiment: Experiment, rounds: int, imported: ImportedConfig) -> Experiment:
    """The experiment as the file has it, of so many rounds."""
    settings = replace(experiment.simulation, rounds=rounds, until_ci=None)
    text = scenario_text(
        experiment.network,
        experiment.work,
        experiment.overlays,
        settings,
        experiment.seed,
        consensus=experiment.consensus,
        labels=experiment.graph.labels,
        name=run_name(imported.file),
    )
    return replace(experiment, simulation=settings, text=text + _imported_table(imported))


def run_name(metrics_file: str | Path) -> str:
    """Name of a run that was imported."""
    return f"metrics of {Path(metrics_file).name}"


def columns_note(foreign: ForeignHistory) -> tuple[str, ...]:
    """Sentences on the column of each metric, and on how the file was read."""
    columns, history = foreign.columns, foreign.history
    rows = len(history["round"])
    taken = [
        f"{field} from {column}{_values(int(np.isfinite(history[field]).sum()), rows, foreign.rows[field])}"
        for field, column in columns.metrics.items()
        if field in foreign.rows
    ]
    if columns.silo_loss:
        taken.append(f"silo_loss from {columns.silo_loss[0]} ... {columns.silo_loss[-1]}")
    first, last = int(history["round"][0]), foreign.last_round
    notes = [f"imported: {rows} rows, rounds {first} to {last} of {columns.round}: {', '.join(taken)}."]
    if columns.unit != "rounds":
        notes.append(_counting_note(foreign))
    for field, others in columns.left.items():
        left = ", ".join(
            f"{name} ({count} {'row' if count == 1 else 'rows'})" for name, count in others.items()
        )
        notes.append(f"{field} is that of {columns.metrics[field]}; left out: {left}.")
    return (*notes, *foreign.notes)


def _values(used: int, rows: int, found: int) -> str:
    """Number of values of a column, where it has not one for each row."""
    if found > used:
        return f" ({used} of {found} values: the last of each round)"
    return "" if used == rows else f" ({used} rows)"


def _counting_note(foreign: ForeignHistory) -> str:
    """How steps or epochs became rounds."""
    counting = foreign.counting
    shift = {0: "", 1: ", counted from 0"}.get(counting.shift, f", shifted by {counting.shift}")
    counted = f"{counting.column} {foreign.first:.15g} to {foreign.last:.15g}"
    if counting.unit == "epochs":
        return f"{counted} are epochs{shift}: each is taken for one round."
    each = "each is a round" if counting.per_round == 1 else f"{counting.per_round} are a round"
    return f"{counted} are local steps{shift}: {each}."


def _imported_table(imported: ImportedConfig) -> str:
    """The ``[imported]`` table in TOML."""
    lines = ["\n[imported]", f"file = {toml_value(imported.file)}"]
    if imported.target_accuracy is not None:
        lines.append(f"target_accuracy = {imported.target_accuracy!r}")
    return "\n".join(lines) + "\n"
