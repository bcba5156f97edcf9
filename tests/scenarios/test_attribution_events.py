"""What happens around a job is a part of its gap, by name."""

import csv
import json
from itertools import product

import h5py
import pytest

pytestmark = pytest.mark.usefixtures("compiled_simulations")

# Sides of about 1000 km; a model of 8 Mbit takes 8 ms on a core link.
PLACES = ("A", 48.0, 2.0), ("B", 48.0, 15.4), ("C", 56.0, 9.0)
SCENARIO = """
seed = 4
[network]
underlay = "{gml}"
access = "10 Gbps"
[workload]
model_size = "1 MB"
compute = "10 ms"
[overlays]
kinds = {kinds}
[simulation]
rounds = 400
"""
LOGNORMAL = 'compute = { distribution = "lognormal", cv = 0.3 }\n'
SHARE = '[[simulation.background]]\nshare = "30 %"\n'
WORLDS = {
    "share": SHARE,
    "on_off": '[[simulation.background]]\npeak = "1 Gbps"\nmean_on = "50 ms"\nmean_off = "100 ms"\n',
    "capacity": '[[simulation.capacity]]\nlink = "A - B"\nat = ["0 s", "1 s"]\n'
    'capacity = ["200 Mbps", "500 Mbps"]\nrepeat_every = "2 s"\n',
    "down": '[[simulation.failure]]\nlink = "A - B"\nfrom = "0 s"\n',
    "pause": '[[simulation.away]]\nsilo = "B"\nfrom_round = 300\npolicy = "wait"\nduration = "3 s"\n',
    "away": '[[simulation.away]]\nsilo = "B"\nfrom_round = 300\npolicy = "go_on"\nrounds = 30\n',
    "past": '[[simulation.away]]\nsilo = "B"\nfrom_round = 10\npolicy = "go_on"\nrounds = 5\n',
}
PARTS = (
    "serialization_s",
    "shared_links_s",
    "unused_shares_s",
    "waits_for_other_arcs_s",
    "computing_times_s",
    "no_barrier_s",
    "slow_start_s",
    "world_s",
)
TERMS = ("eq3_s", "queue_s", "slow_s", "rate_s", "wait_s", "computing_s", "world_s")


@pytest.fixture
def validated(silosim, tmp_path):
    nodes = (f'node [ id {n} label "{p[0]}" Latitude {p[1]} Longitude {p[2]} ]' for n, p in enumerate(PLACES))
    edges = (f"edge [ source {a} target {b} ]" for a, b in ((0, 1), (1, 2), (0, 2)))
    (tmp_path / "net.gml").write_text("\n".join(("graph [", *nodes, *edges, "]")))

    def run(world, *options, kinds=("ring",)):
        toml = tmp_path / "x.toml"
        toml.write_text(SCENARIO.format(gml=tmp_path / "net.gml", kinds=json.dumps(list(kinds))) + world)
        result = silosim("validate", toml, *options)
        assert result.code == 0, result.err
        return json.loads(result.out) if "--json" in options else " ".join(result.out.split())

    return run


# Each world once with all computing times, constant or random; absences, whose parts depend on both, with both.
QUICK = {("on_off", ""), ("capacity", ""), ("down", ""), ("pause", LOGNORMAL), ("share", LOGNORMAL)}
QUICK |= {("away", ""), ("away", LOGNORMAL), ("past", LOGNORMAL)}


@pytest.mark.parametrize(
    ("world", "random"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in product(WORLDS, ("", LOGNORMAL))
    ],
)
def test_parts_and_arcs_add_up_to_the_gap(validated, world, random):
    # As few rounds as the command takes, with absences among those of the cycle time.
    events = (
        WORLDS[world].replace("from_round = 300", "from_round = 75").replace("rounds = 30", "rounds = 10")
    )
    kinds = ("ring", "star", "mst", "random_ring")
    found = validated(random + events, "--rounds", 100, "--json", kinds=kinds)

    for row in found["rows"]:
        gap_s = row["maxmin_s"] - row["paper_s"]
        assert sum(row[part] or 0.0 for part in PARTS) == pytest.approx(gap_s, abs=1e-9 * row["maxmin_s"])
        arcs = [arc for arc in found["arcs"] if arc["overlay"] == row["overlay"]]
        assert bool(arcs) == (row["overlay"] != "random_ring")
        if arcs:
            per_round_s = sum(arc[term] for arc in arcs for term in TERMS) / sum(a["tokens"] for a in arcs)
            assert per_round_s + row["world_off_arcs_s"] == pytest.approx(row["maxmin_s"], rel=1e-9)


def test_background_is_not_called_a_shared_link(validated):
    found = validated(SHARE, "--json")
    row = found["rows"][0]

    assert row["world_s"] == pytest.approx(8e-3 / 0.7 - 8e-3, rel=1e-9)
    assert row["shared_links_s"] == pytest.approx(0, abs=1e-12)
    assert row["why"].startswith("background +3.429 ms a round; most on ")
    for arc in found["arcs"]:
        link = f"core link {arc['source']} -> {arc['target']}"
        assert arc["world_s"] == pytest.approx(row["world_s"], rel=1e-9)
        assert (arc["assumption"], arc["place"], arc["link"]) == ("background", link, link[10:])
        assert arc["cause"] == f"background traffic takes 30 % of {link}; 3.429 ms more than without"


def test_all_other_terms_are_those_of_the_undisturbed_network(validated):
    found = validated(SHARE, "--json", kinds=("star",))
    calm = validated("", "--json", kinds=("star",))

    for arc, before in zip(found["arcs"], calm["arcs"], strict=True):
        assert [arc[term] for term in TERMS[:-1]] == pytest.approx([before[term] for term in TERMS[:-1]])
    apart_s = found["rows"][0]["maxmin_s"] - calm["rows"][0]["maxmin_s"]
    assert found["rows"][0]["world_s"] == pytest.approx(apart_s, rel=1e-9)


