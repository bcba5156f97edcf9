"""What commands make of their arguments: rounds, names of outputs, the one overlay, defaults of options."""

import inspect
from pathlib import Path

import pytest

from scenarios.cli import options as opt
from scenarios.cli import partition, plot, run, simulate, study, validate
from scenarios.cli.designer_options import _defaults
from scenarios.cli.one_overlay import one_overlay
from scenarios.cli.round_range import round_range
from scenarios.cli.table_and_figure import table_and_figure
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.published_figure import PublishedFigure, column_unit, in_si_units
from scenarios.config.study import StudyConfig
from scenarios.runtime.workers import worker_count
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


def test_the_name_of_an_overlay_of_the_scenario_goes_before_a_kind():
    ring, drawn = OverlayConfig(kind="ring", name="matcha"), OverlayConfig(kind="matcha", name="ring")
    assert chosen([ring, drawn], kind="matcha") == ring
    for name in ("ring", "mine"):
        with pytest.raises(InputError, match=rf"^kind\(='{name}'\) is a randomized overlay"):
            chosen([ring, OverlayConfig(kind="matcha", name=name)], kind=name)


@pytest.mark.parametrize(
    ("given", "underlay", "more"),
    [
        ({"underlay": "gaia"}, "gaia", None),
        ({"underlay": "gaia", "more": ["2 Gbps"]}, "gaia", ["2 Gbps"]),
        ({"underlay": "2 Gbps", "pairs": "p.csv"}, None, ["2 Gbps"]),
        (
            {"underlay": "2 Gbps", "pairs": "p.csv", "more": ["3 Gbps", "4 Gbps"]},
            None,
            ["2 Gbps", "3 Gbps", "4 Gbps"],
        ),
        ({"sites": "s.csv", "links": "l.csv"}, None, None),
    ],
)
def test_the_second_of_several_values_is_no_network_where_tables_are_given(given, underlay, more):
    """As in ``silosim sweep --pairs p.csv --access "1 Gbps" "2 Gbps"``."""
    made = []

    @opt.of_a_study(without=("routes",))
    def command(study, more):
        made.append((study.network.underlay, study.network.routes, more))

    options = inspect.signature(command).parameters
    assert "routes" not in options
    command(**({name: each.default for name, each in options.items()} | {"more": None} | given))
    assert made == [(underlay, None, more)]


def test_a_command_without_further_values_takes_no_network_beside_its_tables():
    @opt.of_a_study()
    def command(study):
        pytest.fail(f"made {study}")

    options = {name: each.default for name, each in inspect.signature(command).parameters.items()}
    with pytest.raises(InputError, match="underlay"):
        command(**options | {"underlay": "gaia", "pairs": "p.csv"})
    with pytest.raises(InputError, match=r"^network is missing: give its name or file"):
        command(**options)


def test_help_says_where_a_network_may_be_a_scenario():
    commands = [opt.of_a_study(or_scenario=either)(lambda study: study) for either in (False, True)]
    texts = [inspect.signature(command).parameters["underlay"].annotation for command in commands]
    assert texts == [opt.Underlay, opt.UnderlayOrScenario]


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


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        (None, None),
        ([], {}),
        (["DE=10 Mbps", " FR = 1 Gbps "], {"DE": "10 Mbps", "FR": "1 Gbps"}),
        (["a=b=1 s"], {"a=b": "1 s"}),
        (["=1"], {"": "1"}),
    ],
)
def test_a_value_by_silo_follows_the_last_equals_sign_without_blanks(pairs, found):
    assert opt.by_silo("x", pairs, opt.TIME_AT) == found


@pytest.mark.parametrize(
    ("pairs", "rule"),
    [
        (["DE"], "compute_at(='DE') must be SILO=TIME, for instance 'DE=25 ms'."),
        (["DE=1 s", "DE =2 s"], "compute_at(='DE =2 s') must name each silo once."),
    ],
)
def test_values_by_silo_without_one_or_of_a_silo_twice_are_refused(pairs, rule):
    with pytest.raises(InputError) as caught:
        opt.by_silo("compute_at", pairs, opt.TIME_AT)
    assert str(caught.value) == rule


def test_whole_numbers_by_silo_have_18_digits_at_most():
    assert opt.numbers_by_silo("streams_at", None, opt.STREAMS_AT) is None
    digits = "9" * 18
    assert opt.numbers_by_silo("streams_at", ["A=0", f"B={digits}"], opt.STREAMS_AT) == {
        "A": 0,
        "B": int(digits),
    }
    for text in ("", "-1", "1.5", "x", f"{digits}9"):
        with pytest.raises(InputError, match=rf"^streams_at\.A\(='{text}'\) must be a whole number\.$"):
            opt.numbers_by_silo("streams_at", [f"A={text}"], opt.STREAMS_AT)


def test_values_of_columns_are_gathered():
    assert plot._by_column(["a=1", " b = x y ", "a=2=3", "c="]) == {
        "a": ["1", "2=3"],
        "b": ["x y"],
        "c": [""],
    }
    with pytest.raises(
        InputError, match=r"^where\(='a'\) must be COLUMN=VALUE, for instance 'access_bps=1 Gbps'\.$"
    ):
        plot._by_column(["a"])


