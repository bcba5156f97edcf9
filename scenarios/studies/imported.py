"""A training that another program made, joined with the simulation of overlays."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from scenarios.config.error_texts import located
from scenarios.config.overlays import design_any, forms_of
from scenarios.config.scenario import ImportedConfig
from scenarios.config.toml import scenario_text
from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import ForeignHistory, read_history
from scenarios.metrics_import.readers import read_rows
from scenarios.runfile.atomic import new_file
from scenarios.runfile.simulated_rounds import SimulationWriter, allocate, file_bytes
from scenarios.runfile.training_rows import allocate_history, write_history
from scenarios.runfile.writer import write_head, write_overlay
from scenarios.simulation.case import Case
from scenarios.simulation.runner import job_of, run_job
from topologies import InputError

LEAST_ROUNDS = 200
"""Simulated rounds of an import, more where the metrics are of more."""


def import_file(
    case: Case,
    file: Path,
    path: Path,
    *,
    names: ColumnNames,
    local_steps: int | None,
    shift: int | None = None,
    percent: bool = False,
    target_accuracy: float | None = None,
    force: bool = False,
) -> ForeignHistory:
    """Read a file of metrics and write that of a run.

    Parameters
    ----------
    case : Case
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
        read_rows(file),
        names,
        case.graph.labels,
        source=str(file),
        local_steps=local_steps,
        shift=shift,
        percent=percent,
    )
    if target_accuracy is not None and "test_accuracy" not in foreign.columns.metrics:
        raise InputError(
            f"target_accuracy(={target_accuracy}) needs a test accuracy; --accuracy names its column."
        )
    import_run(case, foreign, imported, path, force=force)
    return foreign


def import_run(
    case: Case,
    foreign: ForeignHistory,
    imported: ImportedConfig,
    path: Path,
    *,
    force: bool = False,
) -> None:
    """Write the file of a run whose training comes from another program.

    Parameters
    ----------
    case : Case
        Network, workload and overlays.
    foreign : ForeignHistory
        The same rows go to every overlay.
    imported : ImportedConfig
        Where the rows come from, after which the run is named, and the target.
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
    The scenario in the file simulates up to the last imported round at least, and no longer stops by a confidence
    interval, so that replays have a time for each row too.
    """
    rounds = max(case.simulation.rounds, foreign.last_round)
    settings = replace(case.simulation, rounds=rounds, until_ci=None)
    case.check(rounds=rounds)
    overlays = [design_any(kind, case.graph, case.work, seed=case.seed) for kind in case.kinds]
    with located(case.source):
        jobs = [job_of(overlay, settings, rounds=rounds, seed=case.seed) for overlay in overlays]
    text = scenario_text(
        case.network, case.work, case.kinds, settings, case.seed, name=run_name(imported.file)
    )
    text += _imported_table(imported)
    rows = len(foreign.history["round"])
    size_bytes = file_bytes(jobs, messages=settings.messages, rows=rows)
    with new_file(path, size_bytes=size_bytes, force=force) as file:
        write_head(
            file,
            scenario=text,
            network=case.network,
            seed=case.seed,
            graph=case.graph,
            work=case.work,
        )
        for overlay, job in zip(overlays, jobs, strict=True):
            write_overlay(file, overlay, job, forms_of(overlay, case.seed))
            allocate(file, overlay.kind, job, messages=settings.messages)
            allocate_history(file, overlay.kind, rows=rows, silos=case.graph.silos)
        for overlay, job in zip(overlays, jobs, strict=True):
            outcome = run_job(job, overlay.kind, writer=SimulationWriter(file, overlay.kind))
            write_history(file, overlay.kind, 0, foreign.history, outcome.last_start_s)


def run_name(metrics_file: str | Path) -> str:
    """Name of a run that was imported."""
    return f"metrics of {Path(metrics_file).name}"


def columns_note(foreign: ForeignHistory) -> tuple[str, ...]:
    """Sentences on what was taken from which column."""
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


def _values(kept: int, rows: int, found: int) -> str:
    """How many values a column has, where it is not one for each row."""
    if found > kept:
        return f" ({kept} of {found} values: the last of each round)"
    return "" if kept == rows else f" ({kept} rows)"


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
