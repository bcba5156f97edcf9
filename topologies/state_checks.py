"""Checks of the states of a periodic overlay; each failure is one line that names state, arc, value and rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.consensus import SUM_TOLERANCE
from topologies.digraph import check_connected
from topologies.errors import Field, InputError
from topologies.periodic_events import turn_order
from topologies.state import State

MOST_EVENTS = 1 << 20
"""Arcs that the event graph of a period may have: its silos times its states, and the arcs of all states."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StateArcs:
    """The arcs of all states, those of a state after those of the one before, each array of shape (arcs,)."""

    state: IntArray
    source: IntArray
    target: IntArray
    lag: IntArray
    weight: FloatArray


def check_states(
    kind: str, graph: Connectivity, states: Sequence[State], *, negative_weights: bool
) -> StateArcs:
    """Accept states of a periodic overlay, and return the arcs of all.

    Parameters
    ----------
    kind : str
        What messages call the overlay.
    graph : Connectivity
    states : sequence of State
    negative_weights : bool
        Whether weights may be below 0, a silo's own too.

    Raises
    ------
    InputError
        See `topologies.periodic_overlay.build_periodic`.
    """
    silos = graph.silos
    if not len(states):
        raise InputError("states must hold one state or more.", source=kind)
    if not any(state.computes for state in states):
        raise InputError(
            "silos must compute in one state or more: cycle times are per round in which they do.",
            source=kind,
        )
    events = len(states) * silos + sum(np.size(state.source) for state in states)
    if events > MOST_EVENTS:
        raise InputError(
            f"must be fewer: {silos} silos x {len(states)} states and the arcs of all are {events}; they must be "
            f"<= {MOST_EVENTS}.",
            field=Field("states", value=len(states)),
            source=kind,
        )
    for place, state in enumerate(states):
        _check_arrays(f"{kind}: state {place}", state)
    arcs = _joined(states)
    _check_ends(kind, graph, arcs)
    names = _Names(kind=kind, labels=graph.labels, arcs=arcs)
    names.refuse(arcs.lag < 1, "lag", arcs.lag, "must be >= 1.")
    _check_weights(names, negative_weights=negative_weights)
    if silos > 1 and not len(arcs.source):
        raise InputError("states must not all be without arcs: then no consensus is reached.", source=kind)
    rule = f"{kind}: the arcs of all states together must be strongly connected"
    check_connected(rule, graph.labels, arcs.source, arcs.target, strong=True)
    _check_order(names, len(states), arcs.source * silos + arcs.target)
    return arcs


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Names:
    """The arcs, and what messages call them."""

    kind: str
    labels: Sequence[str]
    arcs: StateArcs

    def refuse(self, broken: BoolArray, name: str, values: NDArray[Any], rule: str) -> None:
        """Raise an error for the first arc that breaks a rule, if any does."""
        if broken.any():
            place = int(np.argmax(broken))
            raise InputError(rule, field=Field(name, value=values[place]), source=self.of(place))

    def of(self, place: int) -> str:
        """The state and the ends of an arc."""
        arcs, labels = self.arcs, self.labels
        return f"{self.kind}: state {arcs.state[place]}: {labels[arcs.source[place]]} -> {labels[arcs.target[place]]}"


def _check_arrays(source: str, state: State) -> None:
    """Accept arrays of one entry per arc, of numbers as they must be."""
    arcs = np.size(state.source)
    for name, kinds, what in (
        ("source", "iu", "integers"),
        ("target", "iu", "integers"),
        ("lag", "iu", "integers"),
        ("weight", "iuf", "numbers"),
    ):
        values = np.asarray(getattr(state, name))
        if values.shape != (arcs,):
            raise InputError(
                f"{name} has shape {values.shape}; it must be {(arcs,)}, one entry per arc.", source=source
            )
        if values.dtype.kind not in kinds:
            raise InputError(f"{name} must hold {what}, not {values.dtype}.", source=source)


def _joined(states: Sequence[State]) -> StateArcs:
    def column(name: str, dtype: type) -> NDArray[Any]:
        return np.concatenate([np.asarray(getattr(state, name), dtype=dtype) for state in states])

    return StateArcs(
        state=np.repeat(np.arange(len(states)), [len(state.source) for state in states]),
        source=column("source", np.int64),
        target=column("target", np.int64),
        lag=column("lag", np.int64),
        weight=column("weight", np.float64),
    )


def _check_ends(kind: str, graph: Connectivity, arcs: StateArcs) -> None:
    """Accept arcs between two silos that can talk, sorted in each state, none twice."""
    silos, labels = graph.silos, graph.labels
    for name, ends in (("source", arcs.source), ("target", arcs.target)):
        outside = (ends < 0) | (ends >= silos)
        if outside.any():
            place = int(np.argmax(outside))
            raise InputError(
                f"must be a silo of 0..{silos - 1}.",
                field=Field(name, value=ends[place]),
                source=f"{kind}: state {arcs.state[place]}",
            )
    names = _Names(kind=kind, labels=labels, arcs=arcs)
    code = (arcs.state * silos + arcs.source) * silos + arcs.target
    for broken, rule in (
        (arcs.source == arcs.target, "an arc must join two different silos."),
        (graph.available_bps[arcs.source, arcs.target] == 0, "the first cannot send to the second."),
        (np.diff(code, prepend=-1) == 0, "an arc must not be repeated."),
        (np.diff(code, prepend=-1) < 0, "arcs must be sorted by source, then target, as state_of does."),
    ):
        if broken.any():
            raise InputError(rule, source=names.of(int(np.argmax(broken))))


def _check_weights(names: _Names, *, negative_weights: bool) -> None:
    """Accept finite weights that leave a silo's own model what it must have."""
    arcs = names.arcs
    names.refuse(~np.isfinite(arcs.weight), "weight", arcs.weight, "must be finite.")
    if negative_weights:
        return
    names.refuse(arcs.weight < 0, "weight", arcs.weight, "must be >= 0, or negative_weights=True be given.")
    silos = len(names.labels)
    sums = np.bincount(arcs.state * silos + arcs.target, arcs.weight)
    if (sums > 1 + SUM_TOLERANCE).any():
        state, silo = divmod(int(np.argmax(sums > 1 + SUM_TOLERANCE)), silos)
        raise InputError(
            f"the weights that {names.labels[silo]} gives the models that it receives sum to "
            f"{sums[state * silos + silo]:.10g}; they must sum to <= 1 within {SUM_TOLERANCE:g}, the rest being that "
            "of its own model, or negative_weights=True be given.",
            source=f"{names.kind}: state {state}",
        )


def _check_order(names: _Names, period: int, number: IntArray) -> None:
    """Accept lags by which no silo mixes in an older model of another one after a newer one."""
    arcs = names.arcs
    behind, _, rounds = turn_order(period, arcs.state, number)
    most = arcs.lag[behind] + rounds
    late = arcs.lag > most
    if late.any():
        place = int(np.argmax(late))
        names.refuse(
            late,
            "lag",
            arcs.lag,
            f"must be <= {most[place]}: an older model must not follow the one of state {arcs.state[behind[place]]}.",
        )
