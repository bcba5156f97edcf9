"""Hamiltonian path in the cube of a tree."""

from collections.abc import Iterable

from topologies.errors import InputError


def cube_path(edges: Iterable[tuple[int, int]], nodes: int, *, start: int = 0) -> list[int]:
    """Hamiltonian path whose consecutive nodes are at most three edges apart in a tree.

    Parameters
    ----------
    edges : iterable of (int, int)
        Edges of a tree on the nodes ``0..nodes - 1``.
    nodes : int
        At least 1.
    start : int, default 0
        First node of the path.

    Returns
    -------
    list of int
        Every node once. The last one is a neighbour of `start` in the tree, so that the path closes to a
        Hamiltonian circuit of the cube.

    Raises
    ------
    InputError
        If the edges are not those of a tree on these nodes.

    Examples
    --------
    >>> cube_path([(0, 1), (1, 2), (2, 3)], 4)
    [0, 2, 3, 1]

    Notes
    -----
    A depth-first search from `start` that lists a node of even depth before, and one of odd depth after, all that is
    below it. This unrolls the induction of Karaganis' proof: for an edge `(u, v)`, whose removal leaves a tree around
    `u` and one around `v`, join the path from `u` to a neighbour in the first with the path from a neighbour to `v`
    in the second. Time and memory O(nodes), without recursion.

    References
    ----------
    J. J. Karaganis, "On the cube of a graph", Canadian Mathematical Bulletin 11 (1968); M. Sekanina, "On an ordering
    of the set of vertices of a connected graph" (1960). Lines 5 and 6 of the paper's Algorithm 1 use it.
    """
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    links = 0
    for a, b in edges:
        if not (0 <= a < nodes and 0 <= b < nodes):
            raise InputError(f"cube_path: edge(={(a, b)}) must join nodes 0..{nodes - 1}.")
        neighbours[a].append(b)
        neighbours[b].append(a)
        links += 1
    path: list[int] = []
    found = [False] * nodes
    found[start] = True
    stack: list[tuple[int, bool, bool]] = [(start, True, False)]
    while stack:
        node, even, below_is_done = stack.pop()
        if even or below_is_done:
            path.append(node)
        else:
            stack.append((node, even, True))
        if not below_is_done:
            for child in neighbours[node]:
                if not found[child]:
                    found[child] = True
                    stack.append((child, not even, False))
    if len(path) != nodes or links != nodes - 1:
        raise InputError(f"cube_path: {links} edges do not make a tree on {nodes} nodes.")
    return path
