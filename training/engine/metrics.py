"""Loss and accuracy of models, and how far the silos' models lie apart."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from topologies.arrays import FloatArray
from training.data.datasets import IGNORED, Dataset
from training.data.evaluated import evaluated, share_of
from training.data.samples import Samples, samples_of
from training.data.shards import Shard
from training.engine.communicator import Communicator
from training.engine.data_checks import counted_labels
from training.engine.exact_sums import exact_sums
from training.engine.parameter_buffer import bind, numbers_of, padded
from training.engine.progress import Progress
from training.engine.rank_silos import RankSilos
from training.history import HistoryRow
from training.optimization.objectives import silo_weights
from training.random_streams import Purpose, stream

if TYPE_CHECKING:
    from training.optimization.losses import Loss

LARGEST_CHUNK = 512
CHUNK_NUMBERS = 1 << 22
TEST_CHUNK = 64
PIECE = 1 << 16
TOP = 5
_SILO_COLUMNS = (
    "loss",
    "correct",
    "correct_top5",
    "own_loss",
    "own_correct",
    "labels",
    "squared_distance",
    "diverged_in",
)


class Evaluation(NamedTuple):
    """Sums over samples, or over the positions of sequences; padding does not count.

    Parameters
    ----------
    loss : float
        Sum of losses: cross-entropies, in nats, or those of the user's.
    correct : float
        Correct predictions: the label has the largest score, the first one among equals.
    correct_top5 : float
        Samples with fewer than five scores larger than that of the label.
    """

    loss: float
    correct: float
    correct_top5: float


def chunk_size(sample_shape: tuple[int, ...]) -> int:
    """Return the batch size of an evaluation: 512, or fewer large samples (27 images of 224 x 224)."""
    return max(1, min(LARGEST_CHUNK, CHUNK_NUMBERS // max(1, math.prod(sample_shape))))


def evaluate(
    model: nn.Module,
    inputs: Samples,
    labels: Tensor,
    chosen: Tensor | None = None,
    *,
    loss: "Loss | None" = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Return sums of loss and accuracy of a model over samples, in float64.

    Parameters
    ----------
    model : torch.nn.Module
        A classifier.
    inputs : Samples, shape (samples, ...)
        Samples.
    labels : torch.Tensor, shape (samples,) or (samples, length)
        Their classes, or those of each position; `IGNORED` where a position is padding.
    chosen : torch.Tensor in host memory, shape (evaluated,), optional
        Which samples are evaluated, by default all.
    loss : callable, optional
        Of `training.optimization.losses.own_loss`: a mean, which counts once for each label of a chunk. By default
        cross-entropy.
    progress : Progress, optional
        Hears of each chunk.
    """
    sums = torch.zeros(len(Evaluation._fields), dtype=torch.float64, device=labels.device)
    trains = model.training
    # Batch norm would update its running statistics.
    model.eval()
    try:
        with torch.no_grad():
            size = chunk_size(inputs.shape[1:])
            for start in range(0, len(labels if chosen is None else chosen), size):
                chunk = slice(start, start + size) if chosen is None else chosen[start : start + size]
                scores, truth = model(inputs[chunk]).flatten(0, -2), labels[chunk].flatten()
                losses = _losses(loss, scores, truth)
                own = scores.gather(1, truth.clamp(min=0)[:, None])
                in_top5 = ((~(scores <= own)).sum(dim=1) < TOP) & (truth != IGNORED)
                correct = scores.argmax(dim=1) == truth
                sums += torch.stack(
                    [values.sum(dtype=torch.float64) for values in (losses, correct, in_top5)]
                )
                if progress is not None:
                    progress.step()
    finally:
        model.train(trains)
    return Evaluation(*sums.tolist())


def _losses(loss: "Loss | None", scores: Tensor, truth: Tensor) -> Tensor:
    """Losses that add up to the chunk's: of each label, or one for all of them."""
    if loss is None:
        return nn.functional.cross_entropy(scores, truth, reduction="none")
    counted = (truth != IGNORED).sum()
    return loss(scores, truth) * counted if counted else scores.new_zeros(())


