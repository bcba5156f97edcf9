"""The page of a study's table: what is fastest, the lines of its figure, its first rows and its errors."""

import hashlib
import itertools
import shlex
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.pages.assumptions import assumed_list
from scenarios.pages.glossary import glossary
from scenarios.pages.page_style import PAGE_STYLE
from scenarios.pages.provenance import file_digest, origin_list
from scenarios.pages.sections import made_sections
from scenarios.pages.slider import SLIDER_STYLE
from scenarios.pages.study_answer import TO_TARGET, failed_rows, has_values, is_below, study_answer
from scenarios.pages.study_slider import (
    ACCESS,
    STUDY_SLIDER_SCRIPT,
    STUDY_SLIDER_STYLE,
    CapacityPoints,
    capacity_points,
    chart_marks,
    study_slider,
    study_slider_data,
)
from scenarios.pages.study_source import StudySource, study_source
from scenarios.report.column_labels import column_axis, value_text, words_of
from scenarios.report.line_styles import styles_of
from scenarios.report.study_lines import (
    BELOW,
    OVERLAY,
    PAPER,
    StudyLines,
    keys_besides,
    study_lines,
)
from scenarios.report.svg_chart import (
    CHART_STYLE,
    ChartAxis,
    ChartLine,
    category_axis,
    chart_axis,
    line_chart,
    line_classes,
    line_legend,
    line_sheet,
)
from scenarios.report.web_page import capital, embedded, html_table, text, web_page
from scenarios.runfile.paths import PARTIAL
from scenarios.runfile.study_rows import ERROR, POINT
from scenarios.runfile.study_table import RANGES, ranges_of, read_study
from topologies import InputError
from topologies.wrapping import listed, unbroken

if TYPE_CHECKING:
    import pandas

_MOST_ROWS, _MOST_ERRORS = 200, 50
_MOST_FIGURES, _MOST_PANELS = 12, 12
_SETTINGS = ("sharing", "queueing", "engine", "rounds")
"""Columns of results that say how points were simulated."""
_SAME_AS = {
    "access_up_bps": ACCESS,
    "access_down_bps": ACCESS,
    "model_bits": "model_size_bits",
    "kind": OVERLAY,
}
"""Columns, and those before them that often say the same."""
_BELOW_NOTE = "!: paper is below load, which no network can do: do not count on it."


def study_page(path: Path) -> str:
    """The page of the table of a study, finished or not.

    Raises
    ------
    InputError
        If it cannot be read, or holds no row.

    Notes
    -----
    Linear in the rows; of many, the first ones are in the page's table.
    """
    table = read_study(path)
    if table.empty:
        raise InputError("holds no point.", source=str(path))
    names = table[OVERLAY].dropna().unique().tolist()
    styles = styles_of(names)
    points = capacity_points(table)
    source = cache(partial(study_source, path, table))
    body = made_sections(
        {
            "answer": lambda: (
                f"<h1>Which overlay is fastest, over {text(_keys_text(table))}?</h1>",
                f'<p class="answer">{text(unbroken(" ".join(study_answer(table))))}</p>',
            ),
            "study": lambda: _inputs(path, table, source()),
            "slider": lambda: () if points is None else (study_slider(points),),
            "charts": lambda: _figures(table, names, points),
            "table": lambda: (_rows(table), _errors(table)),
            "origin": lambda: (
                "<h2>How to make this again</h2>",
                f"<pre>{text(_commands(path, source()))}</pre>",
                origin_list(_origin(path, source())),
                "" if points is None else embedded("study", study_slider_data(points)),
            ),
        }
    )
    sheets = (CHART_STYLE, PAGE_STYLE, SLIDER_STYLE, STUDY_SLIDER_STYLE, line_sheet(styles))
    script = "" if points is None else STUDY_SLIDER_SCRIPT
    return web_page(f"Study: {path.name}", filter(None, body), style="".join(sheets), script=script)


