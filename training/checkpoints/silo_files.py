"""The state of silos as files: an ``.npz`` archive per rank, in which every array belongs to one silo."""

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from topologies.errors import MachineError
from training.engine.rank_silos import HostedSilos


def silo_state(hosted: HostedSilos) -> Mapping[str, tuple[Tensor, ...]]:
    """Return everything that a round changes in a rank's silos.

    Parameters
    ----------
    hosted : HostedSilos
        The silos.

    Returns
    -------
    mapping of str to tuple of torch.Tensor
        By name, one tensor per silo: a view, through which the state can be set.

    Notes
    -----
    No random state is among it: the batches of a round follow from seed, silo and round alone, as do the consensus
    matrices, and nothing else is drawn while training.
    """
    arena = hosted.arena
    counters = [_counters(module) for module in arena.modules]
    names = counters[0].keys() if counters else ()
    return {
        "parameters": arena.parameters.unbind(),
        "buffers": arena.buffers.unbind(),
        "diverged_in": hosted.diverged_in.unbind(),
        **{f"optimizer/{name}": rows.unbind() for name, rows in hosted.optimizer.state.items()},
        **{f"counters/{name}": tuple(silo[name] for silo in counters) for name in names},
    }


def write_silos(path: Path, hosted: HostedSilos) -> None:
    """Write the state of a rank's silos, and return when it is on the disk.

    Parameters
    ----------
    path : pathlib.Path
        A new file, in NumPy's ``.npz`` format: array ``<silo>/<name>`` for each name of `silo_state`.
    hosted : HostedSilos
        The silos.

    Notes
    -----
    Silo by silo, in pieces: besides the state there is no more in memory than one row of it, and that only if it comes
    from a GPU. The archive's checksums find a damaged file when it is read.
    """
    state = silo_state(hosted)
    with path.open("wb") as file:
        with zipfile.ZipFile(file, "w") as archive:
            for position, silo in enumerate(hosted.own):
                for name, tensors in state.items():
                    array = tensors[position].detach().cpu().numpy()
                    with archive.open(f"{silo}/{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def read_silos(paths: Mapping[range, Path], hosted: HostedSilos) -> None:
    """Set the state of a rank's silos to what `write_silos` wrote.

    Parameters
    ----------
    paths : mapping of range to pathlib.Path
        The files, by the silos in them; other ranks may have written them than now read them.
    hosted : HostedSilos
        The silos, changed in place.

    Raises
    ------
    MachineError
        If a file is missing or damaged, or does not hold what these silos need.
    """
    state = silo_state(hosted)
    for silos, path in paths.items():
        own = [silo for silo in silos if silo in hosted.own]
        if not own:
            continue
        try:
            with path.open("rb") as file, zipfile.ZipFile(file) as archive:
                for silo in own:
                    for name, tensors in state.items():
                        target = tensors[silo - hosted.own.start]
                        with archive.open(f"{silo}/{name}.npy") as member:
                            array = np.lib.format.read_array(member, allow_pickle=False)
                        if array.shape != target.shape:
                            raise ValueError(f"shape of {silo}/{name}")
                        target.copy_(torch.from_numpy(array))
        except (OSError, EOFError, KeyError, RuntimeError, ValueError, zipfile.BadZipFile) as error:
            raise MachineError(f"{path} cannot be read: {error or type(error).__name__}") from None


def _counters(module: torch.nn.Module) -> dict[str, Tensor]:
    """Return the buffers of a module that are no floating-point numbers."""
    return {name: buffer for name, buffer in module.named_buffers() if not buffer.is_floating_point()}
