"""Changes of the network at given dates, by the numbers of links, arcs and flows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from simulator.input_checks import check_not_negative


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityChange:
    """From a date on, a link direction has another capacity.

    Parameters
    ----------
    date_s : float
        Since the job's start, finite and >= 0.
    link : int
        A link direction whose capacity is finite at the start.
    capacity_bps : float
        Finite and >= 0; at 0 messages stand still.

    Raises
    ------
    InputError
        If a value is out of its range.
    """

    date_s: float
    link: int
    capacity_bps: float

    def __post_init__(self) -> None:
        check_not_negative("date_s", self.date_s)
        check_not_negative("capacity_bps", self.capacity_bps)


@dataclass(frozen=True, kw_only=True, slots=True)
class RouteChange:
    """From a date on, an arc's messages take another route, those under way as well.

    Parameters
    ----------
    date_s : float
        Since the job's start, finite and >= 0.
    arc : int
    links : tuple of int
        Link directions, each once.
    latency_s : float
        Of the new route, finite and >= 0; for all messages whose last bit has not left yet.
    usage : mapping from int to float
        As `simulator.arc.FlowArc.unequal_usage`.
    hops : int, optional
        As of a `simulator.arc.FlowArc`.

    Raises
    ------
    InputError
        If a value is out of its range.

    Notes
    -----
    A message keeps the bits that it has sent, and sends the others over the new route.
    """

    date_s: float
    arc: int
    links: tuple[int, ...]
    latency_s: float
    usage: Mapping[int, float] = field(default_factory=dict)
    hops: int | None = None

    def __post_init__(self) -> None:
        check_not_negative("date_s", self.date_s)
        check_not_negative("latency_s", self.latency_s)


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowChange:
    """At a date, a flow of background traffic starts or stops.

    Parameters
    ----------
    date_s : float
        Since the job's start, finite and >= 0.
    flow : int
        The flow's number, >= 0.
    links : tuple of int
        Link directions that it shares max-min fairly with the messages, each once.
    peak_bps : float
        Its peak rate, finite; 0: it stops.

    Raises
    ------
    InputError
        If a value is out of its range.
    """

    date_s: float
    flow: int
    links: tuple[int, ...]
    peak_bps: float

    def __post_init__(self) -> None:
        check_not_negative("date_s", self.date_s)
        check_not_negative("peak_bps", self.peak_bps)


Change = CapacityChange | RouteChange | FlowChange

Changes = Callable[[], Iterator[Change]]
"""Makes the changes in the order of their dates, the same ones each time; they may have no end."""
