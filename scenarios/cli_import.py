"""The command that takes the metrics of other programs' trainings."""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from scenarios import options as opt
from scenarios.case import case_of
from scenarios.config import ImportedConfig
from scenarios.metrics import read_history
from scenarios.metrics_columns import OPTIONS, ColumnNames
from scenarios.metrics_files import read_rows
from scenarios.outputs import check_new
from scenarios.record import read_run
from scenarios.studies.comparison import run_table
from scenarios.studies.imported import columns_note, import_run, run_name
from scenarios.tables import note_lines, print_table
from topologies import InputError

_LEAST_ROUNDS = 200
On = Annotated[
    str, typer.Option("--on", metavar="UNDERLAY", help="Network (a name or a GML file), or SCENARIO.toml.")
]


def _underlay_as_option(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the first argument of a study's command into ``--on``, as the file of metrics comes first."""
    signature = inspect.signature(command)
    changed = [p.replace(annotation=On) if p.name == "underlay" else p for p in signature.parameters.values()]
    vars(command)["__signature__"] = signature.replace(parameters=changed)
    return command


@_underlay_as_option
@opt.of_a_study()
def import_metrics(
    study: opt.Study,
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV, JSON lines, TensorBoard event file or folder of these.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="HDF5 file to write.")],
    kind: opt.Kinds = None,
    round_: Annotated[
        str | None,
        typer.Option(
            "--round",
            help="Column of the round: how many are done. [default: a usual name, such as round or step]",
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
            help="Columns of the silos' losses: {silo} is a label or a number from 0. "
            "[default: silo_loss/{silo}, if there]"
        ),
    ] = None,
    percent: Annotated[bool, typer.Option("--percent", help="The file's accuracies are in percent.")] = False,
    shift: Annotated[
        int, typer.Option(help="Added to every round: 1 where the file calls the first trained round 0.")
    ] = 0,
    target_accuracy: Annotated[
        float | None, typer.Option(help="Test accuracy whose first round and time the table shows.")
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Join loss and accuracy per round of another program's training with simulated overlays: a run's file."""
    check_new(output, force=force)
    imported = ImportedConfig(file=str(file), target_accuracy=target_accuracy)
    case = case_of(study, context, rounds=_LEAST_ROUNDS)
    case = case.changed(kinds=opt.each_once(kind, case.kinds), seed=case.seed, simulation=case.simulation)
    given = {"loss": loss, "accuracy": accuracy, "train_accuracy": train_accuracy, "test_loss": test_loss}
    names = ColumnNames(
        round=round_,
        metrics={field: name for field, option in OPTIONS.items() if (name := given[option]) is not None},
        silo_loss=silo_loss,
    )
    foreign = read_history(
        read_rows(file), names, case.graph.labels, source=str(file), shift=shift, percent=percent
    )
    if target_accuracy is not None and "test_accuracy" not in foreign.columns.metrics:
        raise InputError(
            f"target_accuracy(={target_accuracy}) needs a test accuracy; --accuracy names its column."
        )
    import_run(case, foreign, imported, output, force=force)
    record = read_run(output)
    print_table(run_table(record, f"{output}: {run_name(file)}\n{record.about}", target_accuracy), as_json)
    print(note_lines(*columns_note(foreign, overlays=len(case.kinds))), file=sys.stderr)
