"""What really happens on the network, round by round: SimPy processes on shared links."""

from simulator.arc import FlowArc
from simulator.flows import simulate_flows
from simulator.maxmin import max_min_rates
from simulator.observer import Observer
from simulator.simulate import simulate
from simulator.timeline import Timeline

__all__ = ["FlowArc", "Observer", "Timeline", "max_min_rates", "simulate", "simulate_flows"]
