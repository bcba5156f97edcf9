"""The state of silos as files: an ``.npz`` archive per rank, with the rows that its silos still need."""

import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from topologies.errors import MachineError
from topologies.regular_files import regular
from training.engine.rank_silos import RankSilos


def silo_state(rank_silos: RankSilos) -> Mapping[str, tuple[Tensor, ...]]:
    """Return the state of a rank's silos: all that a round changes, but for the rows that it keeps for later ones.

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
        **{f"exchange/{name}": rows.unbind() for name, rows in rank_silos.exchange.state.items()},
        **{f"counters/{name}": tuple(silo[name] for silo in counters) for name in names},
    }


def write_silos(path: Path, rank_silos: RankSilos) -> None:
    """Write the state of a rank's silos and sync it to disk.

    Parameters
    ----------
    path : pathlib.Path
        A new file, in NumPy's ``.npz`` format: array ``<silo>/<name>`` for each name of `silo_state`, and array
        ``kept/<silo>/<round>`` for each row of `RankExchange.kept`, of a silo of this rank or of another.

    Notes
    -----
    Row by row: besides the state at most one row is in memory, and only if it comes from a GPU. The archive's checksums
    reveal a damaged file when it is read.
    """
    arrays = _arrays(rank_silos)
    with path.open("wb") as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name, tensor in arrays.items():
                array = tensor.detach().cpu().numpy()
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
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
        The silos, changed in place; see `RankExchange.resume_at`.

    Raises
    ------
    MachineError
        If a file is missing or damaged, or does not hold what these silos need.
    """
    kept = {_kept_name(*sent): row for sent, row in rank_silos.exchange.kept.items()}
    found: set[str] = set()
    read: list[Path] = []
    for silos, path in paths.items():
        own = [silo for silo in silos if silo in rank_silos.own]
        if not own:
            continue
        read.append(path)
        try:
            with regular(path).open("rb") as file, zipfile.ZipFile(file) as archive:
                # A rank's file has all kept rows that its silos need, those of other ranks' silos among them.
                members = set(archive.namelist())
                held = {name for name in kept if f"{name}.npy" in members}
                found |= held
                for name, target in (
                    *_state(rank_silos, own).items(),
                    *((name, kept[name]) for name in held),
                ):
                    with archive.open(f"{name}.npy") as member:
                        array = np.lib.format.read_array(member, allow_pickle=False)
                    if array.shape != target.shape:
                        raise ValueError(f"shape of {name}")
                    target.copy_(torch.from_numpy(array))
        except (OSError, EOFError, KeyError, RuntimeError, ValueError, zipfile.BadZipFile) as error:
            raise MachineError(
                f"{path} cannot be read: {getattr(error, 'strerror', '') or error or type(error).__name__}"
            ) from None
    for name in sorted(kept.keys() - found):
        raise MachineError(f"{', '.join(map(str, read))} cannot be read: {name} is missing.")


def _arrays(rank_silos: RankSilos) -> dict[str, Tensor]:
    """Return what is written of a rank, by name."""
    kept = {_kept_name(*sent): row for sent, row in rank_silos.exchange.kept.items()}
    return {**_state(rank_silos, rank_silos.own), **kept}


def _state(rank_silos: RankSilos, silos: Iterable[int]) -> dict[str, Tensor]:
    """Return the state of some of a rank's silos, by name."""
    state = silo_state(rank_silos)
    return {
        f"{silo}/{name}": tensors[silo - rank_silos.own.start]
        for silo in silos
        for name, tensors in state.items()
    }


def _kept_name(silo: int, round_index: int) -> str:
    """Return the name of a kept row."""
    return f"kept/{silo}/{round_index}"


def _counters(module: torch.nn.Module) -> dict[str, Tensor]:
    """Return the integer buffers of a module."""
    return {name: buffer for name, buffer in module.named_buffers() if not buffer.is_floating_point()}
