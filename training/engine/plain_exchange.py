"""The mixing of one rank where every round mixes the models that its silos sent in it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from topologies.arrays import FloatArray
from training.engine.communicator import Communicator
from training.engine.exchange import Exchange, plan_exchange
from training.engine.parameter_buffer import ParameterBuffer
from training.engine.rank_exchange import RankExchange
from training.job import MixingPlan


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


class PlainExchange(RankExchange):
    """Mixes the models of a rank by a plan without lags.

    Parameters
    ----------
    mixing, blocks, models
        As in `RankExchange`.

    Notes
    -----
    Columns that have arrived are mixed while later ones travel. Mixing whole rows instead, first of the silos that
    need only the rank's own, takes nearly twice as long: it reads the rows twice, and mixing is bound by memory.
    """

    def __init__(
        self,
        mixing: MixingPlan,
        blocks: tuple[range, ...],
        models: ParameterBuffer,
        *,
        communicator: Communicator,
    ) -> None:
        super().__init__(mixing, blocks, models, communicator=communicator)
        self._mixings: dict[int, Mixing] = {}

    def mix(self, round_index: int) -> None:
        """See `RankExchange.mix`."""
        models, own, number = self._models, self._own, int(self._mixing.index[round_index])
        if number not in self._mixings:
            matrix, rank = self._mixing.matrices[number], self._communicator.rank
            self._mixings[number] = mixing_of(matrix, self._blocks, rank, like=models.parameters)
        mixing = self._mixings[number]
        place = mixing.places
        arrived = self._communicator.exchange(
            [(peer, silo, models.rows[silo - own.start]) for peer, silo in mixing.exchange.sends],
            [(peer, silo, models.received(place[silo])) for peer, silo in mixing.exchange.receives],
            models.rows.shape[1],
        )
        models.mix(mixing.weights, -mixing.lower, columns=arrived)
