"""Why a periodic overlay is as fast as it is: its critical circuit of silos and states."""

import itertools
from typing import Any

import numpy as np

from scenarios.config.network import describe, idle_links
from scenarios.config.quantities import digits, format_s, in_unit, time_unit
from scenarios.report.computing_states import states_text
from scenarios.report.tables import Column, Table, note_lines
from scenarios.report.window_note import window_notes
from scenarios.studies.periodic_gains import periodic_gains
from scenarios.studies.periodic_rows import mixing_notes, mixing_of
from topologies import InputError, PeriodicOverlay
from topologies.analysis.arc_limits import ArcLimits
from topologies.rounding import ROUNDING
from topologies.wrapping import wrapped

_PLACES = ("up", "down", "core", "window")


def periodic_explanation_table(overlay: PeriodicOverlay) -> Table:
    """The critical circuit of a periodic overlay arc by arc, each with its state and lag.

    Parameters
    ----------
    overlay : PeriodicOverlay

    Returns
    -------
    Table
        A row for each arc of the circuit in order, ``state`` being that of the round at whose end the model is mixed
        in. A silo that waits for its own computing is its own source and target. The caption says it in words.
    """
    rows = _rows(overlay)
    forms, graph = overlay.closed_forms, overlay.graph
    rounds = sum(int(row["lag"]) for row in rows) * sum(overlay.computes) // overlay.period
    total_s = sum(float(row["delay_s"]) for row in rows)
    states = f"{overlay.period} states" if overlay.period > 1 else "1 state"
    sentences = [
        f"{overlay.kind}: {format_s(forms.paper_s)} per round (paper), {states}, lags up to {overlay.longest_lag}.",
        f"Its critical circuit takes {format_s(total_s)} in {rounds} round{'' if rounds == 1 else 's'}: silos cannot "
        "start rounds faster than that, round after round.",
    ]
    if beyond := beyond_paper_periodic(overlay):
        sentences.append(beyond)
    if overlay.period > 1:
        sentences.append(
            "Where models of several rounds share a link, rounds may take longer than that: silosim simulate says how "
            "long."
        )
    gains = periodic_gains(overlay)
    sentences += [each.sentence for each in gains]
    if not all(overlay.computes):
        what = states_text(overlay.computes)
        sentences.insert(1, f"{what[0].upper()}{what[1:]}.")
    mixing = mixing_of(overlay)
    if mixing.gap is not None and not mixing.never_agrees:
        sentences.append(
            f"Differences of models shrink by the factor {1 - mixing.gap:.4g} per round in the long run."
        )
    sentences += [
        *mixing_notes(overlay, mixing),
        *window_notes(graph, [overlay]),
        *graph.underlay.notes,
        *idle_links(graph),
    ]
    words = [describe(graph, overlay.work), *(line for each in sentences for line in wrapped(each))]
    unit = time_unit(max(float(row["delay_s"]) for row in rows))

    def show(seconds: float) -> str:
        return digits(in_unit(seconds, unit)) if seconds else "0"

    return Table(
        caption="\n".join(words),
        columns=(
            Column(key="state", title="state"),
            Column(key="source", title="from"),
            Column(key="target", title="to"),
            Column(key="lag", title="lag"),
            Column(key="delay_s", title="delay", show=show),
            Column(key="compute_s", title="computing", show=show),
            Column(key="latency_s", title="latency", show=show),
            Column(key="transmission_s", title="sending", show=show),
            Column(key="limit", title="limit"),
        ),
        rows=rows,
        further={"gains": [each.fields for each in gains]},
        notes=note_lines(
            f"all in {unit}. state: of the round at whose end the model is mixed in. lag: rounds from the sending to "
            "that one, itself included. limit: what limits the sending, with the degrees of the state: the sender's "
            "uplink (up), the receiver's downlink (down), the way between "
            "(core) or the windows of the transfer (window); of a silo's wait for itself, computing, or nothing (-), "
            "which is also said of rates that are stated."
        ),
    )


def beyond_paper_periodic(overlay: PeriodicOverlay) -> str:
    """What models need that follow one another, and all on the busiest link; empty where `paper` is no shorter."""
    forms = overlay.closed_forms
    if max(forms.serialized_s, forms.load_bound_s) <= forms.paper_s or forms.busiest_link is None:
        return ""
    return (
        f"serialized, one model after the other on each arc, is {format_s(forms.serialized_s)}; the busiest link, "
        f"{overlay.graph.link_name(forms.busiest_link)}, needs {format_s(forms.load_bound_s)} per round."
    )


def _rows(overlay: PeriodicOverlay) -> list[dict[str, Any]]:
    """Fields of each arc of the critical circuit."""
    silos, labels = overlay.graph.silos, overlay.graph.labels
    ends = [0, *itertools.accumulate(len(state.source) for state in overlay.states)]
    limits, rows = _limits(overlay), []
    for number in overlay.proof.circuit:
        if number >= overlay.messages:
            state, silo = divmod(int(number) - overlay.messages, silos)
            compute_s = float(overlay.compute_s[silo]) if overlay.states[state].computes else 0.0
            row = {"state": state, "source": labels[silo], "target": labels[silo], "lag": 1}
            row |= {"delay_s": compute_s, "compute_s": compute_s, "latency_s": 0.0, "transmission_s": 0.0}
            rows.append(row | {"limit": "computing" if compute_s else "-"})
            continue
        state = int(np.searchsorted(ends, number, side="right")) - 1
        arc, arcs = int(number) - ends[state], overlay.states[state]
        i, j = int(arcs.source[arc]), int(arcs.target[arc])
        rows.append(
            {
                "state": state,
                "source": labels[i],
                "target": labels[j],
                "lag": int(arcs.lag[arc]),
                "delay_s": float(overlay.delay_s[state][arc]),
                "compute_s": float(overlay.computing_s[state][arc]),
                "latency_s": float(overlay.latency_s[state][arc] + overlay.slow_start_s[state][arc]),
                "transmission_s": float(
                    overlay.transmission_s[state][arc]
                    - overlay.work.backward_share * overlay.computing_s[state][arc]
                ),
                "limit": limits[number],
            }
        )
    return rows


def _limits(overlay: PeriodicOverlay) -> list[str]:
    """What limits the rate of each arc of each state; of rates that are not those of Eq. 3 nothing that is known."""
    try:
        shares_bps = ArcLimits.of(overlay).shares_bps()
    except InputError:
        return ["-"] * overlay.messages
    binds = np.isclose(shares_bps, shares_bps.min(axis=0), rtol=ROUNDING, atol=0.0)
    return [", ".join(itertools.compress(_PLACES, each)) for each in binds.T.tolist()]
