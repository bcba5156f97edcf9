"""What table, figure and trace of a timeline show: some rounds of an overlay with its names."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulator.activity import Activity, Sent, busy_s
from simulator.arc import unequal
from simulator.link_rates import LinkRates, link_rates
from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Occupied


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SiloTimes:
    """How one silo spends the rounds, in seconds.

    Attributes
    ----------
    begin_s, end_s : float
        From its start of the first round to that of the round after the last; from the first start of all silos where
        it was away before, and to their last end where it still is.
    computing_s, waiting_s, away_s : float
        Together the time between these dates.
    sending_s, receiving_s : float
        Time in which a message or more leaves over its uplink, or comes in; both go on beside the others.
    waits_most_for : int or None
        The in-neighbour for which it waits longest in all; None where it never waits.
    waits_most_s : float
    waits_most_lags : tuple of int
        Lags of the models of that in-neighbour that it waits for, in ascending order.
    isolated_rounds : int
        Rounds in which it waits for nobody, as it awaits no model.
    """

    begin_s: float
    end_s: float
    computing_s: float
    sending_s: float
    receiving_s: float
    waiting_s: float
    away_s: float
    waits_most_for: int | None
    waits_most_s: float
    waits_most_lags: tuple[int, ...]
    isolated_rounds: int

    @property
    def span_s(self) -> float:
        """Time between its two dates."""
        return self.end_s - self.begin_s


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OverlayTimeline:
    """Some rounds of an overlay, with the names that they are shown with.

    Attributes
    ----------
    kind : str
    labels : tuple of str
        Of the silos.
    rounds : range
    begin_s, end_s : float
        See `scenarios.runfile.round_window.RoundWindow`.
    activity : Activity
    sent : Sent
        All messages under way between these dates, those of other rounds too.
    source, target : ndarray of int, shape (arcs,)
    lags : ndarray of int, shape (rounds, arcs)
        Of the messages that are awaited at the ends of the rounds; 1 of those of the same round.
    circuit : tuple of (int, int) or None
        Critical circuit of `paper`, in order: silos, each with the state of the round it starts, 0 of a static overlay;
        None of a randomized one.
    period : int
        Number of states; 1 of an overlay that is not periodic.
    message_bits : float
    link_names : tuple of str
    occupied : tuple of Occupied
        Link directions of each arc, where nothing fails.
    link_capacity_bps : ndarray of shape (links,)
        Where nothing changes them.
    sharing : {"constant", "maxmin"} or None
        How the rates of messages follow from their dates: see `simulator.link_rates`. None where they do not, as where
        events change the network.
    """

    kind: str
    labels: tuple[str, ...]
    rounds: range
    begin_s: float
    end_s: float
    activity: Activity
    sent: Sent
    source: IntArray
    target: IntArray
    lags: IntArray
    circuit: tuple[tuple[int, int], ...] | None
    period: int
    message_bits: float
    link_names: tuple[str, ...]
    occupied: tuple[Occupied, ...]
    link_capacity_bps: FloatArray
    sharing: Literal["constant", "maxmin"] | None

    def __repr__(self) -> str:
        """One line."""
        return f"OverlayTimeline({self.kind!r}, rounds {self.rounds.start} to {self.rounds.stop - 1})"

    @property
    def rounds_text(self) -> str:
        """The rounds, such as ``rounds 0 to 5``."""
        first, last = self.rounds.start, self.rounds.stop - 1
        return f"round {first}" if first == last else f"rounds {first} to {last}"

    @property
    def title(self) -> str:
        """The overlay and its rounds, with the number of states of a periodic one."""
        states = f" ({self.period} states)" if self.period > 1 else ""
        return f"{self.kind}{states}, {self.rounds_text}"

    def link_rates(self) -> LinkRates | None:
        """Rates on links meanwhile; None where they cannot be told, or would take too long."""
        if self.sharing is None:
            return None
        return link_rates(
            self.sent,
            [own.links for own in self.occupied],
            self.link_capacity_bps,
            self.message_bits,
            sharing=self.sharing,
            begin_s=self.begin_s,
            end_s=self.end_s,
            usage=[unequal(own.links, own.usage) for own in self.occupied],
        )

    @property
    def circuit_silos(self) -> tuple[int, ...]:
        """Silos of the critical circuit, each once, in its order; none of a randomized overlay."""
        return tuple(dict.fromkeys(silo for silo, _ in self.circuit or ()))

    @property
    def circuit_steps(self) -> tuple[tuple[int, int, int], ...]:
        """Source, target and state of each arc of the critical circuit.

        The state is that of the rounds at whose end the target awaits the model; where source and target are one silo,
        which computes in that state.
        """
        circuit = self.circuit or ()
        after = (*circuit[1:], *circuit[:1])
        return tuple(
            (i, j, (state - 1) % self.period) for (i, _), (j, state) in zip(circuit, after, strict=True)
        )

    def silo_times(self, silo: int) -> SiloTimes:
        """How a silo spends the rounds; O(messages)."""
        activity, sent = self.activity, self.sent
        is_gone = bool(activity.is_away[-1, silo] and activity.away_s[-1, silo] == 0)
        begin_s = max(float(activity.start_s[0, silo]), self.begin_s)
        end_s = max(begin_s, self.end_s if is_gone else float(activity.next_start_s[-1, silo]))
        waiting_s = activity.waiting_s[:, silo]
        computing_s, waited_s = float(activity.compute_s[:, silo].sum()), float(waiting_s.sum())
        waits, by_source = activity.last_arc[:, silo] >= 0, np.zeros(len(self.labels))
        np.add.at(by_source, self.source[activity.last_arc[waits, silo]], waiting_s[waits])
        most = int(by_source.argmax()) if waits.any() else None
        rows = np.flatnonzero(waits)
        lags = self.lags[rows, activity.last_arc[rows, silo]]
        lags = lags[self.source[activity.last_arc[rows, silo]] == most]
        out, into = self.source[sent.arc] == silo, self.target[sent.arc] == silo
        return SiloTimes(
            begin_s=begin_s,
            end_s=end_s,
            computing_s=computing_s,
            sending_s=busy_s(sent.start_s[out], sent.last_bit_s[out], begin_s, end_s),
            receiving_s=busy_s(sent.first_arrival_s[into], sent.arrival_s[into], begin_s, end_s),
            waiting_s=waited_s,
            away_s=max(0.0, end_s - begin_s - computing_s - waited_s)
            if activity.is_away[:, silo].any()
            else 0.0,
            waits_most_for=most,
            waits_most_s=0.0 if most is None else float(by_source[most]),
            waits_most_lags=tuple(np.unique(lags).tolist()),
            isolated_rounds=int(activity.is_isolated[:, silo].sum()),
        )
