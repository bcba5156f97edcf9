"""Hamiltonian paths in the cube of a tree."""

import numpy as np
from numpy.typing import ArrayLike

from topologies.arrays import IntArray
from topologies.compiled_designs import takes_compiled
from topologies.errors import InputError


def cube_paths(edges: ArrayLike, nodes: int, *, starts: ArrayLike) -> IntArray:
    """Hamiltonian paths whose consecutive nodes are at most three edges apart in a tree.

    Parameters
    ----------
    edges : array_like of int, shape (nodes - 1, 2)
        Edges of a tree on the nodes ``0..nodes - 1``.
    nodes : int
        At least 1.
    starts : array_like of int, shape (paths,)
        First node of each path.

    Returns
    -------
    ndarray of int, shape (paths, nodes)
        In each row every node once. The last one is a neighbour of the first in the tree, so that the path closes to a
        Hamiltonian circuit of the cube.

    Raises
    ------
    InputError
        If the edges are not those of a tree on these nodes.

    Examples
    --------
    >>> cube_paths([(0, 1), (1, 2), (2, 3)], 4, starts=[0]).tolist()
    [[0, 2, 3, 1]]

    Notes
    -----
    A depth-first search from the first node that lists a node of even depth before, and one of odd depth after, all
    that is below it. This unrolls the induction of Karaganis' proof: for an edge `(u, v)`, whose removal leaves a tree
    around `u` and one around `v`, join the path from `u` to a neighbour in the first with the path from a neighbour to
    `v` in the second. Time and memory O(nodes) for each path, without recursion.

    References
    ----------
    J. J. Karaganis, "On the cube of a graph", Canadian Mathematical Bulletin 11 (1968); M. Sekanina, "On an ordering
    of the set of vertices of a connected graph" (1960). Lines 5 and 6 of the paper's Algorithm 1 use it.
    """
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    for a, b in pairs[((pairs < 0) | (pairs >= nodes)).any(axis=1)].tolist():
        raise InputError(f"cube_paths: edge(={(a, b)}) must join nodes 0..{nodes - 1}.")
    first = np.asarray(starts, dtype=np.int64)
    paths = np.empty((len(first), nodes), dtype=np.int64)
    paths[:, 0] = first
    is_tree = len(pairs) == nodes - 1
    if is_tree and takes_compiled(nodes):
        from topologies.designers.compiled.trees import paths_in_cube

        sizes = (nodes + 1, 2 * len(pairs), nodes, 2 * nodes)
        is_tree = paths_in_cube(pairs, paths, *(np.empty(size, dtype=np.int64) for size in sizes))
    elif is_tree:
        is_tree = all(_fill_path(pairs.tolist(), path) for path in paths)
    if not is_tree:
        raise InputError(f"cube_paths: {len(pairs)} edges do not make a tree on {nodes} nodes.")
    return paths


def _fill_path(edges: list[list[int]], path: IntArray) -> bool:
    """Fill in a path from its first node on; whether it has every node."""
    nodes = len(path)
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    start, listed = int(path[0]), list[int]()
    found = [False] * nodes
    found[start] = True
    stack: list[tuple[int, bool, bool]] = [(start, True, False)]
    while stack:
        node, even, below_is_done = stack.pop()
        if even or below_is_done:
            listed.append(node)
        else:
            stack.append((node, even, True))
        if not below_is_done:
            for child in neighbours[node]:
                if not found[child]:
                    found[child] = True
                    stack.append((child, not even, False))
    path[: len(listed)] = listed
    return len(listed) == nodes
