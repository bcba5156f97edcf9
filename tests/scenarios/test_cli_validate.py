"""The command that holds the closed forms against the simulation."""

import csv
import json

import pytest


def test_the_table_says_why_and_fits_80_columns(silosim):
    result = silosim("validate", "geant", "--published", "--kind", "star", "--rounds", "200")

    assert result.code == 0
    assert "shared core link NL -> DE: 24 arcs of the overlay cross it" in " ".join(result.out.split())
    assert max(map(len, result.out.splitlines())) <= 80


def test_json_has_the_arcs_and_they_add_up(silosim):
    kinds = ("--kind", "ring")
    found = json.loads(silosim("validate", "gaia", *kinds, "--rounds", "200", "--json").out)
    row, arcs = found["rows"][0], found["arcs"]
    total = sum(arc["eq3_s"] + arc["queue_s"] + arc["rate_s"] + arc["wait_s"] for arc in arcs)

    assert total / sum(arc["tokens"] for arc in arcs) == pytest.approx(row["maxmin_s"], rel=1e-9)
    assert row["gap_maxmin"] == pytest.approx(row["maxmin_s"] / row["paper_s"] - 1)


def test_csv_holds_every_overlay(silosim, tmp_path):
    silosim("validate", "gaia", "--rounds", "200", "-o", tmp_path / "gaia.csv")
    rows = list(csv.DictReader((tmp_path / "gaia.csv").read_text().splitlines()))

    assert [row["overlay"] for row in rows] == ["star", "mst", "delta_mbst", "ring"]


def test_too_few_rounds_are_one_line(silosim):
    result = silosim("validate", "gaia", "--rounds", "99")

    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "rounds(=99) must be >= 100." in result.err
