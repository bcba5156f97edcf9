"""Text and table rows of an explanation."""

from collections import Counter
from collections.abc import Mapping, Sequence

from topologies.analysis.explain import STREAMS, Explanation
from topologies.analysis.upgrades import AccessUpgrade, JointUpgrade, LinkUpgrade
from topologies.wrapping import NO_BREAK, listed, wrapped

SAME = 1e-6
"""Relative difference below which gains are shown as equal."""
_MOST_TIES = 2
"""Upgrades that are named where several gain as much as the best."""


def explanation_lines(explanation: Explanation) -> list[str]:
    """An explanation in words.

    Returns
    -------
    list of str
        Lines of at most 80 columns.
    """
    return [line for sentence in _sentences(explanation) for line in wrapped(sentence)]


def explanation_sentences(explanation: Explanation) -> list[str]:
    """The same where lines have any width: one or two sentences each, the circuit apart."""
    return [sentence.replace(NO_BREAK, " ") for sentence in _sentences(explanation)]


def _sentences(explanation: Explanation) -> tuple[str, ...]:
    """Sentences with spaces that no line is broken at."""
    return (
        *_circuit(explanation),
        *_parts(explanation),
        *_gains(explanation),
        *_streams(explanation),
        _upgrade(explanation),
    )


def explanation_rows(explanation: Explanation) -> list[dict[str, object]]:
    """The critical circuit as rows of a table, one for each arc.

    Returns
    -------
    list of dict
        Numbers in seconds at full precision; None where there is no value. The keys are those of `ArcExplanation`,
        and ``delay_s``.
    """
    return [
        {
            "source": arc.source,
            "target": arc.target,
            "delay_s": arc.delay_s,
            "compute_s": arc.compute_s,
            "latency_s": arc.latency_s,
            "transmission_s": arc.transmission_s,
            "binds": arc.binds,
            "resources": list(arc.resources),
            "route": list(arc.route),
            "route_shares": list(arc.route_shares),
            "gbps_gain_s": arc.gbps_gain_s,
            "latency_ms_gain_s": arc.latency_ms_gain_s,
            "compute_ms_gain_s": arc.compute_ms_gain_s,
        }
        for arc in explanation.arcs
    ]


def _circuit(explanation: Explanation) -> list[str]:
    """The bound, and the silos of the circuit."""
    arcs, tau = explanation.arcs, _time(explanation.cycle_time_s)
    head = f"{explanation.kind}: by the paper's closed form a round takes {tau}."
    if len(arcs) == 1:
        return [
            f"{head} {arcs[0].source}'s own computing bounds the throughput: no other silo holds it up more."
        ]
    delay = _time(sum(arc.delay_s for arc in arcs))
    rounds = "1 round" if explanation.tokens == 1 else f"{explanation.tokens} rounds"
    return [
        f"{head} This circuit of {len(arcs)} arcs bounds the throughput: {delay} in {rounds}.",
        " -> ".join(arc.source.replace(" ", NO_BREAK) for arc in (*arcs, arcs[0])),
    ]


def _parts(explanation: Explanation) -> list[str]:
    """What the circuit's time is made of."""
    arcs = explanation.arcs
    total = sum(arc.delay_s for arc in arcs)
    if len(arcs) == 1 or total == 0:
        return []
    shares = [
        f"computing {sum(arc.compute_s for arc in arcs) / total:.1%}",
        f"latency {sum(arc.latency_s for arc in arcs) / total:.1%}",
        f"transmission {sum(arc.transmission_s for arc in arcs) / total:.1%}",
    ]
    slow_s = sum(arc.slow_start_s for arc in arcs)
    slow = f" Of the latency, slow start is {slow_s / total:.1%}." if slow_s > 0 else ""
    counts = Counter(arc.binds for arc in arcs)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    binds = [f"{count} {'arc' if count == 1 else 'arcs'} ({what})" for what, count in ranked]
    return [
        f"Its time: {', '.join(shares)}.{slow}",
        f"The largest part of a delay: {', '.join(binds)}.",
        *_longest_sending(explanation),
    ]


def _longest_sending(explanation: Explanation) -> list[str]:
    """The route of the arc whose sending takes longest, where it has several links, with shares of split flows."""
    arc = max(explanation.arcs, key=lambda each: each.transmission_s)
    if len(arc.route) < 2:
        return []
    links = [
        name if share == 1.0 else f"{name} ({100 * share:.3g} %)"
        for name, share in zip(arc.route, arc.route_shares, strict=True)
    ]
    return [f"The longest sending, {arc.source} -> {arc.target}, goes over {listed(links)}."]


def _gains(explanation: Explanation) -> list[str]:
    """The best Gbps, millisecond of latency and millisecond of computing."""
    arcs = explanation.arcs
    sent = {k: arc.gbps_gain_s for k, arc in enumerate(arcs) if arc.transmission_s > 0}
    sentences = (
        _best(
            "1 Gbps more",
            sent,
            [listed(arc.resources) + " together" * (len(arc.resources) > 1) for arc in arcs],
            at="what limits ",
        ),
        _best(
            "1 ms less latency",
            {k: arc.latency_ms_gain_s for k, arc in enumerate(arcs)},
            [f"{arc.source} -> {arc.target}" for arc in arcs],
        ),
        _best(
            "1 ms less computing",
            {k: arc.compute_ms_gain_s for k, arc in enumerate(arcs)},
            [arc.source for arc in arcs],
            what="silo",
        ),
    )
    return [sentence for sentence in sentences if sentence]


