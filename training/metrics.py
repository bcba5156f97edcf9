"""Loss and accuracy of models, and how far the silos' models lie apart."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from topologies.arrays import FloatArray
from training.arena import bind, float_buffers, padded
from training.communicator import Communicator
from training.datasets import IGNORED, Dataset
from training.history import HistoryRow
from training.hosted import HostedSilos
from training.samples import Samples, samples_of

CHUNK = 512
TEST_CHUNK = 64
_SILO_COLUMNS = ("loss", "correct", "own_loss", "samples", "squared_distance", "diverged_in")


def evaluate(model: nn.Module, inputs: Samples, labels: Tensor) -> tuple[float, float]:
    """Return the sum of cross-entropies (nats) and the number of correct predictions.

    Parameters
    ----------
    model : torch.nn.Module
        A classifier.
    inputs : Samples, shape (samples, ...)
        Samples.
    labels : torch.Tensor, shape (samples,) or (samples, length)
        Their classes, or those of each position.

    Returns
    -------
    loss_sum, correct : float
        Sums over the samples and positions, in float64; `IGNORED` positions do not count.
    """
    loss_sum = correct = 0.0
    trains = model.training
    # Batch normalisation would learn from what it is measured on.
    model.eval()
    try:
        with torch.no_grad():
            for start in range(0, len(labels), CHUNK):
                chunk = slice(start, start + CHUNK)
                scores, truth = model(inputs[chunk]).flatten(0, -2), labels[chunk].flatten()
                losses = nn.functional.cross_entropy(scores, truth, reduction="none")
                loss_sum += float(losses.sum(dtype=torch.float64))
                correct += float((scores.argmax(dim=1) == truth).sum())
    finally:
        model.train(trains)
    return loss_sum, correct


class Meter:
    """Measures the models of all ranks; every rank takes part in a measurement.

    Parameters
    ----------
    model : torch.nn.Module
        A model of the trained structure.
    dataset : Dataset
        The data set; its test samples are dealt out to the ranks in chunks.
    silos : int
        Number of silos.
    communicator : Communicator
        The ranks.
    device : torch.device
        Where the models live.
    """

    def __init__(
        self,
        model: nn.Module,
        dataset: Dataset,
        *,
        silos: int,
        communicator: Communicator,
        device: torch.device,
    ) -> None:
        self._silos = silos
        self._communicator = communicator
        self._tests = [
            (
                samples_of(dataset.test_inputs, chunk, device),
                torch.from_numpy(dataset.test_labels[chunk]).to(device),
            )
            for chunk in np.split(
                np.arange(len(dataset.test_labels)), range(TEST_CHUNK, len(dataset.test_labels), TEST_CHUNK)
            )
        ]
        self._tested = int((dataset.test_labels != IGNORED).sum())
        self._row = torch.zeros(sum(parameter.numel() for parameter in model.parameters()), device=device)
        self._buffers = torch.zeros(
            padded(sum(buffer.numel() for _owner, _name, buffer in float_buffers(model))), device=device
        )
        self._average = bind(model, self._row, buffers=self._buffers)

    def measure(self, round_index: int, hosted: HostedSilos) -> tuple[HistoryRow, FloatArray]:
        """Return the metrics of the models as they are now; the same on every rank.

        Parameters
        ----------
        round_index : int
            Rounds done.
        hosted : HostedSilos
            This rank's silos.

        Returns
        -------
        row : HistoryRow
            The metrics.
        diverged_in : FloatArray, shape (silos,)
            The first round in which each silo's loss or model was not finite, or infinity.

        Notes
        -----
        Each number of a silo or of a test chunk comes from one rank and the others add zero, so that the result has
        the same bits for any number of ranks; sums over silos are then taken in silo order. Only the average model,
        summed in float64 and rounded to float32, may differ in a last bit.
        """
        average = self._average_parameters(hosted)
        per_silo = np.zeros((self._silos, len(_SILO_COLUMNS)))
        per_silo[hosted.own.start : hosted.own.stop] = self._silo_metrics(hosted, average)
        per_chunk = np.zeros((len(self._tests), 2))
        for chunk in range(self._communicator.rank, len(self._tests), self._communicator.size):
            per_chunk[chunk] = evaluate(self._average, *self._tests[chunk])
        table = self._communicator.sum(np.concatenate([per_silo.ravel(), per_chunk.ravel()]))
        silo = dict(zip(_SILO_COLUMNS, table[: per_silo.size].reshape(per_silo.shape).T, strict=True))
        test_loss, test_correct = table[per_silo.size :].reshape(per_chunk.shape).sum(axis=0)
        row = HistoryRow(
            round=round_index,
            train_loss=float(silo["loss"].sum() / silo["samples"].sum()),
            train_accuracy=float(silo["correct"].sum() / silo["samples"].sum()),
            test_loss=float(test_loss / self._tested),
            test_accuracy=float(test_correct / self._tested),
            consensus_distance=math.sqrt(silo["squared_distance"].mean()),
            silo_loss=tuple((silo["own_loss"] / silo["samples"]).tolist()),
        )
        unusable = ~np.isfinite(silo["own_loss"])
        return row, np.where(unusable, np.minimum(silo["diverged_in"], round_index), silo["diverged_in"])

    def _average_parameters(self, hosted: HostedSilos) -> Tensor:
        """Load the average model, buffers included, and return its parameters in float64, shape (stride,)."""
        average = self._average_rows(hosted.arena.parameters)
        self._row.copy_(average[: self._row.numel()])
        if self._buffers.numel():
            self._buffers.copy_(self._average_rows(hosted.arena.buffers))
        return average

    def _average_rows(self, rows: Tensor) -> Tensor:
        """Return the mean of all silos' rows in float64."""
        total = self._communicator.sum(rows.sum(dim=0, dtype=torch.float64).cpu().numpy())
        return torch.from_numpy(total / self._silos).to(rows.device)

    def _silo_metrics(self, hosted: HostedSilos, average: Tensor) -> FloatArray:
        """Return `_SILO_COLUMNS` of each hosted silo."""
        rows = [
            (
                *evaluate(self._average, shard.inputs, shard.labels),
                evaluate(module, shard.inputs, shard.labels)[0],
                int((shard.labels != IGNORED).sum()),
                float((parameters.double() - average).square().sum()),
                float(diverged_in),
            )
            for shard, module, parameters, diverged_in in zip(
                hosted.shards, hosted.arena.modules, hosted.arena.parameters, hosted.diverged_in, strict=True
            )
        ]
        return np.array(rows).reshape(-1, len(_SILO_COLUMNS))
