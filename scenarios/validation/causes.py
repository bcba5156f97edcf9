"""Why an arc takes longer, or less, than by Eq. 3: the largest term, explained."""

import numpy as np

from scenarios.config.events.cause import Cause, link_text
from scenarios.config.quantities import digits, format_rate, format_s
from scenarios.validation.terms import Terms
from topologies import Overlay
from topologies.analysis.resources import Resources
from topologies.rounding import ROUNDING

_NEGLIGIBLE = 1e-6
"""Terms below this part of a cycle time are negligible."""
_NEGLIGIBLE_COMPUTING = 1e-3
"""The same for the mean of random computing times, which differs from the expected one by chance."""


def cause_of(resources: Resources, arc: int, terms: Terms, cycle_time_s: float) -> Cause:
    """The largest term of an arc, explained.

    Parameters
    ----------
    resources : Resources
        Of the overlay.
    arc : int
        Of the overlay's event graph: an arc, or after these a silo's own computing.
    terms : Terms
    cycle_time_s : float
        Simulated.

    Returns
    -------
    Cause
    """
    parts = {
        "slow": abs(float(terms.slow_s[arc])),
        "queue": abs(float(terms.queue_s[arc])),
        "rate": abs(float(terms.rate_s[arc])),
        "wait": abs(float(terms.wait_s[arc])),
    }
    computing_s = abs(float(terms.computing_s[arc]))
    if computing_s > _NEGLIGIBLE_COMPUTING * cycle_time_s:
        parts["computing"] = computing_s
    # Of terms that differ by rounding the first: models queue for as long as the one before them starts slowly.
    largest = max(parts, key=lambda part: parts[part] * (1 + ROUNDING * (part == "slow")))
    if parts[largest] <= _NEGLIGIBLE * cycle_time_s:
        return Cause(assumption="", place="", explanation="as Eq. 3 says")
    if largest == "wait":
        return _wait(resources, arc, terms, cycle_time_s)
    if largest == "computing":
        return _computing(resources.overlay, arc, terms)
    return _sending(resources, arc, terms, largest)


def _computing(overlay: Overlay, arc: int, terms: Terms) -> Cause:
    """A silo whose computing times are not the constant one."""
    label, excess_s = overlay.graph.labels[overlay.event_graph.source[arc]], float(terms.computing_s[arc])
    text = f"{label} computes for {format_s(abs(excess_s))} {'more' if excess_s > 0 else 'less'} than s*T_c"
    return Cause(assumption="computing", place=label, explanation=text)


def _sending(resources: Resources, arc: int, terms: Terms, largest: str) -> Cause:
    """Why an arc's models queue, start slowly, or are sent slower or faster than by Eq. 3."""
    if largest == "slow":
        return _slow_start(resources.overlay, arc, terms)
    if largest == "queue":
        return _queue(resources.overlay, arc, terms)
    return _shared(resources.overlay, arc, terms) if terms.rate_s[arc] > 0 else _unused(resources, arc, terms)


def _slow_start(overlay: Overlay, arc: int, terms: Terms) -> Cause:
    """An arc that idles longer, or less, than the static rule of closed forms says."""
    labels, more_s = overlay.graph.labels, float(terms.slow_s[arc])
    place = f"{labels[overlay.source[arc]]} -> {labels[overlay.target[arc]]}"
    idles = "longer than closed forms take it to" if more_s > 0 else "less than closed forms take it to"
    text = (
        f"slow start: {place} idles {idles}, and its models start "
        f"{format_s(abs(more_s))} {'later' if more_s > 0 else 'earlier'}"
    )
    return Cause(assumption="slow start", place=place, explanation=text)


def _queue(overlay: Overlay, arc: int, terms: Terms) -> Cause:
    """An arc whose models wait for the transmission of earlier ones."""
    sending_s, paper_s = float(terms.sending_s[arc]), overlay.proof.cycle_time_s
    place = _place(overlay, arc, terms)
    # A link that could send more often than once a cycle is no bottleneck: the models arrive in bursts.
    uneven = " and models leave unevenly" if sending_s < paper_s else ""
    assumption = "window" if overlay.graph.is_window(int(terms.link[arc])) else "serialization"
    text = (
        f"{assumption}: one model takes {format_s(sending_s)} on {place}, the paper's cycle "
        f"is {format_s(paper_s)}{uneven}; models queue for {format_s(float(terms.queue_s[arc]))}"
    )
    return Cause(assumption=assumption, place=place, explanation=text)


