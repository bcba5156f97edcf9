"""What commands make of their arguments: rounds, names of outputs, the one overlay, defaults of options."""

from pathlib import Path

import pytest

from scenarios.cli.designer_options import _defaults
from scenarios.cli.one_overlay import one_overlay
from scenarios.cli.round_range import round_range
from scenarios.cli.table_and_figure import table_and_figure
from scenarios.config.overlay_config import OverlayConfig
from topologies import InputError


@pytest.mark.parametrize(
    ("text", "rounds"),
    [
        ("0", slice(0, 1)),
        (" 7 ", slice(7, 8)),
        ("0-99", slice(0, 100)),
        ("5-5", slice(5, 6)),
        ("5-", slice(5, None)),
        ("0-", slice(0, None)),
        ("0-0", slice(0, 1)),
    ],
)
def test_rounds_are_those_from_the_first_to_the_last(text, rounds):
    assert round_range(text) == rounds


@pytest.mark.parametrize("text", ["5-4", "3-0", "-", "-5", "", "a", "1-2-3", "1.5", "1" * 19])
def test_other_texts_are_no_rounds(text):
    with pytest.raises(InputError) as caught:
        round_range(text)
    assert str(caught.value).endswith("must be FIRST-LAST, such as 0-99, FIRST-, or the number of a round.")


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("a/b", ["a/b.csv", "a/b.png"]),
        ("b-1.5", ["b-1.5.csv", "b-1.5.png"]),
        ("a/b.csv", ["a/b.csv", "a/b.png"]),
        ("b.JSON", ["b.JSON", "b.png"]),
        ("b.svg", ["b.csv", "b.svg"]),
        ("b.pdf", ["b.csv", "b.pdf"]),
    ],
)
def test_a_table_and_a_figure_have_one_name(path, files):
    assert table_and_figure(Path(path)) == [Path(file) for file in files]


def test_an_ending_of_neither_is_refused():
    with pytest.raises(InputError, match=r"b\.docx.* or have no ending"):
        table_and_figure(Path("b.docx"))


def chosen(known=(), **given):
    asked = {"kind": None, "arcs": None, "weights": None, "schedule": None, "both_ways": False, **given}
    return one_overlay("explain", {}, why="which has no circuit", known=known, **asked)


def test_the_one_overlay_is_that_of_the_command_of_the_scenario_or_a_ring():
    star = OverlayConfig(kind="star", name="my star")
    assert chosen().kind == "ring"
    assert chosen([star]) == star
    assert chosen([star], kind="mst").kind == "mst"
    assert chosen([star, OverlayConfig(kind="mst")], kind="my star") == star
    assert chosen([star], arcs="a.csv", both_ways=True) == OverlayConfig(arcs="a.csv", both_ways=True)
    assert chosen(weights="w.npy") == OverlayConfig(weights="w.npy")
    assert chosen(schedule="s.csv") == OverlayConfig(schedule="s.csv")


@pytest.mark.parametrize(
    ("known", "given", "rule"),
    [
        (
            (),
            {"kind": "ring", "arcs": "a.csv"},
            "explain takes one overlay: --kind, --arcs, --weights or --schedule.",
        ),
        ((), {"weights": "a.csv", "arcs": "a.csv"}, "explain takes one overlay: --kind, --arcs,"),
        (
            (),
            {"kind": "matcha"},
            "kind(='matcha') is a randomized overlay, which has no circuit; explain takes a",
        ),
        (("matcha",), {}, "kind(='matcha') is a randomized overlay"),
        (("star", "mst"), {}, "explain takes one overlay; --kind names it: star, mst, or another kind."),
    ],
)
def test_what_is_not_one_overlay(known, given, rule):
    with pytest.raises(InputError) as caught:
        chosen([OverlayConfig(kind=kind) for kind in known], **given)
    assert str(caught.value).startswith(rule)


@pytest.mark.parametrize(
    ("by_kind", "unit", "shown"),
    [
        ({"a": 1}, "", "default: 1"),
        ({"a": 1, "b": 1}, " s", "default: 1 s"),
        ({"a": 1, "b": 2}, " s", "default: 1 s for a, 2 s for b"),
        ({"a": None, "b": 0}, "", "default: 0 for b"),
        ({"a": None}, " s", ""),
    ],
)
def test_defaults_of_an_option_are_told_apart_where_they_differ(by_kind, unit, shown):
    assert _defaults(by_kind, unit) == shown
