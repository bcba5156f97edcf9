"""What windows of transfers would change where a network has none."""

from collections.abc import Sequence

from scenarios.config.overlays import AnyOverlay
from scenarios.config.quantities import format_s
from topologies import Connectivity, Overlay, PeriodicOverlay
from topologies.analysis.upgrade_links import on_graph
from topologies.sizes import MANY_SILOS
from topologies.windows import with_windows

_WINDOW, _BITS = "4 MiB", 4 * 2**20 * 8
_MUCH = 0.1
"""Change of a cycle time, relative, from which on it is said."""


def window_notes(graph: Connectivity, overlays: Sequence[AnyOverlay]) -> list[str]:
    """One sentence where a window of 4 MiB would change the cycle time of an overlay by more than 10 %.

    Parameters
    ----------
    graph : Connectivity
    overlays : sequence of Overlay, PeriodicOverlay or RandomOverlay
        On this network. Of randomized ones nothing is said.

    Returns
    -------
    list of str
        Empty where the network has windows, or more than `MANY_SILOS` silos.

    Notes
    -----
    By the larger of `paper` and `load`. 4 MiB is the most that Linux lets a stream's sender keep by default.
    """
    if graph.window_bps is not None or graph.silos > MANY_SILOS:
        return []
    windowed, changed = with_windows(graph, _BITS), []
    for overlay in overlays:
        if isinstance(overlay, Overlay | PeriodicOverlay):
            before_s = _bound_s(overlay)
            after_s = _bound_s(on_graph(overlay, windowed))
            if after_s > (1 + _MUCH) * before_s:
                changed.append(
                    (after_s / before_s if before_s else float("inf"), overlay.kind, before_s, after_s)
                )
    if not changed:
        return []
    _, kind, before_s, after_s = max(changed, key=lambda each: each[0])
    more = len(changed) - 1
    others = (
        f", and those of {more} other overlay{'' if more == 1 else 's'} would grow by more than 10 %, too"
    )
    return [
        f"the network states no windows of transfers: with one of {_WINDOW} for each (--window), a round of {kind} "
        f"would take {format_s(after_s)} or more instead of {format_s(before_s)}{others if more else ''}."
    ]


def _bound_s(overlay: Overlay | PeriodicOverlay) -> float:
    """The larger of two lower bounds of what is simulated."""
    return max(overlay.closed_forms.paper_s, overlay.closed_forms.load_bound_s)
