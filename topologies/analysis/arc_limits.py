"""What limits the rate of each model of an overlay, static or periodic, by Eq. 3."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from topologies.analysis.resources import bandwidth_terms
from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.delays import available_rates, degrees, window_rates
from topologies.errors import InputError
from topologies.overlay import Overlay
from topologies.periodic_overlay import PeriodicOverlay
from topologies.rounding import ROUNDING


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ArcLimits:
    """Arcs with the capacities that limit their rates; made by `ArcLimits.of`.

    Attributes
    ----------
    graph : Connectivity
    model_bits : float
    source, target : ndarray of int, shape (arcs,)
        Of a periodic overlay of each arc of each state, state by state.
    out, into : ndarray of int, shape (arcs,)
        Models that share the source's uplink and the target's downlink: degrees, of a periodic overlay those of the
        arc's state.
    routes : tuple of tuple of int
        Link directions of each arc.
    rounds : int
        In which each arc carries one model: 1 of a static overlay, of a periodic one those of a period that its cycle
        times count.
    crossing : ndarray of int, shape (crossings, 2)
    measured_bps : ndarray, shape (arcs,)
    parts : ndarray, shape (crossings,)
        See `topologies.analysis.resources.bandwidth_terms`.
    """

    graph: Connectivity
    model_bits: float
    source: IntArray
    target: IntArray
    out: IntArray
    into: IntArray
    routes: tuple[tuple[int, ...], ...]
    rounds: int
    crossing: IntArray
    measured_bps: FloatArray
    parts: FloatArray

    def __repr__(self) -> str:
        """Number of arcs and rounds."""
        return f"<ArcLimits: {len(self.source)} arcs in {self.rounds} rounds>"

    @classmethod
    def of(cls, overlay: Overlay | PeriodicOverlay) -> Self:
        """Limits of an overlay as it is.

        Raises
        ------
        InputError
            If a periodic overlay has other rates than those of Eq. 3 with the degrees of its states, so that it is not
            known what limits them.

        Notes
        -----
        Time and memory O(total route length).
        """
        graph, silos = overlay.graph, overlay.graph.silos
        if isinstance(overlay, Overlay):
            source, target, routes, rounds = overlay.source, overlay.target, overlay.routes, 1
            by_silo = [degrees(silos, source, target)]
            counts = [overlay.arcs]
        else:
            source = np.concatenate([state.source for state in overlay.states])
            target = np.concatenate([state.target for state in overlay.states])
            by_silo = [degrees(silos, state.source, state.target) for state in overlay.states]
            counts = [len(state.source) for state in overlay.states]
            routes = tuple(overlay.routes[arc] for arc in overlay.numbers.of(source, target).tolist())
            # Closed forms are per round that counts, the event graph is one of a period.
            rounds = sum(overlay.computes)
        state = np.repeat(np.arange(len(counts)), counts)
        out, into = (np.array([each[side] for each in by_silo]) for side in (0, 1))
        crossing, measured_bps, parts = bandwidth_terms(graph, source, target, routes)
        found = cls(
            graph=graph,
            model_bits=overlay.work.model_bits,
            source=source,
            target=target,
            out=out[state, source],
            into=into[state, target],
            routes=routes,
            rounds=rounds,
            crossing=crossing,
            measured_bps=measured_bps,
            parts=parts,
        )
        if isinstance(overlay, PeriodicOverlay) and not np.allclose(
            np.concatenate(overlay.rate_bps), found.rate_bps(), rtol=ROUNDING, atol=0.0
        ):
            raise InputError(
                "has rates of its own, not those of Eq. 3 with the degrees of its states: what limits them is unknown.",
                source=overlay.kind,
            )
        return found

    def shares_bps(self) -> FloatArray:
        """What each arc gets of its sender's uplink, of its receiver's downlink, on the way and by its windows.

        Returns
        -------
        ndarray, shape (4, arcs)
        """
        available_bps = available_rates(self.graph, self.source, self.target)
        up_bps, down_bps = (
            self.graph.up_bps[self.source] / self.out,
            self.graph.down_bps[self.target] / self.into,
        )
        return np.stack((up_bps, down_bps, available_bps, window_rates(self.graph, self.source, self.target)))

    def rate_bps(self) -> FloatArray:
        """Rate of each arc by Eq. 3, shape (arcs,)."""
        return np.asarray(self.shares_bps().min(axis=0))
