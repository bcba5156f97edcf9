"""A row of a training's history: the metrics of a round."""

import json
import math
from dataclasses import asdict, dataclass

PER_SILO = ("silo_loss", "silo_accuracy")
"""Fields of `HistoryRow` with a number for each silo."""


DIVERGED = "training diverged"
"""How the error of a training begins whose numbers are not finite, however often it is repeated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryRow:
    """Metrics of the models at the start of one round.

    Parameters
    ----------
    round : int
        Rounds of local steps and mixing done before.
    train_loss, train_accuracy : float
        Mean cross-entropy (nats) and share of correct predictions of the average model on all silos' training data.
    test_loss, test_accuracy : float
        The same on the held-out test set, which no silo trains on.
    consensus_distance : float
        ``sqrt(mean_i ||x_i - mean x||^2)`` over the silos' parameter vectors.
    silo_loss : tuple of float
        Mean cross-entropy of each silo's own model on its own training data.
    objective : float, optional
        Objective at the average model: the mean over silos, plain or weighted by samples, of its mean loss on each
        silo's training data. See `training.optimization.objectives`.
    train_top5_accuracy, test_top5_accuracy : float, optional
        Share of samples whose label is among the five largest scores: 1 with five classes or fewer.
    silo_accuracy : tuple of float, optional
        Share of correct predictions of each silo's own model on its own training data.

    Notes
    -----
    The average model weighs every silo equally: a doubly stochastic consensus matrix leaves it unchanged.
    An optional number that a backend does not measure is NaN in the file of the run.
    """

    round: int
    train_loss: float
    train_accuracy: float
    test_loss: float
    test_accuracy: float
    consensus_distance: float
    silo_loss: tuple[float, ...]
    objective: float = math.nan
    train_top5_accuracy: float = math.nan
    test_top5_accuracy: float = math.nan
    silo_accuracy: tuple[float, ...] = ()

    def to_json(self) -> str:
        """Return the row as one line of JSON; numbers are exact."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "HistoryRow":
        """Return the row that `to_json` wrote."""
        fields = json.loads(line)
        return cls(**{**fields, **{name: tuple(fields[name]) for name in PER_SILO}})
