"""The mixing of one rank where silos send compressed models."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from training.compression import Compressor
from training.engine.communicator import Communicator
from training.engine.parameter_buffer import ParameterBuffer
from training.engine.plain_exchange import Mixing, mixing_of
from training.engine.rank_exchange import RankExchange
from training.job import MixingPlan
from training.random_streams import Purpose, stream


class CompressedExchange(RankExchange):
    """Mixes what the silos know of each other's models by a plan without lags.

    Parameters
    ----------
    mixing : MixingPlan
        Without lags; with ``choco`` silos have the same neighbours in all rounds.
    blocks : sequence of range
        The silos of each rank.
    models : ParameterBuffer
        Those of the rank, with room for a kept row for each of its silos.
    compressor : Compressor
    error_feedback : bool
        Whether messages are the models with what earlier messages left out; otherwise they are differences.
    consensus_step : float
        Step towards the neighbours, in (0, 1].
    numbers : int
        Parameters of a model, >= 1: a row's other numbers are padding.
    seed : int
        That of the training.

    Notes
    -----
    In a round ``x_i <- x_i + gamma sum_j A_ij (p_j - p_i)``, where ``p_j`` is what the receivers of silo ``j`` know of
    its model:

    - CHOCO-Gossip (Koloskova, Stich and Jaggi, ICML 2019, Algorithm 1): ``p_j <- p_j + C(x_j - p_j)``. What a message
      leaves out stays in the difference. In the beginning ``p_j`` is the initial model, which all silos have.
    - DeepSqueeze (Tang et al., "DeepSqueeze: Decentralization Meets Error-Compensated Compression", 2019, Algorithm 1):
      ``p_j = C(x_j + e_j)``, then ``e_j <- x_j + e_j - p_j``, at first 0. Messages do not depend on earlier ones, so
      that neighbours may change.

    Where the columns of `A` sum to 1, the mean of the models is that of the uncompressed training of the same
    gradients. Ranks send `p_j` as whole rows: the network of the silos is simulated, and its messages have the size
    that `Compressor.bits` says. Sums take `x_i` first and then the `p_j` in the order of silos, and a message is drawn
    from seed, silo and round, so that no bit depends on the ranks.
    """

    def __init__(
        self,
        mixing: MixingPlan,
        blocks: tuple[range, ...],
        models: ParameterBuffer,
        *,
        communicator: Communicator,
        compressor: Compressor,
        error_feedback: bool,
        consensus_step: float,
        numbers: int,
        seed: int,
    ) -> None:
        super().__init__(mixing, blocks, models, communicator=communicator)
        self._compressor, self._step = compressor, consensus_step
        self._numbers, self._seed = numbers, seed
        self._mixings: dict[int, Mixing] = {}
        self._known = models.kept
        self._known.copy_(models.rows)
        self._left_out = torch.zeros_like(self._known) if error_feedback else None

    @property
    def state(self) -> Mapping[str, Tensor]:
        """See `training.engine.rank_exchange.RankExchange.state`."""
        return {"known": self._known} if self._left_out is None else {"left_out": self._left_out}

    def mix(self, round_index: int) -> None:
        """See `training.engine.rank_exchange.RankExchange.mix`."""
        models, own = self._models, self._own
        for row, silo in enumerate(own):
            self._compress(row, stream(self._seed, Purpose.COMPRESSION, silo, round_index))
        mixing = self._mixing_of(int(self._mixing.index[round_index]))
        places = mixing.places
        arrived = self._communicator.exchange(
            [(peer, silo, self._known[silo - own.start]) for peer, silo in mixing.exchange.sends],
            [(peer, silo, models.received(places[silo])) for peer, silo in mixing.exchange.receives],
            models.rows.shape[1],
        )
        numbers = [models.number(row) for row in range(len(own))]
        numbers += [
            models.kept_number(place) if 0 <= place < len(own) else models.number(place)
            for place in places.values()
        ]
        models.mix_scattered(mixing.weights, np.array(numbers, dtype=np.int64), arrived)

    def _compress(self, row: int, generator: np.random.Generator) -> None:
        """Send what a round sends of a silo: update what its receivers know."""
        model = self._models.rows[row][: self._numbers]
        known = self._known[row][: self._numbers]
        if self._left_out is None:
            known += self._compressor.compress(model - known, generator)
            return
        left_out = self._left_out[row][: self._numbers]
        left_out += model
        known.copy_(self._compressor.compress(left_out, generator))
        left_out -= known

    def _mixing_of(self, number: int) -> Mixing:
        """Exchange of a matrix, and weights of the rank's models and of what is known of all, which follow."""
        if number not in self._mixings:
            own, matrix, rank = self._own, self._mixing.matrices[number], self._communicator.rank
            # Rows of `A` sum to 1.
            towards = mixing_of(
                self._step * (matrix - np.eye(len(matrix))), self._blocks, rank, like=self._known
            )
            itself = torch.eye(len(own)).to(self._known)
            self._mixings[number] = replace(towards, weights=torch.cat((itself, towards.weights), dim=1))
        return self._mixings[number]
