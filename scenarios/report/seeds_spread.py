"""The training rows of an overlay over several seeds: their means, and their lowest and highest values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scenarios.runfile.reader import OverlayRecord
from topologies.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SeedsSpread:
    """Training rows over seeds.

    Attributes
    ----------
    mean : OverlayRecord
        With means as its history and its dates, so that a row has one place on each axis. All else is the first run's.
    ends : (mapping, mapping) from field to array
        The lowest and the highest history.
    """

    mean: OverlayRecord
    ends: tuple[Mapping[str, FloatArray], Mapping[str, FloatArray]]


def spread_of(overlays: Sequence[OverlayRecord]) -> SeedsSpread:
    """Means and ends of the training rows of one overlay in the runs of one scenario.

    Parameters
    ----------
    overlays : sequence of OverlayRecord
        One of each run, with as many rows.

    Returns
    -------
    SeedsSpread
        Of a single run its own rows.
    """
    rows = {name: np.array([overlay.history[name] for overlay in overlays]) for name in overlays[0].history}
    mean = replace(
        overlays[0],
        history={name: values.mean(axis=0) for name, values in rows.items()},
        wall_clock_s=np.mean([overlay.wall_clock_s for overlay in overlays], axis=0),
    )
    ends = tuple({name: end(values, axis=0) for name, values in rows.items()} for end in (np.min, np.max))
    return SeedsSpread(mean=mean, ends=(ends[0], ends[1]))