def _origin(path: Path, source: StudySource | None) -> dict[str, str]:
    """The version, and hashes of the table and of its study's text."""
    digest = {f"{path.name}, SHA-256": file_digest(path)}
    if source is None:
        return digest
    # A point's name is a hash of the version, too: found by its points, the study was computed by this one.
    return {
        "silosim version": version("silosim"),
        f"{source.name}, SHA-256": hashlib.sha256(source.text.encode()).hexdigest(),
        **digest,
    }


def _commands(path: Path, source: StudySource | None) -> str:
    """Commands that make the table and its page again."""
    table = shlex.quote(path.name.removesuffix(PARTIAL))
    page = shlex.quote(f"{Path(path.name.removesuffix(PARTIAL)).stem}.html")
    study = "STUDY.toml" if source is None else shlex.quote(source.name)
    return f"silosim study {study} -o {table}\nsilosim plot {table}\nsilosim report {table} -o {page}"


def _inputs(path: Path, table: "pandas.DataFrame", source: StudySource | None) -> list[str]:
    """What all points have in common, what is assumed, and the study's file."""
    good = table[~failed_rows(table)]
    common = {} if good.empty else {column: _shown(column, good[column].iloc[0]) for column in _common(good)}
    parts = ["<h2>What was compared</h2>"]
    if common:
        named = {capital(words_of(column)): value for column, value in common.items() if value}
        parts.append(f"<p>The same in all rows:</p>{origin_list(named)}")
    if source is None:
        missing = (
            f"The study's TOML file is not in the folder of {path.name}, so that its scenario and what it assumes "
            "cannot be shown: a table is told to be a study's by its points, which are of one version of silosim."
        )
        return [*parts, f'<p class="note">{text(missing)}</p>', glossary()]
    return [
        *parts,
        assumed_list(source.assumed),
        glossary(),
        f"<details><summary>Study ({text(source.name)})</summary><pre>{text(source.text)}</pre></details>",
        *_replayed(source),
    ]


def _replayed(source: StudySource) -> list[str]:
    """The scenario of the run that the points replay, which their study changes."""
    if not source.run_scenario:
        return []
    head = "<summary>Scenario of the run that is replayed (TOML)</summary>"
    return [f"<details>{head}<pre>{text(source.run_scenario)}</pre></details>"]


def _common(table: "pandas.DataFrame") -> list[str]:
    """Inputs and settings of which all rows have one value, or none."""
    columns = [str(column) for column in table.columns]
    inputs = columns[: columns.index(OVERLAY)] + [column for column in _SETTINGS if column in columns]
    return [column for column in inputs if column != POINT and table[column].nunique(dropna=False) == 1]


def _keys_text(table: "pandas.DataFrame") -> str:
    """The keys that vary, in words."""
    columns = list(table.columns)
    keys = columns[: columns.index("network")] if "network" in columns else []
    return listed([words_of(str(key)) for key in keys if key != POINT]) or "one point"


def chosen_lines(table: "pandas.DataFrame") -> tuple[list[StudyLines], list[str]]:
    """What ``silosim plot`` draws, of replays the time to the target; a figure for each value of what it cannot show.

    Returns
    -------
    figures : list of StudyLines
    notes : list of str
        What is not drawn.
    """
    y = TO_TARGET if has_values(table, TO_TARGET) else None
    try:
        return [study_lines(table, y=y)], []
    except InputError as error:
        reason = str(error)
    besides = keys_besides(table)
    if not besides:
        return [], [f"No chart: {reason}"]
    values = {key: list(table[key].dropna().unique()) for key in besides}
    facet = next((key for key in reversed(besides) if len(values[key]) <= _MOST_PANELS), None)
    fixed = [key for key in besides if key != facet]
    combinations = list(itertools.product(*(values[key] for key in fixed)))
    figures: list[StudyLines] = []
    for combination in combinations[:_MOST_FIGURES]:
        where = {key: [value] for key, value in zip(fixed, combination, strict=True)}
        try:
            figures.append(study_lines(table, y=y, facet=facet, where=where))
        except InputError as error:
            reason = str(error)
    notes = [] if figures else [f"No chart: {reason}"]
    if len(combinations) > _MOST_FIGURES:
        notes.append(
            f"Charts are of the first {_MOST_FIGURES} of {len(combinations):,} combinations of {listed(fixed)}; "
            "silosim plot --where draws others."
        )
    return figures, notes


