"""Simulation of an overlay on its underlay."""

from collections.abc import Sequence

from simulator.compute_times import ComputeTimes
from simulator.flows import run
from simulator.observer import Observer
from simulator.overlay_jobs import overlay_job
from simulator.sharing import SharingModel
from simulator.timeline import Timeline
from simulator.world.effects import Event
from topologies import Overlay, PeriodicOverlay, RandomOverlay, Schedule


def simulate(
    overlay: Overlay | PeriodicOverlay | RandomOverlay | Schedule,
    rounds: int = 200,
    *,
    sharing: str | SharingModel = "maxmin",
    queueing: str = "fifo",
    observer: Observer | None = None,
    compute: ComputeTimes | None = None,
    seed: int | None = None,
    engine: str = "auto",
    messages: bool = False,
    events: Sequence[Event] = (),
) -> Timeline:
    """Simulate an overlay on its underlay, round by round.

    Parameters
    ----------
    overlay : Overlay, PeriodicOverlay, RandomOverlay or Schedule
        Made by `topologies.design`, `design_random`, `build_overlay`, `build_periodic` or `make_schedule`.
    rounds : int
        Number of rounds, >= 1.
    sharing : str or SharingModel
        ``"maxmin"``, max-min fair rates over all link directions at every instant; ``"equal"``, the constant rates of
        Eq. 3, with each round's own degrees; ``"rtt_weighted"``, max-min fair with the weights of
        `simulator.rtt_weights`; or another model of `simulator.sharing`.
    queueing : {"fifo", "overlap"}
        Whether a model waits until the previous one of its arc has left, or several share the arc's route.
    observer : Observer, optional
        Is called at rounds and changes of rates.
    compute : ComputeTimes, optional
        Of the rounds in which silos compute, one after the other: all, but on a periodic overlay with states in which
        they do not. By default the workload's constant times.
    seed : int, optional
        Of the schedule of a RandomOverlay, which needs it; an error with another overlay.
    engine : {"auto", "simpy", "compiled"}
        See `simulate_flows`.
    messages : bool
        Whether to keep a record of every message.
    events : sequence of Event
        What happens on the network and to silos: `ConstantShare`, `OnOffFlow`, `CapacityTrace`, `LinkFailure`,
        `Absence`, `Pause`, or another event by its `Effects`.

    Returns
    -------
    Timeline
        When every silo started every round. Arcs and links are numbered as in an Overlay and its `graph`; the arcs
        of a PeriodicOverlay are its `numbers`, those of a Schedule all of the simulated rounds, sorted by source, then
        target. A message is of the round at whose end it is awaited, which with a lag `n` is sent ``n - 1`` rounds
        before.

    Raises
    ------
    InputError
        If a value is out of its range, time could not advance around a circuit of arcs, or a link that never comes
        back leaves an arc without a route.

    See Also
    --------
    simulate_flows : the same for arcs, routes and sizes of your own; its Notes give the model.

    Examples
    --------
    A third of every core link is busy, and Berlin's first core link fails after a minute:

    >>> from simulator import ConstantShare, LinkFailure
    >>> events = [ConstantShare(share=1 / 3), LinkFailure(link=0, from_s=60.0, until_s=90.0)]

    Notes
    -----
    Events name a link as tables do: ``"A - B"`` is both directions of a core link, ``"A -> B"`` one of them (with
    `` #2`` and so on where links are parallel), ``"A uplink"`` and ``"A downlink"`` are access links. Where the
    bandwidth is measured there are no core links, and the first two are the links of silo pairs. A number is a link
    direction in the order of `Connectivity.link_capacity_bps`, or a core link's where one is asked for. Background
    traffic, capacities and failures need a sharing model that follows changes, as ``"maxmin"`` does. Absences go with
    every model, but not with lags above 1.
    """
    job = overlay_job(
        overlay, rounds, sharing=sharing, queueing=queueing, compute=compute, seed=seed, events=events
    )
    return run(job, observer=observer, engine=engine, messages=messages)
