"""The name of an underlay as tables, figures and messages have it."""

import numpy as np

from topologies.networks.loading import load_underlay
from topologies.networks.shipped import PUBLISHED
from topologies.underlay import Underlay


def underlay_title(underlay: Underlay) -> str:
    """Name of an underlay, with the variant where there are two.

    Returns
    -------
    str
        ``geant (corrected)`` of a shipped one, the name alone of somebody's own: nothing was corrected there.
        The published variant is always named.
    """
    is_named = underlay.variant == "published" or _is_published(underlay)
    return f"{underlay.name} ({underlay.variant})" if is_named else underlay.name


def _is_published(underlay: Underlay) -> bool:
    """Whether an underlay is the published one of its name, and not a file of the same name."""
    if underlay.name not in PUBLISHED:
        return False
    shipped = load_underlay(underlay.name, variant=underlay.variant)
    return sorted(underlay.labels) == sorted(shipped.labels) and np.array_equal(
        np.sort(underlay.length_km), np.sort(shipped.length_km)
    )
