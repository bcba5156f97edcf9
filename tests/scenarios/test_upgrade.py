"""The command ``upgrade``: sets by hand and by simulation, prices, figures, and input that it refuses."""

import csv
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.quantities import format_s
from scenarios.config.simulation import ComputeConfig, SimulationConfig
from scenarios.config.upgrade import UpgradeConfig
from scenarios.report.tables import Table
from scenarios.simulation.quick import QuickSimulation
from scenarios.studies import upgrade as study
from scenarios.studies.explain import beyond_paper
from scenarios.studies.upgrade import (
    _change,
    _check_capacity,
    _gains_nothing,
    _rows,
    _sets,
    _simulated_gain,
    upgrade_table,
)
from scenarios.studies.upgrade_text import _enough, _greedy_note, _price_notes, _simulation_notes, price_text
from simulator import simulate
from topologies import (
    AccessLinks,
    InputError,
    Overlay,
    Workload,
    build_overlay,
    connectivity,
    design,
    load_underlay,
)

pytestmark = pytest.mark.usefixtures("compiled_simulations")

WORK = Workload.preset("inaturalist")
MODEL_BITS = 358_961_664


def overlay_of(kind: str = "ring", **network: str) -> Overlay:
    return design(kind, build_network(NetworkConfig(underlay="gaia", **network)), WORK)


def table_of(overlay: Overlay, **asked: object) -> Table:
    return upgrade_table(overlay, UpgradeConfig(**asked), SimulationConfig(), rounds=100, seed=0)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.slow
def test_the_slowest_link_of_gaia_by_hand(silosim):
    result = silosim("upgrade", "gaia", "--budget", 3, "--to", "2 Gbps", "--json").ok()
    whole = json.loads(result.out)
    rows = whole["rows"]

    # The core link of 0.1 Gbps carries one model in each direction; then two of 0.3 Gbps, then those of 0.5 Gbps.
    assert [row["raised"] for row in rows] == [
        "",
        "core link Sao Paulo - Sydney",
        "core link Dublin - Oregon; core link Sao Paulo - Sydney; core link Sydney - Tokyo",
    ]
    for row, bps in zip(rows, (0.1e9, 0.3e9, 0.5e9), strict=True):
        assert row["load_bound_s"] == pytest.approx(MODEL_BITS / bps, rel=1e-12)
        assert row["simulated_s"] == pytest.approx(MODEL_BITS / bps, rel=1e-6)
        assert row["gain_s"] == pytest.approx(MODEL_BITS / 0.1e9 - MODEL_BITS / bps, rel=1e-9, abs=1e-12)
        assert row["bound_s"] == pytest.approx(max(row["paper_s"], row["load_bound_s"]), rel=1e-5)
        assert row["is_proven"]
        assert not row["gains_nothing_simulated"]
    assert [row["total_price"] for row in rows] == [0, 1, 3]
    assert [row["added_gbps"] for row in rows] == pytest.approx([0, 1.9, 1.9 + 2 * 1.7])
    assert whole["single_links"] == [
        {
            "link": "core link Sao Paulo - Sydney",
            "cycle_time_s": pytest.approx(MODEL_BITS / 0.3e9),
            "gain_s": pytest.approx(MODEL_BITS / 0.1e9 - MODEL_BITS / 0.3e9),
        }
    ]
    assert (whole["by"], whole["budget"], whole["kind"]) == ("load", 3.0, "ring")
    assert whole["raised_how"] == "to 2 Gbps"


def test_the_caption_says_what_to_buy_and_that_it_is_proven(silosim):
    result = silosim("upgrade", "gaia", "--budget", 1).ok()
    text = words(result.out)

    assert (
        "Raise core link Sao Paulo - Sydney: a round then takes 1.795 s, 1.795 s less; simulated 1.795 s"
        in text
    )
    assert "Proven: no set of at most 1 link comes below 1.795 s (paper or load)." in text
    assert "Alone, these take most off a round: core link Sao Paulo - Sydney 1.795 s." in text
    assert max(map(len, result.out.splitlines())) <= 80


def test_each_row_is_the_simulation_of_its_network():
    mst = overlay_of("mst", access="100 Mbps")
    arcs = list(zip(mst.source.tolist(), mst.target.tolist(), strict=True))
    table = table_of(mst, budget=4)
    for row in table.rows[1:]:
        raised = {name for name in row["raised"].split("; ") if name}
        access = {
            silo: f"{200 if f'{silo} uplink' in raised else 100} Mbps up, "
            f"{200 if f'{silo} downlink' in raised else 100} Mbps down"
            for silo in mst.graph.labels
        }
        graph = build_network(NetworkConfig(underlay="gaia", access="100 Mbps", access_at=access))
        anew = build_overlay("mst", graph, WORK, arcs)

        assert anew.closed_forms.paper_s == row["paper_s"]
        assert simulate(anew, 100).cycle_time_s == pytest.approx(row["simulated_s"], rel=1e-9)
    assert len(table.rows) > 2


