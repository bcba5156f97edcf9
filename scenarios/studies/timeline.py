"""Who computes, sends, receives and waits in some rounds of a run, and for whom."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import h5py
import numpy as np

from scenarios.config.compute_times import compute_times
from scenarios.config.error_context import located
from scenarios.config.network import build_network
from scenarios.config.place_text import place_text
from scenarios.export.trace_events import write_trace
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle, figure_style
from scenarios.report.table_formats import format_of, write_tables
from scenarios.report.tables import Table
from scenarios.report.timeline_table import ALONE, EXPLANATION, PERIODIC, timeline_table
from scenarios.runfile.claims import claimed
from scenarios.runfile.names import link_names
from scenarios.runfile.overlay_timeline import OverlayTimeline
from scenarios.runfile.reader import OverlayRecord, open_file
from scenarios.runfile.round_window import RoundWindow, has_messages, read_window, recorded_starts
from scenarios.runfile.run_tables import RunPart
from scenarios.runfile.simulated_rounds import recorded_absences
from scenarios.simulation.simulated_window import simulated_window
from scenarios.studies.relocation import RecordedRun, recorded_job
from simulator import Constant, FlowArc, Job
from simulator.activity import Sent, activity, start_error
from simulator.engines import choose_engine
from simulator.input_checks import ENGINES, check_choice
from simulator.rounds import RoundPlan, lag_rows
from simulator.sharing import SharingModel, sharing_model
from simulator.world.absence_rounds import times_as_recorded
from simulator.world.effects import Effects, effects_of
from topologies import Connectivity, InputError
from topologies.arrays import FloatArray
from topologies.errors import Field

DEFAULT_ROUNDS = 6
"""The first rounds, which are shown unless others are asked for."""
TRACE = ".json"
_MORE_ROUNDS = 1000
"""Of a simulation that is made again, beyond those that are shown."""
_AGREEMENT = 1e-9
"""Relative difference of dates that is more than rounding."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Shown:
    """A timeline with what is to be said of it.

    Attributes
    ----------
    timeline : OverlayTimeline
    place : str
        Network and access capacities.
    simulated_again : bool
        Whether the run did not keep its messages, so that its rounds were simulated again.
    engine : {"simpy", "compiled", ""}
        That simulated them again, if any did.
    notes : tuple of str
    """

    timeline: OverlayTimeline
    place: str
    simulated_again: bool
    engine: str
    notes: tuple[str, ...]

    @property
    def table(self) -> Table:
        """How each silo spends the rounds."""
        return timeline_table(
            self.timeline,
            further={"simulated_again": self.simulated_again, "engine": self.engine},
            notes=self.notes,
        )


def timeline(
    path: Path,
    *,
    rounds: slice | None = None,
    overlay: str | Sequence[str] | None = None,
    engine: str | None = None,
    output: Path | None = None,
    width: str | None = None,
    force: bool,
) -> tuple[Table, ...]:
    """Say who computes, sends, receives and waits in some rounds of a run, and for whom.

    Parameters
    ----------
    path : Path
        The HDF5 file, complete or cut short.
    rounds : slice, optional
        By default the first `DEFAULT_ROUNDS`.
    overlay : str or sequence of str, optional
        By default all that were simulated.
    engine : {"auto", "simpy", "compiled"}, optional
        Of rounds that are simulated again; by default the run's.
    output : Path, optional
        A figure, a trace or a table, by its ending.
    width : str, optional
        Of the figure: see `scenarios.report.figure_style.figure_style`.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    tuple of Table
        One for each overlay.

    Raises
    ------
    InputError
        If the file is not that of a run, has no such overlay or fewer rounds, or the output cannot be written.
    KeyboardInterrupt
        After Ctrl-C; nothing is left.
    """
    draws = output is not None and output.suffix.lower() in FIGURES
    style = figure_style(width, draws=draws) or DEFAULT_STYLE
    if output is None:
        return tuple(each.table for each in timelines(path, rounds=rounds, overlay=overlay, engine=engine))
    if output.suffix.lower() not in (*FIGURES, TRACE):
        format_of(output, others=FIGURES)
    with claimed([output], force=force):
        shown = timelines(path, rounds=rounds, overlay=overlay, engine=engine, most_rows=_most_rows(output))
        _write(path, shown, output, style, force=force)
    return tuple(each.table for each in shown)


