"""The page of a run: the answer, what it rests on, the map, all figures and how to make them again."""

import shlex
from collections.abc import Iterable, Mapping
from math import isclose
from pathlib import Path
from typing import Any

from scenarios.config.quantities import format_rate, format_s
from scenarios.config.recorded_tables import recorded_tables
from scenarios.pages.answer import answer, question
from scenarios.pages.capacity import (
    CAPACITY_SCRIPT,
    CAPACITY_STYLE,
    capacity_curve,
    slider_controls,
    slider_data,
    slider_table,
)
from scenarios.pages.compared import compared_section
from scenarios.pages.overlay_map import OVERLAY_MAP_STYLE, overlay_map, overlay_picker
from scenarios.pages.page_style import PAGE_STYLE
from scenarios.pages.provenance import origin_list
from scenarios.pages.run_facts import OverlayFacts, RunFacts, run_facts
from scenarios.pages.sections import made_sections
from scenarios.pages.timeline_section import TIMELINE_STYLE, timeline_section
from scenarios.pages.training_charts import training_charts
from scenarios.report.line_styles import styles_of
from scenarios.report.map_svg import map_style
from scenarios.report.svg_chart import CHART_STYLE, line_legend, line_sheet
from scenarios.report.web_page import ARROW, embedded, html_table, results_table, text, web_page
from scenarios.runfile.paths import PARTIAL
from topologies.slow_start import rates_decide_restarts
from topologies.wrapping import unbroken

_REPLAY = (
    "silosim replay makes it again from the run that it replays: it keeps that run's arcs and training, and the "
    "scenario above says on what network, workload and simulation it was replayed."
)
_EVENTFUL = (
    "The scenario has events, which change links or silos while the job runs. What links carry and how much of them is "
    "used is that of the simulation, a mean over all its rounds. The slider, critical circuits and busiest links are "
    "those of closed forms, which know no events."
)
_MOST_LINKS = 500
"""Rows of the table of links."""


def run_page(path: Path) -> str:
    """The page of the file of a run.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
        HTML that loads nothing.

    Raises
    ------
    InputError
        As `scenarios.runfile.reader.read_run`.
    """
    return page_of(run_facts(path))


def page_of(facts: RunFacts) -> str:
    """The page of a run whose figures are computed."""
    styles = styles_of([each.kind for each in facts.overlays])
    data = slider_data(facts)
    has_overlays = bool(facts.overlays)
    body = made_sections(
        {
            "answer": lambda: (
                f"<h1>{text(question(facts.compared) if has_overlays else facts.scenario.name)}</h1>",
                f'<p class="answer">{text(unbroken(" ".join(answer(facts.compared))))}</p>',
                *compared_section(facts.record, facts.scenario, facts.graph),
            ),
            "map": lambda: _network_section(facts, data) if has_overlays else (),
            "charts": lambda: (
                f"<h2>Cycle times and simulation</h2>{results_table(facts.table, 'Cycle times of the run')}",
                training_charts([facts.record], facts.scenario)
                or f'<p class="note">{text(_no_training(facts))}</p>',
            ),
            "timeline": lambda: (timeline_section(facts),),
            "bottlenecks": lambda: (_sensitivities(each) for each in facts.overlays),
            "origin": lambda: (_reproduce(facts), embedded("run", data)),
        }
    )
    parts = (CHART_STYLE, OVERLAY_MAP_STYLE, CAPACITY_STYLE, TIMELINE_STYLE, PAGE_STYLE)
    sheets = (map_style(), *parts, line_sheet(styles))
    title = f"{facts.scenario.name}: {facts.record.underlay.name}"
    return web_page(title, body, style="".join(sheets), script=CAPACITY_SCRIPT if has_overlays else "")


def _no_training(facts: RunFacts) -> str:
    """Why there are no losses and accuracies."""
    if facts.compared.cut_trainings:
        return "The run was interrupted before the first training row, so that there are no losses and accuracies."
    return "Nothing was trained, so that there are no losses and accuracies."


def _network_section(facts: RunFacts, data: dict[str, object]) -> Iterable[str]:
    """The map, the slider, and what it moves."""
    styles = styles_of([each.kind for each in facts.overlays])
    return (
        "<h2>Overlays on their network</h2>",
        f'<div class="onscreen">{slider_controls(facts)}</div>',
        '<a class="skip onscreen" href="#forms">Skip the map</a>',
        overlay_picker(facts),
        f'<div class="side"><div>{overlay_map(facts)}</div><div>{capacity_curve(facts)}'
        f"{line_legend(styles, [each.kind for each in facts.overlays if each.forms is not None])}"
        '<p id="bottleneck" aria-live="polite"></p></div></div>',
        slider_table(facts, data),
        *([f'<p class="note">{text(_EVENTFUL)}</p>'] if facts.scenario.events else []),
        f'<details class="numbers"><summary>Numbers of the links</summary>{_links(facts)}</details>',
    )


