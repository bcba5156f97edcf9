"""What more capacity takes off a round of a periodic overlay, against overlays built by hand on changed networks."""

import json
from dataclasses import replace

import numpy as np
import pytest

from scenarios.config.quantities import format_s
from scenarios.studies.explain_periodic import periodic_explanation_table
from scenarios.studies.periodic_gains import periodic_gains
from topologies import (
    AccessLinks,
    Workload,
    build_periodic,
    connectivity,
    design_periodic,
    load_underlay,
    state_of,
)
from topologies.slow_start import with_slow_start
from topologies.windows import with_windows

WORK = Workload.preset("inaturalist")
UNDERLAY = load_underlay("gaia")
ACCESS = {"core": np.full(11, 1e10), "access": np.linspace(0.5e8, 2e8, 11)}


def by_hand(overlay, access_bps, *, link=None, silo=None, factor=1.0):
    """Closed forms of the states with the capacity of a core link, or of a silo's uplink or downlink, multiplied."""
    capacity_bps = UNDERLAY.capacity_bps.copy()
    access = {"up_bps": access_bps.copy(), "down_bps": access_bps.copy()}
    if link is not None:
        capacity_bps[link] *= factor
    if silo is not None:
        access[silo[1]][silo[0]] *= factor
    graph = connectivity(
        replace(UNDERLAY, capacity_bps=capacity_bps), access=AccessLinks(**access), core="stated"
    )
    return build_periodic("x", graph, WORK, overlay.states).closed_forms


def changes(overlay, place):
    """Every link that may limit models by its name, with what `by_hand` calls it."""
    graph = overlay.graph
    if place == "access":
        for silo, label in enumerate(graph.labels):
            yield f"{label} uplink", {"silo": (silo, "up_bps")}
            yield f"{label} downlink", {"silo": (silo, "down_bps")}
        return
    for link, (a, b) in enumerate(UNDERLAY.ends.tolist()):
        yield f"core link {UNDERLAY.labels[a]} - {UNDERLAY.labels[b]}", {"link": link}


def value_s(forms, form):
    return {
        "paper": forms.paper_s,
        "serialized": forms.serialized_s,
        "load": max(forms.paper_s, forms.load_bound_s),
    }[form]


@pytest.mark.parametrize(
    ("kind", "place"),
    [("base", "access"), ("multigraph", "core"), ("multigraph", "access"), ("one_peer_exponential", "core")],
)
def test_gains_are_those_of_networks_built_by_hand(kind, place):
    access_bps = ACCESS[place]
    graph = connectivity(UNDERLAY, access=AccessLinks(up_bps=access_bps, down_bps=access_bps), core="stated")
    overlay = design_periodic(kind, graph, WORK)
    every = dict(changes(overlay, place))
    doubled = {name: by_hand(overlay, access_bps, factor=2.0, **what) for name, what in every.items()}
    gains = periodic_gains(overlay)

    assert gains[0].form == "paper"
    assert {gain.form for gain in gains} == {"paper"} | {
        form
        for form, longer_s in (
            ("serialized", overlay.closed_forms.serialized_s),
            ("load", overlay.closed_forms.load_bound_s),
        )
        if longer_s > overlay.closed_forms.paper_s * (1 + 1e-9)
    }
    for gain in gains:
        before_s, found = value_s(overlay.closed_forms, gain.form), gain.upgrade
        assert gain.cycle_time_s == before_s
        best_s = min(value_s(forms, gain.form) for forms in doubled.values())
        if best_s >= before_s * (1 - 1e-9):
            assert found is None or len(found.links) > 1
            continue
        (name,) = found.links
        assert found.doubled_s == pytest.approx(best_s, rel=1e-9)
        assert value_s(doubled[name], gain.form) == pytest.approx(found.doubled_s, rel=1e-12)
        as_good = {
            each for each, forms in doubled.items() if value_s(forms, gain.form) <= best_s * (1 + 1e-7)
        }
        assert set(found.as_good) | {name} == as_good
        unlimited = by_hand(overlay, access_bps, factor=1e12, **every[name])
        assert found.unlimited_s == pytest.approx(value_s(unlimited, gain.form), rel=1e-9)
        less = f"({format_s(before_s - found.doubled_s)} less), with no limit {format_s(found.unlimited_s)}"
        assert less in gain.sentence


def test_the_command_says_them(silosim):
    command = ("explain", "gaia", "--kind", "base")
    said = " ".join(silosim(*command).ok().out.split())
    gains = json.loads(silosim(*command, "--json").ok().out)["gains"]

    assert [gain["by"] for gain in gains] == ["paper", "serialized"]
    assert gains[0]["links"] == ["core link California - Dublin"]
    assert (
        "Where models of several rounds share a link, rounds may take longer than that: silosim simulate says how long."
    ) in said
    assert (
        "By paper the best upgrade of one link is core link California - Dublin: with twice the capacity a round takes "
        "2.456 s (256.4 ms less), with no limit 2.204 s (507.7 ms less). Twice the capacity gains as much on core link "
        "Dublin - Sao Paulo."
    ) in said


