"""What a training run reports."""

import json
from dataclasses import asdict, dataclass


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

    Notes
    -----
    The average model weighs every silo equally: it is the vector that a doubly stochastic consensus matrix keeps.
    """

    round: int
    train_loss: float
    train_accuracy: float
    test_loss: float
    test_accuracy: float
    consensus_distance: float
    silo_loss: tuple[float, ...]

    def to_json(self) -> str:
        """Return the row as one line of JSON; numbers keep every digit."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "HistoryRow":
        """Return the row that `to_json` wrote."""
        fields = json.loads(line)
        return cls(**{**fields, "silo_loss": tuple(fields["silo_loss"])})
