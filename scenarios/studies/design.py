"""The table of designed overlays: closed forms side by side, and a short simulation."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scenarios.config.designer_options import Written, designer_options
from scenarios.config.network import describe, idle_links
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import AnyOverlay, design_any, expected_gap
from scenarios.config.quantities import digits, format_interval, format_ratio, format_s, in_unit
from scenarios.report.agreed_mean import agreement_notes, weights_by_label
from scenarios.report.closed_forms import FORMS, below_load, forms_note
from scenarios.report.engine_note import engine_note
from scenarios.report.tables import Column, Table, cycle_time_columns, note_lines
from scenarios.report.tie_note import tie_notes
from scenarios.report.window_note import window_notes
from scenarios.runtime.progress import heartbeat
from scenarios.simulation.design_bar import design_with_bar
from scenarios.simulation.quick import SETTINGS, QuickSimulation, quick_simulation
from scenarios.studies.periodic_rows import (
    Mixing,
    column_note,
    mixing_notes,
    mixing_of,
    order_notes,
    reading_fields,
    reading_note,
)
from simulator.designers.best import SIMULATED, TIME_TO_ACCURACY
from topologies import (
    Connectivity,
    InputError,
    Overlay,
    PeriodicOverlay,
    RandomOverlay,
    Workload,
)
from topologies.arrays import FloatArray
from topologies.bounds import lower_bound_s, simulated_bounds_s
from topologies.consensus import agreed_weights, spectral_gap
from topologies.contraction import round_contraction
from topologies.designers.matcha import Matcha
from topologies.errors import unknown_name
from topologies.input_limits import MOST_MIXING_SILOS
from topologies.random_cycle_time import RANDOM_ROUNDS, random_cycle_time
from topologies.schedule import NamedRandomOverlay
from topologies.sizes import MANY_SILOS
from topologies.time_to_accuracy import seconds_per_efold

RATES = ("simulated", "paper")
"""Cycle times that throughput and the ratio to the STAR can be taken from."""
_MUCH_ABOVE = 0.05
"""A simulated cycle time further than this above every closed form gets a note."""


def design_table(
    graph: Connectivity,
    work: Workload,
    overlays: Sequence[OverlayConfig],
    *,
    seed: int,
    bound: bool,
    rates_from: str = "simulated",
    engine: str = SETTINGS.engine,
    left_out: Sequence[str] = (),
    consensus: str = "",
    label_shares: Callable[[], FloatArray] | None = None,
) -> Table:
    """Closed forms and simulated cycle times of several overlays, with the ratio to the STAR.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    overlays : sequence of OverlayConfig
    seed : int
        Of the rounds of randomized overlays, and of designers that take one.
    bound : bool
        Whether the lower bound is the highest that is known, which takes seconds; so it is with ``best``
        by a closed form. Otherwise it is that of the assignment problems alone, and there is none above `MANY_SILOS`
        silos.
    rates_from : {"simulated", "paper"}
        The cycle times that ``throughput_per_s`` and ``ratio_to_star`` are of.
    engine : {"auto", "simpy", "compiled"}
        Of the simulations.
    left_out : sequence of str
        The note about default overlays that the network does not have.
    consensus : str
        Rule of the mixing weights of those that have none; see `design_any`.
    label_shares : callable, optional
        As for `design_any`.

    Returns
    -------
    Table
        One row for each overlay; ``ratio_to_star`` is the STAR's cycle time divided by the overlay's,
        ``over_bound`` how far `paper` lies above the lower bound of all static overlays, as a fraction;
        ``over_simulated_bound``, where ``best`` or ``best_periodic`` minimises the simulated cycle time, how far that
        does, of a periodic overlay above that of all with as many states and lags of 1. Of a
        randomized overlay `paper_s` is the `barrier` form. ``contraction`` is the factor by which a round shrinks the
        differences of the silos' models, whatever they are (of randomized overlays and with lags in the long run), and
        ``efold_s`` the `seconds_per_efold` of the simulated cycle time. Rows of a table with periodic overlays have
        their number of states as ``period``, None of others.

    Raises
    ------
    InputError
        If a kind or `rates_from` is unknown, or an overlay cannot be built.
    """
    if rates_from not in RATES:
        raise unknown_name("rates_from", rates_from, RATES)
    star_config = next((config for config in overlays if config.kind == "star"), None)
    many = f" for {graph.silos:,} silos" if graph.silos > MANY_SILOS else None
    with heartbeat(many and f"star: design{many}"):
        star = _star(star_config, graph, work, seed)
    simulate = partial(quick_simulation, seed=seed, settings=replace(SETTINGS, engine=engine))
    star_simulation = None if star is None else simulate(star)
    rows: list[dict[str, Any]] = []
    means: list[str] = []
    periodic: list[PeriodicOverlay] = []
    designed: list[AnyOverlay] = []
    for config in overlays:
        if config is star_config and star is not None:
            overlay: AnyOverlay = star
        else:
            overlay = design_with_bar(
                config, graph, work, seed=seed, consensus=consensus, label_shares=label_shares
            )
        designed.append(overlay)
        simulation = star_simulation if overlay is star else None
        if isinstance(overlay, Overlay):
            is_small = graph.silos <= MOST_MIXING_SILOS
            gap = spectral_gap(overlay.consensus) if is_small else None
            weights = agreed_weights(overlay.consensus, gap=gap) if is_small else None
            row = _static_row(overlay, gap, weights)
            means += agreement_notes(overlay, weights) if is_small else []
        elif isinstance(overlay, PeriodicOverlay):
            mixing = mixing_of(overlay)
            row = _periodic_row(overlay, mixing) | reading_fields(config, overlay)
            means += mixing_notes(overlay, mixing)
            periodic.append(overlay)
        else:
            row = _random_row(overlay, seed)
        with heartbeat(many and f"{config.name}: simulation{many}"):
            simulated = _simulated(simulation or simulate(overlay))
        rows.append(row | {"options": _values(config)} | simulated)
    if periodic:
        rows = [{"period": None} | row for row in rows]
    best_by = [_values(config)["criterion"] for config in overlays if config.kind == "best"]
    highest = bound or any(criterion not in (SIMULATED, TIME_TO_ACCURACY) for criterion in best_by)
    with heartbeat(many and f"lower bound{many}"):
        bound_s = _bound(graph, work, highest=highest)
    is_searched = SIMULATED in best_by or any(config.kind == "best_periodic" for config in overlays)
    real_s = _real_bounds(graph, work, rows) if is_searched else {}
    star_s = None if star is None else star.closed_forms.paper_s
    if rates_from == "simulated":
        star_s = None if star_simulation is None else star_simulation.cycle_time_s
    rows = [
        row
        | _rates(row, star_s, rates_from)
        | _over_bound(row, bound_s)
        | _over_real(row, real_s.get(row.get("period")))
        | _efold(row)
        for row in rows
    ]
    forms, unit = cycle_time_columns(rows, FORMS | {"simulated_s": "simulated"})
    return Table(
        caption=describe(graph, work),
        columns=(
            Column(key="overlay", title="overlay", least=len("exponential")),
            Column(key="arcs", title="arcs"),
            Column(key="max_degree", title="degree", narrow_title="de-\ngree"),
            *([Column(key="period", title="sta-\ntes")] if periodic else []),
            *forms,
            Column(key="throughput_per_s", title="rounds\n/s", show=_rate),
            Column(key="ratio_to_star", title="vs\nSTAR", show=format_ratio),
            Column(key="over_bound", title="over\nbound", show=_share),
            Column(
                key="spectral_gap",
                title="spectral\ngap",
                narrow_title="spec-\ntral\ngap",
                show="{:.4f}".format,
            ),
        ),
        rows=rows,
        notes="\n".join(
            (
                forms_note(unit, rows),
                note_lines(
                    "simulated: all links shared max-min fairly.",
                    *_simulation_notes(rows),
                    *_above_forms_note(rows),
                    _rates_note(graph, rates_from),
                    "spectral gap: of the consensus matrix, one minus the factor by which the silos' models come "
                    "closer per round.",
                    *([] if bound_s is None else [_bound_note(bound_s, highest=highest)]),
                    *_real_notes(rows, real_s),
                    *(_efold_notes(rows) if TIME_TO_ACCURACY in best_by else []),
                    *(
                        [f"{star.kind}: the hub is {graph.labels[star.hub]}."]
                        if star_config is not None and star is not None and star.hub is not None
                        else []
                    ),
                    *column_note(periodic),
                    *(
                        reading_note(row["overlay"], row["published_reading_s"])
                        for row in rows
                        if "published_reading_s" in row
                    ),
                    *order_notes(
                        [(config, row["paper_s"]) for config, row in zip(overlays, rows, strict=True)],
                        graph,
                        work,
                        partial(_paper_s, seed=seed),
                        seed=seed,
                        label_shares=label_shares,
                    ),
                    *_mixing_left_out(graph),
                    *_option_notes(rows, overlays),
                    *_file_notes(overlays),
                    *left_out,
                    *means,
                    *tie_notes(rows, "simulated_s"),
                    *window_notes(graph, designed),
                    *graph.underlay.notes,
                    *idle_links(graph),
                    *_random_notes(rows, unit),
                    *engine_note((row["overlay"], row["engine"]) for row in rows),
                ),
            )
        ),
    )


def _values(config: OverlayConfig) -> dict[str, Written | None]:
    """The designer's options, those that are given and the others' defaults."""
    if not config.kind:
        return {}
    declared = designer_options(config.kind)
    return {name: config.options.get(name, option.default) for name, option in declared.items()}


def _mixing_left_out(graph: Connectivity) -> list[str]:
    """Why a large network has no spectral gaps."""
    if graph.silos <= MOST_MIXING_SILOS:
        return []
    return [f"spectral gap: of up to {MOST_MIXING_SILOS:,} silos, as its time is cubic in them."]


def _file_notes(overlays: Sequence[OverlayConfig]) -> list[str]:
    """Which overlays come from a file, and whose weights do."""
    return [
        *(f"{config.name}: the arcs of {_path(config.arcs)}." for config in overlays if config.arcs),
        *(
            f"{config.name}: the mixing matrix {_path(config.weights)}."
            for config in overlays
            if config.weights
        ),
        *(
            f"{config.name}: the states of {_path(config.schedule)}."
            for config in overlays
            if config.schedule
        ),
        *(f"{config.name}: weights {_path(config.consensus)}." for config in overlays if config.consensus),
    ]


def _path(path: str) -> str:
    """A path, on one line."""
    return path if path.isprintable() else repr(path)


def _option_notes(rows: Sequence[Mapping[str, Any]], overlays: Sequence[OverlayConfig]) -> list[str]:
    """Options that are given and that no other column or note tells."""
    notes = []
    for row, config in zip(rows, overlays, strict=True):
        untold = [
            f"{name} {value}"
            for name, value in config.options.items()
            if name != "order" and row.get(name) is None
        ]
        if untold:
            notes.append(f"{row['overlay']}: {', '.join(untold)}.")
    return notes


def _bound(graph: Connectivity, work: Workload, *, highest: bool) -> float | None:
    """The lower bound: the highest known, or a quick one; None on many silos, where that takes long, too."""
    if highest or graph.silos <= MANY_SILOS:
        return lower_bound_s(graph, work, circuits=highest)
    return None


def _over_bound(row: Mapping[str, Any], bound_s: float | None) -> dict[str, float | None]:
    """How far a static overlay lies above the lower bound, as a fraction."""
    is_bounded = bound_s is not None and row["max_plus_s"] is None and row.get("period") is None
    return {
        "lower_bound_s": bound_s if is_bounded else None,
        "over_bound": row["paper_s"] / bound_s - 1 if is_bounded and bound_s else None,
    }


def _real_bounds(
    graph: Connectivity, work: Workload, rows: Sequence[Mapping[str, Any]]
) -> dict[int | None, float]:
    """Lower bound of what is simulated for each number of states of the rows, None of static overlays."""
    periods = list(dict.fromkeys(row.get("period") for row in rows if _has_real_bound(row)))
    bounds_s = simulated_bounds_s(graph, work, [period or 1 for period in periods])
    return dict(zip(periods, bounds_s, strict=True))


def _has_real_bound(row: Mapping[str, Any]) -> bool:
    """Whether the lower bounds of what is simulated hold: of lags of 1, where silos compute in every round."""
    computes_always = row.get("computing_states") == row.get("period")
    return row["max_plus_s"] is None and row.get("longest_lag", 1) == 1 and computes_always


def _over_real(row: Mapping[str, Any], bound_s: float | None) -> dict[str, float | None]:
    """How far an overlay lies above the lower bound of what is simulated, as a fraction; None where there is none."""
    is_bounded = bound_s is not None and _has_real_bound(row)
    simulated_s = row["simulated_s"]
    return {
        "simulated_bound_s": bound_s if is_bounded else None,
        "over_simulated_bound": simulated_s / bound_s - 1 if is_bounded and bound_s and simulated_s else None,
    }


def _real_notes(rows: Sequence[Mapping[str, Any]], bounds_s: Mapping[int | None, float]) -> list[str]:
    """How far simulated cycle times lie above their lower bounds."""
    notes = []
    for period, bound_s in bounds_s.items():
        gaps = [
            f"{row['overlay']} {_share(row['over_simulated_bound'])}"
            for row in rows
            if row["over_simulated_bound"] is not None and row.get("period") == period
        ]
        which = (
            "static overlay"
            if period is None
            else f"overlay of {period} {'state' if period == 1 else 'states'} and lags of 1"
        )
        if gaps:
            notes.append(
                f"simulated over {format_s(bound_s)}, a lower bound of it for every {which}: {', '.join(gaps)}."
            )
    return notes


def _above_forms_note(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One sentence on the overlays whose simulated rounds take much longer than every closed form says."""
    ratios = {
        row["overlay"]: row["simulated_s"] / longest_s
        for row in rows
        if row["max_plus_s"] is None
        and row["simulated_s"] is not None
        and (longest_s := max(row[form] for form in FORMS)) > 0
    }
    found = [f"{name} {format_ratio(ratio)}" for name, ratio in ratios.items() if ratio > 1 + _MUCH_ABOVE]
    if not found:
        return []
    return [
        f"simulated over the longest closed form: {', '.join(found)}. Models that are under way at the same time share "
        "links, also those of several rounds where silos run ahead of each other, which no closed form counts."
    ]


