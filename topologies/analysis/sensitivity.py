"""Sensitivities: derivatives of the cycle time by each resource.

Library only: no command calls it.
"""

from dataclasses import dataclass

import numpy as np

from topologies.analysis.resources import Resources
from topologies.arrays import FloatArray, IntArray
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.overlay import Overlay
from topologies.windows import round_trips


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sensitivities:
    """Derivatives of the cycle time, with the arcs and the rest held fixed.

    Attributes
    ----------
    up_s_per_bps, down_s_per_bps : ndarray, shape (silos,)
        By each silo's access capacities; <= 0.
    core_s_per_bps : ndarray, shape (links,)
        By each core link's capacity, both directions together; <= 0. Zero where the bandwidth was measured.
    measured_s_per_bps : ndarray, shape (arcs,)
        By the measured bandwidth of each arc's pair; <= 0. Zero where core links are routed.
    window_s_per_bps : ndarray, shape (arcs,)
        By the rate that each arc's windows allow; <= 0.
    latency_s_per_s : ndarray, shape (arcs,)
        By each arc's latency, also by what its windows, and those of the arc back, then allow, and by the round trips
        of their slow start.
    latency_constant_s_per_s : float
        By the constant in every latency, the 4 ms.
    compute_s_per_s : ndarray, shape (silos,)
        By each silo's computing time of one local step, `T_c(i)`.
    model_s_per_bit : float
        By the model size.
    """

    up_s_per_bps: FloatArray
    down_s_per_bps: FloatArray
    core_s_per_bps: FloatArray
    measured_s_per_bps: FloatArray
    window_s_per_bps: FloatArray
    latency_s_per_s: FloatArray
    latency_constant_s_per_s: float
    compute_s_per_s: FloatArray
    model_s_per_bit: float

    def __repr__(self) -> str:
        """Number of silos and arcs."""
        return f"<Sensitivities: {len(self.up_s_per_bps)} silos, {len(self.latency_s_per_s)} arcs>"


def sensitivities(overlay: Overlay) -> Sensitivities:
    """Derivatives of an overlay's cycle time by every resource, from its critical circuit.

    Notes
    -----
    `tau`, the `paper` closed form, is the circuit's sum of delays over its tokens. On each of its arcs one resource
    binds: with `n` models sharing an access link of capacity `c`, the transmission takes ``M * n / c``, whose
    derivative is ``-M * n / c**2``; a core link's smallest capacity is divided into as many parts as the rule for
    `A(i', j')` says. Another resource has derivative zero. What a message sends in slow start takes whole round trips
    and no share of a capacity. Where one bit more would take another of them `tau` jumps, which no derivative says.

    Where several circuits are critical, or several resources bind equally, `tau` has a kink. The derivatives are
    then those of the reported circuit, `Overlay.proof`, with the first binding resource of each arc in the order
    uplink, downlink, core links along the route, measured pair, window. They are a subgradient: for a given model
    size `tau` is convex in latencies, computing times and inverse capacities, so for any change of these, however
    large,

        tau(new) >= tau + sum of derivative * change

    with ``-c**2 * derivative`` as the derivative by ``1 / c``. No change gains more than they promise. Time
    O(total route length).
    """
    resources = Resources.of(overlay)
    circuit = np.array(overlay.proof.circuit, dtype=np.int64)
    circuit_tokens = int(overlay.event_graph.tokens[circuit].sum())
    arcs = circuit[circuit < overlay.arcs]

    compute = np.zeros(overlay.graph.silos)
    compute[overlay.event_graph.source[circuit]] = overlay.event_graph.tokens[circuit]
    rate = resources.limits_bps().min(axis=0)
    sent = arcs[~resources.hidden(rate)[arcs]]
    # Of the computing of a model that is still being sent after it the backward pass plays no part.
    compute[overlay.source[sent]] -= overlay.tokens[sent] * overlay.work.backward_share
    up, down, core, measured, window = _capacities(resources, arcs)
    latency = np.zeros(overlay.arcs)
    latency[arcs] = 1.0
    constants = _latency_constants(overlay)
    constant = float(constants[arcs].sum())
    # A window is sent once per round-trip time, in which both latencies count.
    trip_s = round_trips(overlay.graph, overlay.source, overlay.target)
    for arc in np.flatnonzero(window).tolist():
        by_trip = -window[arc] * resources.window_bps[arc] / trip_s[arc]
        latency[[arc, *resources.back(arc)]] += by_trip
        constant += 2 * by_trip * float(constants[arc])
    rounds, _ = resources.opening(rate)
    for arc in arcs[resources.trip_s[arcs] > 0].tolist():
        latency[[arc, *resources.back(arc)]] += rounds[arc]
        constant += 2 * int(rounds[arc]) * float(constants[arc])
    per_token = 1 / circuit_tokens
    return Sensitivities(
        up_s_per_bps=up * per_token,
        down_s_per_bps=down * per_token,
        core_s_per_bps=core * per_token,
        measured_s_per_bps=measured * per_token,
        window_s_per_bps=window * per_token,
        latency_s_per_s=latency * per_token,
        latency_constant_s_per_s=constant * per_token,
        compute_s_per_s=overlay.work.local_steps * compute * per_token,
        model_s_per_bit=float((1 / rate[sent]).sum()) * per_token,
    )


def _capacities(
    resources: Resources, arcs: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Derivatives of the sum of these arcs' delays by uplinks, downlinks, core links, measured pairs and windows."""
    up, down = np.zeros(len(resources.up_bps)), np.zeros(len(resources.down_bps))
    core, (measured, window) = np.zeros(len(resources.core_bps)), np.zeros((2, len(resources.measured_bps)))
    overlay = resources.overlay
    binding = resources.binding()
    # What is sent in slow start takes whole round trips.
    _, opening_bits = resources.opening(resources.limits_bps().min(axis=0))
    steady_bits = resources.model_bits - opening_bits
    for arc in arcs.tolist():
        bits = float(steady_bits[arc])
        by_up, by_down, by_available, by_window = binding[:, arc].tolist()
        i, j = int(overlay.source[arc]), int(overlay.target[arc])
        if by_up:
            up[i] -= bits * resources.out[i] / resources.up_bps[i] ** 2
        elif by_down:
            down[j] -= bits * resources.into[j] / resources.down_bps[j] ** 2
        elif by_available and len(binding_crossings := resources.binding_crossings(arc)):
            crossing = binding_crossings[0]
            link = resources.crossing[crossing, 1] // 2
            core[link] -= bits * resources.parts[crossing] / resources.core_bps[link] ** 2
        elif by_available:
            measured[arc] -= bits / resources.measured_bps[arc] ** 2
        elif by_window:
            window[arc] -= bits / resources.window_bps[arc] ** 2
    return up, down, core, measured, window


def _latency_constants(overlay: Overlay) -> FloatArray:
    """Multiples of the constant in each arc's latency, without its distance, shape (arcs,); none if measured."""
    if overlay.graph.latency == "measured":
        return np.zeros(overlay.arcs)
    router = overlay.graph.router
    km = overlay.graph.routes.distance_km[router[overlay.source], router[overlay.target]]
    return np.asarray((overlay.latency_s - S_PER_KM * km) / S_PER_PATH)
