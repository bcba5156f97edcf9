"""MATCHA with networkx, a plain Python edge colouring and cvxpy, as its equations read."""

import cvxpy as cp
import networkx as nx
import numpy as np


def edge_colouring(graph):
    """Matchings by Misra and Gries, each a list of edges."""
    colours = range(max(degree for _, degree in graph.degree) + 1)
    at = {u: {} for u in graph}
    colour = {}

    def paint(u, v, c):
        colour[u, v] = colour[v, u] = c
        at[u][c], at[v][c] = v, u

    def strip(u, v):
        c = colour.pop((u, v))
        del colour[v, u], at[u][c], at[v][c]
        return c

    def free(u):
        return next(c for c in colours if c not in at[u])

    for u, v in graph.edges:
        fan = [v]
        while True:
            more = (w for w in graph[u] if w not in fan and colour.get((u, w), -1) not in {-1, *at[fan[-1]]})
            w = next(more, None)
            if w is None:
                break
            fan.append(w)
        c, d = free(u), free(fan[-1])
        path, node, wanted = [], u, d
        while wanted in at[node]:
            path.append((node, at[node][wanted]))
            node, wanted = at[node][wanted], c if wanted == d else d
        stripped = [strip(*edge) for edge in path]
        for edge, old in zip(path, stripped, strict=True):
            paint(*edge, c if old == d else d)
        end = 0
        while d in at[fan[end]]:
            end += 1
        shifted = [strip(u, w) for w in fan[1 : end + 1]]
        for w, new in zip(fan[: end + 1], [*shifted, d], strict=True):
            paint(u, w, new)
    return [found for k in colours if (found := [(u, v) for (u, v), c in colour.items() if c == k and u < v])]


def laplacians(matchings, nodes):
    """Laplacian matrix of each matching."""
    parts = []
    for matching in matchings:
        graph = nx.empty_graph(nodes)
        graph.add_edges_from(matching)
        parts.append(nx.laplacian_matrix(graph).toarray())
    return parts


def activation(parts, budget):
    """Probabilities that maximise the algebraic connectivity, and that connectivity."""
    nodes = len(parts[0])
    p, connectivity = cp.Variable(len(parts)), cp.Variable()
    expected = sum(p[m] * part for m, part in enumerate(parts))
    across = np.eye(nodes) - 1 / nodes
    limits = [p >= 0, p <= 1, cp.sum(p) <= budget * len(parts), expected - connectivity * across >> 0]
    cp.Problem(cp.Maximize(connectivity), limits).solve(solver=cp.SCS)
    found = np.clip(p.value, 0, 1)
    mean = sum(share * part for share, part in zip(found, parts, strict=True))
    return found, float(np.linalg.eigvalsh(mean)[1])


def best_alpha(parts, p):
    """MATCHA's equation 7: the weight that minimises the spectral norm, and that norm."""
    nodes = len(parts[0])
    mean = sum(share * part for share, part in zip(p, parts, strict=True))
    spread = sum(share * (1 - share) * part for share, part in zip(p, parts, strict=True))
    alpha, square, norm = cp.Variable(), cp.Variable(), cp.Variable()
    matrix = np.eye(nodes) - 1 / nodes - 2 * alpha * mean + square * (mean @ mean + 2 * spread)
    limits = [norm * np.eye(nodes) - matrix >> 0, cp.square(alpha) <= square]
    cp.Problem(cp.Minimize(norm), limits).solve(solver=cp.SCS)
    # The solver's own norm is off by its tolerance times the matrix's size: what alpha is worth decides.
    value = float(alpha.value)
    reached = np.eye(nodes) - 1 / nodes - 2 * value * mean + value**2 * (mean @ mean + 2 * spread)
    return value, float(np.linalg.eigvalsh(reached)[-1])


def matcha(graph, budget=0.5):
    """Matchings, probabilities, connectivity, alpha and spectral norm before empty rounds are left out."""
    matchings = edge_colouring(graph)
    parts = laplacians(matchings, len(graph))
    p, connectivity = activation(parts, budget)
    return matchings, p, connectivity, *best_alpha(parts, p)