def _links(facts: RunFacts) -> str:
    """Models and utilisation of the link directions that any overlay uses."""
    graph = facts.graph
    heads = ["link", "capacity"]
    for each in facts.overlays:
        heads += [f"{each.kind}: models a round", f"{each.kind}: used"]
    rows = []
    used = [
        link
        for link in range(len(graph.link_capacity_bps))
        if any(each.models[link] > 0 for each in facts.overlays)
    ]
    for link in used[:_MOST_LINKS]:
        row = [graph.link_name(link), _capacity_text(facts, link)]
        for each in facts.overlays:
            models, share = float(each.models[link]), float(each.utilisation[link])
            row += [
                "-" if models != models else f"{models:.4g}",
                "-" if share != share else f"{100 * share:.1f} %",
            ]
        rows.append(row)
    return html_table("Link directions that carry models", heads, rows, range(1, len(heads)), of=len(used))


def _capacity_text(facts: RunFacts, link: int) -> str:
    """The capacity of a link direction, and its means in simulations whose events change it."""
    stated_bps = float(facts.graph.link_capacity_bps[link])
    means = [
        f"{each.kind} {format_rate(float(each.mean_bps[link]))}"
        for each in facts.overlays
        if each.mean_bps[link] == each.mean_bps[link] and not isclose(each.mean_bps[link], stated_bps)
    ]
    shown = format_rate(stated_bps)
    return f"{shown}; mean with events: {', '.join(means)}" if means else shown


def _sensitivities(each: OverlayFacts) -> str:
    """What limits an overlay and which links help most."""
    head = f"<h2>What limits {text(each.kind)}</h2>"
    if each.circuit is None:
        return f'{head}<p class="note">{text(each.why_not)}</p>'
    words = "".join(f"<p>{text(unbroken(said.replace(' -> ', ARROW)))}</p>" for said in each.explanation)
    upgrades = (
        html_table(
            "Twice the capacity of one link, by the larger of paper and load",
            ("link", "cycle time", "gain"),
            [(found.name, format_s(found.cycle_time_s), format_s(found.gain_s)) for found in each.upgrades],
            (1, 2),
        )
        if each.upgrades
        else f'<p class="note">{text(_no_upgrade(each))}</p>'
    )
    table = results_table(each.circuit, each.circuit.caption)
    return f"{head}{words}{upgrades}<details><summary>The circuit arc by arc</summary>{table}</details>"


def _no_upgrade(each: OverlayFacts) -> str:
    """Why no link is named that helps alone."""
    if each.overlay is not None and not each.overlay.graph.rules.are_plain_links:
        return "What more capacity gains by load is not computed where links are half-duplex, shared or fat pipes."
    if each.overlay is not None and rates_decide_restarts(each.overlay.graph, each.overlay.hub):
        return (
            "What more capacity gains by load is not computed around a hub with slow_start 'idle': rates decide which "
            "arcs start slowly."
        )
    return "Twice the capacity of no single link lowers the larger of paper and load."


def _imported_file(tables: Mapping[str, Any]) -> str:
    """The file of imported metrics, quoted."""
    return shlex.quote(Path(str(tables["imported"].get("file", "FILE"))).name)


def _target(facts: RunFacts) -> str:
    """The option of the target accuracy; empty where there is none."""
    target = facts.scenario.target_accuracy
    return "" if target is None else f" --target-accuracy {target:g}"


def _making(facts: RunFacts, tables: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The commands that make the file; none of a replay, which rests on another run."""
    if facts.record.is_replay:
        return ()
    if facts.scenario.is_imported:
        return (
            "# The scenario above without its table [imported], as scenario.toml; add options that name columns",
            f"silosim import-metrics {_imported_file(tables)} --on scenario.toml{_target(facts)} -o {name}",
        )
    trained = facts.compared.is_trained or facts.compared.cut_trainings
    command = "run" if "training" in tables and trained else "simulate"
    return ("# The scenario above as scenario.toml", f"silosim {command} scenario.toml -o {name}")


def _reproduce(facts: RunFacts) -> str:
    """Commands, versions, hashes, seed and engines."""
    tables = recorded_tables(facts.record.scenario)
    name = shlex.quote(facts.path.name.removesuffix(PARTIAL))
    page = shlex.quote(f"{facts.path.name.removesuffix(PARTIAL).rpartition('.')[0]}.html")
    lines = [*_making(facts, tables, name), f"silosim show {name}", f"silosim report {name} -o {page}"]
    engines = dict.fromkeys(each.recorded.simulation.engine for each in facts.overlays)
    simulation = tables.get("simulation", {})
    rules = {
        "engine": ", ".join(filter(None, engines)) or "not stated",
        "sharing, queueing": f"{simulation.get('sharing', 'maxmin')}, {simulation.get('queueing', 'fifo')}",
        "rounds simulated": ", ".join(
            f"{each.kind} {each.recorded.simulation.rounds:,}" for each in facts.overlays
        ),
    }
    replayed = ""
    # Only what was trained or imported can be replayed; older files do not say whether it was.
    if facts.record.is_replay:
        replayed = f'<p class="note">{text(f"A replay: {_REPLAY}")}</p>'
    elif facts.record.is_replay is None and facts.compared.is_trained:
        replayed = f'<p class="note">{text(f"If silosim replay made this file, {_REPLAY}")}</p>'
    commands = f"<pre>{text(chr(10).join(lines))}</pre>{replayed}"
    return f"<h2>How to make this again</h2>{commands}{origin_list({**facts.origin, **rules})}"
