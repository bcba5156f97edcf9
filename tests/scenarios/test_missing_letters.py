"""Labels in scripts that the font of figures lacks."""

import os
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib import font_manager, get_data_path, rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text

from scenarios.report.figure_parts import save_figure
from scenarios.report.missing_letters import (
    _installed,
    labels_with,
    lend_fonts,
    missing_letters,
    warn_of_boxes,
)
from scenarios.runtime.note_warnings import NoteWarning

SITES = "name,latitude,longitude\n北京,39.9,116.4\n上海,31.2,121.5\nA,30,110\n"


def network(folder: Path) -> Path:
    (folder / "sites.csv").write_text(SITES)
    (folder / "links.csv").write_text("from,to\n北京,上海\n上海,A\n")
    return folder


@pytest.fixture
def no_fonts(monkeypatch):
    monkeypatch.setattr("scenarios.report.missing_letters._installed", list)


@pytest.mark.usefixtures("no_fonts")
def test_a_command_that_draws_boxes_says_so_once(silosim, tmp_path):
    said = silosim("underlay", network(tmp_path), "-o", tmp_path / "m.png").ok().err

    words = " ".join(said.split())
    assert (
        words.count(
            "m.png: the font lacks letters of 2 labels, which are boxes: '上海', '北京'; install a font"
        )
        == 1
    )
    assert "Glyph" not in said


@pytest.mark.usefixtures("no_fonts")
def test_python_has_a_warning(tmp_path):
    figure = Figure()
    figure.suptitle("北")
    with pytest.warns(
        NoteWarning, match=r"^f\.png: the font lacks letters of one label, which are boxes: '北';"
    ):
        save_figure(figure, tmp_path / "f.png")


@pytest.mark.usefixtures("no_fonts")
def test_texts_that_stay_texts_have_no_boxes(tmp_path):
    figure = Figure()
    figure.suptitle("北")
    with warnings.catch_warnings(), rc_context({"svg.fonttype": "none"}):
        warnings.simplefilter("error")
        save_figure(figure, tmp_path / "f.svg")


def test_letters_of_another_font_take_the_place_of_boxes():
    dejavu = Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    with rc_context({"font.family": "cmr10", "axes.formatter.use_mathtext": True}):
        figure = Figure()
        figure.suptitle("Жук")
        lacked = missing_letters(figure)
        assert lacked == set("Жук")
        assert labels_with(figure, lacked) == ["Жук"]

        assert not lend_fonts(figure, lacked, [])
        assert lend_fonts(figure, lacked, [("DejaVu Sans", dejavu)])
        figure.savefig(os.devnull, format="png")
        assert missing_letters(figure) == set()
    assert [text.get_fontfamily() for text in figure.findobj(Text)] == [["cmr10", "DejaVu Sans"]]


@pytest.mark.parametrize(
    ("texts", "lacked"),
    [
        (["plain", "$x$"], ""),
        (["北 and 京"], "北京"),
        # One dollar makes no formula; formulas have fonts of their own.
        (["5 $ 北"], "北"),
        (["$北$"], ""),
        (["$北$", "北京"], "北京"),
    ],
)
def test_letters_that_the_font_lacks_are_those_of_texts_and_not_of_formulas(texts, lacked):
    figure = Figure()
    for text in texts:
        figure.text(0, 0, text)
    assert missing_letters(figure) == set(lacked)


def test_names_that_are_no_formulas_are_looked_at_with_their_dollars():
    figure = Figure()
    figure.text(0, 0, "$北$", parse_math=False)
    figure.text(0, 0, "京", visible=False)
    assert missing_letters(figure) == {"北"}


def test_the_font_that_has_most_of_the_letters_is_lent():
    fonts = Path(get_data_path()) / "fonts" / "ttf"
    few, most = ("cmr10", fonts / "cmr10.ttf"), ("DejaVu Sans", fonts / "DejaVuSans.ttf")
    figure = Figure()
    text = figure.text(0, 0, "aЖ")
    family = text.get_fontfamily()
    assert lend_fonts(figure, {"a", "Ж"}, [few, most, few])
    assert text.get_fontfamily() == [*family, "DejaVu Sans"]
    assert not lend_fonts(figure, {"北"}, [few, most])
    assert text.get_fontfamily() == [*family, "DejaVu Sans"]
    assert lend_fonts(figure, {"a"}, [few]) is True


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["北"], "one label, which are boxes: '北';"),
        (["北", "北"], "one label, which are boxes: '北';"),
        (["北a", "北b"], "2 labels, which are boxes: '北a', '北b';"),
        (["北a", "北b", "c", "北d"], "3 labels, which are boxes: '北a', '北b', '北d';"),
        (["北a", "北b", "北c", "北d"], "4 labels, which are boxes: '北a', '北b', '北c', ...;"),
    ],
)
def test_labels_with_boxes_are_counted_and_the_first_three_named(labels, said):
    figure = Figure()
    for label in labels:
        figure.text(0, 0, label)
    with pytest.warns(NoteWarning) as caught:
        warn_of_boxes(figure, {"北"}, Path("a") / "f.png")
    assert f"f.png: the font lacks letters of {said}" in str(caught[0].message)


def test_fonts_of_the_system_are_listed_by_their_files(monkeypatch, tmp_path):
    for name in ("b.ttf", "a.ttf"):
        (tmp_path / name).touch()
    own = f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf"
    entries = [
        SimpleNamespace(fname=str(file), name=name)
        for file, name in (
            (tmp_path / "b.ttf", "B"),
            (tmp_path / "gone.ttf", "C"),
            (own, "D"),
            (tmp_path / "a.ttf", "A"),
        )
    ]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", entries)
    assert _installed() == [("A", tmp_path / "a.ttf"), ("B", tmp_path / "b.ttf")]
