"""The command that holds the closed forms against the simulation."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.request import case_of, is_scenario
from scenarios.report.tables import Table, print_table, print_text
from scenarios.runfile.paths import check_new, write_text
from scenarios.simulation.case import Case
from scenarios.simulation.collect import FEWEST_ROUNDS
from scenarios.validation.circuit_table import circuit_table
from scenarios.validation.request import DEFAULT_ROUNDS, DRAWN_ROUNDS, MOST_ROUNDS, validation_case
from scenarios.validation.study import Validated
from scenarios.validation.study import validate as validate_overlays
from scenarios.validation.table import arc_rows, validation_table
from topologies import InputError

FIGURES = (".png", ".svg", ".pdf")


@opt.of_a_study(or_scenario=True)
def validate(
    study: opt.Study,
    context: typer.Context,
    kind: opt.Kinds = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help=f"Rounds to simulate, {FEWEST_ROUNDS} or more. [default: the scenario's, or {DEFAULT_ROUNDS}, "
            f"{DRAWN_ROUNDS} of random overlays, and 25 per silo where that is more; at most {MOST_ROUNDS} with "
            "--until-ci]"
        ),
    ] = None,
    until_ci: opt.UntilCi = None,
    compute_times: opt.ComputeTimes = None,
    seed: opt.Seed = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="FILE.csv, FILE.h5, a figure (.png, .svg, .pdf), or a folder for all three.",
        ),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Compare the closed forms with the simulation, and say why.

    A difference of more than 1 % is split into its causes, arc by arc of the critical circuit.

    Examples
    --------
    silosim validate geant --access "100 Mbps" -o validation
    silosim validate study.toml --json
    """
    case, drawn_rounds = validation_case(
        case_of(study, context, rounds=DEFAULT_ROUNDS),
        {"rounds": rounds, "until_ci": until_ci},
        kinds=kind,
        seed=seed,
        compute_times=compute_times,
        from_scenario=is_scenario(study),
    )
    files = _outputs(output, Path(study.underlay).stem, force)
    results = validate_overlays(case, drawn_rounds=drawn_rounds)
    table = validation_table(case, results)
    for path in files:
        _write(path, case, results, table, force)
    if as_json:
        arcs = [row for result in results for row in arc_rows(result)]
        print_text(json.dumps(json.loads(table.to_json()) | {"arcs": arcs}, indent=1, ensure_ascii=False))
    else:
        print_table(table, as_json)
        for result in results:
            if result.attribution is not None and result.is_worth_a_word:
                print_text("")
                print_table(circuit_table(result), as_json)
    if files:
        print(f"written: {', '.join(map(str, files))}", file=sys.stderr)


def _outputs(path: Path | None, stem: str, force: bool) -> list[Path]:
    """The files to write, checked."""
    if path is None:
        return []
    if path.suffix in (".csv", ".h5", *FIGURES) and not path.is_dir():
        files = [path]
    elif path.suffix and not path.is_dir():
        raise InputError(
            f"output(={str(path)!r}) must end in .csv, .h5, {', '.join(FIGURES)}, or be a folder."
        )
    else:
        files = [path / f"validation-{stem}{ending}" for ending in (".csv", ".h5", ".png")]
    for file in files:
        check_new(file, force=force)
    return files


def _write(path: Path, case: Case, results: Sequence[Validated], table: Table, force: bool) -> None:
    """One file, by its ending."""
    # Here since h5py and matplotlib take long to import.
    if path.suffix == ".h5":
        from scenarios.validation.file import write_validation

        write_validation(path, case, results, force=force)
    elif path.suffix == ".csv":
        write_text(path, table.to_csv())
    else:
        from scenarios.report.plots import plot_validation

        plot_validation(table, path, title=table.caption)
