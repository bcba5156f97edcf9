"""The states of a periodic overlay in the HDF5 file of a run, each arc with its lag and weight."""

import h5py
import numpy as np

from scenarios.runfile.names import write_arc_names
from topologies import PeriodicOverlay, State
from topologies.arrays import freeze

_GROUP = "states"


def write_states(group: h5py.Group, overlay: PeriodicOverlay) -> None:
    """Write the states of a periodic overlay.

    Parameters
    ----------
    group : h5py.Group
        Of the overlay; gets a group ``states`` with one value for each arc of each state, state by state, and whether
        silos compute in each; and ``critical_circuit`` with a row of silo and state for each event.
    overlay : PeriodicOverlay
    """
    states = group.create_group(_GROUP)
    states.attrs.update(
        period=overlay.period, longest_lag=overlay.longest_lag, negative_weights=overlay.negative_weights
    )
    counts = [len(state.source) for state in overlay.states]
    columns = {
        name: np.concatenate([getattr(state, name) for state in overlay.states])
        for name in ("source", "target", "lag", "weight")
    }
    ends = np.column_stack((columns["source"], columns["target"]))
    states["computes"] = np.array(overlay.computes)
    states["state"] = np.repeat(np.arange(overlay.period), counts)
    states["ends"] = ends
    states["ends"].attrs["columns"] = "source silo, target silo"
    states["lag"], states["weight"] = columns["lag"], columns["weight"]
    states["delay_s"] = np.concatenate(overlay.delay_s)
    write_arc_names(states, overlay.graph, ends)
    group["critical_circuit"] = np.array(overlay.critical_circuit, dtype=np.int64).reshape(-1, 2)
    group["critical_circuit"].attrs["columns"] = "silo, state"


def read_states(group: h5py.Group) -> tuple[State, ...] | None:
    """Read the states of an overlay; None of one that is not periodic."""
    if _GROUP not in group:
        return None
    states = group[_GROUP]
    period, ends = int(states.attrs["period"]), states["ends"][:]
    borders = np.searchsorted(states["state"][:], np.arange(1, period))
    # Older files are of overlays whose silos compute in all states.
    computes = states["computes"][:].tolist() if "computes" in states else [True] * period
    found = []
    for source, target, lag, weight, each in zip(
        *(np.split(column, borders) for column in (*ends.T, states["lag"][:], states["weight"][:])),
        computes,
        strict=True,
    ):
        freeze(source, target, lag, weight)
        found.append(State(source=source, target=target, lag=lag, weight=weight, computes=each))
    return tuple(found)