def test_what_is_random_is_drawn_with_the_seed():
    overlay = overlay_of(access="10 Gbps")
    drawn = SimulationConfig(compute=ComputeConfig(distribution="lognormal", cv=0.3))
    first, same, other = (
        [
            row["simulated_s"]
            for row in upgrade_table(overlay, UpgradeConfig(budget=1), drawn, rounds=50, seed=seed).rows
        ]
        for seed in (0, 0, 1)
    )
    assert first == same
    assert first[0] != other[0]


def test_links_that_gain_in_closed_form_alone_are_named():
    """By `paper`, a faster uplink halves the way there of a round trip; the downlink still takes as long."""
    table = table_of(overlay_of("mst", access="100 Mbps"), budget=3, by="paper")
    last = table.rows[-1]

    assert last["gain_s"] == pytest.approx(1.82, abs=0.01)
    assert last["simulated_gain_s"] < 0.1
    assert last["gains_nothing_simulated"]
    notes = words(table.notes)
    assert (
        "Simulated, 3 links gain nothing over the row above: do not count on what paper says of them."
        in notes
    )
    assert "Simulated, all of these links gain less than paper says. One model alone needs 10.77 s" in notes
    assert "--by load chooses links by the larger of paper and load" in notes


def test_ties_are_raised_together(silosim):
    result = silosim(
        "upgrade", "gaia", "--access", "50 Mbps", "--budget", 4, "--silo-at", "Dublin", "--silo-at", "Tokyo"
    )
    text = words(result.ok().out)

    assert "Dublin uplink and Tokyo downlink, for instance, must be raised together." in text
    assert "No other link would gain anything more; --factor and --to raise links further." in text


def test_the_cheapest_links_for_a_cycle_time(silosim, tmp_path):
    prices = tmp_path / "prices.csv"
    prices.write_text("link;price per Gbps (EUR)\ncore;100\ncore link Sydney - Tokyo;250,5\n")
    command = ("upgrade", "gaia", "--to", "2 Gbps", "--cycle-time", "720 ms", "--prices", prices)
    text = words(silosim(*command).ok().out)
    rows = json.loads(silosim(*command, "--json").ok().out)["rows"]

    # 1.9 and 1.7 Gbps for 100 EUR each, 1.7 for 250.5.
    assert rows[-1]["total_price"] == pytest.approx(190 + 170 + 425.85)
    assert rows[-1]["load_bound_s"] == pytest.approx(MODEL_BITS / 0.5e9)
    assert [row["total_price"] for row in rows] == sorted(row["total_price"] for row in rows)
    assert "and core link Sydney - Tokyo for 785.85 EUR: a round then takes 717.9 ms" in text
    assert "Proven: no set for less than 785.85 EUR comes to 720 ms (paper or load)." in text
    assert "Without a price, and so not for sale" not in text


def test_a_cycle_time_that_is_reached_already_costs_nothing(silosim):
    result = silosim("upgrade", "gaia", "--cycle-time", "4 s", "--json").ok()

    assert [row["total_price"] for row in json.loads(result.out)["rows"]] == [0]
    assert "This is no more than 4 s: nothing need be raised." in words(json.loads(result.out)["caption"])


def test_gains_of_links_that_cost_nothing_are_over_the_network_as_it_is(silosim, tmp_path):
    prices = tmp_path / "p.csv"
    prices.write_text("class,price\naccess,0\n")
    network = ("upgrade", "gaia", "--access", "100 Mbps", "--prices", prices)
    whole = json.loads(silosim(*network, "--budget", 0, "--json").ok().out)
    nothing, free = whole["rows"]
    as_it_is = overlay_of(access="100 Mbps").closed_forms
    as_it_is_s = max(as_it_is.paper_s, as_it_is.load_bound_s)

    assert (nothing["links"], nothing["total_price"], nothing["raised"], nothing["gain_s"]) == (0, 0, "", 0)
    assert max(nothing["paper_s"], nothing["load_bound_s"]) == as_it_is_s == pytest.approx(3.663, abs=5e-4)
    assert free["total_price"] == 0
    assert free["raised"].count("link") == free["links"] > 0
    assert free["gain_s"] == pytest.approx(as_it_is_s - MODEL_BITS / 0.1e9, rel=1e-9)
    assert "A round takes 3.663 s (paper or load)" in words(whole["caption"])
    assert "for 0: a round then takes 3.590 s, 73.54 ms less" in words(whole["caption"])

    # What is wanted may be there already, or come for nothing.
    there = json.loads(silosim(*network, "--cycle-time", "4 s", "--json").ok().out)
    assert [row["links"] for row in there["rows"]] == [0]
    assert "nothing need be raised." in words(there["caption"])
    reached = json.loads(silosim(*network, "--cycle-time", "3.6 s", "--json").ok().out)
    assert [row["total_price"] for row in reached["rows"]] == [0, 0]
    assert "for less than 0" not in words(reached["caption"])


