"""Points of a study: closed forms of their overlays, simulations where asked, as rows of a tidy table."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from threading import get_ident
from typing import Any, TypeVar

import numpy as np

from scenarios.config.label_shares import PARTITION_KEYS, PartitionLabels
from scenarios.config.network import NetworkConfig, build_network, with_access_of
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import AnyOverlay, design_any, expected_gap, forms_of
from scenarios.config.quantities import exact_text
from scenarios.config.scenario import Scenario, workload_of
from scenarios.config.simulation import SimulationConfig
from scenarios.config.study import column_of, split_key
from scenarios.report.closed_forms import form_fields, over_paper
from scenarios.runfile.study_table import RANGES
from scenarios.runtime.signals import check_interrupts
from scenarios.simulation.runner import Outcome, check_simulation, job_of, run_job
from scenarios.studies.periodic_rows import gap_per_round
from topologies import Connectivity, Overlay, PeriodicOverlay, SilosimError, Workload
from topologies.arrays import FloatArray
from topologies.compiled_designs import many_designs
from topologies.consensus import spectral_gap
from topologies.designers.star import default_hub
from topologies.input_limits import MOST_MIXING_SILOS

T = TypeVar("T")
Row = dict[str, Any]
_Computes = dict[str, tuple[bool, ...]]
_KEPT = 64
"""Networks, partitions and designs, that are kept for the next points."""
_STUDIES = 8
"""Studies, or threads of one, whose networks and designs a process has at hand."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Point:
    """A point that is to be computed.

    Attributes
    ----------
    identity : str
        Hash of its inputs.
    varied : mapping
        Columns of the keys that vary.
    unsaid : mapping from str to str
        Columns of keys that vary elsewhere and of which the scenario says nothing, and these keys: what the network or
        the workload has is their value.
    scenario : Scenario
    rows : int
        Its overlays.
    replay : ReplayOf or None
        The run that the point replays.
    text : str
        The scenario as TOML, of a point that is trained.
    """

    identity: str
    varied: Mapping[str, object]
    scenario: Scenario
    rows: int
    replay: "ReplayOf | None" = None
    unsaid: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayOf:
    """What a point replays.

    Attributes
    ----------
    path : Path
        The file of the run.
    network_keys : frozenset of str
        Keys of ``[network]`` that the study states; see `scenarios.studies.relocation.relocate`.
    """

    path: Path
    network_keys: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PointResult:
    """Rows of a point; where it cannot be computed, one row with the error alone.

    Attributes
    ----------
    identity : str
    rows : sequence of dict
    computes : mapping from str to tuple of bool
        Whether silos compute in each state, of overlays where they do not in all.
    """

    identity: str
    rows: Sequence[Row]
    computes: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)


def compute_points(
    points: Sequence[Point], study: str = "", *, simulate: bool, compiled: bool
) -> list[PointResult]:
    """Compute some points one after the other.

    Parameters
    ----------
    points : sequence of Point
    study : str
        Name of the study in whose next call what is made here is at hand; empty for none.
    simulate : bool
        Whether each overlay is simulated with the point's ``[simulation]``.
    compiled : bool
        Whether overlays are designed by compiled code, see `topologies.compiled_designs.many_designs`.

    Returns
    -------
    list of PointResult
        In their order. An overlay that cannot be designed or simulated is a row with its error.

    Notes
    -----
    Networks and designs are kept for the points that follow, so that an overlay that does not depend on what varies is
    designed once.
    """
    kept = _kept_for(study, get_ident()) if study else _nothing_kept()
    results = []
    for point in points:
        computes: _Computes = {}
        try:
            with many_designs() if compiled else nullcontext():
                rows, computes = _rows(point, kept, simulate=simulate)
            rows = with_speedup(rows)
        except Exception as problem:
            rows = [{"error": error_text(problem)}]
        results.append(replace(result_of(point, rows), computes=computes))
    return results


