"""The command that replays a run's training on another network."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from scenarios.cli import options as opt
from scenarios.cli.plot import draw_record
from scenarios.cli.table_and_figure import table_and_figure, write_both
from scenarios.config.replay_changes import ReplayChanges, altered_learning, replay_changes
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle, figure_style
from scenarios.report.table_formats import print_table
from scenarios.report.tables import Table, note_lines
from scenarios.runfile.claims import claimed
from scenarios.runfile.file_checksum import unverified
from scenarios.runfile.paths import check_new_run
from scenarios.runfile.reader import RunRecord, read_run
from scenarios.studies.relocation import RecordedRun
from scenarios.studies.replay import replay as replay_run
from scenarios.studies.replay_times import replay_times
from scenarios.studies.run_summary import summary_of
from topologies import InputError
from topologies.errors import quoted

_Learning = Annotated[str | None, typer.Option(hidden=True)]
"""Of an option that would alter the learning, and is answered with that."""


def replay(
    run: Annotated[Path, typer.Argument(help="HDF5 file of a run.")],
    context: typer.Context,
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    underlay: Annotated[str | None, typer.Option(help="Another network with as many silos.")] = None,
    access: Annotated[
        list[str] | None,
        typer.Option(
            help="Other capacity of every access link, with unit. Several after one --access, or repeated, make a "
            "table and a figure of times to the target."
        ),
    ] = None,
    access_up: Annotated[str | None, typer.Option(help="Other capacity of every uplink.")] = None,
    access_down: Annotated[str | None, typer.Option(help="Other capacity of every downlink.")] = None,
    access_at: opt.AccessAt = None,
    silo_at: opt.SiloAt = None,
    blocked: opt.Blocked = None,
    window: opt.Window = None,
    window_at: opt.WindowAt = None,
    streams: Annotated[
        int | None, typer.Option(help="Other number of parallel streams of every transfer.")
    ] = None,
    streams_at: opt.StreamsAt = None,
    slow_start: Annotated[
        str | None,
        typer.Option(
            help="Messages that open their windows slowly: none, first, idle or always. [default: the run's]"
        ),
    ] = None,
    core: Annotated[str | None, typer.Option(help="Other capacity of every core link, or 'stated'.")] = None,
    internal_only: opt.InternalOnly = False,
    largest_component: opt.LargestComponent = False,
    model_size: Annotated[
        str | None,
        typer.Option(help="Other size of the messages, e.g. '42.9 MB'; what was trained stays as it is."),
    ] = None,
    overhead: opt.Overhead = None,
    compute: Annotated[
        str | None, typer.Option(help="Other time of a local step, of every silo, e.g. '25 ms'.")
    ] = None,
    compute_at: opt.ComputeAt = None,
    overlap: opt.Overlap = None,
    compute_times: opt.ComputeTimes = None,
    sharing: Annotated[
        str | None,
        typer.Option(
            help="maxmin, equal (Eq. 3's rates), rtt_weighted, or an installed model. [default: the run's]"
        ),
    ] = None,
    queueing: Annotated[str | None, typer.Option(help="fifo or overlap. [default: the run's]")] = None,
    events: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with tables of events, [[simulation.capacity]] and so on, in place of the run's."
        ),
    ] = None,
    no_events: Annotated[bool, typer.Option("--no-events", help="Leave out the run's events.")] = False,
    engine: opt.Engine = None,
    target_accuracy: Annotated[
        float | None, typer.Option(help="Test accuracy that times are to. [default: the run's]")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="HDF5 file to write [default: RUN-replay.h5]. With several capacities the table and the figure: NAME "
            "for NAME.csv and NAME.png, or with an ending in place of one of these [default: RUN-times].",
        ),
    ] = None,
    width: opt.Width = None,
    force: opt.Force = False,
    no_verify: opt.NoVerify = False,
    as_json: opt.Json = False,
    local_steps: _Learning = None,
    local_steps_at: _Learning = None,
    kind: _Learning = None,
    arcs: _Learning = None,
    weights: _Learning = None,
    consensus: _Learning = None,
    seed: _Learning = None,
) -> None:
    """Replay a run on another network: new times, no training.

    The rows of the training stay as they are; their wall-clock times and the picture are those of the other network,
    workload or events. With several capacities: when each overlay reaches the target at each, as a table and a figure.

    Examples
    --------
    silosim replay study.h5 --access "100 Mbps" -o slow.h5
    silosim replay study.h5 --access "100 Mbps" "1 Gbps" "10 Gbps"
    """
    learning = {
        "local_steps": local_steps,
        "local_steps_at": local_steps_at,
        "kind": kind,
        "arcs": arcs,
        "weights": weights,
        "consensus": consensus,
        "seed": seed,
    }
    for name, value in learning.items():
        if value is not None:
            raise altered_learning(name, value=value)
    if more and not access:
        raise InputError(f"{quoted(more[0])} must follow an option, for instance --access.")
    if events is not None and no_events:
        raise InputError("events must not be given with --no-events.")
    context.with_resource(unverified(no_verify))
    style = figure_style(width) or DEFAULT_STYLE
    capacities = [*(access or []), *(more or [])]
    changes = replay_changes(
        underlay=underlay,
        access_up=access_up,
        access_down=access_down,
        access_at=opt.by_silo("access_at", access_at, opt.CAPACITY_AT),
        silo_at=silo_at,
        blocked=blocked,
        window=window,
        window_at=opt.by_silo("window_at", window_at, opt.WINDOW_AT),
        streams=streams,
        streams_at=opt.numbers_by_silo("streams_at", streams_at, opt.STREAMS_AT),
        slow_start=slow_start,
        core=core,
        internal_only=internal_only,
        largest_component=largest_component,
        model_size=model_size,
        overhead=overhead,
        compute=compute,
        compute_at=opt.by_silo("compute_at", compute_at, opt.TIME_AT),
        overlap=overlap,
        compute_times=compute_times,
        sharing=sharing,
        queueing=queueing,
        engine=engine,
        events={} if no_events else events,
        target_accuracy=target_accuracy,
    )
    if len(capacities) > 1:
        path = output or run.with_name(f"{run.stem}-times.csv")
        _table(run, capacities, changes, path, style, force, as_json)
        return
    if capacities:
        changes = changes.with_access(capacities[0])
    path = output or run.with_name(f"{run.stem}-replay.h5")
    picture = path.with_suffix(".png")
    check_new_run(path, force=force)
    recorded = RecordedRun.open(run)
    if _is_trained(recorded.record):
        context.with_resource(claimed([picture], force=force))
    left = replay_run(recorded, path, changes, force=force)
    moved = read_run(path)
    print_table(summary_of(path, moved), as_json)
    _say(left)
    if _is_trained(moved):
        draw_record(moved, picture, style)


def _table(
    run: Path,
    capacities: list[str],
    changes: ReplayChanges,
    output: Path,
    style: FigureStyle,
    force: bool,
    as_json: bool,
) -> None:
    """Write and print the times at several capacities."""
    files = table_and_figure(output)
    with claimed(files, force=force):
        table, left = replay_times(run, capacities, changes)
        write_both(files, table, partial(_plot, run, table, style))
    print_table(table, as_json)
    _say(left)
    print(f"written: {', '.join(map(str, files))}", file=sys.stderr)


def _plot(run: Path, table: Table, style: FigureStyle, path: Path) -> None:
    """The figure of the table."""
    # Here since matplotlib takes long to import.
    from scenarios.report.plots import plot_times

    title, network, _, work, *_ = table.caption.splitlines()
    whole = f"{title.removeprefix(f'{run}: ')}: {network}; {work}"
    plot_times(table, path, title=whole, style=style)


def _say(sentences: tuple[str, ...]) -> None:
    """Print notes on standard error."""
    for sentence in sentences:
        print(note_lines(sentence), file=sys.stderr)


def _is_trained(record: RunRecord) -> bool:
    """Whether a run has rows of a training, and so a picture."""
    return any(overlay.history for overlay in record.overlays)
