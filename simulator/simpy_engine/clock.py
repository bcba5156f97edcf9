"""SimPy's environment with events at dates instead of after delays."""

from heapq import heappush

import simpy
from simpy.events import NORMAL, Event, EventPriority

CHANGE = EventPriority(2)
"""After the normal events of the same instant: for what changes the network."""

LATE = EventPriority(3)
"""After all other events of the same instant."""

LAST = EventPriority(4)
"""After the late ones: for what changes nothing."""


class Clock(simpy.Environment):
    """A SimPy environment that can schedule an event at a date.

    Notes
    -----
    SimPy schedules after delays, and ``now + (date - now)`` is not always ``date`` in floating point:
    events of one instant would be spread over several.
    """

    def succeed_at(self, event: Event, date_s: float, priority: EventPriority = NORMAL) -> None:
        """Let a pending event happen at a date.

        Parameters
        ----------
        event : Event
            An event of this clock that is not triggered yet.
        date_s : float
            When it happens, in seconds, not before now.
        priority : EventPriority
            `NORMAL`, `CHANGE`, `LATE` for what must see all events before it of the same instant, or `LAST`.
        """
        event._ok = True
        event._value = None
        heappush(self._queue, (date_s, priority, next(self._eid), event))
