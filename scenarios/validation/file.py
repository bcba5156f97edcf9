"""A validation in an HDF5 file: closed forms, simulations and the parts of each difference."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from scenarios.config.error_context import located
from scenarios.config.network import NetworkConfig
from scenarios.runfile.atomic import new_file, reports_full_disk
from scenarios.runfile.attributes import check_attributes
from scenarios.runfile.origin import recorded_origin
from scenarios.runfile.reader import check_schema, open_file, read_inputs
from scenarios.runfile.simulated_rounds import head_bytes
from scenarios.runfile.writer import write_head
from scenarios.simulation.experiment import Experiment
from scenarios.validation.circuit_table import arc_rows
from scenarios.validation.table import validation_row
from scenarios.validation.validation_study import Validated
from topologies import InputError, Underlay, Workload

SCHEMA = "silosim-validation/2"
_ARC_BYTES = 1024
"""What an arc of a critical circuit takes, at most."""


@contextmanager
def new_validation(
    path: Path, experiment: Experiment, *, force: bool
) -> Iterator[Callable[[Sequence[Validated]], None]]:
    """Make the file of a validation: network and workload, as the file of a run has them, and ``/validation/<kind>``.

    Parameters
    ----------
    path : Path
    experiment : Experiment
    force : bool
        Whether an existing file is replaced.

    Yields
    ------
    callable
        Writes the results.

    Raises
    ------
    InputError
        If the file exists already, is being written by another process, or cannot be made.
    MachineError
        If there is too little space on the disk.

    Notes
    -----
    Attributes of a group: the fields of `validation_row`, NaN where there is no number. Datasets: one for each field of
    the arcs of the critical circuit, shape (arcs of the circuit,); none where it has no parts.
    """
    head = experiment.head()
    silos, underlay = head.graph.silos, head.graph.underlay
    size_bytes = head_bytes(underlay, silos) + len(experiment.overlays) * silos * _ARC_BYTES
    with new_file(path, size_bytes=size_bytes, force=force) as file:
        write_head(file, head)
        file.attrs["schema"] = SCHEMA

        def write(results: Sequence[Validated]) -> None:
            for order, result in enumerate(results):
                _write(file, result, order)

        yield write


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedValidation:
    """A validation as its file has it.

    Attributes
    ----------
    path : Path
    about, scenario : str
        Network and workload as text; TOML.
    network : NetworkConfig
    underlay : Underlay
    work : Workload
    origin : mapping from str to str
        See `scenarios.runfile.origin.recorded_origin`.
    rows : tuple of dict
        Fields of `validation_row` with ``overlay``, None where there is no number.
    arcs : mapping from str to list of dict
        Fields of `arc_rows` of each overlay whose difference has parts.
    """

    path: Path
    about: str
    scenario: str
    network: NetworkConfig
    underlay: Underlay
    work: Workload
    origin: Mapping[str, str]
    rows: tuple[dict[str, Any], ...]
    arcs: Mapping[str, list[dict[str, Any]]]


def read_validation(path: Path) -> RecordedValidation:
    """Read the file of a validation.

    Raises
    ------
    InputError
        If it is missing, no HDF5 file, or not that of a validation of this version.
    """
    with open_file(path) as file:
        with located(str(path)):
            check_schema(file, SCHEMA)
        try:
            with located(str(path)):
                check_attributes(file.attrs)
            network, underlay, work = read_inputs(file)
            groups = sorted(file["validation"].items(), key=lambda item: item[1].attrs["order"])
            return RecordedValidation(
                path=path,
                about=str(file.attrs["about"]),
                scenario=str(file.attrs["scenario"]),
                network=network,
                underlay=underlay,
                work=work,
                origin=recorded_origin(file.attrs),
                rows=tuple(_row(kind, group) for kind, group in groups),
                arcs={kind: _arcs(group) for kind, group in groups if len(group)},
            )
        except (LookupError, TypeError, ValueError, OSError) as error:
            what = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(
                f"is not the whole file of a validation: {what:.200}", source=str(path)
            ) from None


def _row(kind: str, group: h5py.Group) -> dict[str, Any]:
    """Fields of an overlay."""
    values = {
        name: value.item() if isinstance(value, np.generic) else value for name, value in group.attrs.items()
    }
    return {"overlay": kind} | {name: None if value != value else value for name, value in values.items()}


def _arcs(group: h5py.Group) -> list[dict[str, Any]]:
    """Fields of the arcs of an overlay's critical circuit."""
    columns = {
        name: (values.asstr()[:] if h5py.check_string_dtype(values.dtype) else values[:]).tolist()
        for name, values in group.items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


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
