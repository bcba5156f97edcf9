"""The table that the slider of a run's page moves, on numbers worked out by hand; and which overlays have no curve."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from page_reader import PageReader
from pair_run import ACCESS_BPS, BITS, COMPUTE_S, CYCLE_S, pair_graph

from scenarios.pages.capacity import (
    _carried,
    _link_text,
    _need_text,
    _why_no_curve,
    capacity_curve,
    forms_of,
    row_texts,
    slider_table,
    waits_of,
)
from scenarios.pages.run_facts import (
    _built,
    _one_capacity,
    _overlay_facts,
    _start,
    capacity_steps,
    single_upgrades,
)
from scenarios.report.svg_chart import chart_x, chart_y
from topologies import Workload, build_overlay, connectivity, load_underlay
from topologies.connectivity import AccessLinks
from topologies.slow_start import with_slow_start

WORK = Workload(model_bits=BITS, compute_s=COMPUTE_S)


def entry(*, star=False, fixed=(1.0, 3.0), shared=(8.0, 2.0), sending=(0.0, 0.0), load=(0.0, 0.0)):
    """An overlay's data: `paper` is the larger of 1 + 8 / c and 3 + 2 / c."""
    return {
        "star": star,
        "fixed": list(fixed),
        "shared": list(shared),
        "sending": list(sending),
        "load": list(load),
        "busiest": ["access", "core"],
    }


@pytest.mark.parametrize(
    ("capacity", "paper_s", "share"),
    [(1.0, 9.0, 8 / 9), (2.0, 5.0, 0.8), (3.0, 11 / 3, 8 / 11), (4.0, 3.5, 1 / 7)],
)
def test_paper_is_the_longest_piece_and_its_part_on_access_links_is_that_piece_s(capacity, paper_s, share):
    data = entry()
    assert forms_of(data, capacity) == pytest.approx((paper_s, paper_s, 0.0), rel=1e-15)
    assert waits_of(data, capacity) == pytest.approx(share, rel=1e-12)


def test_serialized_is_no_shorter_than_paper_and_load_is_that_of_the_busiest():
    # At 2 bit/s paper takes 5 s; 12 bits of sending take 6 s.
    assert forms_of(entry(sending=(12.0, 0.0), load=(14.0, 1.0)), 2.0) == (5.0, 6.0, 7.0)
    assert forms_of(entry(sending=(2.0, 8.0), load=(14.0, 9.0)), 2.0) == (5.0, 8.0, 9.0)
    assert forms_of(entry(sending=(2.0, 4.0)), 2.0) == (5.0, 5.0, 0.0)


def test_a_cycle_time_of_0_has_no_part_and_no_ratio():
    nothing = entry(fixed=(0.0,), shared=(0.0,))
    assert waits_of(nothing, 1.0) == 0.0
    assert row_texts([entry(star=True), nothing], 1, 2.0) == ["0 s", "0 s", "0 s", "-", "0.0 %", "none"]


def test_a_row_has_the_times_the_ratio_to_the_star_the_part_and_the_busiest_link():
    star, ring = entry(star=True, fixed=(4.0,), shared=(12.0,)), entry(load=(4.0, 1.0))
    assert row_texts([star, ring], 1, 2.0) == ["5.000 s", "5.000 s", "2.000 s", "2.00x", "80.0 %", "access"]
    assert row_texts([star, ring], 0, 2.0)[3] == "1.00x"
    # Access links are named where both are as busy.
    assert [row_texts([ring], 0, capacity)[5] for capacity in (4.0, 5.0)] == ["access", "core"]
    # Without a STAR, or with one that has no curve, there is nothing to compare with.
    assert row_texts([ring], 0, 2.0)[3] == "-"
    bare = {"star": True}
    assert row_texts([bare, ring], 1, 2.0)[3] == "-"