def test_links_that_are_needed_together_are_named_together(make_line):
    """Both ends' access links limit all models as much, so that no link helps alone."""
    overlay = make_line(compute_s=0.01)
    (gain,) = periodic_gains(overlay)

    assert len(gain.upgrade.links) > 1
    assert "no link helps alone" in gain.sentence
    assert gain.upgrade.doubled_s < gain.cycle_time_s


def test_computing_is_not_lowered_by_links(make_line):
    (gain,) = periodic_gains(make_line(compute_s=1.0, model_bits=0.0))

    assert gain.upgrade is None
    assert gain.sentence == "By paper no capacity of links lowers this."


def test_rates_of_its_own_have_no_gains(make_line):
    overlay = make_line(compute_s=0.01)
    own = build_periodic(
        "own", overlay.graph, overlay.work, overlay.states, rates=[each / 3 for each in overlay.rate_bps]
    )
    assert periodic_gains(own) == ()


def test_what_limits_each_model(make_line):
    """Access links of one capacity before a core that limits nothing."""
    overlay = make_line(compute_s=0.01)
    rows = periodic_explanation_table(overlay).rows
    assert {row["limit"] for row in rows if row["source"] != row["target"]} == {"up, down"}

    own = build_periodic(
        "own", overlay.graph, overlay.work, overlay.states, rates=[each / 3 for each in overlay.rate_bps]
    )
    assert {row["limit"] for row in periodic_explanation_table(own).rows} == {"-"}


def test_limits_are_those_of_the_degrees_of_a_state():
    # Ten models enter the first silo in state 0, and leave it in state 1.
    access_bps = np.full(11, 1e8)
    graph = connectivity(UNDERLAY, access=AccessLinks(up_bps=access_bps, down_bps=access_bps), core=1e12)
    others = np.arange(1, 11)
    first = np.zeros(10, dtype=int)
    states = [state_of(others, first, np.full(10, 0.09)), state_of(first, others, np.full(10, 0.5))]
    rows = periodic_explanation_table(build_periodic("in and out", graph, WORK, states)).rows

    assert {row["state"]: row["limit"] for row in rows} == {0: "down", 1: "up"}


@pytest.fixture
def make_line():
    """One-peer exponential graph of four silos, all of whose links have one capacity."""
    graph = connectivity(
        load_underlay("gaia"),
        access=AccessLinks(up_bps=1e8, down_bps=1e8),
        core=1e12,
        routers=range(4),
    )

    def make(*, compute_s, model_bits=1e8):
        return design_periodic(
            "one_peer_exponential", graph, Workload(model_bits=model_bits, compute_s=compute_s)
        )

    return make


@pytest.mark.parametrize(
    ("longer", "is_one"), [(0.0, False), (5e-10, False), (2e-9, True), (-2e-9, False), (0.5, True)]
)
def test_gains_are_by_forms_that_are_longer_than_by_rounding(make_line, longer, is_one):
    overlay = make_line(compute_s=0.01)
    paper_s = overlay.closed_forms.paper_s
    for form in ("serialized", "load"):
        name = {"serialized": "serialized_s", "load": "load_bound_s"}[form]
        equal = {"serialized_s": paper_s, "load_bound_s": paper_s}
        forms = replace(overlay.closed_forms, **equal | {name: paper_s * (1 + longer)})
        found = [gain.form for gain in periodic_gains(replace(overlay, closed_forms=forms))]
        assert found == ["paper", *([form] if is_one else [])]


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("compute_s", [0.01, 0.9])
def test_the_circuit_adds_up_to_paper_and_its_parts_to_its_delays(make_line, compute_s):
    overlay = make_line(compute_s=compute_s)
    table = periodic_explanation_table(overlay)
    rounds = sum(row["lag"] for row in table.rows)
    total_s = sum(row["delay_s"] for row in table.rows)

    assert total_s / rounds == pytest.approx(overlay.closed_forms.paper_s, rel=1e-9)
    for row, after in zip(table.rows, [*table.rows[1:], table.rows[0]], strict=True):
        assert row["target"] == after["source"]
        assert row["delay_s"] == pytest.approx(row["compute_s"] + row["latency_s"] + row["transmission_s"])
        assert 0 <= row["state"] < overlay.period
        if row["source"] != row["target"]:
            assert row["compute_s"] == row["lag"] * compute_s
            # One uplink of 100 Mbps for one model of 100 Mbit.
            assert row["transmission_s"] == pytest.approx(1.0)
            assert row["latency_s"] > 0
    said = words(table.caption)
    assert f"{format_s(overlay.closed_forms.paper_s)} per round (paper), 2 states, lags up to 1." in said
    assert f"Its critical circuit takes {format_s(total_s)} in {rounds} round" in said
    assert "Where models of several rounds share a link" in said
    assert words(table.notes).startswith("all in ms. state: of the round")


