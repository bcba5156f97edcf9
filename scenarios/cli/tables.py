"""The command that reprints the published tables."""

import itertools
import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.report.table_formats import format_of, print_tables, write_tables
from scenarios.runfile.claims import claimed
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts
from scenarios.studies.multigraph_table import DATA_SETS, multigraph_table
from scenarios.studies.published_tables import NETWORKS, TABLES, published_table
from simulator.input_checks import ENGINES, check_choice
from topologies import InputError
from topologies.errors import Field, unknown_name

PAPERS = ("paper", "multigraph")
"""Whose tables."""


def tables(
    context: typer.Context,
    paper: Annotated[
        str,
        typer.Argument(
            metavar="[PAPER]",
            help="paper: the four tables of Marfoq et al. (NeurIPS 2020). multigraph: the cycle times of Do, Nguyen et "
            "al. (ICCV 2023).",
        ),
    ] = PAPERS[0],
    network: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(NETWORKS)}; repeat for several. [default: all]"),
    ] = None,
    engine: opt.NetworkEngine = "auto",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File to write, all tables in it: FILE.csv, .json or .txt."),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Reprint the paper's tables of cycle times beside ours.

    Four tables: published, ours from the published inputs, and ours from corrected ones. Or those of the multigraph:
    published, three readings of what a round takes, and simulated, with the RING beside it.

    Examples
    --------
    silosim tables --network gaia --network geant -o tables.csv
    silosim tables multigraph --network gaia --engine simpy
    """
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
    check_choice("engine", engine, ENGINES)
    if paper == PAPERS[0] and engine != "auto":
        raise InputError(
            "goes with silosim tables multigraph; the paper's tables are closed forms.",
            field=Field("engine", value=engine),
        )
    networks = list(dict.fromkeys(network or NETWORKS))
    for name in networks:
        if name not in NETWORKS:
            raise unknown_name("network", name, NETWORKS)
    if output is not None:
        format_of(output)
        context.with_resource(claimed([output], force=force))
    done = itertools.count()
    many = len(TABLES if paper == PAPERS[0] else DATA_SETS)
    with bar("tables", many * len(networks)) as advance:

        def begin(name: str) -> None:
            check_interrupts()
            advance(next(done), name)

        if paper == PAPERS[0]:
            made = [published_table(published, begin, networks=networks) for published in TABLES]
        else:
            made = [
                multigraph_table(data_set, begin, networks=networks, engine=engine) for data_set in DATA_SETS
            ]
    if output is not None:
        write_tables(output, made)
        print(f"written: {output}", file=sys.stderr)
    print_tables(made, as_json)
