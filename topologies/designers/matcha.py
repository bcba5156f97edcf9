"""MATCHA: each round a random choice of matchings."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.designers.activation import Matchings, activation_probabilities, best_alpha
from topologies.designers.edge_colouring import fewest_matchings
from topologies.designers.options import DesignerOption
from topologies.designers.underlay_overlay import neighbouring_silos
from topologies.digraph import check_connected
from topologies.errors import Field, InputError
from topologies.label_order import silo_order
from topologies.workload import Workload

DEFAULT_BUDGET = 0.5
_LEAST_BUDGET = 1e-9
"""Of matrices of far smaller probabilities no eigenvalue is found."""
BUDGET = DesignerOption(help="MATCHA's communication budget C_b", above=0, at_most=1)
Budget = Annotated[float, BUDGET]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Matcha:
    """Matchings that are active at random each round; made by `matcha` and `matcha_plus`.

    Attributes
    ----------
    source, target : ndarray of int, shape (arcs,)
        Both directions of all edges, sorted.
    matching : ndarray of int, shape (arcs,)
        The matching of each arc.
    probability : ndarray, shape (matchings,)
        With which each matching is active, independently of the others; where none is, all are drawn again.
    budget : float
        `C_b`: expected fraction of the matchings that are active, before drawing again.
    connectivity, connectivity_bound : float
        Algebraic connectivity of the expected graph, and a proven upper bound on that of any probabilities.
    alpha : float
        Weight of each active edge in the consensus matrix.
    spectral_norm : float
        Of ``E[W^T W] - J`` for the rounds as drawn, with ``J = 1 1^T / silos``: below 1 if consensus is reached.
    """

    kind: str
    graph: Connectivity
    work: Workload
    source: IntArray
    target: IntArray
    matching: IntArray
    probability: FloatArray
    budget: float
    connectivity: float
    connectivity_bound: float
    alpha: float
    spectral_norm: float

    def __repr__(self) -> str:
        """Kind, network, number of edges and matchings, budget."""
        size = f"{self.graph.silos} silos, {len(self.source) // 2} edges in {len(self.probability)} matchings"
        return f"<Matcha {self.kind} on {self.graph.underlay.name}: {size}, budget {self.budget:g}>"

    @property
    def negative_weights(self) -> bool:
        """True: with the best `alpha` a silo of many active edges may weigh its own model below 0."""
        return True

    def draw(self, rng: np.random.Generator, _round: int, /) -> IntArray:
        """Which matchings are active, at least one unless there is none: 0 or 1 each, shape (matchings,)."""
        active = rng.random(len(self.probability)) < self.probability
        if len(active) and not active.any():
            active = _first_active(self.probability, rng)
        return active.astype(np.int64)

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """Source and target of both directions of the active edges, sorted by source, then target."""
        active = choice[self.matching] == 1
        return self.source[active], self.target[active]

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """``W = I - alpha L`` with the Laplacian of these edges, shape (silos, silos)."""
        weights = np.zeros((self.graph.silos, self.graph.silos))
        weights[source, target] = self.alpha
        np.fill_diagonal(weights, 1 - weights.sum(axis=1))
        return weights


def matcha(
    graph: Connectivity,
    work: Workload,
    *,
    budget: Budget = DEFAULT_BUDGET,
    edges: Iterable[tuple[int, int]] | None = None,
    kind: str = "matcha",
) -> Matcha:
    """MATCHA over the connectivity graph, or over other edges.

    Parameters
    ----------
    budget : float, default 0.5
        `C_b` in (0, 1].
    edges : iterable of (int, int), optional
        Silo pairs that may exchange models, each counted once in whichever direction it is given: the arcs of any
        overlay will do. By default all pairs that can talk both ways.
    kind : str, default "matcha"
        For tables.

    Raises
    ------
    InputError
        If `budget` is not in [1e-9, 1], an edge joins silos that cannot talk both ways, or the edges do not connect
        all silos.

    Notes
    -----
    Matchings by Misra and Gries, with silos in the order of their labels, or in another order that needs fewer (see
    `fewest_matchings`); probabilities that maximise the algebraic connectivity of the expected graph under
    ``sum p <= budget * matchings``; `alpha` that minimises the spectral norm of ``E[W^T W] - J``. A round without
    any matching is drawn again, as in the published numbers. That divides both ``E[L]`` and ``E[L^2]`` by the
    probability of a round that counts, so the same `alpha` is the best one with and without drawing again.

    References
    ----------
    .. [1] J. Wang, A. K. Sahu, Z. Yang, G. Joshi and S. Kar, "MATCHA: Speeding up decentralized SGD via matching
       decomposition sampling" (2019), equations 4 to 7.
    """
    BUDGET.check("budget", budget)
    if budget < _LEAST_BUDGET:
        raise InputError(f"must be >= {_LEAST_BUDGET:g}.", field=Field("budget", value=budget))
    talk = graph.may_send & graph.may_send.T
    pairs = np.argwhere(np.triu(talk)) if edges is None else _pairs(kind, graph, talk, edges)
    check_connected(f"{kind}: edges must connect all silos", graph.labels, *pairs.T, strong=False)
    silos = silo_order(graph)
    best = _optimised(np.argsort(silos)[pairs].astype(np.int64).tobytes(), graph.silos, float(budget))
    i, j = silos[best.matchings.edges].T
    source, target = np.concatenate((i, j)), np.concatenate((j, i))
    order = np.lexsort((target, source))
    return Matcha(
        kind=kind,
        graph=graph,
        work=work,
        source=source[order],
        target=target[order],
        matching=np.tile(best.matchings.number, 2)[order],
        probability=best.probability.copy(),
        budget=budget,
        connectivity=best.connectivity,
        connectivity_bound=best.bound,
        alpha=best.alpha,
        spectral_norm=best.spectral_norm,
    )


def matcha_plus(graph: Connectivity, work: Workload, *, budget: Budget = DEFAULT_BUDGET) -> Matcha:
    """MATCHA over the underlay: silos whose routers share a core link, or are the same, may exchange models.

    Parameters
    ----------
    budget : float, default 0.5
        `C_b` in (0, 1].

    Raises
    ------
    InputError
        If `budget` is not in (0, 1] or these pairs, where they can talk both ways, do not connect all silos.
    """
    near = neighbouring_silos(graph) & graph.may_send & graph.may_send.T
    return matcha(graph, work, budget=budget, edges=np.argwhere(np.triu(near)), kind="matcha_plus")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Optimum:
    """What MATCHA's two optimisations find."""

    matchings: Matchings
    probability: FloatArray
    connectivity: float
    bound: float
    alpha: float
    spectral_norm: float