def test_what_is_below_load_is_marked_and_a_ratio_to_it_too():
    star, ring = entry(star=True, fixed=(4.0,), shared=(12.0,), load=(0.0, 11.0)), entry()
    assert row_texts([star, ring], 0, 2.0)[0] == "!10.00 s"
    assert row_texts([star, ring], 1, 2.0)[::3] == ["5.000 s", "!2.00x"]
    star, ring = entry(star=True, fixed=(4.0,), shared=(12.0,), load=(0.0, 10.0)), entry(load=(0.0, 5.5))
    assert row_texts([star, ring], 0, 2.0)[0] == "10.00 s"
    assert row_texts([star, ring], 1, 2.0)[::3] == ["!5.000 s", "!2.00x"]


def test_of_many_busiest_links_three_are_named():
    facts = SimpleNamespace(graph=SimpleNamespace(link_name=lambda link: f"L{link}"))
    assert _link_text(facts, ()) == "none"
    assert _need_text(facts, ()) == ""
    assert _link_text(facts, (4,)) == "L4"
    assert _link_text(facts, (1, 2, 3, 4)) == "L1, L2, L3, L4"
    assert _link_text(facts, (1, 2, 3, 4, 5)) == "L1, L2, L3 and 2 more"
    assert _need_text(facts, (4,)) == "The busiest link, L4, needs"
    assert _need_text(facts, (1, 2)) == "The busiest links, L1, L2, need"


def overlay_facts(kind="pair", **changes):
    """An overlay of both directions of the pair, of which nothing is known but what is given."""
    given = {"models": np.zeros(6), "utilisation": np.zeros(6), "forms": None, "overlay": None, "why_not": ""}
    recorded = SimpleNamespace(consensus=np.eye(2), hub=None)
    return SimpleNamespace(**({"kind": kind, "recorded": recorded} | given | changes))


def test_links_and_silos_have_models_and_utilisation_of_both_directions():
    facts = SimpleNamespace(graph=pair_graph())
    models = np.array([1.0, 2.0, 3.0, 4.0, 5.0, np.nan])
    used = np.array([0.1, 0.2, 0.3, 1 / 3, np.nan, 0.6])
    found = _carried(facts, overlay_facts(models=models, utilisation=used))
    # Two directions of the link, two uplinks, two downlinks; an unknown number is none.
    assert found == {
        "links": {"0": [1.0, 2.0, 0.1, 0.2]},
        "silos": [[3.0, 5.0, 0.3, None], [4.0, None, 0.333333, 0.6]],
    }
    assert _carried(facts, overlay_facts())["links"] == {}
    assert list(_carried(facts, overlay_facts(models=np.array([0.0, 1, 0, 0, 0, 0])))["links"]) == ["0"]
    measured = pair_graph(bandwidth=np.array([[np.inf, 1e6], [1e6, np.inf]]))
    assert _carried(SimpleNamespace(graph=measured), overlay_facts(models=models))["links"] == {}


def test_each_link_has_its_own_two_directions():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=[0, 1])
    numbers = np.arange(len(graph.link_capacity_bps), dtype=float)
    found = _carried(SimpleNamespace(graph=graph), overlay_facts(models=numbers, utilisation=numbers / 1000))
    assert found["links"]["3"] == [6.0, 7.0, 0.006, 0.007]
    assert len(found["links"]) == len(graph.core_bps)
    up = graph.first_uplink
    assert [cells[:2] for cells in found["silos"]] == [[up, up + 2], [up + 1, up + 3]]


def hub_overlay(graph):
    return build_overlay("star", graph, WORK, [(0, 1), (1, 0)], hub=0)


def test_why_an_overlay_has_no_curve():
    drawn = overlay_facts(recorded=SimpleNamespace(consensus=None, hub=None))
    assert _why_no_curve(drawn) == "other arcs in each round: no exact curve"
    assert _why_no_curve(overlay_facts(why_not="It is periodic.")) == "It is periodic."
    plain = overlay_facts(overlay=hub_overlay(pair_graph()))
    assert _why_no_curve(plain).startswith(
        "Links are half-duplex, shared by silos or fat pipes: there is no curve"
    )
    idle = hub_overlay(with_slow_start(pair_graph(), "idle", 1e5))
    assert _why_no_curve(overlay_facts(overlay=idle)).startswith(
        "Around a hub with slow_start 'idle' rates decide"
    )


