"""Whether the memory that the ranks of a training will need is there, on each machine and GPU that they share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray
from topologies.errors import MachineError


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A machine or a GPU with the ranks that share its memory.

    Parameters
    ----------
    kind : str
        ``machine`` or ``GPU``.
    ranks : tuple of int
        Those that share it.
    silos : int
        Silos that they host together.
    need : float
        Bytes that they will take beyond what they hold.
    available : float
        Bytes that are there for them; infinity where the system does not tell.
    per_silo, fixed : float
        Bytes that each silo adds, and that each rank takes whatever it hosts.
    """

    kind: str
    ranks: tuple[int, ...]
    silos: int
    need: float
    available: float
    per_silo: float
    fixed: float

    @property
    def fitting(self) -> int:
        """How many silos per rank would fit, with as many ranks."""
        room = self.available / len(self.ranks) - self.fixed
        if self.per_silo == 0 or math.isinf(room):
            return self.silos
        return max(0, math.floor(room / self.per_silo))


def places_of(table: FloatArray) -> list[Place]:
    """Group the ranks by the machines and GPUs that they share.

    Parameters
    ----------
    table : FloatArray, shape (ranks, 8)
        For each rank: machine's number, GPU's number (0 without one), bytes to come on the machine and on the GPU,
        hosted silos, bytes per silo, bytes available on the machine and on the GPU.

    Returns
    -------
    list of Place
        Machines, then GPUs.
    """
    places = []
    for kind, key, new, available in (("machine", 0, 2, 6), ("GPU", 1, 3, 7)):
        for number in dict.fromkeys(table[:, key].tolist()):
            rows = table[table[:, key] == number]
            if kind == "GPU" and number == 0:
                continue
            # Where silos live on a GPU, the machine only holds rows on their way.
            per_silo = rows[:, 5] if kind == "GPU" or not rows[:, 1].any() else np.zeros(len(rows))
            places.append(
                Place(
                    kind=kind,
                    ranks=tuple(np.flatnonzero(table[:, key] == number).tolist()),
                    silos=int(rows[:, 4].sum()),
                    need=float(rows[:, new].sum()),
                    available=float(rows[:, available].min()),
                    per_silo=float(per_silo.max()),
                    fixed=float((rows[:, new] - per_silo * rows[:, 4]).max(initial=0.0)),
                )
            )
    return places


def check_fits(places: Sequence[Place], *, silos: int) -> None:
    """Raise MachineError if the ranks of a place need more memory than there is.

    Parameters
    ----------
    places : sequence of Place
    silos : int
        Silos of the whole training.

    Raises
    ------
    MachineError
        One line with the need, what there is, and how many silos per rank would fit.
    """
    short = [place for place in places if place.need > place.available]
    if not short:
        return
    place = min(short, key=lambda place: place.available - place.need)
    count = len(place.ranks)
    who = f"rank {place.ranks[0]}" if count == 1 else f"{count} ranks with {place.silos} silos"
    raise MachineError(
        f"training must fit into memory: {who} on {place_name(place)} would take {gigabytes(place.need)} more, "
        f"{gigabytes(place.available)} are available; {_advice(place, silos)}"
    )


def gigabytes(number: float) -> str:
    """Bytes as GB of 10^9, three digits: ``1.23 GB``, ``12.3 GB``, ``0.001 GB``."""
    value = float(f"{number / 1e9:.3g}")
    places = 3 if value < 1 else max(0, 2 - math.floor(math.log10(value)))
    return f"{value:.{places}f} GB"


def place_name(place: Place) -> str:
    """Return a name of the place: by its first rank."""
    return f"the {place.kind} of rank {place.ranks[0]}"


def _advice(place: Place, silos: int) -> str:
    """How the training would fit."""
    fitting, count = place.fitting, len(place.ranks)
    if place.per_silo == 0 and count > 1:
        return "take fewer ranks per machine."
    if fitting < 1:
        fewer = "fewer ranks or " if count > 1 else ""
        return f"not one silo per rank would fit: take {fewer}a smaller batch_size."
    ranks = -(-silos // fitting)
    per_rank = f"{fitting} silo{'' if fitting == 1 else 's'} per rank would fit"
    return f"{per_rank}: {ranks} ranks on {-(-ranks // count)} {place.kind}s like this."
