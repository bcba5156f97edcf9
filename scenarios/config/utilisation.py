"""Utilisation of the links by a simulated job."""

import numpy as np

from scenarios.config.simulation import SimulationConfig
from simulator.world.changes import CapacityChange
from simulator.world.dynamic_network import dynamic_network
from simulator.world.effects import effects_of
from topologies import Connectivity
from topologies.arrays import FloatArray


def utilisation(link_bits: FloatArray, mean_bps: FloatArray, end_s: float) -> FloatArray:
    """The job's own bits over those that each link direction could carry from the job's start to its end.

    This includes the first rounds, and the last ones, in which silos that have ended the job send nothing: the
    utilisation of a short job is lower than that of a long one.

    Parameters
    ----------
    link_bits : ndarray of shape (links,)
        Bits of the job's messages that crossed each link direction.
    mean_bps : ndarray of shape (links,)
        As `mean_capacity_bps` of the same time.
    end_s : float
        Simulated time.

    Returns
    -------
    ndarray of shape (links,)
        0 where no bit crossed the link, NaN where the capacity or the time is unknown.
    """
    if end_s == 0:
        return np.zeros(len(link_bits))
    # Divided by the time first: products of time and capacity could overflow.
    rate_bps = link_bits / end_s
    return np.divide(rate_bps, mean_bps, out=np.zeros(len(link_bits)), where=rate_bps != 0)


def mean_capacity_bps(graph: Connectivity, simulation: SimulationConfig, end_s: float) -> FloatArray:
    """Mean capacity of each link direction from the job's start to `end_s`.

    Parameters
    ----------
    graph : Connectivity
    simulation : SimulationConfig
    end_s : float
        With 0 the capacity is that of the start.

    Returns
    -------
    ndarray of shape (links,)

    Notes
    -----
    The capacity is the network's, or a trace's where there is one, and 0 while the link is down. Traffic of others is
    carried by the same capacity and takes nothing off. Time O(links + steps of all traces).
    """
    now_bps = np.array(graph.link_capacity_bps)
    if not simulation.events or end_s == 0:
        return now_bps
    effects = effects_of(simulation.simulator_events(seed=0), graph)
    changes = dynamic_network(effects, graph, (), traffic=False).changes
    mean_bps, since_s = np.zeros(len(now_bps)), np.zeros(len(now_bps))
    for change in () if changes is None else changes():
        if change.date_s >= end_s:
            break
        if isinstance(change, CapacityChange):
            link, date_s = change.link, change.date_s
            # None of a capacity that ends as the job starts: it may be infinite.
            if date_s > since_s[link]:
                mean_bps[link] += now_bps[link] * ((date_s - since_s[link]) / end_s)
            now_bps[link], since_s[link] = change.capacity_bps, date_s
    return mean_bps + now_bps * (1.0 - since_s / end_s)
