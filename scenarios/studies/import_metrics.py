"""Import of another program's training: its metrics joined with the simulation of overlays."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from scenarios.config.scenario import ImportedConfig
from scenarios.config.toml import scenario_text
from scenarios.metrics_import.history import ForeignHistory
from scenarios.runfile.writer import RunFile
from scenarios.simulation.experiment import Experiment
from scenarios.simulation.runner import run_job


def import_run(
    experiment: Experiment,
    foreign: ForeignHistory,
    imported: ImportedConfig,
    path: Path,
    *,
    force: bool = False,
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
    so that a replay has a time for each row as well.
    """
    rounds = max(experiment.simulation.rounds, foreign.last_round)
    settings = replace(experiment.simulation, rounds=rounds, until_ci=None)
    text = scenario_text(
        experiment.network,
        experiment.work,
        experiment.kinds,
        settings,
        experiment.seed,
        options=experiment.options,
        name=run_name(imported.file),
    )
    whole = replace(experiment, simulation=settings, text=text + _imported_table(imported))
    whole.check()
    simulations = whole.simulations()
    rows = {overlay.kind: len(foreign.history["round"]) for overlay, _ in simulations}
    with RunFile.create(
        path,
        whole.head(),
        simulations,
        messages=settings.messages,
        engine=settings.engine,
        rows=rows,
        force=force,
    ) as file:
        for overlay, job in simulations:
            outcome = run_job(job, overlay.kind, engine=settings.engine, writer=file.simulation(overlay.kind))
            file.write_history(overlay.kind, foreign.history, outcome.last_start_s)


def run_name(metrics_file: str | Path) -> str:
    """Name of a run that was imported."""
    return f"metrics of {Path(metrics_file).name}"


def columns_note(foreign: ForeignHistory) -> tuple[str, ...]:
    """Sentences on the column of each metric."""
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
    return tuple(notes)


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
    lines = ["\n[imported]", f"file = {json.dumps(imported.file, ensure_ascii=False)}"]
    if imported.target_accuracy is not None:
        lines.append(f"target_accuracy = {imported.target_accuracy!r}")
    return "\n".join(lines) + "\n"
