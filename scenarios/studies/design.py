"""The table of designed overlays: closed forms side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.network import describe
from scenarios.studies.comparison import FORMS, forms_note
from scenarios.tables import Column, Table, cycle_time_columns
from scenarios.units import digits, format_s
from topologies import (
    DESIGNERS,
    RANDOM_DESIGNERS,
    Connectivity,
    InputError,
    Overlay,
    RandomOverlay,
    Workload,
    design,
    design_random,
)
from topologies.bounds import lower_bound_s
from topologies.consensus import spectral_gap
from topologies.errors import unknown_name
from topologies.random_cycle_time import random_cycle_time

DEFAULT_KINDS = ("star", "mst", "delta_mbst", "ring")
RANDOM_ROUNDS = 1000


def design_table(
    graph: Connectivity,
    work: Workload,
    kinds: Sequence[str],
    options: Mapping[str, Mapping[str, Any]],
    *,
    seed: int = 0,
) -> Table:
    """Closed forms of several overlays, with the ratio to the STAR.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    kinds : sequence of str
        Names of `DESIGNERS` and `RANDOM_DESIGNERS`.
    options : mapping from kind to mapping
        Options of designers; those of ``matcha`` are for all kinds of MATCHA.
    seed : int
        Of the rounds of overlays that are drawn anew each round.

    Returns
    -------
    Table
        One row for each overlay; ``ratio_to_star`` is the STAR's `paper` cycle time divided by the overlay's. Where
        an overlay is drawn anew each round, `paper_s` is its `barrier` form.

    Raises
    ------
    InputError
        If a kind is unknown or cannot be built.
    """
    for kind in kinds:
        if kind not in DESIGNERS and kind not in RANDOM_DESIGNERS:
            raise unknown_name("overlay kind", kind, [*DESIGNERS, *RANDOM_DESIGNERS])
    star = _star(graph, work, options.get("star", {}), needed="star" in kinds)
    star_s = None if star is None else star.closed_forms.paper_s
    rows: list[dict[str, object]] = []
    for kind in kinds:
        if kind in DESIGNERS:
            overlay = (
                star
                if kind == "star" and star is not None
                else design(kind, graph, work, **options.get(kind, {}))
            )
            rows.append(_static_row(overlay, star_s))
        else:
            family = "matcha" if kind.startswith("matcha") else kind
            drawn = design_random(kind, graph, work, **options.get(family, {}))
            rows.append(_random_row(drawn, star_s, seed))
    forms, unit = cycle_time_columns(rows, FORMS)
    notes = [forms_note(unit), "rounds/s, vs STAR: of paper. gap: spectral gap of the consensus matrix."]
    if "star" in kinds and star is not None and star.hub is not None:
        notes.append(f"star: the hub is {graph.labels[star.hub]}.")
    drawn_rows = [row for row in rows if row["max_plus_s"] is not None]
    notes += [_interval_note(row, unit) for row in drawn_rows]
    if drawn_rows:
        notes.append(
            f"barrier: mean slowest arc of {RANDOM_ROUNDS} drawn rounds. max-plus: silos run ahead. +-: 95 %."
        )
    if "best" in kinds:
        bound_s = lower_bound_s(graph, work)
        rows = [row | {"lower_bound_s": bound_s} if row["overlay"] == "best" else row for row in rows]
        notes.append(f"best: no overlay that stays has a paper cycle time below {format_s(bound_s)}.")
    return Table(
        caption=describe(graph, work),
        columns=(
            Column(key="overlay", title="overlay"),
            Column(key="arcs", title="arcs"),
            Column(key="max_degree", title="degree"),
            *forms,
            Column(key="throughput_per_s", title="rounds/s", show=digits),
            Column(key="ratio_to_star", title="vs STAR", show="{:.2f}x".format),
            Column(key="spectral_gap", title="gap", show="{:.4f}".format),
        ),
        rows=rows,
        notes="\n".join(notes),
    )


def _static_row(overlay: Overlay, star_s: float | None) -> dict[str, object]:
    """Fields of one overlay that stays."""
    forms, graph = overlay.closed_forms, overlay.graph
    return {
        "overlay": overlay.kind,
        "arcs": overlay.arcs,
        "max_degree": overlay.max_degree,
        "paper_s": forms.paper_s,
        "serialized_s": forms.serialized_s,
        "load_bound_s": forms.load_bound_s,
        **_rates(forms.paper_s, star_s),
        "spectral_gap": spectral_gap(overlay.consensus),
        "hub": None if overlay.hub is None else graph.labels[overlay.hub],
        "critical_circuit": [graph.labels[silo] for silo in overlay.critical_circuit],
        "busiest_link": None if forms.busiest_link is None else graph.link_name(forms.busiest_link),
        "max_plus_s": None,
    }


def _random_row(overlay: RandomOverlay, star_s: float | None, seed: int) -> dict[str, object]:
    """Fields of one overlay that is drawn anew each round, with 95 % confidence intervals."""
    time = random_cycle_time(overlay, RANDOM_ROUNDS, seed)
    return {
        "overlay": overlay.kind,
        "arcs": None,
        "max_degree": None,
        "paper_s": time.barrier.mean,
        "serialized_s": None,
        "load_bound_s": None,
        **_rates(time.barrier.mean, star_s),
        "spectral_gap": None,
        "paper_half_width_s": time.barrier.half_width,
        "max_plus_s": time.max_plus.mean,
        "max_plus_half_width_s": time.max_plus.half_width,
    }


def _rates(paper_s: float, star_s: float | None) -> dict[str, object]:
    """Throughput and ratio to the STAR."""
    if paper_s == 0:
        return {"throughput_per_s": float("inf"), "ratio_to_star": None}
    return {"throughput_per_s": 1 / paper_s, "ratio_to_star": None if star_s is None else star_s / paper_s}


def _star(graph: Connectivity, work: Workload, options: Mapping[str, Any], *, needed: bool) -> Overlay | None:
    """The STAR, or None where this network has none and nobody asked for it."""
    try:
        return design("star", graph, work, **options)
    except InputError:
        if needed:
            raise
        return None


def _interval_note(row: Mapping[str, Any], unit: str) -> str:
    """Both cycle times of an overlay that is drawn anew each round, with their intervals."""
    factor = 1.0 if unit == "s" else 1e3

    def interval(key: str) -> str:
        return f"{digits(factor * row[f'{key}_s'])} +- {digits(factor * row[f'{key}_half_width_s'])}"

    return f"{row['overlay']}: barrier {interval('paper')}, max-plus {interval('max_plus')}."
