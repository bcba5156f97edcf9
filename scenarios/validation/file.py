"""A validation in an HDF5 file: closed forms, simulations and the parts of each difference."""

from collections.abc import Sequence
from math import nan
from pathlib import Path

import h5py
import numpy as np

from scenarios.runfile.atomic import new_file, reports_full_disk
from scenarios.runfile.writer import write_head
from scenarios.simulation.experiment import Experiment
from scenarios.validation.circuit_table import arc_rows
from scenarios.validation.study import Validated
from scenarios.validation.table import validation_row

SCHEMA = "silosim-validation/2"


def write_validation(
    path: Path, experiment: Experiment, results: Sequence[Validated], *, force: bool = False
) -> None:
    """Write ``/validation/<kind>``, beside the network and workload that the file of a run has, too.

    Parameters
    ----------
    path : Path
    experiment : Experiment
    results : sequence of Validated
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the file exists already or cannot be made.

    Notes
    -----
    Attributes of a group: the fields of `validation_row`, NaN where there is no number. Datasets: one for each field of
    the arcs of the critical circuit, shape (arcs of the circuit,); none where it has no parts.
    """
    with new_file(path, force=force) as file:
        write_head(file, experiment.head())
        file.attrs["schema"] = SCHEMA
        for order, result in enumerate(results):
            _write(file, result, order)


@reports_full_disk
def _write(file: h5py.File, result: Validated, order: int) -> None:
    """One overlay."""
    group = file.create_group(f"validation/{result.overlay.kind}")
    row = validation_row(result)
    group.attrs.update(
        {key: nan if value is None else value for key, value in row.items() if key != "overlay"}
    )
    group.attrs["order"] = order
    arcs = arc_rows(result)
    for name in arcs[0] if arcs else ():
        values = [arc[name] for arc in arcs]
        if name != "overlay":
            is_text = isinstance(values[0], str)
            group[name] = np.array(values, dtype=h5py.string_dtype()) if is_text else np.array(values)
    file.flush()
