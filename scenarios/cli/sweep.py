"""The command that designs and simulates overlays at several access capacities."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.cli.request import experiment_of
from scenarios.cli.table_and_figure import HELP, table_and_figure, write_both
from scenarios.config.kinds import all_kinds
from scenarios.config.overlay_config import asked_overlays
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle, figure_style
from scenarios.report.table_formats import print_table
from scenarios.report.tables import Table
from scenarios.runfile.claims import claimed
from scenarios.runtime.workers import process_pool, worker_count
from scenarios.studies.sweep import sweep as sweep_access
from topologies.quantities import parse_quantity

DEFAULT_ROUNDS = 200


@opt.of_a_study(without=("access", "access_up", "access_down", "access_at"), or_scenario=True)
@with_designer_options(all_kinds())
def sweep(
    study: opt.Study,
    context: typer.Context,
    options: GivenOptions,
    access: Annotated[
        list[str], typer.Option(help="Capacities, with units: several after one --access, or repeated.")
    ],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    kind: opt.Kinds = None,
    arcs: opt.Arcs = None,
    weights: opt.Weights = None,
    schedule: opt.Schedules = None,
    both_ways: opt.BothWays = False,
    rounds: Annotated[
        int | None,
        typer.Option(help=f"Rounds to simulate. [default: the scenario's, or {DEFAULT_ROUNDS}]"),
    ] = None,
    sharing: Annotated[
        str | None,
        typer.Option(
            help="maxmin, equal (Eq. 3's rates), rtt_weighted, or an installed model. [default: the scenario's, or "
            "maxmin]"
        ),
    ] = None,
    queueing: Annotated[
        str | None, typer.Option(help="fifo or overlap. [default: the scenario's, or fifo]")
    ] = None,
    engine: opt.Engine = None,
    seed: opt.Seed = None,
    workers: Annotated[int, typer.Option(help="Processes that compute capacities.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help=f"{HELP} [default: sweep-NETWORK]"),
    ] = None,
    width: opt.Width = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Design and simulate overlays at several access capacities.

    Prints a table, and writes it as CSV and as a figure: the short form of a study, whose table the CSV is.

    Examples
    --------
    silosim sweep geant --access "100 Mbps" "1 Gbps" "10 Gbps" -o sweep-geant
    silosim sweep study.toml --access "100 Mbps" "1 Gbps"
    """
    style = figure_style(width) or DEFAULT_STYLE
    files = table_and_figure(output or Path(f"sweep-{study.network.name}.csv"))
    context.with_resource(claimed(files, force=force))
    experiment = experiment_of(study, context, rounds=DEFAULT_ROUNDS, own=("access",)).naming(kind)
    overlays = asked_overlays(
        kind,
        options,
        experiment.overlays,
        arcs=arcs,
        weights=weights,
        schedules=schedule,
        both_ways=both_ways,
    )
    capacities = [*access, *(more or [])]
    for text in capacities:
        parse_quantity("access", text, "bit/s")
    changes = {"rounds": rounds, "sharing": sharing, "queueing": queueing, "engine": engine}
    experiment = experiment.with_settings(changes, overlays=overlays, seed=seed, most_rounds=DEFAULT_ROUNDS)
    table = sweep_access(
        experiment.network,
        experiment.work,
        experiment.overlays,
        capacities,
        experiment.simulation,
        pool=process_pool(worker_count(workers)),
        workers=workers,
        seed=experiment.seed,
        left_out=experiment.left_out,
        consensus=experiment.consensus,
        training=None if experiment.label_shares is None else experiment.label_shares.training,
    )
    write_both(files, table, partial(_plot, table, style))
    print_table(table, as_json)
    print(f"written: {', '.join(map(str, files))}", file=sys.stderr)


def _plot(table: Table, style: FigureStyle, path: Path) -> None:
    """The figure of the table."""
    # Here since matplotlib takes long to import.
    from scenarios.report.plots import plot_sweep

    network, _, work = table.caption.splitlines()
    plot_sweep(table, path, title=f"{network}; {work}", style=style)
