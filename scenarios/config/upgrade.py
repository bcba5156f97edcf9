"""What a user asks of upgrades: how links are raised, what they may cost, and what is wanted."""

import math
from dataclasses import dataclass

from scenarios.config.found_files import check_path
from topologies import InputError
from topologies.analysis.upgrade_terms import Form
from topologies.errors import Field
from topologies.quantities import parse_quantity


@dataclass(frozen=True, kw_only=True, slots=True)
class UpgradeConfig:
    """Which upgrades are looked for; quantities are texts with units.

    Parameters
    ----------
    budget : float, optional
        Most links, or with `prices` most money. Exactly one of it and `cycle_time` is given.
    cycle_time : str, optional
        Cycle time to reach at the lowest price.
    prices : str, optional
        Path of a price list; see `topologies.analysis.link_prices.read_prices`. Without one each link costs 1.
    factor : float, optional
        Of a link's capacity; by default 2, unless `to` is given.
    to : str, optional
        Capacity that links are raised to.
    by : {"load", "paper", "serialized"}
        Closed form that sets are chosen by; see `topologies.analysis.upgrade_terms`.
    """

    budget: float | None = None
    cycle_time: str | None = None
    prices: str | None = None
    factor: float | None = None
    to: str | None = None
    by: Form = "load"

    def __post_init__(self) -> None:
        """Check the numbers, and which go together."""
        check_path("prices", self.prices)
        if self.budget is None and self.cycle_time is None:
            raise InputError(
                "must be given, a number of links or with prices an amount of money, or cycle_time in its place.",
                field=Field("budget"),
            )
        if self.budget is not None and self.cycle_time is not None:
            raise InputError(
                "must not be given beside ",
                Field("budget", value=self.budget),
                ".",
                field=Field("cycle_time", value=self.cycle_time),
            )
        if self.budget is not None and not 0 <= self.budget < math.inf:
            raise InputError("must be finite and >= 0.", field=Field("budget", value=self.budget))
        if self.budget is not None and self.prices is None and self.budget != int(self.budget):
            raise InputError(
                "must be a whole number of links, where there are no prices.",
                field=Field("budget", value=self.budget),
            )
        if self.cycle_time is not None:
            parse_quantity("cycle_time", self.cycle_time, "s")
        if self.to is not None:
            parse_quantity("to", self.to, "bit/s")
        if self.factor is not None and self.to is not None:
            raise InputError(
                "must not be given beside ",
                Field("factor", value=self.factor),
                ".",
                field=Field("to", value=self.to),
            )

    @property
    def wanted_s(self) -> float | None:
        """The cycle time to reach, in seconds."""
        return None if self.cycle_time is None else parse_quantity("cycle_time", self.cycle_time, "s")

    @property
    def to_bps(self) -> float | None:
        """The capacity that links are raised to, in bit/s."""
        return None if self.to is None else parse_quantity("to", self.to, "bit/s")