def _streams(explanation: Explanation) -> list[str]:
    """What more streams gain where windows limit an arc."""
    if explanation.more_streams_s is None:
        return []
    gain_s = explanation.cycle_time_s - explanation.more_streams_s
    if gain_s <= SAME * explanation.cycle_time_s:
        return [f"{STREAMS} times as many streams in all transfers take nothing off a round."]
    less = f"{_time(explanation.more_streams_s)}, {_time(gain_s)} less"
    return [f"With {STREAMS} times as many streams in all transfers a round takes {less}."]


def _best(
    change: str,
    gains_s: Mapping[int, float | None],
    places: Sequence[str],
    *,
    what: str = "arc",
    at: str = "",
) -> str:
    """One sentence on the place where a change gains most; empty where it applies to none."""
    known = {place: gain for place, gain in gains_s.items() if gain is not None}
    if not known:
        return ""
    best = max(known, key=lambda place: known[place])
    if known[best] == 0:
        return f"{change} at one place takes nothing off a round: another circuit is as slow."
    if len(known) > 1 and known[best] - min(known.values()) <= SAME * known[best]:
        every = "the" if len(known) == len(places) else "these"
        one = f"any one of {every} {len(known)} {what}s"
        return f"{change} on {at}{one} takes {_time(known[best])} off a round."
    ties = sum(known[best] - gain <= SAME * known[best] for gain in known.values()) - 1
    others = f", and as much on {ties} other {what}{'' if ties == 1 else 's'}" if ties else ""
    return f"{change} gains most on {places[best]}{others}: {_time(known[best])} off a round."


def _upgrade(explanation: Explanation) -> str:
    """The best upgrade of one access link, or of two that are needed together, and which gain as much."""
    labels = explanation.labels
    if explanation.upgrades:
        best = explanation.upgrades[0]
        named = [f"{labels[upgrade.silo]}'s {upgrade.link}" for upgrade in explanation.upgrades]
        up_and_down = any(" and " in upgrade.link for upgrade in explanation.upgrades)
        what = "the access links of one silo" if up_and_down else "one access link"
        head = f"The best upgrade of {what} is {named[0]}:"
        return f"{head} {_gain(explanation, best)}.{_ties(explanation, explanation.upgrades, named)}"
    if explanation.together:
        both = explanation.together[0]
        pairs = [
            f"{labels[pair.source]}'s uplink with {labels[pair.target]}'s downlink"
            for pair in explanation.together
        ]
        return (
            f"No upgrade of one access link lowers this alone: {labels[both.source]}'s uplink and "
            f"{labels[both.target]}'s downlink limit an arc equally, and both are needed together: "
            f"{_gain(explanation, both)}.{_ties(explanation, explanation.together, pairs)}"
        )
    found = explanation.links
    if found is None and _has_links(explanation):
        pair = "an uplink and a downlink that limit an arc equally"
        return f"No upgrade of one silo's access link lowers this, nor of {pair}."
    if found is None:
        return "No upgrade of links lowers this: none limits an arc on this circuit that more capacity would speed up."
    if len(found.links) == 1:
        alone = any(
            arc.resources in ((f"{arc.source} uplink",), (f"{arc.target} downlink",))
            for arc in explanation.arcs
        )
        reason = "another circuit is as slow" if alone else "none is the only limit of an arc on this circuit"
        return (
            f"No upgrade of one silo's access link lowers this: {reason}. The best upgrade of one link is "
            f"{found.links[0]}: {_gain(explanation, found)}."
        )
    return (
        "No upgrade of one link lowers this alone, since others limit an arc as much or another circuit is as slow: "
        f"{listed(found.links)} are needed together: {_gain(explanation, found)}."
    )


def _has_links(explanation: Explanation) -> bool:
    """Whether a link, and not only windows, limits an arc of the circuit."""
    return any(
        name != f"window {arc.source} -> {arc.target}" for arc in explanation.arcs for name in arc.resources
    )


def _gain(explanation: Explanation, upgrade: AccessUpgrade | JointUpgrade | LinkUpgrade) -> str:
    """What an upgrade takes off a round, and what is left."""
    tau = explanation.cycle_time_s
    return (
        f"with twice the capacity a round takes {_time(upgrade.doubled_s)} ({_time(tau - upgrade.doubled_s)} less), "
        f"with no limit {_time(upgrade.unlimited_s)} ({_time(tau - upgrade.unlimited_s)} less)"
    )


def _ties(
    explanation: Explanation, upgrades: Sequence[AccessUpgrade | JointUpgrade], names: Sequence[str]
) -> str:
    """A further sentence on the upgrades whose doubling gains as much as that of the first; empty without."""
    gains = [explanation.cycle_time_s - upgrade.doubled_s for upgrade in upgrades]
    ties = [
        name for name, gain in zip(names[1:], gains[1:], strict=True) if gains[0] - gain <= SAME * gains[0]
    ]
    if not ties:
        return ""
    more = len(ties) - _MOST_TIES
    named = [*ties[:_MOST_TIES], f"{more} more"] if more > 0 else ties
    return f" Twice the capacity gains as much on {listed(named)}."


def _time(seconds: float) -> str:
    """A time with four significant digits."""
    if seconds >= 1:
        return (f"{seconds:.4g}" if seconds < 1e4 else f"{seconds:.0f}") + " s"
    return f"{1e3 * seconds:.4g} ms"
