"""Rows of a study as text, and the table that is made of them: types, missing values, what a kill has cut off."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from scenarios.runfile.study_rows import finished_points, whole_lines
from scenarios.runfile.study_table import (
    check_study_path,
    ranges_of,
    read_study,
    table_lines,
    table_rows,
    write_study,
)
from scenarios.studies.study_points import _unsaid
from topologies import AccessLinks, InputError, Workload, connectivity, load_underlay
from topologies.input_limits import MOST_FILE_BYTES

COLUMNS = ("point", "overlay", "error", "x")
OTHER = "s.csv.partial: holds the rows of another study"


def finished(*rows, head="point,overlay,error,x", **expected):
    text = "".join(f"{line}\n" for line in (head, *rows))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.csv.partial"
        path.write_text(text[:-1] if rows and rows[-1].endswith("...") else text)
        found = finished_points(whole_lines(path), "s.csv.partial", COLUMNS, expected)
    return {name: [row["x"] for row in some] for name, some in found.items()}


@pytest.mark.parametrize(
    ("rows", "expected", "found"),
    [
        ((), {"a": 1}, {}),
        (("a,star,,1", "b,star,,2", "a,ring,,3"), {"a": 2, "b": 1}, {"a": ["1", "3"], "b": ["2"]}),
        # Not all rows of a point are there, or the last line has no end.
        (("a,star,,1", "b,star,,2"), {"a": 2, "b": 1}, {"b": ["2"]}),
        (("a,star,,1", "a,ring,,3..."), {"a": 2}, {}),
        # A line with too few or too many cells.
        (("a,star,,1", "b,star"), {"a": 1, "b": 1}, {"a": ["1"]}),
        (("a,star,,1", "b,star,,2,3"), {"a": 1, "b": 1}, {"a": ["1"]}),
        # An error of the whole point is its only row; that of an overlay is one of its rows.
        (("a,,no such file,",), {"a": 2}, {"a": [""]}),
        (("a,star,too long,",), {"a": 2}, {}),
        (("a,star,too long,", "a,ring,,3"), {"a": 2}, {"a": ["", "3"]}),
        # A point with errors alone may have been another one, when a file was missing.
        (("c,,no such file,", "a,star,,1"), {"a": 1}, {"c": [""], "a": ["1"]}),
    ],
)
def test_points_with_all_their_rows_are_finished(rows, expected, found):
    assert finished(*rows, **expected) == found


@pytest.mark.parametrize(
    "rows",
    [("c,star,,1",), ("c,star,too long,", "c,ring,,1"), ("a,star,,1", "c,star,,1")],
)
def test_a_point_of_another_study_is_refused(rows):
    with pytest.raises(InputError, match=OTHER):
        finished(*rows, a=1)


@pytest.mark.parametrize(
    "head", ["", "point,overlay,error", "point,overlay,error,x,y", "overlay,point,error,x"]
)
def test_other_columns_are_those_of_another_study(head):
    with pytest.raises(InputError, match=OTHER):
        finished(head=head, a=1)


CELLS = {
    "point": (["1", "2", ""], ["1", "2", None], "string"),
    "overlay": (["star", "ring", "12"], ["star", "ring", "12"], "string"),
    "error": (["", "", ""], [None, None, None], "string"),
    "whole": (["1", "-2", "3"], [1, -2, 3], "int64"),
    "some": (["1", "", "3"], [1, None, 3], "Int64"),
    "number": (["0.1", "1e999", "2"], [0.1, np.inf, 2.0], "float64"),
    "few": (["", "0.30000000000000004", ""], [None, 0.30000000000000004, None], "float64"),
    "large": (["1", "100000000000000000000", "3"], [1.0, 1e20, 3.0], "float64"),
    "true": (["True", "False", "True"], [True, False, True], "boolean"),
    "maybe": (["False", "", "True"], [False, None, True], "boolean"),
    "none": (["", "", ""], [None, None, None], "float64"),
    "mixed": (["True", "1", ""], ["True", "1", None], "string"),
    "text": (["a", "1", ""], ["a", "1", None], "string"),
}


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.csv.partial"])
def test_a_column_has_the_type_of_its_cells(tmp_path, name):
    path = tmp_path / name
    written = tmp_path / name.removesuffix(".partial")
    write_study(
        written, [*CELLS], [{key: cells[k] for key, (cells, _, _) in CELLS.items()} for k in range(3)]
    )
    written.rename(path)
    table = read_study(path)

    assert {name: str(dtype) for name, dtype in table.dtypes.items()} == {n: c[2] for n, c in CELLS.items()}
    for name, (_, values, _) in CELLS.items():
        assert [row[name] for row in table_rows(path)] == values, name


def test_a_parquet_table_has_the_text_of_the_csv_table(tmp_path):
    cells = {name: cells for name, (cells, _, _) in CELLS.items() if name != "large"}
    cells["number"] = ["0.1", "inf", "2.0"]
    rows = [{name: cells[k] for name, cells in cells.items()} for k in range(3)]
    for ending in ("csv", "parquet"):
        write_study(tmp_path / f"s.{ending}", [*cells], rows)
    assert [*table_lines(tmp_path / "s.parquet")] == [*table_lines(tmp_path / "s.csv")]


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("s.csv", None, "there is no such file."),
        ("s.csv", "point,x\na,1\n", "is not the table of a study."),
        ("s.csv", "overlay,x\na,1\n", "is not the table of a study."),
        ("s.csv", "", "is not the table of a study."),
        ("s.csv.partial", "", "has no finished point yet, so nothing can be read."),
        ("s.csv.partial", "point,overlay", "has no finished point yet, so nothing can be read."),
        (
            "s.csv",
            "point,overlay,x\na,star," + "1" * 131_073 + "\n",
            "is not the table of a study: field larger",
        ),
        ("s.txt", "point,overlay\n", "output(="),
    ],
)
def test_what_is_no_table_of_a_study_is_one_line(tmp_path, name, text, rule):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_study(path)
    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_study_may_have_more_rows_than_any_file_that_is_read_whole(tmp_path):
    """No limit of other files holds for what silosim has written, such as 64 MB here, read thrice."""
    path = tmp_path / "s.csv.partial"
    with path.open("w") as file:
        file.write("point,overlay,error,x\n")
        file.writelines(f"p{k},star,{' ' * 100_000},{k}\n" for k in range(MOST_FILE_BYTES // 100_000 + 1))
    assert path.stat().st_size > MOST_FILE_BYTES
    rows = sum(1 for _ in whole_lines(path)) - 1
    assert rows == 641
    expected = {f"p{k}": 1 for k in range(rows)}
    assert len(finished_points(whole_lines(path), str(path), COLUMNS, expected)) == rows
    assert len(read_study(path)) == rows


def test_the_line_that_a_kill_has_cut_off_is_not_read(tmp_path):
    path = tmp_path / "s.csv.partial"
    path.write_text("point,overlay,x\na,star,1\nb,ri")
    assert table_rows(path) == [{"point": "a", "overlay": "star", "x": 1}]
    path.write_text("point,overlay,x\n")
    assert table_rows(path) == []


def test_endings_are_known_in_capitals_and_others_are_named(tmp_path):
    for name in ("s.CSV", "s.Parquet"):
        check_study_path(tmp_path / name)
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet\.$"):
        check_study_path(tmp_path / "s.tsv")


def test_what_a_scenario_does_not_say_is_taken_from_its_network():
    graph = connectivity(
        load_underlay("gaia"),
        access=AccessLinks(up_bps=np.array([2e9, *[1e9] * 10]), down_bps=np.full(11, 1e9)),
    )
    work = Workload(model_bits=5e6, compute_s=np.array([0.25, *[0.5] * 10]))
    equal = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    apart = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=2e9, down_bps=1e9))
    first, second = graph.labels[:2]

    def unsaid(*path, on=graph):
        return tuple(_unsaid(path, on, work, as_text=as_text) for as_text in (False, True))

    assert unsaid("workload", "model_size") == (5e6, "5 Mbit")
    assert unsaid("network", "access") == (None, None)
    assert unsaid("network", "access", on=equal) == (1e9, "1 Gbps")
    assert unsaid("network", "access", on=apart) == (None, "2 Gbps up, 1 Gbps down")
    assert unsaid("network", "access_hub", on=apart) == (None, "2 Gbps up, 1 Gbps down")
    assert unsaid("network", "access_hub", on=equal) == (1e9, "1 Gbps")
    assert unsaid("network", "access_at", first) == (None, "2 Gbps up, 1 Gbps down")
    assert unsaid("network", "access_at", second) == (1e9, "1 Gbps")
    assert unsaid("workload", "compute_at", first) == (0.25, "250.0 ms")
    assert unsaid("workload", "compute_at", second) == (0.5, "500.0 ms")
    for path in (("network", "access_at", "nobody"), ("network", "silo_at", first), ("network",)):
        assert unsaid(*path) == (None, None)


@pytest.mark.parametrize("cell", ["", None, float("nan")])
def test_no_ranges_are_none(cell):
    assert ranges_of(cell) == {}


def test_ranges_have_two_ends():
    assert ranges_of('{"compute_s": [0.5, 2]}') == {"compute_s": [0.5, 2]}
    for cell in ('{"a": 1}', '{"a": [1]}', '{"a": [1, "x"]}', '{"a": [1, true]}'):
        with pytest.raises(InputError, match="must have two numbers for each column"):
            ranges_of(cell)
    for cell in ("{", "[1, 2]", "[" * 100_000, f'{{"a": [1, {"9" * 5000}]}}'):
        with pytest.raises(InputError, match="must be a JSON object"):
            ranges_of(cell)
