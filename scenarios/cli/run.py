"""The command that runs a whole scenario."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.report import print_written
from scenarios.cli.show import show
from scenarios.config.scenario import Scenario, load_scenario
from scenarios.config.seeds import seeds_of
from scenarios.pages.files import default_page, write_page, write_seeds_page
from scenarios.report.table_formats import print_table
from scenarios.report.tables import Table
from scenarios.runfile.artifacts import checkpoints_are_later, drop_checkpoints, is_complete
from scenarios.runfile.checkpoint_folders import checkpoints_path, has_checkpoint
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import partial_path
from scenarios.runtime.launcher import call_others, is_first
from scenarios.studies.run import run_scenario
from scenarios.studies.run_seeds import SeedFiles, run_seeds
from scenarios.studies.train import DamagedCheckpointError
from topologies import MachineError, TrainingError
from training.history import DIVERGED
from training.tasks import TASKS


def run(
    scenario: Annotated[
        Path, typer.Argument(help=f"TOML file; [training] may name a task of the paper: {', '.join(TASKS)}.")
    ],
    context: typer.Context,
    output: Annotated[Path, typer.Option("-o", "--output", help="HDF5 file to write.")],
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="N|SEEDS",
            help="Run with several seeds: so many from the scenario's on, or '1,2,7'. Writes NAME-seed-1.h5 and so "
            "on, the table of means NAME-seeds.csv and its figure NAME-seeds.png.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an interrupted run of this scenario from its checkpoints."),
    ] = False,
    tracker: Annotated[
        list[str] | None,
        typer.Option(
            "--tracker",
            help="What else gets each row at once: tensorboard (event files in NAME.tensorboard), or a class of your "
            "own in a file, as in 'mine.py:Print'. Repeat for several.",
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Also write the page for a browser: NAME.html; with --seeds one of all seeds, NAME-seeds.html.",
        ),
    ] = False,
    engine: opt.Engine = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Design, simulate and train a scenario, into one HDF5 file.

    The file joins the metrics of each round with the simulated time of that round. Python files that --tracker names,
    or model, loss or dataset of [training], are run.

    Examples
    --------
    silosim run study.toml -o study.h5
    silosim run study.toml -o study.h5 --resume
    silosim run study.toml -o study.h5 --seeds 5 --report
    silosim run study.toml -o study.h5 --tracker tensorboard
    """
    stated, text = load_scenario(scenario)
    loaded, trackers = stated.simulated_by(engine), tracker or ()
    if seeds is not None:
        files = SeedFiles.of(output, seeds_of(seeds, loaded.seed))
        if report:
            context.with_resource(claimed([files.page], force=force or resume))
        found = _run_seeds(
            loaded, text, files, resume=resume, force=force, source=str(scenario), trackers=trackers
        )
        if report:
            print_written(files.page, write_seeds_page(files, force=force or resume))
        print_table(found, as_json)
        return
    page = default_page(output)
    if report and is_first():
        context.with_resource(claimed([page], force=force or resume))
    if resume and not force and is_first() and is_complete(output, loaded, text):
        drop_checkpoints(output)  # a kill may have come between the last row and their removal
        print(f"{output} is complete; there is nothing to resume", file=sys.stderr)
    else:
        run_and_report(
            loaded, text, output, resume=resume, force=force, source=str(scenario), trackers=trackers
        )
    if is_first():
        if report:
            print_written(page, write_page(output, page, force=force or resume))
        show(output, as_json=as_json)


def _run_seeds(
    scenario: Scenario,
    text: str,
    files: SeedFiles,
    *,
    resume: bool,
    force: bool,
    source: str,
    trackers: Sequence[str],
) -> Table:
    """Run a scenario with each of several seeds, and say which files there are."""

    def run_one(own: Scenario, own_text: str, path: Path, goes_on: bool) -> None:
        print(f"seed {own.seed}: {path}", file=sys.stderr)
        run_and_report(own, own_text, path, resume=goes_on, force=force, source=source, trackers=trackers)

    table = run_seeds(
        scenario, text, files, run_one, resume=resume, force=force, source=source, trackers=trackers
    )
    print(f"written: {files.table}, {files.figure}", file=sys.stderr)
    return table


def run_and_report(
    scenario: Scenario,
    text: str,
    path: Path,
    *,
    force: bool,
    source: str,
    resume: bool = False,
    trackers: Sequence[str] = (),
) -> None:
    """Run a scenario; if it is interrupted, report which files remain."""
    try:
        run_scenario(
            scenario,
            text,
            path,
            force=force,
            resume=resume,
            source=source,
            call_others=call_others,
            trackers=trackers,
        )
    except DamagedCheckpointError:
        raise
    except (KeyboardInterrupt, MachineError, TrainingError) as error:
        if is_first() and (partial_path(path).exists() or isinstance(error, KeyboardInterrupt)):
            # With the same settings it would diverge again, and with others it is another run.
            print(f"silosim: {_kept(path, goes_on=not str(error).startswith(DIVERGED))}", file=sys.stderr)
        raise


def _kept(path: Path, *, goes_on: bool) -> str:
    """What an interrupted run has left, and whether it goes on from there."""
    partial = partial_path(path)
    kept = f"the finished rounds are in {partial}" if partial.exists() else "interrupted"
    if not (goes_on and has_checkpoint(path)):
        return kept
    later = f", of a later round, in {checkpoints_path(path)}" if checkpoints_are_later(path) else ""
    return f"{kept}; --resume continues from the last checkpoint{later}"
