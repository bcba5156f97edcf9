"""The slider of a study's page: the table of one access capacity and the marks in the charts, at the study's points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.config.quantities import format_long, format_rate, format_ratio
from scenarios.pages.slider import slider_bar
from scenarios.pages.study_answer import failed_rows, is_below, ranked_by, ties_of
from scenarios.report.column_labels import value_text, words_of
from scenarios.report.study_lines import HALF_WIDTH, OVERLAY, PAPER, SIMULATED, StudyLines
from scenarios.report.svg_chart import ChartAxis, ChartLine, chart_x, chart_y
from scenarios.report.web_page import text
from scenarios.runfile.study_rows import POINT

if TYPE_CHECKING:
    import pandas

ACCESS = "access_bps"
_BUSIEST = "busiest_link"
_FORMS = (PAPER, "serialized_s", "load_bound_s", SIMULATED)
"""Columns of the table that the slider moves."""
_HEADS = ("overlay", "paper", "serialized", "load", "simulated", "to the shortest", "busiest link")
_RATIO = 4
"""Place of the ratio to the shortest among the cells of a row; after it there is text only."""
_MOST_ROWS = 6000
"""Rows that the page holds for its slider, about 0.25 KB each."""
_MISSING: tuple[str, None] = ("-", None)
_NOTE = (
    "The study's own points, nothing between them. A mark in each chart over the access capacity is where the slider "
    "is; marks are on the lines, which are means over the seeds where the study has several."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityPoints:
    """A study's rows by access capacity.

    Attributes
    ----------
    capacities_bps : tuple of float
        Ascending, at least two.
    choices : tuple of str
        Combinations of the other keys that vary, in words; one empty text where none does.
    overlays : tuple of str
    cells : list, shape (choices, capacities, overlays, 6) of pairs
        Text and number of `paper`, `serialized`, `load`, `simulated`, of the ratio to the shortest, and of the busiest
        link, which has a name only; the number is None where there is none. An overlay without a row there has None in
        place of its cells.
    left_out : int
        Combinations that have no room.
    """

    capacities_bps: tuple[float, ...]
    choices: tuple[str, ...]
    overlays: tuple[str, ...]
    cells: list[Any]
    left_out: int


def capacity_points(table: "pandas.DataFrame") -> CapacityPoints | None:
    """What the slider of a study shows.

    Parameters
    ----------
    table : DataFrame
        Of `scenarios.runfile.study_table.read_study`.

    Returns
    -------
    CapacityPoints or None
        None where the capacity of all access links is no key that varies, or is no number in some row.

    Notes
    -----
    Linear in the rows.
    """
    columns = [str(column) for column in table.columns]
    keys = columns[: columns.index("network")] if "network" in columns else []
    good = table[~failed_rows(table)]
    if ACCESS not in keys or good[ACCESS].dtype.kind not in "iuf":
        return None
    good = good[np.isfinite(good[ACCESS])]
    capacities = tuple(sorted(map(float, good[ACCESS].unique())))
    if len(capacities) < 2:
        return None
    besides = [
        key for key in keys if key not in (ACCESS, POINT, OVERLAY) and good[key].nunique(dropna=False) > 1
    ]
    overlays = tuple(map(str, good[OVERLAY].unique()))
    named = [
        ", ".join(
            f"{words_of(key)} {value_text(key, value)}" for key, value in zip(besides, row, strict=True)
        )
        for row in good[besides].itertuples(index=False, name=None)
    ] or [""] * len(good)
    choices = tuple(dict.fromkeys(named))
    most = max(1, _MOST_ROWS // (len(capacities) * len(overlays)))
    at = {choice: place for place, choice in enumerate(choices[:most])}
    cells: list[Any] = [[[None] * len(overlays) for _ in capacities] for _ in at]
    places = {capacity: place for place, capacity in enumerate(capacities)}
    rows = zip(named, good[ACCESS], good[OVERLAY], _row_cells(good), strict=True)
    for choice, capacity, overlay, shown in rows:
        if choice in at:
            cells[at[choice]][places[float(capacity)]][overlays.index(str(overlay))] = shown
    return CapacityPoints(
        capacities_bps=capacities,
        choices=choices[:most],
        overlays=overlays,
        cells=cells,
        left_out=len(choices) - len(at),
    )


def _row_cells(good: "pandas.DataFrame") -> list[list[Any]]:
    """Text and number of the cells of each row; below load, paper has the mark of all tables."""
    ranked = ranked_by(good)
    least = ranked.groupby(good[POINT]).transform("min")
    ratios = (ranked / least).where(least > 0)
    shortest = ties_of(good, ranked) & ranked.notna()
    columns = good.reindex(columns=[*_FORMS, HALF_WIDTH, _BUSIEST])
    found = []
    for (*values, width, link), ratio, is_shortest, is_marked in zip(
        columns.itertuples(index=False, name=None), ratios, shortest, is_below(good), strict=True
    ):
        cells = [_cell(value) for value in values]
        if is_marked:
            cells[0] = [f"!{cells[0][0]}", cells[0][1]]
        if cells[3][1] is not None and width == width:
            cells[3] = [f"{cells[3][0]} \u00b1 {format_long(width)}", cells[3][1]]
        last: list[Any] = list(_MISSING)
        if is_shortest:
            last = ["shortest", float(ratio) if ratio == ratio else 1.0]
        elif ratio == ratio:
            last = [format_ratio(float(ratio)), float(ratio)]
        found.append([*cells, last, [link, None] if isinstance(link, str) else list(_MISSING)])
    return found


def _cell(value: float) -> list[Any]:
    """A time as text and as number."""
    if value is None or not np.isfinite(value):
        return list(_MISSING)
    return [format_long(float(value)), float(value)]


def study_slider(points: CapacityPoints) -> str:
    """The slider, the choice of a combination, and the table at the first capacity."""
    names = [format_rate(bps) for bps in points.capacities_bps]
    heads = "".join(
        f'<th scope="col"{" class=number" if 0 < place <= _RATIO + 1 else ""}>{head}</th>'
        for place, head in enumerate(_HEADS)
    )
    rows = "".join(
        f'<tr data-row="{place}"{_chosen(cells)}><th scope="row">{text(overlay)}</th>{_tds(cells)}</tr>'
        for place, (overlay, cells) in enumerate(zip(points.overlays, points.cells[0][0], strict=True))
    )
    choice = points.choices[0]
    notes = [
        "to the shortest: how many times as long a round takes as that of the shortest, by the simulation where the "
        "study has one, else by the larger of paper and load; overlapping 95 % intervals are all the shortest. "
        "busiest link: that sets load. !: paper is below load, which no network can do."
    ]
    if points.left_out:
        notes.append(f"{points.left_out:,} more combinations have no room here; the file has them.")
    return (
        "<h2>At one access capacity</h2>"
        f"{slider_bar('Access links at', names, 0, _NOTE)}{_choice(points.choices)}"
        '<noscript><p class="note">The slider needs scripts.</p></noscript>'
        '<div class="table" aria-live="polite"><table id="at-capacity"><caption>Cycle times with access links at '
        f'<span class="at">{text(names[0])}</span><span id="choice-text">{text(f", {choice}" if choice else "")}'
        f"</span></caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        + "".join(f'<p class="note">{text(note)}</p>' for note in notes)
    )


def _choice(choices: Sequence[str]) -> str:
    """A list to choose a combination of the other keys from; nothing where there is one only."""
    if len(choices) == 1:
        return ""
    options = "".join(f'<option value="{place}">{text(name)}</option>' for place, name in enumerate(choices))
    return f'<p class="onscreen"><label for="choice">The rows of </label><select id="choice">{options}</select></p>'


def _chosen(cells: list[Any] | None) -> str:
    """The mark of the shortest's row."""
    return ' class="chosen"' if cells is not None and cells[_RATIO][0] == "shortest" else ""


