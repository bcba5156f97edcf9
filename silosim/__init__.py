"""Design, simulate, train and replay cross-silo learning overlays from Python.

Each name is imported from its package when it is first used, so that ``import silosim`` takes no time.

Examples
--------
>>> import silosim
>>> links = silosim.AccessLinks(up_bps=10e9, down_bps=10e9)
>>> graph = silosim.connectivity(silosim.load_underlay("gaia"), access=links)
>>> work = silosim.Workload.preset("inaturalist", local_steps=1)
>>> ring = silosim.design("ring", graph, work)
>>> timeline = silosim.simulate(ring, rounds=50)
>>> timeline.round_start_s.shape
(51, 11)
>>> f"{ring.closed_forms.paper_s:.3f} s, simulated {timeline.cycle_time_s:.2f} s"
'0.956 s, simulated 3.59 s'
"""

from typing import TYPE_CHECKING

from topologies.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.api import (
        convert_underlay,
        describe_underlay,
        draw_underlay,
        export,
        import_metrics,
        open_run,
        open_study,
        plot_study,
        replay,
        replay_times,
        report,
        run,
        run_seeds,
        study,
        sweep,
        timeline,
        upgrade,
        validate,
    )
    from scenarios.config.network import NetworkConfig
    from scenarios.report.tables import Table
    from scenarios.runfile.reader import OverlayRecord, RunRecord, SimulationRecord
    from scenarios.studies.run_summary import run_summary
    from scenarios.studies.underlay import UnderlayFacts
    from simulator import Timeline, simulate
    from topologies import (
        DESIGNERS,
        PERIODIC_DESIGNERS,
        RANDOM_DESIGNERS,
        AccessLinks,
        Connectivity,
        InputError,
        MachineError,
        Overlay,
        PeriodicOverlay,
        RandomOverlay,
        Schedule,
        SilosimError,
        State,
        TrainingError,
        Underlay,
        Workload,
        build_overlay,
        build_periodic,
        connectivity,
        design,
        design_periodic,
        design_random,
        load_underlay,
        make_schedule,
        shipped_underlays,
        state_of,
        workload_presets,
    )

__all__ = [
    "DESIGNERS",
    "PERIODIC_DESIGNERS",
    "RANDOM_DESIGNERS",
    "AccessLinks",
    "Connectivity",
    "InputError",
    "MachineError",
    "NetworkConfig",
    "Overlay",
    "OverlayRecord",
    "PeriodicOverlay",
    "RandomOverlay",
    "RunRecord",
    "Schedule",
    "SilosimError",
    "SimulationRecord",
    "State",
    "Table",
    "Timeline",
    "TrainingError",
    "Underlay",
    "UnderlayFacts",
    "Workload",
    "build_overlay",
    "build_periodic",
    "connectivity",
    "convert_underlay",
    "describe_underlay",
    "design",
    "design_periodic",
    "design_random",
    "draw_underlay",
    "export",
    "import_metrics",
    "load_underlay",
    "make_schedule",
    "open_run",
    "open_study",
    "plot_study",
    "replay",
    "replay_times",
    "report",
    "run",
    "run_seeds",
    "run_summary",
    "shipped_underlays",
    "simulate",
    "state_of",
    "study",
    "sweep",
    "timeline",
    "upgrade",
    "validate",
    "workload_presets",
]
__getattr__, __dir__ = lazy_exports(__name__)
