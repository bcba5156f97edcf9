"""`silosim tables multigraph`: the published figures, three readings, the simulation."""

import csv
import json

import numpy as np
import pytest
from multigraph_values import EQUATION, PUBLISHED, RECURRENCE

from scenarios.simulation.quick import QuickSimulation
from scenarios.studies.multigraph_table import (
    DATA_SETS,
    is_printed_as,
    multigraph_table,
    published_multigraph,
)
from scenarios.studies.published_tables import NETWORKS
from topologies import InputError
from topologies.periodic.multigraph_readings import recurrence_reading

pytestmark = pytest.mark.usefixtures("compiled_simulations")

SMALL = ("gaia", "aws_na", "geant")
OTHER_RING = [("femnist", "geant"), ("sentiment140", "exodus")]


def tables_of(networks):
    """All three tables without the simulations, by data set."""
    with pytest.MonkeyPatch.context() as patch:
        nothing = QuickSimulation(why_not="not asked for")
        patch.setattr("scenarios.studies.multigraph_table.quick_simulation", lambda *_, **__: nothing)
        return {data_set: multigraph_table(data_set, networks=networks) for data_set in DATA_SETS}


@pytest.fixture(scope="module")
def unsimulated():
    """The tables of all networks."""
    return tables_of(NETWORKS)


@pytest.fixture(scope="module")
def of_small_networks():
    """The tables of the networks whose rings and recurrences take little time."""
    return tables_of(SMALL)


def check_readings(rows, data_set, networks):
    """Rows have the readings that were computed elsewhere."""
    assert [row["network"] for row in rows] == [*networks]
    for key, known in (("mean_s", PUBLISHED), ("slowest_s", EQUATION), ("rounds_s", RECURRENCE)):
        expected = dict(zip(NETWORKS, known[data_set], strict=True))
        assert [1e3 * row[key] for row in rows] == pytest.approx(
            [expected[network] for network in networks], abs=0.0501
        )
    for row in rows:
        assert row["paper_s"] <= row["rounds_s"] * (1 + 1e-12)
        # The delays of one arc of Ebone differ by its route.
        if row["network"] != "ebone":
            assert row["paper_s"] == pytest.approx(row["rounds_s"], rel=1e-9)


