"""What all ways have in common in which a rank exchanges and mixes its models with those of the others."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from torch import Tensor

from training.engine.communicator import Communicator
from training.engine.parameter_buffer import ParameterBuffer
from training.job import MixingPlan


class RankExchange(ABC):
    """Exchanges and mixes the models of a rank together with the other ranks.

    Parameters
    ----------
    mixing : MixingPlan
        What is mixed in each round.
    blocks : tuple of range
        The silos of each rank.
    models : ParameterBuffer
        Those of the rank.
    """

    def __init__(
        self,
        mixing: MixingPlan,
        blocks: tuple[range, ...],
        models: ParameterBuffer,
        *,
        communicator: Communicator,
    ) -> None:
        self._mixing, self._blocks, self._models = mixing, blocks, models
        self._communicator = communicator
        self._own = blocks[communicator.rank]

    @property
    def kept(self) -> Mapping[tuple[int, int], Tensor]:
        """The rows that the rank keeps for later rounds, views by silo and round in which it sent them, ascending."""
        return {}

    @property
    def state(self) -> Mapping[str, Tensor]:
        """What its rounds change beside the models and `kept`: a row of the rank's each silo, by name."""
        return {}

    def resume_at(self, round_index: int) -> None:  # noqa: B027 (without lags no round keeps rows)
        """Make room for the rows that rounds before `round_index` kept for it and later ones: the views of `kept`."""

    @abstractmethod
    def mix(self, round_index: int) -> None:
        """Replace every model by its weighted average, ``X <- A X``, together with the other ranks.

        Parameters
        ----------
        round_index : int
            The round ``k``; with lags each round once, in order.
        """
