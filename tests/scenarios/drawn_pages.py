"""Pages and charts for browsers, of small data that reach the ways in which they are drawn."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
from drawn_figures import PAIRS, absent, computing, crowd, measured, recorded_timelines, without_time
from page_description import described
from pair_run import write_pair_run
from test_figures import KINDS
from test_maps import PACIFIC, pairs_of
from test_report_studies import rows_of, validation_of
from timeline_runs import EVENTS, write_run

from scenarios.pages.run_page import run_page
from scenarios.pages.seeds_page import seeds_page
from scenarios.pages.study_page import study_page
from scenarios.pages.timeline_section import timeline_svg
from scenarios.pages.validation_page import validation_page
from scenarios.report.line_styles import styles_of
from scenarios.report.map_page import map_page
from scenarios.report.svg_chart import (
    ChartLine,
    category_axis,
    chart_axis,
    line_chart,
    line_legend,
    line_sheet,
)
from scenarios.report.table_formats import write_tables
from scenarios.runfile.reader import read_run
from scenarios.studies.run_seeds import SeedFiles, seeds_summary


def in_folder(make: Callable[[Path], str], *, sheet: bool = False) -> Callable[[], str]:
    """A page that is made in an empty folder, described."""

    def made() -> str:
        with tempfile.TemporaryDirectory() as folder:
            return described(make(Path(folder)), sheet=sheet)

    return made


# Charts


def _charts() -> str:
    x = np.array([1.0, 2.0, np.nan, 4.0, 5.0])
    y = np.array([3.0, np.nan, 1.0, 2.0, -1.0])
    line = ChartLine(style="k0", x=x, y=y)
    warned = np.array([True, False, True, True, True])
    long = np.linspace(0, 10, 1000)
    many = ChartLine(style="k1", x=long, y=np.sin(long) + 0.1 * np.sin(50 * long))
    few = ChartLine(style="k1", x=long[:41], y=long[:41])
    banded = replace(line, low=y - 1, high=y + 1)
    short = chart_axis("x of many", [x, y], is_x=True)
    tall = chart_axis("y", [y], is_x=False, factor=1e3, show="{:g} ms".format)
    log = chart_axis("log", [np.array([1.0, 500.0])], is_x=False)
    charts = [
        line_chart("a", "title", "said", short, tall, [line, replace(line, is_thin=True)], target=1.5),
        line_chart("b", "title", "said", short, tall, [banded, replace(line, warned=warned)], target=99.0),
        line_chart("c", "title", "said", short, log, [replace(banded, has_bars=True), replace(line, has_dots=False)]),
        line_chart(
            "d", "title", "said", category_axis("c", ["one", "a long name of one"]), tall,
            [replace(banded, is_joined=False, low=y - 100)],
        ),
        line_chart(
            "e", "title", "said", chart_axis("x", [long], is_x=True, whole=True), tall, [many, few], inside="<g/>"
        ),
        line_chart(
            "f", "title", "said", category_axis("c", [f"text {k}" for k in range(25)]),
            chart_axis("none", [], is_x=False), [],
        ),
        line_chart(
            "g", "title", "said", chart_axis("flat", [np.array([2.0, 2.0])], is_x=True, is_log=True),
            chart_axis("zero", [np.zeros(2)], is_x=False), [],
        ),
        line_chart(
            "h", "title", "said", chart_axis("of 6 decades", [np.array([1e-3, 2e3])], is_x=True),
            chart_axis("of less", [np.array([-1.0, 0.0, 50.0])], is_x=False, is_log=True), [],
        ),
    ]  # fmt: skip
    styles = styles_of([*KINDS, "mine", "yours", "theirs", "ours", "another"])
    legend = line_legend(styles, ["ring", "mine"], ["thin: paper"])
    return described(f"<style>{line_sheet(styles)}</style><div>{''.join(charts)}{legend}</div>", sheet=True)


# Maps


def _map_pages() -> str:
    measured_maps = map(measured, PAIRS.values())
    pages = (
        described(map_page(PACIFIC, "title\nfacts of 4"), sheet=True),
        described(map_page(crowd(24), "title")),
        *(described(map_page(each, "title")) for each in measured_maps),
    )
    return "\n".join(pages)


def _map_page_of_many() -> str:
    return described(map_page(pairs_of(20), "title"))


# Timelines


def _timelines() -> str:
    (first, _), (star, ring) = recorded_timelines()
    every = [star, ring, *(absent(first, returns=returns) for returns in (True, False)), without_time(first)]
    every.append(computing(first))
    return "\n".join(described(timeline_svg(each, "t")) for each in every)


# Runs


def rows(accuracy: Sequence[float]) -> dict[str, object]:
    """Training rows of an overlay, one of them without a loss."""
    values = np.array(accuracy)
    loss = 2 - values
    loss[1] = np.nan
    return {
        "round": np.arange(len(values)),
        "train_loss": loss,
        "test_loss": loss,
        "test_accuracy": values,
    }


SCENARIO = """
name = "pair"
[training]
target_accuracy = 0.5
rounds = 3
"""


def _pair_page(folder: Path) -> str:
    path = write_pair_run(folder / "pair.h5", history=rows([0.1, 0.4, 0.6, 0.7]), scenario=SCENARIO)
    return run_page(path)


def _short_page(folder: Path) -> str:
    return run_page(write_pair_run(folder / "pair.h5", rounds=2, messages=False))


def _gaia_page(folder: Path) -> str:
    return run_page(
        write_run(folder / "gaia.h5", kinds=("star", "ring", "random_ring"), rounds=8, more=EVENTS)
    )


def _seeds_page(folder: Path) -> str:
    files = SeedFiles.of(folder / "pair.h5", (3, 10))
    for seed, path in files.runs.items():
        write_pair_run(path, history=rows([0.1, 0.4, 0.6, 0.5 + seed / 50]), scenario=SCENARIO)
    records = {seed: read_run(path) for seed, path in files.runs.items()}
    write_tables(files.table, [seeds_summary(records)])
    return seeds_page(files, records)


# Studies


def _study_page(change: Callable[[pandas.DataFrame], pandas.DataFrame], text: str) -> Callable[[], str]:
    def make(folder: Path) -> str:
        path = folder / "study.csv"
        path.write_text(text)
        change(pandas.read_csv(path)).to_csv(path, index=False)
        return study_page(path)

    return in_folder(make)


def simulated(table: pandas.DataFrame) -> pandas.DataFrame:
    """A study with simulations, links that are busiest, bounds, and an error."""
    half = table["paper_s"] / 10
    link = ["A uplink", None] * (len(table) // 2)
    below = [place % 3 == 0 for place in range(len(table))]
    bound = table["paper_s"] * np.where(below, 3.0, 0.5)
    made = table.assign(
        simulated_s=2 * table["paper_s"],
        simulated_half_width_s=half,
        serialized_s=table["paper_s"],
        load_bound_s=bound,
        paper_below_load=below,
        busiest_link=link,
    )
    made["error"] = made["error"].astype(object)
    made.loc[made.index[-1], ["error", "paper_s", "simulated_s"]] = ["no link, no way", np.nan, np.nan]
    return made


def _unchanged(table: pandas.DataFrame) -> pandas.DataFrame:
    return table


def _failed(table: pandas.DataFrame) -> pandas.DataFrame:
    """A study of whose rows all but the first ones of a point have an error."""
    errors = [None if place < 4 else f"error {place}" for place in range(len(table))]
    return table.assign(error=pandas.Series(errors, dtype=object), local_steps=np.nan)


def _of_texts(table: pandas.DataFrame) -> pandas.DataFrame:
    made = table.rename(columns={"access_bps": "choice"})
    return made.assign(choice="name " + made["choice"].astype(str), paper_s=made["paper_s"] * 1e3)


# Validations


def _validation_page(folder: Path) -> str:
    return validation_page(validation_of(folder, ("star", "mst"), rounds=100))


PAGES: dict[str, Callable[[], str]] = {
    "charts": _charts,
    "map-pages": _map_pages,
    "map-page-of-many": _map_page_of_many,
    "timeline-svg": _timelines,
    "page-of-a-pair": in_folder(_pair_page, sheet=True),
    "page-of-a-short-run": in_folder(_short_page),
    "page-of-gaia": in_folder(_gaia_page),
    "page-of-seeds": in_folder(_seeds_page),
    "page-of-a-study": _study_page(_unchanged, rows_of([1e7, 1e8, 1e9])),
    "page-of-simulations": _study_page(simulated, rows_of([1e7, 1e8], steps=(1, 5), seeds=(0, 1))),
    "page-of-combinations": _study_page(simulated, rows_of([1e7, 1e8], steps=(1, 5), budgets=(0.1, 0.5))),
    "page-of-errors": _study_page(_failed, rows_of([1e7, 1e8], seeds=range(14))),
    "page-of-texts": _study_page(_of_texts, rows_of([1e7, 1e8, 2e8])),
    "page-of-a-point": _study_page(_unchanged, rows_of([1e7])),
    "page-of-a-validation": in_folder(_validation_page),
}
