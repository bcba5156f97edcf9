"""Everything that the page of a run shows, computed from its file."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scenarios.config.place_text import place_text
from scenarios.config.quantities import format_s
from scenarios.config.scenario import RecordedScenario, recorded_scenario
from scenarios.pages.answer import Compared
from scenarios.pages.provenance import file_digest, input_digests
from scenarios.pages.recorded_graph import recorded_graph
from scenarios.report.tables import Table
from scenarios.runfile.origin import recorded_origin
from scenarios.runfile.reader import OverlayRecord, RunRecord, open_file, read_run
from scenarios.runfile.run_tables import link_usage
from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts
from scenarios.studies.explain import circuit_table, further_text, loads_text
from scenarios.studies.run_summary import summary_of
from simulator.computing_rounds import computing_before
from topologies import Connectivity, InputError, Overlay, build_overlay
from topologies.analysis import (
    AccessForms,
    UpgradeSearch,
    UpgradeTerms,
    access_forms,
    explain,
    explanation_sentences,
    upgrade_links,
)
from topologies.arrays import FloatArray
from topologies.slow_start import rates_decide_restarts

LOWEST_BPS, HIGHEST_BPS = 1e6, 1e11
"""Access capacities that the page goes through at least."""
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_MOST_ARCS = 4000
"""Arcs of an overlay up to which its sensitivities are computed, which takes a cycle time for each."""
_MOST_UPGRADES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class SingleUpgrade:
    """A link that lowers the cycle time of an overlay alone with twice its capacity, by the larger of paper and load.

    Attributes
    ----------
    name : str
    cycle_time_s, gain_s : float
    """

    name: str
    cycle_time_s: float
    gain_s: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OverlayFacts:
    """An overlay of a run.

    Attributes
    ----------
    recorded : OverlayRecord
    overlay : Overlay or None
        None of a randomized one, and of one that this version computes otherwise than the run's.
    forms : AccessForms or None
        Likewise.
    models : array of float, shape (link directions,)
        Models of a round in which silos compute on each: what the simulation carried, a mean over its rounds, and what
        the arcs' routes say where nothing was simulated; NaN of a randomized overlay there.
    mean_bps : array of float, shape (link directions,)
        Capacities in the simulation, with its events; NaN where these are unknown.
    utilisation : array of float, shape (link directions,)
        In the simulation; NaN where that is unknown.
    explanation : tuple of str
        Sentences, as ``silosim explain`` has them.
    circuit : Table or None
        The critical circuit arc by arc, likewise.
    upgrades : tuple of SingleUpgrade
        The best first.
    why_not : str
        Why there are no forms or sensitivities; empty where there are.
    """

    recorded: OverlayRecord
    overlay: Overlay | None
    forms: AccessForms | None
    models: FloatArray
    mean_bps: FloatArray
    utilisation: FloatArray
    explanation: tuple[str, ...]
    circuit: Table | None
    upgrades: tuple[SingleUpgrade, ...]
    why_not: str

    @property
    def kind(self) -> str:
        """Its name."""
        return self.recorded.kind


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RunFacts:
    """A run.

    Attributes
    ----------
    path : Path
    record : RunRecord
    scenario : RecordedScenario
    graph : Connectivity
    table : Table
        As ``silosim show`` prints it.
    overlays : tuple of OverlayFacts
    own_bps : float or None
        The capacity of all access links; None where they differ.
    capacities_bps : tuple of float
        That the page goes through, ascending.
    start : int
        Place among them where it starts: the run's own capacity, where all links have one.
    origin : mapping from str to str
        Version, seed and hashes.
    """

    path: Path
    record: RunRecord
    scenario: RecordedScenario
    graph: Connectivity
    table: Table
    overlays: tuple[OverlayFacts, ...]
    own_bps: float | None
    capacities_bps: tuple[float, ...]
    start: int
    origin: Mapping[str, str]

    @property
    def compared(self) -> Compared:
        """What the answer is made of."""
        overlays = self.record.overlays
        return Compared(
            rows=self.table.rows,
            hubs=[each.kind for each in overlays if each.hub is not None],
            place=place_text(self.record.underlay, self.graph),
            target_accuracy=self.scenario.target_accuracy,
            is_trained=any(each.history for each in overlays),
            cut_trainings=[each.kind for each in overlays if not each.training_is_whole],
            is_imported=self.scenario.is_imported,
            events=self.scenario.events,
        )


def run_facts(path: Path) -> RunFacts:
    """Read a run and compute what its page shows.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InputError
        As `read_run`.

    Notes
    -----
    Time O(arcs of the critical circuit) cycle times of each overlay, and that of reading the file once.
    """
    record = read_run(path)
    graph = recorded_graph(path, record.network, record.underlay)
    own_bps = _one_capacity(graph)
    capacities = capacity_steps(own_bps)
    usage = _usage(record)
    overlays = []
    with bar("report", len(record.overlays)) as advance:
        for done, recorded in enumerate(record.overlays):
            check_interrupts()
            advance(done, recorded.kind)
            overlays.append(_overlay_facts(record, recorded, graph, capacities, usage.get(recorded.kind)))
    return RunFacts(
        path=path,
        record=record,
        scenario=recorded_scenario(record.scenario),
        graph=graph,
        table=summary_of(path, record),
        overlays=tuple(overlays),
        own_bps=own_bps,
        capacities_bps=capacities,
        start=_start(graph, own_bps, capacities),
        origin=_origin(path),
    )


def capacity_steps(own_bps: float | None) -> tuple[float, ...]:
    """Access capacities that the page goes through: round ones over at least five decades, and the run's own."""
    finite = own_bps if own_bps is not None and np.isfinite(own_bps) else None
    low = LOWEST_BPS if finite is None else min(LOWEST_BPS, 10 ** np.floor(np.log10(finite) - 1))
    high = HIGHEST_BPS if finite is None else max(HIGHEST_BPS, 10 ** np.ceil(np.log10(finite) + 1))
    decades = range(round(np.log10(low)), round(np.log10(high)))
    steps = {float(f"{step}e{decade}") for decade in decades for step in _STEPS} | {float(high)}
    return tuple(sorted(steps if finite is None else steps | {finite}))