def result_of(point: Point, rows: Sequence[Row]) -> PointResult:
    """Rows of a point with what varies."""
    return PointResult(
        identity=point.identity,
        # What varies comes first, and its value stays where a result has the same name.
        rows=[
            {**point.varied, **row, **point.varied, "error": row.get("error", ""), "point": point.identity}
            for row in rows
        ],
    )


@lru_cache(maxsize=_STUDIES)
def _kept_for(study: str, thread: int) -> "_Memory":  # noqa: ARG001
    """Networks, partitions and designs of a study in this process; another study reads its files anew."""
    return _nothing_kept()


def _nothing_kept() -> "_Memory":
    return _Memory(Networks(), _Partitions(), _Kept(_KEPT))


class _Kept(dict[str, T]):
    """The values used last, by key."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def of(self, key: str, make: Callable[[], T]) -> T:
        """The value of a key, made where it is not kept."""
        self[key] = self.pop(key) if key in self else make()
        if len(self) > self._most:
            del self[next(iter(self))]
        return self[key]


class Networks:
    """The networks used last. Those that differ by access links alone have one routed core."""

    def __init__(self) -> None:
        self._cores: _Kept[Connectivity] = _Kept(_KEPT)
        self._all: _Kept[Connectivity] = _Kept(_KEPT)

    def of(self, config: NetworkConfig) -> Connectivity:
        """The network of a configuration."""
        return self._all.of(repr(config), lambda: with_access_of(config, self._core(config.without_access)))

    def _core(self, config: NetworkConfig) -> Connectivity:
        return self._cores.of(repr(config), lambda: build_network(config))


class _Partitions:
    """The partitions used last, whose labels are counted once."""

    def __init__(self) -> None:
        self._all: _Kept[PartitionLabels] = _Kept(_KEPT)

    def of(self, scenario: Scenario, graph: Connectivity) -> tuple[str, PartitionLabels | None]:
        """The partition of a scenario's training, None without one, and a text that tells it from others."""
        training = scenario.training
        if training is None:
            return "", None
        told = {name: getattr(training, name) for name in PARTITION_KEYS}
        key = f"{scenario.network.without_access!r} {told!r} {scenario.seed}"
        made = self._all.of(key, lambda: PartitionLabels(graph=graph, training=training, seed=scenario.seed))
        return key, made


@dataclass(frozen=True, slots=True)
class _Designed:
    """An overlay with what its rows say of it."""

    overlay: AnyOverlay
    fields: Row


@dataclass(frozen=True, slots=True)
class _Memory:
    """What is kept for the points that follow."""

    networks: Networks
    partitions: _Partitions
    designs: _Kept[_Designed]


def _rows(point: Point, kept: _Memory, *, simulate: bool) -> tuple[list[Row], _Computes]:
    """Rows of one point, one for each overlay, and where their silos compute, as `PointResult` has both."""
    scenario = point.scenario
    network, graph = repr(scenario.network), kept.networks.of(scenario.network)
    partition, shares = kept.partitions.of(scenario, graph)
    work = workload_of(scenario, graph)
    steps = np.asarray(work.local_steps).tolist()
    times_s = work.round_compute_s(graph.silos).tolist()
    load = f"{work.model_bits!r} {steps} {work.participation} {work.overlap!r} {times_s!r}"
    unsaid = unsaid_fields(point.unsaid, graph, work)
    rows: list[Row] = []
    computes: _Computes = {}
    for config in scenario.overlays.overlays:
        seed = scenario.seed if config.seed is None else config.seed
        own_seed = seed if config.takes_seed else None
        key = f"{network} {load} {config!r} {scenario.overlays.consensus} {own_seed}"
        if config.takes_label_shares:
            key += f" {partition}"
        row = unsaid | input_fields(scenario, graph, work, config)
        try:
            make = partial(_designed, scenario, graph, work, config, shares)
            designed = kept.designs.of(key, make)
            row |= designed.fields
            overlay = designed.overlay
            if isinstance(overlay, PeriodicOverlay) and not all(overlay.computes):
                computes[config.name] = overlay.computes
            if simulate:
                row |= _simulated(scenario, graph, designed)
        except Exception as problem:
            row["error"] = error_text(problem)
        rows.append(row)
    return rows, computes


