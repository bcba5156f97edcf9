"""What really happens on the network, round by round: SimPy processes on shared links."""

from simulator.arc import FlowArc
from simulator.block import Block, Messages
from simulator.computing import ComputeTimes, Constant, Trace
from simulator.drawn import Empirical, Exponential, Lognormal
from simulator.flows import simulate_flows
from simulator.job import Job, make_job
from simulator.maxmin import max_min_rates
from simulator.observer import Observer
from simulator.overlays import overlay_job
from simulator.rounds import RoundPlan
from simulator.simulate import simulate
from simulator.steady import SteadyState
from simulator.stream import stream
from simulator.timeline import Timeline

__all__ = [
    "Block",
    "ComputeTimes",
    "Constant",
    "Empirical",
    "Exponential",
    "FlowArc",
    "Job",
    "Lognormal",
    "Messages",
    "Observer",
    "RoundPlan",
    "SteadyState",
    "Timeline",
    "Trace",
    "make_job",
    "max_min_rates",
    "overlay_job",
    "simulate",
    "simulate_flows",
    "stream",
]