def _one_capacity(graph: Connectivity) -> float | None:
    """The capacity of all access links; None where they differ."""
    every = np.concatenate((graph.up_bps, graph.down_bps))
    return float(every[0]) if (every == every[0]).all() else None


def _start(graph: Connectivity, own_bps: float | None, capacities: tuple[float, ...]) -> int:
    """The run's own capacity, else the one nearest to the median of its links; the highest where that is infinite."""
    middle = float(np.median(np.minimum(graph.up_bps, graph.down_bps))) if own_bps is None else own_bps
    if not np.isfinite(middle):
        return len(capacities) - 1
    return int(np.argmin(np.abs(np.log(np.divide(capacities, middle)))))


def _usage(record: RunRecord) -> dict[str, tuple[FloatArray, FloatArray, FloatArray]]:
    """What `link_usage` has of each overlay that was simulated."""
    if record.path is None:
        return {}
    with open_file(record.path) as file:
        return {
            overlay.kind: link_usage(file, record, overlay)
            for overlay in record.overlays
            if overlay.simulation.rounds
        }


def _overlay_facts(
    record: RunRecord,
    recorded: OverlayRecord,
    graph: Connectivity,
    capacities: tuple[float, ...],
    usage: tuple[FloatArray, FloatArray, FloatArray] | None,
) -> OverlayFacts:
    """One overlay."""
    directions = len(graph.link_capacity_bps)
    models, mean_bps, used = (np.full(directions, np.nan) for _ in range(3))
    sent = record.work.model_bits * computing_before(recorded.computes, recorded.simulation.rounds)
    overlay, why_not = _built(record, recorded, graph)
    if usage is not None:
        bits, mean_bps, used = usage
        models = bits / sent if sent > 0 else models
    elif overlay is not None:
        models = graph.crossings(overlay.source, overlay.target)
    if overlay is None:
        return OverlayFacts(
            recorded=recorded,
            overlay=None,
            forms=None,
            models=models,
            mean_bps=mean_bps,
            utilisation=used,
            explanation=(),
            circuit=None,
            upgrades=(),
            why_not=why_not,
        )
    is_large = overlay.arcs > _MOST_ARCS
    explained = None if is_large else explain(overlay)
    return OverlayFacts(
        recorded=recorded,
        overlay=overlay,
        forms=access_forms(overlay, capacities[0], capacities[-1])
        if graph.rules.are_plain_links and not rates_decide_restarts(graph, overlay.hub)
        else None,
        models=models,
        mean_bps=mean_bps,
        utilisation=used,
        explanation=()
        if explained is None
        else (
            *explanation_sentences(explained),
            *loads_text(explained, overlay),
            *further_text(overlay),
        ),
        circuit=None
        if explained is None
        else circuit_table(explained, f"Critical circuit of {recorded.kind}"),
        upgrades=() if is_large else single_upgrades(overlay),
        why_not=f"It has {overlay.arcs:,} arcs, more than {_MOST_ARCS:,}: silosim explain says what limits it."
        if is_large
        else "",
    )


