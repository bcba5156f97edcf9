"""What happens around a simulated job, from a scenario's ``[simulation]`` table."""

from scenarios.config.simulation import SimulationConfig
from simulator import World


def world_around(config: SimulationConfig, *, seed: int) -> World | None:
    """World of a configuration.

    Parameters
    ----------
    config : SimulationConfig
    seed : int
        Of flows that come and go.

    Returns
    -------
    World or None
        None: nothing happens.
    """
    if not (config.background or config.capacity or config.failure or config.away):
        return None
    return World(
        background=[entry.entry(seed=seed) for entry in config.background],
        capacities=[entry.entry() for entry in config.capacity],
        failures=[entry.entry() for entry in config.failure],
        absences=[entry.entry() for entry in config.away],
    )
