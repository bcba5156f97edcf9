"""One simulation with a progress bar."""

from scenarios.config import SimulationConfig
from scenarios.progress import bar
from scenarios.units import format_s
from simulator import Observer, Timeline, simulate
from topologies import InputError, Overlay

_MOST_DATES = 2**28
"""Round starts and arrivals that a simulation may keep: 2 GiB."""


def check_size(overlay: Overlay, rounds: int) -> None:
    """Raise an error if the dates of a simulation would not fit into memory.

    Raises
    ------
    InputError
        If there are too many rounds for this number of silos and arcs.
    """
    most = _MOST_DATES // (overlay.graph.silos + overlay.arcs)
    if rounds > most:
        raise InputError(
            f"rounds(={rounds}) must be <= {most} for {overlay.kind}'s {overlay.graph.silos} silos "
            f"and {overlay.arcs} arcs."
        )


def simulate_with_progress(
    overlay: Overlay, config: SimulationConfig, *, rounds: int, title: str = ""
) -> Timeline:
    """Simulate an overlay and show how far it is.

    Parameters
    ----------
    overlay : Overlay
    config : SimulationConfig
    rounds : int
    title : str
        In front of the overlay's name.

    Returns
    -------
    Timeline
    """
    with bar(f"simulate {title}{overlay.kind}", rounds) as advance:
        return simulate(
            overlay,
            rounds,
            sharing=config.sharing,
            queueing=config.queueing,
            observer=Observer(on_round=lambda k, now_s: advance(k, f"simulated {format_s(now_s)}")),
        )
