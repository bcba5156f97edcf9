"""Background traffic on the links."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import isfinite

import numpy as np

from simulator.input_checks import check_at_least
from simulator.world.changes import FlowChange
from simulator.world.effects import Effects
from simulator.world.names import Names
from topologies.errors import Field, InputError

BACKGROUND_STREAM = int.from_bytes(b"background")
"""Spawn key that keeps background traffic independent of all other random numbers of the same seed."""

LEAST_PERIOD_S = 1e-4
"""Of an on/off flow, the sum of its mean times: far below a round trip, and with less a simulation would not end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantShare:
    """Background traffic that takes a constant part of a link's capacity.

    Parameters
    ----------
    share : float
        Part of the capacity, in [0, 1): the job has ``capacity * (1 - share)``.
    link : str, int or None
        See `Names.directions`; None: all core links, each in both directions; an error where there are none.

    Raises
    ------
    InputError
        If the share is out of its range.
    """

    share: float
    link: str | int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise InputError("must be >= 0 and < 1.", field=Field("share", value=self.share))

    def effects(self, names: Names, /) -> Effects:
        """See `simulator.world.effects.Event`."""
        return Effects(shares=dict.fromkeys(names.directions(self.link), self.share))


@dataclass(frozen=True, kw_only=True, slots=True)
class OnOffFlow:
    """An on/off flow of background traffic on each direction of a link.

    While it is on, it shares the link max-min fairly with the messages, as one more flow, and never takes more than
    its peak rate.

    Parameters
    ----------
    peak_bps, mean_on_s, mean_off_s : float
        Peak rate, and mean times that it is on and off, both exponential; finite and > 0.
    seed : int
        At least 0.
    link : str, int or None
        See `Names.directions`; None: all core links, each in both directions; an error where there are none.

    Raises
    ------
    InputError
        If a value is out of its range.

    Notes
    -----
    Link direction `d` draws from ``SeedSequence(seed, spawn_key=(BACKGROUND_STREAM, d))``, independently of the other
    links. It is on at the start with probability ``mean_on_s / (mean_on_s + mean_off_s)``: since exponential times have
    no memory, the flow is in its steady state from the start. Each start and stop costs about as much as a message.
    """

    peak_bps: float
    mean_on_s: float
    mean_off_s: float
    seed: int
    link: str | int | None = None

    def __post_init__(self) -> None:
        for name in ("peak_bps", "mean_on_s", "mean_off_s"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0):
                raise InputError("must be finite and > 0.", field=Field(name, value=value))
        if self.mean_on_s + self.mean_off_s < LEAST_PERIOD_S:
            raise InputError(
                f"must be >= {LEAST_PERIOD_S:g} s together with ",
                Field("mean_off_s", value=self.mean_off_s),
                ": each change is simulated.",
                field=Field("mean_on_s", value=self.mean_on_s),
            )
        check_at_least(0, "seed", self.seed)

    def effects(self, names: Names, /) -> Effects:
        """See `simulator.world.effects.Event`."""
        directions = names.directions(self.link)
        return Effects(
            flows={direction: partial(on_off_changes, self, direction) for direction in directions}
        )


def on_off_changes(flow: OnOffFlow, direction: int) -> Iterator[FlowChange]:
    """Starts and stops of a flow on one link direction, up to the end of floating point.

    Parameters
    ----------
    flow : OnOffFlow
    direction : int
        The link direction, and the number of the flow.

    Yields
    ------
    FlowChange
    """
    seeds = np.random.SeedSequence(flow.seed, spawn_key=(BACKGROUND_STREAM, direction))
    rng = np.random.default_rng(seeds)
    is_on = rng.random() * (flow.mean_on_s + flow.mean_off_s) < flow.mean_on_s
    date_s = 0.0
    if is_on:
        yield FlowChange(date_s=date_s, flow=direction, links=(direction,), peak_bps=flow.peak_bps)
    while True:
        date_s += float(rng.exponential(flow.mean_on_s if is_on else flow.mean_off_s))
        if not isfinite(date_s):
            return
        is_on = not is_on
        peak_bps = flow.peak_bps if is_on else 0.0
        yield FlowChange(date_s=date_s, flow=direction, links=(direction,), peak_bps=peak_bps)