@pytest.mark.parametrize(("overlap", "slow_start"), [(0.5, False), (0.0, True)])
def test_parts_of_a_delay_with_overlap_or_slow_start(make_line, overlap, slow_start):
    graph = make_line(compute_s=0.01).graph
    if slow_start:
        graph = with_slow_start(with_windows(graph, 8e8), "always")
    work = Workload(model_bits=1e8, compute_s=0.4, overlap=overlap)
    pairs = np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0])
    states = [state_of(*pairs, np.full(4, 0.5), lag=np.full(4, 2))] * 2
    overlay = build_periodic("two", graph, work, states)
    rows = periodic_explanation_table(overlay).rows
    at = {label: silo for silo, label in enumerate(graph.labels)}

    # Models are two rounds old, so that each state has a circuit of its own around the four silos.
    assert len(rows) == 4
    assert len({row["state"] for row in rows}) == 1
    for row in rows:
        i, j = at[row["source"]], at[row["target"]]
        slow_s = float(overlay.slow_start_s[row["state"]][i])
        assert (row["lag"], row["compute_s"], j) == (2, 0.4, (i + 1) % 4)
        assert row["latency_s"] == graph.latency_s[i, j] + slow_s
        assert (slow_s > 0) is slow_start
        # 1 s at 100 Mbps, of which the backward pass, a part of the computing, is over when the computing ends.
        assert row["transmission_s"] == pytest.approx(1.0 - overlap * 0.4)
        assert row["delay_s"] == pytest.approx(row["compute_s"] + row["latency_s"] + row["transmission_s"])


def test_a_silo_that_computes_for_long_waits_for_itself(make_line):
    table = periodic_explanation_table(make_line(compute_s=100.0, model_bits=0.0))
    own = [row for row in table.rows if row["source"] == row["target"]]
    for row in own:
        assert (row["limit"], row["lag"], row["delay_s"], row["compute_s"]) == ("computing", 1, 100.0, 100.0)
        assert (row["latency_s"], row["transmission_s"]) == (0.0, 0.0)
    assert sum(row["delay_s"] for row in table.rows) >= 100.0 * len(table.rows)


def one_state(compute_s, model_bits=0.0, computes=(True,)):
    """A silo that only waits for itself, in some states."""
    graph = connectivity(UNDERLAY, access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=range(1))
    none = np.zeros(0, dtype=int)
    states = [replace(state_of(none, none, np.zeros(0)), computes=each) for each in computes]
    return build_periodic("alone", graph, Workload(model_bits=model_bits, compute_s=compute_s), states)


def test_one_state_is_told_in_the_singular_and_shares_no_link_among_rounds():
    table = periodic_explanation_table(one_state(0.5))
    said = words(table.caption)

    (row,) = table.rows
    assert (row["state"], row["lag"], row["delay_s"], row["limit"]) == (0, 1, 0.5, "computing")
    assert row["source"] == row["target"]
    assert "alone: 500.0 ms per round (paper), 1 state, lags up to 1." in said
    assert "Its critical circuit takes 500.0 ms in 1 round: silos cannot start" in said
    assert "Where models of several rounds" not in said
    assert "Differences of models shrink by the factor 0 per round in the long run." in said


def test_silos_that_never_agree_have_no_factor():
    """Two silos that exchange their models, again and again."""
    graph = connectivity(UNDERLAY, access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=range(2))
    swap = state_of(np.array([0, 1]), np.array([1, 0]), np.ones(2))
    overlay = build_periodic("swap", graph, Workload(model_bits=1e6, compute_s=0.5), [swap])
    said = words(periodic_explanation_table(overlay).caption)

    assert "shrink by the factor" not in said
    assert "swap: with its weights the silos never agree on one model." in said


def test_a_silo_that_does_not_compute_waits_for_nothing():
    table = periodic_explanation_table(one_state(0.0))
    (row,) = table.rows

    assert (row["limit"], row["delay_s"]) == ("-", 0.0)
    shown = {column.key: column.show for column in table.columns}
    assert (shown["delay_s"](0.0), shown["compute_s"](0.0)) == ("0", "0")


def test_rounds_of_a_circuit_are_those_in_which_silos_compute():
    overlay = one_state(0.5, computes=(True, False, False))
    table = periodic_explanation_table(overlay)
    said = words(table.caption)

    assert [row["delay_s"] for row in sorted(table.rows, key=lambda row: row["state"])] == [0.5, 0.0, 0.0]
    assert sorted(row["limit"] for row in table.rows) == ["-", "-", "computing"]
    assert "Its critical circuit takes 500.0 ms in 1 round: silos cannot start" in said
    # Right after the first sentence.
    assert "lags up to 1. Silos compute in 1 of 3 states;" in said
