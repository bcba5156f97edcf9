"""Commands that design overlays, explain them and reprint the published tables."""

import itertools
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios import options as opt
from scenarios.interrupts import check_interrupts
from scenarios.outputs import check_output, write_text
from scenarios.progress import bar
from scenarios.studies.design import DEFAULT_KINDS, RATES, design_table
from scenarios.studies.explanation import explanation_table
from scenarios.studies.published import NETWORKS, TABLES, published_table
from scenarios.tables import print_table, print_text
from topologies import DESIGNERS, RANDOM_DESIGNERS, InputError
from topologies import design as design_overlay
from topologies.errors import unknown_name

Seed = Annotated[
    int, typer.Option(help="Seed of overlays that are drawn anew each round, and of the search of best.")
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
    """Design overlays and print their cycle times, in closed form and simulated."""
    kinds = opt.each_once(kind, DEFAULT_KINDS)
    options = opt.designer_options(kinds, hub=hub, budget=budget, criterion=criterion, seed=seed)
    table = design_table(
        study.graph(), study.work, kinds, options, seed=seed, bound=bound, rates_from=rates_from
    )
    print_table(table, as_json)


@opt.of_a_study()
def explain(
    study: opt.Study,
    kind: Annotated[str, typer.Option(help=f"Overlay to explain: {', '.join(DESIGNERS)}.")] = "ring",
    hub: opt.Hub = None,
    criterion: opt.Criterion = None,
    seed: Annotated[int, typer.Option(help="Seed of the search of best.")] = 0,
    as_json: opt.Json = False,
) -> None:
    """Say which circuit bounds an overlay's throughput, what limits it, and which upgrade helps most."""
    if kind in RANDOM_DESIGNERS:
        raise InputError(
            f"kind(={kind!r}) is drawn anew each round, so no circuit bounds it; explain takes one that stays: "
            f"{', '.join(DESIGNERS)}."
        )
    options = opt.designer_options([kind], hub=hub, criterion=criterion, seed=seed)
    overlay = design_overlay(kind, study.graph(), study.work, **options.get(kind, {}))
    print_table(explanation_table(overlay), as_json)


def tables(
    network: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(NETWORKS)}; repeat for several. [default: all]"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file to write, all tables in it.")
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Reprint the paper's four cycle-time tables: published, ours, and ours with corrected inputs."""
    networks = opt.each_once(network, NETWORKS)
    for name in networks:
        if name not in NETWORKS:
            raise unknown_name("network", name, NETWORKS)
    if output is not None:
        check_output(output)
    done = itertools.count()
    with bar("tables", len(TABLES) * len(networks)) as advance:

        def begin(name: str) -> None:
            check_interrupts()
            advance(next(done), name)

        made = [published_table(published, begin, networks=networks) for published in TABLES]
    if output is not None:
        lines = [made[0].to_csv(), *(table.to_csv().split("\n", 1)[1] for table in made[1:])]
        write_text(output, "".join(lines))
        print(f"written: {output}", file=sys.stderr)
    if as_json:
        whole = [json.loads(table.to_json()) for table in made]
        print_text(json.dumps(whole, indent=1, ensure_ascii=False))
        return
    for number, table in enumerate(made):
        if number:
            print_text("")
        print_table(table, as_json)
