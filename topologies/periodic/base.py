"""The Base-(k + 1) graphs: exact averaging in few rounds, for any number of silos and any degree."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.checks import check_integer
from topologies.state import State, state_of


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Edges:
    """Edges of one round, used in both directions; of ends and weights, each of shape (edges,)."""

    first: IntArray
    second: IntArray
    weight: FloatArray

    def moved(self, nodes: IntArray) -> "_Edges":
        """The same edges among the nodes that stand in the places of 0, 1, ..."""
        return _Edges(first=nodes[self.first], second=nodes[self.second], weight=self.weight)

    def state(self) -> State:
        """Both directions of the edges."""
        return state_of(
            np.concatenate((self.first, self.second)),
            np.concatenate((self.second, self.first)),
            np.concatenate((self.weight, self.weight)),
        )


_NO_EDGES = _Edges(
    first=np.empty(0, dtype=np.int64),
    second=np.empty(0, dtype=np.int64),
    weight=np.empty(0, dtype=np.float64),
)
_Rounds = tuple[_Edges, ...]


def base(silos: int, degree: int) -> tuple[State, ...]:
    """Base-(k + 1) graph: all silos hold the exact average after each period, whatever their number.

    Parameters
    ----------
    silos : int
        Number of silos, at least 1.
    degree : int
        `k`: most models that a silo sends, and receives, in a round; at least 1.

    Returns
    -------
    tuple of State
        Symmetric and doubly stochastic, of degree `degree` or less. Their product is the average of all silos. Silos
        that stand in none of a state's arcs keep their model in that round. One silo has a single state without arcs.

    Raises
    ------
    InputError
        If a number is no integer or below 1.

    Notes
    -----
    Source: Takezawa, Sato, Bao, Niwa, Yamada, "Beyond exponential graph: communication-efficient topologies for
    decentralized learning via finite-time convergence" (NeurIPS 2023, arXiv 2305.11420), algorithms 1 to 3; the period
    is at most ``2 log_{k+1}(silos) + 2``. Which node of a sub-block is joined to which later one, the description
    leaves open; the matrices are those of the authors' public code, https://github.com/yukiTakezawa/BaseGraph. Time
    O(silos degree) for each of the states, O(log silos) of them.
    """
    check_integer("silos", silos, minimum=1)
    check_integer("degree", degree, minimum=1)
    radix = min(degree + 1, max(silos, 2))
    smooth = _smooth_part(silos, radix)
    rest = silos // smooth
    blocks = _copies(_simple(rest, radix), np.arange(silos).reshape(smooth, rest))
    across = _copies(_cube(smooth, radix), np.arange(silos).reshape(smooth, rest).T)
    rounds = _simple(silos, radix)
    if len(rounds) >= len(blocks) + len(across):
        rounds = (*blocks, *across)
    return tuple(edges.state() for edges in rounds or (_NO_EDGES,))


def _smooth_part(number: int, radix: int) -> int:
    """Largest divisor whose prime factors are at most `radix`."""
    rest = number
    for factor in range(2, radix + 1):
        while rest % factor == 0:
            rest //= factor
    return number // rest


def _joined(parts: Sequence[_Edges]) -> _Edges:
    """Edges of all parts."""
    return _Edges(
        first=np.concatenate([part.first for part in parts]),
        second=np.concatenate([part.second for part in parts]),
        weight=np.concatenate([part.weight for part in parts]),
    )


def _copies(rounds: _Rounds, groups: IntArray) -> _Rounds:
    """The same rounds in each group of nodes, a row of `groups` each."""
    return tuple(_joined([edges.moved(nodes) for nodes in groups]) for edges in rounds)


def _cliques(groups: IntArray) -> _Edges:
    """All pairs within each group of nodes, a row of `groups` each, which average with equal weights."""
    first, second = np.triu_indices(groups.shape[1], 1)
    ends = groups[:, first].ravel(), groups[:, second].ravel()
    return _Edges(first=ends[0], second=ends[1], weight=np.full(len(ends[0]), 1 / groups.shape[1]))


@cache
def _factors(nodes: int, radix: int) -> tuple[int, ...]:
    """Factors of at most `radix`, the largest first, in ascending order, of a number that has no larger prime."""
    found, rest = [], nodes
    for factor in range(radix, 1, -1):
        while rest % factor == 0:
            found.append(factor)
            rest //= factor
    return tuple(reversed(found))


def _cube(nodes: int, radix: int) -> _Rounds:
    """H: in each round those nodes average whose numbers differ in one digit only, in the mixed radix of `_factors`."""
    rounds, stride = [], 1
    for factor in _factors(nodes, radix):
        digits = np.arange(nodes).reshape(-1, factor, stride)
        rounds.append(_cliques(np.moveaxis(digits, 1, 2).reshape(-1, factor)))
        stride *= factor
    return tuple(rounds)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Block:
    """Consecutive nodes, as many as one digit of the number of nodes is worth.

    Attributes
    ----------
    parts : ndarray of int, shape (digit, radix ** place)
        A row for each of the sub-blocks.
    whole : tuple of _Edges
        Rounds of H on all nodes of the block.
    inside : tuple of _Edges
        Rounds of H within each sub-block, or on the block where that has fewer nodes than the radix.
    """

    parts: IntArray
    whole: _Rounds
    inside: _Rounds


def _blocks(nodes: int, radix: int) -> list[_Block]:
    """Blocks of the digits of `nodes` other than 0, the highest first."""
    blocks, start, worth = [], 0, 1
    while worth * radix <= nodes:
        worth *= radix
    while worth:
        digit = (nodes - start) // worth
        if digit:
            own = np.arange(start, start + digit * worth).reshape(digit, worth)
            whole = _copies(_cube(own.size, radix), own.reshape(1, -1))
            inside = whole if own.size < radix else _copies(_cube(worth, radix), own)
            blocks.append(_Block(parts=own, whole=whole, inside=inside))
            start += own.size
        worth //= radix
    return blocks


def _simple(nodes: int, radix: int) -> _Rounds:
    """Rounds of the Simple Base graph.

    Notes
    -----
    First each block averages by itself. Then, for one block after the other, each node of all later blocks is joined to
    one node of each of the block's sub-blocks, so that both hold the average of the block and all later ones, or what
    makes it come out when the block's own sub-blocks average in the rounds that follow.
    """
    if _smooth_part(nodes, radix) == nodes:
        return _cube(nodes, radix)
    blocks = _blocks(nodes, radix)
    rounds: list[_Edges] = []
    for m in range(len(blocks[0].whole)):
        rounds.append(
            _joined([block.whole[m % len(block.whole)] if block.whole else _NO_EDGES for block in blocks])
        )
    places = [_cycled(block.inside) for block in blocks]
    for step in range(len(blocks[0].inside) + 1):
        parts: list[_Edges] = []
        if step < len(blocks) - 1:
            parts += _handed_on(blocks, step, radix)
        for q, place in enumerate(places):
            if q < step or (q == len(blocks) - 1 and step >= q):
                parts.append(next(place))
        rounds.append(_joined(parts) if parts else _NO_EDGES)
    return tuple(rounds)


def _cycled(rounds: _Rounds) -> Iterator[_Edges]:
    """The rounds again and again."""
    return itertools.cycle(rounds or (_NO_EDGES,))


def _handed_on(blocks: Sequence[_Block], step: int, radix: int) -> list[_Edges]:
    """Edges from all later blocks to one node of each sub-block of block `step`, and cliques of the nodes left."""
    parts = blocks[step].parts
    later = np.concatenate([block.parts.ravel() for block in blocks[:step:-1]])
    digit, size = parts.shape
    weight = parts.size / (parts.size + len(later)) / digit
    used = parts[:, ::-1][:, : len(later)]
    edges = _Edges(first=np.tile(later, digit), second=used.ravel(), weight=np.full(used.size, weight))
    left = parts[:, : size - len(later)].ravel()
    cliques = (left[start : start + radix] for start in range(0, len(left), radix))
    return [edges, *(_cliques(clique[np.newaxis]) for clique in cliques)]
