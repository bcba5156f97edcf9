"""Causes of a difference between closed forms and simulation."""

from dataclasses import dataclass

from topologies import Connectivity


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """The largest term of an arc.

    Attributes
    ----------
    assumption : str
        Short name of the assumption of the closed form that fails; empty where none does.
    place : str
        The link or arc where it fails; empty where it has none.
    explanation : str
        One sentence without a full stop, with the names of links and silos and with numbers.
    """

    assumption: str
    place: str
    explanation: str


def link_text(graph: Connectivity, link: int) -> str:
    """A link direction as text: ``DE's uplink``, ``core link DE -> FR``, ``measured bandwidth DE -> FR``.

    A window is ``window DE -> FR``; what several links share has a name of its own.
    """
    if link >= graph.first_window:
        return graph.link_name(link)
    access = link - graph.first_uplink
    if access < 0:
        return f"{'measured bandwidth' if graph.is_measured else 'core link'} {graph.link_name(link)}"
    return f"{graph.labels[access % graph.silos]}'s {'uplink' if access < graph.silos else 'downlink'}"
