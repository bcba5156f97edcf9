"""Arcs that an overlay can carry at its own cycle time, chosen for the largest spectral gap.

Library only: no command calls it.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.consensus import (
    NEGATIVE_RULES,
    consensus_matrix,
    consensus_rules,
    spectral_gap,
)
from topologies.delays import leaving, pair_added_s, pair_rates, transmissions, under_way
from topologies.errors import InputError, unknown_name
from topologies.label_order import in_silo_order, renumbered
from topologies.optimal_consensus import fdla
from topologies.overlay import Overlay, build_overlay
from topologies.slow_start import with_added_s
from topologies.weights import is_symmetric

SLACK = 5e-13
"""Relative excess over tau that counts as rounding: an arc exactly as slow as allowed is free."""
SHRINK = 4
"""With a limit, the candidates are thinned by this factor between two programs."""
MOST_SILOS = 300
"""Largest network; the time of a program grows with the cube of silos and free arcs."""
COARSE = (1e-1, 3e-3, 1e-3)
"""Accuracies of the programs that rank the arcs: the exact one puts its weight on few, which may not go together."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Enrichment:
    """An overlay with added free arcs, and its spectral gaps.

    Attributes
    ----------
    overlay : Overlay
        With the added arcs and the new weights.
    added : tuple of (source, target)
        Sorted.
    gap_given : float
        Spectral gap of the overlay with the weights that it came with.
    gap_before : float
        With weights by the rule on its own arcs: what the weights alone bring.
    gap_after : float
        Of the enriched overlay: what the arcs add to that.
    gap_relaxed : float
        Of FDLA on all arcs that are free one by one. On a symmetric overlay no symmetric enrichment has a larger gap.
    """

    overlay: Overlay
    added: tuple[tuple[int, int], ...]
    gap_given: float
    gap_before: float
    gap_after: float
    gap_relaxed: float

    def __repr__(self) -> str:
        """Number of added arcs and spectral gaps."""
        gaps = f"spectral gap {self.gap_given:.4g} given, {self.gap_before:.4g} before, {self.gap_after:.4g} after"
        return f"<Enrichment of {self.overlay.kind}: {len(self.added)} arcs added, {gaps}>"


def enrich(
    overlay: Overlay,
    *,
    consensus: str = "fdla",
    keep: Literal["all", "paper"] = "all",
    limit: int | None = None,
) -> Enrichment:
    """Add arcs that increase the spectral gap at an unchanged cycle time.

    Parameters
    ----------
    consensus : str
        Rule for the weights, see `topologies.consensus.consensus_matrix`. On an overlay that is not symmetric
        ``"fdla"`` or ``"fmmc"``.
    keep : {"all", "paper"}
        What must not rise: the `paper` cycle time (Eq. 3 to 5), and with ``"all"`` the largest of the three closed
        forms too. What ``"paper"`` adds may load core links with many times what they carry in a cycle.
    limit : int, optional
        Largest number of arcs to add; on a symmetric overlay they come in pairs.

    Returns
    -------
    Enrichment
        Without added arcs, and with the overlay's own weights, for a STAR (its average is uniform already).

    Raises
    ------
    InputError
        If the rule or `keep` is unknown, the rule is not for this overlay, the limit is negative, or there are more
        than 300 silos.

    Notes
    -----
    An arc `(i, j)` raises no circuit above `tau` when ``d(i, j) - tau + longest(j, i) <= 0``, where `longest`
    is the largest sum of ``d - tau`` over paths. It also takes a share of an uplink and a downlink: where that slows
    the arcs beside it, the whole graph is checked again. On a symmetric overlay arcs come in pairs, so that weights
    stay symmetric.

    Which free arcs? FDLA's program over all arcs that are free one by one says what each would weigh. Arcs are
    accepted in the order of that weight while they are free together, and weighted again; those of weight 0 are left
    out again. The ranking program is solved coarsely, to several accuracies, and the best choice kept. With a limit
    the candidates shrink by a factor of 4 at a time. A heuristic: the accepted arcs depend on their order, and on
    digraphs FDLA minimises the spectral norm instead of the gap. A check is O(silos^2), O(silos^3) where the arc
    slows others; a program O(silos^3 + free^3): 87 silos take a few seconds, 250 silos about a minute.

    References
    ----------
    Marfoq et al. (2020), conclusions; Xiao and Boyd (2004); Ghosh and Boyd, "Growing well-connected graphs" (2006).
    """
    _check(overlay.graph.silos, consensus, keep, limit)
    graph, work, order = in_silo_order(overlay.graph, overlay.work)
    place = np.argsort(order)
    if graph is overlay.graph:
        return _enriched(overlay, place, consensus, keep, limit)
    # Ties of free arcs fall by label, however the silos are numbered.
    ordered = renumbered(overlay, graph, work, place)
    found = _enriched(ordered, place, consensus, keep, limit)
    if found.overlay is ordered:
        return replace(found, overlay=overlay)
    return replace(
        found,
        overlay=renumbered(found.overlay, overlay.graph, overlay.work, order),
        added=tuple(sorted((int(order[i]), int(order[j])) for i, j in found.added)),
    )


