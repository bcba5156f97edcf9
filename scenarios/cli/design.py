"""The command that designs overlays."""

from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.config.overlays import DEFAULT_KINDS
from scenarios.report.tables import print_table
from scenarios.studies.design import RATES, design_table

Seed = Annotated[
    int,
    typer.Option(
        help="Seed of overlays that are drawn anew each round, and of the search of best.",
        rich_help_panel="Overlays",
    ),
]


@opt.of_a_study()
def design(
    study: opt.Study,
    kind: opt.Kinds = None,
    hub: opt.Hub = None,
    budget: opt.Budget = None,
    criterion: opt.Criterion = None,
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
    kinds = opt.each_once(kind, DEFAULT_KINDS)
    options = opt.designer_options(kinds, hub=hub, budget=budget, criterion=criterion, seed=seed)
    table = design_table(
        study.graph(), study.work, kinds, options, seed=seed, bound=bound, rates_from=rates_from
    )
    print_table(table, as_json)