def facts_of(*overlays, **changes):
    """Facts of a run on the pair, whose capacities are 1 and 2 bit/s."""
    given = {"overlays": overlays, "capacities_bps": (1.0, 2.0), "start": 1, "graph": pair_graph()}
    return SimpleNamespace(**(given | changes))


def test_the_table_has_a_row_for_each_overlay_the_first_of_them_chosen():
    drawn = overlay_facts("x", recorded=SimpleNamespace(consensus=None, hub=None))
    facts = facts_of(overlay_facts("<a>", forms=True), drawn, overlay_facts("b", forms=True))
    page = slider_table(facts, {"overlays": [entry(star=True), {}, entry(fixed=(0.0,), shared=(1.5,))]})
    read = PageReader(page)
    texts = [said for said in read.texts if said.strip()]
    first, second = texts.index("<a>"), texts.index("b")
    assert texts[first : first + 7] == ["<a>", "5.000 s", "5.000 s", "0 s", "1.00x", "80.0 %", "none"]
    assert texts[first + 7 : second] == ["x", "other arcs in each round: no exact curve"]
    assert texts[second : second + 7] == ["b", "750.0 ms", "750.0 ms", "0 s", "6.67x", "100.0 %", "none"]
    rows = [attributes for tag, attributes in read.tags if tag == "tr" and "data-row" in attributes]
    assert [row["data-row"] for row in rows] == ["0", "1", "2"]
    assert [row.get("class") for row in rows] == ["chosen", None, None]
    cells = [attributes for tag, attributes in read.tags if tag == "td" and "colspan" not in attributes]
    assert [cell.get("data-value") for cell in cells[:6]] == ["5.0", "5.0", "0.0", None, None, None]
    assert [cell.get("class") for cell in cells[:6]] == ["number"] * 5 + [None]
    heads = [
        attributes.get("class")
        for tag, attributes in read.tags
        if tag == "th" and attributes["scope"] == "col"
    ]
    assert heads == [None, *["number"] * 5, None]
    assert '<span class="at">2 bps</span>' in page
    # A table whose first overlay has no curve has that row chosen.
    assert '<tr data-row="0" class="chosen"><th scope="row">x</th>' in slider_table(
        facts_of(drawn), {"overlays": [{}]}
    )


def test_without_any_curve_there_is_no_figure():
    assert capacity_curve(facts_of(overlay_facts())) == ""


class Curve:
    """A cycle time over the access capacity in bit/s: ``fixed + bits / capacity``."""

    capacity_bps = np.array([1.0, 1.5, 2.0])

    def __init__(self, fixed_s, bits):
        self.fixed_s, self.bits = fixed_s, bits

    def __call__(self, capacity_bps):
        return self.fixed_s + self.bits / capacity_bps


def curved(kind, fixed_s, bits, *, load_s=0.0):
    return overlay_facts(
        kind, forms=SimpleNamespace(curve=Curve(fixed_s, bits), at=lambda _: (0.0, 0.0, load_s))
    )


@pytest.fixture
def drawn(monkeypatch):
    """What the curve's chart is drawn of."""
    found = SimpleNamespace()

    def chart(name, title, said, x, y, lines, *, inside):
        vars(found).update(name=name, title=title, said=said, x=x, y=y, lines=lines, inside=inside)
        return "[chart]"

    monkeypatch.setattr("scenarios.pages.capacity.line_chart", chart)
    return found


def marks(drawn):
    """Places of the marks on the page, by the number of their overlay."""
    found = re.findall(r'data-mark="(\d)" cx="(.*?)" cy="(.*?)"', drawn.inside)
    return {int(place): (cx, cy) for place, cx, cy in found}