def _enriched(overlay: Overlay, place: IntArray, consensus: str, keep: str, limit: int | None) -> Enrichment:
    """`enrich` with ties by silo number; `place` is the place of each silo in the order given."""

    def gap_of(weights: FloatArray) -> float:
        """Spectral gap of the matrix as it is returned: another order of rows rounds differently."""
        return spectral_gap(weights[np.ix_(place, place)])

    silos = overlay.graph.silos
    given = gap_of(overlay.consensus)
    if overlay.hub is not None:
        return _unchanged(overlay, given, given)
    symmetric = is_symmetric(silos, overlay.source, overlay.target)
    if not symmetric and consensus not in ("fdla", "fmmc"):
        raise InputError(
            f"consensus(={consensus!r}) must be fdla or fmmc on an overlay that is not symmetric: the weights of "
            "other rules would agree on an average that favours some silos."
        )
    start = _start(overlay, keep)
    own = consensus_matrix(consensus, silos, overlay.source, overlay.target)
    before = gap_of(own)
    best = _unchanged(_rebuilt(overlay, start.present, own, consensus), given, before)
    candidates = _free(overlay, start, symmetric)
    if limit == 0 or not candidates.any():
        return best
    relaxed = gap_of(consensus_matrix("fdla", silos, *np.nonzero(start.present | candidates)))
    best = replace(best, gap_relaxed=relaxed)
    for accuracy in COARSE:
        present = _accepted(overlay, start, candidates, symmetric, limit, accuracy)
        weights = consensus_matrix(consensus, silos, *np.nonzero(present))
        # An arc that carries a model nobody uses is not worth its traffic.
        present &= start.present | (weights.T != 0)
        gap = gap_of(weights)
        if gap > best.gap_after:
            added = tuple((i, j) for i, j in np.argwhere(present & ~start.present).tolist())
            best = replace(
                best, overlay=_rebuilt(overlay, present, weights, consensus), added=added, gap_after=gap
            )
    return best


def _unchanged(overlay: Overlay, given: float, gap: float) -> Enrichment:
    """No arcs added."""
    return Enrichment(
        overlay=overlay, added=(), gap_given=given, gap_before=gap, gap_after=gap, gap_relaxed=gap
    )


def _check(silos: int, consensus: str, keep: str, limit: int | None) -> None:
    """Check the arguments of `enrich`."""
    if silos > MOST_SILOS:
        raise InputError(f"enrich: silos(={silos}) must be <= {MOST_SILOS}: its programs would take hours.")
    if consensus not in consensus_rules:
        raise unknown_name("consensus rule", consensus, consensus_rules)
    if keep not in ("all", "paper"):
        raise unknown_name("keep", keep, ("all", "paper"))
    if limit is not None and limit < 0:
        raise InputError(f"limit(={limit}) must be >= 0.")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _State:
    """Arcs so far, the largest sums of ``delay - tau`` over paths, and the time that each link direction is busy.

    `ceiling_s` bounds transmission times and loads; infinite where only the `paper` cycle time counts.
    """

    present: BoolArray
    longest_s: FloatArray
    load_s: FloatArray
    ceiling_s: float