@pytest.mark.parametrize(
    ("path", "files"),
    [
        (None, []),
        ("a.h5", ["a.h5"]),
        ("a.PNG", ["a.PNG"]),
        ("a.csv", ["a.csv"]),
        ("folder", ["folder/validation-x.csv", "folder/validation-x.h5", "folder/validation-x.png"]),
    ],
)
def test_outputs_of_a_validation(path, files):
    found = validate._outputs(None if path is None else Path(path), "x")
    assert found == [Path(file) for file in files]


def test_a_folder_with_a_point_in_its_name_is_a_folder(tmp_path):
    folder = tmp_path / "my.csv"
    folder.mkdir()
    assert [file.parent for file in validate._outputs(folder, "x")] == [folder] * 3
    with pytest.raises(InputError, match=r"a\.docx"):
        validate._outputs(tmp_path / "a.docx", "x")


def test_outputs_of_a_simulation_are_one_file_of_rounds_and_tables(tmp_path):
    paths = [tmp_path / name for name in ("a.csv", "b.h5", "c.json")]
    assert simulate._outputs(paths, False) == (paths[1], [paths[0], paths[2]])
    assert simulate._outputs([], False) == (None, [])
    with pytest.raises(InputError, match=r"^output must name one file that ends in \.h5.* at most\.$"):
        simulate._outputs([tmp_path / "a.h5", tmp_path / "b.h5"], False)
    paths[1].touch()
    with pytest.raises(InputError, match=r"b\.h5"):
        simulate._outputs(paths, False)
    assert simulate._outputs(paths, True)[0] == paths[1]


def test_outputs_of_a_partition_are_pictures_and_tables():
    paths = [Path(name) for name in ("a.csv", "b.PNG", "c.txt", "d.svg")]
    assert partition._outputs(paths) == ([paths[1], paths[3]], [paths[0], paths[2]])
    with pytest.raises(InputError, match=r"a\.h5"):
        partition._outputs([Path("a.h5")])


@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize(
    ("goes_on", "has", "later"),
    [(True, True, True), (True, True, False), (True, False, False), (False, True, True)],
)
def test_what_an_interrupted_run_has_left(monkeypatch, tmp_path, partial, goes_on, has, later):
    path = tmp_path / "x.h5"
    if partial:
        run.partial_path(path).touch()
    monkeypatch.setattr(run, "has_checkpoint", lambda _: has)
    monkeypatch.setattr(run, "checkpoints_are_later", lambda _: later)
    kept = f"the finished rounds are in {run.partial_path(path)}" if partial else "interrupted"
    more = "; --resume continues from the last checkpoint" if goes_on and has else ""
    more += f", of a later round, in {run.checkpoints_path(path)}" if more and later else ""
    assert run._kept(path, goes_on=goes_on) == kept + more


def test_so_many_workers_as_are_asked_for_or_processors(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 5})
    assert [worker_count(asked) for asked in (None, 1, 7)] == [3, 1, 7]
    with pytest.raises(InputError, match=r"^workers\(=0\) must be >= 1\.$"):
        worker_count(0)


def test_where_published_figures_are_compared():
    figure = PublishedFigure(what="a", value="1 s", column="paper_s")
    compared = StudyConfig(grid={"a": [1]}, published=(figure,))
    assert study._compared_path(Path("a/b.csv"), compared) == Path("a/b-published.csv")
    assert study._compared_path(Path("a/b.csv"), StudyConfig(grid={"a": [1]})) is None


def test_published_figures_have_the_unit_of_their_column():
    assert [column_unit(name) for name in ("access_bps", "model_bits", "paper_s", "silos")] == [
        *("bit/s", "bit", "s", None)
    ]
    assert [in_si_units("a_s", cell) for cell in ("2 ms", 3)] == [0.002, 3]
    assert in_si_units("kind", "ring") == "ring"
    assert PublishedFigure(what="a", value="2 ms").number == 0.002
    assert PublishedFigure(what="a", value=1.5, over={"access_bps": "1 Gbps"}).number == 1.5
    assert PublishedFigure(what="a", value=4, column="silos", at={"x": 1}).columns == ("x", "silos")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"value": 0, "column": "silos"}, "value(=0) must be > 0."),
        (
            {"value": "1 s", "column": "silos"},
            "value(='1 s') must be a number, as the column 'silos' has no unit.",
        ),
        ({"value": "1 s", "over": {"a": 1}}, "value(='1 s') must be a number, with over, a ratio."),
        ({"value": "1 s", "at": {"access_bps": "1 s"}}, "at.access_bps(='1 s') has the unit 's'"),
        ({"value": 1, "over": {"access_bps": "x"}}, "over.access_bps(='x') must be a number with a unit"),
    ],
)
def test_published_figures_that_are_wrong(given, rule):
    with pytest.raises(InputError) as caught:
        PublishedFigure(what="a", **given)
    assert str(caught.value).startswith(rule)
