"""Mixing with lags: who mixes the models of a round later, and which rows a rank keeps for that."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from training.job import MixingPlan


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Uses:
    """By which matrices the models of each round are mixed.

    Parameters
    ----------
    lags : IntArray, shape (lags,)
        The different lags of all matrices, ascending.
    windows : IntArray, shape (windows, lags)
        The different answers, each a matrix for each lag: that of the round in which models are mixed with this lag.
    number : IntArray, shape (rounds,)
        Round ``k`` has ``windows[number[k]]``.
    """

    lags: IntArray
    windows: IntArray
    number: IntArray


def uses_of(mixing: MixingPlan) -> Uses:
    """Return by which matrices the models of each round are mixed.

    Notes
    -----
    Time O(rounds * lags * log(rounds)). A periodic overlay has at most as many windows as states.
    """
    assert mixing.lags is not None
    lags = np.union1d([1], mixing.lags[mixing.lags > 1])
    windows, number = np.unique(
        mixing.index[np.arange(mixing.rounds)[:, None] + lags - 1], axis=0, return_inverse=True
    )
    return Uses(lags=lags, windows=windows, number=number.reshape(-1))


def longest_uses(mixing: MixingPlan, uses: Uses, window: int, silos: slice = slice(None)) -> IntArray:
    """Return the longest lag with which silos mix the models of a round.

    Parameters
    ----------
    window : int
        Of the round, in `uses`.
    silos : slice
        Those that mix; by default all.

    Returns
    -------
    IntArray, shape (silos that mix, all silos)
        0 where one never mixes the other's.

    Notes
    -----
    Time O(lags * silos^2).
    """
    assert mixing.lags is not None
    longest = np.zeros(mixing.lags[0, silos].shape, dtype=np.int64)
    for lag, matrix in zip(uses.lags.tolist(), uses.windows[window].tolist(), strict=True):
        longest[mixing.lags[matrix, silos] == lag] = lag
    return longest


def kept_rows(mixing: MixingPlan, own: range) -> int:
    """Return how many rows a rank keeps at most for later rounds, with those of the round.

    Parameters
    ----------
    own : range
        The rank's silos.

    Notes
    -----
    A row is kept from the round in which it is sent to the last one that mixes it. Time O(windows * lags * own silos *
    silos + rounds * lags).
    """
    if mixing.lags is None:
        return 0
    uses, rounds = uses_of(mixing), mixing.rounds
    lasts = _lasts(mixing, uses, own)
    change = np.zeros(rounds + 1, dtype=np.int64)
    for lag in uses.lags[1:].tolist():
        begun = (lasts == lag).sum(axis=1)[uses.number]
        change[:rounds] += begun
        np.subtract.at(change, np.minimum(np.arange(rounds) + lag, rounds), begun)
    return int(change[:rounds].cumsum().max(initial=0))


def passing_rows(mixing: MixingPlan, own: range) -> tuple[int, int]:
    """Return how many rows of lower and of higher silos a rank receives at most in one round and does not keep."""
    passing = _lasts(mixing, uses_of(mixing), own) == 1
    before, after = passing[:, : own.start].sum(axis=1), passing[:, own.stop :].sum(axis=1)
    return int(before.max(initial=0)), int(after.max(initial=0))


def mixed_rows(mixing: MixingPlan, own: range) -> IntArray:
    """Return how many different rows a rank's silos mix, in one round for each set of weights that there is."""
    early = min(mixing.longest_lag - 1, mixing.rounds)
    _, first = np.unique(mixing.index[early : mixing.rounds], return_index=True)
    rounds = [*range(early), *(early + first).tolist()]
    return np.array(
        [len(_different(mixing.round_weights(k)[1][own.start : own.stop])) for k in rounds], dtype=np.int64
    )


def exchanged_rows(mixing: MixingPlan, own: range) -> tuple[IntArray, IntArray]:
    """Return how many rows a rank receives, and how many of these and of its own it keeps, in each window."""
    lasts = _lasts(mixing, uses_of(mixing), own)
    remote = np.delete(lasts, np.arange(own.start, own.stop), axis=1)
    return (remote > 0).sum(axis=1), (lasts > 1).sum(axis=1)


def _different(lags: IntArray) -> IntArray:
    """Different pairs of silo and lag, ascending, shape (pairs, 2)."""
    places, silos = np.nonzero(lags)
    return np.unique(np.column_stack((silos, lags[places, silos])), axis=0)


def _lasts(mixing: MixingPlan, uses: Uses, own: range) -> IntArray:
    """Longest lag with which any silo of a rank mixes each silo's row, of each window; 0 where none does."""
    silos = slice(own.start, own.stop)
    return np.array(
        [
            longest_uses(mixing, uses, window, silos).max(axis=0, initial=0)
            for window in range(len(uses.windows))
        ]
    ).reshape(len(uses.windows), mixing.matrices.shape[1])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LaggedWeights:
    """What the silos of a rank mix in a round.

    Parameters
    ----------
    pairs : IntArray, shape (rows, 2)
        Silo and lag of each row, ascending.
    weights : FloatArray, shape (rank's silos, rows)
        Their weights.
    """

    pairs: IntArray
    weights: FloatArray


def lagged_weights(mixing: MixingPlan, round_index: int, own: range) -> LaggedWeights:
    """Return what the silos of a rank mix in a round; see `MixingPlan.round_weights`."""
    matrix, lags = mixing.round_weights(round_index)
    matrix, lags = matrix[own.start : own.stop], lags[own.start : own.stop]
    pairs = _different(lags)
    mixed: BoolArray = lags[:, pairs[:, 0]] == pairs[:, 1]
    return LaggedWeights(pairs=pairs, weights=np.where(mixed, matrix[:, pairs[:, 0]], 0.0))


class KeptRows:
    """Which sent rows a rank keeps, each in a place of its own, until the last round that mixes it.

    Parameters
    ----------
    places : int
        How many can be kept at once.
    """

    def __init__(self, places: int) -> None:
        self._free = list(range(places - 1, -1, -1))
        self._places: dict[tuple[int, int], int] = {}
        self._last: dict[tuple[int, int], int] = {}

    def __iter__(self) -> Iterator[tuple[tuple[int, int], int]]:
        """Silo and round of each kept row, ascending, with its place."""
        return iter(sorted(self._places.items()))

    def keep(self, silo: int, round_index: int, *, last: int) -> int:
        """Keep the row that a silo sends in a round until a last round, and return its place."""
        sent = silo, round_index
        self._places[sent], self._last[sent] = self._free.pop(), last
        return self._places[sent]

    def place(self, silo: int, round_index: int) -> int:
        """Return the place of the row that a silo sent in a round."""
        return self._places[silo, round_index]

    def end_round(self, round_index: int) -> None:
        """Give up the rows that no later round mixes."""
        for sent in [sent for sent, last in self._last.items() if last <= round_index]:
            self._free.append(self._places.pop(sent))
            del self._last[sent]