def test_the_curve_has_a_line_and_a_mark_for_each_overlay_with_forms(drawn):
    page = capacity_curve(facts_of(curved("a", 1.0, 8.0), overlay_facts("x"), curved("b", 2.0, 4.0)))
    assert page == (
        "<figure><figcaption>Cycle time (paper) over the capacity of all access links</figcaption>[chart]</figure>"
    )
    assert (drawn.name, drawn.title) == ("curve", "Cycle time over access capacity")
    assert drawn.said == (
        "Cycle time by the paper's closed form of a, b from 1 bps to 2 bps. "
        "The slider moves a mark on each line; the table beside it has the numbers."
    )
    first, second = drawn.lines
    assert (first.style, second.style) == ("k0", "k2")
    for line in drawn.lines:
        assert (line.x[0], line.x[-1]) == (1.0, 2.0)
        assert 1.5 in line.x
        assert (np.diff(line.x) > 0).all()
    assert first.y == pytest.approx(1 + 8 / first.x, rel=1e-15)
    assert second.y == pytest.approx(2 + 4 / second.x, rel=1e-15)
    assert (drawn.x.is_log, drawn.y.is_log, drawn.x.label) == (True, True, "access capacity")
    assert [shown for _, shown in drawn.x.ticks if "bps" not in shown] == []
    assert drawn.y.low < 4.0 < 9.0 < drawn.y.high
    # The run has 2 bit/s, where cycles take 5 and 4 s.
    across = f"{chart_x(drawn.x, np.array([2.0]))[0]:.1f}"
    assert f'id="cursor" x1="{across}" y1="12" x2="{across}"' in drawn.inside
    down = [f"{at:.1f}" for at in chart_y(drawn.y, np.array([5.0, 4.0]))]
    assert marks(drawn) == {0: (across, down[0]), 2: (across, down[1])}


def test_the_ends_of_the_axis_bound_what_is_drawn(drawn):
    # Pieces of the curve that begin beyond the ends have the cycle time of the end.
    capacity_curve(facts_of(curved("a", 1.0, 8.0), capacities_bps=(1.25, 1.75)))
    (line,) = drawn.lines
    assert line.y.max() == pytest.approx(1 + 8 / 1.25)
    assert line.y.min() == pytest.approx(1 + 8 / 1.75)


def test_where_paper_is_below_load_a_broad_line_lies_below_and_is_explained(drawn):
    page = capacity_curve(facts_of(curved("a", 1.0, 8.0), curved("b", 2.0, 4.0, load_s=4.5)))
    assert [line.style for line in drawn.lines] == ["below", "k0", "k1"]
    assert page.endswith(
        '[chart]<p class="note">Where a line lies on a broad one, paper is below load, which no network can do.</p>'
        "</figure>"
    )


def test_cycle_times_of_0_have_no_logarithm(drawn):
    capacity_curve(facts_of(curved("a", 0.0, 0.0)))
    assert (drawn.x.is_log, drawn.y.is_log) == (True, False)
    assert marks(drawn)[0][1] == f"{chart_y(drawn.y, np.array([0.0]))[0]:.1f}"
    capacity_curve(facts_of(curved("a", 0.0, 0.0), curved("b", 2.0, 4.0)))
    assert drawn.y.is_log
    assert marks(drawn)[0][1] == "0.0"


@pytest.mark.parametrize(
    ("own_bps", "low", "high"),
    [
        (None, 1e6, 1e11),
        (np.inf, 1e6, 1e11),
        (1e8, 1e6, 1e11),
        (1e7, 1e6, 1e11),
        # A decade below the run's own, and one above, at least.
        (9e6, 1e5, 1e11),
        (1e6, 1e5, 1e11),
        (1e10, 1e6, 1e11),
        (2e10, 1e6, 1e12),
    ],
)
def test_capacities_are_six_of_each_decade_and_the_run_s_own(own_bps, low, high):
    decades = range(round(np.log10(low)), round(np.log10(high)))
    round_ones = {step * 10**decade for decade in decades for step in (1, 1.5, 2, 3, 5, 7)} | {high}
    finite = own_bps is not None and np.isfinite(own_bps)
    assert capacity_steps(own_bps) == pytest.approx(
        sorted(round_ones | ({own_bps} if finite else set())), rel=1e-12
    )


