"""One simulation with a progress bar."""

from scenarios.config import SimulationConfig
from scenarios.progress import bar
from scenarios.units import format_s
from simulator import Observer, Timeline, simulate
from topologies import Overlay


def simulate_with_progress(
    overlay: Overlay, config: SimulationConfig, *, rounds: int, quiet: bool = False, title: str = ""
) -> Timeline:
    """Simulate an overlay and show how far it is.

    Parameters
    ----------
    overlay : Overlay
    config : SimulationConfig
    rounds : int
    quiet : bool
        Whether to show no bar.
    title : str
        In front of the overlay's name.

    Returns
    -------
    Timeline
    """
    with bar(f"simulate {title}{overlay.kind}", rounds, quiet=quiet) as advance:
        return simulate(
            overlay,
            rounds,
            sharing=config.sharing,
            queueing=config.queueing,
            observer=Observer(on_round=lambda k, now_s: advance(k, f"simulated {format_s(now_s)}")),
        )