def test_links_without_a_price_are_named_and_not_bought(silosim, tmp_path):
    (tmp_path / "p.csv").write_text("class,price\nuplink,1\n")
    text = words(silosim("upgrade", "gaia", "--budget", 100, "--prices", tmp_path / "p.csv").ok().out)

    assert "No link that can be bought holds anything up: raising all of them gains nothing." in text
    assert "Without a price, and so not for sale: core link" in text


SITES = "name,latitude,longitude\nA,48,2\nB,46,4\nC,44,7\n"
LINKS = "from,to,capacity (Mbps),latency (ms)\nA,B,100,5\nB,C,200,7\n"
PRICES = "class,price per Gbps (EUR)\ncore,50\ncore link A - B,300\naccess,0\n"


@pytest.fixture
def line_of_three(tmp_path):
    """Arguments for a ring of 3 silos on 2 links, of models of 10 Mbit, with a price list."""
    for name, text in (("sites", SITES), ("links", LINKS), ("prices", PRICES)):
        (tmp_path / f"{name}.csv").write_text(text)
    network = ("--sites", tmp_path / "sites.csv", "--links", tmp_path / "links.csv", "--access", "1 Gbps")
    workload = ("--bandwidth", "bottleneck", "--model-size", "10 Mbit", "--compute", "10 ms")
    return ("upgrade", *network, *workload, "--prices", tmp_path / "prices.csv")


@pytest.mark.usefixtures("placeholder_figures")
def test_a_ring_of_three_silos_on_two_links_by_hand(silosim, line_of_three, tmp_path):
    silosim(*line_of_three, "--budget", 40, "-o", tmp_path / "out").ok()
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))

    # A > C > B > A: 14 ms and 12, 7 and 5 ms of latency on each arc; 10 Mbit at the smallest capacity of its route.
    fixed_ms = 3 * 14 + 12 + 7 + 5
    by_hand = [
        ("", 0, (100, 50, 100), 100),
        ("core link B - C", 0.2 * 50, (100, 25, 100), 100),
        ("core link A - B", 0.1 * 300, (50, 50, 50), 50),
        ("core link A - B; core link B - C", 0.1 * 300 + 0.2 * 50, (50, 25, 50), 50),
    ]
    assert len(rows) == len(by_hand)
    for row, (raised, price, sent_ms, load_ms) in zip(rows, by_hand, strict=True):
        paper_s = (fixed_ms + sum(sent_ms)) / 3e3
        assert (row["raised"], row["currency"]) == (raised, "EUR")
        assert float(row["total_price"]) == pytest.approx(price)
        assert float(row["paper_s"]) == pytest.approx(paper_s)
        assert float(row["load_bound_s"]) == pytest.approx(load_ms / 1e3)
        assert float(row["simulated_s"]) == pytest.approx(max(paper_s, load_ms / 1e3))
        assert float(row["gain_s"]) == pytest.approx(0.316 / 3 - max(paper_s, load_ms / 1e3))


def test_units_of_prices_are_said_above_the_table_and_below_it(silosim, line_of_three):
    text = words(silosim(*line_of_three, "--budget", 30).ok().out)

    assert (
        "ring: links are raised to twice their capacity, priced per added Gbps; arcs and routes stay." in text
    )
    assert re.search(r"total .*price .*\(EUR\)", text)
    assert "the price per Gbps times the Gbps added to each; a core link's counts once" in text
    assert "Raise core link A - B for 30 EUR" in text


@pytest.mark.parametrize(("budget", "cheapest"), [(0, "0 EUR"), (9.99, "9.99 EUR")])
def test_a_budget_below_every_price_names_the_cheapest_link(silosim, line_of_three, budget, cheapest):
    text = words(silosim(*line_of_three, "--budget", budget).ok().out)

    assert f"{cheapest} buys no link that matters: the cheapest, core link B - C, costs 10 EUR." in text
    assert "The cheapest set that is faster costs 10 EUR." in text
    assert "Proven" not in text


def test_a_limit_that_is_named_can_be_kept(silosim, line_of_three, tmp_path):
    (tmp_path / "prices.csv").write_text("class,price per Gbps (EUR)\ncore,10001.234\naccess,0\n")
    # 0.1 and 0.2 Gbps of core, the first 1,000.1234 EUR; raising both comes to 191 / 3 = 63.6667 ms.
    text = words(silosim(*line_of_three, "--budget", 1000.12).ok().out)
    assert "costs 1,000.13 EUR. The cheapest set that is faster costs 1,000.13 EUR." in text
    assert "Raise core link A - B for 1,000.12 EUR" in words(
        silosim(*line_of_three, "--budget", 1000.13).ok().out
    )

    error = silosim(*line_of_three, "--cycle-time", "63.66 ms").failed(2).err
    assert "cycle_time(='63.66 ms') must be >= 63.67 ms" in error
    assert "core link B - C" in silosim(*line_of_three, "--cycle-time", "63.67 ms").ok().out


