"""The slider of a run's page: closed forms, curve and bottleneck at any access capacity, computed in the browser."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenarios.config.quantities import format_rate, format_s
from scenarios.pages.run_facts import OverlayFacts, RunFacts
from scenarios.pages.slider import SLIDER_STYLE, slider_bar
from scenarios.report.closed_forms import below_load
from scenarios.report.column_labels import column_axis
from scenarios.report.line_styles import styles_of
from scenarios.report.svg_chart import (
    ChartLine,
    chart_axis,
    chart_x,
    chart_y,
    line_chart,
    line_classes,
)
from scenarios.report.web_page import text
from topologies.slow_start import rates_decide_restarts

_SAMPLES = 160
_MOST_NAMED = 3
_NO_LINK = "none"
_COLUMNS = (
    "time on access links: part of the critical circuit's delays that is sending there; more capacity shrinks it. "
    "busiest: the links that set load. vs STAR: the STAR's paper divided by this one's. !: paper is below load, which "
    "no network can do: do not count on it, nor on a ratio to it."
)
_BELOW = "Where a line lies on a broad one, paper is below load, which no network can do."
_NO_CURVE = "other arcs in each round: no exact curve"
CAPACITY_STYLE = (
    SLIDER_STYLE
    + """
.chosen td { font-weight: 600; }
.curve.below { stroke: var(--critical); stroke-width: 7px; opacity: 0.3; }
"""
)
HEADS = ("overlay", "paper", "serialized", "load", "vs STAR", "time on access links", "busiest")


def slider_data(facts: RunFacts) -> dict[str, Any]:
    """What the script needs: numbers as they are in Python; overlays without curves have none.

    Returns
    -------
    dict
        ``capacities`` with their ``names``, ``start``, and ``overlays``: each with ``fixed``, ``shared``, ``circuits``
        of the pieces of `AccessForms.curve`, the other terms of `AccessForms`, and what links and silos carry.
    """
    return {
        "capacities": list(facts.capacities_bps),
        "names": [format_rate(bps) for bps in facts.capacities_bps],
        "start": facts.start,
        "labels": list(facts.graph.labels),
        "routers": facts.graph.router.tolist(),
        "overlays": [_overlay_data(facts, each) for each in facts.overlays],
    }


def _overlay_data(facts: RunFacts, each: OverlayFacts) -> dict[str, Any]:
    """Numbers of one overlay."""
    data: dict[str, Any] = {"kind": each.kind, "star": each.recorded.hub is not None, **_carried(facts, each)}
    if each.forms is None:
        return data
    forms = each.forms
    return data | {
        "fixed": forms.curve.fixed_s.tolist(),
        "shared": forms.curve.shared_bits.tolist(),
        "circuits": [list(circuit) for circuit in forms.curve.circuits],
        "sending": [forms.sending_bits, forms.sending_s],
        "load": [forms.load_bits, forms.load_s],
        "busiest": [_link_text(facts, forms.access_links), _link_text(facts, forms.other_links)],
        "need": [_need_text(facts, forms.access_links), _need_text(facts, forms.other_links)],
    }


def _carried(facts: RunFacts, each: OverlayFacts) -> dict[str, Any]:
    """Models of a round and utilisation of link directions, two and two for links and silos, None where unknown."""
    graph = facts.graph

    def cells(first: int, second: int) -> list[float | None]:
        numbers = (each.models[first], each.models[second], each.utilisation[first], each.utilisation[second])
        return [round(float(number), 6) if np.isfinite(number) else None for number in numbers]

    links = (
        {}
        if graph.is_measured
        else {link: cells(2 * link, 2 * link + 1) for link in range(len(graph.core_bps))}
    )
    silos = [cells(graph.uplink(silo), graph.downlink(silo)) for silo in range(graph.silos)]
    return {"links": {str(link): found for link, found in links.items() if any(found)}, "silos": silos}


def _link_text(facts: RunFacts, links: tuple[int, ...]) -> str:
    """Names of equally busy links, the first of many."""
    if not links:
        return _NO_LINK
    names = [facts.graph.link_name(link) for link in links]
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED] if more > 1 else names) + (f" and {more} more" if more > 1 else "")


def _need_text(facts: RunFacts, links: tuple[int, ...]) -> str:
    """Beginning of a sentence on how long the busiest links need; empty where no link needs time."""
    if not links:
        return ""
    one = len(links) == 1
    return f"The busiest link{'' if one else 's'}, {_link_text(facts, links)}, need{'s' if one else ''}"


def forms_of(data: Mapping[str, Any], capacity_bps: float) -> tuple[float, float, float]:
    """`paper`, `serialized` and `load` in seconds as the script computes them, of an overlay's entry in its data."""
    paper_s = max(
        fixed + bits / capacity_bps for fixed, bits in zip(data["fixed"], data["shared"], strict=True)
    )
    (sending_bits, sending_s), (load_bits, load_s) = data["sending"], data["load"]
    serialized_s = max(paper_s, sending_bits / capacity_bps, sending_s)
    return paper_s, serialized_s, max(load_bits / capacity_bps, load_s)


