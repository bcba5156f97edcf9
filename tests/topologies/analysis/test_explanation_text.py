"""Words of an explanation, sentence by sentence: counts, shares, ties and units of explanations made by hand."""

from dataclasses import replace

import pytest

from topologies.analysis import AccessUpgrade, JointUpgrade, LinkUpgrade
from topologies.analysis.explain import ArcExplanation, Explanation
from topologies.analysis.explanation_text import explanation_lines, explanation_rows, explanation_sentences

ARC = ArcExplanation(
    source="A",
    target="B",
    compute_s=0.1,
    latency_s=0.2,
    transmission_s=0.7,
    slow_start_s=0.0,
    binds="uplink",
    resources=("A uplink",),
    route=(),
    route_shares=(),
    gbps_gain_s=0.25,
    latency_ms_gain_s=0.0005,
    compute_ms_gain_s=0.0005,
)
BACK = replace(ARC, source="B", target="A", resources=("B uplink",))
PAIR = Explanation(
    kind="pair",
    cycle_time_s=1.0,
    labels=("A", "B", "C", "D"),
    tokens=2,
    more_streams_s=None,
    arcs=(ARC, BACK),
    upgrades=(),
    together=(),
    links=None,
)


def said(explanation: Explanation) -> str:
    return " ".join(explanation_sentences(explanation))


def test_one_round_is_not_called_rounds():
    assert said(replace(PAIR, tokens=1)).startswith(
        "pair: by the paper's closed form a round takes 1 s. This circuit of 2 arcs bounds the throughput: 2 s in 1 "
        "round. A -> B -> A Its time: "
    )
    assert ": 2 s in 2 rounds. A" in said(PAIR)


def test_parts_are_shares_of_the_circuits_time():
    slower = replace(BACK, compute_s=0.3, latency_s=0.4, transmission_s=0.3, binds="latency")
    # 0.4, 0.6 and 1.0 s of 2 s.
    parts = "Its time: computing 20.0%, latency 30.0%, transmission 50.0%."

    assert f"{parts} The largest part of a delay: 1 arc (latency), 1 arc (uplink). " in said(
        replace(PAIR, arcs=(ARC, slower))
    )
    # 0.1 s of 2 s.
    opening = replace(PAIR, arcs=(replace(ARC, slow_start_s=0.1), slower))
    assert f"{parts} Of the latency, slow start is 5.0%. The largest" in said(opening)


def test_what_most_arcs_wait_for_comes_first_and_equal_counts_by_name():
    arcs = [replace(ARC, binds=binds) for binds in ("window", "uplink", "compute", "window")]

    assert "delay: 2 arcs (window), 1 arc (compute), 1 arc (uplink)." in said(
        replace(PAIR, arcs=tuple(arcs), tokens=4)
    )


def test_a_circuit_without_any_time_has_no_parts():
    nothing = replace(
        ARC, compute_s=0.0, latency_s=0.0, transmission_s=0.0, gbps_gain_s=None, latency_ms_gain_s=None
    )
    nothing = replace(nothing, compute_ms_gain_s=None, resources=())
    text = said(replace(PAIR, cycle_time_s=0.0, arcs=(nothing, nothing)))

    assert "Its time" not in text
    assert "largest part" not in text
    assert "a round takes 0 ms" in text


@pytest.mark.parametrize(
    ("route", "shares", "links"),
    [
        (("P -> Q",), (1.0,), ""),
        (("P -> Q", "Q -> R"), (1.0, 1.0), "P -> Q and Q -> R"),
        (
            ("P -> Q", "P -> S", "S -> R"),
            (0.25, 0.75, 1.0),
            "P -> Q (25 %), P -> S (75 %) and S -> R",
        ),
        (("P -> Q", "P -> R"), (1 / 3, 2 / 3), "P -> Q (33.3 %) and P -> R (66.7 %)"),
    ],
)
def test_the_longest_sending_names_its_route_of_several_links(route, shares, links):
    longest = replace(BACK, transmission_s=0.8, route=route, route_shares=shares)
    shorter = replace(ARC, route=("K -> L", "L -> M"), route_shares=(1.0, 1.0))
    sentence = f"The longest sending, B -> A, goes over {links}."

    text = said(replace(PAIR, arcs=(shorter, longest)))
    assert (sentence in text) == bool(links)
    assert "K -> L" not in text


def test_a_gain_is_of_the_best_place_and_says_where_others_gain_as_much():
    others = [
        replace(ARC, source=name, gbps_gain_s=gain) for name, gain in zip("CDE", (0.1, 0.3, 0.3), strict=True)
    ]

    assert "1 Gbps more gains most on A uplink: 250 ms off a round." in said(
        replace(PAIR, arcs=(ARC, others[0]))
    )
    assert "1 Gbps more gains most on A uplink, and as much on 1 other arc: 300 ms" in said(
        replace(PAIR, arcs=(ARC, *others))
    )
    assert "gains most on A uplink, and as much on 2 other arcs: 300 ms" in said(
        replace(PAIR, arcs=(ARC, others[1], others[2], replace(BACK, gbps_gain_s=0.3)))
    )


