"""All three closed forms as exact functions of the access capacity, with what limits a round there."""

from dataclasses import dataclass

import numpy as np

from topologies.analysis.curve import AccessCurve, access_curve
from topologies.analysis.resources import Resources
from topologies.arrays import FloatArray
from topologies.overlay import Overlay
from topologies.rounding import ROUNDING


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AccessForms:
    """Closed forms of fixed arcs when every access capacity is `C`; made by `access_forms`.

    ``paper`` is `curve`, ``serialized`` is ``max(paper, sending_bits / C, sending_s)`` and ``load`` is
    ``max(load_bits / C, load_s)``.

    Attributes
    ----------
    curve : AccessCurve
    sending_bits, sending_s : float
        Largest ``M * degree`` of an arc's ends, and the longest sending of one model at what no access link limits.
    load_bits, load_s : float
        Bits of a round on the busiest access link, and how long the busiest other link is busy in a round.
    access_links, other_links : tuple of int
        Link directions that are as busy as these, in the order of `Connectivity.link_capacity_bps`.
    """

    curve: AccessCurve
    sending_bits: float
    sending_s: float
    load_bits: float
    load_s: float
    access_links: tuple[int, ...]
    other_links: tuple[int, ...]

    def __repr__(self) -> str:
        """The curve."""
        return f"<AccessForms: {self.curve!r}>"

    def at(self, capacity_bps: float) -> tuple[float, float, float]:
        """`paper`, `serialized` and `load` at a capacity of the curve, in seconds.

        Raises
        ------
        InputError
            If the capacity lies outside the curve.
        """
        paper_s = float(self.curve(capacity_bps))
        serialized_s = max(paper_s, self.sending_bits / capacity_bps, self.sending_s)
        return paper_s, serialized_s, max(self.load_bits / capacity_bps, self.load_s)

    def piece(self, capacity_bps: float) -> int:
        """Piece of the curve at a capacity, the first of several; its circuit is critical there."""
        return int(np.argmax(self.curve.fixed_s + self.curve.shared_bits / capacity_bps))


def access_forms(overlay: Overlay, low_bps: float, high_bps: float) -> AccessForms:
    """Closed forms of an overlay's arcs when every uplink and downlink has the same capacity, as it moves.

    Parameters
    ----------
    overlay : Overlay
        Its own access capacities play no part.
    low_bps, high_bps : float
        Range of the capacity, as of `access_curve`.

    Raises
    ------
    InputError
        If the range is empty, or not positive, or links are half-duplex, shared by several silos, or by nobody.

    Notes
    -----
    An arc sends one model in ``M * max(max(|N-_i|, |N+_j|) / C, 1 / A(i', j'))``, Eq. 3, and a maximum of such is the
    maximum of both parts. Time that of `access_curve`, and O(total route length).
    """
    resources, graph, bits = Resources.of(overlay), overlay.graph, overlay.work.model_bits
    models = np.maximum(resources.out[overlay.source], resources.into[overlay.target])
    other_bps: FloatArray = resources.limits_bps()[2:].min(axis=0)
    graph.rules.check_plain_links("a curve over the access capacity")
    crossings = graph.crossings(overlay.source, overlay.target)
    first, end = graph.first_uplink, graph.first_window
    other = np.concatenate((np.arange(first), np.arange(end, len(crossings))))
    busy_s = crossings[other] * bits / graph.link_capacity_bps[other]
    most, longest_s = float(crossings[first:end].max(initial=0)), float(busy_s.max(initial=0.0))
    return AccessForms(
        curve=access_curve(overlay, low_bps, high_bps),
        sending_bits=bits * int(models.max(initial=0)),
        sending_s=float((bits / other_bps).max(initial=0.0)),
        load_bits=bits * most,
        load_s=longest_s,
        access_links=tuple((first + np.flatnonzero(crossings[first:end] == most)).tolist()) if most else (),
        other_links=tuple(other[busy_s >= longest_s * (1 - ROUNDING)].tolist()) if longest_s else (),
    )