def waits_of(data: Mapping[str, Any], capacity_bps: float) -> float:
    """Part of a round of `paper` that goes on access links, likewise."""
    values = [fixed + bits / capacity_bps for fixed, bits in zip(data["fixed"], data["shared"], strict=True)]
    piece = values.index(max(values))
    return data["shared"][piece] / capacity_bps / values[piece] if values[piece] > 0 else 0.0


def row_texts(overlays: list[dict[str, Any]], place: int, capacity_bps: float) -> list[str]:
    """Cells of the row of an overlay with a curve, as the script writes them."""
    data = overlays[place]
    paper_s, serialized_s, load_s = forms_of(data, capacity_bps)
    star = next((each for each in overlays if each["star"] and "fixed" in each), None)
    is_below, ratio = below_load(paper_s, load_s), "-"
    if star is not None and paper_s > 0:
        star_s, _, star_load_s = forms_of(star, capacity_bps)
        unsure = "!" if is_below or below_load(star_s, star_load_s) else ""
        ratio = f"{unsure}{star_s / paper_s:.2f}x"
    busiest = (
        data["busiest"][0 if data["load"][0] / capacity_bps >= data["load"][1] else 1] if load_s else _NO_LINK
    )
    share = f"{100 * waits_of(data, capacity_bps):.1f} %"
    # Marked as in all tables: no network can be faster than its busiest link.
    impossible = "!" if is_below else ""
    return [f"{impossible}{format_s(paper_s)}", *map(format_s, (serialized_s, load_s)), ratio, share, busiest]


def slider_controls(facts: RunFacts) -> str:
    """The slider, which begins at the run's own capacity."""
    own = (
        f"The run has {format_rate(facts.capacities_bps[facts.start])}."
        if facts.own_bps is not None and np.isfinite(facts.own_bps)
        else "The run's access links are unlimited, which no place of the slider is."
        if facts.own_bps is not None
        else "The run's access links differ; the slider gives all of them one capacity, so that no place is the run."
    )
    note = (
        f"{own} Closed forms of the same arcs, exact at every capacity; the simulation and the training are those of "
        "the run."
    )
    names = [format_rate(bps) for bps in facts.capacities_bps]
    return (
        slider_bar("All access links at", names, facts.start, note)
        + '<noscript><p class="note">The slider and the choice of an overlay need scripts.</p></noscript>'
    )


