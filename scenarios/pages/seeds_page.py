"""The page of runs with several seeds: the answer, means with bands, each run, and how to make all of it again."""

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path

import h5py

from scenarios.config.place_text import place_text
from scenarios.config.scenario import RecordedScenario, recorded_scenario
from scenarios.pages.answer import Compared
from scenarios.pages.compared import compared_section
from scenarios.pages.page_style import PAGE_STYLE
from scenarios.pages.provenance import file_digest, input_digests, origin_list
from scenarios.pages.recorded_graph import recorded_graph
from scenarios.pages.sections import made_sections
from scenarios.pages.seeds_answer import seeds_answer, seeds_question
from scenarios.pages.training_charts import training_charts
from scenarios.report.column_labels import value_text
from scenarios.report.line_styles import styles_of
from scenarios.report.seeds_table import MEASURES, differs_from
from scenarios.report.svg_chart import CHART_STYLE, line_sheet
from scenarios.report.tables import Table
from scenarios.report.web_page import html_table, results_table, text, web_page
from scenarios.runfile.origin import recorded_origin
from scenarios.runfile.reader import RunRecord, read_run
from scenarios.studies.run_seeds import SeedFiles, seeds_summary
from topologies import Connectivity, InputError
from topologies.wrapping import unbroken

_STYLE = ".whole td { white-space: nowrap; }"
_MOST_RUNS = 200
"""Rows of the table of single runs."""
_HEADS = MEASURES | {"train_loss": "training loss", "simulated_s": "cycle time", "time_to_target_s": "time"}


def table_page(path: Path) -> str:
    """The page of a table of seeds, from the runs beside it.

    Raises
    ------
    InputError
        If the runs are not there, cannot be read, or have another table.
    """
    files = SeedFiles.beside(path)
    records = {seed: read_run(run) for seed, run in files.runs.items()}
    if differs_from(path, seeds_summary(records)):
        rule = (
            f"has other numbers than the {len(records)} runs beside it; silosim run with --seeds, --resume or --force, "
            "and --report makes table and page of the same runs."
        )
        raise InputError(rule, source=str(path))
    return seeds_page(files, records)


def seeds_page(files: SeedFiles, records: Mapping[int, RunRecord]) -> str:
    """The page of the runs of one scenario with several seeds.

    Parameters
    ----------
    files : SeedFiles
    records : mapping of int to RunRecord
        What is in them, by seed.

    Returns
    -------
    str
        HTML that loads nothing.
    """
    record, path = next(iter(records.values())), next(iter(files.runs.values()))
    scenario, table = recorded_scenario(record.scenario), seeds_summary(records)
    graph = recorded_graph(path, record.network, record.underlay)
    compared = _compared(record, scenario, graph, table)
    body = made_sections(
        {
            "answer": lambda: (
                f"<h1>{text(seeds_question(compared, len(records)))}</h1>",
                f'<p class="answer">{text(unbroken(" ".join(seeds_answer(compared, table))))}</p>',
                *compared_section(record, scenario, graph),
            ),
            "charts": lambda: (
                "<h2>Means over seeds</h2>",
                f'<div class="whole">{results_table(table, "Means with their 95 % intervals")}</div>',
                training_charts([*records.values()], scenario),
            ),
            "runs": lambda: ("<h2>Single runs</h2>", _single_runs(files, table)),
            "origin": lambda: (_reproduce(files, record),),
        }
    )
    sheets = (CHART_STYLE, PAGE_STYLE, _STYLE, line_sheet(styles_of([each.kind for each in record.overlays])))
    title = f"{scenario.name}: {len(records)} seed{'' if len(records) == 1 else 's'}"
    return web_page(title, filter(None, body), style="".join(sheets))


def _compared(record: RunRecord, scenario: RecordedScenario, graph: Connectivity, table: Table) -> Compared:
    """What the answer is made of."""
    return Compared(
        rows=table.rows,
        hubs=[each.kind for each in record.overlays if each.hub is not None],
        place=place_text(record.underlay, graph),
        target_accuracy=scenario.target_accuracy,
        is_trained=True,
    )


def _single_runs(files: SeedFiles, table: Table) -> str:
    """The values of each seed and overlay, beside the file that holds them."""
    runs = table.further["runs"]
    assert isinstance(runs, list)
    shown = [name for name in MEASURES if any(run[name] is not None for run in runs)]
    rows = [
        (
            str(run["seed"]),
            str(run["overlay"]),
            *("-" if run[name] is None else _value(name, run[name]) for name in shown),
            files.runs[run["seed"]].name,
        )
        for run in runs
    ]
    heads = ("seed", "overlay", *(_HEADS[name] for name in shown), "file")
    numbers = [0, *range(2, 2 + len(shown))]
    note = (
        f"silosim report {shlex.quote(rows[0][-1])} makes the page of a single run, with map and bottlenecks."
    )
    listed = html_table("Values of the last rows", heads, rows[:_MOST_RUNS], numbers, of=len(rows))
    return f'<div class="whole">{listed}</div><p class="note">{text(note)}</p>'


def _value(name: str, value: float) -> str:
    """A value of a run with its unit."""
    if name == "test_accuracy":
        return f"{100 * value:.4g} %"
    return value_text(name, value if name.endswith("_s") else float(f"{value:.4g}"))


def _reproduce(files: SeedFiles, record: RunRecord) -> str:
    """Commands, versions, hashes and seeds."""
    seeds, paths = [*files.runs], [*files.runs.values()]
    name = files.table.name.removesuffix("-seeds.csv") + paths[0].suffix
    follow = seeds == [*range(seeds[0], seeds[0] + len(seeds))]
    stated = str(len(seeds)) if follow else ",".join(map(str, seeds)) + ("," if len(seeds) == 1 else "")
    commands = (
        "# The scenario above as scenario.toml, beside the files that it names\n"
        f"silosim run scenario.toml -o {shlex.quote(name)} --seeds {stated} --report\n"
        f"silosim report {shlex.quote(files.table.name)}"
    )
    origins: dict[str, dict[str, None]] = {}
    for path in paths:
        with h5py.File(path, "r") as file:
            for key, value in recorded_origin(file.attrs).items():
                origins.setdefault(key, {})[value] = None
    joined = {key: ", ".join(values) for key, values in origins.items()}
    digests = {
        f"scenario of seed {seeds[0]}, SHA-256": hashlib.sha256(record.scenario.encode()).hexdigest(),
        **input_digests(paths[0], record.scenario),
        **{f"{path.name}, SHA-256": file_digest(path) for path in (files.table, *paths)},
    }
    return f"<h2>How to make this again</h2><pre>{text(commands)}</pre>{origin_list({**joined, **digests})}"
