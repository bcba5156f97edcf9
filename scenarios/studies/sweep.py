"""Every overlay at every access capacity: the short form of a study, as a table for people."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from scenarios.config.network import NetworkConfig, WorkloadConfig, build_network, describe
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import check_hub
from scenarios.config.quantities import format_rate
from scenarios.config.scenario import OverlaysConfig, Scenario
from scenarios.config.seed import check_seed
from scenarios.config.simulation import SimulationConfig
from scenarios.config.toml import computing_keys
from scenarios.report.closed_forms import FORMS, estimates_note, forms_note
from scenarios.report.computing_states import states_note
from scenarios.report.engine_note import engine_note
from scenarios.report.tables import Column, Row, Table, cycle_time_columns, note_lines, percent
from scenarios.report.tie_note import tie_notes
from scenarios.simulation.event_notes import simulated_with
from scenarios.studies.parallel_points import compute_all
from scenarios.studies.study import point_identity
from scenarios.studies.study_points import Point, PointResult, compute_points
from topologies import InputError, Workload
from topologies.quantities import parse_quantity
from topologies.wrapping import listed
from training import TrainingConfig


def sweep(
    network: NetworkConfig,
    work: Workload,
    overlays: Sequence[OverlayConfig],
    capacities: Sequence[str],
    simulation: SimulationConfig,
    *,
    pool: AbstractContextManager[Executor],
    workers: int,
    seed: int,
    left_out: Sequence[str] = (),
    consensus: str = "",
    training: TrainingConfig | None = None,
) -> Table:
    """Cycle times of every overlay, designed anew at every access capacity.

    Parameters
    ----------
    network : NetworkConfig
        Its own access capacities are replaced, but for the hub's (`access_hub`).
    work : Workload
    overlays : sequence of OverlayConfig
    capacities : sequence of str
        Quantities with units, for instance ``"100 Mbps"``.
    simulation : SimulationConfig
    pool : context manager of Executor
        See `scenarios.runtime.workers`.
    workers : int
    seed : int
        Of randomized overlays, and of designers that take one.
    left_out : sequence of str
        The note about default overlays that the network does not have.
    consensus : str
        Rule of the mixing weights of overlays that have none.
    training : TrainingConfig, optional
        Of whose partition designers may take the labels.

    Returns
    -------
    Table
        One row for each capacity and overlay, capacities in ascending order, with the fields of a study's table.

    Raises
    ------
    InputError
        If a value is wrong, or an overlay cannot be designed or simulated at a capacity.
    """
    check_seed(seed)
    for config in overlays:
        config.check_designer()
        check_hub(config, is_compressed=work.message_share < 1)
    by_bps = {parse_quantity("access", text, "bit/s"): text for text in capacities}
    networks = {
        bps: network.changed(access=text, access_hub=network.access_hub)
        for bps, text in sorted(by_bps.items())
    }
    first = build_network(next(iter(networks.values())))
    base = Scenario(
        network=network,
        seed=seed,
        workload=WorkloadConfig(
            model_size=f"{work.model_bits!r} bit",
            **computing_keys(work, first.labels),
        ),
        overlays=OverlaysConfig(entries=tuple(overlays), consensus=consensus),
        simulation=simulation,
        training=None if training is None else training.uncompressed,  # `work` has the size of its messages
    )
    points, digests = [], dict[str, str]()
    for bps, there in networks.items():
        scenario = replace(base, network=there)
        points.append(
            Point(
                identity=point_identity(scenario, True, digests),
                varied={"access_bps": bps},
                scenario=scenario,
                rows=len(overlays),
            )
        )
    found: dict[str, PointResult] = {}

    def take(result: PointResult) -> None:
        for row in result.rows:
            if row["error"]:
                raise InputError(row["error"])
        found[result.identity] = result

    compute = partial(compute_points, simulate=True, compiled=False)
    compute_all(points, compute, take, pool=pool, workers=workers, title="sweep")
    results = [found[point.identity] for point in points]
    rows = [row for result in results for row in result.rows]
    # States may differ from capacity to capacity: those of the first one are told.
    computes = {name: each for result in reversed(results) for name, each in result.computes.items()}
    columns, unit = cycle_time_columns(rows, FORMS | {"simulated_s": "simulated"})
    return Table(
        caption=describe(first, work, access=False),
        columns=(
            Column(key="access_bps", title="access", show=format_rate),
            Column(key="overlay", title="overlay"),
            *columns,
            Column(key="over_paper", title="over\npaper", show=percent, exact="simulated_is_exact"),
        ),
        rows=rows,
        notes=f"{forms_note(unit, rows)}\nover paper: how far simulated ({simulation.sharing}, {simulation.queueing}) "
        f"lies above paper.{estimates_note(rows)}\n"
        + note_lines(
            *simulated_with(simulation.tables),
            *_tie_notes(rows),
            *states_note(computes),
            *left_out,
            *first.underlay.notes,
            *engine_note((str(row["overlay"]), str(row["engine"])) for row in rows),
        ),
    )


def _tie_notes(rows: Sequence[Row]) -> list[str]:
    """Overlays that a real network would not tell apart, at each capacity."""
    notes: dict[str, list[str]] = {}
    for bps in dict.fromkeys(row["access_bps"] for row in rows):
        for note in tie_notes([row for row in rows if row["access_bps"] == bps], "simulated_s"):
            notes.setdefault(note, []).append(format_rate(bps))
    return [f"{listed(at)}: {note}" for note, at in notes.items()]
