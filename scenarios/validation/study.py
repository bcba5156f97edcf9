"""How far the closed forms lie from the simulation, and why."""

from dataclasses import dataclass, replace

import numpy as np

from scenarios.config.error_context import located
from scenarios.config.events.window import Window
from scenarios.config.overlays import design_any
from scenarios.config.quantities import parse_share, signed_s
from scenarios.config.simulation import SimulationConfig
from scenarios.report.comparison import over_paper
from scenarios.simulation.case import Case
from scenarios.simulation.collect import FEWEST_ROUNDS, collect
from scenarios.simulation.cycle_time import Settled, settle
from scenarios.simulation.runner import job_of
from scenarios.validation.attribution import Attribution, attribute, growing_silos
from scenarios.validation.baseline import simulate_undisturbed
from scenarios.validation.events import WindowEvents
from scenarios.validation.random_overlays import DrawnParts, drawn_parts
from simulator.statistics.confidence import paired_difference
from simulator.world.counted_silos import Starts
from topologies import InputError, Overlay, RandomOverlay
from topologies.random_cycle_time import RandomCycleTime, random_cycle_time
from topologies.statistics import ConfidenceInterval

WORTH_A_WORD = 0.01
"""Differences from paper above this fraction of it are explained."""
_WORTH = 0.1
"""From this fraction of the largest part on, others are told as well."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Validated:
    """One overlay's closed forms beside its simulations.

    Attributes
    ----------
    overlay : Overlay or RandomOverlay
    drawn : RandomCycleTime or None
        Closed forms of an overlay that is drawn anew each round, over the simulated rounds.
    equal, maxmin : Settled
        Simulated with Eq. 3's constant rates, and on shared links.
    attribution : Attribution or None
        Of the difference between `maxmin` and `paper`; None where arcs are drawn anew each round.
    drawn_parts : DrawnParts or None
        The same of an overlay whose arcs are.
    starts : Starts
        What cycle times are taken from, with max-min fair rates, until the end of the rounds of `maxmin`.
    window : Window
        These rounds.
    events : tuple of str
        Tables of the scenario with what happens around the job.
    difference : ConfidenceInterval or None
        Of the `maxmin` cycle time minus the first overlay's, on the same random computing times.
    """

    overlay: Overlay | RandomOverlay
    drawn: RandomCycleTime | None
    equal: Settled
    maxmin: Settled
    attribution: Attribution | None
    drawn_parts: DrawnParts | None
    starts: Starts
    window: Window
    events: tuple[str, ...] = ()
    difference: ConfidenceInterval | None = None

    @property
    def paper_s(self) -> float:
        """Cycle time by the paper; of a random overlay with a barrier after each round, as in its tables."""
        if isinstance(self.overlay, Overlay):
            return self.overlay.closed_forms.paper_s
        return float("nan") if self.drawn is None else self.drawn.barrier.mean

    @property
    def over_paper(self) -> float | None:
        """How far the `maxmin` cycle time lies above the paper's, as a fraction; None where that is 0."""
        return over_paper(self.maxmin.cycle_time_s, self.paper_s)

    @property
    def is_worth_a_word(self) -> bool:
        """Whether the difference is large enough to explain it."""
        return self.over_paper is not None and abs(self.over_paper) > WORTH_A_WORD

    def parts_s(self) -> dict[str, float]:
        """Seconds per round of each cause of the difference from paper; they add up to it."""
        one = self.attribution or self.drawn_parts
        return {} if one is None else one.parts_s()

    def why(self) -> str:
        """The largest part of a difference worth a word, and the cause of the arc that differs most; else empty."""
        parts = self.parts_s()
        if not parts or not self.is_worth_a_word:
            return ""
        name = max(parts, key=lambda part: abs(parts[part]))
        least_s = _WORTH * abs(parts[name])
        # The largest one alone is half the truth where something happens, or where no arc stands behind it.
        several = self.attribution is None or abs(parts["world"]) >= least_s
        others = [part for part in parts if part != name and abs(parts[part]) >= least_s]
        told = [name, *(others if several else ())]
        shown = ", ".join(f"{self._called(part)} {signed_s(parts[part])}" for part in told)
        return f"{shown} a round; {self._most(name)}"

    def _called(self, part: str) -> str:
        """A part in words: the world's are those of the scenario."""
        return ", ".join(self.events) if part == "world" else part

    def _most(self, name: str) -> str:
        """Where a part is largest."""
        if self.attribution is None:
            return "" if self.drawn_parts is None else self.drawn_parts.words()
        if name == "world" and self.attribution.off_arcs:
            return self.attribution.off_arcs
        # Rounded, so that the first of several alike is named, whatever their last digits.
        least = 1e-9 * self.maxmin.cycle_time_s
        term = "world_s" if name == "world" else "excess_s"
        arc = max(self.attribution.arcs, key=lambda share: round(abs(getattr(share, term)) / least))
        where = f"{arc.source} -> {arc.target}" if arc.source != arc.target else arc.source
        return f"most on {where}: {arc.cause.words}"


