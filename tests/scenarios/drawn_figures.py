"""Figures of all commands, of small data that reach the ways in which they are drawn; each gives its description."""

import re
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas
from figure_description import described
from matplotlib.figure import Figure
from pair_run import write_pair_run
from test_figures import KINDS, sweep_table, upgrade_table, validation_rows
from test_maps import NAN, PACIFIC, network, pairs_of
from test_study_plot import study
from test_tables_and_plots import overlay, record
from timeline_runs import EVENTS, write_run

from scenarios.report.figure_style import FigureStyle
from scenarios.report.map import plot_map
from scenarios.report.plots import plot_run, plot_sweep, plot_times, plot_upgrade, plot_validation
from scenarios.report.seeds_plot import plot_seeds
from scenarios.report.study_plot import plot_study
from scenarios.report.tables import Table
from scenarios.report.timeline_plot import plot_timelines
from scenarios.runfile.overlay_timeline import OverlayTimeline
from scenarios.runfile.reader import OverlayRecord
from scenarios.studies.partition import Division
from scenarios.studies.partition_plot import plot_partition
from scenarios.studies.timeline import timelines
from topologies import Underlay
from topologies.measured_pairs import MeasuredPairs
from topologies.site_values import SiteValues

HERE = Path("x.png")
USUAL, NARROW, WIDE = FigureStyle(), FigureStyle(width_in=3.5), FigureStyle(width_in=10.5)
_MODULES = (
    "report.plots",
    "report.study_plot",
    "report.map",
    "report.seeds_plot",
    "report.timeline_plot",
    "studies.partition_plot",
)


def pictures(*calls: Callable[[], object]) -> str:
    """Descriptions of what is drawn, with the settings under which it would be written."""
    found: list[str] = []

    def keep(figure: Figure, _path: Path) -> None:
        found.append(described(figure))

    with ExitStack() as stack:
        for module in _MODULES:
            stack.enter_context(patch(f"scenarios.{module}.save_figure", keep))
        for call in calls:
            call()
    assert len(found) == len(calls)
    return "\n".join(found)


# Runs, sweeps, replays, upgrades, validations


def _run() -> str:
    kinds = ("star", "ring", "mine", "best_periodic")
    every = [overlay(kind, 3.0**place, [0.1, 0.5, 0.9]) for place, kind in enumerate(kinds)]
    gap = replace(
        every[1],
        history=every[1].history | {"test_accuracy": np.array([0.1, np.nan, 0.8])},
    )
    runs = record(every[0], gap, *every[2:])
    near = record(*(overlay(kind, 2.0, [0.2, 0.7, 0.8]) for kind in ("star", "ring")))
    return pictures(
        lambda: plot_run(runs, HERE, title="a title", target_accuracy=0.8),
        lambda: plot_run(near, HERE, title="$5 and more", style=NARROW, target_accuracy=0.5),
        lambda: plot_run(near, HERE, title="imported", is_imported=True, style=WIDE),
        lambda: plot_run(record(every[0]), HERE, title="imported", is_imported=True),
    )


def without(one: OverlayRecord, metric: str) -> OverlayRecord:
    """An overlay none of whose rows has a metric."""
    values = np.full(len(one.wall_clock_s), np.nan)
    other = {"test_loss": one.history["train_loss"] / 2}
    return replace(one, history=one.history | other | {metric: values})


def _run_of_one_metric() -> str:
    one = overlay("ring", 0.01, [0.1, 0.5, 0.9])
    return pictures(
        lambda: plot_run(record(without(one, "test_accuracy")), HERE, title="t", target_accuracy=0.5),
        lambda: plot_run(record(without(one, "train_loss")), HERE, title="t"),
        lambda: plot_run(
            record(*(overlay(kind, 1.0, [0.1, 0.9]) for kind in KINDS)), HERE, title="t", target_accuracy=0.5
        ),
    )


