"""The mixing of one rank where every round mixes the models that its silos sent in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from topologies.arrays import FloatArray
from training.engine.communicator import Communicator
from training.engine.exchange import Exchange, plan_exchange
from training.engine.parameter_buffer import ParameterBuffer
from training.job import MixingPlan


class RankExchange(Protocol):
    """Exchanges and mixes the models of a rank together with the other ranks."""

    @property
    def kept(self) -> Mapping[tuple[int, int], Tensor]:
        """The rows that the rank keeps for later rounds, views by silo and round in which it sent them, ascending."""

    @property
    def state(self) -> Mapping[str, Tensor]:
        """What its rounds change beside the models and `kept`: a row of the rank's each silo, by name."""

    def resume_at(self, round_index: int) -> None:
        """Make room for the rows that rounds before `round_index` kept for it and later ones: the views of `kept`."""

    def mix(self, round_index: int) -> None:
        """Replace every model by its weighted average, ``X <- A X``, together with the other ranks.

        Parameters
        ----------
        round_index : int
            The round ``k``; with lags each round once, in order.
        """


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Mixing:
    """One consensus matrix on one rank: its exchange and weights.

    Parameters
    ----------
    exchange : Exchange
        The rows that are sent and received.
    weights : torch.Tensor, shape (rank's silos, columns)
        The matrix' rows of the rank's silos, at the columns of `exchange`.
    lower : int
        Columns of lower silos than the rank's own.
    """

    exchange: Exchange
    weights: Tensor
    lower: int

    @property
    def places(self) -> Mapping[int, int]:
        """Of each silo in `exchange` its row, relative to the rank's first own one."""
        return {int(silo): place for place, silo in enumerate(self.exchange.columns, -self.lower)}


def mixing_of(matrix: FloatArray, blocks: tuple[range, ...], rank: int, *, like: Tensor) -> Mixing:
    """Return exchange and weights of a matrix, these of the type of `like` and where it is."""
    own = blocks[rank]
    exchange = plan_exchange(matrix, blocks, rank)
    return Mixing(
        exchange=exchange,
        weights=torch.from_numpy(matrix[own.start : own.stop, exchange.columns]).to(like),
        lower=int(np.searchsorted(exchange.columns, own.start)),
    )


class PlainExchange:
    """Mixes the models of a rank by a plan without lags.

    Parameters
    ----------
    mixing : MixingPlan
        Without lags.
    blocks : sequence of range
        The silos of each rank.
    models : ParameterBuffer
        Those of the rank.

    Notes
    -----
    Columns that have arrived are mixed while later ones travel. Mixing whole rows instead, first of the silos that
    need only the rank's own, takes nearly twice as long: it reads the rows twice, and mixing is bound by memory.
    """

    kept: Mapping[tuple[int, int], Tensor] = {}
    state: Mapping[str, Tensor] = {}

    def __init__(
        self,
        mixing: MixingPlan,
        blocks: tuple[range, ...],
        models: ParameterBuffer,
        *,
        communicator: Communicator,
    ) -> None:
        self._plan, self._blocks, self._models = mixing, blocks, models
        self._communicator = communicator
        self._mixings: dict[int, Mixing] = {}

    def resume_at(self, round_index: int) -> None:
        """Do nothing: no round keeps rows for a later one."""

    def mix(self, round_index: int) -> None:
        """See `RankExchange.mix`."""
        models, number = self._models, int(self._plan.index[round_index])
        own = self._blocks[self._communicator.rank]
        if number not in self._mixings:
            matrix, rank = self._plan.matrices[number], self._communicator.rank
            self._mixings[number] = mixing_of(matrix, self._blocks, rank, like=models.parameters)
        mixing = self._mixings[number]
        place = mixing.places
        arrived = self._communicator.exchange(
            [(peer, silo, models.rows[silo - own.start]) for peer, silo in mixing.exchange.sends],
            [(peer, silo, models.received(place[silo])) for peer, silo in mixing.exchange.receives],
            models.rows.shape[1],
        )
        models.mix(mixing.weights, -mixing.lower, columns=arrived)
