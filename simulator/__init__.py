"""Simulation of overlays round by round on shared links: two engines, sharing models, events and statistics."""

from typing import TYPE_CHECKING

from topologies.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from simulator.arc import FlowArc
    from simulator.block import Block, Messages
    from simulator.compute_times import ComputeTimes, Constant, Trace
    from simulator.flows import simulate_flows
    from simulator.job import Job, make_job
    from simulator.observer import Observer
    from simulator.overlay_jobs import overlay_job
    from simulator.progressive_filling import max_min_rates
    from simulator.random_compute_times import Empirical, Exponential, Lognormal
    from simulator.rounds import RoundPlan
    from simulator.sharing import SharingModel
    from simulator.simulate import simulate
    from simulator.statistics.steady_state import SteadyState
    from simulator.stream import stream
    from simulator.timeline import Timeline
    from simulator.world.absences import Absence, Pause
    from simulator.world.background import ConstantShare, OnOffFlow
    from simulator.world.capacities import CapacityTrace
    from simulator.world.changes import CapacityChange, Change, Changes, FlowChange, RouteChange
    from simulator.world.effects import Effects, Event
    from simulator.world.failures import LinkFailure
    from simulator.world.routed_demands import RoutedDemands

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
    "Effects",
    "Empirical",
    "Event",
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
    "RoutedDemands",
    "SharingModel",
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

__getattr__, __dir__ = lazy_exports(__name__)
