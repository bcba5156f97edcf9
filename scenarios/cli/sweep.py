"""The command that designs and simulates overlays at several access capacities."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.config.designer_options import read_options
from scenarios.config.kinds import DEFAULT_KINDS
from scenarios.report.figure_formats import FIGURES
from scenarios.report.table_formats import find_format, print_table, write_tables
from scenarios.report.tables import Table
from scenarios.runfile.paths import check_new
from scenarios.studies.sweep import sweep as sweep_access
from topologies import DESIGNERS, RANDOM_DESIGNERS
from topologies.quantities import parse_quantity


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
    engine: opt.Engine = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="A table (FILE.csv, .json, .txt), a figure (FILE.png, .svg, .pdf), or a name without such an ending, "
            "for NAME.csv and NAME.png. [default: sweep-NETWORK]",
        ),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Design and simulate overlays at several access capacities.

    Prints a table, and writes it as CSV and as a figure.

    Examples
    --------
    silosim sweep geant --access "100 Mbps" "1 Gbps" "10 Gbps" -o sweep-geant
    """
    kinds = opt.each_once(kind, DEFAULT_KINDS)
    files = _outputs(output or Path(f"sweep-{Path(study.underlay).stem}"), force)
    capacities = [*access, *(more or [])]
    for text in capacities:
        parse_quantity("access", text, "bit/s")
    table = sweep_access(
        study.network,
        study.work(study.graph()),
        kinds,
        capacities,
        opt.simulation_config(rounds, sharing, queueing, engine),
        options=read_options(kinds, options),
    )
    for path in files:
        _write(path, table)
    print_table(table, as_json)
    print(f"written: {', '.join(map(str, files))}", file=sys.stderr)


def _outputs(path: Path, force: bool) -> list[Path]:
    """The files to write, checked."""
    files = [path]
    if path.suffix.lower() not in FIGURES and find_format(path) is None:
        files = [path.parent / (path.name and path.name + ending) for ending in (".csv", ".png")]
    for file in files:
        check_new(file, force=force)
    return files


def _write(path: Path, table: Table) -> None:
    """One file, by its ending."""
    if path.suffix.lower() not in FIGURES:
        write_tables(path, [table])
        return
    # Here since matplotlib takes long to import.
    from scenarios.report.plots import plot_sweep

    network, _, work = table.caption.splitlines()
    plot_sweep(table, path, title=f"{network}; {work}")
