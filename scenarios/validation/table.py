"""Tables of a validation: overlays side by side, and each critical circuit arc by arc."""

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from scenarios.config.network import describe
from scenarios.config.quantities import format_s, signed_s
from scenarios.report.comparison import FORMS, below_load, forms_note, over_paper
from scenarios.report.tables import Column, Row, Table, cycle_time_columns, note_lines, percent
from scenarios.simulation.captions import how
from scenarios.simulation.case import Case
from scenarios.simulation.cycle_time import Settled
from scenarios.simulation.end_notes import disturbed_note
from scenarios.simulation.event_notes import events_note
from scenarios.simulation.windows import paired_window, presence_note
from scenarios.validation.attribution import ArcShare
from scenarios.validation.study import Validated
from topologies import Overlay

PARTS = (
    "serialization",
    "shared links",
    "unused shares",
    "waits for other arcs",
    "computing times",
    "no barrier",
    "world",
)


def part_key(part: str) -> str:
    """Name of a part of the difference between simulated and paper in rows and files."""
    return f"{part.replace(' ', '_')}_s"


def validation_row(result: Validated) -> dict[str, object]:
    """Fields of one overlay; the parts, in seconds per round, add up to ``maxmin_s - paper_s``."""
    overlay, drawn = result.overlay, result.drawn
    forms: dict[str, Any] = {**dict.fromkeys(FORMS), "busiest_link": ""}
    if isinstance(overlay, Overlay):
        busiest = overlay.closed_forms.busiest_link
        forms = {key: getattr(overlay.closed_forms, key) for key in FORMS}
        forms["busiest_link"] = "" if busiest is None else overlay.graph.link_name(busiest)
    row: dict[str, object] = {
        "overlay": overlay.kind,
        **forms,
        "paper_s": result.paper_s,
        "paper_below_load": below_load(result.paper_s, forms["load_bound_s"]),
        "paper_half_width_s": None if drawn is None else drawn.barrier.half_width,
        "max_plus_s": None if drawn is None else drawn.max_plus.mean,
        "max_plus_half_width_s": None if drawn is None else drawn.max_plus.half_width,
    }
    for name, settled in (("equal", result.equal), ("maxmin", result.maxmin)):
        row |= {
            f"{name}_s": settled.cycle_time_s,
            f"{name}_half_width_s": settled.half_width_s,
            f"{name}_is_exact": settled.is_exact,
            f"{name}_period_rounds": settled.period_rounds,
            f"{name}_rounds": settled.simulated_rounds,
            f"{name}_over_paper": over_paper(settled.cycle_time_s, result.paper_s),
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


def arc_rows(result: Validated) -> list[dict[str, object]]:
    """The critical circuit arc by arc, in seconds of the circuit: divided by its tokens, they add up."""
    if result.attribution is None:
        return []
    names = [field.name for field in fields(ArcShare) if field.name != "cause"]
    return [
        {"overlay": result.overlay.kind}
        | {name: getattr(arc, name) for name in names}
        | {"assumption": arc.cause.assumption, "place": arc.cause.place, "cause": arc.cause.words}
        for arc in result.attribution.arcs
    ]


def validation_table(case: Case, results: Sequence[Validated]) -> Table:
    """Closed forms and simulations side by side, with reasons for differences above 1 % below."""
    rows = [validation_row(result) for result in results]
    times, unit = cycle_time_columns(rows, FORMS | {"equal_s": "equal", "maxmin_s": "maxmin"})
    return Table(
        caption=f"{describe(case.graph, case.work)}\n{how(case.simulation, 'equal and maxmin', seed=case.seed)}",
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
                    *_event_kind_notes(case),
                    *(line for result in results for line in _drawn(case, result)),
                    *(line for result in results for line in _estimates(result)),
                    *presence_note({result.overlay.kind: result.window for result in results}),
                    *_events(case, results),
                    *_differences(results),
                    *(f"{result.overlay.kind}: {result.why()}." for result in results if result.why()),
                    *_unexplained(results),
                ),
            )
        ),
    )


