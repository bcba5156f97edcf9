"""The page of a validation: closed forms beside simulations, with the causes of each difference."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.config.quantities import format_s, signed_s
from scenarios.pages.answer import agreement
from scenarios.pages.assumptions import assumed_list, assumptions, recorded_preset
from scenarios.pages.glossary import glossary
from scenarios.pages.page_style import PAGE_STYLE
from scenarios.pages.provenance import file_digest, input_digests, origin_list
from scenarios.pages.recorded_graph import recorded_graph
from scenarios.report.tables import percent
from scenarios.report.web_page import html_table, text, web_page
from scenarios.runfile.paths import RUN_ENDINGS
from scenarios.validation.file import RecordedValidation, read_validation
from scenarios.validation.table import PARTS, part_key
from topologies import InputError
from topologies.regular_files import is_folder
from topologies.wrapping import unbroken

_TIMES = {
    "paper": "paper_s",
    "serialized": "serialized_s",
    "load": "load_bound_s",
    "equal": "equal_s",
    "maxmin": "maxmin_s",
}
_NOTE = (
    "paper: Eq. 3 to 5. serialized: an arc sends one model after the other. load: busiest link, a lower bound of every "
    "fair sharing. equal, maxmin: simulated with Eq. 3's constant rates, and on links shared max-min fairly. ~: an "
    "estimate, with its 95 % interval where there is one. !: paper is below load, which no network can do."
)
_PARTS_NOTE = (
    "serialization: models wait for those before them on their arc. shared links: slower than Eq. 3, as arcs meet on a "
    "link. unused shares: faster than Eq. 3, as others leave capacity. waits for other arcs: a silo waits for a model "
    "that is not on the circuit. slow start: arcs idle longer, or less, than closed forms take them to. The parts of a "
    "row add up to its difference."
)
_TERMS_NOTE = (
    "Eq. 3: the delay by the paper. What the simulation adds to it, or takes off: queue: waiting for models before it "
    "on the arc. slow start: what Eq. 3's delay does not have of it. rate: sending slower or faster. wait: a model "
    "that is there waits until its silo can go on. computing: other computing times. world: events."
)
_SIMULATIONS = ("equal", "maxmin")
_ARC_TERMS = {
    "eq3_s": "Eq. 3",
    "queue_s": "queue",
    "slow_s": "slow start",
    "rate_s": "rate",
    "wait_s": "wait",
    "computing_s": "computing",
    "world_s": "world",
}


def validation_page(path: Path) -> str:
    """The page of a folder with files of validations, or of one such file.

    Raises
    ------
    InputError
        If there is no such file in it, or one cannot be read.
    """
    files = [path]
    if is_folder(path):
        files = sorted(file for ending in RUN_ENDINGS for file in path.glob(f"validation-*{ending}"))
        if not files:
            raise InputError(
                "must hold a validation-NETWORK.h5, as silosim validate -o FOLDER writes it.",
                source=str(path),
            )
    found = [read_validation(file) for file in files]
    body = [part for recorded in found for part in _section(recorded)]
    return web_page(f"Validation: {path.name}", body, style=PAGE_STYLE)


def _section(recorded: RecordedValidation) -> list[str]:
    """One file."""
    network = recorded.about.split(":")[0]
    rows = [_as_simulated(row) for row in recorded.rows]
    digest = {f"{recorded.path.name}, SHA-256": file_digest(recorded.path)}
    preset = recorded_preset(recorded.scenario, recorded.work)
    graph = recorded_graph(recorded.path, recorded.network, recorded.underlay)
    return [
        f"<h1>How right are the closed forms on {text(network)}?</h1>",
        f'<p class="answer">{text(unbroken(agreement(rows) if rows else "The file holds no overlay."))}</p>',
        f"<p>{'<br>'.join(text(line) for line in recorded.about.splitlines())}</p>",
        assumed_list(assumptions(graph, recorded.network, preset)),
        glossary(),
        f"<details><summary>Scenario (TOML)</summary><pre>{text(recorded.scenario)}</pre></details>",
        "<h2>Closed forms and simulations</h2>",
        _times(recorded.rows),
        f'<p class="note">{text(_NOTE)}</p>',
        "<h2>Causes of the differences</h2>",
        _causes(recorded.rows),
        *(_arcs(kind, arcs) for kind, arcs in recorded.arcs.items()),
        "<h2>How to make this again</h2>",
        f"<pre>{text(_commands(recorded.path.name))}</pre>",
        origin_list(
            {
                **recorded.origin,
                **input_digests(recorded.path, recorded.scenario),
                **digest,
                **_simulated(recorded.rows),
            }
        ),
    ]


def _simulated(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Engines and rounds of the simulations."""
    engines = dict.fromkeys(str(row.get(f"{name}_engine") or "") for row in rows for name in _SIMULATIONS)
    rounds = [
        f"{row['overlay']} {count:,} ({name})"
        for row in rows
        for name in _SIMULATIONS
        if (count := row.get(f"{name}_rounds"))
    ]
    return {"engine": ", ".join(each for each in engines if each), "rounds simulated": ", ".join(rounds)}


