"""Formats of tables: chosen by a file's ending, and added by other packages; the documented example is one."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from scenarios.report.table_formats import Csv, Json, find_format, write_tables
from scenarios.report.tables import Column, Table, percent
from scenarios.report.terminal import Terminal
from topologies import InputError, MachineError

pytestmark = pytest.mark.usefixtures("compiled_simulations")

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "table_format.py"
TABLE = Table(
    caption="two silos",
    columns=[
        Column(key="overlay", title="overlay"),
        Column(key="time_s", title="time\n(s)", show="{:.1f}".format, exact="is_exact"),
        Column(key="over_paper", title="over", show=percent),
    ],
    rows=[
        {"overlay": "delta_mbst", "time_s": 1.25, "is_exact": True, "over_paper": 0.5},
        {"overlay": "ring", "time_s": 2.5, "is_exact": False, "over_paper": None},
    ],
    notes="a note",
    further={"arcs": [{"queue_s": 1.0}]},
)
LATEX = r"""\begin{tabular}{lrr}
\toprule
overlay & time (s) & over \\
\midrule
delta\_mbst & 1.2 & +50.0\% \\
ring & \textasciitilde 2.5 & - \\
\bottomrule
\end{tabular}
"""


@pytest.fixture
def install(install_package):
    """Install a package with the example and these entry points."""
    modules = {"table_format": EXAMPLE.read_text("utf-8")}

    def install_it(*entries, package="silosim-latex"):
        install_package(package, "\n".join(["[silosim.table_formats]", *entries]), modules)

    return install_it


@pytest.fixture
def latex(install):
    """A package with the example, as pip would install it."""
    install("tex = table_format:Latex")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.csv", Csv), ("a.json", Json), ("a.JSON", Json), ("b/a.txt", Terminal), ("a.tex", None), ("a", None)],
)
def test_the_ending_chooses_the_format(name, kind):
    found = find_format(Path(name))

    assert found is None if kind is None else isinstance(found, kind)


def test_each_format_writes_the_same_rows(tmp_path):
    for ending in ("csv", "json", "txt"):
        write_tables(tmp_path / f"a.{ending}", [TABLE])
    rows = [*csv.DictReader((tmp_path / "a.csv").read_text().splitlines())]
    whole = json.loads((tmp_path / "a.json").read_text())
    text = (tmp_path / "a.txt").read_text()

    assert [(row["overlay"], float(row["time_s"])) for row in rows] == [("delta_mbst", 1.25), ("ring", 2.5)]
    assert whole["rows"] == TABLE.rows
    assert (whole["caption"], whole["notes"], whole["arcs"]) == ("two silos", ["a note"], [{"queue_s": 1.0}])
    assert text.splitlines()[0] == "two silos"
    assert [line.split() for line in text.splitlines() if line.startswith("ring")] == [["ring", "~2.5", "-"]]
    assert text.endswith("a note\n")


def test_several_tables_share_one_head_in_csv_and_are_a_list_in_json():
    other = Table(caption="", columns=(), rows=[{"overlay": "star", "hub": "A"}])
    text = Csv().text([TABLE, other])

    assert text.splitlines()[0] == "overlay,time_s,is_exact,over_paper,hub"
    assert text.splitlines()[-1] == "star,,,,A"
    assert [one["caption"] for one in json.loads(Json().text([TABLE, other]))] == ["two silos", ""]


def test_csv_leaves_out_texts_of_numbers_that_it_has(silosim, tmp_path):
    command = ("simulate", "gaia", "--kind", "ring", "--kind", "mst", "--rounds", "450")
    files = [text for name in ("a.csv", "a.json") for text in ("-o", tmp_path / name)]
    shown = silosim(*command, "--compute-times", "exponential", *files)
    rows = [*csv.DictReader((tmp_path / "a.csv").read_text().splitlines())]
    whole = json.loads((tmp_path / "a.json").read_text())["rows"]

    assert {"simulated", "difference"}.isdisjoint(rows[0])
    assert [float(row["simulated_s"]) for row in rows] == [row["simulated_s"] for row in whole]
    assert float(rows[1]["difference_s"]) == whole[1]["difference_s"]
    assert whole[1]["simulated"] in shown.ok().out
    assert whole[1]["difference"] in shown.out


@pytest.mark.parametrize("width", [40, 80])
def test_lines_for_people_have_no_blanks_at_their_ends_and_remarks_that_no_row_has_no_column(width):
    columns = [*TABLE.columns, Column(key="note", title="note", prose=True)]
    for note in ("", "a misprint"):
        rows = [row | {"note": note if row["overlay"] == "ring" else ""} for row in TABLE.rows]
        table = replace(TABLE, columns=columns, rows=rows)
        lines = Terminal(width).text([table]).splitlines()

        assert [line for line in lines if line != line.rstrip()] == []
        assert any("note" in line.split() and "overlay" in line for line in lines) == bool(note)
        assert "note" in Csv().text([table]).splitlines()[0]
        assert all("note" in row for row in json.loads(Json().text([table]))["rows"])


@pytest.mark.usefixtures("latex")
def test_the_example_is_a_format_once_its_package_is_installed(tmp_path):
    write_tables(tmp_path / "a.tex", [TABLE])

    assert (tmp_path / "a.tex").read_text() == LATEX
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 40


@pytest.mark.usefixtures("latex")
def test_an_unknown_ending_lists_those_of_installed_packages_too(tmp_path):
    with pytest.raises(InputError, match=r"a\.doc'\) must end in one of \.csv, \.json, \.txt, \.tex\.$"):
        write_tables(tmp_path / "a.doc", [TABLE])


@pytest.mark.slow
@pytest.mark.usefixtures("latex")
@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (("simulate", "gaia", "--kind", "ring", "--rounds", "50"), "ring"),
        (("sweep", "gaia", "--kind", "ring", "--access", "1 Gbps", "--rounds", "50"), "1 Gbps"),
        (("validate", "gaia", "--kind", "ring", "--rounds", "100"), "ring"),
    ],
)
def test_every_command_that_writes_a_table_writes_it_in_that_format(silosim, tmp_path, arguments, first):
    result = silosim(*arguments, "-o", tmp_path / "a.tex")

    assert result.code == 0, result.err
    assert str(tmp_path / "a.tex") in result.err
    lines = (tmp_path / "a.tex").read_text().splitlines()
    assert lines[0].startswith(r"\begin{tabular}{")
    assert [line.split(" & ")[0] for line in lines[4:-2]] == [first]


def test_a_simulation_is_stored_once_and_its_table_in_any_number_of_formats(silosim, tmp_path):
    command = ("simulate", "gaia", "--kind", "ring", "--rounds", "20")
    twice = silosim(*command, "-o", tmp_path / "a.h5", "-o", tmp_path / "b.h5")
    files = ["a.h5", "a.csv", "a.json"]
    done = silosim(*command, *(text for name in files for text in ("-o", tmp_path / name)))

    assert (twice.code, twice.err.count("\n")) == (2, 1)
    assert "one file that ends in .h5 or .hdf5" in twice.err
    assert done.code == 0, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


BROKEN = ("tex = table_format:Latex", "rst = table_format:NoSuchFormat", "md = no_such_module:Markdown")


def test_only_the_format_of_the_ending_is_imported(install, tmp_path):
    install(*BROKEN)
    write_tables(tmp_path / "a.tex", [TABLE])

    assert (tmp_path / "a.tex").read_text() == LATEX
    with pytest.raises(
        MachineError,
        match=r"^the table format md \(no_such_module:Markdown\) cannot be imported: ModuleNotFound",
    ):
        write_tables(tmp_path / "a.md", [TABLE])


def test_formats_that_cannot_be_imported_are_not_listed(install, tmp_path):
    install(*BROKEN)
    with pytest.raises(InputError, match=r"must end in one of \.csv, \.json, \.txt, \.tex\.$"):
        write_tables(tmp_path / "a.doc", [TABLE])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("tex = table_format:ESCAPED", r"^the table format tex \(table_format:ESCAPED\) must be a class\.$"),
        (
            "doc = table_format:Latex",
            r"^the table format doc .* must have name, text and the ending '\.doc'\.$",
        ),
    ],
)
def test_an_entry_point_names_the_class_of_its_ending(install, entry, message):
    install(entry)
    with pytest.raises(InputError, match=message):
        find_format(Path(f"a.{entry.split()[0]}"))


def test_an_ending_of_silosim_stays_its_own(install):
    install("csv = no_such_module:Csv")
    assert isinstance(find_format(Path("a.csv")), Csv)


def test_an_ending_of_two_packages_is_an_error_where_it_is_asked_for(install):
    install("tex = table_format:Latex")
    install("tex = table_format:Other", package="other")
    with pytest.raises(InputError, match=r"^the table format tex is registered more than once in silosim\."):
        find_format(Path("a.tex"))
    assert find_format(Path("a.doc")) is None