def test_gains_differ_from_a_millionth_on():
    def gains(other_s: float) -> str:
        arcs = (replace(ARC, gbps_gain_s=1.0), replace(BACK, gbps_gain_s=other_s))
        return said(replace(PAIR, cycle_time_s=10.0, arcs=arcs))

    equal = "1 Gbps more on what limits any one of the 2 arcs takes 1 s off a round."
    assert equal in gains(1 - 0.9e-6)
    assert "1 Gbps more gains most on A uplink: 1 s off a round." in gains(1 - 1.1e-6)


def test_equal_gains_on_some_arcs_only_are_of_these():
    unknown = replace(BACK, gbps_gain_s=None)
    two = replace(PAIR, arcs=(ARC, BACK, unknown))

    assert "1 Gbps more on what limits any one of these 2 arcs takes 250 ms off a round." in said(two)
    assert "any one of the 2 arcs takes 250 ms" in said(PAIR)
    # One alone is named.
    assert "1 Gbps more gains most on A uplink: 250 ms off a round." in said(
        replace(PAIR, arcs=(ARC, unknown))
    )
    assert "Gbps" not in said(replace(PAIR, arcs=(unknown, unknown)))


def test_arcs_that_send_nothing_gain_nothing_by_gbps():
    nothing = replace(ARC, transmission_s=0.0)

    assert "Gbps" not in said(replace(PAIR, arcs=(nothing, nothing)))
    assert "1 Gbps more gains most on B uplink: 250 ms" in said(replace(PAIR, arcs=(nothing, BACK)))


def test_several_resources_of_an_arc_are_raised_together():
    both = replace(ARC, resources=("A uplink", "B downlink"), gbps_gain_s=0.3)

    assert "gains most on A uplink and B downlink together: 300 ms" in said(replace(PAIR, arcs=(both, BACK)))
    assert "gains most on B uplink: 250 ms" in said(
        replace(PAIR, arcs=(replace(both, gbps_gain_s=0.1), BACK))
    )


def test_gains_of_latency_name_arcs_and_of_computing_silos():
    better = replace(BACK, latency_ms_gain_s=0.001, compute_ms_gain_s=0.002)
    text = said(replace(PAIR, arcs=(ARC, better)))

    assert "1 ms less latency gains most on B -> A: 1 ms off a round." in text
    assert "1 ms less computing gains most on B: 2 ms off a round." in text
    same = said(PAIR)
    assert "1 ms less latency on any one of the 2 arcs takes 0.5 ms off a round." in same
    assert "1 ms less computing on any one of the 2 silos takes 0.5 ms off a round." in same


@pytest.mark.parametrize(
    ("more_streams_s", "sentence"),
    [
        (7.5, "With 4 times as many streams in all transfers a round takes 7.5 s, 2.5 s less."),
        (
            10 - 1.5e-5,
            "With 4 times as many streams in all transfers a round takes 10 s, 0.015 ms less.",
        ),
        (10 - 0.9e-5, "4 times as many streams in all transfers take nothing off a round."),
    ],
)
def test_what_more_streams_gain_from_a_millionth_of_a_round_on(more_streams_s, sentence):
    assert sentence in said(replace(PAIR, cycle_time_s=10.0, more_streams_s=more_streams_s))


def test_the_best_upgrade_is_of_one_access_link_unless_both_directions_help():
    up = AccessUpgrade(silo=1, link="uplink", doubled_s=0.75, unlimited_s=0.5)
    down = replace(up, silo=2, link="downlink", doubled_s=0.8)
    both = replace(up, silo=3, link="uplink and downlink", doubled_s=0.7)
    gain = "with twice the capacity a round takes 750 ms (250 ms less), with no limit 500 ms (500 ms less)."

    assert said(replace(PAIR, upgrades=(up, down))).endswith(
        f"The best upgrade of one access link is B's uplink: {gain}"
    )
    assert "The best upgrade of the access links of one silo is D's uplink and downlink: with" in said(
        replace(PAIR, upgrades=(both, up))
    )
    assert "The best upgrade of the access links of one silo is B's uplink: with" in said(
        replace(PAIR, upgrades=(up, both))
    )


def test_upgrades_that_gain_as_much_follow_up_to_a_millionth():
    up = AccessUpgrade(silo=0, link="uplink", doubled_s=0.5, unlimited_s=0.25)
    near, far = (replace(up, silo=1, doubled_s=0.5 + difference * 0.5) for difference in (0.9e-6, 1.1e-6))

    assert said(replace(PAIR, upgrades=(up, near))).endswith(
        "(750 ms less). Twice the capacity gains as much on B's uplink."
    )
    assert said(replace(PAIR, upgrades=(up, far))).endswith("(750 ms less).")


