"""What a run says, in two sentences that are true of its figures."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from scenarios.config.quantities import format_long, format_s
from scenarios.report.column_labels import value_text
from scenarios.report.tables import Row
from topologies.rounding import ROUNDING, exceeds
from topologies.wrapping import listed

_SAME = 1.005
"""Ratio of times below which they are called equal."""
_CLOSE = 0.01
"""Relative difference up to which a closed form is called right."""
_UNSEEN = 5e-4
"""Relative difference that a percentage with one digit does not show."""
_MOST_SECONDS = 10_000.0
_MOST_NAMED = 4
_EVENTS = {
    "background": "background traffic",
    "demands": "traffic matrices",
    "capacity": "changing capacities",
    "failure": "link failures",
    "away": "absent silos",
}
"""Kinds of events in a sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """What of a run its answer is made of.

    Attributes
    ----------
    rows : sequence of mapping
        Of `scenarios.report.run_table.run_table`.
    hubs : collection of str
        Overlays with a hub.
    place : str
        Network and access capacity, such as ``geant at 100 Mbps``.
    target_accuracy : float or None
    is_trained : bool
        Whether there are training rows.
    cut_trainings : collection of str
        Overlays whose training lacks rows, as it was interrupted.
    is_imported : bool
        Whether the training rows of all overlays are those of one imported curve.
    events : collection of str
        Names of the events in the simulation.
    """

    rows: Sequence[Row]
    hubs: Sequence[str]
    place: str
    target_accuracy: float | None
    is_trained: bool
    cut_trainings: Collection[str] = ()
    is_imported: bool = False
    events: Collection[str] = ()

    def name(self, kind: str) -> str:
        """An overlay in a sentence."""
        if kind in self.hubs:
            return "the STAR" if len(self.hubs) == 1 else f"the STAR {kind}"
        return "the ring" if kind == "ring" else kind

    @property
    def goal(self) -> str:
        """The target in a sentence."""
        return f"a test accuracy of {100 * (self.target_accuracy or 0.0):g} %"


def question(compared: Compared) -> str:
    """What was compared, on which network."""
    kinds = [str(row["overlay"]) for row in compared.rows]
    if len(kinds) == 1:
        return f"How fast is {compared.name(kinds[0])} on {compared.place}?"
    shown = kinds if len(kinds) <= 8 else [*kinds[:7], f"{len(kinds) - 7} more"]
    return f"Which overlay is fastest on {compared.place}: {' or '.join((', '.join(shown[:-1]), shown[-1]))}?"


def answer(compared: Compared) -> tuple[str, ...]:
    """The answer: which overlay is fastest and by how much, and how well the closed form predicts it.

    Returns
    -------
    tuple of str
        Two sentences; one more each where all overlays have one imported curve, where events are simulated, and where
        the run was interrupted.
    """
    if not compared.rows:
        return ("The file holds no overlay.",)
    return (
        _fastest(compared),
        agreement(compared.rows),
        *_one_curve(compared),
        *_eventful(compared),
        *_interrupted(compared),
    )


def _fastest(compared: Compared) -> str:
    """Which overlay is fastest, to the target where one reaches it, else by its cycle time."""
    times = {
        str(row["overlay"]): float(row["time_to_target_s"])
        for row in compared.rows
        if row["time_to_target_s"] is not None
    }
    if times:
        return _by_target(compared, times)
    missed = compared.is_trained and compared.target_accuracy is not None
    beginning = f"On {compared.place}, "
    if missed:
        none = "no overlay reaches" if len(compared.rows) > 1 else "it does not reach"
        beginning = f"On {compared.place}, {none} {compared.goal} in the rounds that were trained; "
    return beginning + _by_cycle_time(compared)


