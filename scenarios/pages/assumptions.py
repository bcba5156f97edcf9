"""What a result assumes: values that neither a file nor a measurement states, and rules that stand in for these."""

from collections.abc import Sequence

from scenarios.config.network import NetworkConfig, idle_links
from scenarios.config.quantities import format_rate
from scenarios.config.recorded_tables import recorded_tables
from scenarios.report.web_page import capital, text
from topologies import Connectivity, Workload, workload_presets
from topologies.capacities import UNSTATED_CORE_BPS
from topologies.latency_rule import S_PER_KM, S_PER_PATH

_MOST_NAMED = 3


def assumptions(graph: Connectivity, network: NetworkConfig, preset: str | None) -> list[str]:
    """Sentences on what is assumed of a network and a workload.

    Parameters
    ----------
    graph : Connectivity
    network : NetworkConfig
        That it was built of.
    preset : str or None
        That its workload takes from the paper what it does not state.
    """
    underlay, found = graph.underlay, []
    if not graph.is_measured:
        assumed, links = int(graph.core_assumed.sum()), len(graph.core_bps)
        if assumed:
            names = [
                underlay.link_name(link) for link in graph.core_assumed.nonzero()[0][:_MOST_NAMED].tolist()
            ]
            more = f" and {assumed - len(names)} more" if assumed > len(names) else ""
            found.append(
                f"Core capacity of {format_rate(UNSTATED_CORE_BPS)} on {assumed} of {links} links, of which the file "
                f"states none: {', '.join(names)}{more}."
            )
        else:
            found.append("No core capacity is assumed: the network's file or the scenario states them all.")
        found.append(
            "Bandwidth of a route in closed forms: its smallest core capacity, divided by its number of core links."
            if graph.bandwidth == "hop_share"
            else "Bandwidth of a route in closed forms: its smallest core capacity."
        )
        if network.split_flows:
            found.append(
                "Flows between routers are split over all routes of equal cost, of which the longest counts: each core "
                "capacity stands for that over the share of the flow on the link."
            )
    if graph.latency != "measured":
        constant = "once" if graph.latency == "per_path" else "for each link of it"
        found.append(
            f"Latency: {1e3 * S_PER_KM:g} ms/km along a route, and {1e3 * S_PER_PATH:g} ms {constant}."
        )
    if network.access is None:
        given = {"uplinks": network.access_up, "downlinks": network.access_down}
        unstated = [links for links, rate in given.items() if rate is None]
        if unstated:
            which = "" if len(unstated) == len(given) else f" of {unstated[0]}"
            found.append(
                f"Access capacity{which}: what the network's file states, 10 Gbps where it states nothing."
            )
    if preset in workload_presets():
        found.append(
            f"Model size and computing time where the scenario states none: the paper's, of {preset}."
        )
    return [*found, *underlay.notes, *map(capital, idle_links(graph))]


def recorded_preset(scenario: str, work: Workload) -> str:
    """The preset of the workload of a file, whose scenario may state the preset's numbers instead of its name."""
    return str(recorded_tables(scenario).get("workload", {}).get("preset") or work.name)


def assumed_list(sentences: Sequence[str]) -> str:
    """The sentences as a list below a heading."""
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return f"<h3>Assumed</h3><ul>{items}</ul>"