class Meter:
    """Evaluates the models of all ranks; all ranks call `measure` together.

    Parameters
    ----------
    model : torch.nn.Module
        A model of the trained structure.
    dataset : Dataset
        Its test samples are distributed over the ranks in chunks.
    device : torch.device
        Device of the models.
    evaluate : float
        As in `training.config.TrainingConfig`.
    seed : int
        Of the samples that are evaluated.
    objective : str, default "silos"
        One of `training.optimization.objectives.OBJECTIVES`.
    loss : callable, optional
        As in `evaluate`.
    progress : Progress, optional
        As in `evaluate`.
    """

    def __init__(
        self,
        model: nn.Module,
        dataset: Dataset,
        *,
        silos: int,
        communicator: Communicator,
        device: torch.device,
        evaluate: float,
        seed: int,
        objective: str = "silos",
        loss: "Loss | None" = None,
        progress: Progress | None = None,
    ) -> None:
        self._loss, self._progress = loss, progress
        self._seed, self._share = seed, share_of(evaluate, len(dataset.train_labels))
        self._chosen: dict[int, Tensor | None] = {}
        self._objective = objective
        self._silos = silos
        self._communicator = communicator
        share = share_of(evaluate, len(dataset.test_labels))
        rng = stream(seed, Purpose.EVALUATED_TEST)
        some = evaluated(counted_labels(dataset.test_labels) > 0, share, rng)
        tests = np.arange(len(dataset.test_labels)) if some is None else some
        self._tests = [
            (
                samples_of(dataset.test_inputs, chunk, device),
                torch.from_numpy(dataset.test_labels[chunk]).to(device),
            )
            for chunk in np.split(tests, range(TEST_CHUNK, len(tests), TEST_CHUNK))
        ]
        self._tested = int((dataset.test_labels[tests] != IGNORED).sum())
        parameters, buffers = numbers_of(model)
        self._row = torch.zeros(parameters, device=device)
        self._buffers = torch.zeros(padded(buffers), device=device)
        self._average = bind(model, self._row, buffers=self._buffers)

    @property
    def average(self) -> nn.Module:
        """The average model of the last measurement, float buffers included; changed by the next one."""
        return self._average

    def measure(self, round_index: int, rank_silos: RankSilos) -> tuple[HistoryRow, FloatArray]:
        """Return the metrics of the models as they are now; the same on every rank.

        Parameters
        ----------
        round_index : int
            Rounds done.

        Returns
        -------
        row : HistoryRow
            The metrics.
        diverged_in : FloatArray, shape (silos,)
            The first round in which each silo's loss or model was not finite, or infinity.

        Notes
        -----
        The result has the same bits for any number of ranks on processors of one kind: each number of a silo or of a
        test chunk comes from one rank and the others add zero, sums over silos are taken in silo order, and those of
        the average model are exact (`training.engine.exact_sums`). On other processors the libraries' kernels round
        differently.
        """
        average = self._average_parameters(rank_silos)
        per_silo = np.zeros((self._silos, len(_SILO_COLUMNS)))
        per_silo[rank_silos.own.start : rank_silos.own.stop] = self._silo_metrics(rank_silos, average)
        per_chunk = np.zeros((len(self._tests), len(Evaluation._fields)))
        for chunk in range(self._communicator.rank, len(self._tests), self._communicator.size):
            per_chunk[chunk] = evaluate(
                self._average, *self._tests[chunk], loss=self._loss, progress=self._progress
            )
        table = self._communicator.sum(np.concatenate([per_silo.ravel(), per_chunk.ravel()]))
        silo = dict(zip(_SILO_COLUMNS, table[: per_silo.size].reshape(per_silo.shape).T, strict=True))
        test = Evaluation(*table[per_silo.size :].reshape(per_chunk.shape).sum(axis=0).tolist())
        labels = silo["labels"].sum()
        weights = silo_weights(self._objective, silo["labels"])
        row = HistoryRow(
            round=round_index,
            train_loss=float(silo["loss"].sum() / labels),
            train_accuracy=float(silo["correct"].sum() / labels),
            test_loss=test.loss / self._tested,
            test_accuracy=test.correct / self._tested,
            consensus_distance=math.sqrt(silo["squared_distance"].mean()),
            silo_loss=tuple((silo["own_loss"] / silo["labels"]).tolist()),
            objective=float((weights * silo["loss"] / silo["labels"]).sum()),
            train_top5_accuracy=float(silo["correct_top5"].sum() / labels),
            test_top5_accuracy=test.correct_top5 / self._tested,
            silo_accuracy=tuple((silo["own_correct"] / silo["labels"]).tolist()),
        )
        unusable = ~np.isfinite(silo["own_loss"])
        return row, np.where(unusable, np.minimum(silo["diverged_in"], round_index), silo["diverged_in"])

    def _average_parameters(self, rank_silos: RankSilos) -> Tensor:
        """Load the average model, buffers included, and return its parameters in float64, shape (stride,)."""
        average = self._average_rows(rank_silos.models.parameters)
        self._row.copy_(average[: self._row.numel()])
        if self._buffers.numel():
            self._buffers.copy_(self._average_rows(rank_silos.models.buffers))
        return average

    def _average_rows(self, rows: Tensor) -> Tensor:
        """Return the mean of all silos' rows in float64."""
        average = rows.new_empty(rows.shape[1], dtype=torch.float64)
        for start in range(0, len(average), PIECE):
            piece = slice(start, start + PIECE)
            total = self._communicator.sum(exact_sums(rows[:, piece]).cpu().numpy())
            average[piece] = torch.from_numpy(total.sum(axis=0) / self._silos)
        return average

    def _silo_metrics(self, rank_silos: RankSilos, average: Tensor) -> FloatArray:
        """Return `_SILO_COLUMNS` of each silo of the rank."""
        rows, models = [], rank_silos.models
        for silo, shard, module, parameters, diverged_in in zip(
            rank_silos.own,
            rank_silos.shards,
            models.modules,
            models.parameters,
            rank_silos.diverged_in,
            strict=True,
        ):
            chosen = self._chosen_of(silo, shard)
            own, average_model = (
                evaluate(each, shard.inputs, shard.labels, chosen, loss=self._loss, progress=self._progress)
                for each in (module, self._average)
            )
            labels = int((shard.labels != IGNORED).sum())
            # Sums of all samples, estimated from those that are evaluated: a silo keeps its weight among the others.
            scale = 1.0 if chosen is None else labels / int((shard.labels[chosen] != IGNORED).sum())
            rows.append(
                (
                    *(scale * value for value in average_model),
                    scale * own.loss,
                    scale * own.correct,
                    labels,
                    float((parameters.double() - average).square().sum()),
                    float(diverged_in),
                )
            )
        return np.array(rows).reshape(-1, len(_SILO_COLUMNS))

    def _chosen_of(self, silo: int, shard: Shard) -> Tensor | None:
        """Return which samples of a silo are evaluated, drawn at the first row; None for all."""
        if silo not in self._chosen:
            rng = stream(self._seed, Purpose.EVALUATED_TRAINING, silo)
            chosen = evaluated(shard.counted, self._share, rng)
            self._chosen[silo] = None if chosen is None else torch.from_numpy(chosen)
        return self._chosen[silo]
