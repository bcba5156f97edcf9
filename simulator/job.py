"""What is simulated, with everything checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from numpy.typing import ArrayLike

from simulator import feasibility
from simulator import input_checks as checks
from simulator.arc import FlowArc
from simulator.compute_times import ComputeTimes
from simulator.rounds import RoundPlan
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
    link_capacity_bps : tuple of float
        Of each link direction; may be infinite.
    message_bits : tuple of float
        Size of a message of each arc.
    sending_s : tuple of float
        Time that a message of each arc needs to leave: at its constant rate with ``sharing="equal"``, with
        nothing else on the network with ``sharing="maxmin"``.
    compute : ComputeTimes
    plan : RoundPlan or None
        Which arcs are active in which round; None: all in every round.
    rounds : int
    sharing : {"maxmin", "equal"}
    queueing : {"fifo", "overlap"}
    changes : Changes or None
        What changes on the network while the job runs; None: nothing.
    absences : tuple of (int, int, int)
        Silos that the others go on without, as `plan` and `compute` have it: see `counted_silos.Absences`.

    Raises
    ------
    InputError
        If no engine knows `sharing` or `queueing`, or they do not go with `changes`. The rest is checked by `make_job`.
    """

    arcs: tuple[FlowArc, ...]
    routes: tuple[tuple[int, ...], ...]
    link_capacity_bps: tuple[float, ...]
    message_bits: tuple[float, ...]
    sending_s: tuple[float, ...]
    compute: ComputeTimes
    plan: RoundPlan | None
    rounds: int
    sharing: str
    queueing: str
    changes: Changes | None
    absences: Absences = ()

    def __post_init__(self) -> None:
        """Engines take any name but one for the other one, so that a wrong one must not reach them."""
        _check_names(self.sharing, self.queueing, self.changes)

    @property
    def silos(self) -> int:
        """Number of silos."""
        return self.compute.silos

    @property
    def fifo(self) -> bool:
        """Whether an arc sends one message at a time."""
        return self.queueing == "fifo"


def make_job(
    arcs: Sequence[FlowArc],
    *,
    link_capacity_bps: ArrayLike,
    message_bits: ArrayLike,
    compute: ComputeTimes,
    rounds: int,
    plan: RoundPlan | None = None,
    sharing: str = "maxmin",
    queueing: str = "fifo",
    changes: Changes | None = None,
    absences: Absences = (),
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
    sharing : {"maxmin", "equal"}
    queueing : {"fifo", "overlap"}
    changes : Changes, optional
        What changes on the network while the job runs; only with ``sharing="maxmin"``.
    absences : sequence of (int, int, int)

    Returns
    -------
    Job

    Raises
    ------
    InputError
        If a value is out of its range, the computing times or the plan do not cover all rounds, silos cannot
        hear of each other, or time could not advance.
    """
    _check_names(sharing, queueing, changes)
    rounds = checks.check_at_least(1, "rounds", rounds)
    capacity_bps = checks.check_capacities(link_capacity_bps)
    bits = checks.check_message_bits(message_bits, len(arcs))
    routes = checks.check_routes([arc.links for arc in arcs], len(capacity_bps))
    checks.check_silos(arcs, compute.silos)
    sending_s = _sending_alone_s(arcs, routes, bits, capacity_bps, sharing)
    compute_s = feasibility.check_rows(compute, rounds - 1, 1)[0]
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
        link_capacity_bps=tuple(capacity_bps),
        message_bits=tuple(bits),
        sending_s=tuple(sending_s),
        compute=compute,
        plan=plan,
        rounds=rounds,
        sharing=sharing,
        queueing=queueing,
        changes=changes,
        absences=tuple(absences),
    )


def _check_names(sharing: str, queueing: str, changes: Changes | None) -> None:
    """Accept a sharing and a queueing that the engines know, and that go with what changes on the network."""
    checks.check_choice("sharing", sharing, checks.SHARINGS)
    checks.check_choice("queueing", queueing, checks.QUEUEINGS)
    if changes is not None and sharing == "equal":
        raise InputError(
            "sharing(='equal') must be 'maxmin' on a network that changes: constant rates know none."
        )


def _sending_alone_s(
    arcs: Sequence[FlowArc],
    routes: Sequence[Sequence[int]],
    bits: Sequence[float],
    capacity_bps: Sequence[float],
    sharing: str,
) -> list[float]:
    """Time that a message of each arc needs if nothing else is on the network."""
    if sharing == "equal":
        checks.check_rates(arcs, bits)
        rates_bps = [float(arc.rate_bps) for arc in arcs]
    else:
        rates_bps = [min((capacity_bps[link] for link in route), default=inf) for route in routes]
    return [size / rate_bps if size else 0.0 for size, rate_bps in zip(bits, rates_bps, strict=True)]
