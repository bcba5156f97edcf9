"""Validation: closed forms beside simulations, and the parts of their difference."""

from dataclasses import dataclass, replace

import numpy as np

from scenarios.config.events.window import Window
from scenarios.config.overlays import AnyOverlay
from scenarios.config.quantities import signed_s
from scenarios.config.simulation import SimulationConfig
from scenarios.report.closed_forms import over_paper
from scenarios.simulation.collect import FEWEST_ROUNDS, collect
from scenarios.simulation.cycle_time import SimulatedCycleTime, simulated_cycle_time
from scenarios.simulation.experiment import Experiment
from scenarios.simulation.runner import job_of
from scenarios.validation.attribution import Attribution, attribute, circuit_sources
from scenarios.validation.baseline import simulate_undisturbed
from scenarios.validation.events import WindowEvents
from scenarios.validation.randomized import RandomizedAttribution, attribute_randomized
from simulator.statistics.confidence import paired_difference
from simulator.world.counted_silos import Starts
from topologies import InputError, Overlay, PeriodicOverlay
from topologies.arrays import IntArray
from topologies.quantities import parse_share
from topologies.random_cycle_time import RandomCycleTime, random_cycle_time
from topologies.rounding import ROUNDING
from topologies.statistics import ConfidenceInterval

LEAST_EXPLAINED = 0.01
"""Differences from paper above this fraction of it are explained."""
_LEAST_NAMED = 0.1
"""From this fraction of the largest part on, others are named as well."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Validated:
    """One overlay's closed forms beside its simulations.

    Attributes
    ----------
    overlay : Overlay, PeriodicOverlay or RandomOverlay
    randomized_forms : RandomCycleTime or None
        Closed forms of a randomized overlay, over the simulated rounds.
    equal, maxmin : SimulatedCycleTime
        Simulated with Eq. 3's constant rates, and on shared links.
    attribution : Attribution or None
        Of the difference between `maxmin` and `paper`; None of a periodic or randomized overlay.
    randomized_attribution : RandomizedAttribution or None
        The same of a randomized overlay.
    starts : Starts
        What cycle times are taken from, with max-min fair rates, until the end of the rounds of `maxmin`.
    window : Window
        These rounds.
    events : tuple of str
        The scenario's tables of events.
    difference : ConfidenceInterval or None
        Of the `maxmin` cycle time minus the first overlay's, on the same random computing times.
    """

    overlay: AnyOverlay
    randomized_forms: RandomCycleTime | None
    equal: SimulatedCycleTime
    maxmin: SimulatedCycleTime
    attribution: Attribution | None
    randomized_attribution: RandomizedAttribution | None
    starts: Starts
    window: Window
    events: tuple[str, ...] = ()
    difference: ConfidenceInterval | None = None

    @property
    def paper_s(self) -> float:
        """Cycle time by the paper; of a randomized overlay with a barrier after each round, as in its tables."""
        if isinstance(self.overlay, Overlay | PeriodicOverlay):
            return self.overlay.closed_forms.paper_s
        return float("nan") if self.randomized_forms is None else self.randomized_forms.barrier.mean

    @property
    def over_paper(self) -> float | None:
        """How far the `maxmin` cycle time lies above the paper's, as a fraction; None where that is 0."""
        return over_paper(self.maxmin.cycle_time_s, self.paper_s)

    @property
    def is_explained(self) -> bool:
        """Whether the difference is large enough to explain it."""
        return self.over_paper is not None and abs(self.over_paper) > LEAST_EXPLAINED

    def parts_s(self) -> dict[str, float]:
        """Seconds per round of each cause of the difference from paper; they add up to it."""
        one = self.attribution or self.randomized_attribution
        return {} if one is None else one.parts_s()

    def why(self) -> str:
        """The largest part of the difference, and the cause of the arc that differs most; empty if negligible."""
        parts = self.parts_s()
        if not parts or not self.is_explained:
            return ""
        name = max(parts, key=lambda part: abs(parts[part]) * (1 + ROUNDING * (part == "slow start")))
        least_s = _LEAST_NAMED * abs(parts[name])
        # With events, or without parts arc by arc, the largest part alone would mislead; and models queue behind those
        # that start slowly.
        several = self.attribution is None or any(
            abs(parts.get(part, 0.0)) >= least_s for part in ("world", "slow start")
        )
        others = [part for part in parts if part != name and abs(parts[part]) >= least_s]
        named = [name, *(others if several else ())]
        shown = ", ".join(f"{self._name(part)} {signed_s(parts[part])}" for part in named)
        return f"{shown} a round; {self._location(name)}"

    def _name(self, part: str) -> str:
        """Name of a part; that of the events lists the scenario's tables."""
        return ", ".join(self.events) if part == "world" else part

    def _location(self, name: str) -> str:
        """The arc, link or silo where a part is largest, and why."""
        if self.attribution is None:
            return "" if self.randomized_attribution is None else self.randomized_attribution.explanation()
        if name == "world" and self.attribution.off_arcs:
            return self.attribution.off_arcs
        # Rounded, so that of equal arcs the first is named, whatever their last digits.
        least = 1e-9 * self.maxmin.cycle_time_s
        term = "world_s" if name == "world" else "excess_s"
        arc = max(self.attribution.arcs, key=lambda share: round(abs(getattr(share, term)) / least))
        where = f"{arc.source} -> {arc.target}" if arc.source != arc.target else arc.source
        return f"most on {where}: {arc.cause.explanation}"


