"""What tables say of periodic overlays."""

from collections.abc import Callable, Sequence

import numpy as np

from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any
from scenarios.config.quantities import format_s
from scenarios.report.computing_states import states_words
from topologies import Connectivity, InputError, Overlay, PeriodicOverlay, Workload
from topologies.arrays import FloatArray
from topologies.consensus import SPLIT, SUM_TOLERANCE
from topologies.contraction import contraction, worst_contraction
from topologies.designers.multigraph import multigraph_reading_s

_MOST_MODELS = 1000
"""Silos times rounds of models up to which the contraction is computed, whose time is cubic in it."""


def gap_per_round(overlay: PeriodicOverlay) -> float | None:
    """One minus `topologies.contraction.contraction`; None where that would take long."""
    if overlay.graph.silos * overlay.longest_lag > _MOST_MODELS:
        return None
    return 1 - contraction(overlay.graph.silos, overlay.states)


def bounding_contraction(overlay: PeriodicOverlay, gap: float | None) -> float | None:
    """Contraction per round of all models, as of static overlays; with lags that in the long run, one minus the gap."""
    if gap is None or overlay.longest_lag > 1:
        return None if gap is None else 1 - gap
    return worst_contraction(overlay.graph.silos, overlay.states)


def never_agree(gap: float | None) -> bool:
    """Whether silos do not come to agree, by a gap up to rounding; not where that is not known."""
    return gap is not None and gap <= SPLIT


def column_note(overlays: Sequence[PeriodicOverlay]) -> list[str]:
    """What the columns of a table are of periodic overlays."""
    if not overlays:
        return []
    return [
        f"{', '.join(each.kind for each in overlays)}: periodic, states that follow each other; cycle times are per "
        "round, arcs those of all states, degree the largest of a round, the spectral gap one minus the factor by "
        "which differences shrink per round in the long run (geometric mean over a period).",
        *(f"{each.kind}: {states_words(each.computes)}." for each in overlays if not all(each.computes)),
    ]


def mixing_notes(overlay: PeriodicOverlay, gap: float | None) -> list[str]:
    """One sentence where the silos do not agree on the plain mean of their models, or never agree.

    Parameters
    ----------
    overlay : PeriodicOverlay
    gap : float or None
        Of `gap_per_round`.
    """
    if never_agree(gap):
        return [f"{overlay.kind}: with its weights the silos never agree on one model."]
    if _keeps_mean(overlay):
        return []
    return [
        f"{overlay.kind}: the silos agree on a weighted mean of their models, since columns of the consensus matrices "
        "of some states do not sum to 1."
    ]


def _keeps_mean(overlay: PeriodicOverlay) -> bool:
    """Whether the plain mean of the models stays in each state, or without lags over a period."""
    silos, period = overlay.graph.silos, np.ones(overlay.graph.silos)
    in_each = True
    for state in reversed(overlay.states):
        matrix = state.consensus(silos)
        in_each &= bool(abs(matrix.sum(axis=0) - 1).max(initial=0.0) <= SUM_TOLERANCE)
        period = period @ matrix
    over_all = overlay.longest_lag == 1 and abs(period - 1).max(initial=0.0) <= SUM_TOLERANCE
    return in_each or bool(over_all)


def reading_fields(config: OverlayConfig, overlay: PeriodicOverlay) -> dict[str, float]:
    """The multigraph's cycle time as its published table counts; nothing of other overlays."""
    if config.kind != "multigraph":
        return {}
    reading_s = multigraph_reading_s(overlay.graph, overlay.work, **config.options)
    return {"published_reading_s": reading_s}


def reading_note(kind: str, reading_s: float) -> str:
    """What that number is."""
    return (
        f"{kind}: {format_s(reading_s)} a round as its published table counts: the mean over the ring's arcs of what "
        "each adds to a round, 0 where it is not waited for. No silo's rounds last so; paper is what its recurrence "
        "says."
    )


def order_notes(
    overlays: Sequence[tuple[OverlayConfig, float]],
    graph: Connectivity,
    work: Workload,
    *,
    seed: int,
    label_shares: Callable[[], FloatArray] | None = None,
) -> list[str]:
    """What the order of the silos gains, of overlays with another one than by label.

    Parameters
    ----------
    overlays : sequence of (OverlayConfig, float)
        Each with its cycle time in seconds, the column ``paper``.
    seed, label_shares
        As for `design_any`.
    """
    notes = []
    for config, paper_s in overlays:
        order = config.options.get("order", "none")
        if order == "none" or config.is_randomized:
            continue
        try:
            unordered = config.with_options({"order": "none"})
            plain = design_any(unordered, graph, work, seed=seed, label_shares=label_shares)
        except InputError:
            notes.append(f"{config.name}: order {order}; by label it does not exist on this network.")
            continue
        assert isinstance(plain, Overlay | PeriodicOverlay)
        by_label_s = plain.closed_forms.paper_s
        notes.append(
            f"{config.name}: order {order} makes paper {format_s(paper_s)}; by label it is {format_s(by_label_s)}."
        )
    return notes
