"""The command that takes the metrics of other programs' trainings."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.cli.request import experiment_of, is_given, is_scenario
from scenarios.config.kinds import all_kinds
from scenarios.config.network import silos_without_compute
from scenarios.config.overlay_config import asked_overlays
from scenarios.metrics_import.columns import ColumnNames
from scenarios.report.run_table import run_table
from scenarios.report.table_formats import print_table
from scenarios.report.tables import note_lines
from scenarios.runfile.paths import check_new_run
from scenarios.runfile.reader import read_run
from scenarios.simulation.event_notes import simulated_with
from scenarios.studies.import_metrics import LEAST_ROUNDS, columns_note, import_file, run_name
from topologies import InputError

On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="NETWORK|SCENARIO",
        help=opt.NETWORK_OR_SCENARIO_HELP,
    ),
]
NoDefaultPreset = Annotated[
    str,
    typer.Option(
        "--workload",
        help="The paper's task that the metrics are of: shakespeare, femnist, sentiment140, inaturalist or "
        "full_inaturalist. Without it or a scenario, --model-size and --compute are needed, "
        "the latter where the network's file states no computing times.",
        show_default=False,
    ),
]


def _options_of_an_import(command: Callable[..., None]) -> Callable[..., None]:
    """Turn a study's first argument into ``--on``, as the file of metrics comes first; name no default workload."""
    signature = inspect.signature(command)
    changed = {"underlay": On, "workload": NoDefaultPreset}
    parameters = [
        p.replace(annotation=changed.get(p.name, p.annotation)) for p in signature.parameters.values()
    ]
    vars(command)["__signature__"] = signature.replace(parameters=parameters)
    return command


@_options_of_an_import
@opt.of_a_study()
@with_designer_options(all_kinds())
def import_metrics(
    study: opt.Study,
    context: typer.Context,
    options: GivenOptions,
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV, JSON lines, Flower's History or Result as JSON, TensorBoard event file or folder of these."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="HDF5 file to write.")],
    kind: opt.Kinds = None,
    arcs: opt.Arcs = None,
    weights: opt.Weights = None,
    both_ways: opt.BothWays = False,
    round_: Annotated[
        str | None,
        typer.Option(
            "--round",
            help="Column of the round: how many are done. [default: a usual name, such as round or step]",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="What that column counts: rounds, steps (local ones; --local-steps make a round) or epochs (one is a "
            "round). [default: as its name says, where that is clear]"
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="Column or tag of the training loss, likewise; one loss or the test accuracy is enough."
        ),
    ] = None,
    accuracy: Annotated[
        str | None, typer.Option(help="Column or tag of the test accuracy, likewise.")
    ] = None,
    train_accuracy: Annotated[
        str | None, typer.Option(help="Column or tag of the training accuracy, likewise.")
    ] = None,
    test_loss: Annotated[str | None, typer.Option(help="Column or tag of the test loss, likewise.")] = None,
    silo_loss: Annotated[
        str | None,
        typer.Option(
            help="Columns of the silos' losses: {silo} is a label or a number. "
            "[default: silo_loss/{silo}, if there]"
        ),
    ] = None,
    client: Annotated[
        str | None,
        typer.Option(
            help="Column of the client, where each round has a row for each: a mean is taken, and clients that are "
            "silos by label or number give the silos' values. [default: a usual name, if there]"
        ),
    ] = None,
    examples: Annotated[
        str | None,
        typer.Option(
            help="Column of a client's number of examples, the weight of its values. [default: a usual name, if there; "
            "else all weigh the same]"
        ),
    ] = None,
    first_silo: Annotated[
        int | None,
        typer.Option(
            metavar="0|1",
            help="Number of the first silo, where clients or columns of silos have numbers. "
            "[default: 0 if the file has it, else 1 if it has that of the last silo]",
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Which run of a TensorBoard folder with several: its folder in that one."
        ),
    ] = None,
    percent: Annotated[bool, typer.Option("--percent", help="The file's accuracies are in percent.")] = False,
    shift: Annotated[
        int | None,
        typer.Option(
            help="Added to every number in the column of the round: 1 where the first trained round, step or epoch is "
            "called 0. [default: 1 where steps or epochs are seen to begin so, else 0]"
        ),
    ] = None,
    target_accuracy: Annotated[
        float | None, typer.Option(help="Test accuracy whose first round and time the table shows.")
    ] = None,
    engine: opt.Engine = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Join another program's metrics with simulated overlays.

    The file is that of a run: show, plot and replay take it.

    Examples
    --------
    silosim import-metrics metrics.csv --on gaia --workload femnist -o imported.h5
    silosim import-metrics logs --run seed1 --on scenario.toml -o seed1.h5
    """
    check_new_run(output, force=force)
    if not is_scenario(study):
        _check_workload_is_given(study, context)
    experiment = experiment_of(study, context, rounds=LEAST_ROUNDS)
    simulation = experiment.simulation if engine is None else replace(experiment.simulation, engine=engine)
    overlays = asked_overlays(
        kind, options, experiment.overlays, arcs=arcs, weights=weights, both_ways=both_ways
    )
    experiment = experiment.changed(overlays=overlays, seed=experiment.seed, simulation=simulation)
    names = ColumnNames.of_options(
        round=round_,
        unit=unit,
        silo_loss=silo_loss,
        client=client,
        examples=examples,
        first_silo=first_silo,
        loss=loss,
        accuracy=accuracy,
        train_accuracy=train_accuracy,
        test_loss=test_loss,
    )
    is_known = is_scenario(study) or is_given(context, "local_steps")
    foreign = import_file(
        experiment,
        file,
        output,
        names=names,
        local_steps=experiment.work.common_steps if is_known else None,
        shift=shift,
        percent=percent,
        target_accuracy=target_accuracy,
        run=run,
        force=force,
    )
    record = read_run(output)
    caption = f"{output}: {run_name(file)}\n{record.about}"
    events = simulated_with(experiment.simulation.tables)
    print_table(run_table(record, caption, target_accuracy, one_curve=True, events=events), as_json)
    print(note_lines(*columns_note(foreign)), file=sys.stderr)


def _check_workload_is_given(study: opt.Study, context: typer.Context) -> None:
    """Raise an error where the default workload would stand for the model that the metrics are of."""
    if is_given(context, "workload"):
        return
    missing = [] if is_given(context, "model_size") else ["--model-size"]
    silos = ""
    if not is_given(context, "compute"):
        graph = study.graph()
        without = silos_without_compute(study.workload, graph)
        missing += ["--compute"] if without else []
        if 0 < len(without) < graph.silos:
            silos = f" ({graph.underlay.name} states no computing time of {', '.join(without)})"
    if missing:
        raise InputError(
            f"{' and '.join(missing)} must be given{silos}: the metrics are of a model and hardware that only you know "
            "(--workload names one of the paper's tasks instead)."
        )
