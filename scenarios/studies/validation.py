"""How far the closed forms lie from the simulation, and why."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scenarios.network import describe
from scenarios.studies.attribution import Attribution, attribute, growing_silos
from scenarios.studies.comparison import FORMS, forms_note, gap
from scenarios.studies.settled import LEAST_ROUNDS, Settled, settle
from scenarios.tables import Column, Table, cycle_time_columns, note_lines, percent
from scenarios.units import format_s
from simulator import simulate
from topologies import Connectivity, InputError, Overlay, Workload, design

WORTH_A_WORD = 0.01
"""Gaps above this fraction are explained."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Validated:
    """One overlay's closed forms beside its simulations.

    Attributes
    ----------
    overlay : Overlay
    equal, maxmin : Settled
        Simulated with Eq. 3's constant rates, and on shared links; one model after the other on each arc.
    attribution : Attribution
        Of the difference between `maxmin` and `paper`.
    """

    overlay: Overlay
    equal: Settled
    maxmin: Settled
    attribution: Attribution

    def why(self) -> str:
        """The largest part of a gap worth a word, and the cause of the arc that differs most; else empty."""
        difference = gap(self.maxmin.cycle_time_s, self.overlay.closed_forms.paper_s)
        if difference is None or abs(difference) <= WORTH_A_WORD:
            return ""
        parts = self.attribution.parts_s()
        name = max(parts, key=lambda part: abs(parts[part]))
        arc = max(self.attribution.arcs, key=lambda share: abs(share.excess_s))
        sign = "+" if parts[name] >= 0 else "-"
        return f"{name} {sign}{format_s(abs(parts[name]))} a round; most on {arc.source} -> {arc.target}: {arc.cause}"


def validate(
    graph: Connectivity,
    work: Workload,
    kinds: Sequence[str],
    *,
    rounds: int,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Validated]:
    """Design and simulate overlays, and split the differences from `paper`.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    kinds : sequence of str
        Overlays that stay.
    rounds : int
        At least 100.
    advance : callable, optional
        Called with the number of overlays that are done.

    Raises
    ------
    InputError
        If there are too few rounds, or an overlay is unknown or cannot be built.
    """
    if rounds < LEAST_ROUNDS:
        raise InputError(f"rounds(={rounds}) must be >= {LEAST_ROUNDS}.")
    made = []
    for done, kind in enumerate(kinds, 1):
        overlay = design(kind, graph, work)
        silos = growing_silos(overlay)
        timeline = simulate(overlay, rounds, messages=True)
        maxmin = settle(timeline, silos)
        equal = settle(simulate(overlay, rounds, sharing="equal"), silos)
        attribution = attribute(overlay, timeline, maxmin)
        made.append(Validated(overlay=overlay, equal=equal, maxmin=maxmin, attribution=attribution))
        advance(done)
    return made


def validation_row(result: Validated) -> dict[str, object]:
    """Fields of one overlay; the four parts, in seconds per round, add up to ``maxmin_s - paper_s``."""
    forms, graph = result.overlay.closed_forms, result.overlay.graph
    row: dict[str, object] = {
        "overlay": result.overlay.kind,
        "paper_s": forms.paper_s,
        "serialized_s": forms.serialized_s,
        "load_bound_s": forms.load_bound_s,
        "busiest_link": "" if forms.busiest_link is None else graph.link_name(forms.busiest_link),
    }
    for name, settled in (("equal", result.equal), ("maxmin", result.maxmin)):
        row |= {
            f"{name}_s": settled.cycle_time_s,
            f"{name}_half_width_s": settled.half_width_s,
            f"{name}_is_exact": settled.is_exact,
            f"{name}_period_rounds": settled.period_rounds,
            f"gap_{name}": gap(settled.cycle_time_s, forms.paper_s),
        }
    parts = result.attribution.parts_s()
    return row | {f"{name.replace(' ', '_')}_s": part for name, part in parts.items()} | {"why": result.why()}


def validation_table(graph: Connectivity, work: Workload, results: Sequence[Validated]) -> Table:
    """Closed forms and simulations side by side, with reasons for gaps above 1 % below."""
    rows = [validation_row(result) for result in results]
    times, unit = cycle_time_columns(rows, FORMS | {"equal_s": "equal", "maxmin_s": "maxmin"})
    estimates = [result for result in results if not result.maxmin.is_exact]
    return Table(
        caption=describe(graph, work),
        columns=(
            Column(key="overlay", title="overlay"),
            *times,
            Column(key="gap_equal", title="gap\nequal", show=percent, exact="equal_is_exact"),
            Column(key="gap_maxmin", title="gap\nmaxmin", show=percent, exact="maxmin_is_exact"),
        ),
        rows=rows,
        notes="\n".join(
            (
                forms_note(unit),
                note_lines(
                    "equal, maxmin: simulated with Eq. 3's constant rates, and on links shared max-min fairly. gap: "
                    "over paper.",
                    *(_estimate(result) for result in estimates),
                    *(f"{result.overlay.kind}: {result.why()}." for result in results if result.why()),
                ),
            )
        ),
    )


def _estimate(result: Validated) -> str:
    """The confidence interval of a simulation that does not repeat."""
    settled = result.maxmin
    relative = settled.half_width_s / settled.cycle_time_s if settled.cycle_time_s > 0 else math.nan
    return (
        f"~ {result.overlay.kind}: maxmin shows no period; mean of {settled.rounds} rounds after a warm-up of "
        f"{settled.first_round}, +- {100 * relative:.2g} % (95 %, batch means)."
    )


def arc_rows(result: Validated) -> list[dict[str, object]]:
    """The critical circuit arc by arc, in seconds of the circuit: divided by its tokens, they add up."""
    names = (
        "source",
        "target",
        "tokens",
        "eq3_s",
        "queue_s",
        "rate_s",
        "wait_s",
        "sending_s",
        "eq3_sending_s",
    )
    more = ("in_flight", "eq3_in_flight", "link", "cause")
    return [
        {"overlay": result.overlay.kind} | {name: getattr(arc, name) for name in (*names, *more)}
        for arc in result.attribution.arcs
    ]
