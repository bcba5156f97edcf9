"""The command that holds the closed forms against the simulation."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios import options as opt
from scenarios.outputs import check_output, write_text
from scenarios.progress import bar
from scenarios.studies.design import DEFAULT_KINDS
from scenarios.studies.validation import arc_rows, validation_table
from scenarios.studies.validation import validate as validate_overlays
from scenarios.tables import print_table


@opt.of_a_study()
def validate(
    study: opt.Study,
    kind: opt.Kinds = None,
    rounds: opt.Rounds = 2000,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="CSV file to write.")] = None,
    as_json: opt.Json = False,
) -> None:
    """Hold the closed forms against the simulation, and say why they differ."""
    if output is not None:
        check_output(output)
    kinds, graph = opt.each_once(kind, DEFAULT_KINDS), study.graph()
    with bar("validate", len(kinds)) as advance:
        results = validate_overlays(graph, study.work, kinds, rounds=rounds, advance=advance)
    table = validation_table(graph, study.work, results)
    if output is not None:
        write_text(output, table.to_csv())
        print(f"written: {output}", file=sys.stderr)
    if as_json:
        arcs = [row for result in results for row in arc_rows(result)]
        print(json.dumps(json.loads(table.to_json()) | {"arcs": arcs}, indent=1, ensure_ascii=False))
        return
    print_table(table, as_json)