def _figures(table: "pandas.DataFrame", names: Sequence[str], points: CapacityPoints | None) -> list[str]:
    """All charts, with their legend and the numbers of their points; over the capacity where the slider moves it."""
    first = [] if points is None else [ACCESS]
    figures, notes = chosen_lines(
        table[[*first, *(column for column in table.columns if column not in first)]]
    )
    parts = ["<h2>Charts</h2>"]
    has_paper = any(
        line.paper is not None for each in figures for panel in each.panels for line in panel.lines
    )
    if figures:
        further = ["thin: paper"] if has_paper else []
        further += [_BELOW_NOTE] if any(_is_marked(each) for each in figures) else []
        spreads = {each.spread for each in figures}
        further += [f"band: lowest to highest of {figures[0].seeds}"] if "seeds" in spreads else []
        further += ["bars: 95 % interval of the simulation"] if "interval" in spreads else []
        parts.append(line_legend(styles_of(names), names, further))
    for place, lines in enumerate(figures):
        parts.append(_figure(lines, place, names, points))
        notes += [note for note in lines.notes if note not in notes]
    return [*parts, *(f'<p class="note">{text(capital(note))}</p>' for note in notes)]


def _figure(lines: StudyLines, place: int, names: Sequence[str], points: CapacityPoints | None) -> str:
    """One figure: a chart for each panel, axes in common."""
    every = [line for panel in lines.panels for line in panel.lines]
    x = (
        category_axis(words_of(lines.x), lines.categories)
        if lines.categories
        else _axis(lines.x, [line.x for line in every], is_x=True)
    )
    shown = [each for line in every for each in (line.y, line.low, line.high, line.paper) if each is not None]
    y = _axis(lines.y, shown, is_x=False)
    classes = line_classes(styles_of(names))
    charts = []
    for number, panel in enumerate(lines.panels):
        title = f"{words_of(lines.y)} over {words_of(lines.x)}"
        title = ", ".join(filter(None, (capital(title), panel.title)))
        said = f"{title}. Lines: {', '.join(line.overlay for line in panel.lines)}. The numbers are below the charts."
        drawn = [
            ChartLine(
                style=classes[line.overlay],
                x=line.x,
                y=line.y,
                low=line.low if lines.spread else None,
                high=line.high if lines.spread else None,
                has_bars=lines.spread == "interval" or not lines.is_joined,
                is_joined=lines.is_joined,
                warned=line.below if lines.y == PAPER else None,
            )
            for line in panel.lines
        ] + [
            ChartLine(
                style=classes[line.overlay],
                x=line.x,
                y=line.paper,
                is_thin=True,
                is_joined=lines.is_joined,
                warned=line.below,
            )
            for line in panel.lines
            if line.paper is not None
        ]
        marks = "" if points is None else chart_marks(points, lines, drawn, x, y)
        chart = line_chart(f"study-{place}-{number}", title, said, x, y, drawn, inside=marks)
        charts.append(f"<figure><figcaption>{text(title)}</figcaption>{chart}</figure>")
    return (
        f'<h3>{text(lines.title)}</h3><div class="charts">{"".join(charts)}</div>'
        f'<details class="numbers"><summary>Numbers of these charts</summary>{_numbers(lines)}</details>'
    )


def _is_marked(lines: StudyLines) -> bool:
    """Whether any point that is drawn is below its load bound."""
    every = [line for panel in lines.panels for line in panel.lines]
    return any(bool(line.below.any()) and (line.paper is not None or lines.y == PAPER) for line in every)


def _marked(shown: str, is_marked: bool) -> str:
    """A paper's cycle time, with the mark of all tables where it is below load."""
    return f"!{shown}" if is_marked else shown


