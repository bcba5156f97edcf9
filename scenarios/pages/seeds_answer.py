"""What runs with several seeds say, in sentences that are true of their table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scenarios.config.quantities import format_interval, format_long, format_mean
from scenarios.pages.answer import Compared
from scenarios.report.tables import Row, Table
from topologies.arrays import FloatArray
from topologies.statistics import batch_means
from topologies.wrapping import listed

_MOST_NAMED = 6
_ENOUGH = 5
"""Seeds below which an answer that does not tell overlays apart asks for more."""
_TIME, _ACCURACY, _LOSS = "time_to_target_s", "test_accuracy", "train_loss"


def seeds_question(compared: Compared, seeds: int) -> str:
    """What was compared, on which network, how often."""
    kinds = [str(row["overlay"]) for row in compared.rows]
    times = f"{seeds} seed{'' if seeds == 1 else 's'}"
    if len(kinds) == 1:
        return f"How well does {compared.name(kinds[0])} train on {compared.place}, over {times}?"
    return f"Which overlay trains fastest on {compared.place}, over {times}?"


def seeds_answer(compared: Compared, table: Table) -> tuple[str, ...]:
    """The answer: who reaches the target first, and who has the best accuracy in the end.

    Parameters
    ----------
    compared : Compared
        Names, place and target; the table's rows.
    table : Table
        Of `scenarios.report.seeds_table.seeds_table`.

    Returns
    -------
    tuple of str
        Sentences. Differences between two overlays are those of each seed, whose partition, initial model and order of
        samples both have; a 95 % interval of Student's distribution that holds 0 does not tell them apart.
    """
    runs = [dict(run) for run in _runs(table)]
    if not any(run[measure] is not None for run in runs for measure in (_ACCURACY, _LOSS)):
        return ("Nothing was trained.",)
    return (*_to_target(compared, table, runs), *_in_the_end(compared, table, runs))


def _runs(table: Table) -> Sequence[Row]:
    """The values of each seed and overlay."""
    runs = table.further["runs"]
    assert isinstance(runs, list)
    return runs


def _to_target(compared: Compared, table: Table, runs: Sequence[Row]) -> list[str]:
    """Who reaches the target first, where anybody does in all runs; else who reaches it how often."""
    if compared.target_accuracy is None or all(run[_ACCURACY] is None for run in runs):
        return []
    rows = {str(row["overlay"]): row for row in table.rows}
    seeds = int(table.rows[0]["seeds"])
    every = [kind for kind, row in rows.items() if row[f"{_TIME}_mean"] is not None]
    some = [kind for kind, row in rows.items() if kind not in every and row["reached"]]
    none = [kind for kind in rows if kind not in every and kind not in some]
    on = f"On {compared.place}, "
    if not every:
        if not some:
            who = compared.name(none[0]) if len(rows) == 1 else "no overlay"
            verb = "does not reach" if len(rows) == 1 else "reaches"
            in_any = "" if seeds == 1 else " in any run"
            return [f"{on}{who} {verb} {compared.goal}{in_any}."]
        return [
            f"{on}{_often(compared, rows, some, seeds)} of the runs reach {compared.goal}."
            if len(rows) == 1
            else f"{on}{compared.goal} is not reached by any overlay in all runs: "
            f"{_often(compared, rows, some, seeds)}{_never(compared, none)}."
        ]
    every.sort(key=lambda kind: float(rows[kind][f"{_TIME}_mean"]))
    sentences = _first_to_target(compared, rows, runs, every, seeds)
    if some or none:
        parts = [_often(compared, rows, some, seeds)] if some else []
        parts += [f"{_named(compared, none)} in none"] if none else []
        sentences.append(f"Not all runs of the others reach it: {', '.join(parts)}.")
    return sentences


def _first_to_target(
    compared: Compared, rows: dict[str, Row], runs: Sequence[Row], every: Sequence[str], seeds: int
) -> list[str]:
    """Who reaches the target first, or that the seeds do not tell, and when; `every` is in the order of the means."""
    best, *later = every
    on, goal, first = f"On {compared.place}, ", compared.goal, compared.name(best)
    after = f"after {_time(rows[best])}" + (" in the mean, with its 95 % interval" if seeds > 1 else "")
    if not later:
        is_first = " first" if len(rows) > 1 else ""
        return [f"{on}{first} reaches {goal}{is_first}: {after}."]
    others = [f"{compared.name(kind)} after {_time(rows[kind])}" for kind in later[:_MOST_NAMED]]
    more = len(later) - _MOST_NAMED
    others += [f"{more} more later"] if more > 0 else []
    second, apart = compared.name(later[0]), _difference(runs, _TIME, best, later[0])
    if apart is not None and not apart.tells:
        difference = "" if apart.is_none else f": {apart.shown} over the same seeds, an interval that holds 0"
        wins = f"{_wins(compared, runs, best, seeds)}{_hint(seeds)}"
        sentences = [
            f"{on}{seeds} seeds do not tell {first} and {second} apart: {wins}.",
            f"In the mean {first} reaches {goal} after {_time(rows[best])}, with its 95 % interval, and {second} after "
            f"{_time(rows[later[0]])}{difference}.",
        ]
        others = others[1:]
    else:
        sentences = [f"{on}{first} reaches {goal} first: {after}."]
    if others:
        sentences.append(f"Then follow{'' if len(others) > 1 else 's'} {listed(others)}.")
    if apart is not None and apart.tells:
        sentences.append(f"Over the same seeds {second} is {apart.shown}.")
        sentences.append(f"By seeds, {_wins(compared, runs, best, seeds)}.")
    return sentences


def _hint(seeds: int) -> str:
    """What may tell two overlays apart, where seeds are few."""
    return f"; more may (--seeds {_ENOUGH})" if seeds < _ENOUGH else ""


def _often(compared: Compared, rows: dict[str, Row], kinds: Sequence[str], seeds: int) -> str:
    """In how many runs each of these reaches the target."""
    if len(rows) == 1:
        return f"{rows[kinds[0]]['reached']} of {seeds}"
    return listed([f"{compared.name(kind)} in {rows[kind]['reached']} of {seeds}" for kind in kinds])


def _never(compared: Compared, kinds: Sequence[str]) -> str:
    """Who never reaches it."""
    return f"; {_named(compared, kinds)} in none" if kinds else ""


def _named(compared: Compared, kinds: Sequence[str]) -> str:
    """Overlays in a sentence."""
    return listed([compared.name(kind) for kind in kinds])


def _wins(compared: Compared, runs: Sequence[Row], best: str, seeds: int) -> str:
    """In how many seeds each overlay is the first; equal ones all count."""
    firsts: dict[str, int] = {}
    for seed in dict.fromkeys(run["seed"] for run in runs):
        times = {
            str(run["overlay"]): run[_TIME] for run in runs if run["seed"] == seed and run[_TIME] is not None
        }
        for kind, time in times.items():
            firsts[kind] = firsts.get(kind, 0) + (time == min(times.values()))
    others = [f"{compared.name(kind)} in {count}" for kind, count in firsts.items() if kind != best and count]
    also = f", {listed(others)}" if others else ""
    return f"{compared.name(best)} is the first in {firsts[best]} of {seeds}{also}"


def _in_the_end(compared: Compared, table: Table, runs: Sequence[Row]) -> list[str]:
    """Who has the best accuracy in the last row; without accuracies the lowest loss."""
    measure = _ACCURACY if any(run[_ACCURACY] is not None for run in runs) else _LOSS
    key = f"{measure}_mean"
    rows = {str(row["overlay"]): row for row in table.rows if row[key] is not None}
    if not rows:
        return []
    highest, what = ("highest", "test accuracy") if measure == _ACCURACY else ("lowest", "training loss")
    seeds = len({run["seed"] for run in runs})
    order = sorted(rows, key=lambda kind: float(rows[kind][key]), reverse=measure == _ACCURACY)
    best, others = order[0], order[1 : _MOST_NAMED + 1]
    if not others:
        return [f"In the end {compared.name(best)} has a {what} of {_level(rows[best], measure)}."]
    equal = [kind for kind in order[1:] if not _apart(runs, measure, best, kind).any()]
    if equal:
        same = _named(compared, [kind for kind in rows if kind in (best, *equal)])
        each = " in each seed" if seeds > 1 else ""
        lower = [
            f"{compared.name(kind)} {_level(rows[kind], measure)}" for kind in others if kind not in equal
        ]
        rest = f" ({', '.join(lower)})" if lower else ""
        return [f"In the end {same} have the same {what}{each}, {_level(rows[best], measure)}{rest}."]
    levels = [f"{compared.name(kind)} {_level(rows[kind], measure)}" for kind in others]
    apart = _difference(runs, measure, best, others[0])
    if apart is not None and not apart.tells:
        rest = f" ({', '.join(levels[1:])})" if levels[1:] else ""
        return [
            f"In the end {seeds} seeds do not tell {compared.name(best)} and {compared.name(others[0])} apart "
            f"by the {what}, {_level(rows[best], measure)} and {_level(rows[others[0]], measure)}, "
            f"{apart.shown} over the same seeds{rest}{_hint(seeds)}."
        ]
    level = f"{_level(rows[best], measure)} ({', '.join(levels)})"
    sentences = [f"In the end {compared.name(best)} has the {highest} {what}, {level}."]
    if apart is not None:
        sentences.append(f"Over the same seeds {compared.name(others[0])} is {apart.shown}.")
    return sentences


class _Difference(NamedTuple):
    """Of two overlays over the same seeds.

    Attributes
    ----------
    shown : str
        Its mean with a 95 % interval, in words.
    tells : bool
        Whether the interval is beside 0.
    is_none : bool
        Whether both are equal in each seed.
    """

    shown: str
    tells: bool
    is_none: bool


def _difference(runs: Sequence[Row], measure: str, best: str, other: str) -> _Difference | None:
    """How far the next is from the best over the same seeds; None of one seed."""
    every = _apart(runs, measure, best, other)
    if len(every) < 2:
        return None
    mean, half = abs(float(every.mean())), batch_means(every, batches=len(every)).half_width
    shown = {
        _TIME: f"{format_interval(mean, half)} later",
        _ACCURACY: f"{format_mean(100 * mean, 100 * half)} percentage points lower",
        _LOSS: f"{format_mean(mean, half)} higher",
    }[measure]
    return _Difference(shown=shown, tells=mean > half, is_none=not every.any())


def _apart(runs: Sequence[Row], measure: str, best: str, other: str) -> FloatArray:
    """Another overlay's values less those of the best, seed by seed."""
    values = {
        kind: np.array([float(run[measure]) for run in runs if run["overlay"] == kind])
        for kind in (best, other)
    }
    apart: FloatArray = values[other] - values[best]
    return apart


def _time(row: Row) -> str:
    """A mean time with its interval."""
    mean, half = float(row[f"{_TIME}_mean"]), row[f"{_TIME}_half_width"]
    return format_long(mean) if half is None else format_interval(mean, half)


def _level(row: Row, measure: str) -> str:
    """A mean accuracy or loss with its interval."""
    factor, unit = (100.0, " %") if measure == _ACCURACY else (1.0, "")
    half = row[f"{measure}_half_width"]
    shown = format_mean(factor * float(row[f"{measure}_mean"]), None if half is None else factor * half)
    return shown + unit
