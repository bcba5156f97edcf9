"""The command that compares the closed forms with the simulation."""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.cli.request import experiment_of, is_scenario
from scenarios.config.kinds import all_kinds
from scenarios.config.overlay_config import asked_overlays
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle, figure_style
from scenarios.report.table_formats import format_of, print_tables, write_tables
from scenarios.report.tables import Table
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import RUN_ENDINGS, ending_of
from scenarios.simulation.collect import FEWEST_ROUNDS
from scenarios.simulation.experiment import Experiment
from scenarios.validation.circuit_table import circuit_table
from scenarios.validation.table import validation_table
from scenarios.validation.validation_request import (
    DEFAULT_ROUNDS,
    MOST_ROUNDS,
    RANDOMIZED_ROUNDS,
    validation_experiment,
)
from scenarios.validation.validation_study import Validated
from scenarios.validation.validation_study import validate as validate_overlays


@opt.of_a_study(or_scenario=True)
@with_designer_options(all_kinds())
def validate(
    study: opt.Study,
    context: typer.Context,
    options: GivenOptions,
    kind: opt.Kinds = None,
    arcs: opt.Arcs = None,
    weights: opt.Weights = None,
    schedule: opt.Schedules = None,
    both_ways: opt.BothWays = False,
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
    width: opt.Width = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Compare the closed forms with the simulation, and say why.

    A difference of more than 1 % is split into its causes, arc by arc of the critical circuit.

    Examples
    --------
    silosim validate geant --access "100 Mbps" -o validation
    silosim validate study.toml --json
    """
    files = _outputs(output, study.network.name)
    context.with_resource(claimed(files, force=force))
    style = figure_style(width, draws=any(ending_of(file) in FIGURES for file in files)) or DEFAULT_STYLE
    experiment = experiment_of(study, context, rounds=DEFAULT_ROUNDS).naming(kind)
    overlays = asked_overlays(
        kind,
        options,
        experiment.overlays,
        arcs=arcs,
        weights=weights,
        schedules=schedule,
        both_ways=both_ways,
    )
    experiment, randomized_rounds = validation_experiment(
        experiment,
        {"rounds": rounds, "until_ci": until_ci, "engine": engine},
        overlays=overlays,
        seed=seed,
        compute_times=compute_times,
        from_scenario=is_scenario(study),
    )
    with _stored(files, experiment, force) as store:
        results = validate_overlays(experiment, randomized_rounds=randomized_rounds)
        store(results)
    table = validation_table(experiment, results)
    for path in files:
        _write(path, table, style)
    explained = [result for result in results if result.attribution is not None and result.is_explained]
    print_tables([table, *(() if as_json else map(circuit_table, explained))], as_json)
    if files:
        print(f"written: {', '.join(map(str, files))}", file=sys.stderr)


def _outputs(path: Path | None, stem: str) -> list[Path]:
    """The files to write."""
    if path is None:
        return []
    if ending_of(path) and not path.is_dir():
        if ending_of(path) not in (*RUN_ENDINGS, *FIGURES):
            format_of(path, others=[*RUN_ENDINGS, *FIGURES], rule=", or be a folder")
        return [path]
    return [path / f"validation-{stem}{ending}" for ending in (".csv", ".h5", ".png")]


def _stored(
    files: list[Path], experiment: Experiment, force: bool
) -> AbstractContextManager[Callable[[Sequence[Validated]], None]]:
    """The HDF5 file among the files, begun before anything is computed: the function that writes the results."""
    for path in files:
        if path.suffix.lower() in RUN_ENDINGS:
            # Here since h5py takes long to import.
            from scenarios.validation.file import new_validation

            return new_validation(path, experiment, force=force)
    return nullcontext(lambda _results: None)


def _write(path: Path, table: Table, style: FigureStyle) -> None:
    """The table or the figure, by the ending; the HDF5 file is written already."""
    if path.suffix.lower() in RUN_ENDINGS:
        return
    if path.suffix.lower() in FIGURES:
        # Here since matplotlib takes long to import.
        from scenarios.report.plots import plot_validation

        plot_validation(table, path, title=table.caption, style=style)
    else:
        write_tables(path, [table])
