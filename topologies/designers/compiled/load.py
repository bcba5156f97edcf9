"""Load centrality: what each node carries of the messages between all others, along their shortest paths."""

from topologies.arrays import FloatArray, IntArray
from topologies.jit import compiled


@compiled
def add_loads(
    distance: FloatArray,
    farthest: IntArray,
    first: IntArray,
    beside: IntArray,
    cost: FloatArray,
    source: int,
    carried: FloatArray,
    load: FloatArray,
) -> None:
    """Add to `load` what each node carries from some sources, as `topologies.designers.star.router_load` defines it.

    Parameters
    ----------
    distance : ndarray, shape (sources, nodes)
        Of the sources ``source, source + 1, ...`` to all nodes, infinite where there is no path.
    farthest : ndarray of int, shape (sources, nodes)
        All nodes of each row, the farthest last, of equally far ones the higher number last.
    first, beside, cost : ndarray
        The neighbours of node `v` are ``beside[first[v] : first[v + 1]]``, over links of these costs, all > 0.
    carried : ndarray, shape (nodes,)
        A buffer.
    """
    nodes = len(carried)
    for row in range(len(distance)):
        away, root = distance[row], source + row
        for node in range(nodes):
            carried[node] = 1.0
        for place in range(nodes - 1, -1, -1):
            node = farthest[row, place]
            before, from_root = 0, False
            for link in range(first[node], first[node + 1]):
                if away[beside[link]] + cost[link] == away[node]:
                    before += 1
                    from_root = from_root or beside[link] == root
            if from_root:
                continue
            for link in range(first[node], first[node + 1]):
                if away[beside[link]] + cost[link] == away[node]:
                    carried[beside[link]] += carried[node] / before
        for node in range(nodes):
            if away[node] < float("inf"):
                load[node] += carried[node] - 1.0
