"""Rounds and computing times of a job whose silos are away now and then."""

from collections.abc import Callable, Sequence

import numpy as np

from simulator.arc import FlowArc
from simulator.compute_times import ComputeTimes
from simulator.rounds import RoundPlan
from simulator.world.absence_ends import extended
from simulator.world.absences import PlacedAbsence, PlacedPause
from simulator.world.counted_silos import Absences
from simulator.world.effects import Effects
from topologies import Connectivity
from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.delays import arc_rates, transmissions
from topologies.errors import Field, InputError


class MissedRounds:
    """Which silos miss which rounds.

    Parameters
    ----------
    absences : sequence of PlacedAbsence
    silos, rounds : int
        Of the job.

    Attributes
    ----------
    rounds : int

    Raises
    ------
    InputError
        If an absence ends after the job, overlaps another one of its silo, or leaves a round without any silo.
    """

    __slots__ = ("_end", "_first", "_silo", "_silos", "rounds")

    def __init__(self, absences: Sequence[PlacedAbsence], silos: int, rounds: int) -> None:
        ordered = sorted(absences, key=lambda one: (one.silo, one.first_round, one.back, one.place))
        for absence in ordered:
            if absence.back > rounds:
                raise InputError(
                    f"must be <= {rounds}, the rounds of the job.",
                    field=absence.field("first_round + rounds", value=absence.back),
                )
        columns = [(one.silo, one.first_round, one.back) for one in ordered]
        self._silo, self._first, self._end = np.array(columns, dtype=np.int64).reshape(-1, 3).T
        self._silos = silos
        self.rounds = rounds
        for number, absence in enumerate(ordered):
            before = ordered[number - 1] if number else None
            if before is not None and before.silo == absence.silo and absence.first_round < before.back:
                raise InputError(
                    f"must be >= {before.back}, the end of ",
                    before.field(),
                    " of the same silo.",
                    field=absence.field("first_round", value=absence.first_round),
                )
            if self.during(absence.first_round).all():
                raise InputError(
                    f"must leave a silo to round {absence.first_round}: all others miss it.",
                    field=absence.field(),
                )

    def during(self, round_: int) -> BoolArray:
        """Which silos miss a round, shape (silos,)."""
        return self._marked((self._first <= round_) & (round_ < self._end))

    def back_after(self, round_: int) -> BoolArray:
        """Which silos miss a round and not the next one, shape (silos,)."""
        return self._marked(self._end == round_ + 1)

    def present(self, first: int, count: int) -> BoolArray:
        """Which silos take part in each of some rounds, shape (count, silos)."""
        marks = np.ones((count, self._silos), dtype=np.bool_)
        for silo, begin, end in zip(
            self._silo.tolist(), self._first.tolist(), self._end.tolist(), strict=True
        ):
            marks[max(0, begin - first) : max(0, end - first), silo] = False
        return marks

    def _marked(self, which: BoolArray) -> BoolArray:
        marks = np.zeros(self._silos, dtype=np.bool_)
        marks[self._silo[which]] = True
        return marks


class PresentArcs(RoundPlan):
    """The arcs of a job between silos that are present.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
    missed : MissedRounds
    sending_s : callable
        Time in which each of the arcs given to it sends its message at a constant rate, in seconds, if only these
        are active.
    plan : RoundPlan, optional
        Which arcs are active if no silo is away, with lags of 1; by default all.
    """

    __slots__ = ("_missed", "_plan", "_sending_s", "_source", "_target")

    def __init__(
        self,
        source: IntArray,
        target: IntArray,
        missed: MissedRounds,
        *,
        sending_s: Callable[[IntArray], FloatArray],
        plan: RoundPlan | None = None,
    ) -> None:
        self._source = source
        self._target = target
        self._missed = missed
        self._sending_s = sending_s
        self._plan = plan

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self._missed.rounds

    def active(self, round_: int) -> IntArray:
        """See `RoundPlan`."""
        arcs = np.arange(len(self._source)) if self._plan is None else self._plan.active(round_)
        away = self._missed.during(round_)
        receives = ~away | self._missed.back_after(round_)
        return np.asarray(arcs[~away[self._source[arcs]] & receives[self._target[arcs]]])

    def sending_s(self, round_: int) -> FloatArray:
        """See `RoundPlan`."""
        return self._sending_s(self.active(round_))


class AbsenceTimes:
    """Computing times with absences and pauses; a `ComputeTimes`.

    Parameters
    ----------
    compute : ComputeTimes
        Times if no silo were away.
    missed : MissedRounds
    pauses : sequence of PlacedPause

    Raises
    ------
    InputError
        If a silo pauses twice in a round, in a round that it misses, or after the job.
    """

    __slots__ = ("_compute", "_missed", "_pauses")

    def __init__(self, compute: ComputeTimes, missed: MissedRounds, pauses: Sequence[PlacedPause]) -> None:
        _check_pauses(missed, pauses)
        self._compute = compute
        self._missed = missed
        self._pauses = pauses

    @property
    def silos(self) -> int:
        """Number of silos."""
        return self._compute.silos

    @property
    def period(self) -> None:
        """None."""
        return None

    def rows(self, first: int, count: int, /) -> FloatArray:
        """See `ComputeTimes`."""
        rows_s = np.where(self._missed.present(first, count), self._compute.rows(first, count), 0.0)
        for pause in self._pauses:
            if first <= pause.first_round < first + count:
                rows_s[pause.first_round - first, pause.silo] += pause.duration_s
        return rows_s


