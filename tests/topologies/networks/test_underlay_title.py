"""How an underlay is called, and which notes it has: as shipped, published or somebody's own."""

from dataclasses import replace

import numpy as np
import pytest

from topologies import InputError, load_underlay
from topologies.networks.loading import _looks_like_name
from topologies.networks.underlay_title import underlay_title


def test_only_the_shipped_network_and_a_published_one_have_a_variant():
    gaia = load_underlay("gaia")
    assert underlay_title(gaia) == "gaia (corrected)"
    assert underlay_title(load_underlay("gaia", variant="published")) == "gaia (published)"
    assert underlay_title(replace(gaia, name="mine")) == "mine"
    assert underlay_title(replace(gaia, name="mine", variant="published")) == "mine (published)"
    assert underlay_title(replace(gaia, name="geant")) == "geant"


@pytest.mark.parametrize("changed", ["labels", "lengths", "order of links"])
def test_a_network_of_the_same_name_is_the_shipped_one_by_labels_and_lengths(changed):
    gaia = load_underlay("gaia")
    other = {
        "labels": {"labels": (*gaia.labels[:-1], "Virginia 2")},
        "lengths": {"length_km": np.append(gaia.length_km[:-1], gaia.length_km[-1] + 1)},
        "order of links": {"ends": gaia.ends[::-1].copy(), "length_km": gaia.length_km[::-1].copy()},
    }[changed]
    title = "gaia (corrected)" if changed == "order of links" else "gaia"
    assert underlay_title(replace(gaia, **other)) == title


def test_links_that_are_too_short_are_noted_where_their_true_length_is_taken(tmp_path):
    node = 'node [ id {0} label "{1}" Latitude {0} Longitude 0 ]'
    links = "edge [ source 0 target 9 distance 1 published_distance 2 ]"
    path = tmp_path / "short.gml"
    path.write_text(f"graph [ {node.format(0, 'A')} {node.format(9, 'B')} {links} ]")
    (note,) = load_underlay(path).notes
    assert note.startswith("1 of 1 links is stated shorter than the geodesic")
    published = load_underlay(path, variant="published")
    assert (published.notes, published.length_km.tolist()) == ((), [2.0])
    assert np.isnan(published.capacity_bps).all()


def test_options_for_nodes_and_links_do_not_go_with_tables(tmp_path):
    (tmp_path / "pairs.csv").write_text("from,to,mbps,ms\na,b,1,1\nb,a,1,1\n")
    for option in ("internal_only", "largest_component"):
        with pytest.raises(InputError) as caught:
            load_underlay(tmp_path, **{option: True})
        assert str(caught.value) == (
            f"{option}(=True) goes with a file of nodes and links; {tmp_path.name} is made of tables."
        )


@pytest.mark.parametrize(
    ("text", "is_name"),
    [("", True), ("gea", True), ("gea.gml", False), ("./gea", False), ("nets/gea", False), ("there", False)],
)
def test_one_word_that_names_no_file_is_meant_as_a_name(tmp_path, monkeypatch, text, is_name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").touch()
    assert _looks_like_name(text) is is_name
