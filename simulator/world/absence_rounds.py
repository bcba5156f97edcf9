"""Rounds and computing times of a job whose silos are away now and then."""

from collections.abc import Callable, Sequence

import numpy as np

from simulator.arc import FlowArc
from simulator.compute_times import ComputeTimes
from simulator.rounds import RoundPlan
from simulator.world.absences import Absence, Pause, PlacedAbsence, PlacedPause
from simulator.world.counted_silos import Absences
from simulator.world.names import silo_of
from simulator.world.returns import until_heard
from topologies import Connectivity
from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.delays import arc_rates, transmissions
from topologies.errors import InputError


class Away:
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
        If an absence ends after the job, overlaps another one of its silo, or with others leaves a round to nobody.
    """

    __slots__ = ("_end", "_first", "_silo", "_silos", "rounds")

    def __init__(self, absences: Sequence[PlacedAbsence], silos: int, rounds: int) -> None:
        ordered = sorted(
            (silo, absence.first_round, absence.first_round + absence.rounds, place)
            for place, silo, absence in absences
        )
        for _, _, end, place in ordered:
            if end > rounds:
                raise InputError(
                    f"absences[{place}].first_round + rounds(={end}) must be <= {rounds}, the rounds of the job."
                )
        self._silo, self._first, self._end, _ = np.array(ordered, dtype=np.int64).reshape(-1, 4).T
        self._silos = silos
        self.rounds = rounds
        for number, (silo, first, _, place) in enumerate(ordered):
            if number and ordered[number - 1][0] == silo and first < ordered[number - 1][2]:
                raise InputError(
                    f"absences[{place}].first_round(={first}) must be >= {ordered[number - 1][2]}, the end of "
                    f"absences[{ordered[number - 1][3]}] of the same silo."
                )
            if self.during(first).all():
                raise InputError(f"absences[{place}] must leave a silo to round {first}: all others miss it.")

    def during(self, round_: int) -> BoolArray:
        """Who misses a round, shape (silos,)."""
        return self._marked((self._first <= round_) & (round_ < self._end))

    def back_after(self, round_: int) -> BoolArray:
        """For whom it is the last missed round, shape (silos,)."""
        return self._marked(self._end == round_ + 1)

    def present(self, first: int, count: int) -> BoolArray:
        """Who takes part in each of some rounds, shape (count, silos)."""
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


class AwayRounds:
    """The arcs of a job without those of silos that are away; a `RoundPlan`.

    Parameters
    ----------
    source, target : ndarray of int, shape (arcs,)
    away : Away
    sending_s : callable
        Time in which each of the arcs given to it sends its message with ``sharing="equal"``, in seconds, if only
        these are active.
    plan : RoundPlan, optional
        Which arcs are active if nobody is away; by default all.
    """

    __slots__ = ("_away", "_plan", "_sending_s", "_source", "_target")

    def __init__(
        self,
        source: IntArray,
        target: IntArray,
        away: Away,
        *,
        sending_s: Callable[[IntArray], FloatArray],
        plan: RoundPlan | None = None,
    ) -> None:
        self._source = source
        self._target = target
        self._away = away
        self._sending_s = sending_s
        self._plan = plan

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self._away.rounds

    def active(self, round_: int) -> IntArray:
        """See `RoundPlan`."""
        arcs = np.arange(len(self._source)) if self._plan is None else self._plan.active(round_)
        away = self._away.during(round_)
        deaf = away & ~self._away.back_after(round_)
        return np.asarray(arcs[~away[self._source[arcs]] & ~deaf[self._target[arcs]]])

    def sending_s(self, round_: int) -> FloatArray:
        """See `RoundPlan`."""
        return self._sending_s(self.active(round_))


class AwayTimes:
    """Computing times with absences and pauses; a `ComputeTimes`.

    Parameters
    ----------
    compute : ComputeTimes
        Times if nobody were away.
    away : Away
    pauses : sequence of PlacedPause

    Raises
    ------
    InputError
        If a silo pauses twice in a round, in a round that it misses, or after the job.
    """

    __slots__ = ("_away", "_compute", "_pauses")

    def __init__(self, compute: ComputeTimes, away: Away, pauses: Sequence[PlacedPause]) -> None:
        _check_pauses(away, pauses)
        self._compute = compute
        self._away = away
        self._pauses = [(pause.first_round, silo, pause.duration_s) for _, silo, pause in pauses]

    @property
    def silos(self) -> int:
        """Number of silos."""
        return self._compute.silos

    @property
    def is_constant(self) -> bool:
        """Never."""
        return False

    def rows(self, first: int, count: int, /) -> FloatArray:
        """See `ComputeTimes`."""
        rows_s = np.where(self._away.present(first, count), self._compute.rows(first, count), 0.0)
        for k, silo, duration_s in self._pauses:
            if first <= k < first + count:
                rows_s[k - first, silo] += duration_s
        return rows_s


def _check_pauses(away: Away, pauses: Sequence[PlacedPause]) -> None:
    """Accept pauses in rounds of the job that their silos do not miss, one a round."""
    seen: dict[tuple[int, int], int] = {}
    for place, silo, pause in pauses:
        k = pause.first_round
        if k >= away.rounds:
            rule = f"must be < {away.rounds}, the rounds of the job"
        elif (silo, k) in seen:
            rule = f"must not be that of absences[{seen[silo, k]}] of the same silo"
        elif away.during(k)[silo]:
            rule = "must not be a round that the silo misses"
        else:
            seen[silo, k] = place
            continue
        raise InputError(f"absences[{place}].first_round(={k}) {rule}.")


def placed(
    absences: Sequence[Absence | Pause], graph: Connectivity, *, rounds: int
) -> tuple[list[PlacedAbsence], list[PlacedPause]]:
    """Absences and pauses with their silos' numbers, as far as they can be checked without an overlay.

    Parameters
    ----------
    absences : sequence of Absence or Pause
    graph : Connectivity
    rounds : int
        Of the job.

    Raises
    ------
    InputError
        If a silo is unknown, or an entry does not fit the job or another entry.
    """
    numbered = [
        (place, silo_of(graph, entry.silo, f"absences[{place}].silo"), entry)
        for place, entry in enumerate(absences)
    ]
    absent = [(place, silo, entry) for place, silo, entry in numbered if isinstance(entry, Absence)]
    pauses = [(place, silo, entry) for place, silo, entry in numbered if isinstance(entry, Pause)]
    _check_pauses(Away(absent, graph.silos, rounds), pauses)
    return absent, pauses


def without_the_absent(
    absences: Sequence[Absence | Pause],
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
    absences : sequence of Absence or Pause
    graph : Connectivity
    model_bits : float
    arcs : sequence of FlowArc
    rounds : int
    plan, compute
        If nobody were away.

    Returns
    -------
    plan : RoundPlan or None
        With ``sharing="equal"``, arcs have the rates of the paper's Eq. 3 with each round's own degrees.
    compute : ComputeTimes
    absences : tuple of (int, int, int)
        The absences as long as they last.

    Raises
    ------
    InputError
        If a silo is unknown, or an entry does not fit the job or another entry.
    """
    absent, pauses = placed(absences, graph, rounds=rounds)
    source = np.array([arc.source for arc in arcs], dtype=np.int64)
    target = np.array([arc.target for arc in arcs], dtype=np.int64)

    def senders(silo: int, round_: int) -> IntArray:
        active = np.arange(len(source)) if plan is None else plan.active(round_)
        return np.asarray(source[active][target[active] == silo])

    lasting = until_heard(absent, senders, rounds=rounds)
    away = Away(lasting, compute.silos, rounds)

    def sending_s(active: IntArray) -> FloatArray:
        return transmissions(model_bits, arc_rates(graph, source[active], target[active]))

    if absent:
        plan = AwayRounds(source, target, away, sending_s=sending_s, plan=plan)
    missed = tuple((silo, one.first_round, one.first_round + one.rounds) for _, silo, one in lasting)
    return plan, AwayTimes(compute, away, pauses), missed