def _commands(name: str) -> str:
    """Commands that make the file and its page again."""
    file, page = shlex.quote(name), shlex.quote(f"{Path(name).stem}.html")
    return (
        "# The scenario above as scenario.toml\n"
        f"silosim validate scenario.toml -o {file}\nsilosim report {file} -o {page}"
    )


def _as_simulated(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as the answer of a run takes it."""
    return {
        "overlay": row["overlay"],
        "paper_s": row["paper_s"],
        "simulated_s": row["maxmin_s"],
        "over_paper": row["maxmin_over_paper"],
        "simulated_rounds": row.get("maxmin_rounds"),
        **{f"simulated_{name}": row[f"maxmin_{name}"] for name in ("half_width_s", "is_exact")},
    }


def _times(rows: Sequence[Mapping[str, Any]]) -> str:
    """Cycle times side by side."""
    heads = ("overlay", *_TIMES, "equal over paper", "maxmin over paper")
    cells = []
    for row in rows:
        shown = [_time(row, key) for key in _TIMES.values()]
        over = [
            "-"
            if row[f"{name}_over_paper"] is None
            else f"{'' if row[f'{name}_is_exact'] else '~'}{percent(row[f'{name}_over_paper'])}"
            for name in ("equal", "maxmin")
        ]
        cells.append((str(row["overlay"]), *shown, *over))
    return html_table("Cycle times", heads, cells, range(1, len(heads)))


def _time(row: Mapping[str, Any], key: str) -> str:
    """A cycle time; of an estimate with its interval."""
    value = row.get(key)
    if value is None:
        return "-"
    name = key.removesuffix("_s")
    half = row.get(f"{name}_half_width_s")
    estimate = "~" if row.get(f"{name}_is_exact") is False else ""
    if key == "paper_s" and row["paper_below_load"]:
        estimate = "!"
    return f"{estimate}{format_s(value)}" + (f" +- {format_s(half)}" if half and half > 1e-8 * value else "")


def _causes(rows: Sequence[Mapping[str, Any]]) -> str:
    """The parts of each difference, and the reason."""
    parts = [part for part in PARTS if any(row.get(part_key(part)) for row in rows)]
    heads = ("overlay", "maxmin over paper", *parts, "why")
    cells = []
    for row in rows:
        simulated, paper = row["maxmin_s"], row["paper_s"]
        least = 1e-9 * max(simulated or 0.0, paper or 0.0)
        over = "-" if simulated is None or paper is None else _signed(simulated - paper, least)
        shown = [
            "-" if row.get(part_key(part)) is None else _signed(row[part_key(part)], least) for part in parts
        ]
        cells.append((str(row["overlay"]), over, *shown, str(row.get("why") or "within 1 %")))
    table = html_table("Parts of a round's difference from paper", heads, cells, range(1, len(heads) - 1))
    return f'{table}<p class="note">{text(_PARTS_NOTE)}</p>'


def _cause(arc: Mapping[str, Any]) -> str:
    """Why an arc takes longer or shorter than Eq. 3 says: most causes begin with the assumption that fails."""
    assumption, place, cause = (str(arc[name] or "") for name in ("assumption", "place", "cause"))
    if cause.startswith(assumption) or not cause:
        return cause or assumption or "-"
    return ": ".join(filter(None, (assumption, cause if place in cause else f"{place}: {cause}")))


def _signed(seconds: float, least: float) -> str:
    """A difference; a rounding error is 0."""
    return "0" if abs(seconds) <= least else signed_s(seconds)


def _arcs(kind: str, arcs: Sequence[Mapping[str, Any]]) -> str:
    """The critical circuit arc by arc."""
    titles = {
        term: title
        for term, title in _ARC_TERMS.items()
        if term != "slow_s" or any(arc.get(term) for arc in arcs)
    }
    heads = ("arc", *titles.values(), "cause")
    least = 1e-9 * sum(abs(float(arc["eq3_s"])) for arc in arcs)
    rows = [
        (
            f"{arc['source']} -> {arc['target']}"
            if arc["source"] != arc["target"]
            else f"{arc['source']} computes",
            *(
                "0"
                if abs(arc[term]) <= least
                else format_s(arc[term])
                if arc[term] > 0
                else signed_s(arc[term])
                for term in titles
            ),
            _cause(arc),
        )
        for arc in arcs
    ]
    table = html_table(
        f"Critical circuit of {kind}: times of its arcs", heads, rows, range(1, 1 + len(titles))
    )
    table += f'<p class="note">{text(_TERMS_NOTE)}</p>'
    return f"<details><summary>{text(kind)}: the circuit arc by arc</summary>{table}</details>"
