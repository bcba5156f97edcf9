"""The command that simulates overlays."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from scenarios.cli import options as opt
from scenarios.cli.designer_options import GivenOptions, with_designer_options
from scenarios.cli.request import experiment_of, is_scenario
from scenarios.config.kinds import all_kinds
from scenarios.config.overlay_config import asked_overlays
from scenarios.report.table_formats import format_of, print_table, write_tables
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import RUN_ENDINGS, check_new, partial_path
from scenarios.studies.simulate import simulate_table
from topologies import InputError, MachineError

DEFAULT_ROUNDS = 1000
MOST_ROUNDS = 100_000
"""Of a simulation that ends when its confidence interval is narrow enough."""


@opt.of_a_study(or_scenario=True)
@with_designer_options(all_kinds())
def simulate(
    study: opt.Study,
    context: typer.Context,
    options: GivenOptions,
    kind: opt.Kinds = None,
    arcs: opt.Arcs = None,
    weights: opt.Weights = None,
    schedule: opt.Schedules = None,
    both_ways: opt.BothWays = False,
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
    messages: Annotated[
        bool, typer.Option("--messages", help="Keep in FILE.h5 what happened to every model.")
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "-o", "--output", help="File to write: FILE.h5 (all rounds), or the table as .csv, .json or .txt."
        ),
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
    stored, table_files = _outputs(output or [], force)
    context.with_resource(claimed(table_files, force=force))
    if messages and stored is None:
        raise InputError("messages(=True) goes with -o FILE.h5, the only place where they are kept.")
    changes: dict[str, Any] = {
        "rounds": rounds,
        "sharing": sharing,
        "queueing": queueing,
        "engine": engine,
        "until_ci": until_ci,
        "messages": messages or None,
    }
    experiment = experiment_of(study, context, rounds=DEFAULT_ROUNDS).naming(kind)
    overlays = asked_overlays(
        kind,
        options,
        experiment.overlays,
        arcs=arcs,
        weights=weights,
        schedules=schedule,
        both_ways=both_ways,
    )
    experiment = experiment.with_settings(
        changes,
        overlays=overlays,
        seed=seed,
        most_rounds=MOST_ROUNDS,
        rounds=None if is_scenario(study) else DEFAULT_ROUNDS,
        compute_times=compute_times,
    )
    try:
        table = simulate_table(experiment, path=stored, force=force)
    except (KeyboardInterrupt, MachineError) as error:
        if stored is not None and partial_path(stored).exists():
            print(f"silosim: the finished rounds are in {partial_path(stored)}", file=sys.stderr)
        elif isinstance(error, KeyboardInterrupt):
            why = "as there is no -o FILE.h5" if stored is None else "as no round was complete"
            print(f"silosim: interrupted; nothing was kept, {why}", file=sys.stderr)
        raise
    for table_file in table_files:
        write_tables(table_file, [table])
    print_table(table, as_json)
    if output:
        print(f"written: {', '.join(map(str, output))}", file=sys.stderr)


def _outputs(paths: list[Path], force: bool) -> tuple[Path | None, list[Path]]:
    """The HDF5 file and the tables' files among the outputs, checked."""
    for path in paths:
        if path.suffix.lower() not in RUN_ENDINGS:
            format_of(path, others=RUN_ENDINGS)
    runs = [path for path in paths if path.suffix.lower() in RUN_ENDINGS]
    if len(runs) > 1:
        raise InputError(f"output must name one file that ends in {' or '.join(RUN_ENDINGS)} at most.")
    for path in runs:
        check_new(path, force=force)
    return next(iter(runs), None), [path for path in paths if path not in runs]
