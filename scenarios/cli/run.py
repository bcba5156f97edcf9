"""The command that runs a whole scenario."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.show import show
from scenarios.config.scenario import Scenario, load_scenario
from scenarios.config.seeds import seeds_of, with_seed
from scenarios.report.seeds_table import seeds_table
from scenarios.report.table_formats import print_table, write_tables
from scenarios.runfile.artifacts import check_resume, drop_checkpoints, has_checkpoint, is_complete
from scenarios.runfile.paths import check_new, partial_path
from scenarios.runfile.reader import read_run
from scenarios.runtime.launcher import call_others, is_first
from scenarios.studies.run import run_scenario
from topologies import InputError, MachineError, TrainingError
from topologies.errors import Field
from training import world
from training.tasks import TASKS


def run(
    scenario: Annotated[
        Path, typer.Argument(help=f"TOML file; [training] may name a task of the paper: {', '.join(TASKS)}.")
    ],
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
    engine: opt.Engine = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Design, simulate and train a scenario, into one HDF5 file.

    The file joins the metrics of each round with the simulated time of that round. Python files that model, loss or
    dataset of [training] name are run.

    Examples
    --------
    silosim run study.toml -o study.h5
    silosim run study.toml -o study.h5 --resume
    silosim run study.toml -o study.h5 --seeds 5
    """
    loaded, text = load_scenario(scenario)
    if engine is not None:
        loaded = loaded.simulated_by(engine)
    if seeds is not None:
        _run_seeds(
            loaded, text, output, seeds, resume=resume, force=force, source=str(scenario), as_json=as_json
        )
        return
    if resume and not force and is_first() and is_complete(output, loaded, text):
        drop_checkpoints(output)  # a kill may have come between the last row and their removal
        print(f"{output} is complete; there is nothing to resume", file=sys.stderr)
    else:
        run_and_report(loaded, text, output, resume=resume, force=force, source=str(scenario))
    if is_first():
        show(output, as_json)


def _run_seeds(
    scenario: Scenario,
    text: str,
    output: Path,
    seeds: str,
    *,
    resume: bool,
    force: bool,
    source: str,
    as_json: bool,
) -> None:
    """Run a scenario with each of several seeds, and write their table and figure."""
    place = world()
    if place is not None and place.size > 1:
        raise InputError(
            "goes without an outer launcher: start a run for each seed there.",
            field=Field("seeds", value=seeds),
        )
    if scenario.training is None:
        raise InputError("goes with a scenario that has [training].", field=Field("seeds", value=seeds))
    if resume:
        check_resume(scenario.training)
    numbers = seeds_of(seeds, scenario.seed)
    base = output.with_suffix("")
    paths = {seed: base.with_name(f"{base.name}-seed-{seed}{output.suffix}") for seed in numbers}
    table, figure = (base.with_name(f"{base.name}-seeds{ending}") for ending in (".csv", ".png"))
    for path in (table, figure):
        check_new(path, force=force or resume)
    if not resume:
        for path in paths.values():
            check_new(path, force=force)
    records = {}
    for seed, path in paths.items():
        own_text = with_seed(text, seed, source=source)
        own = replace(scenario, seed=seed)
        print(f"seed {seed}: {path}", file=sys.stderr)
        if resume and not force and is_complete(path, own, own_text):
            drop_checkpoints(path)
        else:
            goes_on = resume and (partial_path(path).exists() or has_checkpoint(path))
            run_and_report(own, own_text, path, resume=goes_on, force=force, source=source)
        records[seed] = read_run(path)
    # Here since matplotlib takes long to import.
    from scenarios.report.seeds_plot import plot_seeds

    target = scenario.training.target_accuracy
    about = next(iter(records.values())).about
    found = seeds_table(records, f"{scenario.name}: {len(numbers)} seeds\n{about}", target)
    write_tables(table, [found])
    title = f"{scenario.name}: means of {len(numbers)} seeds, bands from the lowest to the highest"
    plot_seeds(records, figure, title=title)
    print_table(found, as_json)
    print(f"written: {table}, {figure}", file=sys.stderr)


def run_and_report(
    scenario: Scenario, text: str, path: Path, *, force: bool, source: str, resume: bool = False
) -> None:
    """Run a scenario; if it is interrupted, report which files remain."""
    try:
        run_scenario(scenario, text, path, force=force, resume=resume, source=source, call_others=call_others)
    except (KeyboardInterrupt, MachineError, TrainingError) as error:
        partial = partial_path(path)
        if is_first() and (partial.exists() or isinstance(error, KeyboardInterrupt)):
            kept = f"the finished rounds are in {partial}" if partial.exists() else "interrupted"
            hint = "; --resume continues from the last checkpoint" if has_checkpoint(path) else ""
            print(f"silosim: {kept}{hint}", file=sys.stderr)
        raise
