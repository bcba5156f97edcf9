"""Every overlay at every access capacity: closed forms and simulation."""

from collections.abc import Sequence

from scenarios.config.network import NetworkConfig, build_network, describe
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any, forms_of
from scenarios.config.quantities import format_rate
from scenarios.config.seed import check_seed
from scenarios.config.simulation import SimulationConfig
from scenarios.report.closed_forms import FORMS, estimates_note, form_fields, forms_note, over_paper
from scenarios.report.engine_note import engine_note
from scenarios.report.tables import Column, Table, cycle_time_columns, note_lines, percent
from scenarios.simulation.runner import job_of, run_job
from topologies import Workload
from topologies.quantities import parse_quantity


def sweep(
    network: NetworkConfig,
    work: Workload,
    overlays: Sequence[OverlayConfig],
    capacities: Sequence[str],
    simulation: SimulationConfig,
    *,
    seed: int = 0,
    left_out: Sequence[str] = (),
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
    seed : int
        Of randomized overlays, and of designers that take one.
    left_out : sequence of str
        The note about default overlays that the network does not have.

    Returns
    -------
    Table
        One row for each capacity and overlay, capacities in ascending order.
    """
    check_seed(seed)
    for config in overlays:
        config.check_designer()
    ordered = sorted(capacities, key=lambda text: parse_quantity("access", text, "bit/s"))
    graphs = [build_network(network.changed(access=text, access_hub=network.access_hub)) for text in ordered]
    designed = [
        (text, design_any(config, graph, work, seed=seed))
        for text, graph in zip(ordered, graphs, strict=True)
        for config in overlays
    ]
    jobs = [job_of(overlay, simulation, rounds=simulation.rounds, seed=seed) for _, overlay in designed]
    rows: list[dict[str, object]] = []
    for (text, overlay), job in zip(designed, jobs, strict=True):
        outcome = run_job(job, overlay.kind, title=f"{text} ", engine=simulation.engine)
        steady = outcome.steady
        forms, simulated_s = forms_of(overlay, seed), steady.cycle_time_s
        rows.append(
            {
                "access_bps": parse_quantity("access", text, "bit/s"),
                "overlay": overlay.kind,
                **form_fields(forms),
                "simulated_s": simulated_s,
                "simulated_is_exact": steady.is_exact,
                "over_paper": over_paper(simulated_s, forms.paper_s),
                "engine": outcome.engine,
            }
        )
    columns, unit = cycle_time_columns(rows, FORMS | {"simulated_s": "simulated"})
    return Table(
        caption=describe(graphs[0], work, access=False),
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
            *left_out,
            *graphs[0].underlay.notes,
            *engine_note((str(row["overlay"]), str(row["engine"])) for row in rows),
        ),
    )