def validate(case: Case, *, drawn_rounds: int | None = None) -> list[Validated]:
    """Design and simulate overlays, and split the differences from `paper`.

    Parameters
    ----------
    case : Case
        Its `sharing` does not matter: both are simulated.
    drawn_rounds : int, optional
        Rounds of overlays that are drawn anew each round, instead of the case's.

    Returns
    -------
    list of Validated
        One for each kind of overlay.

    Raises
    ------
    InputError
        If there are too few rounds, or an overlay is unknown or cannot be built or simulated.
    """
    for name, rounds in (("rounds", case.simulation.rounds), ("drawn_rounds", drawn_rounds)):
        if rounds is not None and rounds < FEWEST_ROUNDS:
            raise InputError(f"{name}(={rounds}) must be >= {FEWEST_ROUNDS}.")
    case.check(
        rounds=case.simulation.rounds if drawn_rounds is None else min(drawn_rounds, case.simulation.rounds)
    )
    made: list[Validated] = []
    for kind in case.kinds:
        overlay = design_any(kind, case.graph, case.work, seed=case.seed)
        rounds = case.simulation.rounds
        if not isinstance(overlay, Overlay) and drawn_rounds is not None:
            rounds = drawn_rounds
        with located(case.source):
            found = _validated(overlay, case.simulation, rounds=rounds, seed=case.seed)
        if made and case.simulation.compute is not None:
            difference = paired_difference(found.starts, made[0].starts, silos=overlay.graph.silos)
            found = replace(found, difference=difference)
        made.append(found)
    return made


def _validated(
    overlay: Overlay | RandomOverlay, simulation: SimulationConfig, *, rounds: int, seed: int
) -> Validated:
    """Both simulations of an overlay."""
    until = None if simulation.until_ci is None else parse_share("until_ci", simulation.until_ci)
    stays = isinstance(overlay, Overlay)
    silos = growing_silos(overlay) if isinstance(overlay, Overlay) else np.arange(overlay.graph.silos)
    shared = replace(simulation, sharing="maxmin")
    job = job_of(overlay, shared, rounds=rounds, seed=seed)
    timeline = collect(job, silos, title=f"{overlay.kind}, maxmin", until=until, messages=stays)
    # Constant rates know no network that changes.
    constant = replace(simulation.without_events(on_network_only=True), sharing="equal")
    equal_job = job_of(overlay, constant, rounds=rounds, seed=seed)
    equal = settle(collect(equal_job, silos, title=f"{overlay.kind}, equal", until=until), silos)
    maxmin = settle(timeline, silos)
    end = maxmin.first_round + maxmin.rounds
    kept = end if maxmin.asked is None else maxmin.asked[1]
    starts = Starts.of(timeline.round_start_s, timeline.absences)
    window = Window.of(replace(starts.counted(maxmin.first_round, end), asked=maxmin.asked))
    found = Validated(
        overlay=overlay,
        drawn=None,
        equal=equal,
        maxmin=maxmin,
        attribution=None,
        drawn_parts=None,
        starts=starts.until(kept + 1),
        window=window,
        events=simulation.tables,
    )
    if not isinstance(overlay, Overlay):
        drawn = random_cycle_time(overlay, maxmin.simulated_rounds, seed)
        parts = drawn_parts(overlay, shared, drawn, timeline, equal=equal, maxmin=maxmin, seed=seed)
        return replace(found, drawn=drawn, drawn_parts=parts)
    events = WindowEvents.of(simulation, overlay.graph, window, timeline.absences)
    undisturbed = None if events is None else simulate_undisturbed(overlay, shared, maxmin, silos, seed=seed)
    attribution = attribute(overlay, timeline, job.compute, maxmin, undisturbed=undisturbed, events=events)
    return replace(found, attribution=attribution)