@pytest.mark.parametrize(
    ("price", "text"),
    [
        (0.0, "0"),
        (0.05123, "0.0512"),
        (1.5, "1.50"),
        (12, "12"),
        (1234.5, "1,234.50"),
        (4e6, "4,000,000"),
        (1e99, "1e+99"),
    ],
)
def test_prices_as_texts(price, text):
    assert price_text(price) == text


def test_a_budget_of_the_price_buys_the_link(silosim, line_of_three, tmp_path):
    # 0.1 Gbps for 3 EUR each cost 0.30000000000000004 EUR.
    (tmp_path / "prices.csv").write_text("link,price per Gbps (EUR)\nA - B,3\n")
    text = words(silosim(*line_of_three, "--budget", 0.3).ok().out)

    assert 0.1 * 3 > 0.3
    assert "Raise core link A - B for 0.3 EUR" in text
    assert "buys no link" not in text


def test_a_budget_of_no_links(silosim):
    text = words(silosim("upgrade", "gaia", "--budget", 0).ok().out)

    assert "A budget of 0 links raises nothing. The cheapest set that is faster has 1 link." in text


def test_one_silo_has_nothing_to_raise(silosim):
    alone = ("upgrade", "gaia", "--silo-at", "Dublin")
    whole = json.loads(silosim(*alone, "--budget", 2, "--json").ok().out)

    assert [(row["links"], row["paper_s"]) for row in whole["rows"]] == [(0, pytest.approx(0.0254))]
    assert whole["caption"].endswith("One silo sends nothing: there is no link to raise.")
    assert (
        "a round takes that whatever links are raised."
        in silosim(*alone, "--cycle-time", "1 ms").failed(2).err
    )


def test_rounds_that_take_no_time_cannot_be_faster(silosim):
    alone = ("upgrade", "gaia", "--silo-at", "Dublin", "--compute", "0 ms", "--budget", 1)
    whole = json.loads(silosim(*alone, "--json").ok().out)

    assert [(row["links"], row["paper_s"]) for row in whole["rows"]] == [(0, 0.0)]
    assert whole["caption"].endswith("One silo sends nothing: there is no link to raise.")
    assert whole["next_total_price"] is None


def test_two_silos_share_one_link(silosim):
    pair = ("upgrade", "gaia", "--silo-at", "Dublin", "--silo-at", "Tokyo", "--budget", 5)
    rows = json.loads(silosim(*pair, "--json").ok().out)["rows"]

    assert [row["raised"] for row in rows] == ["", "core link Dublin - Tokyo"]
    assert rows[1]["gain_s"] == pytest.approx(MODEL_BITS / 0.1e9 / 2)


@pytest.mark.parametrize(
    ("prices", "asked", "message"),
    [
        (
            "class,price\nmeasured,3\n",
            (),
            "prices.csv: must price one or more of the links that the models of ring ",
        ),
        ("class,price\ncore,\n", (), "cross and that can be raised to twice their capacity: 'A uplink', "),
        (
            "class,price\naccess,3\n",
            ("--to", "1 Gbps"),
            "raised to 1 Gbps: 'core link A - B', 'core link B - C'.",
        ),
        ("class,price\n", (), "prices.csv: has column names, but no rows."),
        ("", (), "prices.csv: is an empty table; it must have a row of column names."),
        (
            PRICES,
            ("--to", "100 Mbps"),
            "to(='100 Mbps') must be > 100 Mbps, the capacity of core link A - B: all links that the models of ring "
            "cross have as much or more.",
        ),
    ],
)
@pytest.mark.parametrize("wanted", [("--budget", 5), ("--cycle-time", "1 s")])
def test_where_nothing_is_for_sale_one_line_says_why(
    silosim, line_of_three, tmp_path, prices, asked, message, wanted
):
    (tmp_path / "prices.csv").write_text(prices)
    before = sorted(tmp_path.iterdir())
    result = silosim(*line_of_three, *asked, *wanted, "-o", tmp_path / "out").failed(2)

    assert message in result.err
    assert result.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_links_that_lack_a_price_may_still_gain(silosim, line_of_three, tmp_path):
    (tmp_path / "prices.csv").write_text("link,price\nB - C,1\n")
    text = words(silosim(*line_of_three, "--budget", 5).ok().out)

    assert "No other link with a price would gain anything more;" in text
    assert "at any price" not in text
    assert "Without a price, and so not for sale: core link A - B." in text
    error = silosim(*line_of_three, "--cycle-time", "64 ms").failed(2).err
    assert "with all links that can be bought raised to twice their capacity; not for sale without" in error
    # Uplinks alone are no help: what would be is named.
    (tmp_path / "prices.csv").write_text("class,price\nuplink,1\n")
    error = silosim(*line_of_three, "--cycle-time", "64 ms").failed(2).err
    assert "with all links that can be bought" in error
    assert "without a price: core link A - B and core link B - C." in error


