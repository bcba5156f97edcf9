"""A simulation job: arcs, routes, sizes and times, all checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, lcm

from numpy.typing import ArrayLike

from simulator import feasibility
from simulator import input_checks as checks
from simulator.arc import FlowArc
from simulator.compute_times import ComputeTimes
from simulator.computing_rounds import ALL
from simulator.rounds import RoundPlan
from simulator.sharing import SharingModel, check_can_change, sharing_model
from simulator.world.changes import Changes
from simulator.world.counted_silos import Absences
from topologies.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Job:
    """A synchronous job on a network; made by `make_job`, which checks it.

    Parameters
    ----------
    arcs : tuple of FlowArc
    routes : tuple of tuple of int
        Link directions that the messages of each arc occupy.
    usage : tuple of mapping from int to float, or None
        Of each arc, `FlowArc.unequal_usage`; None where it is empty for all.
    link_capacity_bps : tuple of float
        Of each link direction; may be infinite.
    message_bits : tuple of float
        Size of a message of each arc.
    sending_s : tuple of float
        Time in which a message of each arc leaves: at its constant rate where the sharing model has constant rates,
        else with nothing else on the network.
    compute : ComputeTimes
        Of all rounds, 0 in those in which silos do not compute.
    plan : RoundPlan or None
        Which arcs are active in which round, and with which lags; None: all in every round, with lags of 1.
    rounds : int
    sharing : SharingModel
        Or its name, which is looked up.
    queueing : {"fifo", "overlap"}
    changes : Changes or None
        What changes on the network while the job runs; None: nothing.
    positive_capacities : bool
        Whether these are capacities alone, which are always > 0.
    absences : tuple of (int, int, int)
        Silos that the others go on without, as `plan` and `compute` have it: see `counted_silos.Absences`.
    computes : tuple of bool
        Whether silos compute in each state, as `compute` has it: round `k` is in state ``k mod len(computes)``. A cycle
        time is per round in which they do.
    backward_share : float
        Share of each round's computing time, at its end, in which the messages of the silo leave already: they take
        their links from its beginning on, and the last bit leaves no earlier than its end.

    Raises
    ------
    InputError
        If there is no such `sharing` or `queueing`, or they do not go with `changes`; `make_job` checks the rest.
    """

    arcs: tuple[FlowArc, ...]
    routes: tuple[tuple[int, ...], ...]
    usage: tuple[Mapping[int, float], ...] | None
    link_capacity_bps: tuple[float, ...]
    message_bits: tuple[float, ...]
    sending_s: tuple[float, ...]
    compute: ComputeTimes
    plan: RoundPlan | None
    rounds: int
    sharing: SharingModel
    queueing: str
    changes: Changes | None
    positive_capacities: bool
    absences: Absences
    computes: tuple[bool, ...]
    backward_share: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sharing", _checked_sharing(self.sharing, self.queueing, self.changes))

    def __repr__(self) -> str:
        return (
            f"Job({self.silos} silos, {len(self.arcs)} arcs, {self.rounds} rounds, sharing={self.sharing.name!r}, "
            f"queueing={self.queueing!r})"
        )

    @property
    def silos(self) -> int:
        """Number of silos."""
        return self.compute.silos

    @property
    def fifo(self) -> bool:
        """Whether an arc sends one message at a time."""
        return self.queueing == "fifo"

    @property
    def is_max_plus(self) -> bool:
        """Whether rates are constant, and arcs and computing times repeat: the job is a max-plus linear system.

        Slow start after idle times is none, at every message it is.
        """
        linear = all(not arc.slow_start_s or arc.slow_start_after_s < 0 for arc in self.arcs)
        return linear and self.sharing.constant_rates and self.period is not None

    @property
    def starts_slowly(self) -> bool:
        """Whether any message starts slowly."""
        return any(arc.slow_start_s for arc in self.arcs)

    @property
    def period(self) -> int | None:
        """After how many rounds the same arcs, lags and computing times come again; None where that is not known."""
        arcs, times = 1 if self.plan is None else self.plan.period, self.compute.period
        return None if arcs is None or times is None else lcm(arcs, times)

    @property
    def longest_lag(self) -> int:
        """The largest lag of a message that is sent, see `RoundPlan.lags`; 1 without a plan."""
        return 1 if self.plan is None else min(self.plan.longest_lag, self.rounds)

    @property
    def regular_from(self) -> int:
        """Round from which on no message is missing whose round of sending would be before round 0."""
        return 0 if self.plan is None else self.plan.longest_lag - 1


def make_job(
    arcs: Sequence[FlowArc],
    *,
    link_capacity_bps: ArrayLike,
    message_bits: ArrayLike,
    compute: ComputeTimes,
    rounds: int,
    plan: RoundPlan | None = None,
    sharing: str | SharingModel = "maxmin",
    queueing: str = "fifo",
    changes: Changes | None = None,
    positive_capacities: bool = False,
    absences: Absences = (),
    computes: Sequence[bool] = ALL,
    backward_share: float = 0.0,
) -> Job:
    """Check everything that a simulation is given.

    Parameters
    ----------
    arcs : sequence of FlowArc
    link_capacity_bps : array_like of shape (links,)
        Capacity of each link direction in bit/s, > 0; infinity is allowed.
    message_bits : float or array_like of shape (arcs,)
        Size of a message, in bits.
    compute : ComputeTimes
    rounds : int
        Number of rounds, >= 1.
    plan : RoundPlan, optional
    sharing : str or SharingModel
        ``"maxmin"``, ``"equal"``, ``"rtt_weighted"`` or another model of `simulator.sharing`.
    queueing : {"fifo", "overlap"}
    changes : Changes, optional
        What changes on the network while the job runs; the sharing model must be able to change.
    positive_capacities : bool
        See `Job`.
    absences : sequence of (int, int, int)
    computes : sequence of bool
    backward_share : float
        See `Job`.

    Returns
    -------
    Job

    Raises
    ------
    InputError
        If a value is out of its range, the computing times or the plan do not cover all rounds, the model of
        a silo never reaches another one, or time could not advance.
    """
    sharing = _checked_sharing(sharing, queueing, changes)
    rounds = checks.check_at_least(1, "rounds", rounds)
    checks.check_share("backward_share", backward_share)
    if backward_share and any(arc.slow_start_s for arc in arcs):
        raise InputError(f"backward_share(={backward_share}) must be 0 where messages start slowly.")
    capacity_bps = checks.check_capacities(link_capacity_bps)
    bits = checks.check_message_bits(message_bits, len(arcs))
    routes = checks.check_routes([arc.links for arc in arcs], len(capacity_bps))
    checks.check_silos(arcs, compute.silos)
    usage = tuple(arc.unequal_usage for arc in arcs)
    sending_s = _sending_alone_s(arcs, bits, capacity_bps, sharing)
    # The last rounds hold one in which silos compute.
    last = min(rounds, len(computes))
    compute_s = feasibility.check_rows(compute, rounds - last, last).max(axis=0)
    in_a_row = rounds if queueing == "fifo" else 1
    feasibility.check_durations(arcs, sending_s, compute_s)
    feasibility.check_dates(sending_s, in_a_row)
    feasibility.check_sum(bits, rounds)
    feasibility.check_computing(compute_s, sending_s, in_a_row)
    if plan is None:
        feasibility.check_strong(arcs, compute.silos)
    else:
        feasibility.check_plan(plan, rounds)
    return Job(
        arcs=tuple(arcs),
        routes=tuple(routes),
        usage=usage if any(usage) else None,
        link_capacity_bps=tuple(capacity_bps),
        message_bits=tuple(bits),
        sending_s=tuple(sending_s),
        compute=compute,
        plan=plan,
        rounds=rounds,
        sharing=sharing,
        queueing=queueing,
        changes=changes,
        positive_capacities=positive_capacities,
        absences=tuple(absences),
        computes=tuple(computes),
        backward_share=backward_share,
    )


def _checked_sharing(sharing: str | SharingModel, queueing: str, changes: Changes | None) -> SharingModel:
    """Accept a known sharing and queueing that go with what changes on the network; the sharing model."""
    model = sharing_model(sharing)
    checks.check_choice("queueing", queueing, checks.QUEUEINGS)
    if changes is not None:
        check_can_change(model)
    return model


def _sending_alone_s(
    arcs: Sequence[FlowArc],
    bits: Sequence[float],
    capacity_bps: Sequence[float],
    sharing: SharingModel,
) -> list[float]:
    """Time in which a message of each arc leaves, if nothing else is on the network."""
    if sharing.constant_rates:
        checks.check_rates(arcs, bits)
        rates_bps = [float(arc.rate_bps) for arc in arcs]
    else:
        rates_bps = [
            min((capacity_bps[link] / arc.unequal_usage.get(link, 1.0) for link in arc.links), default=inf)
            for arc in arcs
        ]
    return [size / rate_bps if size else 0.0 for size, rate_bps in zip(bits, rates_bps, strict=True)]
