"""Table of a validation: closed forms and simulations of the overlays side by side."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

from scenarios.config.network import describe
from scenarios.config.quantities import format_s, signed_s
from scenarios.report.closed_forms import FORMS, below_load, forms_note, over_paper
from scenarios.report.computing_states import states_note
from scenarios.report.engine_note import engine_note
from scenarios.report.rules_note import rules_notes
from scenarios.report.tables import Column, Row, Table, cycle_time_columns, note_lines, percent
from scenarios.report.tie_note import tie_notes
from scenarios.report.window_note import window_notes
from scenarios.simulation.captions import simulation_caption
from scenarios.simulation.cycle_time import SimulatedCycleTime
from scenarios.simulation.event_notes import events_note
from scenarios.simulation.experiment import Experiment
from scenarios.simulation.windows import (
    disturbed_note,
    few_rounds_note,
    paired_window,
    presence_note,
)
from scenarios.validation.circuit_table import arc_rows
from scenarios.validation.validation_study import Validated
from topologies import Overlay, PeriodicOverlay

PARTS = (
    "serialization",
    "shared links",
    "unused shares",
    "waits for other arcs",
    "computing times",
    "slow start",
    "no barrier",
    "world",
)


def part_key(part: str) -> str:
    """Name of a part of the difference between simulated and paper in rows and files."""
    return f"{part.replace(' ', '_')}_s"


def validation_row(result: Validated) -> dict[str, object]:
    """Fields of one overlay; the parts, in seconds per round, add up to ``maxmin_s - paper_s``."""
    overlay, randomized_forms = result.overlay, result.randomized_forms
    forms: dict[str, Any] = {**dict.fromkeys(FORMS), "busiest_link": ""}
    if isinstance(overlay, Overlay | PeriodicOverlay):
        busiest = overlay.closed_forms.busiest_link
        forms = {key: getattr(overlay.closed_forms, key) for key in FORMS}
        forms["busiest_link"] = "" if busiest is None else overlay.graph.link_name(busiest)
    row: dict[str, object] = {
        "overlay": overlay.kind,
        **forms,
        "paper_s": result.paper_s,
        "paper_below_load": below_load(result.paper_s, forms["load_bound_s"]),
        "paper_half_width_s": None if randomized_forms is None else randomized_forms.barrier.half_width,
        "max_plus_s": None if randomized_forms is None else randomized_forms.max_plus.mean,
        "max_plus_half_width_s": None if randomized_forms is None else randomized_forms.max_plus.half_width,
    }
    for name, simulated in (("equal", result.equal), ("maxmin", result.maxmin)):
        row |= {
            f"{name}_s": simulated.cycle_time_s,
            f"{name}_half_width_s": simulated.half_width_s,
            f"{name}_is_exact": simulated.is_exact,
            f"{name}_period_rounds": simulated.period_rounds,
            f"{name}_rounds": simulated.simulated_rounds,
            f"{name}_engine": simulated.engine,
            f"{name}_over_paper": over_paper(simulated.cycle_time_s, result.paper_s),
        }
    parts = result.parts_s()
    return (
        row
        | {part_key(part): parts.get(part) for part in PARTS}
        | {
            "world_off_arcs_s": None if result.attribution is None else result.attribution.off_arcs_s,
            "difference_s": None if result.difference is None else result.difference.mean,
            "difference_half_width_s": None if result.difference is None else result.difference.half_width,
            "why": result.why(),
        }
    )


def validation_table(experiment: Experiment, results: Sequence[Validated]) -> Table:
    """Closed forms and simulations side by side, with reasons for differences above 1 % below."""
    rows = [validation_row(result) for result in results]
    times, unit = cycle_time_columns(rows, FORMS | {"equal_s": "equal", "maxmin_s": "maxmin"})
    return Table(
        caption=f"{describe(experiment.graph, experiment.work)}\n"
        f"{simulation_caption(experiment.simulation, 'equal and maxmin', seed=experiment.seed)}",
        columns=(
            Column(key="overlay", title="overlay"),
            *times,
            Column(
                key="equal_over_paper",
                title="equal\nover paper",
                narrow_title="equal\nover\npaper",
                show=percent,
                exact="equal_is_exact",
            ),
            Column(
                key="maxmin_over_paper",
                title="maxmin\nover paper",
                narrow_title="maxmin\nover\npaper",
                show=percent,
                exact="maxmin_is_exact",
            ),
        ),
        rows=rows,
        notes="\n".join(
            (
                forms_note(unit, rows),
                note_lines(
                    "equal, maxmin: simulated with Eq. 3's constant rates, and on links shared max-min fairly. "
                    "over paper: how far these lie above paper.",
                    *_estimates_note(rows),
                    *_event_kind_notes(experiment),
                    *(line for result in results for line in _randomized_notes(experiment, result)),
                    *(line for result in results for line in _estimates(result)),
                    *few_rounds_note(
                        {r.overlay.kind: None if r.maxmin.is_exact else r.window for r in results}
                    ),
                    *presence_note({result.overlay.kind: result.window for result in results}),
                    *_events(experiment, results),
                    *_differences(results),
                    *(f"{result.overlay.kind}: {result.why()}." for result in results if result.why()),
                    *_unexplained(results),
                    *states_note(
                        {
                            result.overlay.kind: result.overlay.computes
                            for result in results
                            if isinstance(result.overlay, PeriodicOverlay)
                        }
                    ),
                    *(line for result in results for line in _periodic_notes(result)),
                    *experiment.left_out,
                    *tie_notes(rows, "maxmin_s"),
                    *rules_notes(experiment.graph, "equal"),
                    *window_notes(experiment.graph, [result.overlay for result in results]),
                    *experiment.graph.underlay.notes,
                    *engine_note(
                        (f"{row['overlay']} {name}", str(row[f"{name}_engine"]))
                        for row in rows
                        for name in ("equal", "maxmin")
                    ),
                ),
            )
        ),
        further={"arcs": [row for result in results for row in arc_rows(result)]},
    )


def _estimates_note(rows: Sequence[Row]) -> list[str]:
    """What ``~`` means, where it is shown."""
    if all(row["equal_is_exact"] and row["maxmin_is_exact"] for row in rows):
        return []
    return ["~: an estimate, as no period shows; so is what is over paper."]


def plus_minus(mean_s: float, half_s: float) -> str:
    """A cycle time with the half width of its 95 % interval, in percent."""
    if mean_s == 0 or not math.isfinite(half_s / mean_s):
        return f"{format_s(mean_s)} +- {format_s(half_s)}"
    relative = 100 * half_s / mean_s
    return f"{format_s(mean_s)} +- {f'{relative:.2g}' if relative > 1e-6 else '0'} %"


def _event_kind_notes(experiment: Experiment) -> list[str]:
    """What the closed forms and `equal` do not model."""
    kinds = experiment.simulation.kinds
    names = [kind.table for kind in kinds if kind.on_network]
    lines = [f"Closed forms and equal know nothing of {', '.join(names)}."] if names else []
    if experiment.simulation.compute is not None:
        lines.append("Closed forms take the workload's constant computing time.")
    return [*lines, *(kind.closed_forms_note for kind in kinds if kind.closed_forms_note)]


def _randomized_notes(experiment: Experiment, result: Validated) -> list[str]:
    """Closed forms of a randomized overlay, and its number of rounds."""
    if result.randomized_forms is None:
        return []
    kind, rounds = result.overlay.kind, result.randomized_forms.rounds
    barrier, max_plus = result.randomized_forms.barrier, result.randomized_forms.max_plus
    line = (
        f"{kind}: over its {rounds} drawn rounds, the paper's form (a barrier after each "
        f"round) is {plus_minus(barrier.mean, barrier.half_width)}; max-plus (each silo waits for its own in-arcs) "
        f"{plus_minus(max_plus.mean, max_plus.half_width)}; 95 %."
    )
    fewer = experiment.simulation.until_ci is None and rounds < experiment.simulation.rounds
    return (
        [line, f"{kind}: {rounds} rounds, since drawn arcs take longer; --rounds sets it."]
        if fewer
        else [line]
    )


def _estimates(result: Validated) -> list[str]:
    """Confidence intervals of simulations that do not repeat."""
    both: list[tuple[str, SimulatedCycleTime]] = [("equal", result.equal), ("maxmin", result.maxmin)]
    shown = [(name, simulated) for name, simulated in both if not simulated.is_exact]
    return [
        f"~ {result.overlay.kind}: {name} shows no period; {_estimate(simulated)} ({_mean_of(simulated)})."
        for name, simulated in shown
    ] + disturbed_note([result.overlay.kind] if result.maxmin.counts_disturbed else [])


def _mean_of(simulated: SimulatedCycleTime) -> str:
    """The rounds of an estimate."""
    if simulated.asked is None:
        return f"mean of {simulated.rounds} rounds after a warm-up of {simulated.first_round}"
    return f"mean of rounds {simulated.first_round} to {simulated.first_round + simulated.rounds - 1}"


def _estimate(simulated: SimulatedCycleTime) -> str:
    """A cycle time with its interval, if there is one."""
    if simulated.half_width_s is None:
        return f"{format_s(simulated.cycle_time_s)}, an estimate: too few rounds for an interval"
    return (
        f"{plus_minus(simulated.cycle_time_s, simulated.half_width_s)} with 95 % confidence, by batch means"
    )


def _events(experiment: Experiment, results: Sequence[Validated]) -> list[str]:
    """Which events are part of the `maxmin` cycle times."""
    return events_note(
        experiment.simulation,
        {result.overlay.kind: None if result.maxmin.is_exact else result.window for result in results},
    )


def _differences(results: Sequence[Validated]) -> list[str]:
    """Cycle times compared on the same random computing times."""
    lines = []
    for result in results[1:]:
        if result.difference is not None:
            first = results[0]
            both = paired_window(result.starts, first.starts)
            mean_s, half_s = result.difference.mean, result.difference.half_width
            lines.append(
                f"{result.overlay.kind} minus {first.overlay.kind}, maxmin on the same computing times: "
                f"{signed_s(mean_s)} +- {format_s(half_s)} a round (95 %, paired, "
                f"over {both}, which both ran)."
            )
    return lines


def _periodic_notes(result: Validated) -> list[str]:
    """Where the difference from paper of a periodic overlay comes from, in two steps."""
    if not isinstance(result.overlay, PeriodicOverlay):
        return []
    times_s = (result.paper_s, result.equal.cycle_time_s, result.maxmin.cycle_time_s)
    own_s, shared_s = (
        0.0 if math.isclose(before, after) else after - before
        for before, after in itertools.pairwise(times_s)
    )
    return [
        f"{result.overlay.kind}: periodic, so no parts arc by arc; from paper to maxmin, models that wait for those "
        f"before them on their arc {signed_s(own_s)} a round, shared links and events {signed_s(shared_s)}."
    ]


def _unexplained(results: Sequence[Validated]) -> list[str]:
    """Overlays whose difference from paper is not split among arcs."""
    kinds = [result.overlay.kind for result in results if result.randomized_attribution is not None]
    if not kinds:
        return []
    return [
        f"{', '.join(kinds)}: no parts arc by arc: other arcs are drawn each round, so that no one circuit is critical."
        " "
        "The parts of the difference are what the cycle time gains and loses with each assumption that is given up."
    ]
