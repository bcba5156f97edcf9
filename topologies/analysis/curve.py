"""The cycle time as an exact function of the access capacity."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from topologies.analysis.resources import Resources
from topologies.arrays import FloatArray
from topologies.delays import leaving, under_way
from topologies.errors import InputError
from topologies.howard import cycle_time
from topologies.maxplus import EventGraph
from topologies.overlay import Overlay
from topologies.slow_start import check_restarts_stay

_EQUAL = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AccessCurve:
    """``tau(C)``, the cycle time of fixed arcs when every access capacity is `C`; made by `access_curve`.

    Between two neighbouring capacities, piece `k` is ``fixed_s[k] + shared_bits[k] / C``.

    Attributes
    ----------
    capacity_bps : ndarray, shape (pieces + 1,)
        Increasing: the low end, the breakpoints, the high end.
    cycle_time_s : ndarray, shape (pieces + 1,)
        `tau` there; it never increases.
    fixed_s, shared_bits : ndarray, shape (pieces,)
        What access links do not change, and the bits per round that wait for them; `shared_bits` decreases.
    circuits : tuple of tuple of int, (pieces,)
        Silos of a critical circuit of each piece.
    """

    capacity_bps: FloatArray
    cycle_time_s: FloatArray
    fixed_s: FloatArray
    shared_bits: FloatArray
    circuits: tuple[tuple[int, ...], ...]

    def __repr__(self) -> str:
        """Both ends and the number of pieces."""
        low, high = (f"{self.cycle_time_s[k]:.6g} s at {self.capacity_bps[k]:g} bit/s" for k in (0, -1))
        return f"<AccessCurve: {low} to {high}, {len(self.fixed_s)} pieces>"

    @property
    def breakpoints_bps(self) -> FloatArray:
        """Capacities at which the slope in ``1 / C`` changes, shape (pieces - 1,)."""
        return self.capacity_bps[1:-1]

    def __call__(self, capacity_bps: ArrayLike) -> FloatArray:
        """Cycle time at any capacities of the curve, in seconds.

        Raises
        ------
        InputError
            If one lies outside ``capacity_bps[0]..capacity_bps[-1]``.
        """
        capacity = np.asarray(capacity_bps, dtype=np.float64)
        low, high = float(self.capacity_bps[0]), float(self.capacity_bps[-1])
        outside = ~((capacity >= low) & (capacity <= high))
        if outside.any():
            worst = float(capacity[outside].flat[0])
            raise InputError(f"capacity_bps(={worst:g}) must lie in {low:g}..{high:g}.")
        return np.asarray((self.fixed_s + self.shared_bits / capacity[..., np.newaxis]).max(axis=-1))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Line:
    """``tau`` at `x` in 1/(bit/s), and the line ``fixed_s + shared_bits * x`` that supports the curve there."""

    x: float
    cycle_time_s: float
    fixed_s: float
    shared_bits: float
    circuit: tuple[int, ...]

    def at(self, x: float) -> float:
        """Value of the line."""
        return self.fixed_s + self.shared_bits * x


def access_curve(overlay: Overlay, low_bps: float, high_bps: float) -> AccessCurve:
    """Cycle time of an overlay's arcs when every uplink and downlink has the same capacity, as it moves.

    Parameters
    ----------
    overlay : Overlay
        Its own access capacities play no part. Its cycle time is the `paper` closed form.
    low_bps, high_bps : float
        Range of the capacity `C`, ``0 < low_bps < high_bps``; infinity is allowed as the high end.

    Raises
    ------
    InputError
        If the range is empty, or not positive, or the overlay has a hub and slow start after idle times: then rates
        decide which arcs start slowly, and the delays jump.

    Notes
    -----
    In ``x = 1 / C`` each delay is a constant plus ``M * max(degree * x, 1 / A)``, convex and piecewise linear, also
    with slow start (`topologies.slow_start.opening`), and so is `tau`, the largest mean over circuits. Lines that
    support it at both ends of a range meet in one point: if the curve passes through it, it is the range's one
    breakpoint; else the line that supports it there splits the range. No grid is involved: every piece costs at most
    two cycle times, after Eisner and Severance, "Mathematical techniques for efficient record segmentation in large
    shared databases" (1976).
    """
    if not (0 < low_bps < high_bps):
        raise InputError(f"low_bps(={low_bps:g}) must be > 0 and below high_bps(={high_bps:g}).")
    check_restarts_stay(overlay.graph, overlay.hub, "a curve over the access capacity")
    delays = _Delays.of(overlay)
    pieces = _pieces(delays, delays.support(1 / high_bps), delays.support(1 / low_bps))
    merged = [pieces[0]]
    for piece in pieces[1:]:
        same = math.isclose(piece[1].shared_bits, merged[-1][1].shared_bits)
        if not same or not math.isclose(piece[1].at(piece[0]), merged[-1][1].at(piece[0]), rel_tol=_EQUAL):
            merged.append(piece)
    merged.reverse()
    lines = [line for _, line in merged]
    starts = [1 / x for x, _ in merged[:-1]]
    capacity = np.array([low_bps, *starts, high_bps], dtype=np.float64)
    fixed_s = np.array([line.fixed_s for line in lines])
    shared_bits = np.array([line.shared_bits for line in lines])
    return AccessCurve(
        capacity_bps=capacity,
        cycle_time_s=(fixed_s + shared_bits / capacity[:, np.newaxis]).max(axis=1),
        fixed_s=fixed_s,
        shared_bits=shared_bits,
        circuits=tuple(line.circuit for line in lines),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Delays:
    """Delays as functions of `x`: ``constant_s + max(shared_bits * x, core_s)`` on every arc of an event graph.

    On arcs of `resources` slow start adds whole round trips, which send some of the bits instead.
    """

    resources: Resources
    graph: EventGraph
    constant_s: FloatArray
    shared_bits: FloatArray
    core_s: FloatArray

    @classmethod
    def of(cls, overlay: Overlay) -> Self:
        """Delays of an overlay, its silos' self-loops included."""
        resources = Resources.of(overlay)
        models = np.maximum(resources.out[overlay.source], resources.into[overlay.target])
        none = np.zeros(overlay.graph.silos)
        compute_s, share = overlay.tokens * overlay.compute_s[overlay.source], overlay.work.backward_share
        core_s = overlay.work.model_bits / resources.limits_bps()[2:].min(axis=0)
        return cls(
            resources=resources,
            graph=overlay.event_graph,
            constant_s=np.concatenate((leaving(compute_s, share) + overlay.latency_s, overlay.compute_s)),
            shared_bits=np.concatenate((overlay.work.model_bits * models, none)),
            core_s=np.concatenate((under_way(compute_s, core_s, share), none)),
        )

    def support(self, x: float) -> _Line:
        """The critical circuit's line at `x`."""
        opening_s, left = self._slow_start(x)
        constant_s, shared_bits, core_s = (
            self.constant_s + opening_s,
            self.shared_bits * left,
            self.core_s * left,
        )
        shared = shared_bits * x
        graph = replace(self.graph, delay_s=constant_s + np.maximum(shared, core_s))
        proof = cycle_time(graph)
        arcs = list(proof.circuit)
        tokens = int(graph.tokens[arcs].sum())
        by_access = shared[arcs] > core_s[arcs]
        fixed = constant_s[arcs] + np.where(by_access, 0.0, core_s[arcs])
        return _Line(
            x=x,
            cycle_time_s=proof.cycle_time_s,
            fixed_s=math.fsum(fixed) / tokens,
            shared_bits=math.fsum(shared_bits[arcs][by_access]) / tokens,
            circuit=tuple(graph.source[arcs].tolist()),
        )

    def _slow_start(self, x: float) -> tuple[FloatArray, FloatArray]:
        """Time of the round trips of slow start, and the fraction of the bits that they leave, of every arc."""
        resources, bits = self.resources, self.resources.model_bits
        opening_s, left = np.zeros(len(self.constant_s)), np.ones(len(self.constant_s))
        if resources.overlay.graph.slow_start is not None and bits:
            arcs = resources.overlay.arcs
            sending_s = np.maximum(self.shared_bits * x, self.core_s)[:arcs]
            rate_bps = np.full(arcs, np.inf)
            np.divide(bits, sending_s, out=rate_bps, where=sending_s > 0)
            rounds, sent_bits = resources.opening(rate_bps)
            opening_s[:arcs] = rounds * resources.trip_s
            left[:arcs] = 1.0 - sent_bits / bits
        return opening_s, left


def _pieces(delays: _Delays, left: _Line, right: _Line) -> list[tuple[float, _Line]]:
    """Start in `x` and line of each piece between two supported points, from left to right."""
    found: list[tuple[float, _Line]] = []
    todo = [(left, right)]
    while todo:
        left, right = todo.pop()
        if right.at(left.x) >= left.cycle_time_s * (1 - _EQUAL):
            found.append((left.x, right))
        elif left.at(right.x) >= right.cycle_time_s * (1 - _EQUAL):
            found.append((left.x, left))
        else:
            x = (left.fixed_s - right.fixed_s) / (right.shared_bits - left.shared_bits)
            middle = delays.support(x)
            if middle.cycle_time_s <= left.at(x) * (1 + _EQUAL):
                found += [(left.x, left), (x, right)]
            else:
                todo += [(middle, right), (left, middle)]
    return found
