"""The command that compares the closed forms with the simulation."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.cli.request import experiment_of, is_scenario
from scenarios.config.compute_times import compute_config
from scenarios.config.designer_options import read_options
from scenarios.config.overlays import check_kinds
from scenarios.config.scenario import validated
from scenarios.config.simulation import SimulationConfig
from scenarios.report.table_formats import format_of, print_tables, write_tables
from scenarios.report.tables import Table
from scenarios.runfile.paths import check_new
from scenarios.simulation.collect import FEWEST_ROUNDS
from scenarios.simulation.cycle_time import rounds_for_interval
from scenarios.simulation.experiment import Experiment
from scenarios.validation.circuit_table import circuit_table
from scenarios.validation.study import Validated
from scenarios.validation.study import validate as validate_overlays
from scenarios.validation.table import validation_table
from topologies import DESIGNERS, RANDOM_DESIGNERS

DEFAULT_ROUNDS, RANDOMIZED_ROUNDS = 2000, 1000
"""Of static overlays, and of randomized ones, whose simulation takes longer."""
MOST_ROUNDS = 20_000
"""Of a simulation that ends when its confidence interval is narrow enough."""
FIGURES = (".png", ".svg", ".pdf")


@opt.of_a_study()
@with_designer_options((*DESIGNERS, *RANDOM_DESIGNERS))
def validate(
    study: opt.Study,
    context: typer.Context,
    options: GivenOptions,
    kind: opt.Kinds = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help=f"Rounds to simulate, {FEWEST_ROUNDS} or more. [default: the scenario's, or {DEFAULT_ROUNDS}, "
            f"{RANDOMIZED_ROUNDS} of randomized overlays, and 25 per silo where that is more; at most {MOST_ROUNDS} "
            "with --until-ci]"
        ),
    ] = None,
    until_ci: opt.UntilCi = None,
    compute_times: opt.ComputeTimes = None,
    engine: opt.Engine = None,
    seed: opt.Seed = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="A table (.csv, .json, .txt), FILE.h5, a figure (.png, .svg, .pdf), or a folder for all three.",
        ),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Hold the closed forms against the simulation, and say why they differ; UNDERLAY may be a scenario (.toml)."""
    changes: dict[str, Any] = {"rounds": rounds, "until_ci": until_ci, "engine": engine}
    if until_ci is not None and rounds is None:
        changes["rounds"] = MOST_ROUNDS
    given = {key: value for key, value in changes.items() if value is not None}
    validated(SimulationConfig, given)
    if compute_times is not None:
        given["compute"] = compute_config(compute_times)
    experiment = experiment_of(study, context, rounds=DEFAULT_ROUNDS)
    randomized_rounds = None
    if not is_scenario(study) and "rounds" not in given:
        enough = rounds_for_interval(experiment.graph.silos)
        given["rounds"], randomized_rounds = max(DEFAULT_ROUNDS, enough), max(RANDOMIZED_ROUNDS, enough)
    kinds = opt.each_once(kind, experiment.kinds)
    check_kinds("overlay kind", kinds)
    experiment = experiment.changed(
        kinds=kinds,
        options=read_options(kinds, options),
        seed=experiment.seed if seed is None else seed,
        simulation=replace(experiment.simulation, **given),
    )
    files = _outputs(output, Path(study.underlay).stem, force)
    results = validate_overlays(experiment, randomized_rounds=randomized_rounds)
    table = validation_table(experiment, results)
    for path in files:
        _write(path, experiment, results, table, force)
    explained = [result for result in results if result.attribution is not None and result.is_explained]
    print_tables([table, *(() if as_json else map(circuit_table, explained))], as_json)
    if files:
        print(f"written: {', '.join(map(str, files))}", file=sys.stderr)


def _outputs(path: Path | None, stem: str, force: bool) -> list[Path]:
    """The files to write, checked."""
    if path is None:
        return []
    if path.suffix and not path.is_dir():
        if path.suffix not in (".h5", *FIGURES):
            format_of(path, others=[".h5", *FIGURES], rule=", or be a folder")
        files = [path]
    else:
        files = [path / f"validation-{stem}{ending}" for ending in (".csv", ".h5", ".png")]
    for file in files:
        check_new(file, force=force)
    return files


def _write(
    path: Path, experiment: Experiment, results: Sequence[Validated], table: Table, force: bool
) -> None:
    """One file, by its ending."""
    # Here since h5py and matplotlib take long to import.
    if path.suffix == ".h5":
        from scenarios.validation.file import write_validation

        write_validation(path, experiment, results, force=force)
    elif path.suffix in FIGURES:
        from scenarios.report.plots import plot_validation

        plot_validation(table, path, title=table.caption)
    else:
        write_tables(path, [table])
