"""How the training data lie over the silos: sizes, labels and how unlike the silos are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scenarios.config.label_shares import divided, label_counts
from scenarios.config.silo_places import shift_west_deg
from scenarios.report.tables import Column, Row, Table, note_lines
from scenarios.studies.label_divergence import divergences_bits
from topologies import Connectivity
from topologies.arrays import FloatArray, IntArray
from training import Dataset, TrainingConfig


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Division:
    """Training data divided over silos.

    Attributes
    ----------
    about : str
        Data set, partition and silos in two lines.
    notes : sequence of str
        What else a reader must know about the partition.
    silos : sequence of str
        Labels.
    samples : ndarray of int, shape (silos,)
    groups : ndarray of int, shape (silos,), optional
        Writers, roles or accounts of which a silo has samples.
    label_counts : ndarray of int, shape (silos, classes)
        How often a silo has each label; of sequences, in all positions.
    divergence_bits : ndarray, shape (silos, silos)
        Jensen-Shannon divergence of the label distributions of two silos.
    """

    about: str
    notes: Sequence[str]
    silos: Sequence[str]
    samples: IntArray
    groups: IntArray | None
    label_counts: IntArray
    divergence_bits: FloatArray

    def silo_rows(self) -> list[Row]:
        """One row for each silo; a lone silo has no divergence from others."""
        alone = len(self.silos) == 1
        others = ~np.eye(len(self.silos), dtype=bool)
        rows: list[Row] = []
        for silo, label in enumerate(self.silos):
            to_others = self.divergence_bits[silo, others[silo]]
            rows.append(
                {
                    "silo": label,
                    "samples": int(self.samples[silo]),
                    "groups": None if self.groups is None else int(self.groups[silo]),
                    "labels": int(np.count_nonzero(self.label_counts[silo])),
                    "divergence_mean_bits": None if alone else float(to_others.mean()),
                    "divergence_min_bits": None if alone else float(to_others.min()),
                    "divergence_max_bits": None if alone else float(to_others.max()),
                }
            )
        return rows

    def silo_table(self) -> Table:
        """Samples, labels and divergence of each silo."""
        rows = self.silo_rows()
        return Table(
            caption=self.about,
            columns=[
                Column(key=key, title=key.replace("_", "\n"), show=str if key == "silo" else _number)
                for key in rows[0]
            ],
            rows=rows,
            notes=note_lines(*self.notes),
        )

    def table(self) -> Table:
        """Mean, standard deviation, least and most of everything, as in the paper's tables of data sets.

        Beside its rows stand those of all silos, and all divergences, shape (silos, silos).
        """
        labels = np.count_nonzero(self.label_counts, axis=1)
        pairs = self.divergence_bits[np.triu_indices(len(self.silos), 1)]
        rows = [
            _summary("samples per silo", self.samples),
            *([] if self.groups is None else [_summary("groups per silo", self.groups)]),
            _summary("labels per silo", labels),
            *([_summary("divergence of two silos (bits)", pairs)] if pairs.size else []),
        ]
        least, most = int(np.argmin(self.samples)), int(np.argmax(self.samples))
        extremes = (
            f"fewest samples: {self.silos[least]} ({self.samples[least]}); "
            f"most: {self.silos[most]} ({self.samples[most]})."
        )
        meanings = (
            f"stdev: over the {len(self.silos)} silos (of all, not of a sample)"
            + (f"; of the divergence over all {pairs.size} pairs." if pairs.size else "."),
            f"labels: different ones, of {self.label_counts.shape[1]} in the data set.",
            *(
                ["divergence: Jensen-Shannon, base 2, of the label distributions: 0 alike, 1 disjoint."]
                if pairs.size
                else []
            ),
        )
        return Table(
            caption=self.about,
            columns=(
                Column(key="of", title=""),
                *(Column(key=key, title=key, show=_number) for key in ("mean", "stdev", "min", "max")),
            ),
            rows=rows,
            notes=note_lines(extremes, *self.notes, *meanings),
            further={"silos": self.silo_rows(), "divergence_bits": self.divergence_bits.tolist()},
        )


def divide(graph: Connectivity, training: TrainingConfig, seed: int) -> Division:
    """Read a training's data and split them over the silos of a network, as the training does.

    Parameters
    ----------
    graph : Connectivity
    training : TrainingConfig
        Its data set and partition count.
    seed : int

    Returns
    -------
    Division

    Raises
    ------
    InputError
        If data are missing or bad, or cannot be split so.
    """
    dataset, shares = divided(graph, training, seed)
    counts = label_counts(dataset.train_labels, shares, dataset.classes)
    groups = dataset.train_groups
    rule = f"{training.partition}, alpha {training.dirichlet_alpha:g}"
    return Division(
        about=f"{training.dataset}: {len(dataset.train_labels)} training samples, {dataset.classes} labels\n"
        f"{rule if training.partition == 'dirichlet' else training.partition}, seed {seed}, over "
        f"{graph.silos} silo{'s' if graph.silos > 1 else ''} of {graph.underlay.name}",
        notes=_notes(graph, training, dataset),
        silos=graph.labels,
        samples=np.array([share.size for share in shares]),
        groups=None if groups is None else np.array([np.unique(groups[share]).size for share in shares]),
        label_counts=counts,
        divergence_bits=divergences_bits(counts),
    )


def _notes(graph: Connectivity, training: TrainingConfig, dataset: Dataset) -> list[str]:
    """What was skipped or moved."""
    notes = []
    if dataset.train_labels.ndim > 1:
        notes.append("labels of sequences count at every position.")
    if dataset.skipped:
        notes.append(f"bad samples left out: {dataset.skipped}.")
    if not dataset.opened:
        notes.append("images were not opened: --skip-bad leaves out those that do not decode.")
    if training.partition == "geographic" and dataset.train_places is not None:
        unknown = int(np.isnan(dataset.train_places).any(axis=1).sum())
        moved = shift_west_deg(graph, training)
        notes.append(
            f"closest silo: silos moved {moved:g} degrees to the west, half of all samples with a place."
        )
        if unknown:
            notes.append(f"samples without a place, dealt out evenly: {unknown}.")
    return notes


def _summary(of: str, values: IntArray | FloatArray) -> Row:
    """A row of the summary."""
    return {
        "of": of,
        "mean": float(values.mean()),
        "stdev": float(values.std()),
        "min": values.min().item(),
        "max": values.max().item(),
    }


def _number(value: float) -> str:
    """Counts in full; means and divergences to three decimals, three digits below 0.1, one decimal from 100 on."""
    if isinstance(value, int):
        return str(value)
    if 0 < value < 0.1:
        return f"{value:.3g}"
    return f"{value:.1f}" if value >= 100 else f"{value:.3f}"
