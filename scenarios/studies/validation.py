"""How far the closed forms lie from the simulation, and why."""

from dataclasses import dataclass, replace

import numpy as np

from scenarios.case import Case
from scenarios.designed import design_any
from scenarios.simulation_config import SimulationConfig
from scenarios.studies.attribution import Attribution, attribute, growing_silos
from scenarios.studies.collected import FEWEST_ROUNDS, collect
from scenarios.studies.comparison import gap
from scenarios.studies.settled import Settled, settle
from scenarios.studies.simulation import job_of
from scenarios.units import format_s, parse_share
from simulator.confidence import paired_difference
from topologies import InputError, Overlay, RandomOverlay
from topologies.arrays import FloatArray
from topologies.random_cycle_time import RandomCycleTime, random_cycle_time
from topologies.statistics import ConfidenceInterval

WORTH_A_WORD = 0.01
"""Gaps above this fraction are explained."""


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
        Of the difference between `maxmin` and `paper`; None where arcs differ from round to round.
    mean_start_s : ndarray, shape (rounds + 1,)
        Mean start of all silos, with max-min fair rates.
    difference : ConfidenceInterval or None
        Of the `maxmin` cycle time minus the first overlay's, on the same random computing times.
    """

    overlay: Overlay | RandomOverlay
    drawn: RandomCycleTime | None
    equal: Settled
    maxmin: Settled
    attribution: Attribution | None
    mean_start_s: FloatArray
    difference: ConfidenceInterval | None = None

    @property
    def paper_s(self) -> float:
        """Cycle time by the paper; of a random overlay with a barrier after each round, as in its tables."""
        if isinstance(self.overlay, Overlay):
            return self.overlay.closed_forms.paper_s
        return float("nan") if self.drawn is None else self.drawn.barrier.mean

    @property
    def gap(self) -> float | None:
        """How far the `maxmin` cycle time lies above the paper's, as a fraction; None where that is 0."""
        return gap(self.maxmin.cycle_time_s, self.paper_s)

    @property
    def is_worth_a_word(self) -> bool:
        """Whether the gap is large enough to explain it."""
        return self.gap is not None and abs(self.gap) > WORTH_A_WORD

    def why(self) -> str:
        """The largest part of a gap worth a word, and the cause of the arc that differs most; else empty."""
        if self.attribution is None or not self.is_worth_a_word:
            return ""
        parts = self.attribution.parts_s()
        name = max(parts, key=lambda part: abs(parts[part]))
        # Rounded, so that the first of several alike is named, whatever their last digits.
        least = 1e-9 * self.maxmin.cycle_time_s
        arc = max(self.attribution.arcs, key=lambda share: round(abs(share.excess_s) / least))
        sign = "+" if parts[name] >= 0 else "-"
        where = f"{arc.source} -> {arc.target}" if arc.source != arc.target else arc.source
        return f"{name} {sign}{format_s(abs(parts[name]))} a round; most on {where}: {arc.cause.words}"


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
        found = _validated(overlay, case.simulation, rounds=rounds, seed=case.seed)
        if made and case.simulation.compute is not None:
            difference = paired_difference(
                found.mean_start_s, made[0].mean_start_s, silos=overlay.graph.silos
            )
            found = replace(found, difference=difference)
        made.append(found)
    return made


def _validated(
    overlay: Overlay | RandomOverlay, simulation: SimulationConfig, *, rounds: int, seed: int
) -> Validated:
    """Both simulations of an overlay."""
    until = None if simulation.until_ci is None else parse_share("until_ci", simulation.until_ci)
    silos = growing_silos(overlay) if isinstance(overlay, Overlay) else np.arange(overlay.graph.silos)
    job = job_of(overlay, replace(simulation, sharing="maxmin"), rounds=rounds, seed=seed)
    has_parts = isinstance(overlay, Overlay) and job.plan is None
    timeline = collect(job, silos, title=f"{overlay.kind}, maxmin", until=until, messages=has_parts)
    # Constant rates know no network that changes.
    constant = replace(simulation, sharing="equal", background=(), capacity=(), failure=())
    equal_job = job_of(overlay, constant, rounds=rounds, seed=seed)
    equal = settle(collect(equal_job, silos, title=f"{overlay.kind}, equal", until=until), silos)
    maxmin = settle(timeline, silos)
    return Validated(
        overlay=overlay,
        drawn=None
        if isinstance(overlay, Overlay)
        else random_cycle_time(overlay, maxmin.simulated_rounds, seed),
        equal=equal,
        maxmin=maxmin,
        attribution=attribute(overlay, timeline, job.compute, maxmin)
        if isinstance(overlay, Overlay) and has_parts
        else None,
        mean_start_s=timeline.round_start_s[: maxmin.first_round + maxmin.rounds + 1].mean(axis=1),
    )