def test_files_have_all_rows_and_a_figure(silosim, tmp_path):
    result = silosim("upgrade", "gaia", "--budget", 3, "--to", "2 Gbps", "-o", tmp_path / "links").ok()
    with (tmp_path / "links.csv").open() as file:
        rows = list(csv.DictReader(file))

    assert [row["links"] for row in rows] == ["0", "1", "3"]
    assert "change" not in rows[0]
    assert (tmp_path / "links.png").read_bytes().startswith(b"\x89PNG")
    assert "links.csv" in result.err
    assert (
        "exists already" in silosim("upgrade", "gaia", "--budget", 1, "-o", tmp_path / "links").failed(2).err
    )


def test_a_budget_that_buys_nothing_says_what_would(silosim):
    # An uplink and a downlink limit each arc equally.
    command = ("upgrade", "gaia", "--access", "50 Mbps", "--compute", "0 ms", "--budget", 1)
    text = words(silosim(*command).ok().out)

    assert "Proven: no set of at most 1 link comes below" in text
    assert "The cheapest set that is faster has 2 links." in text


def test_a_measured_network_has_pairs(silosim):
    rows = json.loads(silosim("upgrade", "clouds_aws", "--budget", 2, "--json").ok().out)["rows"]

    assert all(name.startswith("measured bandwidth aws:") for name in rows[-1]["raised"].split("; "))
    assert rows[-1]["simulated_gain_s"] > 1


def test_rounds_and_engine_are_those_asked_for(silosim):
    command = ("upgrade", "gaia", "--budget", 1, "--rounds", 40, "--engine", "simpy", "--json")
    rows = json.loads(silosim(*command).ok().out)["rows"]

    assert {row["engine"] for row in rows} == {"simpy"}
    assert rows[1]["simulated_s"] == pytest.approx(MODEL_BITS / 0.2e9, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (),
            "budget must be given, a number of links or with prices an amount of money, or cycle_time in its place.",
        ),
        (("--budget", 1.5), "budget(=1.5) must be a whole number of links, where there are no prices."),
        (("--budget", -1), "budget(=-1.0) must be finite and >= 0."),
        (("--budget", 1, "--cycle-time", "1 s"), "cycle_time(='1 s') must not be given beside budget(=1.0)."),
        (("--cycle-time", "50"), "cycle_time(='50') must be a number with a unit, for instance '25.4 ms'."),
        (("--budget", 1, "--factor", 1), "factor(=1.0) must be finite and > 1."),
        (
            ("--budget", 1, "--factor", 3, "--to", "1 Gbps"),
            "to(='1 Gbps') must not be given beside factor(=3.0).",
        ),
        (("--budget", 1, "--by", "all"), "by(='all') must be 'paper', 'serialized' or 'load'."),
        (
            ("--budget", 1, "--kind", "matcha"),
            "kind(='matcha') is a randomized overlay, which has no fixed arcs; upgrade",
        ),
        (("--budget", 1, "--prices", "none.csv"), "none.csv: there is no such file."),
        (("--budget", 1, "--rounds", 0), "rounds(=0) must be >= 1."),
        (("--budget", 1, "--seed", -1), "seed(=-1) must be >= 0"),
        (("--budget", 1, "-o", "x.xlsx"), "must end in one of .png, .svg, .pdf, .csv"),
        (
            ("--cycle-time", "100 ms"),
            "cycle_time(='100 ms') must be >= 1.795 s (paper or load): a round takes that with all links that can be "
            "bought raised to twice their capacity.",
        ),
    ],
)
def test_wrong_input_is_one_line(silosim, arguments, message):
    result = silosim("upgrade", "gaia", *arguments).failed(2)

    assert message in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""


