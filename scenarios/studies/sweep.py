"""Every overlay at every access capacity: closed forms and simulation."""

from collections.abc import Sequence

from scenarios.config import SimulationConfig
from scenarios.network import NetworkConfig, build_network, describe
from scenarios.studies.comparison import FORMS, estimates_note, forms_note, gap
from scenarios.studies.simulation import check_size, simulate_with_progress
from scenarios.tables import Column, Table, cycle_time_columns, percent
from scenarios.units import format_rate, parse_quantity
from topologies import Workload, design


def sweep(
    network: NetworkConfig,
    work: Workload,
    kinds: Sequence[str],
    capacities: Sequence[str],
    simulation: SimulationConfig,
) -> Table:
    """Cycle times of every overlay, designed anew at every access capacity.

    Parameters
    ----------
    network : NetworkConfig
        Its own access capacity is replaced.
    work : Workload
    kinds : sequence of str
    capacities : sequence of str
        Quantities with units, for instance ``"100 Mbps"``.
    simulation : SimulationConfig

    Returns
    -------
    Table
        One row for each capacity and overlay, capacities in ascending order.
    """
    ordered = sorted(capacities, key=lambda text: parse_quantity("access", text, "bit/s"))
    graphs = [build_network(network.changed(access=text)) for text in ordered]
    designed = [
        (text, design(kind, graph, work))
        for text, graph in zip(ordered, graphs, strict=True)
        for kind in kinds
    ]
    for _, overlay in designed:
        check_size(overlay, simulation.rounds)
    rows: list[dict[str, object]] = []
    for text, overlay in designed:
        timeline = simulate_with_progress(overlay, simulation, rounds=simulation.rounds, title=f"{text} ")
        forms, simulated_s = overlay.closed_forms, timeline.cycle_time_s
        rows.append(
            {
                "access_bps": parse_quantity("access", text, "bit/s"),
                "overlay": overlay.kind,
                "paper_s": forms.paper_s,
                "serialized_s": forms.serialized_s,
                "load_bound_s": forms.load_bound_s,
                "simulated_s": simulated_s,
                "simulated_is_exact": timeline.cycle_time_is_exact,
                "gap": gap(simulated_s, forms.paper_s),
            }
        )
    columns, unit = cycle_time_columns(rows, FORMS | {"simulated_s": "simulated"})
    return Table(
        caption=describe(graphs[0], work, access=False),
        columns=(
            Column(key="access_bps", title="access", show=format_rate),
            Column(key="overlay", title="overlay"),
            *columns,
            Column(key="gap", title="gap", show=percent, exact="simulated_is_exact"),
        ),
        rows=rows,
        notes=f"{forms_note(unit)}\ngap: simulated ({simulation.sharing}, {simulation.queueing}) over paper."
        f"{estimates_note(rows)}",
    )