def test_pairs_of_links_that_are_needed_together():
    pair = JointUpgrade(source=2, target=3, doubled_s=0.75, unlimited_s=0.5)
    more = [replace(pair, source=source, target=0) for source in (1, 2, 3)]
    head = (
        "No upgrade of one access link lowers this alone: C's uplink and D's downlink limit an arc equally, and both "
        "are needed together: with twice the capacity a round takes 750 ms (250 ms less), with no limit 500 ms (500 "
        "ms less)."
    )

    assert said(replace(PAIR, together=(pair,))).endswith(head)
    assert said(replace(PAIR, together=(pair, *more[:2]))).endswith(
        f"{head} Twice the capacity gains as much on B's uplink with A's downlink and C's uplink with A's downlink."
    )
    assert said(replace(PAIR, together=(pair, *more))).endswith(
        "on B's uplink with A's downlink, C's uplink with A's downlink and 1 more."
    )


def test_without_an_upgrade_it_says_what_limits():
    def limited(*names: str) -> Explanation:
        return replace(PAIR, arcs=(replace(ARC, resources=names), replace(BACK, resources=names)))

    none = "No upgrade of links lowers this: none limits an arc on this circuit that more capacity would speed up."
    pair = "an uplink and a downlink that limit an arc equally"
    access = f"No upgrade of one silo's access link lowers this, nor of {pair}."
    assert said(limited()).endswith(none)
    assert said(replace(PAIR, arcs=(replace(ARC, resources=("window A -> B",)),) * 2)).endswith(none)
    # A window of another pair's is no window of this arc.
    assert said(limited("window A -> B")).endswith(access)
    assert said(limited("A uplink")).endswith(access)
    assert said(limited("window A -> B", "A uplink")).endswith(access)


@pytest.mark.parametrize(
    ("resources", "reason"),
    [
        (("A uplink",), "another circuit is as slow"),
        (("B downlink",), "another circuit is as slow"),
        (("A uplink", "B downlink"), "none is the only limit of an arc on this circuit"),
        (("A downlink",), "none is the only limit of an arc on this circuit"),
        (("core link A -> B",), "none is the only limit of an arc on this circuit"),
    ],
)
def test_why_no_access_link_helps_where_another_link_does(resources, reason):
    link = LinkUpgrade(links=("core link A - B",), doubled_s=0.75, unlimited_s=0.5)
    arcs = (replace(ARC, resources=resources), replace(BACK, resources=("core link B -> A",)))

    assert said(replace(PAIR, arcs=arcs, links=link)).endswith(
        f"No upgrade of one silo's access link lowers this: {reason}. The best upgrade of one link is core link A - B: "
        "with twice the capacity a round takes 750 ms (250 ms less), with no limit 500 ms (500 ms less)."
    )


def test_links_of_all_classes_that_are_needed_together():
    links = LinkUpgrade(links=("A uplink", "core link A - B"), doubled_s=0.75, unlimited_s=0.5)

    assert said(replace(PAIR, links=links)).endswith(
        "No upgrade of one link lowers this alone, since others limit an arc as much or another circuit is as slow: A "
        "uplink and core link A - B are needed together: with twice the capacity a round takes 750 ms (250 ms less), "
        "with no limit 500 ms (500 ms less)."
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ms"),
        (0.00012345, "0.1234 ms"),
        (0.99994, "999.9 ms"),
        (1.0, "1 s"),
        (1.00049, "1 s"),
        (12.345678, "12.35 s"),
        (9999.4, "9999 s"),
        (10000.0, "10000 s"),
        (123456.7, "123457 s"),
    ],
)
def test_times_have_four_digits_and_no_exponent(seconds, text):
    assert f"a round takes {text}. This" in said(replace(PAIR, cycle_time_s=seconds))


def test_rows_hold_all_numbers_of_each_arc():
    row, _ = explanation_rows(replace(PAIR, arcs=(replace(ARC, route=("P",), route_shares=(0.5,)), BACK)))

    assert row == {
        "source": "A",
        "target": "B",
        "delay_s": pytest.approx(1.0),
        "compute_s": 0.1,
        "latency_s": 0.2,
        "transmission_s": 0.7,
        "binds": "uplink",
        "resources": ["A uplink"],
        "route": ["P"],
        "route_shares": [0.5],
        "gbps_gain_s": 0.25,
        "latency_ms_gain_s": 0.0005,
        "compute_ms_gain_s": 0.0005,
    }


def test_labels_with_spaces_stay_on_one_line():
    names = replace(ARC, source="New York", target="B"), replace(BACK, target="New York")
    explanation = replace(PAIR, arcs=names * 6)

    assert "New York -> B -> New York" in said(explanation)
    assert all(not line.endswith("New") for line in explanation_lines(explanation))