def slider_table(facts: RunFacts, data: Mapping[str, Any]) -> str:
    """The table that the slider moves, as it is at the start."""
    capacity = facts.capacities_bps[facts.start]
    heads = "".join(
        f'<th scope="col"{" class=number" if 0 < place < 6 else ""}>{head}</th>'
        for place, head in enumerate(HEADS)
    )
    rows = []
    for place, each in enumerate(facts.overlays):
        name = each.kind
        chosen = ' class="chosen"' if place == 0 else ""
        if each.forms is None:
            rows.append(
                f'<tr data-row="{place}"{chosen}><th scope="row">{text(name)}</th>'
                f'<td colspan="6">{text(_why_no_curve(each))}</td></tr>'
            )
            continue
        cells = row_texts(data["overlays"], place, capacity)
        values = forms_of(data["overlays"][place], capacity)
        marked = [f' data-value="{value!r}"' for value in values] + [""] * 3
        shown = "".join(
            f"<td{' class=number' if at < 5 else ''}{mark}>{text(cell)}</td>"
            for at, (mark, cell) in enumerate(zip(marked, cells, strict=True))
        )
        rows.append(f'<tr data-row="{place}"{chosen}><th scope="row">{text(name)}</th>{shown}</tr>')
    return (
        '<div class="table"><table id="forms"><caption>Closed forms with all access links at '
        f'<span class="at">{text(format_rate(capacity))}</span></caption><thead><tr>{heads}</tr></thead><tbody>'
        f"{''.join(rows)}</tbody></table></div>"
        f'<p class="note">{text(_COLUMNS)}</p>'
    )


def _why_no_curve(each: OverlayFacts) -> str:
    """Why an overlay has no curve."""
    if each.recorded.consensus is None:
        return _NO_CURVE
    if each.overlay is not None and rates_decide_restarts(each.overlay.graph, each.overlay.hub):
        return (
            "Around a hub with slow_start 'idle' rates decide which arcs start slowly: there is no curve over the "
            "access capacity."
        )
    return each.why_not or (
        "Links are half-duplex, shared by silos or fat pipes: there is no curve over one capacity of all access links."
    )


def capacity_curve(facts: RunFacts) -> str:
    """The paper's cycle time over the access capacity, a line for each static overlay, with a cursor."""
    there = [each for each in facts.overlays if each.forms is not None]
    if not there:
        return ""
    styles = styles_of([each.kind for each in facts.overlays])
    classes = line_classes(styles)
    low, high = facts.capacities_bps[0], facts.capacities_bps[-1]
    lines = []
    for each in there:
        assert each.forms is not None
        curve = each.forms.curve
        at = np.unique(np.concatenate((np.geomspace(low, high, _SAMPLES)[1:-1], curve.capacity_bps)))
        lines.append(ChartLine(style=classes[each.kind], x=at, y=curve(np.clip(at, low, high))))
    marked = [_impossible(each, line) for each, line in zip(there, lines, strict=True)]
    lines = [*(line for line in marked if line is not None), *lines]
    x = chart_axis("access capacity", [np.array([low, high])], is_x=True, is_log=True, show=format_rate)
    values = np.concatenate([line.y[line.y > 0] for line in lines])
    shown = column_axis(
        "paper_s", float(values.min(initial=1.0)), float(values.max(initial=1.0)), is_log=True
    )
    y = chart_axis(
        shown.label,
        [line.y for line in lines],
        is_x=False,
        is_log=bool(len(values)),
        factor=shown.factor,
        show=shown.show,
    )
    across = float(chart_x(x, np.array([facts.capacities_bps[facts.start]]))[0])
    marks = []
    for place, each in enumerate(facts.overlays):
        if each.forms is not None:
            here = float(each.forms.curve(facts.capacities_bps[facts.start]))
            down = float(chart_y(y, np.array([here]))[0]) if here > 0 or not y.is_log else 0.0
            marks.append(
                f'<circle class="mark f-{classes[each.kind]}" data-mark="{place}" cx="{across:.1f}" cy="{down:.1f}" '
                'r="4"/>'
            )
    cursor = f'<line class="cursor" id="cursor" x1="{across:.1f}" y1="12" x2="{across:.1f}" y2="252"/>'
    kinds = ", ".join(each.kind for each in there)
    said = (
        f"Cycle time by the paper's closed form of {kinds} from {format_rate(low)} to {format_rate(high)}. "
        "The slider moves a mark on each line; the table beside it has the numbers."
    )
    chart = line_chart(
        "curve", "Cycle time over access capacity", said, x, y, lines, inside=cursor + "".join(marks)
    )
    note = f'<p class="note">{_BELOW}</p>' if len(lines) > len(there) else ""
    head = "Cycle time (paper) over the capacity of all access links"
    return f"<figure><figcaption>{head}</figcaption>{chart}{note}</figure>"


