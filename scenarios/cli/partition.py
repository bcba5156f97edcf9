"""The command that splits training data over silos and says how unlike they are."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from scenarios.cli import options as opt
from scenarios.cli.request import is_scenario
from scenarios.config.error_context import changed_errors, in_stated_table, located
from scenarios.config.network import build_network
from scenarios.config.scenario import load_scenario
from scenarios.config.seed import check_seed
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_style import figure_style
from scenarios.report.table_formats import format_of, print_table, write_tables
from scenarios.runfile.claims import claimed
from scenarios.studies.partition import divide
from topologies import InputError
from topologies.errors import Field
from training import DATASETS, PARTITIONS, TrainingConfig

_UNUSED = (*opt.BEYOND_THE_NETWORK, "published")
"""Options of a study that a partition does not depend on."""


@opt.of_a_study(without=_UNUSED, or_scenario=True)
def partition(
    study: opt.Study,
    context: typer.Context,
    dataset: Annotated[str | None, typer.Option(help=f"{', '.join(DATASETS)}. [default: digits]")] = None,
    data: Annotated[str | None, typer.Option(help="Folder of the data.")] = None,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="Leave bad samples out and count them. Only then are images opened: else bad ones are in the split.",
        ),
    ] = False,
    partition: Annotated[
        str | None, typer.Option(help=f"{', '.join(PARTITIONS)}. [default: dirichlet]")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Concentration of dirichlet; smaller is more unlike. [default: 0.5]")
    ] = None,
    shift_west: Annotated[
        float | None,
        typer.Option(
            help="Degrees by which geographic moves the silos to the west. [default: 90 in Europe, else 0]"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of the partition. [default: the scenario's, or 0]", rich_help_panel="Training data"
        ),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write: a picture (.png, .svg, .pdf) or a table (.csv, .json, .txt). Repeat for both.",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(
            "--width",
            help="Width of the picture, as '3.5in' or '10in'. [default: 8.4in to 13in, by the silos]",
        ),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Split training data over the silos, and compare the parts.

    Sizes, labels, and how far each silo's labels are from those of all. A Python file that dataset names is run.

    Examples
    --------
    silosim partition gaia --dataset digits --partition dirichlet --alpha 0.1
    silosim partition study.toml -o parts.png
    """
    pictures, tables = _outputs(output or [])
    context.with_resource(claimed(output or [], force=force))
    style = figure_style(width, draws=bool(pictures))
    changes: dict[str, Any] = {
        "dataset": dataset,
        "data": data,
        "skip_bad": skip_bad or None,
        "partition": partition,
        "dirichlet_alpha": alpha,
        "shift_west_deg": shift_west,
    }
    spec = DATASETS.get(dataset or "")
    if data is None and spec is not None and not spec.needs:
        changes["data"] = ""  # The folder that a scenario names is of its own data set.
    if dataset is not None:
        changes["dataset_options"] = {}
    network, training, seed_used = study.network, TrainingConfig(), 0
    if is_scenario(study):
        if study.network.silo_at is not None:
            raise InputError(
                f"--silo-at goes with the name of a network; change it in {study.underlay} instead."
            )
        scenario, _text = load_scenario(Path(study.underlay))
        network, training, seed_used = scenario.network, scenario.training or training, scenario.seed
    seed_used = seed_used if seed is None else seed
    check_seed(seed_used)
    with changed_errors(lambda error: error.renamed(_as_option)):
        training = replace(training, **{key: value for key, value in changes.items() if value is not None})
    for name, value, owner in (("alpha", alpha, "dirichlet"), ("shift_west", shift_west, "geographic")):
        if value is not None and training.partition != owner:
            raise InputError(
                f"{name}(={value}) goes with the partition {owner}, not with {training.partition}."
            )
    graph = build_network(network)
    if is_scenario(study) and all(value is None for value in changes.values()):
        with located(study.underlay), in_stated_table("training", TrainingConfig):
            division = divide(graph, training, seed_used)
    else:
        division = divide(graph, training, seed_used)
    for path in tables:
        write_tables(path, [division.silo_table()])
    for path in pictures:
        from scenarios.studies.partition_plot import plot_partition

        plot_partition(division, path, style=style)
    print_table(division.table(), as_json)
    if output:
        print(f"written: {', '.join(map(str, output))}", file=sys.stderr)


def _as_option(field: Field) -> Field:
    """A field of the training by the name of its option, where they differ."""
    names = {"dirichlet_alpha": "alpha", "shift_west_deg": "shift_west"}
    name, *places = field.path
    return Field(names.get(str(name), name), *places, value=field.value)


def _outputs(paths: list[Path]) -> tuple[list[Path], list[Path]]:
    """The pictures and the tables among the outputs."""
    for path in paths:
        if path.suffix.lower() not in FIGURES:
            format_of(path, others=FIGURES)
    pictures = [path for path in paths if path.suffix.lower() in FIGURES]
    return pictures, [path for path in paths if path not in pictures]
