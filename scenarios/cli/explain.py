"""The command that explains an overlay's cycle time."""

from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.cli.one_overlay import SCENARIO_KIND_HELP, one_overlay
from scenarios.cli.request import experiment_of, is_scenario
from scenarios.report.table_formats import print_table
from scenarios.studies.explain import explanation_table
from scenarios.studies.explain_periodic import periodic_explanation_table
from topologies import DESIGNERS, PERIODIC_DESIGNERS, Overlay, PeriodicOverlay


@opt.of_a_study(or_scenario=True)
@with_designer_options((*DESIGNERS, *PERIODIC_DESIGNERS))
def explain(
    study: opt.Study,
    context: typer.Context,
    options: GivenOptions,
    kind: Annotated[str | None, typer.Option(help=f"Overlay to explain: {SCENARIO_KIND_HELP}")] = None,
    arcs: opt.ArcsFile = None,
    weights: opt.WeightsFile = None,
    schedule: opt.ScheduleFile = None,
    both_ways: opt.BothWays = False,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of designers that take one, such as best. [default: the scenario's, or 0]",
            rich_help_panel="Overlays",
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Say which circuit limits an overlay, and what would help.

    The critical circuit bounds the throughput: what limits each of its arcs, and which upgrade of a link, or of two,
    helps most. Of a periodic overlay, the circuit of silos and states.

    Examples
    --------
    silosim explain geant --access "100 Mbps" --kind ring
    silosim explain study.toml --kind mst
    """
    experiment = experiment_of(study, context, rounds=1)
    config = one_overlay(
        "explain",
        options,
        kind=kind,
        arcs=arcs,
        weights=weights,
        schedule=schedule,
        both_ways=both_ways,
        why="so no circuit bounds it",
        known=experiment.overlays if is_scenario(study) else (),
    )
    overlay = experiment.with_settings({}, overlays=[config], seed=seed, most_rounds=1).design(config)
    if isinstance(overlay, PeriodicOverlay):
        table = periodic_explanation_table(overlay)
    else:
        assert isinstance(overlay, Overlay)
        table = explanation_table(overlay)
    print_table(table, as_json)