def _estimates_note(rows: Sequence[Row]) -> list[str]:
    """What ``~`` means, where it is shown."""
    if all(row["equal_is_exact"] and row["maxmin_is_exact"] for row in rows):
        return []
    return ["~: an estimate, as no period shows; so is what is over paper."]


def plus_minus(mean_s: float, half_s: float) -> str:
    """A cycle time with the half width of its 95 % interval, in percent."""
    if mean_s == 0 or not math.isfinite(half_s / mean_s):
        return f"{format_s(abs(mean_s))} +- {format_s(half_s)}"
    relative = 100 * half_s / abs(mean_s)
    return f"{format_s(mean_s)} +- {f'{relative:.2g}' if relative > 1e-6 else '0'} %"


def _event_kind_notes(case: Case) -> list[str]:
    """What the closed forms and `equal` do not know of."""
    kinds = case.simulation.kinds
    names = [kind.table for kind in kinds if kind.on_network]
    lines = [f"Closed forms and equal know nothing of {', '.join(names)}."] if names else []
    if case.simulation.compute is not None:
        lines.append("Closed forms take the workload's constant computing time.")
    return [*lines, *(kind.closed_forms_note for kind in kinds if kind.closed_forms_note)]


def _drawn(case: Case, result: Validated) -> list[str]:
    """Closed forms of an overlay that is drawn anew each round, and how many rounds it was given."""
    if result.drawn is None:
        return []
    kind, rounds = result.overlay.kind, result.drawn.rounds
    barrier, max_plus = result.drawn.barrier, result.drawn.max_plus
    line = (
        f"{kind}: over its {rounds} drawn rounds, the paper's form (a barrier after each "
        f"round) is {plus_minus(barrier.mean, barrier.half_width)}; max-plus (each silo waits for its own in-arcs) "
        f"{plus_minus(max_plus.mean, max_plus.half_width)}; 95 %."
    )
    fewer = case.simulation.until_ci is None and rounds < case.simulation.rounds
    return (
        [line, f"{kind}: {rounds} rounds, since drawn arcs take longer; --rounds sets it."]
        if fewer
        else [line]
    )


def _estimates(result: Validated) -> list[str]:
    """Confidence intervals of simulations that do not repeat."""
    both: list[tuple[str, Settled]] = [("equal", result.equal), ("maxmin", result.maxmin)]
    shown = [(name, settled) for name, settled in both if not settled.is_exact]
    return [
        f"~ {result.overlay.kind}: {name} shows no period; {_estimate(settled)} ({_mean_of(settled)})."
        for name, settled in shown
    ] + disturbed_note([result.overlay.kind] if result.maxmin.counts_disturbed else [])


def _mean_of(settled: Settled) -> str:
    """The rounds of an estimate."""
    if settled.asked is None:
        return f"mean of {settled.rounds} rounds after a warm-up of {settled.first_round}"
    return f"mean of rounds {settled.first_round} to {settled.first_round + settled.rounds - 1}"


def _estimate(settled: Settled) -> str:
    """A cycle time with its interval, if there is one."""
    if settled.half_width_s is None:
        return f"{format_s(settled.cycle_time_s)}, an estimate: too few rounds for an interval"
    return f"{plus_minus(settled.cycle_time_s, settled.half_width_s)} with 95 % confidence, by batch means"


def _events(case: Case, results: Sequence[Validated]) -> list[str]:
    """Whether what happens around the jobs is part of the `maxmin` cycle times."""
    return events_note(
        case.simulation,
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


def _unexplained(results: Sequence[Validated]) -> list[str]:
    """Overlays whose difference from paper has parts, but not arc by arc."""
    kinds = [result.overlay.kind for result in results if result.drawn_parts is not None]
    if not kinds:
        return []
    return [
        f"{', '.join(kinds)}: no parts arc by arc: other arcs are drawn each round, so that no one circuit is critical."
        " "
        "The parts of the difference are what the cycle time gains and loses with each assumption that is given up."
    ]
