"""The commands of ``silosim``."""

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from scenarios import cli_calibrate, cli_design, cli_import, cli_partition, cli_simulate, cli_validate
from scenarios import options as opt
from scenarios.command_line import CommandLine
from scenarios.config import Scenario, load_scenario, parse_scenario, preset_text
from scenarios.kept import drop_checkpoints, has_checkpoint, is_complete, rounds_reached
from scenarios.outputs import check_new, check_output, partial_path, write_text
from scenarios.processes import call_others, is_first
from scenarios.record import read_run
from scenarios.studies.comparison import run_table
from scenarios.studies.design import DEFAULT_KINDS
from scenarios.studies.replay import replay as replay_run
from scenarios.studies.run import run_scenario
from scenarios.studies.sweep import sweep as sweep_access
from scenarios.tables import note_lines, print_table
from topologies import InputError, MachineError, TrainingError
from training.tasks import TASKS

DEMO = "geant-digits"

app = CommandLine(
    name="silosim",
    help="Who sends to whom: design, simulate, train and replay cross-silo learning overlays.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    """Print the version and where the packages come from, then leave."""
    if wanted:
        print(f"silosim {version('silosim')}")
        for package in ("topologies", "simulator", "training", "scenarios"):
            print(f"{package:<11} {Path(str(import_module(package).__file__)).parent}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print versions and leave."),
    ] = False,
) -> None:
    pass


app.command()(cli_design.design)
app.command()(cli_design.explain)
app.command()(cli_design.tables)
app.command()(cli_validate.validate)
app.command()(cli_simulate.simulate)
app.command()(cli_import.import_metrics)
app.command()(cli_partition.partition)
app.command()(cli_calibrate.calibrate)


@app.command()
@opt.of_a_study(without=("access", "access_up", "access_down", "access_at"))
def sweep(
    study: opt.Study,
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
    from scenarios.plots import plot_sweep

    stem = output or Path(f"sweep-{Path(study.underlay).stem}")
    csv, figure = (stem.parent / (stem.name and stem.name + ending) for ending in (".csv", ".png"))
    check_new(csv, force=force)
    check_new(figure, force=force)
    table = sweep_access(
        study.network,
        study.work,
        opt.each_once(kind, DEFAULT_KINDS),
        [*access, *(more or [])],
        opt.simulation_config(rounds, sharing, queueing),
    )
    write_text(csv, table.to_csv())
    plot_sweep(table, figure, title=f"{table.caption.splitlines()[0]}; {table.caption.splitlines()[2]}")
    print_table(table, as_json)
    print(f"written: {csv}, {figure}", file=sys.stderr)


@app.command()
def run(
    scenario: Annotated[
        Path, typer.Argument(help=f"TOML file; [training] may name a task of the paper: {', '.join(TASKS)}.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="HDF5 file to write.")],
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on from the checkpoints of a run of this scenario that was cut short."
        ),
    ] = False,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Design, simulate, train and join: the whole path of a scenario, into one HDF5 file."""
    loaded, text = load_scenario(scenario)
    if resume and not force and is_first() and is_complete(output, loaded, text):
        drop_checkpoints(output)  # a kill may have come between the last row and their removal
        print(f"{output} is complete; there is nothing to resume", file=sys.stderr)
    else:
        _run(loaded, text, output, resume=resume, force=force, source=str(scenario))
    if is_first():
        show(output, as_json)


@app.command()
def show(run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")], as_json: opt.Json = False) -> None:
    """Print the tables of a run."""
    record = read_run(run)
    scenario = parse_scenario(record.scenario, source=f"{run} (scenario)")
    caption = f"{run}: {scenario.name}\n{record.about}"
    training = scenario.training
    table = run_table(
        record,
        caption,
        scenario.target_accuracy,
        one_curve=scenario.imported is not None,
        rounds=None if training is None else training.rounds,
        reached=rounds_reached(run, record),
    )
    print_table(table, as_json)


@app.command()
def plot(
    run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="PNG, PDF or SVG. [default: the run's name with .png]"),
    ] = None,
) -> None:
    """Draw loss and accuracy against rounds and against wall-clock time."""
    from scenarios.plots import plot_run

    record = read_run(run)
    scenario = parse_scenario(record.scenario, source=f"{run} (scenario)")
    figure = output or run.with_suffix(".png")
    figure = figure if figure.suffix else figure.with_suffix(".png")
    check_output(figure)
    network, links, _ = record.about.splitlines()
    plot_run(
        record,
        figure,
        title=f"{scenario.name}: {network}\n{links}",
        target_accuracy=scenario.target_accuracy,
        is_imported=scenario.imported is not None,
    )
    print(f"written: {figure}", file=sys.stderr)


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")],
    underlay: Annotated[str | None, typer.Option(help="Another network with as many silos.")] = None,
    access: Annotated[
        str | None, typer.Option(help="Other capacity of every access link, with unit.")
    ] = None,
    access_at: opt.AccessAt = None,
    silo_at: opt.SiloAt = None,
    blocked: opt.Blocked = None,
    core: Annotated[str | None, typer.Option(help="Other capacity of every core link, or 'stated'.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="HDF5 file to write. [default: RUN-replay.h5]")
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Replay a run's training on another network: new wall-clock times and picture, no training."""
    changes = {
        "underlay": underlay,
        "access": access,
        "access_at": opt.access_at_mapping(access_at),
        "silo_at": silo_at,
        "blocked": blocked,
        "core": core,
    }
    path = output or run.with_name(f"{run.stem}-replay.h5")
    check_output(path.with_suffix(".png"))
    left = replay_run(run, path, changes, force=force)
    show(path, as_json)
    for sentence in left:
        print(note_lines(sentence), file=sys.stderr)
    if any(overlay.history for overlay in read_run(path).overlays):
        plot(path)


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for scenario, run and picture.")
    ] = Path("out"),
) -> None:
    """Run the shipped example on the GEANT network: 40 silos, three overlays, real digits."""
    text = preset_text(DEMO)
    path, shown = output / "demo.h5", output / "demo.toml"
    if is_first():
        check_output(path)
        if shown.exists() and shown.read_bytes() != text.encode():
            raise InputError(
                f"{shown} differs from the shipped example and is kept; run it with: "
                f"silosim run {shown} -o {path} --force"
            )
        write_text(shown, text)
    _run(parse_scenario(text, source=f"{DEMO}.toml"), text, path, force=True, source=f"{DEMO}.toml")
    if is_first():
        show(path)
        plot(path)


def _run(
    scenario: Scenario, text: str, path: Path, *, force: bool, source: str, resume: bool = False
) -> None:
    """Run a scenario; where it is cut short, say what is kept."""
    try:
        run_scenario(scenario, text, path, force=force, resume=resume, source=source, call_others=call_others)
    except (KeyboardInterrupt, MachineError, TrainingError) as error:
        partial = partial_path(path)
        if is_first() and (partial.exists() or isinstance(error, KeyboardInterrupt)):
            kept = f"the finished rounds are in {partial}" if partial.exists() else "interrupted"
            hint = "; --resume goes on from the last checkpoint" if has_checkpoint(path) else ""
            print(f"silosim: {kept}{hint}", file=sys.stderr)
        raise