def _designed(
    scenario: Scenario,
    graph: Connectivity,
    work: Workload,
    config: OverlayConfig,
    shares: PartitionLabels | None,
) -> _Designed:
    """One overlay of a point."""
    overlay = design_any(
        config,
        graph,
        work,
        seed=scenario.seed,
        consensus=scenario.overlays.consensus,
        label_shares=shares,
    )
    return _Designed(overlay, design_fields(overlay, scenario.seed))


def design_fields(overlay: AnyOverlay, seed: int) -> Row:
    """Columns of an overlay and its closed forms; of a randomized one the seed is that of the rounds that are drawn."""
    graph, forms = overlay.graph, forms_of(overlay, seed)
    fields: Row = {"arcs": None, "max_degree": None, **form_fields(forms), "spectral_gap": None, "hub": None}
    if isinstance(overlay, Overlay):
        fields |= {
            "arcs": overlay.arcs,
            "max_degree": overlay.max_degree,
            "spectral_gap": spectral_gap(overlay.consensus) if graph.silos <= MOST_MIXING_SILOS else None,
            "hub": None if overlay.hub is None else graph.labels[overlay.hub],
        }
    elif isinstance(overlay, PeriodicOverlay):
        fields |= {
            "arcs": len(overlay.numbers.source),
            "max_degree": overlay.max_degree,
            "spectral_gap": gap_per_round(overlay),
        }
    else:
        fields["spectral_gap"] = expected_gap(overlay)
    fields["busiest_link"] = None if forms.busiest_link is None else graph.link_name(forms.busiest_link)
    return fields


def input_fields(scenario: Scenario, graph: Connectivity, work: Workload, config: OverlayConfig) -> Row:
    """Columns of the inputs; one in which silos or links differ is None, and its ends are in the column `RANGES`."""
    options = dict(config.options) | ({} if config.seed is None else {"seed": config.seed})
    several = {
        "access_up_bps": graph.up_bps,
        "access_down_bps": graph.down_bps,
        "core_bps": graph.core_bps,
        "compute_s": np.broadcast_to(work.compute_s, graph.silos),
    }
    one = {name: _one(values) for name, values in several.items()}
    ranges = {
        name: [float(values.min()), float(values.max())]
        for name, values in several.items()
        if one[name] is None and len(values)
    }
    if work.common_steps is None:
        ranges["local_steps"] = [float(np.min(work.local_steps)), float(np.max(work.local_steps))]
    return {
        "network": graph.underlay.name,
        "silos": graph.silos,
        **one,
        "model_bits": work.model_bits,
        "local_steps": work.common_steps,
        RANGES: json.dumps(ranges) if ranges else "",
        "seed": scenario.seed,
        "overlay": config.name,
        "kind": config.kind or "file",
        "options": json.dumps(options, ensure_ascii=False) if options else "",
    }


def _one(values: FloatArray) -> float | None:
    """The value of all, None where they differ."""
    return float(values[0]) if len(values) and (values == values[0]).all() else None


def unsaid_fields(unsaid: Mapping[str, str], graph: Connectivity, work: Workload) -> Row:
    """Columns of keys of which the scenario says nothing (`Point.unsaid`), as the network and the workload have them.

    A column with a unit in its name has the number, of a capacity that of both directions, and None where these or the
    silos differ; one without has a text with the unit, as its other values are texts. Columns that are those of other
    inputs or of results, such as ``core_bps``, are not among them; a key that nothing has stays None.
    """
    return {
        column: _unsaid(split_key(key), graph, work, as_text=column == column_of(key, "", "")[0])
        for column, key in unsaid.items()
    }


