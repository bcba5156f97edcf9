"""The rounds, and the time, over which a simulated cycle time is a mean; notes on them."""

from collections.abc import Mapping, Sequence

from scenarios.config.events.window import Window
from scenarios.config.quantities import format_long
from scenarios.simulation.runner import Outcome
from simulator.statistics.confidence import interval_rounds
from simulator.world.counted_silos import Starts


def estimate_window(outcome: Outcome) -> Window | None:
    """The rounds that an estimated cycle time is the mean over; None where it is exact.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    Window or None

    Notes
    -----
    See `confidence.estimated_cycle_time`. Rounds that start after a silo has ended the job do not count.
    """
    return None if outcome.estimate is None else Window.of(outcome.estimate.counted)


def paired_window(starts: Starts, others: Starts) -> Window | None:
    """The rounds that `simulator.statistics.confidence.paired_difference` is the mean over: of those that both have.

    Parameters
    ----------
    starts, others : Starts
        Of two overlays. The window's dates are of the first.
    """
    counted = interval_rounds([starts, others], silos=starts.presence.silos)
    return None if counted is None else Window.of(counted[0])


def means_note(windows: Mapping[str, Window | None]) -> list[str]:
    """One sentence that says over which rounds, and what time, the estimates of some overlays are means."""
    known = [
        f"{kind}, {window} ({format_long(window.from_s)} to {format_long(window.until_s)})"
        for kind, window in windows.items()
        if window is not None
    ]
    means = [f"Without a period, a cycle time is a mean: {'; '.join(known)}."] if known else []
    return [*means, *few_rounds_note(windows), *presence_note(windows)]


def few_rounds_note(windows: Mapping[str, Window | None]) -> list[str]:
    """Which overlays have too few rounds for their periods, or for their lags."""
    known = {kind: window for kind, window in windows.items() if window is not None}
    parts = [
        f"{kind}, {window.lacked_period:,} rounds a period"
        for kind, window in known.items()
        if window.lacked_period is not None
    ]
    unawaited = [
        f"{kind}, from round {window.waits_from:,} on"
        for kind, window in known.items()
        if window.waits_from is not None
    ]
    return [
        *(
            [
                "Fewer rounds than two periods, so that the mean is of a part of one, or of the first: "
                f"{'; '.join(parts)}."
            ]
            if parts
            else []
        ),
        *(
            [
                "Messages of the longest lag are awaited only after these rounds, whose mean is no cycle time of a "
                f"long job: {'; '.join(unawaited)}."
            ]
            if unawaited
            else []
        ),
    ]


def presence_note(windows: Mapping[str, Window | None]) -> list[str]:
    """Which silos are counted where some are absent, and overlays without a silo that is always present."""
    there = [
        f"{kind}, {window.throughout} silo{'' if window.throughout == 1 else 's'}"
        for kind, window in windows.items()
        if window is not None and window.throughout is not None
    ]
    cut = [
        f"{kind}, rounds {window.asked[0]:,} to {window.asked[1]:,}, of which the longest part counts in which one is"
        for kind, window in windows.items()
        if window is not None and window.asked is not None
    ]
    return [
        *(
            [
                f"Where silos are away, the last start counts of those that are there throughout: {'; '.join(there)}."
            ]
            if there
            else []
        ),
        *([f"No silo is there throughout: {'; '.join(cut)}."] if cut else []),
    ]


def disturbed_note(kinds: Sequence[str]) -> list[str]:
    """One sentence on the overlays of whose rounds too few start before a silo has ended the job.

    See Also
    --------
    simulator.statistics.steady_state.counted_rows : why all rounds count then.
    """
    if not kinds:
        return []
    return [
        f"~ {', '.join(kinds)}: most rounds start after a silo has ended the job and left its links to the others; "
        "more rounds show what a long job takes."
    ]
