"""Commands that explain designs and reprint the published tables."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios import options as opt
from scenarios.network import build_network, build_workload
from scenarios.outputs import check_output, write_text
from scenarios.progress import bar
from scenarios.studies.explanation import explanation_table
from scenarios.studies.published import TABLES, published_table
from scenarios.tables import Table, print_table
from topologies import design


def explain(
    underlay: opt.Underlay,
    kind: Annotated[str, typer.Option(help="Overlay to explain.")] = "ring",
    access: opt.Access = "10 Gbps",
    access_at: opt.AccessAt = None,
    core: opt.Core = None,
    bandwidth: opt.Bandwidth = "hop_share",
    latency: opt.Latency = "per_path",
    workload: opt.Preset = "inaturalist",
    model_size: opt.ModelSize = None,
    compute: opt.Compute = None,
    local_steps: opt.LocalSteps = 1,
    published: opt.Published = False,
    as_json: opt.Json = False,
) -> None:
    """Say which circuit bounds an overlay's throughput, what limits it, and which upgrade helps most."""
    network = opt.network_config(
        underlay,
        published,
        access=access,
        access_at=access_at,
        core=core,
        bandwidth=bandwidth,
        latency=latency,
    )
    work = build_workload(opt.workload_config(workload, model_size, compute, local_steps), network.variant)
    print_table(explanation_table(design(kind, build_network(network), work)), as_json)


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
