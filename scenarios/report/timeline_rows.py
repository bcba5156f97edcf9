"""What lies where in the rows of a timeline: parts of a row, order of the rows, bars of messages, and who waits."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scenarios.runfile.overlay_timeline import OverlayTimeline
from simulator.activity import lanes
from topologies.arrays import FloatArray, IntArray

# Parts of a row, downwards from its upper edge at -0.5.
COMPUTE_PART, SEND_PART, RECEIVE_PART = (-0.42, 0.04), (0.08, 0.24), (0.27, 0.43)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MessageBars:
    """Bars of messages in the rows of their silos; those of one row that overlap are stacked.

    Attributes
    ----------
    silo : array of int, shape (bars,)
    begin_s, end_s : arrays of shape (bars,)
    low, high : arrays of shape (bars,)
        Upper and lower edge, from the middle of the row downwards in parts of its height.
    """

    silo: IntArray
    begin_s: FloatArray
    end_s: FloatArray
    low: FloatArray
    high: FloatArray


def row_order(timeline: OverlayTimeline) -> list[int]:
    """Silos from the first row to the last: those of the critical circuit on top, in its order."""
    circuit = timeline.circuit_silos
    on_it = set(circuit)
    return [*circuit, *(silo for silo in range(len(timeline.labels)) if silo not in on_it)]


def message_bars(timeline: OverlayTimeline) -> tuple[MessageBars, MessageBars]:
    """What leaves each silo, and what arrives at it, while it is in these rounds.

    Notes
    -----
    Time O(silos * messages).
    """
    sent = timeline.sent
    times = [timeline.silo_times(silo) for silo in range(len(timeline.labels))]
    low_s, high_s = (np.array([getattr(each, name) for each in times]) for name in ("begin_s", "end_s"))

    def bars(
        silo: IntArray, begin_s: FloatArray, end_s: FloatArray, part: tuple[float, float]
    ) -> MessageBars:
        begin_s, end_s = np.maximum(begin_s, low_s[silo]), np.minimum(end_s, high_s[silo])
        its = end_s > begin_s
        silo, begin_s, end_s = silo[its], begin_s[its], end_s[its]
        low, high = _thin(silo, begin_s, end_s, part)
        return MessageBars(silo=silo, begin_s=begin_s, end_s=end_s, low=low, high=high)

    return (
        bars(timeline.source[sent.arc], sent.start_s, sent.last_bit_s, SEND_PART),
        bars(timeline.target[sent.arc], sent.first_arrival_s, sent.arrival_s, RECEIVE_PART),
    )


def _thin(
    silo: IntArray, begin_s: FloatArray, end_s: FloatArray, part: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Upper and lower edge of each message within its part of a row."""
    low, high = np.empty(len(silo)), np.empty(len(silo))
    for each in np.unique(silo).tolist():
        its = np.flatnonzero(silo == each)
        lane = lanes(begin_s[its], end_s[its])
        height = (part[1] - part[0]) / (lane.max() + 1)
        low[its], high[its] = part[0] + height * lane, part[0] + height * (lane + 1)
    return low, high


def circuit_messages(timeline: OverlayTimeline) -> list[tuple[int, int, float, float]]:
    """Source, target, start and arrival of each message of the critical circuit's arcs in these rounds.

    Notes
    -----
    Of a periodic overlay an arc of the circuit is one of some state: its messages are those that rounds in that state
    await.
    """
    sent, steps = timeline.sent, set(timeline.circuit_steps)
    source, target = timeline.source[sent.arc].tolist(), timeline.target[sent.arc].tolist()
    rows = zip(
        source, target, sent.start_s.tolist(), sent.arrival_s.tolist(), sent.round.tolist(), strict=True
    )
    return [
        row[:4] for row in rows if (*row[:2], row[4] % timeline.period) in steps and row[4] in timeline.rounds
    ]


def circuit_computing(timeline: OverlayTimeline) -> list[tuple[int, float, float]]:
    """Silo, begin and end of each computing that is a step of the critical circuit from a silo to itself."""
    activity = timeline.activity
    own = [(silo, state) for silo, target, state in timeline.circuit_steps if silo == target]
    return [
        (silo, begin_s, begin_s + compute_s)
        for silo, state in dict.fromkeys(own)
        for row, round_ in enumerate(timeline.rounds)
        if round_ % timeline.period == state and not activity.is_away[row, silo]
        for begin_s, compute_s in [(float(activity.start_s[row, silo]), float(activity.compute_s[row, silo]))]
    ]


def waits(timeline: OverlayTimeline) -> Iterator[tuple[int, float, float, str]]:
    """Silo, begin and end of each wait, and the name of the silo whose model ends it, with a lag above 1."""
    activity = timeline.activity
    done_s = activity.start_s + activity.compute_s
    for row, silo in zip(*(each.tolist() for each in np.nonzero(activity.last_arc >= 0)), strict=True):
        arc = int(activity.last_arc[row, silo])
        name, lag = timeline.labels[int(timeline.source[arc])], int(timeline.lags[row, arc])
        yield (
            silo,
            float(done_s[row, silo]),
            float(activity.next_start_s[row, silo]),
            name if lag == 1 else f"{name}, lag {lag}",
        )
