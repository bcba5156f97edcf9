"""Why an arc takes longer, or less, than without the events, in words."""

import numpy as np

from scenarios.config.events.cause import Cause, link_text
from scenarios.config.quantities import format_s
from scenarios.validation.events import WindowEvents
from scenarios.validation.terms import Terms
from topologies import Overlay

_WORTH = 0.1
"""From this part of the larger one on, the smaller one of two causes is reported as well."""
_TERMS = ("queue_s", "slow_s", "rate_s", "wait_s", "computing_s")


def world_s(terms: Terms, undisturbed: Terms, arc: int) -> float:
    """How much more an arc takes than in the undisturbed network."""
    return sum(_more_s(terms, undisturbed, name, arc) for name in _TERMS)


def event_cause(overlay: Overlay, arc: int, terms: Terms, undisturbed: Terms, events: WindowEvents) -> Cause:
    """The events behind what an arc takes more, or less, than in the undisturbed network.

    Parameters
    ----------
    overlay : Overlay
    arc : int
        Of the overlay's event graph: an arc, or after these a silo's own computing.
    terms, undisturbed : Terms
        With the events, and without.
    events : WindowEvents

    Returns
    -------
    Cause

    Notes
    -----
    Named is what meets the arc itself: a pause of its source, a failure of a link of its route, traffic or a trace on
    the link that bounds its rate. An arc that only waits longer names what the target waits for, and why that is late.
    Where none of this is so, the events meet the models of other arcs, which it then meets on its links.
    """
    more_s = {name: _more_s(terms, undisturbed, name, arc) for name in _TERMS}
    largest = max(more_s, key=lambda name: abs(more_s[name]))
    if largest == "wait_s":
        return _joined(
            [_waits(overlay, arc, terms, undisturbed, events), *_failed(overlay, arc, terms, events)]
        )
    found = events.on_silo(int(overlay.event_graph.source[arc])) if largest == "computing_s" else None
    found = found or _on_the_way(overlay, arc, terms, undisturbed, events)
    total_s = sum(more_s.values())
    text = f"{found.explanation}; {format_s(abs(total_s))} {'more' if total_s > 0 else 'less'} than without"
    return Cause(assumption=found.assumption, place=found.place, explanation=text)


def is_told(overlay: Overlay, arc: int, terms: Terms, events: WindowEvents) -> bool:
    """Whether an arc's route crosses a link that is down: else a sentence on its usual route would mislead."""
    return bool(_failed(overlay, arc, terms, events))


def both(first: Cause, second: Cause, first_s: float, second_s: float, *, is_told: bool) -> Cause:
    """Two causes in one, the larger one first; alone where the other one is much smaller or none.

    Parameters
    ----------
    first, second : Cause
    first_s, second_s : float
        What each makes up.
    is_told : bool
        Whether the second one is reported however small it is.
    """
    if not first.assumption:
        return second
    larger, smaller = sorted((abs(first_s), abs(second_s)), reverse=True)
    ordered = [first, second] if abs(first_s) >= abs(second_s) else [second, first]
    if smaller >= _WORTH * larger or (is_told and ordered[0] is first):
        return _joined(ordered)
    return ordered[0]


def _more_s(terms: Terms, undisturbed: Terms, name: str, arc: int) -> float:
    """How much more one term of an arc is than in the undisturbed network."""
    return float(getattr(terms, name)[arc] - getattr(undisturbed, name)[arc])


def _joined(causes: list[Cause]) -> Cause:
    """Some causes as one."""
    places = (place for cause in causes for place in cause.place.split(", ") if place)
    return Cause(
        assumption=" and ".join(dict.fromkeys(cause.assumption for cause in causes)),
        place=", ".join(dict.fromkeys(places)),
        explanation="; ".join(cause.explanation for cause in causes),
    )


def _failed(overlay: Overlay, arc: int, terms: Terms, events: WindowEvents) -> list[Cause]:
    """Links of an arc's usual route that are down."""
    route = overlay.routes[arc] if arc < overlay.arcs else ()
    return list(events.on_route(route, float(terms.detour_s[arc])))


def _on_the_way(overlay: Overlay, arc: int, terms: Terms, undisturbed: Terms, events: WindowEvents) -> Cause:
    """What changes the sending of an arc's models."""
    links = dict.fromkeys(int(one.link[arc]) for one in (terms, undisturbed))
    causes = _failed(overlay, arc, terms, events)
    causes += next((events.on_links[link] for link in links if link in events.on_links), ())
    if causes:
        return _joined(causes)
    place = next((link_text(overlay.graph, link) for link in links if link >= 0), "")
    text = f"models of other arcs, which {', '.join(events.tables)} delays or leads there, on {place or 'its route'}"
    return Cause(assumption="others' delays", place=place, explanation=text)


def _waits(overlay: Overlay, arc: int, terms: Terms, undisturbed: Terms, events: WindowEvents) -> Cause:
    """An arc whose target starts its next round earlier or later for something else; and why."""
    labels, target = overlay.graph.labels, int(overlay.event_graph.target[arc])
    more_s = _more_s(terms, undisturbed, "wait_s", arc)
    begin = f"{labels[target]} waits {format_s(abs(more_s))} {'longer' if more_s > 0 else 'shorter'} for "
    # A wait that grows is for what is late with the events; one that shrinks, for what was late without.
    gated = (terms if more_s > 0 else undisturbed).gated
    others = [int(other) for other in np.flatnonzero(overlay.event_graph.target == target) if other != arc]
    gate = max(others, key=lambda other: float(gated[other]), default=arc)
    own = gate >= overlay.arcs
    place = labels[target] if own else f"{labels[overlay.source[gate]]} -> {labels[target]}"
    gate_s = world_s(terms, undisturbed, gate) - _more_s(terms, undisturbed, "wait_s", gate)
    wait = Cause(
        assumption="wait", place=place, explanation=f"{begin}{'its own computing' if own else place}"
    )
    if own:
        why = events.on_silo(int(overlay.event_graph.source[gate]))
    elif abs(gate_s) >= _WORTH * abs(more_s):
        why = _on_the_way(overlay, gate, terms, undisturbed, events)
    else:
        source = labels[overlay.source[gate]]
        text = f"{source} itself starts {'later' if more_s > 0 else 'earlier'} by {', '.join(events.tables)}"
        why = Cause(assumption="others' delays", place="", explanation=text)
    if why is None:
        return wait
    joined = _joined([wait, why])
    return Cause(
        assumption=joined.assumption,
        place=joined.place,
        explanation=f"{wait.explanation} ({why.explanation})",
    )
