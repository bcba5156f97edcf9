"""What happens around a job, in the user's words."""

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.world.absences import Absence, Pause
from simulator.world.background import ConstantShare, OnOffFlow
from simulator.world.capacities import CapacityTrace
from simulator.world.failures import LinkFailure


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """What happens on the network and to the silos besides the job; what is left out costs nothing.

    Parameters
    ----------
    background : sequence of ConstantShare or OnOffFlow
        Traffic of others.
    capacities : sequence of CapacityTrace
        Capacities that change at given dates.
    failures : sequence of LinkFailure
        Core links that are down for a while or for ever.
    absences : sequence of Absence or Pause
        Silos that are away.

    Examples
    --------
    A third of every core link is busy, and Berlin's first core link fails after a minute:

    >>> from simulator import ConstantShare, LinkFailure
    >>> world = World(
    ...     background=[ConstantShare(share=1 / 3)],
    ...     failures=[LinkFailure(link=0, from_s=60.0, until_s=90.0)])

    Notes
    -----
    A link is named as in tables: ``"A - B"`` is both directions of a core link, ``"A -> B"`` one of them (with `` #2``
    and so on where links are parallel), ``"A uplink"`` and ``"A downlink"`` are access links. Where the bandwidth is
    measured there are no core links, and the first two are the links of silo pairs. A number is a link
    direction in the order of `Connectivity.link_capacity_bps`, or a core link's where one is asked for. A link must
    not have two entries of one sort.

    Traffic of others, capacities and failures need ``sharing="maxmin"``: constant rates know no network. Absences go
    with both.
    """

    background: Sequence[ConstantShare | OnOffFlow] = ()
    capacities: Sequence[CapacityTrace] = ()
    failures: Sequence[LinkFailure] = ()
    absences: Sequence[Absence | Pause] = ()

    def __post_init__(self) -> None:
        for name in ("background", "capacities", "failures", "absences"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def changes_network(self) -> bool:
        """Whether it holds more than absences."""
        return bool(self.background or self.capacities or self.failures)
