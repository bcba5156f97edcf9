"""What a network's file states about each of its sites."""

from dataclasses import dataclass, fields

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import InputError, quoted


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SiteValues:
    """Access capacities and computing times by site; NaN where the file states none.

    Parameters
    ----------
    up_bps, down_bps : array of float, (sites,)
        Capacity of a silo's access link, from it and to it, > 0.
    compute_s : array of float, (sites,)
        Time of a local step, >= 0.

    Raises
    ------
    InputError
        If the arrays differ in length or a value breaks its rule.

    Notes
    -----
    They are the defaults of a scenario: what it states itself goes first.
    """

    up_bps: FloatArray
    down_bps: FloatArray
    compute_s: FloatArray

    def __post_init__(self) -> None:
        """Freeze the arrays and check the rules."""
        for field in fields(self):
            values = np.array(getattr(self, field.name), dtype=np.float64)
            if values.shape != (np.size(self.up_bps),):
                raise InputError(f"{field.name}(of shape {values.shape}) must have a number for each site.")
            bad = values < 0 if field.name == "compute_s" else values <= 0
            for site in np.flatnonzero(bad).tolist():
                rule = ">= 0" if field.name == "compute_s" else "> 0"
                raise InputError(f"{field.name}[{site}](={quoted(values[site])}) must be {rule}.")
            values.flags.writeable = False
            object.__setattr__(self, field.name, values)

    def __repr__(self) -> str:
        """How many values there are."""
        counts = (
            f"{field.name} {int(np.isfinite(getattr(self, field.name)).sum())}" for field in fields(self)
        )
        return f"<SiteValues of {len(self.up_bps)} sites: {', '.join(counts)}>"

    def of(self, sites: IntArray) -> "SiteValues":
        """The values of these sites, in their order."""
        return SiteValues(
            up_bps=self.up_bps[sites], down_bps=self.down_bps[sites], compute_s=self.compute_s[sites]
        )