def _seeds() -> str:
    def runs(scale: float):
        return {
            seed: record(
                overlay("star", scale + seed, [0.1, 0.5, 0.8 + 0.01 * seed]),
                overlay("ring", 1.0 + 0.1 * seed, [0.1 * seed, 0.6, 0.9]),
                replace(overlay("mst", 1.0, [0.1]), history={}),
            )
            for seed in (1, 2)
        }

    one = {seed: record(without(overlay("ring", 1.0 + seed, [0.1, 0.5]), "test_accuracy")) for seed in (0, 1)}
    return pictures(
        lambda: plot_seeds(runs(10.0), HERE, title="seeds"),
        lambda: plot_seeds(runs(1.0), HERE, title="seeds", style=NARROW),
        lambda: plot_seeds(one, HERE, title="seeds", style=WIDE),
    )


def _sweep() -> str:
    few = sweep_table(("star", "ring", "mine"), [1e8, 1.2e8, 1e10])
    slow = sweep_table(("ring",), [1e6])
    slow.rows[0]["simulated_s"] = 10.0
    slower = sweep_table(("ring",), [1e6])
    slower.rows[0]["simulated_s"] = 10.1
    return pictures(
        lambda: plot_sweep(few, HERE, title="a sweep"),
        lambda: plot_sweep(few, HERE, title="a sweep", style=NARROW),
        lambda: plot_sweep(slow, HERE, title="a sweep", style=WIDE),
        lambda: plot_sweep(slower, HERE, title="a sweep"),
        lambda: plot_sweep(sweep_table(KINDS, [1e9]), HERE, title="a sweep"),
    )


def _times() -> str:
    rows = [
        {
            "overlay": kind,
            "access_bps": bps,
            "time_to_target_s": None if kind == "mst" else 1e12 / bps,
        }
        for kind in ("star", "mst", "ring")
        for bps in (1e7, 1e8)
    ]
    tables = [
        Table(caption="", columns=(), rows=rows, further={"target_accuracy": target})
        for target in (0.8, None)
    ]
    return pictures(
        lambda: plot_times(tables[0], HERE, title="times"),
        lambda: plot_times(tables[1], HERE, title="times", style=NARROW),
    )


def _upgrade() -> str:
    unproven = upgrade_table([0.0, 2.0, 3.0], half_width_s=0.5)
    for row in unproven.rows:
        row["simulated_s"] = None
    unproven.rows[1]["is_proven"] = False
    unproven.further["by"] = "paper"
    just = upgrade_table([0.0, 1.0], half_width_s=0.0)
    just.rows[0]["simulated_s"] = 10.0
    slow = upgrade_table([0.0, 1.0], half_width_s=0.0, currency="")
    slow.rows[0] |= {"paper_s": 10.1, "load_bound_s": 3.0}
    unnamed = upgrade_table([5.0], half_width_s=0.1, currency="")
    unnamed.further["is_priced"] = True
    return pictures(
        lambda: plot_upgrade(upgrade_table([0.0, 1.0, 2.0], half_width_s=0.1), HERE, wanted_s=0.5),
        lambda: plot_upgrade(unproven, HERE, style=NARROW),
        lambda: plot_upgrade(just, HERE, wanted_s=5.0, style=NARROW),
        lambda: plot_upgrade(slow, HERE, wanted_s=1.0, style=WIDE),
        lambda: plot_upgrade(unnamed, HERE),
    )


def _validation() -> str:
    first, second, third = validation_rows(("star", "ring", "mst"), 0.8).rows
    first |= {"serialization_s": 0.5, "unused_shares_s": -0.3, "waits_for_other_arcs_s": 0.2, "world_s": 0.1}
    first |= {"maxmin_half_width_s": 0.2, "equal_over_paper": -0.2, "equal_half_width_s": 0.1}
    second |= {"paper_s": 0.0, "maxmin_over_paper": None, "equal_over_paper": None, "computing_times_s": 1.0}
    second |= {"maxmin_half_width_s": None, "equal_half_width_s": None, "slow_start_s": None}
    third |= {"shared_links_s": None, "no_barrier_s": -0.01, "slow_start_s": 0.02}
    table = Table(caption="", columns=(), rows=[first, second, third])
    return pictures(
        lambda: plot_validation(table, HERE, title="validated"),
        lambda: plot_validation(table, HERE, title="validated", style=NARROW),
        lambda: plot_validation(validation_rows(("star",), 0.001), HERE, title="validated", style=WIDE),
    )