def _write(path: Path, shown: Sequence[Shown], output: Path, style: FigureStyle, *, force: bool) -> None:
    """Write the timelines of a run into the file that its ending asks for."""
    if (ending := output.suffix.lower()) == TRACE:
        write_trace(output, [each.timeline for each in shown], title=path.name, force=force)
    elif ending in FIGURES:
        # Here since matplotlib takes long to import.
        from scenarios.report.timeline_plot import plot_timelines

        title = f"Who computes, sends and waits on {shown[0].place}"
        plot_timelines([each.timeline for each in shown], output, title=title, style=style)
    else:
        write_tables(output, [each.table for each in shown])


def _most_rows(output: Path) -> int | None:
    """Silos of all overlays together that an output has room for; None for any number."""
    if output.suffix.lower() not in FIGURES:
        return None
    from scenarios.report.timeline_plot import MOST_ROWS

    return MOST_ROWS


def timelines(
    path: Path,
    *,
    rounds: slice | None = None,
    overlay: str | Sequence[str] | None = None,
    engine: str | None = None,
    most_rows: int | None = None,
) -> tuple[Shown, ...]:
    """Timelines of overlays of a run; see `timeline`.

    Notes
    -----
    Where the file holds all dates of the messages (``messages = true``), nothing is simulated, and only the rounds that
    are asked for are read, with those around them whose messages are under way meanwhile. Else the overlay is
    simulated again, by the engine of the run unless another is asked for, from its beginning up to these rounds. Dates
    of messages follow from arrivals only where no event changes routes or latencies, so simulating is the way that
    always holds; and round starts, which the file has, tell whether it is the same simulation to the last bit.

    What slow start adds to a message counts as neither computing nor sending: its source has computed by then, or goes
    on, and its target, which awaits the model, waits for it.

    How long silos compute is not in the file: it is what the scenario says, of a seed where it is random. Which models
    a round of a periodic overlay awaits, and with which lags, is what its states in the file say.
    """
    if engine is not None:
        check_choice("engine", engine, ENGINES)
    run = RecordedRun.open(path)
    # Rounds are checked by name, not as Python cuts a slice.
    asked = RunPart.of(run.record, overlay, rounds).overlays
    simulated = [each for each in asked if each.simulation.rounds]
    if not simulated:
        raise InputError("has no simulated rounds.", source=str(path))
    left = [each.kind for each in asked if not each.simulation.rounds]
    if left and overlay is not None:
        raise InputError(f"has no simulated rounds of {left[0]}.", source=str(path))
    which = {each.kind: _rounds(each, rounds) for each in simulated}
    silos = len(run.record.silo_labels)
    if most_rows is not None and silos * len(simulated) > most_rows:
        raise InputError(
            f"a figure has room for {most_rows} rows, not for the {silos} silos of {len(simulated)} overlays; "
            "choose overlays, or write a trace (.json) or a table (.csv).",
            source=str(path),
        )
    graph = build_network(run.scenario.network, run.record.underlay)
    with open_file(path) as file:
        found = [_shown(run, each, which[each.kind], file, graph, engine) for each in simulated]
    # Once, below the last table.
    periodic = [PERIODIC] if any(each.states is not None for each in simulated) else []
    alone = [ALONE] if any(each.timeline.activity.is_isolated.any() for each in found) else []
    general = [*([f"not simulated: {', '.join(left)}."] if left else []), EXPLANATION, *periodic, *alone]
    return (*found[:-1], replace(found[-1], notes=(*found[-1].notes, *general)))


