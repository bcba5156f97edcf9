"""Caption of a simulation: one or two lines above its table."""

from scenarios.config.compute_times import computing_text
from scenarios.config.simulation import SimulationConfig
from scenarios.report.tables import note_lines


def simulation_caption(simulation: SimulationConfig, sharing: str, *, seed: int) -> str:
    """Sharing, queueing, computing times, events and the end of a simulation.

    Parameters
    ----------
    simulation : SimulationConfig
    sharing : str
        As text; a validation simulates with two sharing models.
    seed : int
        Of everything random.

    Returns
    -------
    str
        At most 80 columns wide.
    """
    parts = [f"sharing {sharing}, queueing {simulation.queueing}"]
    parts.append(f"computing {computing_text(simulation.compute, seed=seed)}")
    if simulation.tables:
        parts.append(f"with {', '.join(simulation.tables)}")
    if simulation.until_ci is not None:
        parts.append(f"until +- {simulation.until_ci}")
    return note_lines("; ".join(parts))
