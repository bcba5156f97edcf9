"""The multigraph's published cycle times beside three readings of them, the simulation, and the ring's."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

from scenarios.config.quantities import format_ratio
from scenarios.config.simulation import SimulationConfig
from scenarios.report.engine_note import engine_note
from scenarios.report.tables import Column, Row, Table, note_lines
from scenarios.simulation.quick import SETTINGS, QuickSimulation, quick_simulation
from scenarios.studies.published_tables import NETWORKS
from topologies import AccessLinks, Workload, connectivity, design_periodic, load_underlay
from topologies.designers.multigraph import multigraph_readings
from topologies.periodic.multigraph import MOST_LAG

DATA_SETS = ("femnist", "sentiment140", "inaturalist")
"""Of the published table."""
ACCESS_BPS = 1e10
_PRINTED_S = 5.01e-5
"""A cycle time this close to a published one is printed as that."""
_READINGS = {"mean_s": "mean (A)", "slowest_s": "slowest (B)", "rounds_s": "exact (C)"}
_MEANINGS = (
    "A, mean: a round lasts for the mean over the ring's arcs of what each adds to it, 0 for a weak one (not waited "
    "for). So counts the public code of the multigraph, but no silo's rounds last so.",
    "B, max: a round lasts for the slowest strong arc. So says the paper's equation.",
    "C, exact: each silo starts its round as soon as its own computing and its strong arc allow. So does the protocol, "
    "if Eq. 3 holds.",
    "simul.: the protocol on shared links; an arc sends one model after the other, and one that is alone on its links "
    "has all of their capacity, which Eq. 3 divides by the number of links. RING: as a static overlay, where A and C "
    "are equal.",
)


def published_multigraph() -> dict[str, Any]:
    """The published figures, in ms, with model size and computing time of each data set."""
    path = resources.files("scenarios").joinpath("data", "published_multigraph.json")
    figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {data_set: figures[data_set] for data_set in DATA_SETS}


def multigraph_table(
    data_set: str,
    advance: Callable[[str], None] = lambda _: None,
    *,
    networks: Sequence[str] = NETWORKS,
    engine: str = SETTINGS.engine,
) -> Table:
    """Reprint the multigraph's cycle times with one data set beside our numbers.

    Parameters
    ----------
    data_set : str
        One of `DATA_SETS`.
    advance : callable, optional
        Called with the name of each cell before it is computed.
    networks : sequence of str
        Those of `NETWORKS` to be computed.
    engine : {"auto", "simpy", "compiled"}
        Of the simulations.

    Returns
    -------
    Table
        One row for each network: the published figure, the readings A (``mean_s``), B (``slowest_s``) and C
        (``rounds_s``) on the delays of the published ring, and the simulation; the published RING, ours and the
        simulated one; how many times as long a round of the RING takes as published, in C and simulated;
        ``published_is`` says which reading the published figure is. ``paper_s`` is what `silosim design` has for C.

    Notes
    -----
    The simulation is that of `silosim design`: as many rounds as a confidence interval needs.
    """
    published = published_multigraph()[data_set]
    settings = replace(SETTINGS, engine=engine)
    rows: list[dict[str, Any]] = []
    for network in published["multigraph"]:
        if network in networks:
            advance(f"{data_set} {network}")
            rows.append(_row(data_set, published, network, settings))
    return Table(
        caption=f"Multigraph (ICCV 2023): {published['title']}, 1 local step, 10 Gbps access (ms)",
        columns=(
            Column(key="network", title="network", least=len("network")),
            Column(key="published_s", title="pub-\nlished", show=_tenths),
            Column(key="mean_s", title="A\nmean", show=_tenths),
            Column(key="slowest_s", title="B\nmax", show=_tenths),
            Column(key="rounds_s", title="C\nexact", show=_tenths),
            Column(key="simulated_s", title="simul.", show=_tenths, exact="simulated_is_exact"),
            Column(key="published_ring_s", title="RING\npubl.", show=_tenths),
            Column(key="ring_s", title="RING\nours", show=_tenths),
            Column(
                key="ring_simulated_s", title="RING\nsimul.", show=_tenths, exact="ring_simulated_is_exact"
            ),
            Column(key="published_gain", title="gain\npubl.", show=format_ratio),
            Column(key="simulated_gain", title="gain\nsimul.", show=format_ratio),
            Column(key="published_is", title="publ. is", prose=True, least=len("mean (A)")),
        ),
        rows=rows,
        notes=note_lines(*_notes(rows)),
    )


def _row(
    data_set: str, published: dict[str, Any], network: str, settings: SimulationConfig
) -> dict[str, Any]:
    """Fields of one network."""
    graph = connectivity(
        load_underlay(network, variant="published"),
        access=AccessLinks(up_bps=ACCESS_BPS, down_bps=ACCESS_BPS),
    )
    work = Workload(
        model_bits=published["model_bits"], compute_s=published["compute_ms"] * 1e-3, name=data_set
    )
    readings = multigraph_readings(graph, work)
    overlay, ring = (design_periodic("multigraph", graph, work, most_lag=lag) for lag in (MOST_LAG, 1))
    simulated, ring_simulated = (
        quick_simulation(each, seed=0, settings=settings) for each in (overlay, ring)
    )
    figure_s, ring_figure_s = (published[name][network] * 1e-3 for name in ("multigraph", "ring"))
    row = {
        "data_set": data_set,
        "network": network,
        "published_s": figure_s,
        "mean_s": readings.published_s,
        "slowest_s": readings.equation_s,
        "rounds_s": readings.recurrence_s,
        "paper_s": overlay.closed_forms.paper_s,
        **_simulated("simulated", simulated),
        "published_ring_s": ring_figure_s,
        "ring_s": readings.ring_s,
        **_simulated("ring_simulated", ring_simulated),
        "published_gain": ring_figure_s / figure_s,
        "rounds_gain": readings.ring_s / readings.recurrence_s,
        "simulated_gain": _ratio(ring_simulated.cycle_time_s, simulated.cycle_time_s),
    }
    return row | {"published_is": _published_is(row)}


def _simulated(name: str, simulation: QuickSimulation) -> dict[str, Any]:
    """Fields of a simulation."""
    return {
        f"{name}_s": simulation.cycle_time_s,
        f"{name}_half_width_s": simulation.half_width_s,
        f"{name}_is_exact": simulation.is_exact,
        f"{name}_rounds": simulation.rounds,
        f"{name}_engine": simulation.engine,
    }


def _ratio(long_s: float | None, short_s: float | None) -> float | None:
    """How many times as long; None where either is not simulated."""
    return None if long_s is None or not short_s else long_s / short_s


def _published_is(row: Row) -> str:
    """The readings that are printed as the published figure is, in words."""
    found = [letter for key, letter in _READINGS.items() if is_printed_as(row[key], row["published_s"])]
    if found:
        return ", ".join(found)
    if is_printed_as(row["ring_s"], row["published_ring_s"]):
        return "none"
    return f"{_READINGS['mean_s']} on another ring"


def is_printed_as(value_s: float, published_s: float) -> bool:
    """Whether a cycle time is the published one to 0.1 ms."""
    return abs(value_s - published_s) <= _PRINTED_S


def _notes(rows: Sequence[Row]) -> list[str]:
    """What the readings are, which of them the table holds, and where other numbers of ours differ."""
    hits = sum(is_printed_as(row["mean_s"], row["published_s"]) for row in rows)
    missed = [row for row in rows if not is_printed_as(row["ring_s"], row["published_ring_s"])]
    routes = [row for row in rows if abs(row["paper_s"] - row["rounds_s"]) > _PRINTED_S]
    return [
        *_MEANINGS,
        f"A is the published figure to 0.1 ms on {hits} of {len(rows)}.",
        *(
            f"{row['network']}: where delays tie, the published ring is another one; ours takes "
            f"{_tenths(row['ring_s'])} (published {_tenths(row['published_ring_s'])}), A {_tenths(row['mean_s'])} "
            f"({_tenths(row['published_s'])})."
            for row in missed
        ),
        *(
            f"{row['network']}: for C silosim design has {_tenths(row['paper_s'])}, by another of two equally long "
            "routes between two silos of the ring; so has simul."
            for row in routes
        ),
        *_gain_note(rows),
        *engine_note(
            (f"{row['network']} {what}", row[f"{name}_engine"])
            for row in rows
            for what, name in (("multigraph", "simulated"), ("RING", "ring_simulated"))
        ),
        *(["~: an estimate, as no period shows."] if any(map(_is_estimated, rows)) else []),
    ]


def _gain_note(rows: Sequence[Row]) -> list[str]:
    """How the simulated gain compares with the published one."""
    found = {
        row["network"]: row["simulated_gain"] / row["published_gain"]
        for row in rows
        if row["simulated_gain"] is not None
    }
    if not found:
        return []
    least, most = min(found, key=lambda name: found[name]), max(found, key=lambda name: found[name])
    ends = [f"{found[name]:.2f} ({name})" for name in dict.fromkeys((least, most))]
    return [
        "gain: how many times as long a round of the RING takes. The simulated one is "
        f"{' to '.join(ends)} times the published one."
    ]


def _tenths(seconds: float) -> str:
    """Milliseconds with one decimal, as published."""
    return f"{1e3 * seconds:.1f}"


def _is_estimated(row: Row) -> bool:
    """Whether a simulation of the row is no exact one."""
    return any(
        row[f"{name}_s"] is not None and not row[f"{name}_is_exact"]
        for name in ("simulated", "ring_simulated")
    )
