"""The table of a run: cycle times, and when each overlay reaches the target accuracy."""

import os
from pathlib import Path

from scenarios.config.scenario import recorded_scenario
from scenarios.report.run_table import run_table
from scenarios.report.tables import Table
from scenarios.runfile.artifacts import rounds_reached
from scenarios.runfile.reader import RunRecord, read_run
from scenarios.simulation.event_notes import simulated_with


def run_summary(path: str | os.PathLike[str]) -> Table:
    """Return the table of a run: cycle times, and when each overlay reaches the target accuracy.

    Parameters
    ----------
    path : str or path
        HDF5 file of a run.

    Returns
    -------
    Table
        As ``silosim show`` prints it; for its fields see `scenarios.report.run_table.run_table`.

    Raises
    ------
    InputError
        As `open_run`.

    Examples
    --------
    >>> import silosim
    >>> [row["overlay"] for row in silosim.run_summary("small.h5").rows]
    ['star', 'ring']
    """
    file = Path(path)
    return summary_of(file, read_run(file))


def summary_of(file: Path, record: RunRecord) -> Table:
    """The table of a run whose file has been read."""
    scenario = recorded_scenario(record.scenario)
    return run_table(
        record,
        f"{file}: {scenario.name}\n{record.about}",
        scenario.target_accuracy,
        one_curve=scenario.is_imported,
        rounds=scenario.trained_rounds,
        reached=rounds_reached(file, record),
        events=simulated_with(scenario.events),
    )
