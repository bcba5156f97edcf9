"""Components of graphs and digraphs, and the error for a disconnected one."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from topologies.arrays import IntArray
from topologies.errors import InputError


def components(nodes: int, source: IntArray, target: IntArray, *, strong: bool) -> tuple[int, IntArray]:
    """Connected components of a digraph.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
        Repeated arcs and self-loops change nothing.
    strong : bool
        Whether the nodes of a component must reach each other along the arcs; else arcs count in both directions.

    Returns
    -------
    count : int
    component : ndarray of int, shape (nodes,)
        The number, from 0 on, of each node's component.

    Notes
    -----
    By scipy. Time and memory O(nodes + arcs), and O(arcs log arcs) to sort arcs that are not.
    """
    # Made as scipy holds it, each arc once: its own conversion takes most of the time of small graphs, and its search
    # does not end where arcs are repeated.
    pairs = source * nodes + target
    if not (pairs[1:] > pairs[:-1]).all():
        pairs = np.unique(pairs)
    rows = np.searchsorted(pairs, np.arange(nodes + 1) * nodes)
    arcs = csr_array((np.ones(len(pairs)), pairs % nodes, rows), shape=(nodes, nodes))
    count, component = connected_components(arcs, directed=strong, connection="strong" if strong else "weak")
    return int(count), np.asarray(component, dtype=np.int64)


def check_connected(
    rule: str, labels: Sequence[str], source: IntArray, target: IntArray, *, strong: bool
) -> None:
    """Raise an error unless the arcs connect all silos.

    Parameters
    ----------
    rule : str
        What must hold, for the message: for instance ``ring: the pairs that can talk must connect all silos``.
    labels : sequence of str
        Names of all silos.
    source, target : ndarray of int, shape (arcs,)
    strong : bool
        As for `components`.

    Raises
    ------
    InputError
        It names one silo on each side of a cut that no arc crosses, or with `strong` none in one direction.

    Notes
    -----
    Where all silos cannot reach each other, the arcs between strong components make no circuit, so that some component
    has no arc in: nothing that a silo outside sends reaches it.
    """
    count, component = components(len(labels), source, target, strong=strong)
    if count <= 1:
        return
    entered = np.zeros(count, dtype=bool)
    entered[component[target[component[source] != component[target]]]] = True
    apart = component == int(np.argmin(entered))
    inside, outside = labels[int(np.argmax(apart))], labels[int(np.argmin(apart))]
    if strong:
        raise InputError(f"{rule}, but nothing that {outside} sends can reach {inside}.")
    first, other = (inside, outside) if apart[0] else (outside, inside)
    raise InputError(f"{rule}, but none joins the silos of {first} with those of {other}.")
