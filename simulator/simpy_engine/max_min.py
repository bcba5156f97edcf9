"""Sharing model `maxmin`: max-min fair rates over all link directions, also where events change these."""

from simulator.sharing import SharingModel
from simulator.simpy_engine.changing import ChangingNetwork
from simulator.simpy_engine.fluid import FluidNetwork
from simulator.simpy_engine.network import NetworkSetup


def _network(setup: NetworkSetup) -> FluidNetwork:
    return FluidNetwork(setup) if setup.job.changes is None else ChangingNetwork(setup)


MAX_MIN = SharingModel(name="maxmin", network=_network, compiled="maxmin", can_change=True)