def test_an_interrupted_search_writes_nothing(silosim, tmp_path, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("scenarios.studies.upgrade.quick_simulation", interrupt)
    silosim("upgrade", "gaia", "--budget", 1, "-o", tmp_path / "links").failed(130)

    assert list(tmp_path.iterdir()) == []


def test_where_no_proof_was_found_the_bound_is_said(monkeypatch):
    monkeypatch.setattr("topologies.analysis.upgrade_sets.PROGRAMS", 0)
    table = table_of(overlay_of(access="100 Mbps"), budget=2, by="paper")

    assert not any(row["is_proven"] for row in table.rows)
    cheapest = table_of(overlay_of(access="100 Mbps"), cycle_time="3 s", by="paper")
    assert re.search(
        r"Not proven: no set of fewer than \d+ links that comes to 3 s \(paper\) was found\.",
        words(cheapest.caption),
    )
    assert re.search(
        r"Not proven: no set of at most 2 links comes below [\d.]+ s \(paper\), and none below [\d.]+ s was found\.",
        words(table.caption),
    )


@pytest.mark.parametrize(
    ("prices", "is_told"),
    [
        ((0, 5, 100), True),
        ((0, 0.5, 100), True),
        ((0, 5.1, 100), False),
        ((0, 50, 55), False),
        ((0, 50, 52.75), False),
        ((0, 50, 52.6), True),
        ((0, 3, 3, 40), False),
        ((0,), False),
    ],
)
def test_sets_whose_prices_differ_by_a_twentieth_of_the_highest_one_may_be_more(prices, is_told):
    steps = [SimpleNamespace(proven=SimpleNamespace(found=SimpleNamespace(price=price))) for price in prices]
    offer = SimpleNamespace(
        price_list=SimpleNamespace(note="From prices.csv."), unpriced=("core link A - B",)
    )
    total, note, unpriced, *rest = _price_notes(offer, steps)

    assert total.startswith("total price: ")
    assert note == "From prices.csv."
    assert unpriced == "Without a price, and so not for sale: core link A - B."
    assert [line.startswith("Of sets whose prices differ") for line in rest] == [True] * is_told
    assert _price_notes(SimpleNamespace(price_list=None), steps) == []


@pytest.mark.parametrize(("prices", "most"), [(None, "most"), (object(), "most for their price")])
def test_what_is_lost_by_links_one_after_the_other_is_said(prices, most):
    offer = SimpleNamespace(price_list=prices)
    steps = [SimpleNamespace(cycle_time_s=2.0), SimpleNamespace(cycle_time_s=1.0)]
    greedy = [SimpleNamespace(cycle_time_s=2.0), SimpleNamespace(cycle_time_s=1.5)]

    assert _greedy_note(offer, steps, greedy) == [
        f"Greedy, each time with the links that gain {most}, one comes to 1.500 s for as much."
    ]
    assert _greedy_note(offer, steps, steps) == []
    assert _greedy_note(offer, steps[1:], greedy) == []


@pytest.mark.parametrize(
    ("before", "names", "change"),
    [
        ("", "", "none"),
        ("", "ab", "a, b"),
        ("a", "ab", "b"),
        ("ab", "a", "without b"),
        ("abc", "ad", "d; without b, c"),
        ("ab", "ab", "none"),
    ],
)
def test_a_change_names_new_links_and_then_those_that_it_lacks(before, names, change):
    assert _change(tuple(before), tuple(names)) == change


@pytest.mark.parametrize(
    ("above_s", "half_s", "below_s", "below_half_s", "gains_nothing"),
    [
        (2.0, 0.0, 1.0, 0.0, False),
        (2.0, 0.0, 2.0, 0.0, True),
        (2.0, 0.0, 2.5, 0.0, True),
        (2.0, 0.0, 2.0 - 1e-12, 0.0, True),  # a rounding error
        (2.0, None, 1.9, None, False),
        # Of independent intervals of 0.3 and 0.4 the difference has one of 0.5.
        (2.0, 0.3, 1.5, 0.4, True),
        (2.0, 0.3, 1.49, 0.4, False),
        (None, None, 1.0, 0.0, False),
        (1.0, 0.0, None, None, False),
    ],
)
def test_what_the_intervals_hide_is_no_gain(above_s, half_s, below_s, below_half_s, gains_nothing):
    above = QuickSimulation(cycle_time_s=above_s, half_width_s=half_s)
    below = QuickSimulation(cycle_time_s=below_s, half_width_s=below_half_s)
    assert _gains_nothing(above, below) is gains_nothing
    if above_s is None or below_s is None:
        assert _simulated_gain(above, below) is None
    else:
        assert _simulated_gain(above, below) == (above_s - below_s if abs(above_s - below_s) > 1e-9 else 0.0)


@pytest.mark.parametrize(
    ("serialized", "load", "is_told"),
    [(1.0, 1.0, False), (0.5, 0.9, False), (1.1, 0.9, True), (0.9, 1.1, True), (2.0, 2.0, True)],
)
def test_either_a_model_alone_or_all_on_one_link_may_take_longer_than_paper(serialized, load, is_told):
    overlay = overlay_of("star")
    forms = overlay.closed_forms
    seen = SimpleNamespace(
        graph=overlay.graph,
        source=overlay.source,
        target=overlay.target,
        work=overlay.work,
        rate_bps=overlay.rate_bps,
        closed_forms=replace(
            forms, serialized_s=serialized * forms.paper_s, load_bound_s=load * forms.paper_s
        ),
    )
    text = beyond_paper(seen)

    assert bool(text) is is_told
    if is_told:
        assert f"is busy for {format_s(load * forms.paper_s)} of every round (load)." in text
        assert f"One model alone needs {format_s(overlay.transmission_s.max())} on " in text
    seen.closed_forms = replace(seen.closed_forms, busiest_link=None)
    assert beyond_paper(seen) == ""


SCENARIO = """
seed = 2
[network]
underlay = "gaia"
access = "1 Gbps"
[workload]
preset = "femnist"
[[overlays]]
kind = "ring"
name = "tour"
[[overlays]]
kind = "stl_fw"
[training]
dataset = "digits"
model = "softmax"
partition = "dirichlet"
"""


@pytest.mark.slow
def test_an_overlay_of_a_scenario_is_upgraded_with_what_the_scenario_states(silosim, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    where = ("gaia", "--access", "1 Gbps", "--workload", "femnist")
    own = json.loads(silosim("upgrade", path, "--kind", "tour", "--budget", 2, "--json").ok().out)
    same = json.loads(silosim("upgrade", *where, "--kind", "ring", "--budget", 2, "--json").ok().out)
    for row, other in zip(own["rows"], same["rows"], strict=True):
        assert (row["raised"], row["paper_s"]) == (other["raised"], other["paper_s"])
        assert row["simulated_s"] == other["simulated_s"]
    labelled = json.loads(silosim("upgrade", path, "--kind", "stl_fw", "--budget", 1, "--json").ok().out)
    explained = json.loads(silosim("explain", path, "--kind", "stl_fw", "--json").ok().out)
    mean_s = sum(row["delay_s"] for row in explained["rows"]) / len(explained["rows"])
    assert labelled["rows"][0]["paper_s"] == pytest.approx(mean_s, rel=1e-9)

    several = silosim("upgrade", path, "--budget", 1).failed(2)
    assert "upgrade takes one overlay; --kind names it: tour, stl_fw" in several.err
    given = silosim("upgrade", path, "--kind", "tour", "--budget", 1, "--access", "1 Gbps").failed(2)
    assert "--access goes with the name of a network" in given.err


@pytest.mark.parametrize("price", [0.0123456, 0.5, 1.0, 3.14159, 17.004, 123456.789, 1e12, 1.23456e13])
def test_a_budget_that_is_said_to_be_enough_buys_the_set(price):
    enough = _enough(price)

    assert price <= enough <= price * 1.0101
    assert float(price_text(enough).replace(",", "")) == pytest.approx(enough, rel=1e-12)


@pytest.mark.parametrize(
    ("widths", "said"),
    [
        ((0.1, 0.2), "the widest 95 % interval is 2.000 s +- 200.0 ms"),
        ((0.1, None), "there are too few rounds for an interval"),
    ],
)
def test_an_estimate_has_its_widest_interval(widths, said):
    found = [
        SimpleNamespace(why_not="", cycle_time_s=time_s, is_exact=False, half_width_s=half_s)
        for time_s, half_s in zip((1.0, 2.0), widths, strict=True)
    ]
    exact = SimpleNamespace(why_not="it is too long", cycle_time_s=None, is_exact=True, half_width_s=None)
    steps = [SimpleNamespace(simulated=each) for each in (*found, exact)]
    rows = [{"gains_nothing_simulated": False, "paper_below_load": False}] * 3
    notes = _simulation_notes(UpgradeConfig(budget=2, by="paper"), steps, rows)
    assert notes[0] == "Not simulated: it is too long."
    assert notes[1] == f"~: estimated from the last rounds, which show no period; {said}."


def test_an_empty_path_of_prices_is_an_error():
    with pytest.raises(InputError, match=r"prices\(=''\) must not be empty\."):
        UpgradeConfig(budget=1, prices="")


@pytest.mark.parametrize(
    ("simulation", "rounds", "tried"),
    [
        (SimulationConfig(), None, []),
        (SimulationConfig(rounds=7), None, []),
        (SimulationConfig(queueing="overlap"), None, [(1, 3)]),
        (SimulationConfig(), 5, [(5, 3)]),
        (SimulationConfig(queueing="overlap"), 5, [(5, 3)]),
    ],
)
def test_a_simulation_that_is_asked_for_is_tried_before_links_are_searched(
    monkeypatch, simulation, rounds, tried
):
    found = []

    def offer(*_):
        raise InputError("searched.")

    monkeypatch.setattr(study, "job_of", lambda *_, rounds, seed: found.append((rounds, seed)))
    monkeypatch.setattr(study, "_offer", offer)
    overlay = SimpleNamespace(graph=SimpleNamespace(silos=2))
    with pytest.raises(InputError, match="searched"):
        upgrade_table(overlay, UpgradeConfig(budget=1), simulation, rounds=rounds, seed=3)
    assert found == tried


@pytest.mark.parametrize(
    ("prices", "title", "currency"),
    [
        (None, None, None),
        ("class,price\ncore,2\naccess,2\n", "total\nprice", None),
        ("class,price per Gbps (EUR)\ncore,2\naccess,2\n", "total\nprice\n(EUR)", "EUR"),
    ],
)
def test_a_price_has_a_column_where_there_is_a_list(tmp_path, prices, title, currency):
    graph = connectivity(
        load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=range(2)
    )
    overlay = design("ring", graph, WORK)
    if prices is not None:
        (tmp_path / "p.csv").write_text(prices)
    config = UpgradeConfig(budget=4, prices=None if prices is None else str(tmp_path / "p.csv"))
    table = upgrade_table(overlay, config, SimulationConfig(), rounds=4, seed=0)
    titles = {column.key: column.title for column in table.columns}
    show = {column.key: column.show for column in table.columns}

    assert titles.get("total_price") == title
    assert table.further["is_priced"] == (prices is not None)
    assert (table.further["currency"] or None) == currency
    # All times are in ms.
    for key in ("gain_s", "simulated_gain_s"):
        assert [show[key](seconds) for seconds in (0.0, 0.5)] == ["0", "500.0"]


def test_a_capacity_is_refused_where_all_links_have_it(monkeypatch):
    links = [SimpleNamespace(bps=3e9, name="a"), SimpleNamespace(bps=2e9, name="b")]
    overlay = SimpleNamespace(kind="ring")
    monkeypatch.setattr(study, "upgrade_links", lambda _overlay: links)
    with pytest.raises(InputError, match=r"to\(='2 Gbps'\) must be > 2.* Gbps, the capacity of b: all links"):
        _check_capacity(overlay, UpgradeConfig(budget=1, to="2 Gbps"))
    _check_capacity(overlay, UpgradeConfig(budget=1))
    # One silo sends nothing.
    links.clear()
    _check_capacity(overlay, UpgradeConfig(budget=1, to="2 Gbps"))


@pytest.mark.parametrize(
    ("asked", "times_s", "count"),
    [
        ({"budget": 4}, (3.0, 2.0, 1.0), 3),
        ({"cycle_time": "2 s"}, (3.0, 2.0, 1.0), 2),
        # Reached but for rounding.
        ({"cycle_time": "2 s"}, (3.0, 2.0 * (1 + study.SAME), 1.0), 2),
        ({"cycle_time": "2 s"}, (3.0, 2.001, 1.0), 3),
    ],
)
def test_sets_end_with_the_first_that_is_fast_enough(asked, times_s, count):
    searched = []

    def frontier(budget, *, step):
        searched.append((budget, step))
        for price, cycle_time_s in enumerate(times_s):
            yield SimpleNamespace(found=SimpleNamespace(price=price, cycle_time_s=cycle_time_s))

    search = SimpleNamespace(everything=SimpleNamespace(price=5.0), frontier=frontier)
    found = _sets(search, UpgradeConfig(**asked), most=8.0)
    assert [each.found.cycle_time_s for each in found] == list(times_s[:count])
    _sets(search, UpgradeConfig(**asked, prices="p.csv"), most=4.0)
    # More than all links cost is never spent.
    assert searched == [(5.0, 0.0), (4.0, 4.0 / study.BUDGETS)]


def test_gains_are_over_the_first_row_and_a_row_gains_nothing_over_the_one_above(monkeypatch):
    monkeypatch.setattr(study, "form_fields", lambda forms: {"paper_s": forms})

    def step(price, cycle_time_s, simulated_s, *links):
        return SimpleNamespace(
            links=[SimpleNamespace(added_gbps=0.5) for _ in links],
            names=links,
            cycle_time_s=cycle_time_s,
            overlay=SimpleNamespace(closed_forms=cycle_time_s),
            proven=SimpleNamespace(found=SimpleNamespace(price=price), bound=0.5, is_proven=True),
            simulated=SimpleNamespace(
                cycle_time_s=simulated_s, half_width_s=None, is_exact=True, engine="compiled"
            ),
        )

    steps = [step(0, 4.0, 4.0), step(1, 3.0, 4.0, "a"), step(2, 2.0, 3.5, "b", "c"), step(3, 1.0, 3.75, "b")]
    rows = _rows(SimpleNamespace(price_list=object(), currency="EUR"), steps)
    assert [row["gain_s"] for row in rows] == [0.0, 1.0, 2.0, 3.0]
    assert [row["simulated_gain_s"] for row in rows] == [0.0, 0.0, 0.5, 0.25]
    assert [row["gains_nothing_simulated"] for row in rows] == [False, True, False, True]
    assert [row["change"] for row in rows] == ["none", "a", "b, c; without a", "without c"]
    assert [(row["links"], row["added_gbps"], row["raised"]) for row in rows] == [
        (0, 0.0, ""), (1, 0.5, "a"), (2, 1.0, "b; c"), (1, 0.5, "b"),
    ]  # fmt: skip
    assert {row["currency"] for row in rows} == {"EUR"}
    assert "currency" not in _rows(SimpleNamespace(price_list=None), steps)[0]