def validate(experiment: Experiment, *, randomized_rounds: int | None = None) -> list[Validated]:
    """Design and simulate overlays, and split the differences from `paper`.

    Parameters
    ----------
    experiment : Experiment
        Its `sharing` is ignored: both are simulated.
    randomized_rounds : int, optional
        Rounds of randomized overlays, instead of the experiment's.

    Returns
    -------
    list of Validated
        One for each kind of overlay.

    Raises
    ------
    InputError
        If there are too few rounds, or an overlay is unknown or cannot be built or simulated.
    """
    for name, rounds in (("rounds", experiment.simulation.rounds), ("randomized_rounds", randomized_rounds)):
        if rounds is not None and rounds < FEWEST_ROUNDS:
            raise InputError(f"{name}(={rounds}) must be >= {FEWEST_ROUNDS}.")
    if experiment.work.participation is not None:
        raise InputError(
            "workload.participation must not be given: in the closed forms all silos compute in each round."
        )
    experiment.check(
        rounds=experiment.simulation.rounds
        if randomized_rounds is None
        else min(randomized_rounds, experiment.simulation.rounds)
    )
    made: list[Validated] = []
    for config in experiment.overlays:
        overlay = experiment.design(config)
        rounds = experiment.simulation.rounds
        if not isinstance(overlay, Overlay | PeriodicOverlay) and randomized_rounds is not None:
            rounds = randomized_rounds
        with experiment.named_errors():
            found = _validated(overlay, experiment.simulation, rounds=rounds, seed=experiment.seed)
        if made and experiment.simulation.compute is not None:
            difference = paired_difference(found.starts, made[0].starts, silos=overlay.graph.silos)
            found = replace(found, difference=difference)
        made.append(found)
    return made


def _followed(overlay: AnyOverlay) -> IntArray:
    """Silos whose mean round start tells the cycle time: those of the critical circuit, where there is one."""
    if isinstance(overlay, Overlay):
        return circuit_sources(overlay)
    if isinstance(overlay, PeriodicOverlay):
        return np.unique([silo for silo, _ in overlay.critical_circuit])
    return np.arange(overlay.graph.silos)


def _validated(overlay: AnyOverlay, simulation: SimulationConfig, *, rounds: int, seed: int) -> Validated:
    """Both simulations of an overlay."""
    until = None if simulation.until_ci is None else parse_share("until_ci", simulation.until_ci)
    is_static = isinstance(overlay, Overlay)
    silos = _followed(overlay)
    shared = replace(simulation, sharing="maxmin")
    job = job_of(overlay, shared, rounds=rounds, seed=seed)
    timeline = collect(
        job, silos, title=f"{overlay.kind}, maxmin", until=until, messages=is_static, engine=simulation.engine
    )
    # Constant rates do not depend on a network that changes.
    constant = replace(simulation.without_events(on_network_only=True), sharing="equal")
    equal_job = job_of(overlay, constant, rounds=rounds, seed=seed)
    equal = simulated_cycle_time(
        collect(equal_job, silos, title=f"{overlay.kind}, equal", until=until, engine=simulation.engine),
        silos,
    )
    maxmin = simulated_cycle_time(timeline, silos)
    end = maxmin.first_round + maxmin.rounds
    last = end if maxmin.asked is None else maxmin.asked[1]
    starts = Starts.of(timeline.round_start_s, timeline.absences).computing(
        timeline.computes, timeline.regular_from
    )
    window = Window.of(replace(starts.counted(maxmin.first_round, end), asked=maxmin.asked))
    found = Validated(
        overlay=overlay,
        randomized_forms=None,
        equal=equal,
        maxmin=maxmin,
        attribution=None,
        randomized_attribution=None,
        starts=starts.until(last + 1),
        window=window,
        events=simulation.tables,
    )
    if isinstance(overlay, PeriodicOverlay):
        return found
    if not isinstance(overlay, Overlay):
        randomized_forms = random_cycle_time(overlay, maxmin.simulated_rounds, seed)
        parts = attribute_randomized(
            overlay, shared, randomized_forms, timeline, equal=equal, maxmin=maxmin, seed=seed
        )
        return replace(found, randomized_forms=randomized_forms, randomized_attribution=parts)
    events = WindowEvents.of(simulation, overlay.graph, window, timeline.absences)
    undisturbed = None if events is None else simulate_undisturbed(overlay, shared, maxmin, silos, seed=seed)
    attribution = attribute(
        overlay, timeline, job.compute, maxmin, fifo=job.fifo, undisturbed=undisturbed, events=events
    )
    return replace(found, attribution=attribution)
