"""What the table of a study says: which overlay is fastest in how many of its points."""

from typing import TYPE_CHECKING

import numpy as np

from scenarios.pages.answer import two_digits
from scenarios.report.study_lines import BELOW, HALF_WIDTH, OVERLAY, PAPER, SIMULATED, TARGET
from scenarios.runfile.study_rows import ERROR, POINT
from topologies.rounding import ROUNDING
from topologies.wrapping import listed

if TYPE_CHECKING:
    import pandas

TO_TARGET = "time_to_target_s"
_LOAD, _RANKED, _STAR = "load_bound_s", "ranked_s", "star"
_MOST_NAMED = 5


def study_answer(table: "pandas.DataFrame") -> list[str]:
    """How many points there are, and which overlay is fastest in how many of them.

    Parameters
    ----------
    table : DataFrame
        Of `scenarios.runfile.study_table.read_study`.

    Returns
    -------
    list of str
        Sentences. Overlays are ranked by their time to the target where the table has one, as that of replays, else by
        their simulated cycle time, else by the larger of paper and load, as no simulation is faster than the load
        bound. Estimates whose 95 % interval overlaps that of the shortest are ties.
    """
    points, overlays = int(table[POINT].nunique()), int(table[OVERLAY].nunique())
    failed = failed_rows(table)
    good = table[~failed]
    # A point in which an overlay failed says nothing of which is fastest.
    compared = good[~good[POINT].isin(table[failed][POINT])]
    beginning = f"{_count(points, 'point')} of {_count(overlays, 'overlay')}."
    if failed.any():
        beginning += f" {_count(int(failed.sum()), 'row')} with an error."
    said = [beginning, *_ranking(compared)]
    if below := int(is_below(good).sum()):
        said.append(
            f"In {_count(below, 'row')} paper is below the load bound, so that no network is as fast."
        )
    return said


def failed_rows(table: "pandas.DataFrame") -> "pandas.Series[bool]":
    """Rows with an error or without an overlay."""
    failed = table[OVERLAY].isna()
    return failed | table[ERROR].notna() if ERROR in table.columns else failed


def is_below(table: "pandas.DataFrame") -> "pandas.Series[bool]":
    """Rows whose `paper` is below the load bound; values, and the whole column, may be missing."""
    return (table.reindex(columns=[BELOW])[BELOW] == True).fillna(False)  # noqa: E712


def _ranking(good: "pandas.DataFrame") -> list[str]:
    """The sentences on which overlay is fastest, of rows without an error."""
    if has_values(good, TO_TARGET):
        return _by_target(good)
    if has_values(good, TARGET):
        return [f"In no point does an overlay reach {_goal(good)}.", *_by_cycle_time(good)]
    return _by_cycle_time(good)


def _by_cycle_time(good: "pandas.DataFrame") -> list[str]:
    """The sentence on the shortest cycle time."""
    is_simulated = has_values(good, SIMULATED)
    good = good.assign(**{_RANKED: ranked_by(good)})
    if not has_values(good, _RANKED):
        return ["No point has a cycle time."]
    # A point in which an overlay lacks its time says nothing of which is fastest.
    lacking = good[good[_RANKED].isna()][POINT].unique()
    timed = good[~good[POINT].isin(lacking)]
    if timed.empty:
        return [f"No point has a {'simulated ' if is_simulated else ''}cycle time of each overlay."]
    room = timed.groupby(POINT)[_RANKED].transform("min") * (1 + ROUNDING)
    is_best = ties_of(timed, timed[_RANKED])
    best, unsure = timed[is_best], bool((is_best & (timed[_RANKED] > room)).any())
    form = "simulated cycle time" if is_simulated else "cycle time (the larger of paper and load)"
    within = ", overlapping 95 % intervals among them" if unsure else ""
    return [
        f"Of {int(timed[POINT].nunique()):,} with a {form}, {_wins(best, timed, 'shortest', within)}.",
        *_factors(best, timed, _RANKED, "a round of {} takes", "one of {}"),
    ]


def ranked_by(good: "pandas.DataFrame") -> "pandas.Series[float]":
    """The cycle times that overlays are ranked by: simulated where any is, else the larger of paper and load."""
    if has_values(good, SIMULATED):
        return good[SIMULATED]
    forms = good.reindex(columns=[PAPER, _LOAD])
    return forms.max(axis=1).where(forms[PAPER].notna())