def _built(record: RunRecord, recorded: OverlayRecord, graph: Connectivity) -> tuple[Overlay | None, str]:
    """The overlay on the run's network, or why there is none whose cycle time is that of the file."""
    if recorded.states is not None:
        return None, (
            "It is periodic, so that its arcs change from state to state: silosim explain names its critical circuit "
            "of silos and states, silosim upgrade the links that help; curve over the access capacity and "
            "sensitivities are for static overlays."
        )
    if recorded.consensus is None:
        return None, (
            "It draws its arcs anew in each round: there is no circuit that limits all rounds, no exact curve over the "
            "access capacity, and no sensitivities."
        )
    try:
        overlay = build_overlay(
            recorded.kind,
            graph,
            record.work,
            recorded.arcs[:, :2].tolist(),
            hub=recorded.hub,
            consensus=recorded.consensus,
            negative_weights=recorded.negative_weights,
        )
    except InputError as error:
        return None, f"It cannot be built from the file: {error}"
    there_s, here_s = recorded.closed_forms.paper_s, overlay.closed_forms.paper_s
    if not math.isclose(there_s, here_s):
        apart = f" ({here_s / there_s - 1:+.1e} of that)" if there_s else ""
        return None, (
            f"The file says {format_s(there_s)} by the paper's closed form, this version of silosim "
            f"{format_s(here_s)}{apart}: nothing is derived from a network that is not the run's."
        )
    return overlay, ""


def single_upgrades(overlay: Overlay) -> tuple[SingleUpgrade, ...]:
    """Links that lower the cycle time alone, as ``silosim upgrade --budget 1`` finds them, the best first.

    Parameters
    ----------
    overlay : Overlay
    """
    graph = overlay.graph
    are_known = graph.rules.are_plain_links and not rates_decide_restarts(graph, overlay.hub)
    links = upgrade_links(overlay) if are_known else ()
    if not links:
        return ()
    terms = UpgradeTerms.of(overlay, links, "load")
    search = UpgradeSearch(terms, np.ones(len(terms.links)))
    before_s = search.nothing.cycle_time_s
    return tuple(
        SingleUpgrade(name=terms.links[link].name, cycle_time_s=value, gain_s=before_s - value)
        for link, value in search.single()[:_MOST_UPGRADES]
    )


def _origin(path: Path) -> dict[str, str]:
    """Version, seed and hashes of a run."""
    with open_file(path) as file:
        attrs = dict(file.attrs)
    scenario = str(attrs["scenario"])
    digest = {"scenario, SHA-256": hashlib.sha256(scenario.encode()).hexdigest()}
    return {
        **recorded_origin(attrs),
        **digest,
        **input_digests(path, scenario),
        f"{path.name}, SHA-256": file_digest(path),
    }
