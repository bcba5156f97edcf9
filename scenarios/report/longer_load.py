"""Where more capacity takes a closed form below load, which no network is."""

from scenarios.config.quantities import format_s
from topologies.rounding import exceeds


def longer_load(times_s: tuple[float, float], loads_s: tuple[float, float]) -> str:
    """One sentence where `load` is longer after an upgrade than the form that it was chosen by; else empty.

    Parameters
    ----------
    times_s : tuple of float
        Cycle time by that form with twice the capacity, and with no limit.
    loads_s : tuple of float
        `load` likewise.
    """
    parts = [
        f"{format_s(load_s)} {how}"
        for time_s, load_s, how in zip(
            times_s, loads_s, ("with twice the capacity", "with no limit"), strict=True
        )
        if exceeds(load_s, time_s)
    ]
    return f"But no network is faster than load, which is longer then: {', '.join(parts)}." if parts else ""
