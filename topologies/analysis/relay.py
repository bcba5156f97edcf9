"""The cycle time of a STAR whose models go along a tree in chunks, which silos hand on and sum up on the way.

Library only: no command calls it.
"""

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.delays import between_rates, transmissions
from topologies.errors import Field, InputError
from topologies.overlay import Overlay


def relayed_star_s(tree: Overlay, hub: int, chunks: int) -> float:
    """Cycle time of a STAR around a hub of which no model goes directly, but all along a tree, in chunks.

    Parameters
    ----------
    tree : Overlay
        A tree used in both directions, such as an ``mst``; its network and workload are the STAR's.
    hub : int
        Silo at the root.
    chunks : int
        Equal parts of a model, at least 1; a silo hands one on when it has all of it.

    Returns
    -------
    float
        In seconds. As in a STAR all silos start a round with the mean of all models of the round before.

    Raises
    ------
    InputError
        If the overlay is no tree in both directions, `hub` is no silo, there is no chunk, messages start slowly, or
        models leave in the backward pass.

    Notes
    -----
    The mean comes down the tree: a silo with `c` children sends each chunk to all of them at once, on an edge at the
    rate of Eq. 3, ``r = min(up_i / c, down_j, A(i', j'))``. Up, a silo adds the chunks of its children to its own and
    sends one sum, at ``r = min(up_j, down_i / c, A(j', i'))``. Every edge sends chunk after chunk, so that along a path
    of edges `e` the last of `C` chunks that all are ready at the start arrives after

    ``sum over e of (l_e + M / (C r_e)) + (C - 1) / C * max over e of M / r_e``,

    the longest path through the grid of edges and chunks: the pipelined broadcast, with one chunk by store and forward,
    with many the latencies and the slowest edge (P. Sanders, J. F. Sibeyn, "A bandwidth latency tradeoff for broadcast
    and reduction", Information Processing Letters 86, 2003). The hub has the sum when the last part has come from every
    silo `v`, and ``tau = max over v of (down(v) + s T_c(v) + up(v))``. Chunks cost nothing each, links are those of
    Eq. 3 and not shared otherwise. Time O(silos).
    """
    graph, work = tree.graph, tree.work
    if not 0 <= hub < graph.silos:
        raise InputError(f"must be a silo of 0..{graph.silos - 1}.", field=Field("hub", value=hub))
    if chunks < 1:
        raise InputError("must be >= 1.", field=Field("chunks", value=chunks))
    child, parent = _edges(tree, hub)
    if graph.slow_start is not None:
        raise InputError(
            "must be 'none' for a STAR along a tree.", field=Field("slow_start", value=graph.slow_start.when)
        )
    if work.overlap:
        raise InputError("must be 0 for a STAR along a tree.", field=Field("overlap", value=work.overlap))
    children = np.bincount(parent, minlength=graph.silos)
    down_bps = np.minimum(graph.up_bps[parent] / children[parent], graph.down_bps[child])
    up_bps = np.minimum(graph.up_bps[child], graph.down_bps[parent] / children[parent])
    down_s = transmissions(work.model_bits, np.minimum(down_bps, between_rates(graph, parent, child)))
    up_s = transmissions(work.model_bits, np.minimum(up_bps, between_rates(graph, child, parent)))
    there_s = _paths(child, parent, down_s, graph.latency_s[parent, child], chunks)
    back_s = _paths(child, parent, up_s, graph.latency_s[child, parent], chunks)
    return float((there_s + work.round_compute_s(graph.silos) + back_s).max())


def _edges(tree: Overlay, hub: int) -> tuple[IntArray, IntArray]:
    """Children and their parents, parents before their children."""
    arcs = set(zip(tree.source.tolist(), tree.target.tolist(), strict=True))
    beside: list[list[int]] = [[] for _ in range(tree.graph.silos)]
    for i, j in sorted(arcs):
        beside[i].append(j)
    # A connected graph with as many edges is a tree.
    if any((j, i) not in arcs for i, j in arcs) or len(arcs) != 2 * (tree.graph.silos - 1):
        raise InputError(f"{tree.kind}: must be a tree whose silos talk in both directions.")
    pairs, seen = [(hub, hub)], {hub}
    for silo, _ in pairs:  # grows on the way
        new = [other for other in beside[silo] if other not in seen]
        seen.update(new)
        pairs += [(other, silo) for other in new]
    child, parent = np.array(pairs[1:], dtype=np.int64).reshape(-1, 2).T
    return child, parent


def _paths(
    child: IntArray, parent: IntArray, sending_s: FloatArray, latency_s: FloatArray, chunks: int
) -> FloatArray:
    """When the last chunk has gone along the path between the root and each silo, shape (silos,)."""
    sum_s, slowest_s = np.zeros((2, len(child) + 1))
    for edge, (i, j) in enumerate(zip(child.tolist(), parent.tolist(), strict=True)):
        sum_s[i] = sum_s[j] + latency_s[edge] + sending_s[edge] / chunks
        slowest_s[i] = max(slowest_s[j], sending_s[edge])
    return np.asarray(sum_s + (chunks - 1) / chunks * slowest_s)
