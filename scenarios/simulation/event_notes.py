"""Notes on events: before, in, or after the rounds that cycle times are means over."""

from collections.abc import Iterator, Mapping, Sequence

from scenarios.config.events.window import AFTER, BEFORE, IN, Window
from scenarios.config.simulation import SimulationConfig

# A silo passes a delay on a round later: the rounds after an event may hold most of it.
_BEGINNINGS = {
    IN: "What happens in a cycle time's rounds is part of it",
    BEFORE: "Over before these rounds, so that only delays still on their way count",
    AFTER: "Still to come after these rounds, and so no part of it",
}
_NO_WAIT = "--until-ci does not wait for what is still to come."


def events_note(simulation: SimulationConfig, windows: Mapping[str, Window | None]) -> list[str]:
    """Sentences that say which events are part of the cycle times.

    Parameters
    ----------
    simulation : SimulationConfig
    windows : mapping from kind to Window or None
        Of each overlay's cycle time; None where that is exact, so that the network does not change.

    Returns
    -------
    list of str
        One for each side of the rounds on which there are events. Events name their overlays where these differ.
    """
    found: dict[int, dict[str, list[str]]] = {side: {} for side in _BEGINNINGS}
    for kind, window in windows.items():
        for side, event in _placed(simulation, window):
            found[side].setdefault(event, []).append(kind)
    lines = []
    for side, beginning in _BEGINNINGS.items():
        events = [
            event if len(kinds) == len(windows) else f"{event} ({', '.join(kinds)})"
            for event, kinds in found[side].items()
        ]
        if events:
            lines.append(f"{beginning}: {'; '.join(events)}.")
    if found[AFTER] and simulation.until_ci is not None:
        lines.append(_NO_WAIT)
    return lines


def simulated_with(tables: Sequence[str]) -> list[str]:
    """A sentence on the events of simulated cycle times, by the names of their tables; none without any."""
    return (
        [f"simulated: with {', '.join(sorted(tables))}, of which closed forms know nothing."]
        if tables
        else []
    )


def simulated_without(tables: Sequence[str]) -> list[str]:
    """A sentence on the events of a scenario that a study leaves out, by the names of their tables."""
    return [f"simulated: without the scenario's {', '.join(sorted(tables))}."] if tables else []


def _placed(simulation: SimulationConfig, window: Window | None) -> Iterator[tuple[int, str]]:
    """Events in words, each with its side of given rounds; those with dates or rounds only where there is a window."""
    for entries in simulation.events.values():
        yield from type(entries[0]).notes(entries, window, stops_early=simulation.until_ci is not None)
