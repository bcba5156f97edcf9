"""The mixing of one rank where models are mixed in later rounds than the one they were sent in."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from topologies.arrays import IntArray
from training.engine.communicator import Communicator
from training.engine.exchange import Exchange, plan_exchange
from training.engine.lagged_mixing import KeptRows, LaggedWeights, lagged_weights, longest_uses, uses_of
from training.engine.parameter_buffer import ParameterBuffer
from training.engine.rank_exchange import RankExchange
from training.job import MixingPlan


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sending:
    """What the ranks exchange in a round, and what one of them keeps.

    Parameters
    ----------
    exchange : Exchange
    kept : mapping of int to int
        Of the silos whose rows, own or received, the rank's silos mix in later rounds, the longest lag.
    position : mapping of int to int
        Of the other silos and the rank's own, where the row is, relative to the rank's first one.
    """

    exchange: Exchange
    kept: Mapping[int, int]
    position: Mapping[int, int]


class LaggedExchange(RankExchange):
    """Mixes the models of a rank by a plan with lags.

    Parameters
    ----------
    mixing : MixingPlan
        With lags.
    blocks : sequence of range
        The silos of each rank.
    models : ParameterBuffer
        Those of the rank, with room for `training.engine.lagged_mixing.kept_rows`.

    Notes
    -----
    A row travels once to each rank that mixes it, in the round in which it is sent, and stays there until the last
    round that does. A rank's own rows are copied where they are mixed later: mixing overwrites them. Sums take their
    terms in the order of silos, wherever the rows lie, so that their bits do not depend on the ranks.
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
        self._uses = uses_of(mixing)
        self._kept = KeptRows(len(models.kept))
        self._sendings: dict[int, Sending] = {}
        self._weights: dict[tuple[int, int], tuple[IntArray, Tensor]] = {}

    @property
    def kept(self) -> Mapping[tuple[int, int], Tensor]:
        """See `training.engine.rank_exchange.RankExchange.kept`."""
        return {sent: self._models.kept[place] for sent, place in self._kept}

    def resume_at(self, round_index: int) -> None:
        """See `training.engine.rank_exchange.RankExchange.resume_at`."""
        self._kept = KeptRows(len(self._models.kept))
        for sent_in in range(max(0, round_index + 1 - self._mixing.longest_lag), round_index):
            self._keep(self._sending(sent_in), sent_in, from_round=round_index)

    def mix(self, round_index: int) -> None:
        """See `training.engine.rank_exchange.RankExchange.mix`."""
        models, own = self._models, self._own
        sending, (pairs, weights) = self._sending(round_index), self._weights_of(round_index)
        self._keep(sending, round_index, from_round=round_index)
        position = sending.position
        here = {silo: self._kept.place(silo, round_index) for silo in sending.kept}
        for silo in here.keys() & set(own):
            models.kept[here[silo]].copy_(models.rows[silo - own.start])
        arrived = self._communicator.exchange(
            [(peer, silo, models.rows[silo - own.start]) for peer, silo in sending.exchange.sends],
            [
                (peer, silo, models.kept[here[silo]] if silo in here else models.received(position[silo]))
                for peer, silo in sending.exchange.receives
            ],
            models.rows.shape[1],
        )
        numbers = [
            models.number(position[silo])
            if lag == 1 and silo in position
            else models.kept_number(self._kept.place(silo, round_index + 1 - lag))
            for silo, lag in pairs.tolist()
        ]
        models.mix_scattered(weights, np.array(numbers, dtype=np.int64), arrived)
        self._kept.end_round(round_index)

    def _keep(self, sending: Sending, sent_in: int, *, from_round: int) -> None:
        """Make room for the rows of a round that are mixed in later ones, up to `from_round` at least."""
        for silo, lag in sending.kept.items():
            if sent_in + lag - 1 >= from_round:
                self._kept.keep(silo, sent_in, last=sent_in + lag - 1)

    def _sending(self, round_index: int) -> Sending:
        """Return what is sent and kept in a round, for every round whose models are mixed by the same matrices."""
        window = int(self._uses.number[round_index])
        if window not in self._sendings:
            own = self._own
            longest = longest_uses(self._mixing, self._uses, window)
            exchange = plan_exchange(longest, self._blocks, self._communicator.rank)
            lasts = longest[own.start : own.stop].max(axis=0, initial=0)
            kept = {silo: int(lasts[silo]) for silo in np.flatnonzero(lasts > 1).tolist()}
            columns = [silo for silo in exchange.columns.tolist() if silo in own or silo not in kept]
            lower = sum(silo < own.start for silo in columns)
            position = {silo: at for at, silo in enumerate(columns, -lower)}
            self._sendings[window] = Sending(exchange=exchange, kept=kept, position=position)
        return self._sendings[window]

    def _weights_of(self, round_index: int) -> tuple[IntArray, Tensor]:
        """Return silos and lags of what a round mixes, and their weights, for every round like it."""
        key = int(self._mixing.index[round_index]), min(round_index + 1, self._mixing.longest_lag)
        if key not in self._weights:
            found: LaggedWeights = lagged_weights(self._mixing, round_index, self._own)
            weights = torch.from_numpy(found.weights).to(self._models.parameters)
            self._weights[key] = found.pairs, weights
        return self._weights[key]