def _efold(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Seconds until the silos' models differ e times less, by the simulated cycle time."""
    cycle_time_s, contraction = row["simulated_s"], row["contraction"]
    known = cycle_time_s is not None and contraction is not None
    period = row.get("computing_states") or 1
    return {"efold_s": seconds_per_efold(cycle_time_s, contraction, period=period) if known else None}


def _efold_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Seconds per e-fold of all overlays, and the bound that they stand for."""
    times = [
        f"{row['overlay']} {format_s(row['efold_s']) if math.isfinite(row['efold_s']) else 'never'}"
        for row in rows
        if row["efold_s"] is not None
    ]
    return [
        f"per e-fold: {', '.join(times)}. That is simulated / log(1/contraction), at least one round, "
        "and a period where that averages exactly: until the silos' models differ e times less, local steps aside.",
        "time to accuracy: an upper bound on the rounds grows as 1/(1 - contraction^2) (Koloskova et al. 2020: smooth "
        "losses, bounded noise and spread of the silos' gradients), so the real order may differ, more so where "
        "silos' data are alike: docs/explanation/time_to_accuracy.md.",
    ]


def _bound_note(bound_s: float, *, highest: bool) -> str:
    """What the bound is."""
    higher = "" if highest else " (a quick one; --bound looks for a higher one)"
    return (
        f"over bound: paper over {format_s(bound_s)}, a lower bound of paper on every static overlay{higher}. At "
        "0.0% none is faster by paper; above, there may be none that reaches the bound."
    )


def _static_row(overlay: Overlay, gap: float | None, weights: FloatArray | None) -> dict[str, object]:
    """Fields of one static overlay with its spectral gap, None of many silos, and the weights of the agreed mean."""
    forms, graph = overlay.closed_forms, overlay.graph
    return {
        "overlay": overlay.kind,
        "arcs": overlay.arcs,
        "max_degree": overlay.max_degree,
        "paper_s": forms.paper_s,
        "serialized_s": forms.serialized_s,
        "load_bound_s": forms.load_bound_s,
        "paper_below_load": below_load(forms.paper_s, forms.load_bound_s),
        "spectral_gap": gap,
        "contraction": None if gap is None else round_contraction(overlay.consensus),
        "agreed_weights": None if gap is None else weights_by_label(graph.labels, weights),
        "hub": None if overlay.hub is None else graph.labels[overlay.hub],
        "critical_circuit": [graph.labels[silo] for silo in overlay.critical_circuit],
        "busiest_link": None if forms.busiest_link is None else graph.link_name(forms.busiest_link),
        "max_plus_s": None,
    }


def _periodic_row(overlay: PeriodicOverlay, mixing: Mixing) -> dict[str, object]:
    """Fields of one periodic overlay."""
    forms, graph = overlay.closed_forms, overlay.graph
    return {
        "overlay": overlay.kind,
        "arcs": len(overlay.numbers.source),
        "max_degree": overlay.max_degree,
        "period": overlay.period,
        "computing_states": sum(overlay.computes),
        "longest_lag": overlay.longest_lag,
        "messages_per_round": overlay.messages / sum(overlay.computes),
        "paper_s": forms.paper_s,
        "serialized_s": forms.serialized_s,
        "load_bound_s": forms.load_bound_s,
        "paper_below_load": below_load(forms.paper_s, forms.load_bound_s),
        "spectral_gap": mixing.gap,
        "contraction": mixing.contraction,
        "agreed_weights": weights_by_label(graph.labels, mixing.weights),
        "hub": None,
        "critical_circuit": [[graph.labels[silo], state] for silo, state in overlay.critical_circuit],
        "busiest_link": None if forms.busiest_link is None else graph.link_name(forms.busiest_link),
        "max_plus_s": None,
    }


def _paper_s(overlay: AnyOverlay, *, seed: int) -> float:
    """The column ``paper`` of an overlay: of a randomized one the `barrier` form."""
    if isinstance(overlay, Overlay | PeriodicOverlay):
        return overlay.closed_forms.paper_s
    return random_cycle_time(overlay, RANDOM_ROUNDS, seed).barrier.mean


def _random_row(overlay: RandomOverlay, seed: int) -> dict[str, object]:
    """Fields of one randomized overlay, with 95 % confidence intervals."""
    time = random_cycle_time(overlay, RANDOM_ROUNDS, seed)
    base = overlay.base if isinstance(overlay, NamedRandomOverlay) else overlay
    matcha = base if isinstance(base, Matcha) else None
    gap = expected_gap(overlay)
    return {
        "overlay": overlay.kind,
        "arcs": None,
        "max_degree": None,
        "paper_s": time.barrier.mean,
        "serialized_s": None,
        "load_bound_s": None,
        "paper_below_load": False,
        "spectral_gap": gap,
        "contraction": None if gap is None else 1 - gap,
        "agreed_weights": None,
        "paper_half_width_s": time.barrier.half_width,
        "max_plus_s": time.max_plus.mean,
        "max_plus_half_width_s": time.max_plus.half_width,
        "budget": matcha.budget if matcha else None,
        "matchings": len(matcha.probability) if matcha else None,
        "active_matchings": float(matcha.probability.sum()) if matcha else None,
    }


def _simulated(simulation: QuickSimulation) -> dict[str, object]:
    """Fields of a short simulation."""
    return {
        "simulated_s": simulation.cycle_time_s,
        "simulated_half_width_s": simulation.half_width_s,
        "simulated_is_exact": simulation.is_exact,
        "simulated_rounds": simulation.rounds,
        "engine": simulation.engine,
        "why_not_simulated": simulation.why_not,
    }


def _rates(row: Mapping[str, Any], star_s: float | None, rates_from: str) -> dict[str, object]:
    """Throughput and ratio to the STAR."""
    cycle_time_s = row[f"{rates_from}_s"]
    ratio = star_s / cycle_time_s if star_s is not None and cycle_time_s else None
    throughput = None if cycle_time_s is None else math.inf if cycle_time_s == 0 else 1 / cycle_time_s
    return {"rates_from": rates_from, "throughput_per_s": throughput, "ratio_to_star": ratio}


def _rates_note(graph: Connectivity, rates_from: str) -> str:
    """What throughput and the ratio to the STAR are of."""
    if rates_from == "paper":
        return "rounds/s, vs STAR: of paper."
    compare = ", as in the published tables" if graph.underlay.variant == "published" else ""
    return f"rounds/s, vs STAR: of simulated (--rates-from paper: of paper{compare})."


def _simulation_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How sure simulated cycle times are that show no period, and why there is none."""
    estimates = [row for row in rows if row["simulated_s"] is not None and not row["simulated_is_exact"]]
    left = [row for row in rows if row["simulated_s"] is None]
    return [
        *(["~: an estimate, as no period shows."] if estimates else []),
        *(_estimate_note(row) for row in estimates),
        *(f"{row['overlay']} is not simulated here: {row['why_not_simulated']}." for row in left),
    ]


def _estimate_note(row: Mapping[str, Any]) -> str:
    """One estimate, in one sentence."""
    rounds = f"{row['simulated_rounds']:,} rounds"
    if row["simulated_half_width_s"] is None:
        return f"{row['overlay']}: {rounds}, too few for an interval; silosim simulate takes more."
    interval = format_interval(row["simulated_s"], row["simulated_half_width_s"])
    return f"{row['overlay']}: {interval} (95 %, by batch means of {rounds})."


def _star(config: OverlayConfig | None, graph: Connectivity, work: Workload, seed: int) -> Overlay | None:
    """The STAR that is asked for, else the default one, or None where this network has none."""
    try:
        star = design_any(config or OverlayConfig(kind="star"), graph, work, seed=seed)
    except InputError:
        if config is not None:
            raise
        return None
    assert isinstance(star, Overlay)
    return star


def _random_notes(rows: Sequence[Mapping[str, Any]], unit: str) -> list[str]:
    """Both cycle times with their intervals, and the budget, of each randomized overlay."""
    drawn = [row for row in rows if row["max_plus_s"] is not None]
    if not drawn:
        return []
    return [
        *(_random_note(row, unit) for row in drawn),
        f"barrier (the column paper): mean of the slowest arc of {RANDOM_ROUNDS} drawn rounds. max-plus: silos that "
        "are done start the next round. +-: 95 % confidence. Their spectral gap: 1 - sqrt(norm of E[W'W] - 11'/silos) "
        "for the round's matrix W, equal to that of W where it is constant and symmetric.",
    ]


def _random_note(row: Mapping[str, Any], unit: str) -> str:
    """One randomized overlay, in one sentence."""

    def interval(key: str) -> str:
        mean, half = (in_unit(row[f"{key}{end}_s"], unit) for end in ("", "_half_width"))
        return f"{digits(mean)} +- {digits(half) if half else '0'}"

    budget = (
        ""
        if row["budget"] is None
        else f"; budget {row['budget']:g}: "
        f"{row['active_matchings']:.4g} of {row['matchings']} matchings a round on average"
    )
    return f"{row['overlay']}: barrier {interval('paper')}, max-plus {interval('max_plus')} {unit}{budget}."


def _rate(per_s: float) -> str:
    """Rounds per second, two digits and an exponent where four digits have no room."""
    text = digits(per_s)
    return re.sub("e([-+])0*", r"e\1", f"{per_s:.1e}").replace("e+", "e") if "e" in text else text


def _share(fraction: float) -> str:
    """A share in percent, with one decimal where it is small."""
    percent = 100 * max(fraction, 0.0)
    if percent < 99.95:
        return f"{percent:.1f}%"
    return f"{percent:.0f}%" if percent < 9999.5 else f"{digits(percent)}%"
