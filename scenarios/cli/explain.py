"""The command that explains an overlay's cycle time."""

from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.config.designer_options import read_options
from scenarios.config.overlays import design_any
from scenarios.report.table_formats import print_table
from scenarios.studies.explain import explanation_table
from topologies import DESIGNERS, RANDOM_DESIGNERS, InputError, Overlay


@opt.of_a_study()
@with_designer_options(DESIGNERS)
def explain(
    study: opt.Study,
    options: GivenOptions,
    kind: Annotated[str, typer.Option(help=f"Overlay to explain: {', '.join(DESIGNERS)}.")] = "ring",
    seed: Annotated[
        int, typer.Option(help="Seed of designers that take one, such as best.", rich_help_panel="Overlays")
    ] = 0,
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
            f"kind(={kind!r}) is a randomized overlay, so no circuit bounds it; explain takes a static one: "
            f"{', '.join(DESIGNERS)}."
        )
    read = read_options([kind], options)
    graph = study.graph()
    overlay = design_any(kind, graph, study.work(graph), read.get(kind), seed=seed)
    assert isinstance(overlay, Overlay)
    print_table(explanation_table(overlay), as_json)
