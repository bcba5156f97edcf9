"""The critical circuit of an overlay, arc by arc: rows for files, and the table that is printed."""

from dataclasses import fields
from typing import Any

from scenarios.config.quantities import digits, format_s, in_unit, signed_s, time_unit
from scenarios.report.tables import Column, Row, Table, note_lines
from scenarios.validation.attribution import ArcShare, Attribution
from scenarios.validation.validation_study import Validated
from topologies.rounding import ROUNDING

MOST_ARCS = 10
_TERMS = ("eq3_s", "queue_s", "slow_s", "rate_s", "wait_s", "computing_s", "world_s")

_SLOW = "slow start: beside what Eq. 3's delay has of it. "
_WORLD = "All of these are without the events; world: all that the events change. "


def arc_rows(result: Validated) -> list[dict[str, object]]:
    """The critical circuit arc by arc, in seconds of the circuit: divided by its tokens, they add up."""
    if result.attribution is None:
        return []
    names = [field.name for field in fields(ArcShare) if field.name != "cause"]
    return [
        {"overlay": result.overlay.kind}
        | {name: getattr(arc, name) for name in names}
        | {"assumption": arc.cause.assumption, "place": arc.cause.place, "cause": arc.cause.explanation}
        for arc in result.attribution.arcs
    ]


def circuit_table(result: Validated) -> Table:
    """Table of the critical circuit of an overlay with an attribution.

    Parameters
    ----------
    result : Validated

    Returns
    -------
    Table
        The arcs in the circuit's order; of a long circuit those with the largest parts, and one row for all others.
        The last row is the sum divided by the circuit's tokens: `paper`, and the parts of the difference from it.
    """
    attribution = result.attribution
    assert attribution is not None
    rows = _rows(attribution)
    least = ROUNDING * max(attribution.simulated_s, attribution.paper_s)
    unit = time_unit(max(abs(float(row[name])) for row in rows for name in _TERMS))
    further = {
        key: title
        for key, title in (("slow_s", "slow\nstart"), ("computing_s", "comp."), ("world_s", "world"))
        if any(abs(row[key]) > least for row in rows)
    }
    shown = [
        ("eq3_s", "Eq. 3"),
        ("queue_s", "queue"),
        ("rate_s", "rate"),
        ("wait_s", "wait"),
        *further.items(),
    ]
    terms = " + ".join(
        [
            "queue",
            "rate",
            "wait",
            *("slow start" if key == "slow_s" else key.removesuffix("_s") for key in further),
        ]
    )
    over_s = attribution.simulated_s - attribution.paper_s
    arcs = f"{len(attribution.arcs)} arc{'s' if len(attribution.arcs) > 1 else ''}"
    rounds = f"{attribution.tokens} round{'s' if attribution.tokens > 1 else ''}"
    return Table(
        caption=note_lines(
            f"{result.overlay.kind}, critical circuit of the paper: {arcs}, {rounds}; "
            f"{format_s(attribution.paper_s)} by the paper, {format_s(attribution.simulated_s)} simulated"
        ),
        columns=(
            Column(key="arc", title="arc"),
            *(Column(key=key, title=title, show=lambda s: _number(s, unit, least)) for key, title in shown),
            Column(key="eq3_in_flight", title="flight\nEq. 3", show=_count),
            Column(key="in_flight", title="flight\nsim.", show=_count),
            Column(key="cause", title="cause", prose=True),
        ),
        rows=rows,
        notes=note_lines(
            f"in {unit}; {terms} of the last line: {signed_s(over_s)} a round over paper. "
            "queue: behind the arc's earlier models. rate: sending, over Eq. 3's M/rate. wait: for another arc. "
            f"{_SLOW if 'slow_s' in further else ''}{_WORLD if 'world_s' in further else ''}"
            "flight: the arc's models under way at once."
        ),
    )


def _rows(attribution: Attribution) -> list[Row]:
    """Shown arcs, the others in one, and the mean over the circuit's tokens."""
    arcs = attribution.arcs
    if len(arcs) <= MOST_ARCS + 1:
        largest = set(range(len(arcs)))
    else:
        least = ROUNDING * max(attribution.simulated_s, attribution.paper_s)
        # The sum of sizes, so that terms that cancel are not lost; rounded, so that ties go to the first arcs.
        sizes = [-round(sum(abs(getattr(arc, name)) for name in _TERMS[1:]) / least) for arc in arcs]
        largest = set(sorted(range(len(arcs)), key=lambda place: sizes[place])[:MOST_ARCS])
    rows: list[Row] = [_row(arc) for place, arc in enumerate(arcs) if place in largest]
    others = [arc for place, arc in enumerate(arcs) if place not in largest]
    if others:
        rows.append(_total(f"{len(others)} others", others, 1))
    total = _total(f"sum / {attribution.tokens}", arcs, attribution.tokens)
    if not attribution.off_arcs:
        return [*rows, total]
    # Like the arcs' terms, of the whole circuit.
    world_s = attribution.off_arcs_s * attribution.tokens
    away = _total("no arc", [], 1) | {"world_s": world_s, "cause": attribution.off_arcs}
    return [*rows, away, total | {"world_s": attribution.off_arcs_s}]


def _row(arc: ArcShare) -> Row:
    """One arc."""
    between = arc.source != arc.target
    return {
        "arc": f"{arc.source} -> {arc.target}" if between else f"{arc.source} computes",
        **{name: getattr(arc, name) for name in _TERMS},
        "eq3_in_flight": arc.eq3_in_flight if between else None,
        "in_flight": arc.in_flight if between else None,
        "cause": ": ".join(filter(None, (arc.cause.assumption, arc.cause.place.replace("core link ", ""))))
        or "-",
    }


def _total(name: str, arcs: tuple[ArcShare, ...] | list[ArcShare], tokens: int) -> dict[str, Any]:
    """Some arcs together, per token; 0 of none."""
    return {
        "arc": name,
        **{term: sum((getattr(arc, term) for arc in arcs), 0.0) / tokens for term in _TERMS},
        "eq3_in_flight": None,
        "in_flight": None,
        "cause": "",
    }


def _number(seconds: float, unit: str, least: float) -> str:
    """A term in the table's unit; a rounding error is 0."""
    return "0" if abs(seconds) <= least else digits(in_unit(seconds, unit))


def _count(number: float) -> str:
    """Models under way at once."""
    return f"{number:.2f}" if number < 100 else f"{number:.0f}"