def _start(overlay: Overlay, keep: str) -> _State:
    """State of the given overlay."""
    present = np.zeros_like(overlay.graph.may_send)
    present[overlay.source, overlay.target] = True
    forms = overlay.closed_forms
    ceiling_s = max(forms.paper_s, forms.serialized_s, forms.load_bound_s) if keep == "all" else np.inf
    load_s = np.zeros(len(overlay.graph.link_capacity_bps))
    for arc in zip(overlay.source.tolist(), overlay.target.tolist(), strict=True):
        links, busy_s = _traffic(overlay, arc)
        load_s[links] += busy_s
    delay_s, _ = _delays(overlay, present.sum(axis=1), present.sum(axis=0))
    longest_s = _longest(np.where(present, delay_s - forms.paper_s, -np.inf))
    return _State(present=present, longest_s=longest_s, load_s=load_s, ceiling_s=ceiling_s)


def _free(overlay: Overlay, state: _State, symmetric: bool) -> BoolArray:
    """Arcs that pass every test that looks at one circuit at a time, shape (silos, silos)."""
    out, into = state.present.sum(axis=1), state.present.sum(axis=0)
    tau_s = overlay.closed_forms.paper_s
    allowed_s = tau_s * (1 + SLACK) - state.longest_s.T
    delay_s, transmission_s = _delays(overlay, out + 1, into + 1)
    free = (
        ~state.present
        & overlay.graph.may_send
        & (delay_s <= allowed_s)
        & (transmission_s <= state.ceiling_s * (1 + SLACK))
    )
    slower_out = state.present & (_delays(overlay, out + 1, into)[0] > allowed_s)
    slower_in = state.present & (_delays(overlay, out, into + 1)[0] > allowed_s)
    free &= ~np.logical_or.outer(slower_out.any(axis=1), slower_in.any(axis=0))
    if np.isfinite(state.ceiling_s):
        for i, j in np.argwhere(free).tolist():
            free[i, j] = _has_room(overlay, state.load_s, state.ceiling_s, (i, j))
    if symmetric:
        # The two new arcs of a pair make a circuit by themselves.
        free &= free.T & (delay_s + delay_s.T <= 2 * tau_s * (1 + SLACK))
    return free