def _by_target(compared: Compared, times: Mapping[str, float]) -> str:
    """The fastest to the target."""
    rows = {str(row["overlay"]): row for row in compared.rows}
    best = min(times, key=lambda kind: times[kind])
    others = {kind: time for kind, time in times.items() if kind != best}
    slow = [kind for kind in rows if kind not in times]
    # Where the training was interrupted, some overlays may not have begun.
    ahead = [kind for kind in slow if kind in compared.cut_trainings and not rows[kind]["trained_rounds"]]
    missing, untrained = (
        [compared.name(kind) for kind in slow if kind not in ahead],
        [*map(compared.name, ahead)],
    )
    tail = ""
    if missing:
        verb = "does" if len(missing) == 1 else "do"
        tail = f"; {_some(missing)} {verb} not reach it in the rounds that were trained"
    if untrained:
        tail += f"; {_some(untrained)} {'is' if len(untrained) == 1 else 'are'} not trained yet"
    on = f"On {compared.place} "
    ties = [kind for kind, time in times.items() if _is_same(times[best], time)]
    rounds = {rows[kind]["rounds_to_target"] for kind in ties}
    counted = ", ".join(f"{count:,} round{'' if count == 1 else 's'}" for count in rounds)
    after = f"after {format_long(times[best])}" + (f" ({counted})" if len(rounds) == 1 else "")
    if not others:
        alone = " alone" if missing and not untrained else ""
        return f"{on}{compared.name(best)}{alone} reaches {compared.goal} {after}{tail}."
    if len(ties) == len(times):
        names = _some([compared.name(kind) for kind in ties])
        return f"{on}{names} reach {compared.goal} equally fast{_within(times, ties)}, {after}{tail}."
    reference = _reference(compared, times, ties)
    ratio = times[reference] / times[best] if times[best] > 0 else math.inf
    if len(ties) > 1:
        names = _some([compared.name(kind) for kind in ties])
        subject, verb = f"{names}, equally fast{_within(times, ties)},", "are"
    else:
        subject, verb = compared.name(best), "is"
    if math.isinf(ratio):
        return (
            f"{on}{subject} {verb} at {compared.goal} from the start, {compared.name(reference)} only after "
            f"{format_long(times[reference])}{tail}."
        )
    than = compared.name(reference)
    than += _rank(compared, ties, reference)
    return (
        f"{on}{subject} {verb} {_ratio(ratio)} times faster to {compared.goal} than {than} "
        f"({_against(times[best], times[reference])}){tail}."
    )


def _reference(compared: Compared, times: Mapping[str, float], best: Sequence[str]) -> str:
    """What the fastest is compared with: the STAR; the next where that is fastest, the slowest where there is none."""
    slower = {kind: time for kind, time in times.items() if kind not in best}
    if any(kind in compared.hubs for kind in best):
        return min(slower, key=lambda kind: slower[kind])
    star = next((kind for kind in slower if kind in compared.hubs), None)
    return star or max(slower, key=lambda kind: slower[kind])


def _rank(compared: Compared, best: Sequence[str], reference: str) -> str:
    """Why the fastest are compared with this one, where it is not the STAR."""
    if set(best) & set(compared.hubs):
        return ", the next"
    return "" if reference in compared.hubs else ", the slowest"


def _by_cycle_time(compared: Compared) -> str:
    """The shortest cycle time, of the simulation where there is one of each overlay, else of the closed forms.

    Without simulation it is the larger of paper and load, as no simulation is faster than the load bound.
    """
    simulated = all(row["simulated_s"] is not None for row in compared.rows)
    key = "simulated_s" if simulated else "bound_s"
    by = "" if simulated else " by the larger of paper and load, as there is no whole simulation of each,"
    rows = {
        str(row["overlay"]): {**row, "bound_s": max(row["paper_s"], row["load_bound_s"] or 0.0)}
        for row in compared.rows
        if (row["simulated_s"] if simulated else row["paper_s"]) is not None
    }
    if not rows:
        return "there is no cycle time of any overlay."
    times = {kind: float(row[key]) for kind, row in rows.items()}
    best = min(times, key=lambda kind: times[kind])
    if len(rows) == 1:
        return f"a round of {compared.name(best)}{by} takes {_time(rows[best], key)}."
    ties = [kind for kind in times if _is_same(times[best], times[kind])]
    if simulated:
        ties = [kind for kind in times if kind in ties or _overlap(rows[best], rows[kind])]
    if len(ties) == len(times):
        return (
            f"a round takes as long on {_some([compared.name(kind) for kind in ties])}{by}: {_time(rows[best], key)}"
            f"{_unsure(rows, ties, simulated=simulated) or _within(times, ties)}."
        )
    reference = _reference(compared, times, ties)
    names = _some([compared.name(kind) for kind in ties])
    alike = _unsure(rows, ties, simulated=simulated) or _within(times, ties)
    each = f" (equally long{alike})" if len(ties) > 1 else ""
    than = compared.name(reference)
    than += _rank(compared, ties, reference)
    if times[best] == 0:
        return (
            f"a round of {names}{each}{by} takes no time, one of {than} takes {_time(rows[reference], key)}."
        )
    ratio = _ratio(times[reference] / times[best])
    if simulated and (_is_bare(rows[best]) or _is_bare(rows[reference])):
        ratio = two_digits(times[reference] / times[best])
    about = (
        ""
        if all(row["simulated_is_exact"] for row in (rows[best], rows[reference])) or not simulated
        else "about "
    )
    return (
        f"a round of {names}{each}{by} is {about}{ratio} times shorter than one of {than} "
        f"({_time(rows[best], key)} against {_time(rows[reference], key)})."
    )


