"""Comparison of simulated overlays: cycle times, busiest links, differences on the same computing times."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

from scenarios.config.compute_times import vary_at_random
from scenarios.config.network import describe
from scenarios.config.overlays import AnyOverlay
from scenarios.config.quantities import format_interval, format_long, format_s
from scenarios.config.simulation import SimulationConfig
from scenarios.config.utilisation import mean_capacity_bps, utilisation
from scenarios.report.computing_states import states_note
from scenarios.report.engine_note import engine_note
from scenarios.report.rules_note import rules_notes
from scenarios.report.tables import Column, Row, Table, note_lines
from scenarios.report.tie_note import tie_notes
from scenarios.report.window_note import window_notes
from scenarios.runfile.writer import RunFile
from scenarios.simulation.captions import simulation_caption
from scenarios.simulation.event_notes import events_note
from scenarios.simulation.experiment import Experiment
from scenarios.simulation.runner import Outcome, run_job
from scenarios.simulation.windows import (
    disturbed_note,
    estimate_window,
    means_note,
    paired_window,
)
from simulator import SteadyState
from simulator.computing_rounds import rounds_to_compute
from simulator.statistics.confidence import least_rounds, paired_difference
from simulator.world.counted_silos import Starts
from topologies.quantities import parse_share

BUSIEST = 3
_SUMMARIES = ("simulated", "difference")
"""Fields of a row that are texts for people."""


def simulate_table(
    experiment: Experiment,
    *,
    path: Path | None = None,
    force: bool,
) -> Table:
    """Simulate the overlays of an experiment.

    Parameters
    ----------
    experiment : Experiment
    path : Path, optional
        HDF5 file to write, with the schema of a run.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    Table
        One row for each overlay. An estimated ``cycle_time_s`` is the mean over ``first_round`` to ``last_round``.
        ``narrow_enough`` says whether its interval is as narrow as requested; None without a request.
        Where computing times are random, ``difference_s`` is the cycle time minus that of the first overlay on the same
        computing times, over ``difference_first_round`` to ``difference_last_round``. For ``utilisation_1`` and so on
        see `scenarios.config.utilisation`.

    Raises
    ------
    InputError
        If an overlay cannot be designed or simulated, or the file cannot be written.
    """
    experiment.check()
    settings, seed = experiment.simulation, experiment.seed
    simulations = experiment.simulations()
    target: AbstractContextManager[RunFile | None] = (
        nullcontext()
        if path is None
        else RunFile.create(
            path,
            experiment.head(),
            simulations,
            settings=settings,
            force=force,
        )
    )
    outcomes: list[Outcome] = []
    with target as file:
        for overlay, job in simulations:
            writer = None if file is None else file.simulation(overlay.kind)
            outcomes.append(
                run_job(job, overlay.kind, until_ci=settings.until_ci, engine=settings.engine, writer=writer)
            )
            if file is not None:
                file.record_schedule(overlay.kind, outcomes[-1].rounds)
    first = outcomes[0]
    varies = vary_at_random(settings.compute, experiment.work)
    rows = [
        _row(experiment, overlay, outcome, first if varies and outcome is not first else None)
        for (overlay, _), outcome in zip(simulations, outcomes, strict=True)
    ]
    paired = varies and len(rows) > 1
    windows = {outcome.kind: estimate_window(outcome) for outcome in outcomes}
    return Table(
        caption=f"{describe(experiment.graph, experiment.work)}\n"
        f"{simulation_caption(settings, settings.sharing, seed=seed)}",
        columns=(
            Column(key="overlay", title="overlay"),
            Column(key="simulated", title="cycle time"),
            Column(key="rounds", title="rounds", show="{:,}".format),
            Column(key="end_s", title="simulated", show=format_long),
            *([Column(key="difference", title=f"minus {rows[0]['overlay']}")] if paired else []),
        ),
        rows=rows,
        summaries=_SUMMARIES,
        notes=note_lines(
            *(f"{row['overlay']}'s busiest links: {_busiest(row)}." for row in rows),
            _percent_note(settings),
            *_marks(outcomes, experiment.graph.silos),
            *states_note({overlay.kind: job.computes for overlay, job in simulations}),
            *means_note(windows),
            *disturbed_note([outcome.kind for outcome in outcomes if outcome.counts_disturbed]),
            *_paired_note(rows),
            *events_note(settings, windows),
            *experiment.left_out,
            *tie_notes(rows, "simulated_s"),
            *rules_notes(experiment.graph, settings.sharing),
            *window_notes(experiment.graph, [overlay for overlay, _ in simulations]),
            *experiment.graph.underlay.notes,
            *_too_wide(rows, settings.until_ci),
            *engine_note((outcome.kind, outcome.engine) for outcome in outcomes),
            _speed_note(rows),
        ),
    )


def _row(
    experiment: Experiment, overlay: AnyOverlay, outcome: Outcome, first: Outcome | None
) -> dict[str, object]:
    """Fields of one overlay; the `_SUMMARIES` are texts for people."""
    steady, window = outcome.steady, estimate_window(outcome)
    difference = (
        None if first is None else paired_difference(outcome.starts, first.starts, silos=overlay.graph.silos)
    )
    both = None if first is None else paired_window(outcome.starts, first.starts)
    mean_bps = mean_capacity_bps(overlay.graph, experiment.simulation, outcome.now_s)
    used = utilisation(outcome.link_bits, mean_bps, outcome.now_s)
    links = [
        field
        for place, link in enumerate(np.argsort(-used, kind="stable")[:BUSIEST].tolist(), start=1)
        for field in (
            (f"busiest_link_{place}", overlay.graph.link_name(link)),
            (f"utilisation_{place}", float(used[link])),
        )
    ]
    return {
        "overlay": outcome.kind,
        "simulated": _cycle_time(outcome),
        "simulated_s": steady.cycle_time_s,
        "simulated_half_width_s": outcome.half_width_s,
        "simulated_is_exact": steady.is_exact,
        "narrow_enough": _narrow_enough(outcome, experiment.simulation.until_ci),
        "period_s": steady.period_s,
        "period_rounds": steady.period_rounds,
        "transient_rounds": steady.transient_rounds,
        "first_round": None if window is None else window.first_round,
        "last_round": None if window is None else window.last_round,
        "rounds": outcome.rounds,
        "engine": outcome.engine,
        "end_s": outcome.now_s,
        "difference": None
        if difference is None
        else format_interval(difference.mean, difference.half_width, sign="+"),
        "difference_s": None if difference is None else difference.mean,
        "difference_half_width_s": None if difference is None else difference.half_width,
        "difference_first_round": None if both is None else both.first_round,
        "difference_last_round": None if both is None else both.last_round,
        "messages": outcome.messages,
        "messages_per_s": outcome.messages / outcome.wall_s,
        **dict(links),
    }


def _cycle_time(outcome: Outcome) -> str:
    """``86.31 ms = 604.2 ms / 7 rounds``, ``86.31 ms +- 0.12``, or ``~86.31 ms``."""
    steady = outcome.steady
    if outcome.interval is not None:
        return format_interval(outcome.interval.mean, outcome.interval.half_width)
    text = format_s(steady.cycle_time_s)
    if not steady.is_exact:
        return f"~{text}"
    if steady.period_s is None or not _shows_period(steady):
        return text
    return f"{text} = {format_s(steady.period_s)} / {steady.computing_rounds} rounds"


def _shows_period(steady: SteadyState) -> bool:
    """Whether it is worth saying how long the period is: not where that is one round in which silos compute."""
    return steady.period_s is not None and steady.computing_rounds not in (None, 1)


def _busiest(row: Row) -> str:
    """Links with their utilisation."""
    named = [(row.get(f"busiest_link_{n}"), row.get(f"utilisation_{n}")) for n in range(1, BUSIEST + 1)]
    return ", ".join(f"{link} {100 * share:.1f} %" for link, share in named if share) or "none"


def _narrow_enough(outcome: Outcome, until_ci: str | None) -> bool | None:
    """Whether the interval is as narrow as requested; None without a request."""
    if until_ci is None:
        return None
    share, half_s = parse_share("until_ci", until_ci), outcome.half_width_s
    return half_s is not None and half_s <= share * outcome.steady.cycle_time_s


def _too_wide(rows: Sequence[Row], until_ci: str | None) -> list[str]:
    """Overlays that took all rounds and did not reach the requested interval."""
    wide = [str(row["overlay"]) for row in rows if row["narrow_enough"] is False]
    return [f"Not as narrow as {until_ci}, it needs more rounds: {', '.join(wide)}."] if wide else []


def _percent_note(simulation: SimulationConfig) -> str:
    """Definition of the utilisation of a link."""
    capacity = [kind.capacity_note for kind in simulation.kinds if kind.capacity_note]
    details = [f"the capacity is {' and '.join(capacity)}"] if capacity else []
    details += [kind.traffic_note for kind in simulation.kinds if kind.traffic_note]
    text = "A link's percent: the bits of this job over those that the link could carry in the simulated time"
    return f"{'; '.join([text, *details])}."


def _marks(outcomes: Sequence[Outcome], silos: int) -> list[str]:
    """Meaning of the signs in the cycle times."""
    lines = []
    if any(_shows_period(outcome.steady) for outcome in outcomes):
        lines.append("= : the exact period.")
    if any(outcome.half_width_s for outcome in outcomes):
        lines.append("+-: 95 % confidence by batch means.")
    needs = {each.kind: _rounds_needed(each.starts, silos) for each in outcomes if each.half_width_s is None}
    if needs:
        alike = {*needs.values()}
        listed = [f"{need:,}" for need in alike] if len(alike) == 1 else []
        rounds = "; ".join(listed or [f"{kind}, {need:,}" for kind, need in needs.items()])
        lines.append(
            f"~: an estimate; too few rounds for an interval ({silos} silos: {rounds} before one has ended)."
        )
    return lines


def _rounds_needed(starts: Starts, silos: int) -> int:
    """Rounds, of all states, from which on there is an interval."""
    least = least_rounds(silos, starts.period, starts.regular_from)
    return rounds_to_compute(starts.computes, least)


def _paired_note(rows: Sequence[Row]) -> list[str]:
    """Rounds over which the differences are means."""
    windows = {
        row["overlay"]: f"rounds {row['difference_first_round']:,} to {row['difference_last_round']:,}"
        for row in rows
        if row["difference_s"] is not None
    }
    if not windows:
        return []
    alike = set(windows.values())
    rounds = alike if len(alike) == 1 else [f"{kind}, {window}" for kind, window in windows.items()]
    return [
        "minus: difference of cycle times on the same computing times, over the rounds that both ran, without the "
        f"warm-up: {'; '.join(rounds)}."
    ]


def _speed_note(rows: Sequence[Row]) -> str:
    """Speed of the simulations."""
    speeds = [float(f"{row['messages_per_s']:.3g}") for row in rows]
    span = dict.fromkeys((f"{min(speeds):,.0f}", f"{max(speeds):,.0f}"))
    return f"Speed: {' to '.join(span)} models per second on this machine."