def _accepted(
    overlay: Overlay,
    start: _State,
    candidates: BoolArray,
    symmetric: bool,
    limit: int | None,
    accuracy: float,
) -> BoolArray:
    """The arcs of the overlay and the accepted ones."""
    most = int(candidates.sum()) if limit is None else limit
    while True:
        count = int(candidates.sum())
        weights = fdla(len(candidates), *np.nonzero(start.present | candidates), accuracy=accuracy)
        source, target = np.nonzero(np.triu(candidates) if symmetric else candidates)
        size = np.abs(weights[target, source])
        # Weights that differ by the solver's noise are ties, which the order of the silos breaks.
        order = np.argsort(-np.round(size / size.max(initial=1e-300), 6), kind="stable")
        quota = max(most, count // SHRINK) if count > most else count
        state = start
        taken = 0
        for i, j in zip(source[order].tolist(), target[order].tolist(), strict=True):
            arcs = [(i, j), (j, i)] if symmetric else [(i, j)]
            if taken + len(arcs) > quota:
                break
            grown = _grown(overlay, state, arcs)
            if grown is not None:
                state, taken = grown, taken + len(arcs)
        if taken <= most:
            return state.present
        candidates = state.present & ~start.present


def _grown(overlay: Overlay, state: _State, arcs: list[tuple[int, int]]) -> _State | None:
    """The state with these arcs added; None where a cycle time or load would rise."""
    tau_s = overlay.closed_forms.paper_s
    present = state.present.copy()
    load_s = state.load_s.copy()
    for arc in arcs:
        present[arc] = True
        if np.isfinite(state.ceiling_s):
            if not _has_room(overlay, load_s, state.ceiling_s, arc):
                return None
            links, busy_s = _traffic(overlay, arc)
            load_s[links] += busy_s
    old_s, _ = _delays(overlay, state.present.sum(axis=1), state.present.sum(axis=0))
    new_s, transmission_s = _delays(overlay, present.sum(axis=1), present.sum(axis=0))
    if np.any(transmission_s[present] > state.ceiling_s * (1 + SLACK)):
        return None
    if np.array_equal(old_s[state.present], new_s[state.present]):
        longest_s = state.longest_s
        for i, j in arcs:
            excess_s = new_s[i, j] - tau_s
            if excess_s + longest_s[j, i] > SLACK * tau_s:
                return None
            longest_s = np.maximum(longest_s, longest_s[:, i, np.newaxis] + (excess_s + longest_s[j]))
    else:
        if np.any(new_s[present] - tau_s + state.longest_s.T[present] > SLACK * tau_s):
            return None
        longest_s = _longest(np.where(present, new_s - tau_s, -np.inf))
        if longest_s.diagonal().max() > SLACK * tau_s:
            return None
    return replace(state, present=present, longest_s=longest_s, load_s=load_s)


def _has_room(overlay: Overlay, load_s: FloatArray, ceiling_s: float, arc: tuple[int, int]) -> bool:
    """Whether no link direction exceeds the ceiling with one more arc."""
    links, busy_s = _traffic(overlay, arc)
    return bool((load_s[links] + busy_s).max() <= ceiling_s * (1 + SLACK))


def _traffic(overlay: Overlay, arc: tuple[int, int]) -> tuple[IntArray, FloatArray]:
    """Link directions that a model of an arc occupies, and the time that it needs of each, at full capacity."""
    (occupied,) = overlay.graph.occupied([arc])
    links = np.array(occupied.links)
    bits = overlay.work.model_bits * np.array(occupied.usage)
    return links, np.asarray(bits / overlay.graph.link_capacity_bps[links])


def _delays(overlay: Overlay, out: IntArray, into: IntArray) -> tuple[FloatArray, FloatArray]:
    """Delay of each arc between silos of these degrees (Eq. 3), infinite without a path; how long a model keeps it."""
    compute_s, share = overlay.compute_s[:, np.newaxis], overlay.work.backward_share
    rate_bps = pair_rates(overlay.graph, out, into)
    transmission_s = under_way(compute_s, transmissions(overlay.work.model_bits, rate_bps), share)
    delay_s = leaving(compute_s, share) + overlay.graph.latency_s + transmission_s
    if overlay.graph.slow_start is not None:
        slow_s = pair_added_s(overlay.graph, overlay.work, rate_bps)
        return with_added_s(overlay.graph, delay_s, transmission_s, slow_s)
    return delay_s, transmission_s


def _longest(excess_s: FloatArray) -> FloatArray:
    """Largest sum over paths between all pairs, 0 from a silo to itself unless a circuit exceeds it."""
    longest_s = excess_s.copy()
    np.fill_diagonal(longest_s, 0.0)
    for via in range(len(longest_s)):
        np.maximum(longest_s, longest_s[:, via, np.newaxis] + longest_s[via], out=longest_s)
    return longest_s


def _rebuilt(overlay: Overlay, present: BoolArray, weights: FloatArray, rule: str) -> Overlay:
    """Overlay of these arcs, with weights by the rule, on the same network."""
    return build_overlay(
        overlay.kind,
        overlay.graph,
        overlay.work,
        np.argwhere(present),
        consensus=weights,
        negative_weights=rule in NEGATIVE_RULES,
    )