def _against(short_s: float, long_s: float) -> str:
    """Two times in one unit, that of the table; a long one also in minutes, hours or days."""
    also = f", {format_long(long_s)}" if long_s >= _MOST_SECONDS else ""
    return f"{format_s(short_s)} against {format_s(long_s)}{also}"


def _unsure(rows: Mapping[str, Row], ties: Sequence[str], *, simulated: bool) -> str:
    """Says that ties are within their intervals, where they are no equal numbers."""
    if not simulated:
        return ""
    times = [float(rows[kind]["simulated_s"]) for kind in ties]
    return ", as far as their 95 % intervals tell" if not _is_same(min(times), max(times)) else ""


def _within(times: Mapping[str, float], ties: Sequence[str]) -> str:
    """How equal times are that are called equal; empty where they differ by rounding errors only."""
    values = [times[kind] for kind in ties]
    return f" within {100 * (_SAME - 1):.1g} %" if exceeds(max(values), min(values)) else ""


def _overlap(a: Row, b: Row) -> bool:
    """Whether the 95 % intervals of two estimated cycle times have a common part."""
    half = _half_s(a) + _half_s(b)
    return bool(abs(a["simulated_s"] - b["simulated_s"]) <= half)


def _half_s(row: Row) -> float:
    """Half width of a 95 % interval; 0 where there is none, or where it is a rounding error."""
    half = row["simulated_half_width_s"] or 0.0
    return float(half) if half > ROUNDING * (row["simulated_s"] or 0.0) else 0.0


def agreement(rows: Sequence[Row]) -> str:
    """How far the paper's closed form is from the simulation."""
    checked = [row for row in rows if row["over_paper"] is not None and math.isfinite(row["over_paper"])]
    if not checked:
        return "There is no simulated cycle time to check the paper's closed form with."
    missing = [row for row in rows if row not in checked]
    which = f"; of {_kinds(missing)} there is no whole simulation" if missing else ""
    worst = max(checked, key=_off)
    # What is said of the worst one names its rounds itself.
    told = worst if _is_bare(worst) and _off(worst) > _CLOSE else None
    estimates = "".join(
        f" Of {_kinds(unsure)} the simulation is an estimate{interval}."
        for interval, unsure in (
            (" with a 95 % interval", [row for row in checked if _half_s(row)]),
            (" without an interval", [row for row in checked if _is_bare(row) and row is not told]),
        )
        if unsure
    )
    if (off := _off(worst)) <= _CLOSE:
        many = "each overlay" if len(checked) > 1 else str(checked[0]["overlay"])
        return (
            f"The paper's closed form of the cycle time of {many} is within {_percent(off)} of the simulation{which}."
            f"{estimates}"
        )
    side = "above" if worst["over_paper"] > 0 else "below"
    half = _half_s(worst) / worst["paper_s"]
    interval = f" (+- {100 * half:.2g} %)" if half else ""
    as_said = abs(worst["over_paper"]) < _UNSEEN
    size = (
        f"as the paper's closed form says{interval}"
        if as_said
        else f"about {two_digits(100 * abs(worst['over_paper']))} % {side} the paper's closed form, "
        f"{_rounds_text(worst)}"
        if told is not None
        else f"{100 * abs(worst['over_paper']):.3g} %{interval} {side} the paper's closed form"
    )
    good = [row for row in checked if _off(row) <= _CLOSE]
    largest = abs(worst["over_paper"]) >= max(abs(row["over_paper"]) for row in checked)
    most = ", the largest difference" if largest and not as_said and len(checked) - len(good) > 1 else ""
    rest = f"; of {_kinds(good)} it is within {100 * _CLOSE:g} %" if good else ""
    return f"The simulated cycle time of {worst['overlay']} is {size}{most}{rest}{which}.{estimates}"