def _rounds(recorded: OverlayRecord, asked: slice | None) -> range:
    """The rounds that are asked for, all of which must have been simulated."""
    there = recorded.simulation.rounds
    if asked is None:
        return range(min(there, DEFAULT_ROUNDS))
    first, stop = asked.start or 0, there if asked.stop is None else asked.stop
    is_open = asked.stop is None
    if asked.step not in (None, 1) or (stop <= first and not is_open):
        raise InputError("must be rounds one after the other.", field=Field("rounds", value=asked))
    if stop > there or first >= there:
        last = "-" if is_open else f"-{stop - 1}" if stop - first > 1 else ""
        raise InputError(
            f"must be rounds from 0 to {there - 1}: {recorded.kind} has {there:,} simulated rounds.",
            field=Field("rounds", value=f"{first}{last}"),
        )
    return range(first, stop)


def _shown(
    run: RecordedRun,
    recorded: OverlayRecord,
    rounds: range,
    file: h5py.File,
    graph: Connectivity,
    asked_engine: str | None,
) -> Shown:
    """Timeline of an overlay."""
    record, config, seed = run.record, run.scenario.simulation, run.scenario.seed
    group = file[f"simulation/{recorded.kind}"]
    whole = len(group["arrival_s"])
    effects = effects_of(config.simulator_events(seed=seed), graph)
    source, target, tokens = recorded.arcs.T
    notes: tuple[str, ...] = ()
    plan: RoundPlan | None = None
    slow_arcs: Sequence[FlowArc] = ()
    again, engine = not has_messages(group), ""
    if asked_engine is not None and not again:
        raise InputError(
            "must not be given: the file holds the dates of its messages, so nothing is simulated.",
            field=Field("engine", value=asked_engine),
            source=str(run.path),
        )
    if again:
        wanted = asked_engine or recorded.simulation.engine or config.engine
        with located(str(run.path)):
            job, window = _simulated(run, recorded, rounds, graph, whole=whole, engine=wanted)
        engine = choose_engine(job, wanted)
        arcs = [(arc.source, arc.target, arc.tokens) for arc in job.arcs]
        source, target, tokens = np.array(arcs, dtype=np.int64).reshape(-1, 3).T
        starts_s = recorded_starts(group, recorded.simulation.rounds)(rounds.start, rounds.stop + 1)
        plan, compute, absences, slow_arcs = job.plan, job.compute, job.absences, _slow_arcs(job)
        notes = (_agreement(window.starts_s, starts_s, engine),)
    elif recorded.states is not None or graph.slow_start is not None:
        job = recorded_job(run, recorded, graph, rounds=whole)
        plan, compute, absences, slow_arcs = job.plan, job.compute, job.absences, _slow_arcs(job)
        window = read_window(group, rounds, recorded.simulation.rounds, longest_lag=job.longest_lag)
    else:
        window = read_window(group, rounds, recorded.simulation.rounds)
        absences = tuple(recorded_absences(group))
        own = compute_times(config.compute, graph, record.work, seed=seed, rounds=whole)
        own = own or Constant(compute_s=record.work.round_compute_s(graph.silos))
        compute = times_as_recorded(effects, absences, rounds=whole, compute=own)
    # Of the messages of other rounds, too, that are under way meanwhile.
    under_way = range(window.first_round, window.first_round + len(window.messages.arrival_s))
    all_lags = lag_rows(plan, under_way, len(source))
    lags = all_lags[rounds.start - window.first_round :][: len(rounds)]
    compute_s = np.array(compute.rows(rounds.start, len(rounds)))
    silos = activity(rounds.start, window.starts_s, compute_s, window.arrival_s, target, absences)
    fifo = config.queueing == "fifo"
    error = max(
        silos.error,
        start_error(
            silos,
            source,
            tokens,
            window.messages,
            window.first_round,
            fifo=fifo,
            lags=lags,
            backward_share=record.work.backward_share,
            slow_arcs=slow_arcs,
        ),
    )
    if error > _AGREEMENT:
        raise InputError(
            f"{recorded.kind}: round starts and messages do not follow from the computing times of its scenario, but "
            f"are off by up to {error:.1e} of a date; was it written by another version?",
            source=str(run.path),
        )
    circuit = _recorded_circuit(file[f"overlays/{recorded.kind}"])
    made = OverlayTimeline(
        kind=recorded.kind,
        labels=record.silo_labels,
        rounds=rounds,
        begin_s=window.begin_s,
        end_s=window.end_s,
        activity=silos,
        sent=Sent.between(window.messages, window.first_round, window.begin_s, window.end_s, lags=all_lags),
        source=source,
        target=target,
        lags=lags,
        circuit=circuit,
        period=1 if recorded.states is None else len(recorded.states),
        message_bits=record.work.model_bits,
        link_names=link_names(file["connectivity"], record.underlay, record.silo_labels),
        occupied=tuple(graph.occupied(zip(source.tolist(), target.tolist(), strict=True))),
        link_capacity_bps=graph.link_capacity_bps,
        sharing=_known_rates(sharing_model(config.sharing), effects, overlaps=record.work.overlap > 0),
    )
    place = place_text(record.underlay, graph)
    return Shown(timeline=made, place=place, simulated_again=again, engine=engine, notes=notes)