@pytest.mark.parametrize(
    ("up_bps", "down_bps", "one"), [([2, 2], [2, 2], 2.0), ([2, 2], [2, 3], None), ([3, 2], [2, 2], None)]
)
def test_a_run_has_one_capacity_where_all_its_links_have(up_bps, down_bps, one):
    assert _one_capacity(SimpleNamespace(up_bps=np.array(up_bps), down_bps=np.array(down_bps))) == one


def test_the_middle_of_different_links_is_that_of_each_silo_s_slower_one():
    graph = SimpleNamespace(up_bps=np.array([1e6, 1e9, 1e9]), down_bps=np.array([1e9, 1e6, 1e8]))
    assert _start(graph, None, (1e6, 1e8, 1e9)) == 0
    unlimited = SimpleNamespace(up_bps=np.full(3, np.inf), down_bps=np.full(3, np.inf))
    assert _start(unlimited, None, (1e6, 1e8, 1e9)) == 2


HALVES = np.full((2, 2), 0.5)


def recorded_pair(*, states=None, consensus=HALVES, paper_s=CYCLE_S, arcs=((0, 1, 1), (1, 0, 1)), rounds=0):
    """An overlay of a file, both directions of the pair."""
    return SimpleNamespace(
        kind="pair",
        states=states,
        consensus=consensus,
        negative_weights=False,
        hub=None,
        arcs=np.array(arcs),
        closed_forms=SimpleNamespace(paper_s=paper_s),
        computes=(True,),
        simulation=SimpleNamespace(rounds=rounds),
    )


RECORD = SimpleNamespace(work=WORK)


@pytest.mark.parametrize("apart", [0.0, 5e-10, -5e-10])
def test_an_overlay_is_built_where_its_cycle_time_is_that_of_the_file(apart):
    overlay, why_not = _built(RECORD, recorded_pair(paper_s=CYCLE_S * (1 + apart)), pair_graph())
    assert overlay.closed_forms.paper_s == pytest.approx(CYCLE_S, rel=1e-12)
    assert why_not == ""


@pytest.mark.parametrize(
    ("apart", "said"), [(2e-9, "-2.0e-09"), (-2e-9, "+2.0e-09"), (1.0, "-5.0e-01"), (-0.5, "+1.0e+00")]
)
def test_of_an_overlay_that_was_another_one_nothing_is_derived(apart, said):
    overlay, why_not = _built(RECORD, recorded_pair(paper_s=CYCLE_S * (1 + apart)), pair_graph())
    assert overlay is None
    assert why_not.startswith("The file says ")
    assert f"this version of silosim 24.85 ms ({said} of that): nothing is derived" in why_not


def test_of_an_overlay_whose_rounds_took_no_time_nothing_is_derived_either():
    overlay, why_not = _built(RECORD, recorded_pair(paper_s=0.0), pair_graph())
    assert overlay is None
    assert "this version of silosim 24.85 ms: nothing is derived" in why_not


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"states": ()}, "It is periodic, so that its arcs change"),
        ({"consensus": None}, "It draws its arcs anew in each round"),
        ({"arcs": ((0, 1, 1),)}, "It cannot be built from the file: "),
    ],
)
def test_why_an_overlay_is_not_built(changes, said):
    overlay, why_not = _built(RECORD, recorded_pair(**changes), pair_graph())
    assert overlay is None
    assert why_not.startswith(said)


def facts_of_pair(usage=None, *, record=RECORD, graph=None, **changes):
    return _overlay_facts(record, recorded_pair(**changes), graph or pair_graph(), (1e6, 1e9), usage)