# Studies


def _studies(**options: object) -> Callable[[pandas.DataFrame], Callable[[], object]]:
    def made(table: pandas.DataFrame) -> Callable[[], object]:
        def draw() -> None:
            with tempfile.TemporaryDirectory() as folder:
                plot_study(table, Path(folder) / "x.png", force=False, **options)  # type: ignore[arg-type]

        return draw

    return made


def _study() -> str:
    simple = study(access_bps=(1e8, 1e9, 1e10))
    half = simple.assign(simulated_half_width_s=[0.1 * value for value in simple["simulated_s"]])
    steps = study(access_bps=(1e8, 2e8, 3e8), local_steps=(1, 5), overlays=("star", "ring"))
    many = study(access_bps=tuple(1e8 * (1 + k) for k in range(30)), overlays=("star", "mine"))
    many.loc[many["point"] == "3", "simulated_s"] = np.nan
    return pictures(
        _studies()(simple),
        _studies(style=NARROW)(half),
        _studies(style=WIDE, log_x=False, log_y=False)(half),
        _studies()(steps),
        _studies(style=NARROW)(steps),
        _studies(log_x=True)(many),
        _studies(log_x=False)(study(access_bps=tuple(1e8 * (1 + k) for k in range(10)), overlays=("star",))),
        _studies(log_x=False)(study(access_bps=tuple(1e8 * (1 + k) for k in range(11)), overlays=("star",))),
        _studies(y="paper_s")(study(access_bps=(1e9,))),
        _studies(log_x=True, style=NARROW)(simple.assign(simulated_s=0.0, paper_s=0.0)),
    )


def _study_of_seeds() -> str:
    table = study(access_bps=(1e8, 1e9), seed=(0, 1, 2))
    table["simulated_s"] *= 1 + table["seed"] / 10
    alone = study(access_bps=(1e8,), seed=(0, 1))
    alone["simulated_s"] *= 1 + alone["seed"] / 10
    return pictures(
        _studies()(table),
        _studies(style=WIDE)(alone),
        _studies(x="arcs", y="simulated_s")(table.assign(arcs=table["access_bps"] / 1e7 + table["seed"])),
    )


def _study_of_texts() -> str:
    names = ["a", "b", "a rather long name of a choice, the third"]
    table = study(choice=names)
    half = table.assign(simulated_half_width_s=0.1)
    many = study(choice=[f"{name} {k}" for name in names for k in range(3)], overlays=("star", "ring", "mst"))
    several = study(overlays=KINDS[:2])
    return pictures(
        _studies()(half),
        _studies(style=NARROW)(many),
        _studies()(many),
        _studies(x="overlay")(several),
        _studies(x="overlay")(study(overlays=["one"])),
    )


def _study_of_panels() -> str:
    table = study(access_bps=(1e8, 1e9), local_steps=(1, 2, 3, 4, 5), overlays=("star", "ring"))
    table.loc[table["local_steps"] == 2, "simulated_s"] *= 3
    failed = table.copy()
    failed.loc[0, "error"] = "no"
    whole = study(local_steps=(1, 2, 3), access_bps=(1e9,), overlays=("star",))
    whole["simulated_s"] = [-1.0, 0.0, 2.0]
    long = study(
        access_bps=(1e8, 1e9), overlays=("an overlay whose name is so long that it is broken", "ring")
    )
    return pictures(
        _studies(x="access_bps", facet="local_steps")(table),
        _studies(x="access_bps", facet="local_steps", style=NARROW)(failed),
        _studies(x="access_bps", facet="local_steps", where={"local_steps": [1, 2, 3, 4]})(table),
        _studies(x="local_steps", y="simulated_s")(whole),
        _studies()(long),
        _studies(style=NARROW)(long),
        _studies()(study(access_bps=(1e8, 1e9), overlays=KINDS)),
    )


# Timelines