def _axis(column: str, values: Sequence[Any], *, is_x: bool) -> ChartAxis:
    """An axis of a column, with its unit."""
    every = np.concatenate([np.ravel(each) for each in values])
    finite = every[np.isfinite(every)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (1.0, 1.0)
    is_log = low > 0 and high > 10 * low
    shown = column_axis(column, low, high, is_log=is_log)
    return chart_axis(shown.label, values, is_x=is_x, is_log=is_log, factor=shown.factor, show=shown.show)


def _numbers(lines: StudyLines) -> str:
    """The points of a figure as a table."""

    def shown(line_x: float) -> str:
        return lines.categories[int(line_x)] if lines.categories else value_text(lines.x, line_x)

    rows = [
        (
            panel.title,
            line.overlay,
            shown(float(line.x[at])),
            _marked(value_text(lines.y, float(line.y[at])), lines.y == PAPER and bool(line.below[at])),
            ""
            if line.paper is None
            else _marked(value_text(PAPER, float(line.paper[at])), bool(line.below[at])),
        )
        for panel in lines.panels
        for line in panel.lines
        for at in range(len(line.x))
        if np.isfinite(line.x[at])
    ]
    heads = ("", "overlay", words_of(lines.x), words_of(lines.y), "paper")
    return html_table("Points", heads, rows[:_MOST_ROWS], (2, 3, 4), of=len(rows))


def _rows(table: "pandas.DataFrame") -> str:
    """The first rows, with units. What all rows share is above, and no column is there twice."""
    common = set(_common(table[~failed_rows(table)]))
    hidden = {POINT, ERROR, BELOW, *common, *_repeated(table)}
    columns = [column for column in table.columns if column not in hidden and table[column].notna().any()]
    numbers = [place for place, column in enumerate(columns) if table[column].dtype.kind in "iuf"]
    first = table.head(_MOST_ROWS)
    below = is_below(first).tolist()
    rows = [
        [
            _marked(_shown(str(column), value), column == PAPER and is_marked)
            for column, value in zip(columns, row, strict=True)
        ]
        for row, is_marked in zip(first[columns].itertuples(index=False), below, strict=True)
    ]
    shown = html_table(
        "Rows of the table", [words_of(str(column)) for column in columns], rows, numbers, of=len(table)
    )
    note = f'<p class="note">{text(_BELOW_NOTE)}</p>' if any(below) else ""
    return f"<h2>Table</h2>{shown}{note}"


def _repeated(table: "pandas.DataFrame") -> set[str]:
    """Columns that say in every row what a column before them says: both directions of one capacity, the kind."""
    found = set()
    for column, first in _SAME_AS.items():
        if column in table.columns and first in table.columns:
            pair = table[[column, first]].dropna(how="all")
            if bool((pair[column] == pair[first]).all()):
                found.add(column)
    return found


def _shown(column: str, value: object) -> str:
    """A value with its unit; ranges of inputs in which silos differ as words."""
    cell = _cell(value)
    if column == RANGES and cell:
        return "; ".join(f"{words_of(key)} {value_text(key, ends)}" for key, ends in ranges_of(cell).items())
    return value_text(column, value) if cell and column.endswith(("_bps", "_bits", "_s")) else cell


def _cell(value: object) -> str:
    """A cell; empty where a value is missing."""
    if isinstance(value, float | np.floating):
        return "" if value != value else f"{value:.6g}"
    return "" if value is None or str(value) == "<NA>" else str(value)


def _errors(table: "pandas.DataFrame") -> str:
    """Rows with an error."""
    if ERROR not in table.columns or not table[ERROR].notna().any():
        return ""
    failed = table[table[ERROR].notna()]
    columns = list(table.columns)
    keys = columns[: columns.index("network")] if "network" in columns else []
    keys = [key for key in keys if key not in (POINT, ERROR)]
    rows = [
        (
            ", ".join(f"{words_of(str(key))} {_key_text(str(key), row)}" for key in keys),
            _cell(row[OVERLAY]),
            str(row[ERROR]),
        )
        for row in failed.head(_MOST_ERRORS).to_dict("records")
    ]
    shown = html_table("Points that have no result", ("point", "overlay", "error"), rows, (), of=len(failed))
    return f"<h2>Errors</h2>{shown}"


def _key_text(key: str, row: Mapping[Any, Any]) -> str:
    """A value with its unit."""
    return "none" if _cell(row[key]) == "" else value_text(key, row[key])
