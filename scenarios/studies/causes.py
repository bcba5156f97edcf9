"""Why an arc takes longer, or less, than Eq. 3 says, in words."""

from collections import Counter

import numpy as np

from scenarios.studies.terms import Terms
from scenarios.units import digits, format_rate, format_s
from topologies import Connectivity, Overlay
from topologies.analysis.resources import Resources

_NOTHING = 1e-6
"""Terms below this part of a cycle time have no cause worth a word."""


def cause_of(resources: Resources, arc: int, terms: Terms, cycle_time_s: float) -> str:
    """The largest term of an arc, in words.

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
    str
        One sentence without a full stop, with the names of links and silos and with numbers.
    """
    parts = {
        "queue": abs(float(terms.queue_s[arc])),
        "rate": abs(float(terms.rate_s[arc])),
        "wait": abs(float(terms.wait_s[arc])),
    }
    largest = max(parts, key=lambda part: parts[part])
    if parts[largest] <= _NOTHING * cycle_time_s:
        return "as Eq. 3 says"
    if largest == "wait":
        return _wait(resources, arc, terms, cycle_time_s)
    return _sending(resources, arc, terms, largest)


def _sending(resources: Resources, arc: int, terms: Terms, largest: str) -> str:
    """What makes an arc's models queue, slow or fast."""
    if largest == "queue":
        return _queue(resources.overlay, arc, terms)
    return _shared(resources.overlay, arc, terms) if terms.rate_s[arc] > 0 else _unused(resources, arc, terms)


def _queue(overlay: Overlay, arc: int, terms: Terms) -> str:
    """An arc whose models wait for the earlier ones to leave."""
    sending_s, paper_s = float(terms.sending_s[arc]), overlay.proof.value_s
    return (
        f"serialization: one model takes {format_s(sending_s)} on {_place(overlay, arc, terms)}, the paper's cycle "
        f"is {format_s(paper_s)}; models queue for {format_s(float(terms.queue_s[arc]))}"
    )


def _shared(overlay: Overlay, arc: int, terms: Terms) -> str:
    """An arc that gets less than the rate of Eq. 3."""
    link, sending_s = int(terms.link[arc]), float(terms.sending_s[arc])
    crossing = Counter(link for route in overlay.routes for link in set(route))[link]
    return (
        f"shared {_place(overlay, arc, terms)}: {crossing} arc{'s' if crossing > 1 else ''} of the overlay "
        f"cross{'' if crossing > 1 else 'es'} it; one model takes {format_s(sending_s)}, by Eq. 3 "
        f"{format_s(float(overlay.transmission_s[arc]))}"
    )


def _unused(resources: Resources, arc: int, terms: Terms) -> str:
    """An arc that gets more than the rate of Eq. 3."""
    overlay, graph = resources.overlay, resources.overlay.graph
    by_up, by_down, by_available = resources.binding()[:, arc].tolist()
    source, target = int(overlay.source[arc]), int(overlay.target[arc])
    links = resources.binding_links(arc) if by_available else []
    if by_up:
        limit = f"{link_words(graph, overlay.routes[arc][0])}, {format_rate(graph.up_bps[source])}, into {resources.out[source]}"
    elif by_down:
        limit = (
            f"{link_words(graph, overlay.routes[arc][-1])}, {format_rate(graph.down_bps[target])}, "
            f"into {resources.into[target]}"
        )
    elif links:
        limit = (
            f"{link_words(graph, links[0])}, {format_rate(graph.core_bps[links[0] // 2])}, by the route's "
            f"{int(resources.parts[arc])} links"
        )
    else:
        return f"unused bandwidth: the fair share is {_times(overlay, arc, terms)} the measured one"
    return f"unused share: Eq. 3 divides {limit}; the fair share is {_times(overlay, arc, terms)} that"


def _times(overlay: Overlay, arc: int, terms: Terms) -> str:
    """How much faster than by Eq. 3 the models leave."""
    sending_s = float(terms.sending_s[arc])
    return "any times" if sending_s == 0 else f"{digits(float(overlay.transmission_s[arc]) / sending_s)} times"


def _wait(resources: Resources, arc: int, terms: Terms, cycle_time_s: float) -> str:
    """An arc whose target starts its next round later for something else; and why that is late."""
    overlay, labels = resources.overlay, resources.overlay.graph.labels
    target = int(overlay.event_graph.target[arc])
    entering = np.flatnonzero(overlay.event_graph.target == target)
    gate = int(entering[np.argmax(terms.gated[entering])])
    waits = f"{labels[target]} waits {format_s(float(terms.wait_s[arc]))} more for "
    if gate >= overlay.arcs:
        return f"{waits}its own computing"
    words = f"{waits}{labels[overlay.source[gate]]} -> {labels[target]}"
    parts = {"queue": abs(float(terms.queue_s[gate])), "rate": float(terms.rate_s[gate])}
    largest = max(parts, key=lambda part: parts[part])
    return (
        f"{words} ({_sending(resources, gate, terms, largest)})"
        if parts[largest] > _NOTHING * cycle_time_s
        else words
    )


def _place(overlay: Overlay, arc: int, terms: Terms) -> str:
    """The link that bounds an arc's rate."""
    link = int(terms.link[arc])
    return "its route" if link < 0 else link_words(overlay.graph, link)


def link_words(graph: Connectivity, link: int) -> str:
    """A link direction in words: ``DE's uplink``, ``core link DE -> FR``."""
    core, name = 2 * len(graph.core_bps), graph.link_name(link)
    if link < core:
        return f"core link {name}"
    return f"{graph.labels[(link - core) % graph.silos]}'s {'uplink' if link < core + graph.silos else 'downlink'}"