@pytest.mark.parametrize("data_set", DATA_SETS)
def test_readings_of_small_networks(of_small_networks, data_set):
    check_readings(of_small_networks[data_set].rows, data_set, SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("data_set", DATA_SETS)
def test_readings_of_all_networks(unsimulated, data_set):
    check_readings(unsimulated[data_set].rows, data_set, NETWORKS)


def test_published_figures_of_small_networks_are_the_mean_but_on_another_ring(of_small_networks):
    rows = [row for table in of_small_networks.values() for row in table.rows]
    other = [
        (row["data_set"], row["network"])
        for row in rows
        if not is_printed_as(row["ring_s"], row["published_ring_s"])
    ]

    assert other == OTHER_RING[:1]
    for row in rows:
        assert row["published_is"].startswith("mean (A)")
        is_other = (row["data_set"], row["network"]) in other
        assert is_printed_as(row["mean_s"], row["published_s"]) is not is_other
        assert (row["published_is"] == "mean (A) on another ring") is is_other
        assert not is_printed_as(row["slowest_s"], row["published_s"])
    assert "2 of 3" in of_small_networks["femnist"].notes
    assert "3 of 3" in of_small_networks["inaturalist"].notes


@pytest.mark.slow
def test_thirteen_published_figures_are_the_mean_and_two_have_another_ring(unsimulated):
    rows = [row for table in unsimulated.values() for row in table.rows]
    rings = [
        (row["data_set"], row["network"])
        for row in rows
        if not is_printed_as(row["ring_s"], row["published_ring_s"])
    ]

    assert len(rows) == 15
    assert all(row["published_is"].startswith("mean (A)") for row in rows)
    assert sum(is_printed_as(row["mean_s"], row["published_s"]) for row in rows) == 13
    assert rings == OTHER_RING
    assert [
        (row["data_set"], row["network"]) for row in rows if row["published_is"] == "mean (A) on another ring"
    ] == OTHER_RING
    # The paper's equation is none of its own figures.
    assert not any(is_printed_as(row["slowest_s"], row["published_s"]) for row in rows)
    assert "4 of 5" in unsimulated["femnist"].notes
    assert "5 of 5" in unsimulated["inaturalist"].notes


def test_where_no_arc_is_weak_the_multigraph_is_the_ring(of_small_networks):
    row = next(row for row in of_small_networks["inaturalist"].rows if row["network"] == "aws_na")

    assert row["mean_s"] == pytest.approx(row["rounds_s"], rel=1e-12)
    assert row["rounds_s"] == pytest.approx(row["ring_s"], rel=1e-12)
    assert row["published_gain"] == row["rounds_gain"] == 1
    assert row["published_is"] == "mean (A), exact (C)"


def test_the_table_is_simulated_and_fits_a_terminal(silosim):
    result = silosim("tables", "multigraph", "--network", "gaia").ok()
    cells = [line.split() for line in result.out.splitlines() if line.startswith("gaia ")]

    # Links of Gaia are not shared: simulated is what a queue of models on an arc makes of C.
    assert cells[0][:9] == ["gaia", "15.7", "15.7", "23.3", "16.9", "~16.9", "57.2", "57.2", "57.2"]
    assert cells[2][9:] == ["1.72x", "1.65x", "mean", "(A)"]
    assert result.out.count("Multigraph (ICCV 2023)") == 3
    assert max(map(len, result.out.splitlines())) <= 80
    assert "The simulated one is 0.93 (gaia) times" in " ".join(result.out.split())


def test_files_hold_all_rows(silosim, tmp_path, monkeypatch):
    simulated = QuickSimulation(cycle_time_s=0.01, half_width_s=0.0, is_exact=True, rounds=500)
    monkeypatch.setattr("scenarios.studies.multigraph_table.quick_simulation", lambda *_, **__: simulated)
    networks = ("--network", "gaia", "--network", "aws_na")
    silosim("tables", "multigraph", *networks, "-o", tmp_path / "t.csv").ok()
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    whole = json.loads(silosim("tables", "multigraph", *networks, "--json").ok().out)

    assert [(row["data_set"], row["network"]) for row in rows] == [
        (data_set, network) for data_set in DATA_SETS for network in ("gaia", "aws_na")
    ]
    assert float(rows[0]["published_s"]) == 0.0157
    assert [[row["network"] for row in table["rows"]] for table in whole] == [["gaia", "aws_na"]] * 3
    assert {row["simulated_gain"] for table in whole for row in table["rows"]} == {1.0}


def test_figures_are_complete_and_papers_are_named(silosim):
    for table in published_multigraph().values():
        assert [*table["multigraph"]] == [*table["ring"]] == [*NETWORKS]
    result = silosim("tables", "multigrap").failed(2)
    assert result.err == (
        "silosim: error: paper(='multigrap') must be one of multigraph, paper (did you mean 'multigraph'?).\n"
    )


def test_the_exact_reading_by_hand():
    """Two silos: 0 sends in each round, 1 s; 1 in every second one, 2 s, a model of the round before last.

    Silo 0 starts its rounds at 0, 0, 0, 3, 3, 3, 3, 6, silo 1 at 0, 1, 1, 1, 4, 4, 4, 4: 3 s in four rounds.
    """
    source, target, delay_s = np.arange(2), np.array([1, 0]), np.array([1.0, 2.0])

    assert recurrence_reading(source, target, delay_s, 0.0) == pytest.approx(0.75)
    assert recurrence_reading(source, target, delay_s, 0.0, most_lag=1) == pytest.approx(1.5)
    # Computing of 1.8 s in each round bounds both.
    assert recurrence_reading(source, target, delay_s, 1.8) == pytest.approx(1.8)
    with pytest.raises(InputError, match=r"^most_lag\(=0\) must be >= 1"):
        recurrence_reading(source, target, delay_s, 0.0, most_lag=0)