def _tds(cells: list[Any] | None) -> str:
    """The cells of a row, as the script writes them."""
    there: list[Any] = [_MISSING] * (len(_HEADS) - 1) if cells is None else cells
    return "".join(
        f'<td{" class=number" if place <= _RATIO else ""} data-value="{"" if value is None else repr(value)}">'
        f"{text(shown)}</td>"
        for place, (shown, value) in enumerate(there)
    )


def study_slider_data(points: CapacityPoints) -> dict[str, Any]:
    """What the script needs: texts as Python writes them, so that nothing is computed in the browser."""
    return {
        "names": [format_rate(bps) for bps in points.capacities_bps],
        "choices": list(points.choices),
        "ratio": _RATIO,
        "cells": points.cells,
    }


def chart_marks(
    points: CapacityPoints, lines: StudyLines, drawn: Sequence[ChartLine], x: ChartAxis, y: ChartAxis
) -> str:
    """A cursor and a mark on each line of a chart over the access capacity; nothing in a chart over anything else.

    Notes
    -----
    Each has its place on the page for each capacity in ``data-places``; the first is where it is.
    """
    if lines.x != ACCESS or lines.categories:
        return ""
    capacities = np.array(points.capacities_bps)
    across = chart_x(x, capacities)
    places = " ".join(f"{at:.1f}" for at in across)
    parts = [
        f'<line class="cursor" data-places="{places}" x1="{across[0]:.1f}" y1="12" x2="{across[0]:.1f}" y2="252"/>'
    ]
    for line in drawn:
        if line.is_thin:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            heights = {float(at): float(down) for at, down in zip(line.x, chart_y(y, line.y), strict=True)}
        found = [heights.get(float(capacity), np.nan) for capacity in capacities]
        there = " ".join(
            f"{at:.1f},{down:.1f}" if np.isfinite(down) else "-"
            for at, down in zip(across, found, strict=True)
        )
        first = np.isfinite(found[0])
        parts.append(
            f'<circle class="mark f-{line.style}{"" if first else " off"}" data-places="{there}" '
            f'cx="{across[0]:.1f}" cy="{found[0] if first else 0:.1f}" r="4"/>'
        )
    return "".join(parts)