def _slow_arcs(job: Job) -> Sequence[FlowArc]:
    """Arcs of a job whose messages may start slowly; none where none do."""
    return job.arcs if job.starts_slowly else ()


def _recorded_circuit(group: h5py.Group) -> tuple[tuple[int, int], ...] | None:
    """Silos of the critical circuit in the group of an overlay, with their states, 0 of a static one."""
    if "critical_circuit" not in group:
        return None
    events = group["critical_circuit"][:]
    return tuple(
        (silo, state) for silo, *more in events.reshape(len(events), -1).tolist() for state in more or [0]
    )


def _simulated(
    run: RecordedRun,
    recorded: OverlayRecord,
    rounds: range,
    graph: Connectivity,
    *,
    whole: int,
    engine: str,
) -> tuple[Job, RoundWindow]:
    """Simulate the rounds of a run again, of `whole` rounds."""
    # A long job takes long to make where its arcs were drawn; its first rounds are those of a shorter one that no silo
    # ends meanwhile. Events name rounds of the whole job, whose size is also what "auto" chooses the engine by.
    is_whole = bool(run.scenario.simulation.events) or engine == "auto"
    short = whole if is_whole else min(whole, 2 * rounds.stop + _MORE_ROUNDS)
    for length in dict.fromkeys((short, whole)):
        job = recorded_job(run, recorded, graph, rounds=length)
        window, is_before_end = simulated_window(job, rounds, engine=engine, title=recorded.kind)
        if is_before_end:
            break
    return job, window


def _agreement(again_s: FloatArray, recorded_s: FloatArray, engine: str) -> str:
    """A sentence on whether rounds that were simulated again are those of the file."""
    there = ~np.isnan(recorded_s)
    found_s = again_s[: len(recorded_s)]
    what = (
        "The file does not hold the dates of its messages (messages = true): these rounds were simulated again by "
        f"{engine}, "
    )
    if np.array_equal(found_s[there], recorded_s[there]):
        return f"{what}with round starts that are those of the file to the last bit."
    off = np.abs(found_s[there] - recorded_s[there]).max()
    return (
        f"{what}but not with the round starts of the file, which differ by up to {off:.3g} s: this is another "
        "simulation, as by another engine or version."
    )


def _known_rates(
    model: SharingModel, effects: Sequence[Effects], *, overlaps: bool
) -> Literal["constant", "maxmin"] | None:
    """How rates follow from the dates of messages, as `OverlayTimeline` has it.

    Where models leave during the backward pass their last bit waits for its end: how long they sent is not known.
    """
    if model.constant_rates:
        return "constant"
    is_as_stated = not overlaps and not any(effect.on_network for effect in effects)
    return "maxmin" if model.name == "maxmin" and is_as_stated else None
