"""The command that designs overlays."""

from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.config.kinds import all_kinds
from scenarios.config.overlay_config import asked_overlays, default_overlays, left_out_note
from scenarios.report.table_formats import print_table
from scenarios.studies.design import RATES, design_table

Seed = Annotated[
    int,
    typer.Option(
        help="Seed of randomized overlays, and of designers that take one, such as best.",
        rich_help_panel="Overlays",
    ),
]


@opt.of_a_study()
@with_designer_options(all_kinds())
def design(
    study: opt.Study,
    options: GivenOptions,
    kind: opt.Kinds = None,
    arcs: opt.Arcs = None,
    weights: opt.Weights = None,
    schedule: opt.Schedules = None,
    both_ways: opt.BothWays = False,
    seed: Seed = 0,
    bound: Annotated[
        bool, typer.Option("--bound", help="Raise the lower bound by linear programs, as best does.")
    ] = False,
    rates_from: Annotated[
        str,
        typer.Option(help=f"Cycle times that rounds/s and vs STAR are of: {' or '.join(RATES)}."),
    ] = RATES[0],
    as_json: opt.Json = False,
) -> None:
    """Design overlays: cycle times in closed form and simulated.

    Examples
    --------
    silosim design geant --access "1 Gbps" --kind ring --kind matcha
    """
    graph = study.graph()
    overlays = asked_overlays(
        kind,
        options,
        default_overlays(graph),
        arcs=arcs,
        weights=weights,
        schedules=schedule,
        both_ways=both_ways,
    )
    table = design_table(
        graph,
        study.work(graph),
        overlays,
        seed=seed,
        bound=bound,
        rates_from=rates_from,
        left_out=() if kind else left_out_note(graph),
    )
    print_table(table, as_json)
