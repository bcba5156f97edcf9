"""The command that designs and simulates overlays at several access capacities."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.config.designer_options import read_options
from scenarios.config.overlays import DEFAULT_KINDS, check_kinds
from scenarios.report.tables import print_table
from scenarios.runfile.paths import check_new, write_text
from scenarios.studies.sweep import sweep as sweep_access
from topologies import DESIGNERS, RANDOM_DESIGNERS


@opt.of_a_study(without=("access", "access_up", "access_down", "access_at"))
@with_designer_options((*DESIGNERS, *RANDOM_DESIGNERS))
def sweep(
    study: opt.Study,
    options: GivenOptions,
    access: Annotated[
        list[str], typer.Option(help="Capacities, with units: several after one --access, or repeated.")
    ],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    kind: opt.Kinds = None,
    rounds: opt.Rounds = 200,
    sharing: opt.Sharing = "maxmin",
    queueing: opt.Queueing = "fifo",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Stem of the CSV and the figure. [default: sweep-UNDERLAY]"),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Design and simulate every overlay at several access capacities: table, CSV and figure."""
    from scenarios.report.plots import plot_sweep

    stem = output or Path(f"sweep-{Path(study.underlay).stem}")
    csv, figure = (stem.parent / (stem.name and stem.name + ending) for ending in (".csv", ".png"))
    check_new(csv, force=force)
    check_new(figure, force=force)
    kinds = opt.each_once(kind, DEFAULT_KINDS)
    check_kinds("overlay kind", kinds)
    table = sweep_access(
        study.network,
        study.work,
        kinds,
        [*access, *(more or [])],
        opt.simulation_config(rounds, sharing, queueing),
        options=read_options(kinds, options),
    )
    write_text(csv, table.to_csv())
    plot_sweep(table, figure, title=f"{table.caption.splitlines()[0]}; {table.caption.splitlines()[2]}")
    print_table(table, as_json)
    print(f"written: {csv}, {figure}", file=sys.stderr)
