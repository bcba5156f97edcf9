"""Write docs/best_overlays.csv and .png: which overlay is best by closed form, by simulation and by a real training.

    python tools/make_best_overlays.py FOLDER [--network NETWORK ...] [--draw]

Each network with each capacity of all access links is one run, kept in FOLDER: where that has its file, it is not run
again. ``--draw`` writes the table and the figure of the files that are there, and prints the table of the docs.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import silosim
from scenarios.report.figure_style import DEFAULT_STYLE, GRID
from scenarios.report.line_styles import COLOURS
from scenarios.report.log_axis import log_ticks
from scenarios.report.table_formats import write_tables
from scenarios.report.tables import Row, Table
from topologies import published_underlays

DOCS = Path(__file__).parents[1] / "docs"
ACCESS = ("100 Mbps", "1 Gbps", "10 Gbps")
NETWORKS = (*published_underlays(), "clouds")
CRITERIA: Mapping[str, str] = MappingProxyType(
    {"paper_s": "closed form (paper)", "simulated_s": "simulated cycle time", "time_to_target_s": "training"}
)
"""By what an overlay may be chosen: a column of a run's table."""
SCENARIO = """name = "best-overlays"
[network]
underlay = "{network}"
access = "{access}"
[workload]
preset = "inaturalist"
[simulation]
rounds = 120
[training]
model = "softmax"
partition = "dirichlet"
dirichlet_alpha = 0.2
learning_rate = 0.2
rounds = 120
log_every = 2
target_accuracy = 0.85
ranks = 1
"""
OVERLAYS = (
    *({"kind": kind} for kind in ("star", "mst", "delta_mbst", "ring", "multigraph", "matcha")),
    {"kind": "best", "name": "best by paper"},
    {"kind": "best", "name": "best by simulated", "criterion": "simulated"},
    {"kind": "best", "name": "best by time-to-accuracy", "criterion": "time-to-accuracy"},
    {"kind": "best_periodic"},
    {"kind": "one_peer_exponential", "order": "tour"},
    {"kind": "base", "order": "tour"},
    {"kind": "equi_dyn", "order": "tour"},
)
TIE = 0.005
"""Of so many rounds, simulated cycle times are estimates."""
NEED_ALL_PAIRS = ("star", "one_peer_exponential", "base", "equi_dyn")
"""Kinds that do not exist where some pairs cannot talk, as those of clouds that were not measured."""


def scenario_of(network: str, access: str) -> str:
    """The scenario of a run."""
    tables = (
        "".join(("[[overlays]]\n", *(f'{key} = "{value}"\n' for key, value in entry.items())))
        for entry in OVERLAYS
        if network != "clouds" or entry["kind"] not in NEED_ALL_PAIRS
    )
    return SCENARIO.format(network=network, access=access) + "".join(tables)


def files_of(folder: Path, network: str, access: str) -> tuple[Path, Path]:
    """Scenario and file of a run."""
    name = f"{network}-{access.replace(' ', '')}"
    return folder / f"{name}.toml", folder / f"{name}.h5"


def rows_of(path: Path, network: str, access: str) -> list[Row]:
    """Rows of a run."""
    fields = ("overlay", *CRITERIA, "serialized_s", "load_bound_s", "simulated_is_exact", "rounds_to_target")
    return [
        {"network": network, "access": access, **{field: row[field] for field in fields}}
        for row in silosim.run_summary(path).rows
    ]


def ring_of(rows: Sequence[Row]) -> Row:
    """The row of the ring."""
    return next(row for row in rows if row["overlay"] == "ring")


def chosen(rows: Sequence[Row], field: str) -> Row:
    """The first row, as `OVERLAYS` lists them, within `TIE` of the least value of a field."""
    known = [row for row in rows if row[field] is not None]
    least = min(row[field] for row in known)
    return next(row for row in known if row[field] <= (1 + TIE) * least)


MARKS: Mapping[str, tuple[Callable[[Sequence[Row]], Row], Mapping[str, Any]]] = MappingProxyType(
    {
        "ring": (ring_of, {"marker": "|", "color": COLOURS[6], "markersize": 11, "markeredgewidth": 1.6}),
        "least simulated": (
            partial(chosen, field="simulated_s"),
            {"marker": "s", "color": COLOURS[5], "markersize": 7},
        ),
        "least paper": (
            partial(chosen, field="paper_s"),
            {"marker": "^", "color": COLOURS[1], "markersize": 4.5},
        ),
        "best in training": (
            partial(chosen, field="time_to_target_s"),
            {"marker": "o", "color": COLOURS[0], "fillstyle": "none", "markersize": 10},
        ),
    }
)
"""What the figure shows: the rows' overlay, and how it looks."""


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw a panel for each capacity: times to the target of the ring and of what each criterion chooses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(DEFAULT_STYLE.width_in, 2.7), layout="constrained")
    panels = figure.subplots(1, len(ACCESS), sharey=True)
    networks = [name for name in NETWORKS if any(row["network"] == name for row in rows)]
    for panel, access in zip(panels, ACCESS, strict=True):
        for name, (pick, look) in MARKS.items():
            times_s, places = [], []
            for place, network in enumerate(networks):
                here = [row for row in rows if (row["network"], row["access"]) == (network, access)]
                time_s = pick(here)["time_to_target_s"] if here else None
                if time_s is not None:
                    times_s.append(time_s)
                    places.append(place)
            panel.plot(times_s, places, linestyle="", label=name, **look)
        panel.set_title(f"access {access}", fontsize=9)
        drawn_s = [float(time_s) for line in panel.lines for time_s in line.get_xdata()]
        ticks = log_ticks(0.8 * min(drawn_s), 1.25 * max(drawn_s), 5)
        panel.set_xscale("log")
        panel.set_xlim(0.8 * min(drawn_s), 1.25 * max(drawn_s))
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.set_xlabel("time (s)", fontsize=8)
        panel.grid(axis="both", **GRID)
        panel.set_axisbelow(True)
        panel.tick_params(labelsize=8)
    panels[0].set_yticks(range(len(networks)), networks)
    panels[0].set_ylim(len(networks) - 0.5, -0.5)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle("Time to a test accuracy of 0.85, by how the overlay is chosen", fontsize=10)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Run what is missing, or write the table and the figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--network", action="append", choices=NETWORKS, help="by default all")
    parser.add_argument("--draw", action="store_true", help="of the files that are there")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for network in options.network or NETWORKS:
        for access in ACCESS:
            scenario, output = files_of(options.folder, network, access)
            if not options.draw and not output.exists():
                scenario.write_text(scenario_of(network, access))
                silosim.run(scenario, output, force=True)
            elif output.exists():
                rows += rows_of(output, network, access)
    if options.draw:
        write_tables(DOCS / "best_overlays.csv", [Table(caption="", columns=(), rows=rows)])
        draw(rows, DOCS / "best_overlays.png")
        for line in lines_of(rows):
            print(line)


def lines_of(rows: Sequence[Row]) -> list[str]:
    """Rows of the table of the docs: the overlay that each criterion chooses, and what it has."""
    places = dict.fromkeys((row["network"], row["access"]) for row in rows)
    lines = []
    for place in places:
        here = [row for row in rows if (row["network"], row["access"]) == place]
        found = ((field, chosen(here, field)) for field in CRITERIA)
        lines.append(
            f"| {' | '.join(place)} | "
            + " | ".join(f"{row['overlay']} {row[field]:.4g}" for field, row in found)
            + " |"
        )
    return lines


if __name__ == "__main__":
    main()
