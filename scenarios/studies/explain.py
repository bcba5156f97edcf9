"""Why an overlay is as fast as it is, as text and as a table."""

from collections.abc import Mapping

import numpy as np

from scenarios.config.network import describe, idle_links
from scenarios.config.quantities import digits, format_s, in_unit, time_unit
from scenarios.report.agreed_mean import mean_notes
from scenarios.report.longer_load import longer_load
from scenarios.report.tables import Column, Table, note_lines
from scenarios.report.window_note import window_notes
from topologies import Overlay
from topologies.analysis import (
    AccessUpgrade,
    Explanation,
    JointUpgrade,
    LinkUpgrade,
    explain,
    explanation_lines,
    explanation_rows,
    loads_after,
)
from topologies.delays import transmissions
from topologies.input_limits import MOST_CIRCUIT_SILOS, check_count
from topologies.slow_start import rates_decide_restarts
from topologies.wrapping import wrapped

_NO_UPGRADE = (
    "With slow_start 'idle' rates decide which arcs of an overlay with a hub start slowly, so that upgrades of links "
    "beside access links, and of several, are not looked for."
)


def explanation_table(overlay: Overlay) -> Table:
    """The critical circuit arc by arc, with what more capacity or less latency would buy.

    Parameters
    ----------
    overlay : Overlay

    Returns
    -------
    Table
        The caption says it in words.

    Raises
    ------
    InputError
        If its critical circuit has more silos than `MOST_CIRCUIT_SILOS`.
    """
    check_count(len(overlay.critical_circuit), MOST_CIRCUIT_SILOS, "silos in its critical circuit")
    explanation = explain(overlay)
    words = [describe(overlay.graph, overlay.work), *explanation_lines(explanation)]
    sentences = [
        *loads_text(explanation, overlay),
        *further_text(overlay),
        *window_notes(overlay.graph, [overlay]),
        *overlay.graph.underlay.notes,
        *idle_links(overlay.graph),
    ]
    words += [line for sentence in sentences for line in wrapped(sentence)]
    return circuit_table(explanation, "\n".join(words))


def loads_text(explanation: Explanation, overlay: Overlay) -> list[str]:
    """That the best upgrade takes the paper's closed form below load, where it is not there before."""
    named, best = _best_upgrade(explanation)
    if best is None or beyond_paper(overlay) or not overlay.graph.rules.are_plain_links:
        return []
    said = longer_load((best.doubled_s, best.unlimited_s), loads_after(overlay, named))
    return [said] if said else []


def _best_upgrade(
    explanation: Explanation,
) -> tuple[tuple[str, ...], AccessUpgrade | JointUpgrade | LinkUpgrade | None]:
    """The upgrade that an explanation names first, and the names of its links."""
    labels = explanation.labels
    if explanation.upgrades:
        access = explanation.upgrades[0]
        return tuple(f"{labels[access.silo]} {link}" for link in access.link.split(" and ")), access
    if explanation.together:
        both = explanation.together[0]
        return (f"{labels[both.source]} uplink", f"{labels[both.target]} downlink"), both
    found = explanation.links
    return (() if found is None else found.links), found


def further_text(overlay: Overlay) -> list[str]:
    """What the paper's closed form leaves out of an overlay, and which mean its silos agree on."""
    beyond = beyond_paper(overlay)
    limits = [f"But this is the paper's closed form, and so are all gains here. {beyond}"] if beyond else []
    restarts = [_NO_UPGRADE] if rates_decide_restarts(overlay.graph, overlay.hub) else []
    return [*limits, *restarts, *mean_notes(overlay)]


def circuit_table(explanation: Explanation, caption: str) -> Table:
    """The critical circuit of an explanation arc by arc, below a caption."""
    rows = [row | {"limit": _limit(row)} for row in explanation_rows(explanation)]

    unit = time_unit(max(arc.delay_s for arc in explanation.arcs))
    windows = ", window: the windows of the transfer" if explanation.more_streams_s is not None else ""

    def show(seconds: float) -> str:
        return digits(in_unit(seconds, unit)) if seconds else "0"

    return Table(
        caption=caption,
        columns=(
            Column(key="source", title="from"),
            Column(key="target", title="to"),
            Column(key="delay_s", title="delay", show=show),
            Column(key="latency_s", title="latency", show=show),
            Column(key="transmission_s", title="sending", show=show),
            Column(key="limit", title="limit", show=_short, least=len("up, down, core")),
            Column(key="gbps_gain_s", title="+1 Gbps", show=show),
            Column(key="latency_ms_gain_s", title="-1 ms\nlatency", show=show),
            Column(key="compute_ms_gain_s", title="-1 ms\ncompute", show=show),
        ),
        rows=rows,
        notes=note_lines(
            f"all in {unit}. delay: computing, latency and sending. limit: what limits the sending (up: the "
            "sender's uplink, down: the receiver's downlink, core: their own core link, or the one that is named"
            f"{windows}), or the largest part of the delay. +1 Gbps, -1 ms: what more capacity there, less latency on "
            "the arc, or less computing per round at its source takes off a round (paper)."
        ),
    )


def _limit(row: Mapping[str, object]) -> str:
    """The resources that limit an arc's sending, or the part of its delay that is largest.

    An uplink is always the source's, a downlink the target's; a core link between the two needs no name either.
    """
    resources = row["resources"]
    if not isinstance(resources, list) or not resources:
        return str(row["binds"])
    source, target = row["source"], row["target"]
    own = {
        f"{source} uplink": "uplink",
        f"{target} downlink": "downlink",
        f"core link {source} -> {target}": "core",
        f"measured bandwidth {source} -> {target}": "bandwidth",
        f"window {source} -> {target}": "window",
    }
    return ", ".join(own.get(name, name.removeprefix("core link ")) for name in resources)


def _short(limit: str) -> str:
    """The same for people, in words so short that a table of 80 columns has room for all of them."""
    words = {"uplink": "up", "downlink": "down"}
    return ", ".join(words.get(name, name) for name in limit.split(", "))


def beyond_paper(overlay: Overlay) -> str:
    """What one model needs on the slowest arc and all models on the busiest link; empty where `paper` is no shorter."""
    forms, graph = overlay.closed_forms, overlay.graph
    if max(forms.serialized_s, forms.load_bound_s) <= forms.paper_s or forms.busiest_link is None:
        return ""
    sending_s = transmissions(overlay.work.model_bits, overlay.rate_bps)
    slowest = int(np.argmax(sending_s))
    arc = f"{graph.labels[overlay.source[slowest]]} -> {graph.labels[overlay.target[slowest]]}"
    return (
        f"One model alone needs {format_s(float(sending_s[slowest]))} on {arc} at the rate of Eq. 3 "
        f"(serialized), and {graph.link_name(forms.busiest_link)} is busy for {format_s(forms.load_bound_s)} of every "
        "round (load)."
    )
