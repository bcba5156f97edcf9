"""Underlays, overlays and their cycle times in closed form."""

from typing import TYPE_CHECKING

from topologies.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from topologies.closed_forms import ClosedForms
    from topologies.connectivity import AccessLinks, Connectivity, connectivity
    from topologies.designers import (
        DESIGNERS,
        PERIODIC_DESIGNERS,
        RANDOM_DESIGNERS,
        design,
        design_periodic,
        design_random,
    )
    from topologies.errors import InputError, MachineError, SilosimError, TrainingError
    from topologies.howard import CycleTime, cycle_time
    from topologies.maxplus import EventGraph, recurrence
    from topologies.networks.loading import load_underlay, published_underlays, shipped_underlays
    from topologies.overlay import Overlay, build_overlay
    from topologies.periodic_overlay import PeriodicOverlay, build_periodic
    from topologies.schedule import RandomOverlay, Schedule, make_schedule
    from topologies.state import State, state_of
    from topologies.underlay import Underlay, Variant
    from topologies.workload import Workload, workload_presets

__all__ = [
    "DESIGNERS",
    "PERIODIC_DESIGNERS",
    "RANDOM_DESIGNERS",
    "AccessLinks",
    "ClosedForms",
    "Connectivity",
    "CycleTime",
    "EventGraph",
    "InputError",
    "MachineError",
    "Overlay",
    "PeriodicOverlay",
    "RandomOverlay",
    "Schedule",
    "SilosimError",
    "State",
    "TrainingError",
    "Underlay",
    "Variant",
    "Workload",
    "build_overlay",
    "build_periodic",
    "connectivity",
    "cycle_time",
    "design",
    "design_periodic",
    "design_random",
    "load_underlay",
    "make_schedule",
    "published_underlays",
    "recurrence",
    "shipped_underlays",
    "state_of",
    "workload_presets",
]

__getattr__, __dir__ = lazy_exports(__name__)
