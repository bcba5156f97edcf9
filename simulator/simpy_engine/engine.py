"""The SimPy engine: silos and network as processes, whose rounds are cut into blocks. It simulates every job."""

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import cast

from simpy.core import EmptySchedule

from simulator.block import Block
from simulator.feasibility import check_rows
from simulator.job import Job
from simulator.observer import Observer
from simulator.simpy_engine.clock import LAST, Clock
from simulator.simpy_engine.network import ChangeableNetwork, Network, NetworkSetup, RepeatableNetwork
from simulator.simpy_engine.network_changes import apply_changes
from simulator.simpy_engine.recorder import Recorder
from simulator.simpy_engine.repeat import RepeatWatch
from simulator.simpy_engine.silo import Silo
from simulator.simpy_engine.slow_start import SlowStarts
from simulator.simpy_engine.wiring import FixedWiring, PlannedWiring, Wiring
from simulator.statistics.steady_state import SteadyState
from topologies.errors import Field, InputError

_CHUNK_ROUNDS = 1024


class SimpyEngine:
    """Simulates a job event by event.

    Parameters
    ----------
    job : Job
    block_rounds : int
        Rounds in a block.
    observer : Observer, optional

    Attributes
    ----------
    network : Network
        Of the job's sharing model.
    """

    __slots__ = ("_job", "_recorder", "_silos", "_watch", "clock", "network")

    name = "simpy"

    def __init__(self, job: Job, *, block_rounds: int, observer: Observer | None = None) -> None:
        observer = observer or Observer()
        self._watch: RepeatWatch | None = None
        self._job = job
        self.clock = clock = Clock(0.0)
        self._recorder = recorder = Recorder(job, block_rounds=block_rounds, on_round=observer.on_round)
        wiring = _wiring(job, recorder)
        columns = _Columns(job)
        self._silos = silos = [
            Silo(
                clock,
                silo,
                compute_s=columns.of(silo),
                wiring=wiring,
                backward_share=job.backward_share,
            )
            for silo in range(job.silos)
        ]
        receive = [silos[arc.target].receive for arc in job.arcs]
        note = recorder.message

        def deliver(
            arc: int, k: int, start_s: float, last_bit_s: float, arrival_s: float, bound_link: int
        ) -> None:
            ready_s = early.pop((arc, k), 0.0)
            if ready_s > last_bit_s:
                last_bit_s, arrival_s = ready_s, ready_s + (arrival_s - last_bit_s)
            note(arc, k, start_s, last_bit_s, arrival_s, bound_link)
            receive[arc](k, arrival_s)

        setup = NetworkSetup(
            job=job,
            clock=clock,
            deliver=deliver,
            sending_s=_sending_s(job, wiring),
            on_rates=observer.on_rates,
            crossed_otherwise=recorder.crossed_otherwise,
        )
        slow = SlowStarts(setup, job.sharing.network) if job.starts_slowly else None
        self.network: Network = job.sharing.network(setup) if slow is None else slow.network
        entry: Network = slow or self.network
        # When the computing ends before which the last bits of messages under way cannot leave.
        early: dict[tuple[int, int], float] = {}

        def send_early(arc: int, k: int) -> None:
            early[arc, k] = silos[job.arcs[arc].source].computed_s
            entry.send(arc, k)

        if job.changes is not None:
            changeable = cast(ChangeableNetwork, self.network)
            clock.process(apply_changes(clock, changeable, job.changes, job.link_capacity_bps, len(job.arcs)))
        # A max-plus system has an exact recurrence instead.
        known = isinstance(self.network, RepeatableNetwork) and not job.is_max_plus
        if job.period is not None and job.changes is None and known:
            self._watch = RepeatWatch(
                [*(silo.state for silo in silos), cast(RepeatableNetwork, entry).state],
                lambda k: max(silo.round for silo in silos) - k,
                period=job.period,
                first=job.regular_from,
                computes=job.computes,
            )
        send = send_early if job.backward_share else entry.send
        for silo in silos:
            clock.process(silo.run(job.rounds, send, self._started))

    @property
    def steady(self) -> SteadyState | None:
        """How the job goes on, once it is known to repeat; None while the network has no state to compare."""
        return None if self._watch is None else self._watch.steady

    def _started(self, silo: int, k: int, now_s: float) -> None:
        """Note that a silo starts a round; of silo 0, look for a repeat at the end of this instant."""
        self._recorder.started(silo, k, now_s)
        if silo == 0 and self._watch is not None and self._watch.steady is None:
            event = self.clock.event()
            event.callbacks = [lambda _: self._look(k, now_s)]
            self.clock.succeed_at(event, now_s, LAST)

    def _look(self, k: int, now_s: float) -> None:
        # A silo that is near the end sends no message of a round after it. Of rounds that take no time the last counts.
        end = self._job.rounds + 1 - self._job.longest_lag
        if (
            self._watch is not None
            and self._silos[0].round == k
            and all(silo.round < end for silo in self._silos)
        ):
            self._watch.look(k, now_s)

    def advance(self) -> Block | None:
        """Simulate on until a block of rounds is complete; None after the last one."""
        recorder, clock = self._recorder, self.clock
        if recorder.complete == self._job.rounds and not recorder.is_full:
            return None
        step = clock.step
        try:
            while not recorder.is_full:
                step()
        except EmptySchedule:
            raise InputError(
                f"round {recorder.complete} never ends: its messages are on links of capacity 0."
            ) from None
        if recorder.complete == self._job.rounds:
            while clock.peek() <= clock.now:  # the last rates of this instant
                step()
        return recorder.take()


def _wiring(job: Job, recorder: Recorder) -> Wiring:
    if job.plan is None:
        return FixedWiring(job)
    return PlannedWiring(job, job.plan, lambda: recorder.complete)


def _sending_s(job: Job, wiring: Wiring) -> Callable[[int, int], float]:
    """The sending times of a wiring; an error where the arcs of the sharing model have no constant rates."""
    if job.sharing.constant_rates:
        return wiring.sending_s

    def refuse(_arc: int, _k: int, /) -> float:
        rule = "must have constant_rates=True: its network calls sending_s."
        raise InputError(rule, field=Field("sharing", value=job.sharing.name))

    return refuse


class _Columns:
    """Computing times of each silo one after the other, from chunks of rounds that all silos share."""

    __slots__ = ("_chunks", "_job")

    def __init__(self, job: Job) -> None:
        self._job = job
        self._chunks: dict[int, tuple[list[list[float]], int]] = {}

    def of(self, silo: int) -> Iterator[float]:
        """Computing times of a silo, in seconds."""
        compute, rounds = self._job.compute, self._job.rounds
        if compute.period is not None:
            return cycle(compute.rows(0, compute.period)[:, silo].tolist())
        return self._varying(silo, rounds)

    def _varying(self, silo: int, rounds: int) -> Iterator[float]:
        for first in range(0, rounds, _CHUNK_ROUNDS):
            chunk, users = self._chunks.get(first) or (self._chunk(first, rounds), self._job.silos)
            if users > 1:
                self._chunks[first] = (chunk, users - 1)
            else:
                self._chunks.pop(first, None)
            yield from chunk[silo]

    def _chunk(self, first: int, rounds: int) -> list[list[float]]:
        """One list per silo."""
        columns: list[list[float]] = check_rows(
            self._job.compute, first, min(_CHUNK_ROUNDS, rounds - first)
        ).T.tolist()
        return columns