def _check_pauses(missed: MissedRounds, pauses: Sequence[PlacedPause]) -> None:
    """Accept pauses in rounds of the job that their silos do not miss, one a round."""
    seen: dict[tuple[int, int], int] = {}
    for pause in pauses:
        k = pause.first_round
        rule: tuple[str | Field, ...]
        if k >= missed.rounds:
            rule = (f"must be < {missed.rounds}, the rounds of the job.",)
        elif (pause.silo, k) in seen:
            rule = ("must not be that of ", Field("events", seen[pause.silo, k]), " of the same silo.")
        elif missed.during(k)[pause.silo]:
            rule = ("must not be a round that the silo misses.",)
        else:
            seen[pause.silo, k] = pause.place
            continue
        raise InputError(*rule, field=Field("events", pause.place, "first_round", value=k))


def placed(
    effects: Sequence[Effects], silos: int, *, rounds: int
) -> tuple[list[PlacedAbsence], list[PlacedPause]]:
    """Absences and pauses of events, as far as they can be checked without an overlay.

    Parameters
    ----------
    effects : sequence of Effects
        Of all events, in their order.
    silos, rounds : int
        Of the job.

    Raises
    ------
    InputError
        If an absence or pause does not fit the job or another one.
    """
    absences = [
        PlacedAbsence(place=place, silo=silo, first_round=first_round, rounds=missed)
        for place, effect in enumerate(effects)
        for silo, (first_round, missed) in effect.absences.items()
    ]
    pauses = [
        PlacedPause(place=place, silo=silo, first_round=first_round, duration_s=duration_s)
        for place, effect in enumerate(effects)
        for silo, (first_round, duration_s) in effect.pauses.items()
    ]
    _check_pauses(MissedRounds(absences, silos, rounds), pauses)
    return absences, pauses


def with_absences(
    effects: Sequence[Effects],
    graph: Connectivity,
    model_bits: float,
    arcs: Sequence[FlowArc],
    *,
    rounds: int,
    plan: RoundPlan | None,
    compute: ComputeTimes,
) -> tuple[RoundPlan | None, ComputeTimes, Absences]:
    """Rounds and computing times of a job whose silos are away now and then.

    Parameters
    ----------
    effects : sequence of Effects
        Of all events, in their order.
    graph : Connectivity
    model_bits : float
    arcs : sequence of FlowArc
    rounds : int
    plan, compute
        If no silo were away.

    Returns
    -------
    plan : RoundPlan or None
        Where rates are constant, arcs have the rates of the paper's Eq. 3 with each round's own degrees.
    compute : ComputeTimes
    absences : tuple of (int, int, int)
        The absences as long as they last.

    Raises
    ------
    InputError
        If an absence or pause does not fit the job or another one.
    """
    absences, pauses = placed(effects, graph.silos, rounds=rounds)
    source = np.array([arc.source for arc in arcs], dtype=np.int64)
    target = np.array([arc.target for arc in arcs], dtype=np.int64)

    def senders(silo: int, round_: int) -> IntArray:
        active = np.arange(len(source)) if plan is None else plan.active(round_)
        return np.asarray(source[active][target[active] == silo])

    lasting = extended(absences, senders, rounds=rounds)
    missed = MissedRounds(lasting, compute.silos, rounds)

    def sending_s(active: IntArray) -> FloatArray:
        return transmissions(model_bits, arc_rates(graph, source[active], target[active]))

    if absences:
        _check_prompt(absences[0], plan)
        plan = PresentArcs(source, target, missed, sending_s=sending_s, plan=plan)
    spans = tuple((absence.silo, absence.first_round, absence.back) for absence in lasting)
    return plan, AbsenceTimes(compute, missed, pauses), spans


def _check_prompt(absence: PlacedAbsence, plan: RoundPlan | None) -> None:
    """Accept absences where messages are awaited in the round in which they are sent."""
    if plan is not None and plan.longest_lag > 1:
        raise InputError(
            f"must not be an absence where arcs have lags above 1, here up to {plan.longest_lag}.",
            field=absence.field(),
        )


def times_as_recorded(
    effects: Sequence[Effects], absences: Absences, *, rounds: int, compute: ComputeTimes
) -> ComputeTimes:
    """Computing times of a job whose absences are known, as `with_absences` gives them with its arcs.

    Parameters
    ----------
    effects : sequence of Effects
        Of all events, in their order.
    absences : sequence of (int, int, int)
        As long as they lasted.
    rounds : int
    compute : ComputeTimes
        If no silo were away.
    """
    if not any(effect.on_silos for effect in effects):
        return compute
    _, pauses = placed(effects, compute.silos, rounds=rounds)
    lasting = [
        PlacedAbsence(place=place, silo=silo, first_round=first, rounds=back - first)
        for place, (silo, first, back) in enumerate(absences)
    ]
    return AbsenceTimes(compute, MissedRounds(lasting, compute.silos, rounds), pauses)
