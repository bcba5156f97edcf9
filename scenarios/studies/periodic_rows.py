"""What tables say of periodic overlays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import AnyOverlay, design_any
from scenarios.config.quantities import format_s
from scenarios.report.agreed_mean import never_agree_text, shares_text
from scenarios.report.computing_states import states_text
from topologies import Connectivity, InputError, PeriodicOverlay, Workload
from topologies.arrays import FloatArray
from topologies.consensus import SPLIT
from topologies.contraction import contraction, worst_contraction
from topologies.designers.multigraph import multigraph_reading_s
from topologies.lagged_models import longest_lag
from topologies.periodic_agreement import periodic_agreed_weights

_MOST_MODELS = 1000
"""Silos times rounds of models up to which it is computed how they mix, whose time is cubic in it."""
_SAME_SHARE = 1e-6
"""Silos whose weights differ by less than this part of the plain share weigh the same."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Mixing:
    """How the models of a periodic overlay's silos come together; made by `mixing_of`.

    Attributes
    ----------
    gap : float or None
        One minus `topologies.contraction.contraction`. None, as all are, where it would take long: of more than 1,000
        silos times the longest lag.
    contraction : float or None
        Per round for all models, as of static overlays; with lags in the long run, one minus the gap.
    weights : ndarray, shape (silos,), or None
        See `topologies.periodic_agreement.periodic_agreed_weights`.
    """

    gap: float | None
    contraction: float | None
    weights: FloatArray | None

    @property
    def never_agrees(self) -> bool:
        """Whether silos do not come to agree, by a gap up to rounding; not where that is not known."""
        return self.gap is not None and self.gap <= SPLIT


def gap_per_round(overlay: PeriodicOverlay) -> float | None:
    """`Mixing.gap` alone."""
    silos = overlay.graph.silos
    return (
        None if silos * longest_lag(overlay.states) > _MOST_MODELS else 1 - contraction(silos, overlay.states)
    )


def mixing_of(overlay: PeriodicOverlay) -> Mixing:
    """How the models of a periodic overlay's silos come together."""
    gap, silos = gap_per_round(overlay), overlay.graph.silos
    if gap is None:
        return Mixing(gap=None, contraction=None, weights=None)
    factor = 1 - gap
    return Mixing(
        gap=gap,
        contraction=factor if longest_lag(overlay.states) > 1 else worst_contraction(silos, overlay.states),
        weights=periodic_agreed_weights(silos, overlay.states, factor=factor),
    )


def column_note(overlays: Sequence[PeriodicOverlay]) -> list[str]:
    """What the columns of a table are of periodic overlays."""
    if not overlays:
        return []
    return [
        f"{', '.join(each.kind for each in overlays)}: periodic, states that follow each other; cycle times are per "
        "round, arcs those of all states, degree the largest of a round, the spectral gap one minus the factor by "
        "which differences shrink per round in the long run (geometric mean over a period).",
        *(f"{each.kind}: {states_text(each.computes)}." for each in overlays if not all(each.computes)),
    ]


def mixing_notes(overlay: PeriodicOverlay, mixing: Mixing) -> list[str]:
    """One sentence where the silos do not weigh the same in what they agree on, never agree, or that is not known.

    Parameters
    ----------
    overlay : PeriodicOverlay
    mixing : Mixing
        Of `mixing_of`.
    """
    longest = longest_lag(overlay.states)
    if mixing.gap is None:
        return [
            f"{overlay.kind}: {overlay.graph.silos:,} silos times the longest lag of {longest} are more "
            f"than {_MOST_MODELS:,}, so that neither the spectral gap nor what each silo weighs is computed."
        ]
    if mixing.never_agrees:
        return [never_agree_text(overlay.kind)]
    weights = mixing.weights
    if weights is None or np.abs(weights * len(weights) - 1).max() <= _SAME_SHARE:
        return []
    why = "the lags and weights" if longest > 1 else "the weights"
    return [
        f"{overlay.kind}: the silos agree on a weighted mean of what they learn, by {why} of its states: "
        f"{shares_text(overlay.graph.labels, weights)}"
    ]


def reading_fields(config: OverlayConfig, overlay: PeriodicOverlay) -> dict[str, float]:
    """The multigraph's cycle time as its published table counts; nothing of other overlays, nor of a single silo."""
    if config.kind != "multigraph" or overlay.graph.silos == 1:
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
    paper_s: Callable[[AnyOverlay], float],
    *,
    seed: int,
    label_shares: Callable[[], FloatArray] | None = None,
) -> list[str]:
    """What the order of the silos gains, of overlays with another one than by label.

    Parameters
    ----------
    overlays : sequence of (OverlayConfig, float)
        Each with its cycle time in seconds, the column ``paper``.
    paper_s : callable
        That cycle time of an overlay.
    seed, label_shares
        As for `design_any`.
    """
    notes = []
    for config, ordered_s in overlays:
        order = config.options.get("order", "none")
        if order == "none":
            continue
        try:
            unordered = config.with_options({"order": "none"})
            plain = design_any(unordered, graph, work, seed=seed, label_shares=label_shares)
        except InputError:
            notes.append(f"{config.name}: order {order}; by label it does not exist on this network.")
            continue
        notes.append(
            f"{config.name}: order {order} makes paper {format_s(ordered_s)}; by label it is "
            f"{format_s(paper_s(plain))}."
        )
    return notes