def test_links_carry_what_the_simulation_says_or_else_the_arcs():
    # Ten rounds of one model of each direction, that is ten models; the second direction carried half of that.
    bits = np.array([10.0, 5.0, 10.0, 10.0, 10.0, 10.0]) * BITS
    mean_bps, used = np.full(6, 7.0), np.full(6, 0.25)
    found = facts_of_pair((bits, mean_bps, used), rounds=10)
    assert found.models.tolist() == [1.0, 0.5, 1.0, 1.0, 1.0, 1.0]
    assert found.mean_bps is mean_bps
    assert found.utilisation is used
    unsimulated = facts_of_pair()
    assert unsimulated.models.tolist() == [1.0] * 6
    assert np.isnan(unsimulated.mean_bps).all()
    assert np.isnan(unsimulated.utilisation).all()
    drawn = facts_of_pair(consensus=None)
    assert np.isnan(drawn.models).all()
    assert (drawn.explanation, drawn.circuit, drawn.upgrades, drawn.forms) == ((), None, (), None)
    assert drawn.why_not.startswith("It draws its arcs anew")
    nothing = facts_of_pair(
        (bits, mean_bps, used), record=SimpleNamespace(work=replace(WORK, model_bits=0.0)), rounds=10
    )
    assert np.isnan(nothing.models).all()


def test_a_small_overlay_is_explained_and_a_large_one_is_not(monkeypatch):
    # Uplinks alone limit it: each of them helps.
    graph = replace(pair_graph(), down_bps=np.full(2, 1e9))
    found = facts_of_pair(graph=graph)
    assert found.forms.at(ACCESS_BPS)[0] == pytest.approx(CYCLE_S, rel=1e-12)
    assert found.why_not == ""
    assert found.explanation
    assert found.circuit.caption == "Critical circuit of pair"
    assert found.upgrades[0].gain_s > 0
    monkeypatch.setattr("scenarios.pages.run_facts._MOST_ARCS", 2)
    assert facts_of_pair(graph=graph).explanation == found.explanation
    monkeypatch.setattr("scenarios.pages.run_facts._MOST_ARCS", 1)
    large = facts_of_pair(graph=graph)
    assert (large.explanation, large.circuit, large.upgrades) == ((), None, ())
    assert large.why_not == "It has 2 arcs, more than 1: silosim explain says what limits it."
    assert large.forms.at(ACCESS_BPS) == found.forms.at(ACCESS_BPS)


def test_around_a_hub_with_idle_restarts_nothing_is_derived_for_other_capacities():
    plain = replace(pair_graph(), down_bps=np.full(2, 1e9))
    idle = with_slow_start(plain, "idle", 1e5)
    assert single_upgrades(hub_overlay(plain))
    assert single_upgrades(hub_overlay(idle)) == ()
    overlay = hub_overlay(idle)
    recorded = recorded_pair(consensus=overlay.consensus, paper_s=overlay.closed_forms.paper_s)
    recorded.hub = 0
    found = _overlay_facts(RECORD, recorded, idle, (1e6, 1e9), None)
    assert found.overlay is not None
    assert found.forms is None
    assert found.explanation


def test_the_best_five_upgrades_are_shown():
    graph = connectivity(
        load_underlay("gaia"),
        access=AccessLinks(up_bps=1e6 * np.arange(1, 9), down_bps=1e9),
        routers=list(range(8)),
    )
    overlay = build_overlay("ring", graph, WORK, [(i, (i + 1) % 8) for i in range(8)])
    recorded = recorded_pair(
        arcs=[(i, (i + 1) % 8, 1) for i in range(8)], paper_s=overlay.closed_forms.paper_s
    )
    recorded.consensus = overlay.consensus
    found = _overlay_facts(RECORD, recorded, graph, (1e6, 1e9), None).upgrades
    assert 0 < len(found) <= 5
    gains = [each.gain_s for each in found]
    assert gains == sorted(gains, reverse=True)
    before_s = max(overlay.closed_forms.paper_s, overlay.closed_forms.load_bound_s)
    assert [each.cycle_time_s + each.gain_s for each in found] == pytest.approx(
        [before_s] * len(found), rel=1e-12
    )
    assert found[0].name == f"{graph.labels[0]} uplink"
