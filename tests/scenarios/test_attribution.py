"""The parts of a gap add up to it, and name the link that causes it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.simulation.cycle_time import simulated_cycle_time
from scenarios.validation.attribution import attribute, circuit_sources
from scenarios.validation.circuit_table import MOST_ARCS, circuit_table
from scenarios.validation.randomized import RandomizedAttribution
from simulator import Constant, simulate
from topologies import AccessLinks, Workload, connectivity, design, load_underlay
from topologies.slow_start import slow_start_s, with_slow_start

pytestmark = pytest.mark.usefixtures("compiled_simulations")


def _attributed(network, variant, kind, *, access_bps=1e10, slow=None, rounds=400):
    underlay = load_underlay(network, variant=variant)
    access = np.full(underlay.routers, access_bps)
    for label, bps in (slow or {}).items():
        access[underlay.labels.index(label)] = bps
    graph = connectivity(underlay, access=AccessLinks(up_bps=access, down_bps=access))
    overlay = design(kind, graph, Workload.preset("inaturalist", local_steps=1, variant=variant))
    timeline = simulate(overlay, rounds, messages=True)
    simulated = simulated_cycle_time(timeline, circuit_sources(overlay))
    compute = Constant(compute_s=overlay.compute_s)
    return overlay, simulated, attribute(overlay, timeline, compute, simulated, fifo=True)


@pytest.mark.parametrize("kind", ["star", "mst", "delta_mbst", "ring"])
@pytest.mark.parametrize("variant", ["published", "corrected"])
@pytest.mark.parametrize("network", ["gaia", "geant", "ebone"])
@pytest.mark.parametrize("access_bps", [1e8, 1e10])
def test_the_parts_add_up_to_both_cycle_times(network, variant, kind, access_bps):
    overlay, simulated, found = _attributed(network, variant, kind, access_bps=access_bps)

    assert found.paper_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-12)
    assert found.simulated_s == pytest.approx(simulated.cycle_time_s, rel=1e-9)
    assert sum(found.parts_s().values()) == pytest.approx(
        simulated.cycle_time_s - overlay.closed_forms.paper_s, abs=1e-9 * simulated.cycle_time_s
    )


@pytest.mark.parametrize(("network", "variant"), [("geant", "corrected"), ("ebone", "published")])
def test_arcs_that_are_shown_together_keep_their_sum(network, variant):
    overlay, simulated, found = _attributed(network, variant, "ring", rounds=200)
    table = circuit_table(SimpleNamespace(attribution=found, overlay=overlay))
    *rows, total = table.rows

    assert len(rows) == MOST_ARCS + 1
    assert rows[-1]["arc"] == f"{len(found.arcs) - MOST_ARCS} others"
    for term in ("eq3_s", "queue_s", "rate_s", "wait_s"):
        whole = sum(row[term] for row in rows)
        assert whole == pytest.approx(total[term] * found.tokens, abs=1e-9 * simulated.cycle_time_s)
        assert whole == pytest.approx(
            sum(getattr(arc, term) for arc in found.arcs), abs=1e-9 * simulated.cycle_time_s
        )


def test_a_slow_access_link_serializes():
    _, simulated, found = _attributed("geant", "published", "christofides", slow={"DE": 1e7})
    worst = max(found.arcs, key=lambda arc: arc.queue_s)

    assert simulated.cycle_time_s == pytest.approx(4.4961717, rel=1e-9)
    assert worst.target == "DE"
    assert worst.cause.explanation.startswith("serialization: one model takes 4.496 s on DE's downlink")
    assert worst.eq3_in_flight > 13 > 1.1 > worst.in_flight


def test_a_star_shares_a_core_link():
    _, simulated, found = _attributed("geant", "published", "star")

    assert simulated.cycle_time_s == pytest.approx(2.2292354146664297, rel=1e-9)
    assert (
        "shared core link NL -> DE: 24 arcs"
        in found.arcs[0].cause.explanation + found.arcs[1].cause.explanation
    )
    assert found.parts_s()["shared links"] > 1.5


def test_gaias_ring_queues_on_its_slow_core_link():
    overlay, simulated, found = _attributed("gaia", "corrected", "ring")

    assert simulated.cycle_time_s == pytest.approx(overlay.closed_forms.load_bound_s, rel=1e-9)
    assert any("core link Sydney -> Sao Paulo" in arc.cause.explanation for arc in found.arcs)


def test_unused_shares_make_geants_ring_faster_than_the_paper():
    overlay, simulated, found = _attributed("geant", "published", "ring")

    assert simulated.cycle_time_s < overlay.closed_forms.paper_s
    assert found.parts_s()["unused shares"] == pytest.approx(
        simulated.cycle_time_s - overlay.closed_forms.paper_s
    )


def test_models_that_wait_for_a_randomly_slow_silo(silosim, tmp_path):
    # Sides of about 1000 km: a round takes 30.5 ms by the paper, of which 8 ms send the model.
    places = ("A", 48.0, 2.0), ("B", 48.0, 15.4), ("C", 56.0, 9.0)
    nodes = (f'node [ id {n} label "{p[0]}" Latitude {p[1]} Longitude {p[2]} ]' for n, p in enumerate(places))
    edges = (f"edge [ source {a} target {b} ]" for a, b in ((0, 1), (1, 2), (0, 2)))
    (tmp_path / "net.gml").write_text("\n".join(("graph [", *nodes, *edges, "]")))
    options = ("--access", "1 Gbps", "--model-size", "1 MB", "--compute", "10 ms", "--kind", "ring")
    random = ("--rounds", 200, "--compute-times", "lognormal 0.3")
    result = json.loads(silosim("validate", tmp_path / "net.gml", *options, *random, "--json").ok().out)

    assert result["rows"][0]["paper_s"] == pytest.approx(0.0305, abs=1e-4)
    assert result["rows"][0]["why"].startswith("waits for other arcs +")
    # In a ring a silo has one arc to wait for, so that an arc's own wait is for the silo's computing.
    for arc in result["arcs"]:
        assert (arc["assumption"], arc["place"]) == ("wait", arc["target"])
        assert arc["cause"].endswith("more for its own computing")


def test_a_link_that_is_never_busy_is_not_named():
    times = dict.fromkeys(("paper_s", "max_plus_s", "serial_s", "random_s", "shared_s", "simulated_s"), 1.0)
    explained = RandomizedAttribution(**times, link="DE uplink", busy=0.876).explanation()
    assert explained == "busiest is DE uplink, where models take 88 % of the capacity"
    assert RandomizedAttribution(**times, link="", busy=0.0).explanation() == "no link is ever busy"


def test_what_shared_links_add_is_no_gain_and_the_reverse():
    def parts(random_s, shared_s):
        return RandomizedAttribution(
            paper_s=1.0,
            max_plus_s=0.75,
            serial_s=1.25,
            random_s=random_s,
            shared_s=shared_s,
            simulated_s=5.0,
            link="",
            busy=0.0,
        ).parts_s()

    slower = parts(1.5, 3.5)
    assert slower == {
        "no barrier": -0.25,
        "serialization": 0.5,
        "computing times": 0.25,
        "shared links": 2.0,
        "unused shares": 0.0,
        "world": 1.5,
    }
    faster = parts(3.5, 1.5)
    assert (faster["shared links"], faster["unused shares"], faster["world"]) == (0.0, -2.0, 3.5)
    assert sum(slower.values()) == sum(faster.values()) == 5.0 - 1.0


def _attributed_slowly(kind, when, compute_s, *, queueing="fifo"):
    """Gaia at 10 Gbps, where messages start slowly."""
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e10, down_bps=1e10))
    overlay = design(kind, with_slow_start(graph, when), Workload(model_bits=359e6, compute_s=compute_s))
    timeline = simulate(overlay, 400, messages=True, queueing=queueing)
    simulated = simulated_cycle_time(timeline, circuit_sources(overlay))
    compute = Constant(compute_s=overlay.compute_s)
    found = attribute(overlay, timeline, compute, simulated, fifo=queueing == "fifo")
    assert found.simulated_s == pytest.approx(simulated.cycle_time_s, rel=1e-9)
    return overlay, found


def test_restarts_that_the_static_rule_misses_are_slow_start_and_no_queue():
    """Every second model of both arcs starts slowly, and the one behind it queues for as long."""
    overlay, found = _attributed_slowly("mst", "idle", 0.02)
    assert overlay.slow_start_s.max() == 0
    ends, rates_bps = (overlay.source, overlay.target), overlay.rate_bps
    for arc, share in zip(overlay.proof.circuit, found.arcs, strict=True):
        whole_s = slow_start_s(overlay.graph, 359e6, *ends, rates_bps)[arc]
        assert (share.slow_s, share.queue_s) == pytest.approx((whole_s / 2, whole_s / 2), rel=1e-9)
    parts_s = found.parts_s()
    assert parts_s["slow start"] == pytest.approx((found.simulated_s - found.paper_s) / 2, rel=1e-9)
    assert parts_s["serialization"] == pytest.approx(parts_s["slow start"], rel=1e-9)


def test_an_arc_that_never_rests_takes_off_what_the_static_rule_adds():
    overlay, found = _attributed_slowly("ring", "idle", 1.0)
    arc = max(range(overlay.arcs), key=lambda arc: overlay.transmission_s[arc])
    share = found.arcs[overlay.proof.circuit.index(arc)]
    assert share.slow_s == pytest.approx(-float(overlay.slow_start_s[arc]), rel=1e-9)
    assert share.slow_s < 0
    assert found.parts_s()["slow start"] < 0


@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
def test_on_connections_of_one_message_closed_forms_have_all_of_it(kind, queueing):
    """Each message starts slowly, and Eq. 3 says so; what waits behind one is queueing."""
    _, found = _attributed_slowly(kind, "always", 0.02, queueing=queueing)
    for share in found.arcs:
        assert share.slow_s == pytest.approx(0.0, abs=1e-8)
