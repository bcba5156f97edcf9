"""GML text comes back as the same network."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topologies import InputError, Underlay, load_underlay
from topologies.measured_pairs import MeasuredPairs
from topologies.networks.attributes import stated_network
from topologies.networks.gml import parse_gml
from topologies.networks.gml_writing import gml_text
from topologies.networks.labels import one_line
from topologies.networks.loading import _underlay, published_underlays

ARRAYS = ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps", "published_index")


def assert_same(one: Underlay, other: Underlay) -> None:
    """Equal to the last bit, whatever the notes say."""
    assert one.labels == other.labels
    assert one.variant == other.variant
    for field in ARRAYS:
        a, b = getattr(one, field), getattr(other, field)
        assert (a is None) == (b is None), field
        if a is not None:
            np.testing.assert_array_equal(a, b, err_msg=field)


def read_back(underlay: Underlay) -> Underlay:
    """What is read from the network's GML text."""
    stated = stated_network(parse_gml(gml_text(underlay).encode("ascii")))
    return _underlay(underlay.name, underlay.variant, stated).in_label_order()


def build(
    labels: list[str], chords: list[tuple[int, int]], values: Callable[[int], Any], **kw: Any
) -> Underlay:
    """A path through all routers, with more links; an end is taken modulo the number of routers."""
    n = len(labels)
    pairs = [(i, i + 1) for i in range(n - 1)] + [(a % n, b % n) for a, b in chords if a % n != b % n]
    return Underlay(
        name="random",
        variant="corrected",
        labels=tuple(labels),
        ends=np.array(pairs),
        **{key: np.array(value) for key, value in values(len(pairs)).items()},
        **kw,
    )


@pytest.mark.parametrize("variant", ["corrected", "published"])
@pytest.mark.parametrize("name", published_underlays())
def test_shipped_networks_come_back(tmp_path: Path, name: str, variant: Any) -> None:
    underlay = load_underlay(name, variant=variant)
    path = tmp_path / f"{name}.gml"
    path.write_text(gml_text(underlay), encoding="ascii")

    assert_same(load_underlay(path, variant=variant), underlay)


LABEL = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=9).filter(
    lambda text: bool(text.strip()) and text not in ("()", "[]") and one_line(text) == text
)
POSITIVE = st.floats(min_value=0, exclude_min=True, allow_infinity=False)


@st.composite
def underlays(draw: st.DrawFn) -> Underlay:
    """Networks with any labels and numbers, parallel links, and values that are not stated."""
    labels = draw(st.lists(LABEL, min_size=2, max_size=7, unique=True))
    chords = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=9))
    n = len(labels)
    places = draw(
        st.lists(
            st.one_of(st.just((np.nan, np.nan)), st.tuples(st.floats(-90, 90), st.floats(-180, 180))),
            min_size=n,
            max_size=n,
        )
    )
    index = draw(st.none() | st.lists(st.integers(0, 2**53 - 1), min_size=n, max_size=n, unique=True))

    def values(links: int) -> dict[str, Any]:
        def some(numbers: st.SearchStrategy[float]) -> list[float]:
            return draw(st.lists(numbers, min_size=links, max_size=links))

        return {
            "length_km": some(POSITIVE | st.just(0.0)),
            "capacity_bps": some(POSITIVE | st.integers(1, 2**80).map(float) | st.just(np.nan)),
            "latitude_deg": [place[0] for place in places],
            "longitude_deg": [place[1] for place in places],
        }

    return build(labels, chords, values, published_index=None if index is None else np.array(index))


@given(underlays())
def test_random_networks_come_back_to_the_last_bit(underlay: Underlay) -> None:
    assert_same(read_back(underlay), underlay.in_label_order())


@given(st.lists(LABEL, min_size=2, max_size=5, unique=True))
@example(
    [
        'say "hi"',
        "&quot;",
        "&#252;",
        "Zürich & Genève",
        "東京",
        "a # b",
        "x ] y [",
        "7",
        "-1.5",
    ]
)
def test_labels_come_back_whatever_they_hold(labels: list[str]) -> None:
    def values(links: int) -> dict[str, Any]:
        unknown = np.full(len(labels), np.nan)
        return {
            "length_km": np.ones(links),
            "capacity_bps": np.full(links, np.nan),
            "latitude_deg": unknown,
            "longitude_deg": unknown,
        }

    assert read_back(build(labels, [], values)).labels == tuple(sorted(labels))


def two(*capacity_bps: float, **changes: Any) -> Underlay:
    """Two routers and a link for each capacity."""
    links = len(capacity_bps)
    given: dict[str, Any] = {
        "name": "two",
        "variant": "corrected",
        "labels": ("A", "B"),
        "latitude_deg": [np.nan, np.nan],
        "longitude_deg": [np.nan, np.nan],
        "ends": np.array([[0, 1]] * links, dtype=int).reshape(links, 2),
        "length_km": np.arange(1.0, links + 1),
        "capacity_bps": np.array(capacity_bps),
    }
    return Underlay(**given | changes)


@pytest.mark.parametrize(
    "capacity_bps", [2.0**31, 1e10, 4e11, 1e16, 2.0**63 + 2.0**11, 5e-324, 1.7976931348623157e308]
)
def test_numbers_beyond_32_bits_are_numbers(capacity_bps: float) -> None:
    text = gml_text(two(capacity_bps))
    (written,) = re.findall(r"capacity (\S+)", text)

    assert "." in written
    assert '"' not in written
    assert read_back(two(capacity_bps)).capacity_bps.tolist() == [capacity_bps]


def test_other_programs_read_parallel_links_and_accents() -> None:
    underlay = two(1e9, 1e10, labels=("Zürich", "Genève"))
    graph = nx.parse_gml(gml_text(underlay))

    assert graph.is_multigraph()
    assert set(graph) == {"Zürich", "Genève"}
    assert sorted(data["capacity"] for *_, data in graph.edges(data=True)) == [1e9, 1e10]


def test_measured_pairs_and_labels_that_readers_change_are_refused() -> None:
    measured = MeasuredPairs(bandwidth_bps=np.full((2, 2), 1e9), latency_s=np.zeros((2, 2)))
    pairs = two(measured=measured)

    with pytest.raises(
        InputError, match=r"^two has measured pairs, which a GML file cannot hold; write them as CSV\.$"
    ):
        gml_text(pairs)
    with pytest.raises(InputError, match=r"label\(='\(\)'\) cannot be written as GML"):
        gml_text(two(1e9, labels=("()", "B")))
    for label in (" led by a blank", "two  blanks", "no\xa0break"):
        with pytest.raises(InputError, match="cannot be written as GML: it is read back as"):
            gml_text(two(1e9, labels=(label, "B")))