@lru_cache(maxsize=8)
def _optimised(edges: bytes, nodes: int, budget: float) -> _Optimum:
    """The best of edges between numbered nodes; kept, as it does not depend on delays, which most studies vary."""
    coloured = fewest_matchings(np.frombuffer(edges, dtype=np.int64).reshape(-1, 2), nodes)
    matchings = Matchings(
        nodes=nodes,
        edges=np.concatenate((np.empty((0, 2), dtype=np.int64), *coloured)),
        number=np.repeat(np.arange(len(coloured)), [len(matching) for matching in coloured]),
        count=len(coloured),
    )
    probability, connectivity, bound = activation_probabilities(matchings, budget)
    alpha, spectral_norm = best_alpha(matchings, probability)
    return _Optimum(
        matchings=matchings,
        probability=probability,
        connectivity=connectivity,
        bound=bound,
        alpha=alpha,
        spectral_norm=spectral_norm,
    )


def _first_active(probability: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Active matchings given that there is one: the distribution of drawing until there is."""
    before = np.concatenate(([1.0], np.cumprod(1 - probability[:-1])))
    reached = np.cumsum(before * probability)
    first = min(int(np.searchsorted(reached, rng.random() * reached[-1], side="right")), len(probability) - 1)
    active = rng.random(len(probability)) < probability
    active[:first], active[first] = False, True
    return active


def _pairs(kind: str, graph: Connectivity, talk: BoolArray, edges: Iterable[tuple[int, int]]) -> IntArray:
    """Each edge once, shape (edges, 2)."""
    pairs = sorted({(min(int(i), int(j)), max(int(i), int(j))) for i, j in edges})
    for i, j in pairs:
        if i < 0 or j >= graph.silos or i == j:
            raise InputError(
                f"{kind}: edge(={(i, j)}) must join two different silos of 0..{graph.silos - 1}."
            )
        if not talk[i, j]:
            raise InputError(f"{kind}: {graph.labels[i]} and {graph.labels[j]} cannot talk both ways.")
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
