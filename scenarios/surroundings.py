"""What happens around a simulated job, from a scenario's ``[simulation]`` table."""

from math import inf

import numpy as np

from scenarios.simulation_config import (
    AwayConfig,
    BackgroundConfig,
    CapacityConfig,
    FailureConfig,
    SimulationConfig,
)
from scenarios.units import parse_quantity, parse_share
from simulator import Absence, CapacityTrace, ConstantShare, LinkFailure, OnOffFlow, Pause, World


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

    Raises
    ------
    InputError
        If a value breaks a rule of the simulator.
    """
    if not (config.background or config.capacity or config.failure or config.away):
        return None
    return World(
        background=[_background(entry, seed) for entry in config.background],
        capacities=[_capacity(entry) for entry in config.capacity],
        failures=[_failure(entry) for entry in config.failure],
        absences=[_away(entry) for entry in config.away],
    )


def _background(entry: BackgroundConfig, seed: int) -> ConstantShare | OnOffFlow:
    if entry.share is not None:
        return ConstantShare(share=parse_share("share", entry.share), link=entry.link)
    return OnOffFlow(
        peak_bps=parse_quantity("peak", entry.peak, "bit/s"),
        mean_on_s=parse_quantity("mean_on", entry.mean_on, "s"),
        mean_off_s=parse_quantity("mean_off", entry.mean_off, "s"),
        seed=seed,
        link=entry.link,
    )


def _capacity(entry: CapacityConfig) -> CapacityTrace:
    return CapacityTrace(
        link=entry.link,
        date_s=np.array([parse_quantity("at", text, "s", zero=True) for text in entry.at]),
        capacity_bps=np.array(
            [parse_quantity("capacity", text, "bit/s", zero=True) for text in entry.capacity]
        ),
        period_s=None
        if entry.repeat_every is None
        else parse_quantity("repeat_every", entry.repeat_every, "s"),
        job_start_s=parse_quantity("job_starts_at", entry.job_starts_at, "s", zero=True),
    )


def _failure(entry: FailureConfig) -> LinkFailure:
    return LinkFailure(
        link=entry.link,
        from_s=parse_quantity("from", entry.from_, "s", zero=True),
        until_s=inf if entry.until is None else parse_quantity("until", entry.until, "s"),
    )


def _away(entry: AwayConfig) -> Absence | Pause:
    if entry.rounds is not None:
        return Absence(silo=entry.silo, first_round=entry.from_round, rounds=entry.rounds)
    duration_s = parse_quantity("duration", entry.duration, "s", zero=True)
    return Pause(silo=entry.silo, first_round=entry.from_round, duration_s=duration_s)
