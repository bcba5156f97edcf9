"""Workload of a round: model size, computing time, local steps."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.checks import per_silo
from topologies.errors import InputError, unknown_name
from topologies.participation import Participation
from topologies.underlay import Variant

# name: (float32 parameters, bits that the published tables use, computing time of one local step in s)
_PRESETS: dict[str, tuple[int, float, float]] = {
    "shakespeare": (840_000, 3.23 * 2**20, 0.3896),
    "femnist": (1_207_000, 4.62 * 2**20, 0.0046),
    "sentiment140": (4_810_000, 18.38 * 2**20, 0.0098),
    "inaturalist": (11_217_552, 44_961_717, 0.0254),
    # 161.06 in the paper's text; this fits all five published STARs to half a millisecond, 161.06e6 does not.
    "full_inaturalist": (40_190_990, 161.066e6, 0.9467),
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Workload:
    """Model size and computing time.

    Parameters
    ----------
    model_bits : float
        Size of one model on the wire, in bits; 0 is allowed.
    compute_s : float or array_like, shape (silos,)
        Computing time of one local step, in seconds, for all silos or one per silo.
    local_steps : int or array_like of int, shape (silos,), default 1
        Local steps per round, `s` in Eq. 3, of all silos or of each; an array of equal numbers is kept as one.
    name : str, default "custom"
        For tables.
    participation : Participation, optional
        Which silos make their local steps in which rounds; by default all do in all, as in every closed form. It is for
        scenarios: `simulator.simulate` takes computing times, as of `simulator.participating_times`.
    overlap : float, default 0
        Share of a local step, that of the backward pass of the last one of a round, in which the model leaves already,
        at least 0 and below 1; 0: it leaves after computing.
    message_share : float, default 1
        Share of the model that its message is, above 0 and at most 1: below 1 where it is compressed. `model_bits` is
        the size of the message. For tables; it changes no time.

    Raises
    ------
    InputError
        If a number is negative, NaN or infinite, `local_steps` is below 1, `message_share` is no share, or `overlap` is
        not below 1, or is given with local steps that differ: it is a share of the same step of all.
    """

    model_bits: float
    compute_s: float | FloatArray
    local_steps: int | IntArray = 1
    name: str = "custom"
    overlap: float = 0.0
    participation: Participation | None = None
    message_share: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        per_silo("model_bits", self.model_bits, 1, positive=False)
        own = per_silo("compute_s", self.compute_s, np.size(self.compute_s), positive=False)
        if np.ndim(self.compute_s):
            object.__setattr__(self, "compute_s", own)
        object.__setattr__(self, "local_steps", _checked_steps(self.local_steps))
        if not 0 <= self.overlap < 1:
            raise InputError(f"overlap(={self.overlap!r}) must be at least 0 and below 1.")
        if not 0 < self.message_share <= 1:
            raise InputError(f"message_share(={self.message_share!r}) must be > 0 and <= 1.")
        if self.overlap and np.ndim(self.local_steps):
            raise InputError(f"overlap(={self.overlap!r}) needs the same local_steps in all silos.")

    def __repr__(self) -> str:
        """Name, model size, computing time (as a range where silos differ) and local steps."""
        low, high = np.min(self.compute_s), np.max(self.compute_s)
        compute = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        step = f"{compute} s per local step, local_steps {self.steps_text}"
        overlap = f", overlap {self.overlap:.3g} of a step" if self.overlap else ""
        part = "" if self.participation is None else f", {self.participation}"
        return f"<Workload {self.name}: {self.model_bits:.9g} bit, {step}{overlap}{part}>"

    def round_compute_s(self, silos: int) -> FloatArray:
        """Computing time of one round, ``s_i * T_c(i)``, in seconds, shape (silos,)."""
        if np.ndim(self.local_steps) and np.size(self.local_steps) != silos:
            raise InputError(
                f"local_steps has shape {np.shape(self.local_steps)}; it must be a number or one for each of "
                f"{silos} silos."
            )
        return np.asarray(self.local_steps * per_silo("compute_s", self.compute_s, silos, positive=False))

    @property
    def common_steps(self) -> int | None:
        """Local steps of every silo; None where silos differ."""
        return self.local_steps if isinstance(self.local_steps, int) else None

    @property
    def steps_text(self) -> str:
        """Local steps in words: their number, or the least and the largest."""
        low, high = np.min(self.local_steps), np.max(self.local_steps)
        return f"{low}" if low == high else f"{low} to {high}"

    @property
    def backward_share(self) -> float:
        """Share of a round's computing time in which the model leaves already: that at its end."""
        return self.overlap / float(np.max(self.local_steps))

    @classmethod
    def preset(cls, name: str, *, local_steps: int = 1, variant: Variant = "corrected") -> Self:
        """Workload of one of the paper's tasks.

        Parameters
        ----------
        name : str
            One of `workload_presets`.
        local_steps : int, default 1
        variant : {"corrected", "published"}
            ``corrected``: 32 bits for each float32 parameter. ``published``: the bits that reproduce the paper's
            tables, which are the model's bytes read as bits.

        Raises
        ------
        InputError
            If the name or the variant is unknown.

        Notes
        -----
        Source: Table 2 of the paper (parameters to the thousand, computing times measured on Tesla P100). The
        ResNets' parameters are exact: ResNet-18 with 80 classes and ResNet-50 with 8,142.
        """
        if name not in _PRESETS:
            raise unknown_name("workload", name, _PRESETS)
        if variant not in ("corrected", "published"):
            raise unknown_name("variant", variant, ("corrected", "published"))
        parameters, published_bits, compute_s = _PRESETS[name]
        bits = published_bits if variant == "published" else 32 * parameters
        return cls(model_bits=float(bits), compute_s=compute_s, local_steps=local_steps, name=name)


def _checked_steps(local_steps: object) -> int | IntArray:
    """Local steps, one number or a read-only array of numbers that differ; InputError unless whole and >= 1."""
    steps = np.array(local_steps)
    if steps.ndim > 1 or not steps.size or steps.dtype.kind not in "iu" or steps.min() < 1:
        raise InputError(
            f"local_steps(={local_steps!r:.60}) must be a whole number >= 1, or one for each silo."
        )
    if (steps == steps.flat[0]).all():
        return int(steps.flat[0])
    steps = steps.astype(np.int64)
    steps.flags.writeable = False
    return steps


def workload_presets() -> tuple[str, ...]:
    """Names that `Workload.preset` knows."""
    return tuple(_PRESETS)
