"""The command that simulates overlays."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from scenarios.cli import options as opt
from scenarios.cli.request import case_of, is_scenario
from scenarios.report.tables import print_table
from scenarios.runfile.paths import check_new, partial_path, write_text
from scenarios.studies.simulate import simulate_table
from topologies import InputError, MachineError

DEFAULT_ROUNDS = 1000
MOST_ROUNDS = 100_000
"""Of a simulation that ends when its confidence interval is narrow enough."""


@opt.of_a_study(or_scenario=True)
def simulate(
    study: opt.Study,
    context: typer.Context,
    kind: opt.Kinds = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help=f"Rounds to simulate. [default: the scenario's, or {DEFAULT_ROUNDS}, and 25 per silo where that is "
            f"more; at most {MOST_ROUNDS} with --until-ci]"
        ),
    ] = None,
    until_ci: opt.UntilCi = None,
    compute_times: opt.ComputeTimes = None,
    sharing: Annotated[
        str | None, typer.Option(help="maxmin, or equal (Eq. 3's rates). [default: maxmin]")
    ] = None,
    queueing: Annotated[str | None, typer.Option(help="fifo or overlap. [default: fifo]")] = None,
    seed: opt.Seed = None,
    budget: opt.Budget = None,
    messages: Annotated[
        bool, typer.Option("--messages", help="Keep in FILE.h5 what happened to every model.")
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="File to write: FILE.h5 (all rounds) or FILE.csv (the table)."),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Simulate overlays round by round on shared links.

    Cycle times with their 95 % intervals and the busiest links; all rounds in a file with -o FILE.h5.

    Examples
    --------
    silosim simulate gaia --access "1 Gbps" --kind ring --rounds 500 -o ring.h5
    silosim simulate study.toml --until-ci 0.5%
    """
    stored, table_file = _outputs(output or [], force)
    if messages and stored is None:
        raise InputError("messages(=True) goes with -o FILE.h5, the only place where they are kept.")
    changes: dict[str, Any] = {
        "rounds": rounds,
        "sharing": sharing,
        "queueing": queueing,
        "until_ci": until_ci,
        "messages": messages or None,
    }
    case = case_of(study, context, rounds=DEFAULT_ROUNDS).with_settings(
        changes,
        kinds=kind,
        seed=seed,
        most_rounds=MOST_ROUNDS,
        rounds=None if is_scenario(study) else DEFAULT_ROUNDS,
        compute_times=compute_times,
    )
    families = opt.designer_options(case.kinds, budget=budget)
    options = {kind: families.get("matcha" if kind.startswith("matcha") else kind, {}) for kind in case.kinds}
    try:
        table = simulate_table(case, options=options, path=stored, force=force)
    except (KeyboardInterrupt, MachineError) as error:
        if stored is not None and partial_path(stored).exists():
            print(f"silosim: the finished rounds are in {partial_path(stored)}", file=sys.stderr)
        elif isinstance(error, KeyboardInterrupt):
            why = "as there is no -o FILE.h5" if stored is None else "as no round was complete"
            print(f"silosim: interrupted; nothing was kept, {why}", file=sys.stderr)
        raise
    if table_file is not None:
        write_text(table_file, table.to_csv())
    print_table(table, as_json)
    if output:
        print(f"written: {', '.join(map(str, output))}", file=sys.stderr)


def _outputs(paths: list[Path], force: bool) -> tuple[Path | None, Path | None]:
    """The HDF5 file and the CSV file among the outputs, checked."""
    found: dict[str, Path] = {}
    for path in paths:
        if path.suffix not in (".h5", ".csv") or path.suffix in found:
            raise InputError(f"output(={str(path)!r}) must end in .h5 or .csv, one of each at most.")
        found[path.suffix] = path
    for path in found.values():
        check_new(path, force=force)
    return found.get(".h5"), found.get(".csv")
