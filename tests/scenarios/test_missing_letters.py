"""Labels in scripts that the font of figures lacks."""

import os
import warnings
from pathlib import Path

import pytest
from matplotlib import get_data_path, rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text

from scenarios.report.figure_parts import save_figure
from scenarios.report.missing_letters import labels_with, lend_fonts, missing_letters
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
