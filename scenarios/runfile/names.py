"""Names in the HDF5 file of a run, so that a reader needs nothing but the file."""

from collections.abc import Sequence

import h5py
import numpy as np

from topologies import Connectivity, Underlay
from topologies.arrays import IntArray
from topologies.connectivity import direction_name, window_name


def write_names(group: h5py.Group, **names: Sequence[str]) -> None:
    """Write data sets of texts (UTF-8 of variable length), each by its name."""
    for name, texts in names.items():
        group[name] = np.array(texts, dtype=h5py.string_dtype())


def write_arc_names(group: h5py.Group, graph: Connectivity, ends: IntArray) -> None:
    """Write the labels of both ends of arcs.

    Parameters
    ----------
    group : h5py.Group
        Gets ``source`` and ``target``, shape (arcs,).
    graph : Connectivity
    ends : ndarray of int, shape (arcs, 2 or more)
        Silos that are the source and the target of each arc, in the first two columns.
    """
    source, target = (np.array(graph.labels, dtype=object)[silos] for silos in ends.T[:2])
    write_names(group, source=source.tolist(), target=target.tolist())


def link_names(group: h5py.Group, underlay: Underlay, labels: Sequence[str]) -> tuple[str, ...]:
    """Names of all link directions, in the order of ``link_bits``, also of a file that does not state them.

    Parameters
    ----------
    group : h5py.Group
        ``/connectivity``.
    underlay : Underlay
    labels : sequence of str
        Of the silos.
    """
    if "link_names" in group:
        return tuple(group["link_names"].asstr()[:].tolist())
    pairs = measured_pairs(group)
    between = 2 * underlay.links if pairs is None else len(pairs)
    named = [
        direction_name(direction, underlay, labels, pairs) for direction in range(between + 2 * len(labels))
    ]
    return (*named, *(window_name(labels, pair) for pair in window_pairs(group)))


def measured_pairs(group: h5py.Group) -> IntArray | None:
    """Source and target of each pair that is a link of its own; None where the core of ``/connectivity`` is routed."""
    if group.attrs["bandwidth"] != "measured":
        return None
    available_bps = group["available_bps"][:]
    return np.argwhere((available_bps > 0) & ~np.eye(len(available_bps), dtype=bool))


def window_pairs(group: h5py.Group) -> IntArray:
    """Source and target of each pair of ``/connectivity`` whose transfers have a finite window, shape (windows, 2)."""
    if "window_bps" not in group:
        return np.empty((0, 2), dtype=np.int64)
    can_send = (group["available_bps"][:] > 0) & ~np.eye(len(group["available_bps"]), dtype=bool)
    return np.argwhere(can_send & np.isfinite(group["window_bps"][:]))