def _unsaid(
    path: Sequence[str | int], graph: Connectivity, work: Workload, *, as_text: bool
) -> float | str | None:
    """The value of one such key."""
    if path == ("workload", "model_size"):
        return exact_text(work.model_bits, "bit") if as_text else work.model_bits
    if path == ("network", "access"):
        return _capacity(graph.up_bps, graph.down_bps, as_text=as_text)
    if path == ("network", "access_hub"):
        hub = default_hub(graph)
        return _capacity(graph.up_bps[[hub]], graph.down_bps[[hub]], as_text=as_text)
    if len(path) == 3 and str(path[2]) in graph.labels:
        silo = graph.labels.index(str(path[2]))
        if path[:2] == ("network", "access_at"):
            return _capacity(graph.up_bps[[silo]], graph.down_bps[[silo]], as_text=as_text)
        if path[:2] == ("workload", "compute_at"):
            own_s = float(np.broadcast_to(work.compute_s, graph.silos)[silo])
            return exact_text(own_s, "s") if as_text else own_s
        if path[:2] == ("workload", "local_steps_at"):
            return int(np.broadcast_to(work.local_steps, graph.silos)[silo])
    return None


def _capacity(up_bps: FloatArray, down_bps: FloatArray, *, as_text: bool) -> float | str | None:
    """The access capacity of some silos, in both directions; None where it differs and there is no text for that."""
    both = _one(np.concatenate([up_bps, down_bps]))
    if not as_text:
        return both
    if both is not None:
        return exact_text(both, "bps")
    up, down = _one(up_bps), _one(down_bps)
    return (
        None if up is None or down is None else f"{exact_text(up, 'bps')} up, {exact_text(down, 'bps')} down"
    )


def _simulated(scenario: Scenario, graph: Connectivity, designed: _Designed) -> Row:
    """Columns of a simulation."""
    settings, work = scenario.simulation, designed.overlay.work
    check_simulation(settings, graph, work, seed=scenario.seed, rounds=settings.rounds)
    job = job_of(designed.overlay, settings, rounds=settings.rounds, seed=scenario.seed)
    outcome = run_job(
        job,
        designed.overlay.kind,
        title=None,
        until_ci=settings.until_ci,
        engine=settings.engine,
        cycle_time_only=True,
    )
    return simulation_fields(settings, outcome, designed.fields["paper_s"])


def simulation_fields(settings: SimulationConfig, outcome: Outcome, paper_s: float) -> Row:
    """Columns of a simulation, beside a closed form."""
    simulated_s = outcome.steady.cycle_time_s
    return {
        "sharing": settings.sharing,
        "queueing": settings.queueing,
        "engine": outcome.engine,
        "rounds": outcome.rounds,
        "simulated_s": simulated_s,
        "simulated_half_width_s": outcome.half_width_s,
        "simulated_is_exact": outcome.steady.is_exact,
        "over_paper": over_paper(simulated_s, paper_s),
    }


_DURATIONS = ("time_to_target_s", "simulated_s", "paper_s")


def with_speedup(rows: Sequence[Row]) -> list[Row]:
    """Rows of a point with the STAR's duration divided by each overlay's.

    That to the target where a run is replayed, else the simulated cycle time where there is one, else the paper's; None
    where either is missing. The STAR is the first overlay with a hub.
    """
    star = next((row for row in rows if row.get("hub") is not None), None)
    key = next((key for key in _DURATIONS if any(key in row for row in rows)), None)
    whole = None if star is None or key is None else star.get(key)
    return [
        row | {"speedup": whole / own if whole is not None and key and (own := row.get(key)) else None}
        for row in rows
    ]


def error_text(problem: Exception) -> str:
    """An error in one line; what is none of silosim's is called internal.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, which imports in C may turn into an error of their own.
    """
    check_interrupts()
    kind = "" if isinstance(problem, SilosimError) else f"internal error: {type(problem).__name__}: "
    return " ".join(f"{kind}{problem}".split())