def test_sharing_and_background_are_told_both(silosim, tmp_path):
    path = tmp_path / "star.toml"
    path.write_text(
        '[network]\nunderlay = "geant"\nvariant = "published"\n[workload]\npreset = "inaturalist"\n'
        '[overlays]\nkinds = ["star"]\n[simulation]\nrounds = 100\n' + SHARE
    )
    found = json.loads(silosim("validate", path, "--json").ok().out)
    row, shared = found["rows"][0], [arc for arc in found["arcs"] if "shared link" in arc["assumption"]]

    assert shared
    for arc in shared:
        assert arc["assumption"] == "shared link and background"
        assert "24 arcs of the overlay cross it" in arc["cause"]
        assert f"background traffic takes 30 % of {arc['place']}" in arc["cause"]
    assert "shared links +" in row["why"]
    assert "background +" in row["why"]


def test_a_flow_that_comes_and_goes_and_a_trace_are_named(validated):
    flow = validated(WORLDS["on_off"], "--json")["arcs"]
    trace = validated(WORLDS["capacity"], "--json")["arcs"]

    assert all(arc["cause"].startswith("background traffic, an on/off flow of up to") for arc in flow)
    named = [arc for arc in trace if {arc["source"], arc["target"]} == {"A", "B"}]
    assert [arc["assumption"] for arc in named] == ["capacity"]
    assert "a trace, 200 Mbps to 500 Mbps" in named[0]["cause"]
    # At the lower capacity alone a model takes 40 ms, at the higher one 16 ms.
    assert 8e-3 < named[0]["world_s"] < 32e-3
    assert all(arc["assumption"] == "" for arc in trace if arc not in named)


def test_a_link_that_is_down_is_named_and_not_its_share(validated):
    found = validated(WORLDS["down"], "--json")
    rerouted = [arc for arc in found["arcs"] if {arc["source"], arc["target"]} == {"A", "B"}]

    assert [(arc["assumption"], arc["place"]) for arc in rerouted] == [("link down", "core link A - B")]
    assert "is down all the time: models take a way that is" in rerouted[0]["cause"]
    # Around the triangle, with no other model on the way: nothing but latency.
    assert found["rows"][0]["world_s"] == pytest.approx(rerouted[0]["world_s"] / 3, rel=1e-9)
    assert rerouted[0]["sending_s"] == pytest.approx(8e-3, rel=1e-9)
    assert "failure +" in found["rows"][0]["why"]


def test_a_link_that_has_been_down_is_no_reason(validated):
    before = '[[simulation.failure]]\nlink = "A - B"\nfrom = "0 s"\nuntil = "200 ms"\n'

    assert all("down" not in arc["cause"] for arc in validated(before, "--json")["arcs"])


def test_a_pause_is_its_silos(validated):
    row = validated(WORLDS["pause"], "--json")["rows"][0]

    assert row["why"].startswith("away +")
    assert "B is away for 3.000 s in all, in 1 round" in row["why"]
    assert row["world_off_arcs_s"] == 0


def test_a_past_absence_leaves_the_arcs_their_parts(validated):
    share = '[[simulation.background]]\nlink = "A - B"\nshare = "50 %"\n'
    found, calm = validated(share + WORLDS["past"], "--json"), validated(share, "--json")

    for arc, other in zip(found["arcs"], calm["arcs"], strict=True):
        assert arc["cause"] == other["cause"]
        assert arc["world_s"] == pytest.approx(other["world_s"], abs=1e-9)
    assert found["rows"][0]["world_off_arcs_s"] == 0


def test_an_absence_in_the_rounds_has_a_part_but_no_arc(validated):
    found, text = validated(WORLDS["away"], "--json"), validated(WORLDS["away"])
    row = found["rows"][0]

    assert row["world_off_arcs_s"] == row["world_s"] != 0
    assert all(arc["world_s"] == 0 for arc in found["arcs"])
    assert row["why"].startswith("away -")
    assert row["why"].endswith("B is away in 30 of these 199 rounds")
    assert "no arc" in text
    assert "differ from round to round" not in text


def test_drawn_overlays_say_why(validated):
    row = validated(LOGNORMAL + SHARE, "--json", kinds=("random_ring",))["rows"][0]

    assert row["no_barrier_s"] == pytest.approx(row["max_plus_s"] - row["paper_s"], rel=1e-9)
    assert row["no_barrier_s"] <= 0 < row["world_s"]
    assert "background +" in row["why"]
    assert "busiest is core link" in row["why"]


@pytest.mark.usefixtures("coarse_figures")
def test_files_and_the_figure_have_the_worlds_part(validated, tmp_path):
    row = validated(SHARE, "--json")["rows"][0]
    validated(SHARE, "-o", tmp_path)

    with h5py.File(tmp_path / "validation-x.h5") as file:
        ring = file["validation/ring"]
        assert ring.attrs["world_s"] == row["world_s"]
        assert ring["world_s"][:].sum() == pytest.approx(3 * row["world_s"], rel=1e-9)
    kept = next(csv.DictReader((tmp_path / "validation-x.csv").read_text().splitlines()))
    assert float(kept["world_s"]) == row["world_s"]
    assert (tmp_path / "validation-x.png").stat().st_size > 1000


def test_a_table_with_a_world_fits_80_columns(silosim, validated, tmp_path):
    validated(SHARE)
    out = silosim("validate", tmp_path / "x.toml").ok().out

    assert max(map(len, out.splitlines())) <= 80
    assert "queue + rate + wait + world of the last line: +3.429 ms a round" in " ".join(out.split())