@cache
def recorded_timelines() -> tuple[list[OverlayTimeline], list[OverlayTimeline]]:
    with tempfile.TemporaryDirectory() as folder:
        pair = write_pair_run(Path(folder) / "pair.h5")
        short = [shown.timeline for shown in timelines(pair, rounds=slice(0, 3))]
        gaia = write_run(Path(folder) / "gaia.h5", kinds=("star", "ring"), rounds=8, more=EVENTS)
        return short, [shown.timeline for shown in timelines(gaia, rounds=slice(1, 6))]


def absent(timeline: OverlayTimeline, *, returns: bool) -> OverlayTimeline:
    """The second of two silos is away from the second round on, for good or until the rounds end."""
    activity = timeline.activity
    is_away, next_start_s = activity.is_away.copy(), activity.next_start_s.copy()
    is_away[1:, 1] = True
    if not returns:
        next_start_s[1:, 1] = activity.start_s[1:, 1]
    return replace(timeline, activity=replace(activity, is_away=is_away, next_start_s=next_start_s))


def computing(timeline: OverlayTimeline) -> OverlayTimeline:
    """The critical circuit is a silo's computing."""
    return replace(timeline, circuit=((1, 0),))


def without_time(timeline: OverlayTimeline) -> OverlayTimeline:
    """A job all of whose dates are 2 s."""
    activity = timeline.activity
    start_s = np.full_like(activity.start_s, 2.0)
    still = replace(activity, start_s=start_s, next_start_s=start_s, compute_s=np.zeros_like(start_s))
    return replace(timeline, activity=still, begin_s=2.0, end_s=2.0)


def _timeline() -> str:
    short, gaia = recorded_timelines()
    return pictures(
        lambda: plot_timelines(short, HERE, title="two silos"),
        lambda: plot_timelines(
            [absent(short[0], returns=returns) for returns in (True, False)], HERE, title="an absence"
        ),
        lambda: plot_timelines([computing(short[0])], HERE, title="computing"),
        lambda: plot_timelines([without_time(short[0])], HERE, title="no time", style=NARROW),
        lambda: plot_timelines(gaia[:1], HERE, title="a star"),
        lambda: plot_timelines(gaia[1:], HERE, title="a ring", style=WIDE),
    )


def _first_panel(panels: int, style: FigureStyle = USUAL) -> str:
    """Of panels that are all alike the first one, with the whole figure's legend."""
    _, gaia = recorded_timelines()
    named = replace(gaia[1], labels=tuple(f"{name}, a long name" for name in gaia[1].labels))
    whole = pictures(lambda: plot_timelines([named] * panels, HERE, title="many", style=style))
    return re.split(r"\naxes [1-9]", whole)[0] + "\n"


def _timeline_of_many_rows() -> str:
    return _first_panel(6) + _first_panel(8) + _first_panel(2, NARROW)


def _timeline_of_most_rows() -> str:
    return _first_panel(13) + _first_panel(8, NARROW)


# Maps


def _map() -> str:
    sites = SiteValues(
        up_bps=np.array([1e9, np.nan, np.nan, np.nan]),
        down_bps=np.array([1e8, np.nan, np.nan, 2e9]),
        compute_s=np.array([np.nan, 0.1, np.nan, np.nan]),
    )
    near = network({"A": (48.0, 2.0), "B": (48.3, 2.2), "Bb": (48.3, 2.2)}, [(0, 1), (1, 2)], [1e9, 1e9])
    street = network({"A": (48.0, 2.0), "B": (48.001, 2.001)}, [(0, 1)])
    alone = network({"Only": (10.0, 20.0), "Lost": NAN}, [(0, 1)])
    ring = [(place, (place + 1) % 6) for place in range(6)]
    around = network({f"{deg} E": (deg / 5, float(deg)) for deg in range(-150, 151, 60)}, ring)
    return pictures(
        lambda: plot_map(around, HERE),
        lambda: plot_map(replace(PACIFIC, sites=sites), HERE),
        lambda: plot_map(PACIFIC, HERE, style=NARROW),
        lambda: plot_map(near, HERE, style=WIDE),
        lambda: plot_map(street, HERE),
        lambda: plot_map(alone, HERE),
    )