def _shared(overlay: Overlay, arc: int, terms: Terms) -> Cause:
    """An arc that gets less than the rate of Eq. 3."""
    link, sending_s = int(terms.link[arc]), float(terms.sending_s[arc])
    crossing = _models_on(overlay, link)
    place = _place(overlay, arc, terms)
    text = (
        f"shared {place}: {crossing} arc{'s' if crossing > 1 else ''} of the overlay "
        f"cross{'' if crossing > 1 else 'es'} it; one model takes {format_s(sending_s)}, by Eq. 3 "
        f"{format_s(float(overlay.transmission_s[arc]))}"
    )
    return Cause(assumption="shared link", place=place, explanation=text)


def _models_on(overlay: Overlay, link: int) -> int:
    """Number of arcs whose models cross a link direction, without those that only send acknowledgements over it."""
    graph = overlay.graph
    occupied = graph.occupied(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    shared = link - graph.first_shared
    lies_on = graph.shared[shared].usage.keys() if shared >= 0 else {link}
    if shared < 0 <= link - graph.first_window:
        return sum(link in each.links for each in occupied)
    return sum(link in each.links and not lies_on.isdisjoint(each.links[: each.hops]) for each in occupied)


def _unused(resources: Resources, arc: int, terms: Terms) -> Cause:
    """An arc that gets more than the rate of Eq. 3."""
    overlay, graph = resources.overlay, resources.overlay.graph
    by_up, by_down, by_available, _ = resources.binding()[:, arc].tolist()
    source, target = int(overlay.source[arc]), int(overlay.target[arc])
    links = resources.binding_links(arc) if by_available else []
    if by_up:
        place = link_text(graph, graph.uplink(source))
        limit = f"{place}, {format_rate(graph.up_bps[source])}, into {resources.out[source]}"
    elif by_down:
        place = link_text(graph, graph.downlink(target))
        limit = f"{place}, {format_rate(graph.down_bps[target])}, into {resources.into[target]}"
    elif links:
        place = link_text(graph, links[0])
        parts = float(resources.parts[resources.binding_crossings(arc)[0]])
        by = "the links of the longest route times the flow's share" if graph.routes.splits else ""
        limit = f"{place}, {format_rate(graph.core_bps[links[0] // 2])}, by " + (
            f"{parts:.3g}, {by}" if by else f"the route's {int(parts)} links"
        )
    else:
        text = f"unused bandwidth: the fair share is {_times(overlay, arc, terms)} the measured one"
        return Cause(assumption="unused share", place="", explanation=text)
    text = f"unused share: Eq. 3 divides {limit}; the fair share is {_times(overlay, arc, terms)} that"
    return Cause(assumption="unused share", place=place, explanation=text)


def _times(overlay: Overlay, arc: int, terms: Terms) -> str:
    """How much faster than by Eq. 3 the models leave."""
    sending_s = float(terms.sending_s[arc])
    return (
        "any times" if sending_s == 0 else f"{digits(float(overlay.transmission_s[arc]) / sending_s)} times"
    )


def _wait(resources: Resources, arc: int, terms: Terms, cycle_time_s: float) -> Cause:
    """An arc whose target waits for something else, and why that is late."""
    overlay, labels = resources.overlay, resources.overlay.graph.labels
    target = int(overlay.event_graph.target[arc])
    # Never the arc itself: it has no wait in the rounds that it gates.
    others = [int(other) for other in np.flatnonzero(overlay.event_graph.target == target) if other != arc]
    gate = max(others, key=lambda other: float(terms.gated[other]), default=arc)
    waits = f"{labels[target]} waits {format_s(float(terms.wait_s[arc]))} more for "
    if gate >= overlay.arcs:
        return Cause(assumption="wait", place=labels[target], explanation=f"{waits}its own computing")
    place = f"{labels[overlay.source[gate]]} -> {labels[target]}"
    text = f"{waits}{place}"
    parts = {
        "queue": abs(float(terms.queue_s[gate])),
        "slow": float(terms.slow_s[gate]),
        "rate": float(terms.rate_s[gate]),
    }
    largest = max(parts, key=lambda part: parts[part])
    if parts[largest] > _NEGLIGIBLE * cycle_time_s:
        text = f"{text} ({_sending(resources, gate, terms, largest).explanation})"
    return Cause(assumption="wait", place=place, explanation=text)


def _place(overlay: Overlay, arc: int, terms: Terms) -> str:
    """The link that bounds an arc's rate."""
    link = int(terms.link[arc])
    return "its route" if link < 0 else link_text(overlay.graph, link)
