"""The command that explains an overlay's cycle time."""

from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.config.overlay_config import asked_overlays
from scenarios.config.overlays import design_any
from scenarios.report.table_formats import print_table
from scenarios.studies.explain import explanation_table
from topologies import DESIGNERS, RANDOM_DESIGNERS, InputError, Overlay


@opt.of_a_study()
@with_designer_options(DESIGNERS)
def explain(
    study: opt.Study,
    options: GivenOptions,
    kind: Annotated[
        str | None, typer.Option(help=f"Overlay to explain: {', '.join(DESIGNERS)}. [default: ring]")
    ] = None,
    arcs: opt.ArcsFile = None,
    weights: opt.WeightsFile = None,
    both_ways: opt.BothWays = False,
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
    files = [file for file in (arcs, weights) if file is not None]
    if len(files) + (kind is not None) > 1:
        raise InputError("explain takes one overlay: --kind, --arcs or --weights.")
    (config,) = asked_overlays(
        None if files else [kind or "ring"],
        options,
        (),
        arcs=[arcs] if arcs else None,
        weights=[weights] if weights else None,
        both_ways=both_ways,
    )
    graph = study.graph()
    overlay = design_any(config, graph, study.work(graph), seed=seed)
    assert isinstance(overlay, Overlay)
    print_table(explanation_table(overlay), as_json)