def _impossible(each: OverlayFacts, line: ChartLine) -> ChartLine | None:
    """Where an overlay's line is below load, as a line below it; None where it nowhere is."""
    assert each.forms is not None
    below = np.array([below_load(y, each.forms.at(x)[2]) for x, y in zip(line.x, line.y, strict=True)])
    if not below.any():
        return None
    return ChartLine(style="below", x=line.x, y=np.where(below, line.y, np.nan), has_dots=False)


CAPACITY_SCRIPT = """
const run = JSON.parse(document.getElementById("run").textContent);
const slider = document.getElementById("capacity"), told = document.getElementById("told");
const chosen = () => Number(document.querySelector("input[name=overlay]:checked")?.value ?? 0);
const digits = (n) => Number(n.toPrecision(4)) >= 1000 ? n.toFixed(0) : n.toPrecision(4);
function seconds(s) {
  if (s === 0) return "0 s";
  const units = [["s", 1], ["ms", 1e3], ["\\u00b5s", 1e6], ["ns", 1e9]];
  const [unit, factor] = units.find(([, f]) => f * Number(s.toPrecision(4)) >= 1) ?? units[3];
  return `${digits(factor * s)} ${unit}`;
}
function forms(overlay, c) {
  let paper = -Infinity, piece = 0;
  for (let k = 0; k < overlay.fixed.length; k++) {
    const value = overlay.fixed[k] + overlay.shared[k] / c;
    if (value > paper) { paper = value; piece = k; }
  }
  const serialized = Math.max(paper, overlay.sending[0] / c, overlay.sending[1]);
  return { paper, piece, serialized, load: Math.max(overlay.load[0] / c, overlay.load[1]),
    waits: paper > 0 ? overlay.shared[piece] / c / paper : 0,
    impossible: paper < Math.max(overlay.load[0] / c, overlay.load[1]) * (1 - 1e-9),
    byAccess: overlay.load[0] / c >= overlay.load[1] };
}
function part(value, axis) {
  const [low, high, log] = axis;
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}
const curve = document.getElementById("curve");
const ends = curve && ["x", "y"].map((name) => curve.dataset[name].split(" ").map(Number));
const star = run.overlays.find((overlay) => overlay.star && overlay.fixed);
function update() {
  const c = run.capacities[slider.value], name = run.names[slider.value], now = chosen();
  slider.setAttribute("aria-valuetext", name);
  document.getElementById("capacity-text").textContent = name;
  for (const at of document.querySelectorAll(".at")) at.textContent = name;
  run.overlays.forEach((overlay, place) => {
    const row = document.querySelector(`[data-row="${place}"]`);
    row.classList.toggle("chosen", place === now);
    const layer = document.querySelector(`[data-layer="${place}"]`);
    layer.classList.toggle("off", place !== now);
    if (!overlay.fixed) return;
    const found = forms(overlay, c), cells = row.querySelectorAll("td");
    [found.paper, found.serialized, found.load].forEach((value, at) => {
      cells[at].textContent = (at === 0 && found.impossible ? "!" : "") + seconds(value);
      cells[at].dataset.value = String(value);
    });
    const stars = star && forms(star, c);
    cells[3].textContent = stars && found.paper > 0 ? (stars.impossible || found.impossible ? "!" : "") +
      `${(stars.paper / found.paper).toFixed(2)}x` : "-";
    cells[4].textContent = `${(100 * found.waits).toFixed(1)} %`;
    cells[5].textContent = found.load > 0 ? overlay.busiest[found.byAccess ? 0 : 1] : "none";
    const circuit = overlay.circuits[found.piece];
    const arcs = new Set(circuit.map((silo, k) => `${silo}-${circuit[(k + 1) % circuit.length]}`));
    for (const arc of layer.querySelectorAll("[data-arc]")) {
      arc.classList.toggle("critical", arcs.has(arc.dataset.arc));
    }
    for (const busy of layer.querySelectorAll(".busy")) {
      busy.classList.toggle("off", (busy.dataset.limit === "access") !== found.byAccess);
    }
    const mark = curve.querySelector(`[data-mark="${place}"]`);
    mark.setAttribute("cx", 64 + 402 * part(c, ends[0]));
    mark.setAttribute("cy", 252 - 240 * part(found.paper, ends[1]));
    if (place === now) {
      const need = found.load > 0 ? overlay.need[found.byAccess ? 0 : 1] : "";
      const names = circuit.map((silo) => run.labels[silo]);
      const first = names.length > 8 ? [...names.slice(0, 8), `${names.length - 8} more`] : [...names, names[0]];
      const what = circuit.length === 1 ? `${names[0]}'s own computing` : `a circuit of ${names.length} arcs`;
      document.getElementById("bottleneck").textContent = `${overlay.kind} at ${name}: ${what} limits a round to ` +
        `${seconds(found.paper)}${circuit.length === 1 ? "" : `: ${first.join(" \\u2192 ")}`}. ` +
        (need ? `${need} ${seconds(found.load)} a round.` : "No link limits it.") +
        (found.impossible ? " Paper is below load, which no network can do: do not count on it." : "");
    }
  });
  if (!run.overlays[now].fixed) document.getElementById("bottleneck").textContent = "";
  const cursor = document.getElementById("cursor");
  if (cursor) for (const end of ["x1", "x2"]) cursor.setAttribute(end, 64 + 402 * part(c, ends[0]));
}
slider.addEventListener("input", update);
document.getElementById("reset").addEventListener("click", () => { slider.value = run.start; update(); });
for (const radio of document.querySelectorAll("input[name=overlay]")) radio.addEventListener("change", update);
const number = (n) => n === null ? "?" : String(Number(n.toPrecision(4)));
const share = (n) => n === null ? "" : `, ${(100 * n).toFixed(1)} % used`;
function both(cells, one, other) {
  const models = number(cells[0]) === "1" ? "model" : "models";
  return `${number(cells[0])} ${models} a round ${one}${share(cells[2])}; ` +
    `${number(cells[1])} ${other}${share(cells[3])}`;
}
for (const element of document.querySelectorAll("#map .line, #map .place, #map .arc")) {
  const tell = () => {
    const words = [element.querySelector("title").textContent], overlay = run.overlays[chosen()];
    if (element.dataset.link !== undefined) {
      const cells = overlay.links[element.dataset.link];
      words.push(cells ? both(cells, "there", "back") : "nothing over it");
    } else if (element.dataset.site !== undefined) {
      run.routers.forEach((router, silo) => {
        if (router === Number(element.dataset.site)) {
          words.push(`silo ${run.labels[silo]}: ${both(overlay.silos[silo], "sent", "received")}`);
        }
      });
    }
    told.textContent = words.length > 1 ? `${words[0]}; ${overlay.kind}: ${words.slice(1).join("; ")}` : words[0];
  };
  element.addEventListener("mouseenter", tell);
  element.addEventListener("focus", tell);
}
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not(.numbers)")) one.open = true;
});
update();
"""