STUDY_SLIDER_STYLE = "#at-capacity .chosen td { font-weight: 600; } .mark.off { display: none; }\n"
STUDY_SLIDER_SCRIPT = """
const study = JSON.parse(document.getElementById("study").textContent);
const slider = document.getElementById("capacity"), choice = document.getElementById("choice");
function update() {
  const place = Number(slider.value), name = study.names[place], chosen = Number(choice?.value ?? 0);
  slider.setAttribute("aria-valuetext", name);
  document.getElementById("capacity-text").textContent = name;
  for (const at of document.querySelectorAll(".at")) at.textContent = name;
  const words = study.choices[chosen];
  document.getElementById("choice-text").textContent = words ? `, ${words}` : "";
  study.cells[chosen][place].forEach((cells, overlay) => {
    const row = document.querySelector(`#at-capacity [data-row="${overlay}"]`);
    row.classList.toggle("chosen", cells !== null && cells[study.ratio][0] === "shortest");
    row.querySelectorAll("td").forEach((cell, at) => {
      const [shown, value] = cells === null ? ["-", null] : cells[at];
      cell.textContent = shown;
      cell.dataset.value = value === null ? "" : String(value);
    });
  });
  for (const cursor of document.querySelectorAll("line[data-places]")) {
    const across = cursor.dataset.places.split(" ")[place];
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, across);
  }
  for (const mark of document.querySelectorAll("circle[data-places]")) {
    const at = mark.dataset.places.split(" ")[place];
    mark.classList.toggle("off", at === "-");
    if (at !== "-") ["cx", "cy"].forEach((end, k) => mark.setAttribute(end, at.split(",")[k]));
  }
}
slider.addEventListener("input", update);
choice?.addEventListener("change", update);
document.getElementById("reset").addEventListener("click", () => { slider.value = 0; update(); });
update();
"""
