"""The command that designs overlays."""

from dataclasses import replace
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.cli.request import experiment_of
from scenarios.config.kinds import all_kinds
from scenarios.config.overlay_config import asked_overlays
from scenarios.report.table_formats import print_table
from scenarios.simulation.experiment import Experiment
from scenarios.simulation.quick import SETTINGS
from scenarios.studies.design import RATES, design_table

Seed = Annotated[
    int | None,
    typer.Option(
        help="Seed of randomized overlays, and of designers that take one, such as best. [default: the scenario's, "
        "or 0]",
        rich_help_panel="Overlays",
    ),
]


@opt.of_a_study(or_scenario=True)
@with_designer_options(all_kinds())
def design(
    study: opt.Study,
    context: typer.Context,
    options: GivenOptions,
    kind: opt.Kinds = None,
    arcs: opt.Arcs = None,
    weights: opt.Weights = None,
    schedule: opt.Schedules = None,
    both_ways: opt.BothWays = False,
    seed: Seed = None,
    bound: Annotated[
        bool, typer.Option("--bound", help="Raise the lower bound by linear programs, as best does.")
    ] = False,
    rates_from: Annotated[
        str,
        typer.Option(help=f"Cycle times that rounds/s and vs STAR are of: {' or '.join(RATES)}."),
    ] = RATES[0],
    engine: opt.Engine = None,
    as_json: opt.Json = False,
) -> None:
    """Design overlays: cycle times in closed form and simulated.

    Examples
    --------
    silosim design geant --access "1 Gbps" --kind ring --kind matcha
    silosim design study.toml
    """
    experiment = experiment_of(study, context, rounds=1).naming(kind)
    overlays = asked_overlays(
        kind,
        options,
        experiment.overlays,
        arcs=arcs,
        weights=weights,
        schedules=schedule,
        both_ways=both_ways,
    )
    experiment = experiment.with_settings({"engine": engine}, overlays=overlays, seed=seed, most_rounds=1)
    table = design_table(
        experiment.graph,
        experiment.work,
        experiment.overlays,
        seed=experiment.seed,
        bound=bound,
        rates_from=rates_from,
        engine=experiment.simulation.engine,
        left_out=[*experiment.left_out, *_unused_notes(experiment)],
        consensus=experiment.consensus,
        label_shares=experiment.label_shares,
    )
    print_table(table, as_json)


def _unused_notes(experiment: Experiment) -> list[str]:
    """One sentence where a scenario's simulation is another one than that of the table."""
    own = experiment.simulation
    quick = replace(
        SETTINGS, rounds=own.rounds, engine=own.engine, messages=own.messages, until_ci=own.until_ci
    )
    if own == quick:
        return []
    return [
        "simulated: without what [simulation] of the scenario says of sharing, queueing, computing times and events, "
        "which silosim simulate takes."
    ]
