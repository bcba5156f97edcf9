"""Points of a study: closed forms of their overlays, simulations where asked, as rows of a tidy table."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from scenarios.config.network import NetworkConfig, build_network, with_access_of
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any, forms_of
from scenarios.config.scenario import Scenario, workload_of
from scenarios.report.closed_forms import form_fields, over_paper
from topologies import Connectivity, Overlay, RandomOverlay, SilosimError, Workload
from topologies.arrays import FloatArray
from topologies.compiled_designs import many_designs
from topologies.consensus import spectral_gap

T = TypeVar("T")
Row = dict[str, Any]
_KEPT = 64
"""Networks, and designs, that are kept for the next points."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Point:
    """A point that is to be computed.

    Attributes
    ----------
    identity : str
        Hash of its inputs.
    varied : mapping
        Columns of the keys that vary.
    scenario : Scenario
    """

    identity: str
    varied: Mapping[str, object]
    scenario: Scenario


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PointResult:
    """Rows of a point; one row with the error where there is one."""

    identity: str
    rows: Sequence[Row]


def compute_points(points: Sequence[Point], simulate: bool, compiled: bool = False) -> list[PointResult]:
    """Compute some points one after the other.

    Parameters
    ----------
    points : sequence of Point
    simulate : bool
        Whether each overlay is simulated with the point's ``[simulation]``.
    compiled : bool
        Whether overlays are designed by compiled code, see `topologies.compiled_designs.many_designs`.

    Returns
    -------
    list of PointResult
        In their order. An input error of one is its row.

    Notes
    -----
    Networks and designs are kept for the points that follow, so that an overlay that does not depend on what varies is
    designed once.
    """
    networks = _Networks()
    designs: _Kept[_Designed] = _Kept(_KEPT)
    results = []
    for point in points:
        try:
            with many_designs() if compiled else nullcontext():
                rows = _rows(point.scenario, networks, designs, simulate=simulate)
            error = ""
        except SilosimError as problem:
            rows, error = [{}], " ".join(str(problem).split())
        results.append(
            PointResult(
                identity=point.identity,
                rows=[{**point.varied, **row, "error": error, "point": point.identity} for row in rows],
            )
        )
    return results


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


class _Networks:
    """The networks used last. Those that differ by access links alone have one routed core."""

    def __init__(self) -> None:
        self._cores: _Kept[Connectivity] = _Kept(_KEPT)
        self._all: _Kept[Connectivity] = _Kept(_KEPT)

    def of(self, config: NetworkConfig) -> Connectivity:
        """The network of a configuration."""
        return self._all.of(_text(config), lambda: with_access_of(config, self._core(config.without_access)))

    def _core(self, config: NetworkConfig) -> Connectivity:
        return self._cores.of(_text(config), lambda: build_network(config))


def _text(config: NetworkConfig) -> str:
    """A key of a configuration."""
    return json.dumps(asdict(config), sort_keys=True)


@dataclass(frozen=True, slots=True)
class _Designed:
    """An overlay with what its rows say of it."""

    overlay: Overlay | RandomOverlay
    fields: Row


def _rows(scenario: Scenario, networks: _Networks, designs: _Kept[_Designed], *, simulate: bool) -> list[Row]:
    """Rows of one point, one for each overlay."""
    network, graph = _text(scenario.network), networks.of(scenario.network)
    work = workload_of(scenario, graph)
    load = f"{work.model_bits!r} {work.round_compute_s(graph.silos).tolist()!r}"
    rows = []
    for config in scenario.overlays.overlays:
        seed = scenario.seed if config.seed is None else config.seed
        key = json.dumps(
            [network, load, asdict(config), scenario.overlays.consensus, seed if config.takes_seed else None],
            sort_keys=True,
        )
        designed = designs.of(key, lambda config=config: _designed(scenario, graph, work, config))  # type: ignore[misc]
        row = _inputs(scenario, graph, work, config) | designed.fields
        if simulate:
            row |= _simulated(scenario, graph, designed)
        rows.append(row)
    return rows


def _designed(scenario: Scenario, graph: Connectivity, work: Workload, config: OverlayConfig) -> _Designed:
    """One overlay of a point."""
    overlay = design_any(config, graph, work, seed=scenario.seed, consensus=scenario.overlays.consensus)
    forms = forms_of(overlay, scenario.seed)
    fields: Row = {"arcs": None, "max_degree": None, **form_fields(forms), "spectral_gap": None, "hub": None}
    if isinstance(overlay, Overlay):
        fields |= {
            "arcs": overlay.arcs,
            "max_degree": overlay.max_degree,
            "spectral_gap": spectral_gap(overlay.consensus),
            "hub": None if overlay.hub is None else graph.labels[overlay.hub],
        }
    fields["busiest_link"] = None if forms.busiest_link is None else graph.link_name(forms.busiest_link)
    return _Designed(overlay, fields)


def _inputs(scenario: Scenario, graph: Connectivity, work: Workload, config: OverlayConfig) -> Row:
    """Columns of the inputs."""
    return {
        "network": graph.underlay.name,
        "silos": graph.silos,
        "access_up_bps": _one(graph.up_bps),
        "access_down_bps": _one(graph.down_bps),
        "core_bps": _one(graph.core_bps),
        "model_bits": work.model_bits,
        "compute_s": _one(work.round_compute_s(graph.silos) / work.local_steps),
        "local_steps": work.local_steps,
        "seed": scenario.seed if config.seed is None else config.seed,
        "overlay": config.name,
        "kind": config.kind or "file",
        "options": json.dumps(dict(config.options), ensure_ascii=False) if config.options else "",
    }


def _one(values: FloatArray) -> float | None:
    """The value of all, None where they differ."""
    return float(values[0]) if len(values) and (values == values[0]).all() else None


def _simulated(scenario: Scenario, graph: Connectivity, designed: _Designed) -> Row:
    """Columns of a simulation."""
    # Here since a study of closed forms does not wait for it.
    from scenarios.simulation.runner import check_events, job_of, run_job

    settings = scenario.simulation
    check_events(settings, graph, rounds=settings.rounds)
    job = job_of(designed.overlay, settings, rounds=settings.rounds, seed=scenario.seed)
    outcome = run_job(job, designed.overlay.kind, until_ci=settings.until_ci, engine=settings.engine)
    simulated_s = outcome.steady.cycle_time_s
    return {
        "sharing": settings.sharing,
        "queueing": settings.queueing,
        "engine": outcome.engine,
        "rounds": outcome.rounds,
        "simulated_s": simulated_s,
        "half_width_s": outcome.half_width_s,
        "is_exact": outcome.steady.is_exact,
        "over_paper": over_paper(simulated_s, designed.fields["paper_s"]),
    }
