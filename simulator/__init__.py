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
from simulator.world.absences import Absence, Pause
from simulator.world.background import ConstantShare, OnOffFlow
from simulator.world.capacities import CapacityTrace
from simulator.world.changes import CapacityChange, Change, Changes, FlowChange, RouteChange
from simulator.world.failures import LinkFailure
from simulator.world.world import World

__all__ = [
    "Absence",
    "Block",
    "CapacityChange",
    "CapacityTrace",
    "Change",
    "Changes",
    "ComputeTimes",
    "Constant",
    "ConstantShare",
    "Empirical",
    "Exponential",
    "FlowArc",
    "FlowChange",
    "Job",
    "LinkFailure",
    "Lognormal",
    "Messages",
    "Observer",
    "OnOffFlow",
    "Pause",
    "RoundPlan",
    "RouteChange",
    "SteadyState",
    "Timeline",
    "Trace",
    "World",
    "make_job",
    "max_min_rates",
    "overlay_job",
    "simulate",
    "simulate_flows",
    "stream",
]
