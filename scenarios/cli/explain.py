"""The command that explains an overlay's cycle time."""

from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.report.tables import print_table
from scenarios.studies.explanation import explanation_table
from topologies import DESIGNERS, RANDOM_DESIGNERS, InputError
from topologies import design as design_overlay


@opt.of_a_study()
def explain(
    study: opt.Study,
    kind: Annotated[str, typer.Option(help=f"Overlay to explain: {', '.join(DESIGNERS)}.")] = "ring",
    hub: opt.Hub = None,
    criterion: opt.Criterion = None,
    seed: Annotated[int, typer.Option(help="Seed of the search of best.", rich_help_panel="Overlays")] = 0,
    as_json: opt.Json = False,
) -> None:
    """Say which circuit limits an overlay, and what would help.

    The critical circuit bounds the throughput: what limits each of its arcs, and which upgrade of a link, or of two,
    helps most.

    Examples
    --------
    silosim explain geant --access "100 Mbps" --kind ring
    """
    if kind in RANDOM_DESIGNERS:
        raise InputError(
            f"kind(={kind!r}) is drawn anew each round, so no circuit bounds it; explain takes one that stays: "
            f"{', '.join(DESIGNERS)}."
        )
    options = opt.designer_options([kind], hub=hub, criterion=criterion, seed=seed)
    overlay = design_overlay(kind, study.graph(), study.work, **options.get(kind, {}))
    print_table(explanation_table(overlay), as_json)
