"""The state of silos as files: an ``.npz`` archive per rank, in which every array belongs to one silo."""

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from topologies.errors import MachineError
from training.engine.rank_silos import RankSilos


def silo_state(rank_silos: RankSilos) -> Mapping[str, tuple[Tensor, ...]]:
    """Return the state of a rank's silos: all that a round changes.

    Returns
    -------
    mapping of str to tuple of torch.Tensor
        By name, one tensor per silo: a view, through which the state can be set.

    Notes
    -----
    No random state: batches follow from seed, silo and round alone, consensus matrices from the seed and the round, and
    nothing else is random.
    """
    models = rank_silos.models
    counters = [_counters(module) for module in models.modules]
    names = counters[0].keys() if counters else ()
    return {
        "parameters": models.parameters.unbind(),
        "buffers": models.buffers.unbind(),
        "diverged_in": rank_silos.diverged_in.unbind(),
        **{f"optimizer/{name}": rows.unbind() for name, rows in rank_silos.optimizer.state.items()},
        **{f"counters/{name}": tuple(silo[name] for silo in counters) for name in names},
    }


def write_silos(path: Path, rank_silos: RankSilos) -> None:
    """Write the state of a rank's silos and sync it to disk.

    Parameters
    ----------
    path : pathlib.Path
        A new file, in NumPy's ``.npz`` format: array ``<silo>/<name>`` for each name of `silo_state`.

    Notes
    -----
    Row by row: besides the state at most one row is in memory, and only if it comes from a GPU. The archive's checksums
    reveal a damaged file when it is read.
    """
    state = silo_state(rank_silos)
    with path.open("wb") as file:
        with zipfile.ZipFile(file, "w") as archive:
            for position, silo in enumerate(rank_silos.own):
                for name, tensors in state.items():
                    array = tensors[position].detach().cpu().numpy()
                    with archive.open(f"{silo}/{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def read_silos(paths: Mapping[range, Path], rank_silos: RankSilos) -> None:
    """Set the state of a rank's silos to what `write_silos` wrote.

    Parameters
    ----------
    paths : mapping of range to pathlib.Path
        The files, by the silos in them; other ranks may have written them than now read them.
    rank_silos : RankSilos
        The silos, changed in place.

    Raises
    ------
    MachineError
        If a file is missing or damaged, or does not hold what these silos need.
    """
    state = silo_state(rank_silos)
    for silos, path in paths.items():
        own = [silo for silo in silos if silo in rank_silos.own]
        if not own:
            continue
        try:
            with path.open("rb") as file, zipfile.ZipFile(file) as archive:
                for silo in own:
                    for name, tensors in state.items():
                        target = tensors[silo - rank_silos.own.start]
                        with archive.open(f"{silo}/{name}.npy") as member:
                            array = np.lib.format.read_array(member, allow_pickle=False)
                        if array.shape != target.shape:
                            raise ValueError(f"shape of {silo}/{name}")
                        target.copy_(torch.from_numpy(array))
        except (OSError, EOFError, KeyError, RuntimeError, ValueError, zipfile.BadZipFile) as error:
            raise MachineError(f"{path} cannot be read: {error or type(error).__name__}") from None


def _counters(module: torch.nn.Module) -> dict[str, Tensor]:
    """Return the integer buffers of a module."""
    return {name: buffer for name, buffer in module.named_buffers() if not buffer.is_floating_point()}
