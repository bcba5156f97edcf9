"""The command that prints the tables of a run."""

from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.config.scenario import parse_scenario
from scenarios.report.comparison import run_table
from scenarios.report.tables import print_table
from scenarios.runfile.artifacts import rounds_reached
from scenarios.runfile.reader import read_run


def show(run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")], as_json: opt.Json = False) -> None:
    """Print the tables of a run.

    Examples
    --------
    silosim show study.h5
    """
    record = read_run(run)
    scenario = parse_scenario(record.scenario, source=f"{run} (scenario)")
    caption = f"{run}: {scenario.name}\n{record.about}"
    training = scenario.training
    table = run_table(
        record,
        caption,
        scenario.target_accuracy,
        one_curve=scenario.imported is not None,
        rounds=None if training is None else training.rounds,
        reached=rounds_reached(run, record),
    )
    print_table(table, as_json)