def ties_of(good: "pandas.DataFrame", ranked: "pandas.Series[float]") -> "pandas.Series[bool]":
    """Rows with the shortest of their point's times, and those whose 95 % interval overlaps the shortest's."""
    least = ranked.groupby(good[POINT]).transform("min")
    room = least * ROUNDING
    if has_values(good, SIMULATED) and has_values(good, HALF_WIDTH):
        half = good[HALF_WIDTH].fillna(0.0)
        of_best = half.where(ranked <= least + room).groupby(good[POINT]).transform("max")
        room = np.maximum(room, half + of_best)
    return ranked - least <= room


def _factors(best: "pandas.DataFrame", of: "pandas.DataFrame", key: str, takes: str, one: str) -> list[str]:
    """How much longer the STAR takes than the overlay that is best most often, or else the second best.

    Parameters
    ----------
    best, of : DataFrame
        Rows of the best, and all rows compared.
    key : str
        Column of times.
    takes, one : str
        Words around the names of the slower and of the faster.
    """
    wins = best.groupby(OVERLAY, sort=False)[POINT].nunique().sort_values(ascending=False, kind="stable")
    first = str(wins.index[0])
    kinds = of["kind"] if "kind" in of.columns else of[OVERLAY]
    stars = [str(name) for name in of[OVERLAY][kinds == _STAR].unique() if str(name) != first]
    slower = stars[0] if stars else None
    least = of[of[OVERLAY] == first].groupby(POINT)[key].first()
    others = of[of[OVERLAY] == slower] if slower is not None else of[of[OVERLAY] != first]
    ratios = (others.groupby(POINT)[key].min() / least[least > 0]).dropna()
    if ratios.empty:
        return []
    low, high = (_ratio(float(end)) for end in (ratios.min(), ratios.max()))
    span = low if low == high else f"{low} to {high}"
    named = slower if slower is not None else "the fastest other overlay"
    return [f"There {takes.format(named)} {span} times as long as {one.format(first)}."]


def _ratio(ratio: float) -> str:
    """A ratio with two digits; close to 1 with as many as tell it from 1."""
    return f"{ratio:.3f}" if 0.95 <= ratio < 1.05 and ratio != 1 else two_digits(ratio)


def _by_target(good: "pandas.DataFrame") -> list[str]:
    """The sentences where there are times to a target accuracy."""
    reached = good[good[TO_TARGET].notna()]
    least = reached.groupby(POINT)[TO_TARGET].transform("min")
    best = reached[reached[TO_TARGET] - least <= least * ROUNDING]
    points = int(reached[POINT].nunique())
    if not has_values(reached, TARGET):
        wins = _wins(best, reached, "shortest time to the last recorded round", "")
        return [f"Of {_count(points, 'point')} without a target accuracy, {wins}."]
    wins = _wins(best, reached, "shortest time to it", "")
    said = [f"Of {_count(points, 'point')} in which {_goal(reached)} is reached, {wins}."]
    said += _factors(best, reached, TO_TARGET, "{} takes", "{} to it")
    if none := int(good[POINT].nunique()) - points:
        said.append(f"In {_count(none, 'point')} no overlay reaches it.")
    return said


def _goal(good: "pandas.DataFrame") -> str:
    """The target accuracy, where all rows have one."""
    targets = good[TARGET].dropna().unique().tolist()
    return f"a test accuracy of {100 * targets[0]:g} %" if len(targets) == 1 else "the target accuracy"


def _wins(best: "pandas.DataFrame", of: "pandas.DataFrame", what: str, within: str) -> str:
    """Which overlay is best in how many points."""
    wins = best.groupby(OVERLAY, sort=False)[POINT].nunique().sort_values(ascending=False, kind="stable")
    compared = int(of[POINT].nunique())
    (first, most), *others = [(str(kind), int(count)) for kind, count in wins.items()]
    others, more = others[: _MOST_NAMED - 1], len(others[_MOST_NAMED - 1 :])
    all_of = "all of them" if most == compared else f"{most:,}"
    named = [f"{first} has the {what} in {all_of}", *(f"{kind} in {count:,}" for kind, count in others)]
    named += [f"{_count(more, 'more overlay')} in at most {others[-1][1]:,}"] if more else []
    ties = f", ties counted for each{within}" if wins.sum() > compared else ""
    return f"{listed(named)}{ties}"


def has_values(table: "pandas.DataFrame", column: str) -> bool:
    """Whether a column has any value."""
    return column in table.columns and bool(table[column].notna().any())


def _count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