def _is_bare(row: Row) -> bool:
    """Whether the simulated time is an estimate of which no interval is known."""
    return not row["simulated_is_exact"] and row["simulated_half_width_s"] is None


def _rounds_text(row: Row) -> str:
    """What an estimate without an interval is made of."""
    rounds = row["simulated_rounds"]
    return f"of {rounds:,} rounds without an interval" if rounds else "an estimate without an interval"


def two_digits(number: float) -> str:
    """A number of which no more than two digits are known."""
    return f"{float(f'{number:.2g}'):,.10g}"


def _off(row: Row) -> float:
    """Largest relative difference of simulated and paper within the 95 % interval."""
    half = _half_s(row) / row["paper_s"] if row["paper_s"] else 0.0
    return abs(float(row["over_paper"])) + half


def _percent(fraction: float) -> str:
    """A bound in percent, rounded up to a tenth: it holds."""
    return f"{max(math.ceil(1000 * fraction - 1e-6), 1) / 10:g} %"


def _one_curve(compared: Compared) -> list[str]:
    """Says that overlays do not differ in what they learn, where that was imported once for all."""
    if not compared.is_imported or len(compared.rows) < 2:
        return []
    return [
        "All overlays have the one imported training curve, so that only the times of their rounds differ."
    ]


def _eventful(compared: Compared) -> list[str]:
    """Says that events are in the simulation, and in no closed form."""
    if not compared.events or all(row["simulated_s"] is None for row in compared.rows):
        return []
    named = listed([_EVENTS.get(name, f"events ({name})") for name in compared.events])
    return [f"The simulation includes {named}, of which closed forms know nothing."]


def _interrupted(compared: Compared) -> list[str]:
    """Says that the run is not whole."""
    cut = [row for row in compared.rows if not row["simulation_is_whole"]]
    short = [row for row in compared.rows if row["overlay"] in compared.cut_trainings]
    parts = [f"the simulation of {_kinds(cut)}"] if cut else []
    parts += [f"the training of {_kinds(short)}"] if short else []
    if not parts:
        return []
    return [f"The run was interrupted, and {listed(parts)} {'are' if len(parts) > 1 else 'is'} not whole."]


def _kinds(rows: Sequence[Row]) -> str:
    """Names of rows, the first of many."""
    return _some([str(row["overlay"]) for row in rows])


def _some(names: Sequence[str]) -> str:
    """Names in a sentence, the first of many."""
    more = len(names) - _MOST_NAMED
    shown = list(names) if more <= 1 else [*names[:_MOST_NAMED], f"{more} more"]
    return listed(shown)


def _is_same(a: float, b: float) -> bool:
    """Whether two times are called equal."""
    return max(a, b) <= _SAME * min(a, b)


def _ratio(ratio: float) -> str:
    """A ratio of times above 1: three digits."""
    return f"{ratio:.2f}" if ratio < 1.1 else f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def _time(row: Row, key: str) -> str:
    """A cycle time; of an estimate with its interval."""
    value = float(row[key])
    if key != "simulated_s" or row["simulated_is_exact"]:
        return format_long(value)
    if _is_bare(row):
        return f"about {value_text(key, float(f'{value:.2g}'))}, {_rounds_text(row)}"
    half = _half_s(row)
    return f"about {format_long(value)}" + (f" +- {format_long(half)}" if half else "")