def crowd(count: int, spread_deg: float = 2.0) -> Underlay:
    """Sites around a square whose names are longer than the gaps between them, and some at one place."""
    places = {
        f"site number {k}": (45 + spread_deg * (k * 7 % count // 3), spread_deg * (k % 5))
        for k in range(count)
    }
    ends = [(k, (k + 1) % count) for k in range(count)] + [(0, k) for k in range(2, count, 3)]
    return network(places, ends, [10.0 ** (6 + k % 9) for k in range(len(ends))])


def _crowded_map() -> str:
    lost = network({"A": (0.0, 0.0), "B": (0.0, 10.0), "C": NAN, "D": NAN}, [(0, 1), (1, 2), (0, 3)])
    chain = [(k, k + 1) for k in range(29)]
    one_place = network({f"n{k}": (48.0, 2.0) for k in range(30)}, chain)
    graph = network(dict.fromkeys("ABCDE", NAN), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], [1e9] * 5)
    return pictures(
        lambda: plot_map(crowd(24), HERE),
        lambda: plot_map(crowd(40), HERE, style=NARROW),
        lambda: plot_map(lost, HERE),
        lambda: plot_map(one_place, HERE),
        lambda: plot_map(graph, HERE, style=NARROW),
    )


def measured(bandwidth_bps: list[list[float]], **changes: object) -> Underlay:
    """Pairs of three sites of the north."""
    given = MeasuredPairs(bandwidth_bps=np.array(bandwidth_bps), latency_s=np.full((3, 3), 0.02))
    places = {"Oslo": (59.9, 10.7), "Bergen": (60.4, 5.3), "Trondheim": (63.4, 10.4)}
    return network(places, [], measured=given, **changes)


PAIRS = {
    "both": [[0, 1e9, 2e8], [5e8, 0, 0], [1e8, 3e8, 0]],
    "equal": [[0, 1e9, 1e9], [1e9, 0, 1e9], [1e9, 1e9, 0]],
    "unlimited": [[0, np.inf, np.inf], [np.inf, 0, np.inf], [np.inf, 0, 0]],
}


def _measured_map() -> str:
    return pictures(
        *(lambda rates=rates: plot_map(measured(rates), HERE) for rates in PAIRS.values()),
        lambda: plot_map(measured(PAIRS["both"]), HERE, style=NARROW),
        lambda: plot_map(pairs_of(20), HERE, style=WIDE),
    )


# Partitions


def division(silos: int) -> Division:
    """Silos whose samples and divergences follow from their places."""
    place = np.arange(silos)
    return Division(
        about="a data set\nand its partition",
        notes=(),
        silos=[f"silo {k} {'x' * (k % 20)}" for k in range(silos)],
        samples=100 + 10 * place,
        groups=None,
        label_counts=np.ones((silos, 2), dtype=np.int64),
        divergence_bits=np.abs(np.subtract.outer(place, place)) / (4.0 * max(silos, 4)),
    )


def _partition() -> str:
    return pictures(
        *(lambda silos=silos: plot_partition(division(silos), HERE) for silos in (1, 3, 20, 46, 70)),
        lambda: plot_partition(division(3), HERE, style=NARROW),
        lambda: plot_partition(division(60), HERE, style=FigureStyle(width_in=3.5)),
        lambda: plot_partition(division(30), HERE, style=FigureStyle(width_in=6.5)),
        lambda: plot_partition(division(3), HERE, style=FigureStyle(width_in=20)),
    )


FIGURES: dict[str, Callable[[], str]] = {
    "run": _run,
    "run-of-one-metric": _run_of_one_metric,
    "seeds": _seeds,
    "sweep": _sweep,
    "times": _times,
    "upgrade": _upgrade,
    "validation": _validation,
    "study": _study,
    "study-of-seeds": _study_of_seeds,
    "study-of-texts": _study_of_texts,
    "study-of-panels": _study_of_panels,
    "timeline": _timeline,
    "timeline-of-many-rows": _timeline_of_many_rows,
    "timeline-of-most-rows": _timeline_of_most_rows,
    "map": _map,
    "map-crowded": _crowded_map,
    "map-of-pairs": _measured_map,
    "partition": _partition,
}
