"""Commands that design overlays, explain them and reprint the published tables."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from scenarios import options as opt
from scenarios.outputs import check_output, write_text
from scenarios.progress import bar
from scenarios.studies.design import DEFAULT_KINDS, design_table
from scenarios.studies.explanation import explanation_table
from scenarios.studies.published import TABLES, published_table
from scenarios.tables import Table, print_table
from topologies import DESIGNERS, RANDOM_DESIGNERS, InputError
from topologies import design as design_overlay


@opt.of_a_study()
def design(
    study: opt.Study,
    kind: opt.Kinds = None,
    hub: opt.Hub = None,
    budget: Annotated[
        float, typer.Option(help="MATCHA's communication budget C_b, over 0 and at most 1.")
    ] = 0.5,
    criterion: Annotated[
        str, typer.Option(help="What best minimises: paper, serialized, or all (the largest closed form).")
    ] = "paper",
    seed: Annotated[int, typer.Option(help="Seed of overlays that are drawn anew each round.")] = 0,
    as_json: opt.Json = False,
) -> None:
    """Design overlays and print their cycle times in closed form."""
    options: dict[str, dict[str, Any]] = {
        "star": {"hub": hub},
        "best": {"criterion": criterion},
        "matcha": {"budget": budget},
    }
    kinds = opt.each_once(kind, DEFAULT_KINDS)
    print_table(design_table(study.graph(), study.work, kinds, options, seed=seed), as_json)


@opt.of_a_study()
def explain(
    study: opt.Study,
    kind: Annotated[str, typer.Option(help="Overlay to explain.")] = "ring",
    hub: opt.Hub = None,
    as_json: opt.Json = False,
) -> None:
    """Say which circuit bounds an overlay's throughput, what limits it, and which upgrade helps most."""
    if kind in RANDOM_DESIGNERS:
        raise InputError(
            f"kind(={kind!r}) is drawn anew each round, so no circuit bounds it; explain takes one that stays: "
            f"{', '.join(DESIGNERS)}."
        )
    if hub is not None and kind != "star":
        raise InputError(f"hub(={hub!r}) goes with the kind star, not with {kind}.")
    options = {} if hub is None else {"hub": hub}
    print_table(explanation_table(design_overlay(kind, study.graph(), study.work, **options)), as_json)


def tables(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file to write, all tables in it.")
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Reprint the paper's four cycle-time tables: published, ours, and ours with corrected inputs."""
    if output is not None:
        check_output(output)
    made: list[Table] = []
    with bar("tables", len(TABLES)) as advance:
        for published in TABLES:
            made.append(published_table(published))
            advance(len(made))
    if output is not None:
        lines = [made[0].to_csv(), *(table.to_csv().split("\n", 1)[1] for table in made[1:])]
        write_text(output, "".join(lines))
        print(f"written: {output}", file=sys.stderr)
    if as_json:
        print(json.dumps([json.loads(table.to_json()) for table in made], indent=1, ensure_ascii=False))
        return
    for table in made:
        print_table(table, as_json)
