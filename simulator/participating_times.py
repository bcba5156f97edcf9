"""Computing times of silos that do not compute in all rounds."""

from dataclasses import dataclass

from simulator.compute_times import ComputeTimes
from topologies.arrays import FloatArray
from topologies.participation import Participation


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ParticipatingTimes:
    """Computing times that are 0 where a silo does not take part; a `ComputeTimes`.

    Parameters
    ----------
    compute : ComputeTimes
        Of silos that do.
    participation : Participation
    seed : int
        At least 0.
    """

    compute: ComputeTimes
    participation: Participation
    seed: int

    @property
    def silos(self) -> int:
        """Number of silos."""
        return self.compute.silos

    @property
    def period(self) -> None:
        """None."""
        return None

    def rows(self, first: int, count: int, /) -> FloatArray:
        """See `ComputeTimes`."""
        takes_part = self.participation.rows(first, count, silos=self.silos, seed=self.seed)
        return self.compute.rows(first, count) * takes_part
