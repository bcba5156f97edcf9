"""The command that says which links to buy."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.cli.one_overlay import SCENARIO_KIND_HELP, one_overlay
from scenarios.cli.request import experiment_of, is_scenario
from scenarios.cli.table_and_figure import HELP, table_and_figure, write_both
from scenarios.config.scenario import validated
from scenarios.config.upgrade import UpgradeConfig
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle, figure_style
from scenarios.report.table_formats import print_table
from scenarios.report.tables import Table
from scenarios.runfile.claims import claimed
from scenarios.simulation.event_notes import simulated_without
from scenarios.studies.upgrade import upgrade_table
from topologies import DESIGNERS, PERIODIC_DESIGNERS, Overlay, PeriodicOverlay


@opt.of_a_study(or_scenario=True)
@with_designer_options((*DESIGNERS, *PERIODIC_DESIGNERS))
def upgrade(
    study: opt.Study,
    context: typer.Context,
    options: GivenOptions,
    kind: Annotated[str | None, typer.Option(help=f"Overlay: {SCENARIO_KIND_HELP}")] = None,
    arcs: opt.ArcsFile = None,
    weights: opt.WeightsFile = None,
    schedule: opt.ScheduleFile = None,
    both_ways: opt.BothWays = False,
    budget: Annotated[
        float | None,
        typer.Option(help="Most links to buy, or with --prices the most that they may cost in all."),
    ] = None,
    cycle_time: Annotated[
        str | None,
        typer.Option(help="Instead of a budget: the cycle time to reach at the lowest price, e.g. '50 ms'."),
    ] = None,
    prices: Annotated[
        str | None,
        typer.Option(
            help="CSV table of prices per added Gbps, with columns such as 'link' ('Dublin uplink', 'core link A - B', "
            "or a class: uplink, downlink, access, core, measured) and 'price per Gbps (EUR)'. [default: each link "
            "costs 1]",
        ),
    ] = None,
    factor: Annotated[
        float | None, typer.Option(help="Factor that capacities are raised by. [default: 2]")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Capacity that links are raised to instead, e.g. '10 Gbps'.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="Closed form that links are chosen by: load (the larger of paper and load), paper or serialized."
        ),
    ] = "load",
    rounds: Annotated[
        int | None,
        typer.Option(help="Rounds to simulate. [default: as many as an interval needs, or a second or two]"),
    ] = None,
    sharing: opt.Sharing = "maxmin",
    queueing: opt.Queueing = "fifo",
    engine: opt.NetworkEngine = "auto",
    seed: opt.Seed = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help=HELP)] = None,
    width: opt.Width = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Say which links to buy: cheapest sets and what they gain.

    The frontier of price against cycle time: at each price the best set of links to raise, by the closed form, with a
    proof that none is better, and confirmed by simulation. The overlay's arcs stay, of a periodic one its states. Of a
    scenario it takes network, workload, overlays and seed.

    Examples
    --------
    silosim upgrade geant --kind ring --budget 3
    silosim upgrade geant --cycle-time "500 ms" --prices prices.csv -o geant-links
    silosim upgrade study.toml --kind mst --budget 2
    """
    given = {
        "budget": budget,
        "cycle_time": cycle_time,
        "prices": prices,
        "factor": factor,
        "to": to,
        "by": by,
    }
    asked = validated(UpgradeConfig, given)
    style = figure_style(width, draws=output is not None) or DEFAULT_STYLE
    files = [] if output is None else table_and_figure(output)
    context.with_resource(claimed(files, force=force))
    experiment = experiment_of(study, context, rounds=1)
    left_out = simulated_without(experiment.simulation.tables)
    config = one_overlay(
        "upgrade",
        options,
        kind=kind,
        arcs=arcs,
        weights=weights,
        schedule=schedule,
        both_ways=both_ways,
        why="which has no fixed arcs",
        known=experiment.overlays if is_scenario(study) else (),
    )
    simulation = opt.simulation_config(1 if rounds is None else rounds, sharing, queueing, engine)
    experiment = experiment.with_settings({}, overlays=[config], seed=seed, most_rounds=1)
    overlay = experiment.design(config)
    assert isinstance(overlay, Overlay | PeriodicOverlay)
    table = upgrade_table(overlay, asked, simulation, rounds=rounds, seed=experiment.seed, left_out=left_out)
    write_both(files, table, partial(_plot, table, asked, style))
    print_table(table, as_json)
    if files:
        print(f"written: {', '.join(map(str, files))}", file=sys.stderr)


def _plot(table: Table, asked: UpgradeConfig, style: FigureStyle, path: Path) -> None:
    """The figure of the table."""
    # Here since matplotlib takes long to import.
    from scenarios.report.plots import plot_upgrade

    plot_upgrade(table, path, wanted_s=asked.wanted_s, style=style)
