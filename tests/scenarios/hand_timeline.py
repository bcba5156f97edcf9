"""Timelines whose every date is worked out by hand, of silos A, B and C or of fewer."""

from typing import Any

import numpy as np

from scenarios.runfile.overlay_timeline import OverlayTimeline
from simulator.activity import Activity, Sent


def activity_of(first_round: int, **given: Any) -> Activity:
    """Rounds without absences in which all await models, where nothing else is given."""
    none = np.zeros(np.shape(given["start_s"]), dtype=bool)
    made = {"is_away": none, "is_isolated": none.copy(), "error": 0.0}
    return Activity(
        first_round=first_round, **made | {name: np.array(value) for name, value in given.items()}
    )


def timeline_of(
    activity: Activity,
    arcs: tuple[tuple[int, int], ...],
    messages: tuple[tuple[float, ...], ...],
    /,
    **given: Any,
) -> OverlayTimeline:
    """A timeline whose links have no names.

    Parameters
    ----------
    arcs : tuple of (int, int)
        Silos from which and to which models go.
    messages : tuple of tuple
        Of each the round at whose end it is awaited, its arc and lag; start, last bit, first arrival and arrival in s.
    """
    round_, arc, lag, start_s, last_bit_s, first_s, arrival_s = map(np.array, zip(*messages, strict=True))
    sent = Sent(
        round=round_,
        arc=arc,
        lag=lag,
        start_s=start_s,
        last_bit_s=last_bit_s,
        arrival_s=arrival_s,
        first_arrival_s=first_s,
        bound_link=np.zeros(len(arc), dtype=np.int32),
    )
    source, target = map(np.array, zip(*arcs, strict=True))
    rounds, silos = activity.start_s.shape
    made = {
        "labels": ("A", "B", "C")[:silos],
        "rounds": range(activity.first_round, activity.first_round + rounds),
        "activity": activity,
        "sent": sent,
        "source": source,
        "target": target,
        "message_bits": 1.0,
        "link_names": (),
        "occupied": (),
        "link_capacity_bps": np.zeros(0),
        "sharing": None,
    }
    return OverlayTimeline(**made | given)


def static_activity(**changes: Any) -> Activity:
    """Rounds 4 and 5, in which C waits for nobody."""
    given = {
        "start_s": [[10.0, 10.0, 11.0], [14.0, 13.0, 12.0]],
        "compute_s": [[1.0, 2.0, 1.0], [1.0, 2.0, 3.0]],
        "next_start_s": [[14.0, 13.0, 12.0], [16.0, 18.0, 15.0]],
        "last_arc": [[2, 0, -1], [1, 0, -1]],
    }
    return activity_of(4, **given | changes)


def static_timeline(**changes: Any) -> OverlayTimeline:
    """Two rounds of an overlay whose critical circuit is A and B, and to which C sends."""
    messages = (
        (4, 0, 1, 11.0, 12.0, 11.5, 13.0),
        (4, 1, 1, 12.0, 13.0, 12.5, 13.5),
        (4, 2, 1, 12.0, 13.5, 12.25, 14.0),
        (5, 0, 1, 15.0, 17.0, 15.5, 18.0),
        (5, 1, 1, 15.0, 15.5, 15.25, 16.0),
        (5, 2, 1, 15.0, 15.5, 15.25, 15.75),
        (3, 2, 1, 9.0, 10.5, 9.5, 11.0),
    )
    given = {
        "kind": "mine",
        "begin_s": 10.0,
        "end_s": 18.0,
        "lags": np.ones((2, 3), dtype=int),
        "circuit": ((0, 0), (1, 0)),
        "period": 1,
    }
    return timeline_of(static_activity(), ((0, 1), (1, 0), (2, 0)), messages, **given | changes)


def periodic_timeline(**changes: Any) -> OverlayTimeline:
    """Two rounds of three silos: B and C wait for A in the first, B for C in the second; A never waits.

    Arcs are A -> B, A -> C, C -> B and B -> C.
    """
    activity = activity_of(
        3,
        start_s=[[0.0, 1.0, 2.0], [4.0, 6.0, 5.0]],
        compute_s=[[4.0, 2.0, 1.0], [3.0, 1.0, 4.0]],
        next_start_s=[[4.0, 6.0, 5.0], [7.0, 10.0, 9.0]],
        last_arc=[[-1, 0, 1], [-1, 2, -1]],
        is_isolated=[[True, False, False], [False, False, False]],
    )
    messages = (
        (3, 0, 1, 1.0, 3.0, 4.0, 6.0),
        (3, 1, 1, 2.0, 2.5, 4.5, 5.0),
        (4, 2, 1, 8.0, 12.0, 9.5, 14.0),
    )
    given = {
        "kind": "o",
        "begin_s": 0.5,
        "end_s": 9.0,
        "lags": np.array([[2, 1, 1, 1], [1, 1, 3, 1]]),
        "circuit": ((0, 0), (1, 1), (2, 0)),
        "period": 2,
    }
    return timeline_of(activity, ((0, 1), (0, 2), (2, 1), (1, 2)), messages, **given | changes)
