"""The command that measures the computing time of a local step and writes it into a scenario."""

import datetime
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.config.error_context import located
from scenarios.config.scenario import load_scenario
from scenarios.report.table_formats import print_table
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import check_ending, write_whole
from scenarios.studies.calibrate import (
    calibrated_text,
    calibration_table,
    check_training,
    measure,
    read_text,
    round_times_csv,
)
from topologies import InputError


def calibrate(
    scenario: Annotated[Path, typer.Argument(help="TOML file with a [training] table.")],
    context: typer.Context,
    steps: Annotated[int, typer.Option(help="Local steps to measure, after five others.")] = 50,
    silos: Annotated[
        int, typer.Option(help="Measure the step of so many silos on one rank, too.", show_default=False)
    ] = 1,
    write: Annotated[
        bool, typer.Option("--write", help="Write the time into the scenario, as compute in [workload].")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write a copy of the scenario with the time in it.")
    ] = None,
    times: Annotated[
        Path | None,
        typer.Option(help="Write the times of rounds as a CSV file for --compute-times.", show_default=False),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Measure the computing time of a local step.

    It is T_c of the scenario's training on this hardware. Python files that model, loss or dataset of [training] name
    are run.

    Examples
    --------
    silosim calibrate study.toml -o calibrated.toml
    """
    loaded, _ = load_scenario(scenario)
    for path, ending in ((output, ".toml"), (times, ".csv")):
        if path is not None:
            check_ending(path, [ending])
    outputs = [path for path in (output, times) if path is not None]
    context.with_resource(claimed(outputs, force=force))
    with located(str(scenario)):
        check_training(loaded)
        if write:
            _check_writable(scenario)
        if times is not None and loaded.workload.local_steps_at:
            raise InputError("times goes without local_steps_at: its rounds are those of all silos.")
        if times is not None and steps < loaded.workload.local_steps:
            raise InputError(
                f"steps(={steps}) must be >= local_steps(={loaded.workload.local_steps}) with --times."
            )
        measured = measure(loaded, steps=steps, silos=silos)
    written = [path for path in (scenario if write else None, output) if path is not None]
    if written:
        today = datetime.date.today()
        text = calibrated_text(read_text(scenario), measured[0], source=str(scenario), date=today)
        if output is not None:
            write_whole(output, text, force=force)
        if write:
            write_whole(scenario.resolve(), text, force=True)
    if times is not None:
        write_whole(times, round_times_csv(loaded, measured[0]), force=force)
        written.append(times)
    print_table(calibration_table(loaded, measured), as_json)
    if written:
        print(f"written: {', '.join(map(str, written))}", file=sys.stderr)


def _check_writable(path: Path) -> None:
    """Raise an error for a file that its owner has made read-only, or that this user cannot write."""
    # The superuser may write any file, but would not expect this command to change a read-only one.
    if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
        raise InputError(f"{path} is read-only; -o FILE writes a copy.")
